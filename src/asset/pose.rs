use glam::Vec3;
use rayon::prelude::*;

use super::{Animation, Asset};
use crate::bounds::Bounds;
use crate::vat::normals::blended_normal;
use crate::vat::playback::{Frames, encode_frames};
use crate::vat::rotation::{blended_rotation, rotate};
use crate::vat::soft::{soft_blended, soft_position};
use crate::vat::{FrameBlend, Mode, Normals};

/// The mesh at one moment: one position and one normal per vertex, in the mesh's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pose {
    /// Metres, right-handed, Y up.
    pub positions: Vec<Vec3>,
    /// Unit length.
    pub normals: Vec<Vec3>,
    /// Unit length, across the normals; empty unless rotations are stored.
    pub tangents: Vec<Vec3>,
}

impl Asset {
    /// Decodes the mesh at `frames` on the CPU.
    ///
    /// Flat normals belong to faces, not vertices; in their place come vertex normals of the decoded
    /// triangles.
    ///
    /// # Panics
    /// If a frame is not in the asset.
    pub fn pose(&self, frames: Frames, blend: FrameBlend) -> Pose {
        let positions = self.positions(frames, blend);
        let normals = match self.animation.normals {
            Normals::Flat => self.mesh.angle_weighted_normals(&positions),
            _ => self.normals(frames, blend),
        };
        Pose { positions, normals, tangents: self.tangents(frames, blend).unwrap_or_default() }
    }

    /// Tangents alone, see [`Asset::pose`]; `None` unless rotations are stored.
    pub fn tangents(&self, frames: Frames, blend: FrameBlend) -> Option<Vec<Vec3>> {
        let Animation { grid, normals: Normals::Rotation, normal_texels: Some(texels), .. } = &self.animation
        else {
            return None;
        };
        let tangent =
            |element: &u32| rotate(blended_rotation(texels, *grid, *element, frames, blend), Vec3::X);
        Some(self.mesh.elements.iter().map(tangent).collect())
    }

    /// Normals alone, see [`Asset::pose`]; the rest pose's where none are stored.
    pub fn normals(&self, frames: Frames, blend: FrameBlend) -> Vec<Vec3> {
        let animation = &self.animation;
        let texels = match animation.normals {
            Normals::Alpha => Some(&animation.positions),
            _ => animation.normal_texels.as_ref(),
        };
        let Some(texels) = texels else {
            return self.mesh.normals.clone();
        };
        let normal = |element: &u32| {
            let Animation { grid, normals, encoding, .. } = animation;
            blended_normal(texels, *grid, *normals, *encoding, *element, frames, blend)
        };
        self.mesh.elements.iter().map(normal).collect()
    }

    /// Positions alone, see [`Asset::pose`].
    pub fn positions(&self, frames: Frames, blend: FrameBlend) -> Vec<Vec3> {
        let animation = &self.animation;
        let vertices = self.mesh.positions.iter().zip(&self.mesh.elements);
        match animation.mode {
            Mode::Soft => vertices
                .map(|(rest, element)| {
                    let stored = soft_blended(
                        &animation.positions,
                        animation.grid,
                        animation.encoding,
                        animation.remap,
                        *element,
                        frames,
                        blend,
                    );
                    soft_position(*rest, stored, animation.space)
                })
                .collect(),
        }
    }

    /// The box of each clip's decoded frames, metres: what [`super::Parts::clip_bounds`] should hold.
    pub fn measure_clip_bounds(&self) -> Vec<Bounds> {
        self.clips
            .iter()
            .map(|clip| {
                (0..clip.frame_count)
                    .into_par_iter()
                    .map(|frame| {
                        let frames = encode_frames(clip, f64::from(frame));
                        Bounds::of_points(self.positions(frames, FrameBlend::Step))
                    })
                    .reduce(|| Bounds::EMPTY, Bounds::union)
            })
            .collect()
    }
}
