//! Where an export's texels are, found from the mesh's texture coordinates and the pictures' sizes.
//!
//! ```text
//! wrap 0   frame 0       one column per vertex        normals, packed: the same place, half the
//!          frame 1 …                                  picture's height below
//! wrap 1   frame 0 …
//! ```

use std::collections::{HashMap, HashSet};
use std::path::Path;

use glam::{DVec3, UVec2, Vec2, Vec3, uvec2};

use super::super::Error;
use super::super::image::Picture;
use super::super::mesh::MeshFile;
use crate::bounds::Bounds;

/// A lookup further from a texel's centre than this belongs to another picture: one of twice the size is a
/// quarter off.
const MAX_OFF_CENTER: f32 = 0.24;
/// A lookup further off than this is worth a warning.
const WORTH_A_WARNING: f32 = 0.01;

/// Where texels are.
pub(super) struct Layout {
    pub(super) width: u32,
    pub(super) frames: u32,
    /// Texel slot of each vertex: wrap · width + column.
    pub(super) slots: Vec<u32>,
    /// Which UV set points at texels.
    pub(super) uv_set: usize,
    pub(super) warnings: Vec<String>,
    pub(super) wraps: u32,
}

/// Where the parts come from, for messages.
#[derive(Clone, Copy)]
pub(super) struct Paths<'a> {
    pub(super) mesh: &'a Path,
    pub(super) picture: &'a Path,
}

impl Layout {
    /// Finds the UV set whose values are texel centres: one that says so in its name, else the last.
    pub(super) fn find(file: &MeshFile, size: UVec2, frames: u32, paths: Paths<'_>) -> Result<Self, Error> {
        let mut complaints = Vec::new();
        let uv_sets = &file.uv_sets;
        let (named, others): (Vec<usize>, _) =
            (0..uv_sets.len()).rev().partition(|set| uv_sets[*set].name == "VAT_UV");
        let order: Vec<usize> = named.into_iter().chain(others).collect();
        for uv_set in &order {
            let set = &uv_sets[*uv_set];
            match lookup(&set.uvs, size, frames) {
                Ok((slots, off_center)) => {
                    let mut warnings = Vec::new();
                    if off_center > WORTH_A_WARNING {
                        warnings.push(format!(
                            "the lookup coordinates ({}) are up to {off_center:.3} texels off the centres; rounded",
                            set.name
                        ));
                    }
                    let columns = slots.iter().max().map_or(1, |last| last + 1);
                    let distinct = slots.iter().collect::<HashSet<_>>().len();
                    if distinct < columns as usize {
                        warnings.push(format!(
                            "no vertex looks at {} of the {columns} columns of texels",
                            columns as usize - distinct
                        ));
                    }
                    let wraps = (columns - 1) / size.x + 1;
                    let layout = Self { width: size.x, frames, slots, uv_set: *uv_set, warnings, wraps };
                    return layout.without_collisions(&file.mesh.positions, &set.name, paths.mesh);
                }
                Err(complaint) => complaints.push(format!("{}: {complaint}", set.name)),
            }
        }
        // A picture that was resized: the size that the coordinates were made for can still be told.
        let meant = order
            .iter()
            .find_map(|set| made_for(&uv_sets[*set].uvs, frames).map(|meant| (&uv_sets[*set].name, meant)));
        if let Some((name, meant)) = meant {
            return Err(Error::PictureSize {
                width: size.x,
                height: size.y,
                expected: format!(
                    "the mesh's lookup coordinates ({name}) are for a picture of {}×{}",
                    meant.x, meant.y
                ),
                path: paths.picture.to_owned(),
            });
        }
        let found = if complaints.is_empty() { "it has no UV map".to_owned() } else { complaints.join("; ") };
        let found = format!("{found}; the picture is {}×{}, with {frames} frames", size.x, size.y);
        Err(Error::NoLookup { found, path: paths.mesh.to_owned() })
    }

    /// Vertices that share a column are copies of one; where they are apart, coordinates were rounded
    /// together.
    fn without_collisions(mut self, positions: &[Vec3], name: &str, mesh: &Path) -> Result<Self, Error> {
        let tolerance = Bounds::of_points(positions.iter().copied()).size().max_element() * 1e-5;
        let mut first: HashMap<u32, Vec3> = HashMap::new();
        let apart = self.slots.iter().zip(positions).filter(|(slot, position)| {
            first.entry(**slot).or_insert(**position).distance(**position) > tolerance
        });
        let (apart, vertices) = (apart.count(), positions.len());
        if apart * 100 > vertices {
            let found = format!("{name}: {apart} of {vertices} vertices look at the texel of another");
            return Err(Error::NoLookup { found, path: mesh.to_owned() });
        }
        if apart > 0 {
            self.warnings.push(format!(
                "{apart} of {vertices} vertices look at the texel of another: the lookup coordinates ({name}) were \
                 rounded"
            ));
        }
        Ok(self)
    }

    /// Texel of a slot in a frame.
    pub(super) fn texel(&self, slot: u32, frame: u32) -> UVec2 {
        uvec2(slot % self.width, slot / self.width * self.frames + frame)
    }

    /// Rows that positions take.
    pub(super) fn rows(&self) -> u32 {
        self.wraps * self.frames
    }

    /// Whether the lower half of `picture` holds normals: unit vectors wherever a vertex looks.
    pub(super) fn is_packed(&self, picture: &Picture) -> bool {
        let half = picture.size.y / 2;
        if !picture.size.y.is_multiple_of(2) || half < self.rows() {
            return false;
        }
        let samples = self.slots.iter().step_by(self.slots.len().div_ceil(256));
        let unit = samples.clone().filter(|slot| {
            let at = self.texel(**slot, 0) + uvec2(0, half);
            (normal_at(picture, at).length() - 1.0).abs() < 0.05
        });
        unit.count() * 10 >= samples.count() * 9
    }

    /// Refuses a picture whose height does not go with the frames.
    pub(super) fn check_height(&self, picture: &Picture, packed: bool, path: &Path) -> Result<(), Error> {
        let (size, rows) = (picture.size, self.rows());
        let single = self.wraps == 1 && (size.y == self.frames || (packed && size.y == 2 * self.frames));
        let wrapped = size.x.is_power_of_two()
            && size.y.is_power_of_two()
            && size.y >= rows * if packed { 2 } else { 1 };
        if single || wrapped {
            return Ok(());
        }
        let (frames, doubled) = (self.frames, self.frames * 2);
        let expected = format!(
            "{frames} frames need a height of {frames}, {doubled} with packed normals, or powers of two"
        );
        Err(Error::PictureSize { width: size.x, height: size.y, expected, path: path.to_owned() })
    }
}

/// The vector that a texel of a normal map stands for, not normalised, in the file's axes.
pub(super) fn normal_at(picture: &Picture, at: UVec2) -> DVec3 {
    picture.value(at) * 2.0 - 1.0
}

/// Slots of all vertices, and how far the worst is off a texel centre.
fn lookup(uvs: &[Vec2], size: UVec2, frames: u32) -> Result<(Vec<u32>, f32), String> {
    let mut off_center = 0.0_f32;
    let mut slots = Vec::with_capacity(uvs.len());
    for (vertex, uv) in uvs.iter().enumerate() {
        if !uv.is_finite() {
            return Err(format!("vertex {vertex} has none"));
        }
        let place = *uv * size.as_vec2() - 0.5;
        let texel = place.round();
        let off = (place - texel).abs().max_element();
        if off > MAX_OFF_CENTER || texel.min_element() < 0.0 || texel.cmpge(size.as_vec2()).any() {
            return Err(format!("vertex {vertex} points {off:.2} texels off the centre of a texel, at {uv}"));
        }
        off_center = off_center.max(off);
        let texel = texel.as_uvec2();
        if !texel.y.is_multiple_of(frames) {
            return Err(format!(
                "vertex {vertex} points at row {}, expected the first row of a wrap",
                texel.y
            ));
        }
        slots.push(texel.y / frames * size.x + texel.x);
    }
    Ok((slots, off_center))
}

/// The picture size whose texel centres these coordinates are: a row of one texel per vertex, or powers of
/// two.
fn made_for(uvs: &[Vec2], frames: u32) -> Option<UVec2> {
    let distinct = uvs.iter().map(|uv| uv.to_array().map(f32::to_bits)).collect::<HashSet<_>>().len();
    let columns = u32::try_from(distinct).ok()?;
    let single = [1, 2].map(|halves| uvec2(columns, frames.saturating_mul(halves)));
    let powers = (6..=13).flat_map(|x| (6..=13).map(move |y| uvec2(1 << x, 1 << y)));
    single.into_iter().chain(powers).find(|size| {
        // An exact fit alone: this is a guess, and guesses should be sure.
        lookup(uvs, *size, frames).is_ok_and(|(slots, off_center)| {
            off_center < WORTH_A_WARNING && slots.iter().collect::<HashSet<_>>().len() == distinct
        })
    })
}
