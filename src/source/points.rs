use std::fmt::Debug;
use std::sync::Arc;

use glam::Vec3;

use super::VertexFrame;
use crate::mesh::Mesh;

/// Positions of points at the frames of a motion, read when they are asked for, by any number of threads.
pub trait PointFrames: Debug + Send + Sync {
    /// Number of frames.
    fn frame_count(&self) -> usize;

    /// Number of points.
    fn point_count(&self) -> usize;

    /// Replaces `into` by the points' positions at a frame, metres; leaves it empty where they can no longer
    /// be read.
    fn read(&self, frame: usize, into: &mut Vec<Vec3>);
}

/// A motion that a file stores point by point.
#[derive(Clone, Debug)]
pub struct Points {
    /// The stored positions.
    pub frames: Arc<dyn PointFrames>,
    /// Number of frames that are played.
    pub frame_count: usize,
    /// Point of each element.
    pub points: Arc<[u32]>,
    /// Triangles between elements; its elements are groups that share a normal.
    pub surface: Arc<Mesh>,
}

impl PartialEq for Points {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.frames, &other.frames) && self.frame_count == other.frame_count
    }
}

impl Points {
    /// All elements at a frame, with normals of the surface at that frame.
    pub(super) fn frame(&self, frame: usize, into: &mut VertexFrame) {
        let mut positions = Vec::new();
        self.frames.read(frame, &mut positions);
        let position = |point: &u32| positions.get(*point as usize).copied().unwrap_or(Vec3::NAN);
        into.positions.clear();
        into.positions.extend(self.points.iter().map(position));
        into.normals = self.surface.angle_weighted_normals(&into.positions);
        into.tangents.clear();
    }
}
