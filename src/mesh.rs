//! The rest mesh that a texture animates.

use std::ops::Range;

use glam::{Vec2, Vec3, Vec4};

/// Triangles with their rest pose. All vertex streams have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Rest positions, metres, right-handed, Y up.
    pub positions: Vec<Vec3>,
    /// Rest normals, unit length.
    pub normals: Vec<Vec3>,
    /// Rest tangents, unit length; w is the sign of the bitangent, cross(normal, tangent) w.
    pub tangents: Option<Vec<Vec4>>,
    /// Texture coordinates, V down as in glTF.
    pub uvs: Option<Vec<Vec2>>,
    /// The element that moves each vertex: its column of texels. Many vertices may share one.
    pub elements: Vec<u32>,
    /// Three per triangle, counter-clockwise seen from outside.
    pub indices: Vec<u32>,
    /// Ranges of `indices` that are drawn with one material each, in order, covering all of them.
    pub primitives: Vec<Primitive>,
    /// Coarser levels, from fine to coarse.
    pub lods: Vec<Lod>,
}

/// A level of detail: fewer triangles over the same vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lod {
    /// Three per triangle, as [`Mesh::indices`].
    pub indices: Vec<u32>,
    /// Ranges of `indices`, as [`Mesh::primitives`].
    pub primitives: Vec<Primitive>,
    /// Worst distance of a vertex of the full mesh from this level's surface, over the whole animation,
    /// metres.
    pub deviation_metres: f32,
}

/// A run of triangles with one material: one draw call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Primitive {
    /// Range of [`Mesh::indices`].
    pub indices: Range<u32>,
    /// Index into the asset's materials; `None` is the glTF default material.
    pub material: Option<u32>,
}

/// What moves, at one moment: one entry per vertex or element. Buffers are reused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexFrame {
    /// Metres.
    pub positions: Vec<Vec3>,
    /// Unit length.
    pub normals: Vec<Vec3>,
    /// Unit length, w is the sign of the bitangent; empty where there are none.
    pub tangents: Vec<Vec4>,
}

impl Mesh {
    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// Number of triangles.
    pub fn triangle_count(&self) -> usize {
        self.indices.len() / 3
    }

    /// Vertex normals weighted by corner angle (Thürmer and Wüthrich 1998), for `positions` in place
    /// of the rest pose. Vertices of one element share their normal, so seams stay closed.
    /// A vertex without area gets +Y.
    pub fn angle_weighted_normals(&self, positions: &[Vec3]) -> Vec<Vec3> {
        let element_count = self.elements.iter().max().map_or(0, |last| *last as usize + 1);
        let mut sums = vec![Vec3::ZERO; element_count];
        for triangle in self.indices.chunks_exact(3) {
            let corners = [0, 1, 2].map(|corner| positions[triangle[corner] as usize]);
            let face = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
            for corner in 0..3 {
                let here = corners[corner];
                let a = (corners[(corner + 1) % 3] - here).normalize_or_zero();
                let b = (corners[(corner + 2) % 3] - here).normalize_or_zero();
                let angle = libm::acosf(a.dot(b).clamp(-1.0, 1.0));
                sums[self.elements[triangle[corner] as usize] as usize] += face * angle;
            }
        }
        self.elements
            .iter()
            .map(|element| sums[*element as usize].try_normalize().unwrap_or(Vec3::Y))
            .collect()
    }
}
