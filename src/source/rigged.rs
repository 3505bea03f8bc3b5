use glam::Vec3;

use super::VertexFrame;
use crate::skeleton::Rig;

/// A rig whose vertices are the elements of a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rigged {
    /// What moves.
    pub rig: Rig,
    /// Which vertex of the model each element is.
    pub model_vertices: Vec<u32>,
    /// Elements from here on are corners of triangles without normals of their own, three by three.
    pub flat_from: u32,
}

impl Rigged {
    /// Gives flat triangles their normals.
    pub(super) fn flatten(&self, frame: &mut VertexFrame) {
        let flat = self.flat_from as usize;
        let triangles = frame.positions[flat..].as_chunks::<3>().0.iter();
        for (corners, normals) in triangles.zip(frame.normals[flat..].as_chunks_mut::<3>().0) {
            *normals = [face_normal(corners); 3];
        }
    }
}

/// +Y where there is no area.
pub(super) fn face_normal(corners: &[Vec3; 3]) -> Vec3 {
    let [a, b, c] = *corners;
    // Triangles of a millimetre have areas of a millionth.
    let (ab, ac) = ((b - a).normalize_or_zero(), (c - a).normalize_or_zero());
    ab.cross(ac).try_normalize().unwrap_or(Vec3::Y)
}
