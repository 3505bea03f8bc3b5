//! Unbaked animation: what the bake turns into an asset.

use glam::Vec3;

use crate::clip::LoopMode;
use crate::material::{Image, Material};
use crate::mesh::Mesh;

pub mod builtin;

/// A mesh and what it does.
#[derive(Clone, Debug, PartialEq)]
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
    /// The program that made it.
    pub producer: String,
}

/// One motion, sampled at its frames.
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
    /// Every element moves on its own.
    Vertices(Vec<VertexFrame>),
}

/// All elements at one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexFrame {
    /// One position per element, metres.
    pub positions: Vec<Vec3>,
    /// One unit normal per element.
    pub normals: Vec<Vec3>,
}
