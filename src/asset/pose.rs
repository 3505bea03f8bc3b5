use glam::Vec3;

use super::Asset;
use crate::bounds::Bounds;
use crate::vat::normals::blended_normal;
use crate::vat::playback::{Frames, encode_frames};
use crate::vat::soft::{soft_blended, soft_position};
use crate::vat::{FrameBlend, Mode, Normals};

/// The mesh at one moment: one position and one normal per vertex, in the mesh's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pose {
    /// Metres, right-handed, Y up.
    pub positions: Vec<Vec3>,
    /// Unit length.
    pub normals: Vec<Vec3>,
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
        let animation = &self.animation;
        let texels = match animation.normals {
            Normals::Alpha => Some(&animation.positions),
            _ => animation.normal_texels.as_ref(),
        };
        let normals = match (animation.normals, texels) {
            (Normals::Flat, _) => self.mesh.angle_weighted_normals(&positions),
            (kind, Some(texels)) => {
                let normal = |element: &u32| {
                    let encoding = animation.encoding;
                    blended_normal(texels, animation.grid, kind, encoding, *element, frames, blend)
                };
                self.mesh.elements.iter().map(normal).collect()
            }
            (_, None) => self.mesh.normals.clone(),
        };
        Pose { positions, normals }
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
                    .map(|frame| {
                        let frames = encode_frames(clip, f64::from(frame));
                        Bounds::of_points(self.positions(frames, FrameBlend::Step))
                    })
                    .fold(Bounds::EMPTY, Bounds::union)
            })
            .collect()
    }
}
