use glam::{IVec2, Vec2};
use serde::{Deserialize, Serialize};

use crate::random::Random;

/// How a crowd stands on the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Rows and columns.
    #[default]
    Grid,
    /// Circles round the middle.
    Ring,
    /// Scattered on a disc, nobody nearer to another than the spacing.
    Disc,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Self; 3] = [Self::Grid, Self::Ring, Self::Disc];

    /// The name used in scene files, on the command line and in the panel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Ring => "ring",
            Self::Disc => "disc",
        }
    }

    /// Places on the ground (x and z, metres) round the origin, `spacing` metres apart.
    pub fn places(self, count: u32, spacing: f32, seed: u64) -> Vec<Vec2> {
        match self {
            Self::Grid => grid(count, spacing),
            Self::Ring => ring(count, spacing),
            Self::Disc => disc(count, spacing, seed),
        }
    }
}

fn grid(count: u32, spacing: f32) -> Vec<Vec2> {
    #[expect(clippy::cast_possible_truncation, reason = "the root of a u32")]
    let columns = f64::from(count).sqrt().ceil() as u32;
    let rows = count.div_ceil(columns.max(1));
    let middle = Vec2::new(columns as f32 - 1.0, rows as f32 - 1.0) * 0.5;
    (0..count)
        .map(|index| (Vec2::new((index % columns) as f32, (index / columns) as f32) - middle) * spacing)
        .collect()
}

fn ring(count: u32, spacing: f32) -> Vec<Vec2> {
    let mut places = Vec::with_capacity(count as usize);
    let mut circle = 1_u32;
    if count == 1 {
        return vec![Vec2::ZERO];
    }
    while places.len() < count as usize {
        // Chords, not arcs, are `spacing` long: neighbours keep their distance on small circles too.
        let radius = f64::from(circle) * f64::from(spacing);
        let room = (std::f64::consts::PI / libm::asin(0.5 / f64::from(circle))).floor();
        let left = (count as usize - places.len()) as f64;
        let on_circle = room.min(left);
        #[expect(clippy::cast_possible_truncation, reason = "at most count, which is u32")]
        for step in 0..on_circle as u32 {
            let turn = f64::from(step) / on_circle * std::f64::consts::TAU;
            places.push(glam::dvec2(radius * libm::cos(turn), radius * libm::sin(turn)).as_vec2());
        }
        circle += 1;
    }
    places
}

/// Random sequential placement: each new place is drawn until it keeps its distance. A cover of
/// 0.3 is far below where that gets slow (0.547), so a few draws do for each.
fn disc(count: u32, spacing: f32, seed: u64) -> Vec<Vec2> {
    if count == 0 {
        return Vec::new();
    }
    let mut random = Random::new(seed ^ 0x5eed_d15c);
    // In units of the spacing. The small addition gives few characters room too.
    let radius = 0.5 * (f64::from(count) / 0.3).sqrt() + 0.5;
    // A cell's diagonal is the distance, so that a cell holds one place at most.
    let cell = std::f64::consts::FRAC_1_SQRT_2;
    #[expect(clippy::cast_possible_truncation, reason = "the root of a u32")]
    let side = (2.0 * radius / cell).ceil() as i32 + 1;
    let mut cells = vec![u32::MAX; side as usize * side as usize];
    let mut places: Vec<glam::DVec2> = Vec::with_capacity(count as usize);
    while places.len() < count as usize {
        let place = glam::dvec2(random.signed(), random.signed()) * radius;
        if place.length_squared() > radius * radius {
            continue;
        }
        let at = ((place + radius) / cell).as_ivec2();
        let free = (-2..=2).all(|dy| {
            (-2..=2).all(|dx| {
                let near = at + IVec2::new(dx, dy);
                if near.min_element() < 0 || near.max_element() >= side {
                    return true;
                }
                match cells[(near.y * side + near.x) as usize] {
                    u32::MAX => true,
                    other => places[other as usize].distance_squared(place) >= 1.0,
                }
            })
        });
        if free {
            #[expect(clippy::cast_possible_truncation, reason = "at most count, which is u32")]
            let index = places.len() as u32;
            cells[(at.y * side + at.x) as usize] = index;
            places.push(place);
        }
    }
    places.into_iter().map(|place| (place * f64::from(spacing)).as_vec2()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_keep_their_distance_in_every_layout() {
        for layout in Layout::ALL {
            for count in [0, 1, 2, 7, 100, 2000] {
                let places = layout.places(count, 1.7, 42);
                assert_eq!(places.len(), count as usize, "{layout:?}");
                for (index, place) in places.iter().enumerate() {
                    for other in &places[..index] {
                        assert!(place.distance(*other) > 1.7 * 0.9999, "{layout:?}: {place} {other}");
                    }
                }
            }
        }
    }

    #[test]
    fn disc_is_round_and_dense() {
        let places = Layout::Disc.places(5000, 1.0, 1);
        let radius = places.iter().map(|place| place.length()).fold(0.0, f32::max);
        let cover = 5000.0 * 0.25 / (radius * radius);
        assert!(cover > 0.25, "{cover}");
        let mean = places.iter().sum::<Vec2>() / 5000.0;
        assert!(mean.length() < 0.05 * radius);
    }
}
