use std::f32::consts::TAU;
use std::io::Cursor;

use glam::{Vec2, Vec3, Vec4};
use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};

use super::cloth::Cloth;
use crate::clip::LoopMode;
use crate::material::{Image, Material};
use crate::mesh::{Mesh, Primitive};
use crate::source::{Motion, Source, SourceClip, VertexFrame};

const COLUMNS: usize = 40;
const ROWS: usize = 27;
/// Size of the cloth, metres.
const LENGTH: f32 = 1.5;
const HEIGHT: f32 = 1.0;
/// Corner of the cloth at the top of the pole, metres.
const CORNER: Vec3 = Vec3::new(0.035, 2.86, 0.0);
const POLE_RADIUS: f32 = 0.024;
const POLE_TOP: f32 = 2.9;
const FINIAL_RADIUS: f32 = 0.055;

/// Seconds of the loop; the wind repeats with it.
const SECONDS: f32 = 4.0;
const STEPS_PER_SECOND: usize = 240;
/// Loops that the cloth blows before it is watched.
const WARM_UP: usize = 2;
/// Seconds over which the loop's end passes into its beginning.
const SEAM_SECONDS: f32 = 1.2;

pub(super) fn flag(fps: f64) -> Source {
    let recording = Recording::new();
    let mesh = mesh(&recording.at(0.0));
    #[expect(clippy::cast_possible_truncation, reason = "at most 240 frames a second")]
    let frame_count = (f64::from(SECONDS) * fps).round() as usize;
    let frames = (0..frame_count)
        .map(|frame| {
            let mut positions = recording.at(frame as f32 / frame_count as f32 * SECONDS);
            positions.extend_from_slice(&mesh.positions[COLUMNS * ROWS..]);
            VertexFrame {
                normals: mesh.angle_weighted_normals(&positions),
                positions,
                ..VertexFrame::default()
            }
        })
        .collect();
    Source {
        name: "flag".to_owned(),
        mesh,
        materials: materials(),
        images: vec![Image { mime_type: "image/png".to_owned(), data: bunting().into() }],
        clips: vec![SourceClip {
            name: "fly".to_owned(),
            fps: frame_count as f64 / f64::from(SECONDS),
            loop_mode: LoopMode::Loop,
            motion: Motion::Vertices(frames),
        }],
        producer: concat!("throng ", env!("CARGO_PKG_VERSION"), " builtin:flag").to_owned(),
        assumptions: nudged(fps, frame_count),
        ..Source::default()
    }
}

/// What is said where the loop is no whole number of frames at the rate that was asked for.
fn nudged(asked: f64, frame_count: usize) -> Vec<String> {
    let fps = frame_count as f64 / f64::from(SECONDS);
    let is_off = (fps - asked).abs() > asked * 1e-3;
    let text = format!("a whole number of frames in the loop of {SECONDS} s makes {fps} of {asked} a second");
    is_off.then_some(text).into_iter().collect()
}

/// A breeze along +X that freshens and slackens, and eddies that travel with it. All of it repeats with
/// the loop.
fn wind(at: Vec3, time: f32) -> Vec3 {
    let turn = TAU * time / SECONDS;
    let strength = 5.2 * (1.0 + 0.16 * libm::sinf(turn) + 0.07 * libm::sinf(2.0 * turn + 1.3));
    let along = at.x - CORNER.x;
    let aside = 1.1 * libm::sinf(4.0 * turn - 3.4 * along + 0.9 * at.y)
        + 0.45 * libm::sinf(6.0 * turn - 5.2 * along - 1.7 * at.y + 0.8)
        + 0.5 * libm::sinf(turn + 2.0);
    let lift = 0.9 * libm::sinf(3.0 * turn - 2.1 * along + 0.4) + 0.7;
    Vec3::new(strength, lift, aside)
}

/// The cloth at every step of one loop and of the seam after it.
struct Recording {
    steps: Vec<Vec<Vec3>>,
}

impl Recording {
    fn new() -> Self {
        let mut cloth = Cloth::pinned(COLUMNS, ROWS, CORNER, LENGTH, HEIGHT);
        #[expect(clippy::cast_possible_truncation, reason = "a few hundred")]
        let per_loop = SECONDS as usize * STEPS_PER_SECOND;
        #[expect(clippy::cast_possible_truncation, reason = "a few hundred")]
        let seam = (SEAM_SECONDS * STEPS_PER_SECOND as f32) as usize;
        let first = WARM_UP * per_loop;
        let mut steps = Vec::with_capacity(per_loop + seam + 2);
        for step in 0..first + per_loop + seam + 2 {
            if step >= first {
                steps.push(cloth.positions.clone());
            }
            let time = (step % per_loop) as f32 / STEPS_PER_SECOND as f32;
            cloth.step(1.0 / STEPS_PER_SECOND as f32, |at| wind(at, time));
        }
        Self { steps }
    }

    /// The cloth `seconds` into the loop. What came after the loop's end passes into its beginning, so
    /// the end meets the beginning exactly.
    fn at(&self, seconds: f32) -> Vec<Vec3> {
        let here = self.between(seconds);
        if seconds >= SEAM_SECONDS {
            return here;
        }
        let x = seconds / SEAM_SECONDS;
        // Smootherstep: velocity and acceleration stay continuous too.
        let weight = x * x * x * (x * (x * 6.0 - 15.0) + 10.0);
        let after = self.between(seconds + SECONDS);
        after.iter().zip(&here).map(|(after, here)| after.lerp(*here, weight)).collect()
    }

    fn between(&self, seconds: f32) -> Vec<Vec3> {
        let step = seconds * STEPS_PER_SECOND as f32;
        #[expect(clippy::cast_possible_truncation, reason = "a few thousand")]
        let index = (step.floor() as usize).min(self.steps.len() - 2);
        let (a, b) = (&self.steps[index], &self.steps[index + 1]);
        a.iter().zip(b).map(|(a, b)| a.lerp(*b, step - index as f32)).collect()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "some thousand vertices")]
fn mesh(cloth: &[Vec3]) -> Mesh {
    let mut mesh = Mesh { positions: cloth.to_vec(), uvs: Some(Vec::new()), ..Mesh::default() };
    let uvs = mesh.uvs.get_or_insert_default();
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            uvs.push(Vec2::new(column as f32 / (COLUMNS - 1) as f32, row as f32 / (ROWS - 1) as f32));
        }
    }
    for row in 0..ROWS - 1 {
        for column in 0..COLUMNS - 1 {
            let corner = (row * COLUMNS + column) as u32;
            let below = corner + COLUMNS as u32;
            mesh.indices.extend([corner, below, corner + 1, corner + 1, below, below + 1]);
        }
    }
    let cloth_end = mesh.indices.len() as u32;
    pole(&mut mesh);
    mesh.uvs.get_or_insert_default().resize(mesh.positions.len(), Vec2::ZERO);
    mesh.elements = (0..mesh.positions.len() as u32).collect();
    mesh.primitives = vec![
        Primitive { indices: 0..cloth_end, material: Some(0) },
        Primitive { indices: cloth_end..mesh.indices.len() as u32, material: Some(1) },
    ];
    mesh.normals = mesh.angle_weighted_normals(&mesh.positions);
    mesh
}

/// A turned profile: the shaft, a collar, and a ball on top.
#[expect(clippy::cast_possible_truncation, reason = "a hundred vertices")]
fn pole(mesh: &mut Mesh) {
    const SIDES: usize = 14;
    const BALL: usize = 9;
    let mut profile = vec![[POLE_RADIUS * 1.35, 0.0], [POLE_RADIUS, 0.35], [POLE_RADIUS * 0.85, POLE_TOP]];
    for step in 0..BALL {
        // From just above the shaft to just below the tip.
        let angle = TAU * 0.5 * (0.16 + 0.8 * step as f32 / (BALL - 1) as f32);
        let center = POLE_TOP + FINIAL_RADIUS * 0.85;
        profile.push([FINIAL_RADIUS * libm::sinf(angle), center - FINIAL_RADIUS * libm::cosf(angle)]);
    }
    let first = mesh.positions.len() as u32;
    for [radius, height] in &profile {
        for side in 0..SIDES {
            let angle = TAU * side as f32 / SIDES as f32;
            mesh.positions.push(Vec3::new(radius * libm::sinf(angle), *height, radius * libm::cosf(angle)));
        }
    }
    let tip = mesh.positions.len() as u32;
    mesh.positions.push(Vec3::new(0.0, POLE_TOP + FINIAL_RADIUS * 1.85, 0.0));
    for ring in 0..profile.len() as u32 {
        for side in 0..SIDES as u32 {
            let next = (side + 1) % SIDES as u32;
            let [low, low_next] = [side, next].map(|side| first + ring * SIDES as u32 + side);
            if ring + 1 == profile.len() as u32 {
                mesh.indices.extend([low, low_next, tip]);
                continue;
            }
            let [high, high_next] = [low, low_next].map(|index| index + SIDES as u32);
            mesh.indices.extend([low, low_next, high, high, low_next, high_next]);
        }
    }
}

fn materials() -> Vec<Material> {
    vec![
        Material {
            name: "bunting".to_owned(),
            base_color_image: Some(0),
            roughness: 0.85,
            double_sided: true,
            ..Material::default()
        },
        Material {
            name: "pole".to_owned(),
            base_color: Vec4::new(0.78, 0.76, 0.72, 1.0),
            metallic: 0.1,
            roughness: 0.4,
            ..Material::default()
        },
    ]
}

/// The cloth's picture: a pale field that takes the crowd's tint, with a dark wedge, a band along it
/// and a ring.
fn bunting() -> Vec<u8> {
    const WIDTH: u32 = 240;
    const HEIGHT: u32 = 160;
    const SAMPLES: u32 = 4;
    let dark = |x: f32, y: f32| {
        let wedge = x + (y - 0.5).abs() * 0.9;
        let from_ring = (Vec2::new(x, y) - Vec2::new(0.98, 0.5)).length();
        wedge < 0.5 || (0.56..0.6).contains(&wedge) || (0.17..0.225).contains(&from_ring) || from_ring < 0.08
    };
    let mut pixels = Vec::new();
    for row in 0..HEIGHT {
        for column in 0..WIDTH {
            let mut cover = 0.0;
            for sample in 0..SAMPLES * SAMPLES {
                let at = |pixel: u32, sample: u32| {
                    (pixel as f32 + (sample as f32 + 0.5) / SAMPLES as f32) / HEIGHT as f32
                };
                cover += f32::from(u8::from(dark(at(column, sample % SAMPLES), at(row, sample / SAMPLES))));
            }
            cover /= (SAMPLES * SAMPLES) as f32;
            let edge = column < 3 || row < 2 || column >= WIDTH - 2 || row >= HEIGHT - 2;
            for (pale, deep) in [(246.0, 58.0), (244.0, 62.0), (238.0, 74.0)] {
                let value: f32 = pale + (deep - pale) * cover - if edge { 22.0 } else { 0.0 };
                #[expect(clippy::cast_possible_truncation, reason = "0..=255")]
                pixels.push(value.round() as u8);
            }
        }
    }
    let mut png = Cursor::new(Vec::new());
    // The only failure is a buffer of the wrong length, which this is not.
    PngEncoder::new(&mut png)
        .write_image(&pixels, WIDTH, HEIGHT, ExtendedColorType::Rgb8)
        .unwrap_or_default();
    png.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_hardly_stretch_and_the_cloth_stays_at_the_pole() {
        let source = flag(30.0);
        let Motion::Vertices(frames) = &source.clips[0].motion else { panic!() };
        let rest = [LENGTH / (COLUMNS - 1) as f32, HEIGHT / (ROWS - 1) as f32];
        let mut worst = 0.0_f32;
        for VertexFrame { positions, .. } in frames {
            for row in 0..ROWS {
                let pinned = CORNER - Vec3::Y * (row as f32 * rest[1]);
                assert!(positions[row * COLUMNS].distance(pinned) < 1e-6);
                for column in 0..COLUMNS {
                    let here = positions[row * COLUMNS + column];
                    if column + 1 < COLUMNS {
                        let right = positions[row * COLUMNS + column + 1];
                        worst = worst.max(here.distance(right) / rest[0] - 1.0);
                    }
                    if row + 1 < ROWS {
                        let below = positions[(row + 1) * COLUMNS + column];
                        worst = worst.max(here.distance(below) / rest[1] - 1.0);
                    }
                }
            }
        }
        println!("worst stretch of a thread: {:.1} %", worst * 100.0);
        assert!(worst < 0.1, "{worst}");
    }

    #[test]
    fn loop_has_no_seam() {
        let source = flag(30.0);
        let Motion::Vertices(frames) = &source.clips[0].motion else { panic!() };
        assert_eq!(frames.len(), 120);
        let step = |a: usize, b: usize, c: usize| {
            let frame = |index: usize| &frames[index % frames.len()].positions;
            let moves = frame(a).iter().zip(frame(b)).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            let turns = frame(a).iter().zip(frame(b)).zip(frame(c));
            let turns = turns.map(|((a, b), c)| (*c - *b * 2.0 + *a).length()).fold(0.0, f32::max);
            (moves, turns)
        };
        let (mut moves, mut turns) = (0.0_f32, 0.0_f32);
        for frame in 0..118 {
            let (a, b) = step(frame, frame + 1, frame + 2);
            (moves, turns) = (moves.max(a), turns.max(b));
        }
        let (seam_moves, seam_turns) = [118, 119]
            .map(|frame| step(frame, frame + 1, frame + 2))
            .into_iter()
            .fold((0.0_f32, 0.0_f32), |(moves, turns), (a, b)| (moves.max(a), turns.max(b)));
        println!(
            "largest step {moves:.4} m, at the seam {seam_moves:.4}; change of step {turns:.4}, at the seam {seam_turns:.4}"
        );
        assert!(seam_moves <= moves && seam_turns <= turns);
        assert!(moves > 0.02, "it does fly");
    }

    #[test]
    fn another_rate_samples_the_same_flight() {
        let (slow, fast) = (flag(15.0), flag(30.0));
        let (Motion::Vertices(slow), Motion::Vertices(fast)) = (&slow.clips[0].motion, &fast.clips[0].motion)
        else {
            panic!()
        };
        assert_eq!(slow.len() * 2, fast.len());
        assert!(slow.iter().enumerate().all(|(index, frame)| *frame == fast[2 * index]));
    }
}
