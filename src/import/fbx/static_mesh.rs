//! Static meshes from FBX, through ufbx.

use std::collections::HashMap;
use std::path::Path;

use glam::{Vec2, Vec3};

use super::{allocator, refused as said};
use crate::import::mesh::{MeshFile, UvSet, check_vertices};
use crate::import::{Error, Options};
use crate::material::Material;
use crate::mesh::Primitive;

/// Reads the one mesh of an FBX file: control points first, in the file's order, then copies of those
/// whose corners differ in a UV. Vertices are taken raw, without the node's transform: in exports for
/// vertex animation these are metres with Z up, and are turned here to Y up.
pub(in crate::import) fn read(bytes: &[u8], path: &Path, options: &Options) -> Result<MeshFile, Error> {
    let refused = |message: String| Error::Mesh { message, path: path.to_owned() };
    let load = ufbx::LoadOpts {
        temp_allocator: allocator(options),
        result_allocator: allocator(options),
        ignore_animation: true,
        ignore_embedded: true,
        ..Default::default()
    };
    let scene = ufbx::load_memory(bytes, load).map_err(|error| said(&error, path))?;
    if scene.meshes.len() != 1 {
        return Err(refused(format!("found {} meshes, expected one", scene.meshes.len())));
    }
    let mesh = &scene.meshes[0];
    check_vertices(mesh.num_indices as u64, path, options)?;
    let mut file = MeshFile {
        generator: scene.metadata.creator.to_string(),
        uv_sets: mesh
            .uv_sets
            .iter()
            .map(|set| UvSet { name: set.name.to_string(), uvs: Vec::new() })
            .collect(),
        ..MeshFile::default()
    };
    // Blender's axes: X stays, Z is up, Y goes away from the viewer.
    #[expect(clippy::cast_possible_truncation, reason = "positions are single floats")]
    let position = |point: usize| {
        let raw = mesh.vertices[point];
        Vec3::new(raw.x as f32, raw.z as f32, -raw.y as f32)
    };
    file.mesh.positions = (0..mesh.num_vertices).map(position).collect();
    let mut seen: Vec<Option<Vec<[u32; 2]>>> = vec![None; mesh.num_vertices];
    let mut copies: HashMap<(usize, Vec<[u32; 2]>), u32> = HashMap::new();
    let mut corners: Vec<Vec<Vec2>> = vec![vec![Vec2::ZERO; mesh.uv_sets.len()]; mesh.num_vertices];
    let mut materials: Vec<Vec<u32>> = vec![Vec::new(); mesh.materials.len().max(1)];
    let mut triangles = Vec::new();
    for (number, face) in mesh.faces.iter().enumerate() {
        let count = ufbx::triangulate_face_vec(&mut triangles, mesh, *face) as usize;
        let material = mesh.face_material.get(number).map_or(0, |material| *material as usize);
        let bucket = material.min(materials.len() - 1);
        for corner in triangles.iter().take(3 * count) {
            let corner = *corner as usize;
            let point = mesh.vertex_indices[corner] as usize;
            if point >= mesh.num_vertices {
                return Err(refused(format!("found vertex {point}, there are {}", mesh.num_vertices)));
            }
            #[expect(clippy::cast_possible_truncation, reason = "UVs are single floats")]
            let uvs: Vec<Vec2> = mesh
                .uv_sets
                .iter()
                .map(|set| set.vertex_uv[corner])
                .map(|uv| Vec2::new(uv.x as f32, 1.0 - uv.y as f32))
                .collect();
            let key: Vec<[u32; 2]> = uvs.iter().map(|uv| uv.to_array().map(f32::to_bits)).collect();
            let index = match &seen[point] {
                None => {
                    seen[point] = Some(key);
                    corners[point] = uvs;
                    point
                }
                Some(first) if *first == key => point,
                Some(_) => *copies.entry((point, key)).or_insert_with(|| {
                    file.mesh.positions.push(position(point));
                    corners.push(uvs);
                    u32::try_from(corners.len() - 1).unwrap_or(u32::MAX)
                }) as usize,
            };
            materials[bucket].push(u32::try_from(index).unwrap_or(u32::MAX));
        }
    }
    for (set, uvs) in file.uv_sets.iter_mut().enumerate() {
        uvs.uvs = corners.iter().map(|corner| corner[set]).collect();
    }
    for (material, indices) in (0..).zip(&materials) {
        if indices.is_empty() {
            continue;
        }
        let start = u32::try_from(file.mesh.indices.len()).unwrap_or(u32::MAX);
        file.mesh.indices.extend(indices);
        let end = u32::try_from(file.mesh.indices.len()).unwrap_or(u32::MAX);
        let material = (!mesh.materials.is_empty()).then_some(material);
        file.mesh.primitives.push(Primitive { indices: start..end, material });
    }
    file.materials = mesh
        .materials
        .iter()
        .map(|material| Material { name: material.element.name.to_string(), ..Material::default() })
        .collect();
    finish(&mut file);
    Ok(file)
}

/// What every reader does last: elements are vertices, and finite.
pub(in crate::import) fn finish(file: &mut MeshFile) {
    file.mesh.elements = (0..u32::try_from(file.mesh.positions.len()).unwrap_or(u32::MAX)).collect();
}
