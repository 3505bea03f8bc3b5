//! Unbaked animation: what the bake turns into an asset.

use glam::{DVec3, Vec3};

use crate::clip::LoopMode;
use crate::material::{Image, Material};
use crate::mesh::Mesh;

pub mod builtin;
mod corners;
mod model;
mod points;
mod rigged;
mod sampler;
pub mod timeline;

pub use crate::mesh::VertexFrame;
pub use crate::skeleton::Scratch;
pub use model::{Model, Surface};
pub use points::{PointFrames, Points};
pub use rigged::Rigged;
pub use sampler::Sampler;

/// A mesh and what it does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// Name for people.
    pub name: String,
    /// Rest mesh; its elements are the identities that clips move.
    pub mesh: Mesh,
    /// What primitives refer to.
    pub materials: Vec<Material>,
    /// What materials refer to.
    pub images: Vec<Image>,
    /// What it does.
    pub clips: Vec<SourceClip>,
    /// What moves the clips that are not stored.
    pub rig: Option<Rigged>,
    /// The program that made it.
    pub producer: String,
    /// SHA-256 of the files, hexadecimal; none where it is made here.
    pub digest: Option<String>,
    /// What was concluded where the files did not say.
    pub assumptions: Vec<String>,
    /// What was wrong but could be used.
    pub warnings: Vec<String>,
}

/// One motion and how it is cut into frames.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceClip {
    /// Name for people.
    pub name: String,
    /// Frames per second, finite, at least 0.
    pub fps: f64,
    /// What happens at the end.
    pub loop_mode: LoopMode,
    /// At least one frame.
    pub motion: Motion,
}

/// What moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Stored frames of elements that move on their own.
    Vertices(Vec<VertexFrame>),
    /// Frames of points that a file stores.
    Points(Points),
    /// A clip of the source's rig, which can be asked for any time.
    Rig {
        /// Which of the rig's clips; the rest pose without one.
        clip: Option<usize>,
        /// Time of the first frame on the rig's clock, seconds.
        start_seconds: f64,
        /// Number of frames.
        frame_count: u32,
        /// What is taken out of the motion of all vertices.
        root: Option<RootMotion>,
    },
}

/// The way of a figure over the ground, which a game moves itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootMotion {
    /// The rig's node that carries the figure.
    pub node: u32,
    /// Where it stands at the clip's first frame, metres.
    pub start: DVec3,
    /// Whether the asset keeps what was taken out.
    pub is_kept: bool,
}

impl RootMotion {
    /// The way from the start, level with the ground.
    pub fn way(&self, place: DVec3) -> Vec3 {
        let way = (place - self.start).as_vec3();
        Vec3::new(way.x, 0.0, way.z)
    }
}

impl SourceClip {
    /// Number of frames.
    pub fn frame_count(&self) -> usize {
        match &self.motion {
            Motion::Vertices(frames) => frames.len(),
            Motion::Points(points) => points.frame_count,
            Motion::Rig { frame_count, .. } => *frame_count as usize,
        }
    }
}
