//! From a model's vertices to a source's: flat triangles get corners of their own, tangents are made
//! where a normal map needs them, surfaces of one material become one primitive.

use std::collections::HashMap;

use glam::{Vec2, Vec4};

use super::{Model, Surface};
use crate::mesh::Primitive;

/// A model's triangles, with vertices that need no more splitting.
pub(super) struct Corners {
    /// Three per triangle.
    pub(super) indices: Vec<u32>,
    pub(super) primitives: Vec<Primitive>,
    /// Which of the model's vertices each vertex is; those of a part are together.
    pub(super) vertices: Vec<u32>,
    /// Vertices from here on are corners of flat triangles, three by three.
    pub(super) flat_from: u32,
    /// In the space of the parts.
    pub(super) tangents: Option<Vec<Vec4>>,
    pub(super) uvs: Option<Vec<Vec2>>,
}

/// Triangles of surfaces that share a material, smooth ones before flat ones.
struct Group<'a> {
    material: Option<u32>,
    surfaces: Vec<(usize, &'a Surface)>,
}

/// `always_tangents` makes tangents where no normal map needs them, too.
pub(super) fn corners(model: &Model, always_tangents: bool) -> Corners {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (part, surface) in model.surfaces.iter().enumerate() {
        match groups.iter_mut().find(|group| group.material == surface.material) {
            Some(group) => group.surfaces.push((part, surface)),
            None => groups.push(Group { material: surface.material, surfaces: vec![(part, surface)] }),
        }
    }
    let with_uvs = model.surfaces.iter().any(|surface| surface.has_uvs);
    let mapped = |surface: &Surface| {
        let material = surface.material.and_then(|material| model.materials.get(material as usize));
        let needed = always_tangents || material.is_some_and(|material| material.normal_image.is_some());
        surface.has_uvs && needed
    };
    let with_tangents = model.surfaces.iter().any(mapped);
    let mut builder = Builder { model, places: HashMap::new(), vertices: Vec::new(), tangents: Vec::new() };
    // Flat corners come behind all others, so that one number tells them apart.
    let mut smooth = Vec::new();
    for group in &groups {
        let mut indices = Vec::new();
        for (part, surface) in group.surfaces.iter().filter(|(_, surface)| surface.has_normals) {
            let triangles = builder.triangles(*part, surface);
            let tangents = (with_tangents && mapped(surface)).then(|| builder.tangents(&triangles));
            for (index, triangle) in triangles.iter().enumerate() {
                let tangent = |corner: usize| tangents.as_ref().map(|all| all[index * 3 + corner]);
                indices.extend([0, 1, 2].map(|corner| builder.shared(triangle[corner], tangent(corner))));
            }
        }
        smooth.push(indices);
    }
    let flat_from = to_u32(builder.vertices.len());
    let (mut all, mut primitives) = (Vec::new(), Vec::new());
    for (group, mut indices) in groups.iter().zip(smooth) {
        for (part, surface) in group.surfaces.iter().filter(|(_, surface)| !surface.has_normals) {
            for triangle in builder.triangles(*part, surface) {
                indices.extend(triangle.map(|vertex| builder.own(vertex)));
            }
        }
        let start = to_u32(all.len());
        all.append(&mut indices);
        let end = to_u32(all.len());
        if end > start {
            primitives.push(Primitive { indices: start..end, material: group.material });
        }
    }
    let Builder { vertices, tangents, .. } = builder;
    Corners {
        indices: all,
        primitives,
        uvs: with_uvs.then(|| vertices.iter().map(|vertex| model.uvs[*vertex as usize]).collect()),
        vertices,
        flat_from,
        tangents: with_tangents.then_some(tangents),
    }
}

struct Builder<'a> {
    model: &'a Model,
    places: HashMap<(u32, [u32; 4]), u32>,
    vertices: Vec<u32>,
    tangents: Vec<Vec4>,
}

/// Stands in where a vertex has no tangent of its own.
const ANY_TANGENT: Vec4 = Vec4::new(1.0, 0.0, 0.0, 1.0);

impl Builder<'_> {
    /// Triangles of a surface, seen from outside also where its node mirrors it.
    fn triangles(&self, part: usize, surface: &Surface) -> Vec<[u32; 3]> {
        let mirrors = self.model.rig.mirrors(part);
        let triangles = self.model.indices[surface.indices.clone()].as_chunks::<3>().0.iter();
        triangles.map(|[a, b, c]| if mirrors { [*a, *c, *b] } else { [*a, *b, *c] }).collect()
    }

    fn shared(&mut self, vertex: u32, tangent: Option<Vec4>) -> u32 {
        let tangent = tangent.unwrap_or(ANY_TANGENT);
        let key = (vertex, tangent.to_array().map(f32::to_bits));
        let next = to_u32(self.vertices.len());
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.vertices.push(vertex);
            self.tangents.push(tangent);
        }
        place
    }

    fn own(&mut self, vertex: u32) -> u32 {
        self.vertices.push(vertex);
        self.tangents.push(ANY_TANGENT);
        to_u32(self.vertices.len() - 1)
    }

    /// One tangent per corner: the file's, else by MikkTSpace, in the space of the part.
    fn tangents(&self, triangles: &[[u32; 3]]) -> Vec<Vec4> {
        let rig = &self.model.rig;
        let first = triangles.first().map_or(0, |triangle| triangle[0] as usize);
        let part = rig.parts.iter().position(|part| part.vertices.contains(&first));
        let given = part.is_some_and(|part| self.model.surfaces[part].has_tangents);
        if given {
            let corners = triangles.iter().flatten();
            return corners.map(|vertex| rig.tangents[*vertex as usize]).collect();
        }
        let mut geometry =
            Geometry { model: self.model, triangles, tangents: vec![ANY_TANGENT; triangles.len() * 3] };
        // It fails only for a mesh without faces.
        let _ = bevy_mikktspace::generate_tangents(&mut geometry);
        geometry.tangents
    }
}

struct Geometry<'a> {
    model: &'a Model,
    triangles: &'a [[u32; 3]],
    tangents: Vec<Vec4>,
}

impl bevy_mikktspace::Geometry for Geometry<'_> {
    fn num_faces(&self) -> usize {
        self.triangles.len()
    }

    fn num_vertices_of_face(&self, _: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.model.rig.positions[self.triangles[face][corner] as usize].to_array()
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        self.model.rig.normals[self.triangles[face][corner] as usize].to_array()
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        self.model.uvs[self.triangles[face][corner] as usize].to_array()
    }

    fn set_tangent(
        &mut self,
        tangent_space: Option<bevy_mikktspace::TangentSpace>,
        face: usize,
        corner: usize,
    ) {
        if let Some(space) = tangent_space {
            // glTF counts V downwards, and its normal maps have Y up.
            let [x, y, z, w] = space.tangent_encoded();
            self.tangents[face * 3 + corner] = Vec4::new(x, y, z, -w);
        }
    }
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
