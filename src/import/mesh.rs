//! A mesh as an exporter wrote it: all its UV sets, and no conclusions yet.

use std::path::Path;

use glam::Vec2;

use super::{Error, Options, fbx, gltf, resolve};
use crate::material::{Image, Material};
use crate::mesh::Mesh;

/// A mesh file.
#[derive(Debug, Default)]
pub(super) struct MeshFile {
    /// Positions, indices and primitives; elements are vertex numbers. Right-handed, Y up, metres.
    pub(super) mesh: Mesh,
    /// UV sets in the file's order, V down; one value per vertex.
    pub(super) uv_sets: Vec<UvSet>,
    pub(super) materials: Vec<Material>,
    pub(super) images: Vec<Image>,
    pub(super) warnings: Vec<String>,
    /// The exporter's words about itself.
    pub(super) generator: String,
    /// A glTF file, whose exporter applies modifiers.
    pub(super) is_gltf: bool,
}

/// One set of texture coordinates.
#[derive(Debug)]
pub(super) struct UvSet {
    pub(super) name: String,
    pub(super) uvs: Vec<Vec2>,
}

/// Reads a glTF, GLB or FBX file.
pub(super) fn read(folder: &Path, path: &Path, options: &Options) -> Result<MeshFile, Error> {
    let bytes = resolve::file(folder, path, &options.limits)?;
    let fbx = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fbx"));
    let file =
        if fbx { fbx::read(&bytes, path, options)? } else { gltf::read(&bytes, folder, path, options)? };
    if file.mesh.positions.is_empty() || file.mesh.indices.is_empty() {
        return Err(Error::Mesh { message: "found no triangles".to_owned(), path: path.to_owned() });
    }
    Ok(file)
}

/// Refuses a count of vertices above the limit.
pub(super) fn check_vertices(found: u64, path: &Path, options: &Options) -> Result<(), Error> {
    let limit = options.limits.vertices;
    if found > limit {
        return Err(Error::TooLarge { what: "vertices of the mesh", found, limit, path: path.to_owned() });
    }
    Ok(())
}
