//! Where an export's texels are, found from the mesh's texture coordinates and the pictures' sizes.
//!
//! ```text
//! wrap 0   frame 0       one column per vertex        normals, packed: the same place, half the
//!          frame 1 …                                  picture's height below
//! wrap 1   frame 0 …
//! ```

use std::path::Path;

use glam::{DVec3, UVec2, Vec2, uvec2};

use super::super::Error;
use super::super::image::Picture;
use super::super::mesh::UvSet;

/// A lookup further from a texel's centre than this belongs to another picture.
const MAX_OFF_CENTER: f32 = 0.25;
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

impl Layout {
    /// Finds the UV set whose values are texel centres; the last one that is.
    pub(super) fn find(uv_sets: &[UvSet], size: UVec2, frames: u32, mesh: &Path) -> Result<Self, Error> {
        let mut complaints = Vec::new();
        for (uv_set, set) in uv_sets.iter().enumerate().rev() {
            match lookup(&set.uvs, size, frames) {
                Ok((slots, off_center)) => {
                    let mut warnings = Vec::new();
                    if off_center > WORTH_A_WARNING {
                        warnings.push(format!(
                            "the lookup coordinates ({}) are up to {off_center:.3} texels off the centres; rounded",
                            set.name
                        ));
                    }
                    let wraps = slots.iter().max().map_or(1, |slot| slot / size.x + 1);
                    return Ok(Self { width: size.x, frames, slots, uv_set, warnings, wraps });
                }
                Err(complaint) => complaints.push(format!("{}: {complaint}", set.name)),
            }
        }
        let found = if complaints.is_empty() { "it has no UV map".to_owned() } else { complaints.join("; ") };
        let found = format!("{found}; the picture is {}×{}, with {frames} frames", size.x, size.y);
        Err(Error::NoLookup { found, path: mesh.to_owned() })
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
        let wrapped = size.y.is_power_of_two() && size.y >= rows * if packed { 2 } else { 1 };
        if single || wrapped {
            return Ok(());
        }
        let (frames, doubled) = (self.frames, self.frames * 2);
        let expected = format!(
            "{frames} frames need a height of {frames}, {doubled} with packed normals, or a power of two"
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
    let distinct: std::collections::HashSet<_> = slots.iter().collect();
    if slots.len() > 8 && distinct.len() == 1 {
        return Err("all vertices point at one texel".to_owned());
    }
    Ok((slots, off_center))
}
