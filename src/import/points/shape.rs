//! A mesh as a point cache or a sequence sees it: points, and faces whose corners look at them.

use std::collections::HashMap;
use std::path::Path;

use glam::{Vec2, Vec3};

use super::super::Error;
use crate::mesh::{Mesh, Primitive};

/// What a mesh file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shape {
    /// Positions of the points, in the file's order.
    pub(super) points: Vec<Vec3>,
    /// Three per triangle.
    pub(super) corners: Vec<Corner>,
    /// Triangles of one material each, in the order of `corners`.
    pub(super) runs: Vec<(Option<String>, usize)>,
    /// The file has texture coordinates.
    pub(super) has_uvs: bool,
    /// Files of materials that it names.
    pub(super) libraries: Vec<String>,
}

/// A corner of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Corner {
    pub(super) point: u32,
    /// V down.
    pub(super) uv: Vec2,
    pub(super) normal: Option<Vec3>,
}

/// A mesh for drawing, whose elements are points with a normal of their own.
pub(super) struct Drawn {
    pub(super) mesh: Mesh,
    /// Point of each element.
    pub(super) points: Vec<u32>,
    /// The elements' triangles; its elements are groups that share a normal.
    pub(super) surface: Mesh,
}

impl Shape {
    /// Adds a face of any number of corners as a fan.
    pub(super) fn face(&mut self, corners: &[Corner], material: Option<&str>) {
        let count = corners.len().saturating_sub(2);
        for at in 0..count {
            self.corners.extend([corners[0], corners[at + 1], corners[at + 2]]);
        }
        match self.runs.last_mut() {
            Some((last, run)) if last.as_deref() == material => *run += count,
            _ => self.runs.push((material.map(str::to_owned), count)),
        }
    }

    /// Refuses a shape without triangles or with points that are no numbers.
    pub(super) fn check(&self, path: &Path) -> Result<(), Error> {
        if self.corners.is_empty() {
            return Err(Error::Mesh { message: "found no triangles".to_owned(), path: path.to_owned() });
        }
        match self.points.iter().position(|point| !point.is_finite()) {
            None => Ok(()),
            Some(at) => Err(Error::Value {
                pointer: format!("point {at}"),
                found: format!("{}", self.points[at]),
                expected: "finite numbers".to_owned(),
                path: path.to_owned(),
            }),
        }
    }

    /// Whether `other` has the same triangles between as many points.
    pub(super) fn has_topology_of(&self, other: &Self) -> bool {
        let points = |shape: &Self| shape.corners.iter().map(|corner| corner.point).collect::<Vec<_>>();
        self.points.len() == other.points.len() && points(self) == points(other)
    }

    /// Points split where normals or texture coordinates are; one primitive per material.
    pub(super) fn drawn(&self, materials: &[String]) -> Drawn {
        let mut mesh = Mesh { uvs: self.has_uvs.then(Vec::new), ..Mesh::default() };
        let mut surface = Mesh::default();
        let mut points = Vec::new();
        let mut groups: HashMap<([u32; 3], Option<[u32; 3]>), u32> = HashMap::new();
        let mut elements: HashMap<(u32, u32), u32> = HashMap::new();
        let mut vertices: HashMap<(u32, [u32; 2]), u32> = HashMap::new();
        let mut run_of = Vec::new();
        for (run, (_, count)) in self.runs.iter().enumerate() {
            run_of.extend(std::iter::repeat_n(run, *count));
        }
        let mut of_materials: Vec<(Option<u32>, Vec<u32>)> = Vec::new();
        for (triangle, run) in self.corners.as_chunks::<3>().0.iter().zip(run_of) {
            let name = self.runs[run].0.as_deref();
            let material = name.and_then(|name| materials.iter().position(|known| known == name)).map(to_u32);
            let place = match of_materials.iter().position(|(of, _)| *of == material) {
                Some(place) => place,
                None => {
                    of_materials.push((material, Vec::new()));
                    of_materials.len() - 1
                }
            };
            for corner in triangle {
                let position = self.points[corner.point as usize];
                // Points at one place with one normal are one smooth surface, also across a seam.
                let key = (bits(position), corner.normal.map(bits));
                let next = to_u32(groups.len());
                let group = *groups.entry(key).or_insert(next);
                let next = to_u32(points.len());
                let element = *elements.entry((corner.point, group)).or_insert(next);
                if element == next {
                    points.push(corner.point);
                    surface.positions.push(position);
                    surface.elements.push(group);
                }
                surface.indices.push(element);
                let next = to_u32(mesh.positions.len());
                let uv = corner.uv.to_array().map(f32::to_bits);
                let vertex = *vertices.entry((element, uv)).or_insert(next);
                if vertex == next {
                    mesh.positions.push(position);
                    mesh.elements.push(element);
                    mesh.uvs.iter_mut().for_each(|uvs| uvs.push(corner.uv));
                }
                of_materials[place].1.push(vertex);
            }
        }
        // In the order of the file's points, as far as they are drawn.
        let mut order: Vec<usize> = (0..mesh.positions.len()).collect();
        order.sort_by_key(|vertex| points[mesh.elements[*vertex] as usize]);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, vertex)| places[*vertex] = to_u32(place));
        mesh.positions = order.iter().map(|vertex| mesh.positions[*vertex]).collect();
        mesh.elements = order.iter().map(|vertex| mesh.elements[*vertex]).collect();
        if let Some(uvs) = &mut mesh.uvs {
            *uvs = order.iter().map(|vertex| uvs[*vertex]).collect();
        }
        for (material, indices) in of_materials {
            let indices = indices.iter().map(|vertex| places[*vertex as usize]);
            let start = to_u32(mesh.indices.len());
            mesh.indices.extend(indices);
            mesh.primitives.push(Primitive { indices: start..to_u32(mesh.indices.len()), material });
        }
        let normals = surface.angle_weighted_normals(&surface.positions);
        mesh.normals = mesh.elements.iter().map(|element| normals[*element as usize]).collect();
        Drawn { mesh, points, surface }
    }
}

fn bits(vector: Vec3) -> [u32; 3] {
    // Adding 0 makes one of both zeros.
    (vector + 0.0).to_array().map(f32::to_bits)
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
