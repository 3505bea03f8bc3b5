//! Vertices in the order in which they are drawn, columns in the order in which they are fetched.

use std::collections::HashMap;

use glam::Vec3;

use super::survey::Fingerprint;
use crate::mesh::{Mesh, Primitive};

/// A mesh made ready for drawing.
pub(super) struct Ordered {
    /// Its elements are columns.
    pub(super) mesh: Mesh,
    /// Which element of the source each column stores.
    pub(super) columns: Vec<u32>,
    /// Which vertex of the source's mesh each vertex is.
    pub(super) vertices: Vec<u32>,
}

/// Orders triangles for the vertex cache, vertices for fetching (both by meshoptimizer), then counts
/// columns in the order of vertices. Elements that do the same in every frame share one; vertices that no
/// triangle shows are left out. `by_place` has the rest position of each element where columns are to be
/// counted along a curve through space instead.
pub(super) fn ordered(source: &Mesh, fingerprints: &[Fingerprint], by_place: Option<&[Vec3]>) -> Ordered {
    let count = source.vertex_count();
    let mut indices = Vec::with_capacity(source.indices.len());
    for Primitive { indices: range, .. } in &source.primitives {
        let run = &source.indices[range.start as usize..range.end as usize];
        indices.extend(meshopt::optimize_vertex_cache(run, count));
    }
    let mut places = vec![u32::MAX; count];
    let mut vertices = Vec::new();
    for index in &mut indices {
        let place = &mut places[*index as usize];
        if *place == u32::MAX {
            *place = u32::try_from(vertices.len()).unwrap_or(u32::MAX);
            vertices.push(*index);
        }
        *index = *place;
    }
    let mut seen: HashMap<Fingerprint, u32> = HashMap::new();
    let mut columns = Vec::new();
    let mut elements = Vec::with_capacity(vertices.len());
    for vertex in &vertices {
        let element = source.elements[*vertex as usize];
        let next = u32::try_from(columns.len()).unwrap_or(u32::MAX);
        let column = *seen.entry(fingerprints[element as usize]).or_insert(next);
        if column == next {
            columns.push(element);
        }
        elements.push(column);
    }
    if let Some(rest) = by_place {
        let places: Vec<[f32; 3]> =
            columns.iter().map(|element| rest[*element as usize].to_array()).collect();
        let bytes = bytemuck::cast_slice(&places);
        // It fails only where the stride is wrong.
        if let Ok(adapter) = meshopt::VertexDataAdapter::new(bytes, size_of::<[f32; 3]>(), 0) {
            let to = meshopt::spatial_sort_remap(&adapter);
            let old = columns.clone();
            for (element, place) in old.iter().zip(&to) {
                columns[*place as usize] = *element;
            }
            elements.iter_mut().for_each(|column| *column = to[*column as usize]);
        }
    }
    let pick = |vertex: &u32| *vertex as usize;
    let mesh = Mesh {
        positions: vertices.iter().map(|vertex| source.positions[pick(vertex)]).collect(),
        normals: vertices.iter().map(|vertex| source.normals[pick(vertex)]).collect(),
        tangents: source
            .tangents
            .as_ref()
            .map(|tangents| vertices.iter().map(|vertex| tangents[pick(vertex)]).collect()),
        uvs: source.uvs.as_ref().map(|uvs| vertices.iter().map(|vertex| uvs[pick(vertex)]).collect()),
        elements,
        indices,
        primitives: source.primitives.clone(),
        lods: Vec::new(),
    };
    Ordered { mesh, columns, vertices }
}
