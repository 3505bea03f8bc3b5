//! Static meshes: all UV sets, and each mesh in its own space.

use std::path::Path;

use glam::{Vec2, Vec3};
use gltf::Semantic;
use gltf::accessor::Dimensions;

use super::accessor::Numbers;
use super::{File, to_u32};
use crate::import::fbx::finish;
use crate::import::mesh::{MeshFile, UvSet, check_vertices};
use crate::import::{Error, Options};
use crate::mesh::Primitive;

/// UV sets beyond this are not looked for.
const MAX_UV_SETS: u32 = 8;

/// Reads all primitives of all meshes, one after another.
pub(in crate::import) fn read(
    bytes: &[u8],
    folder: &Path,
    path: &Path,
    options: &Options,
) -> Result<MeshFile, Error> {
    let gltf = File::open(bytes, folder, path, options)?;
    let mut file = MeshFile {
        is_gltf: true,
        generator: gltf.generator(),
        warnings: gltf.warnings.clone(),
        ..MeshFile::default()
    };
    let document = &gltf.document;
    for node in document.nodes().filter(|node| node.mesh().is_some()) {
        let identity = gltf::scene::Transform::Matrix {
            matrix: [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
        };
        if node.transform().matrix() != identity.matrix() {
            let name = node.name().unwrap_or("");
            file.warnings.push(format!(
                "the transform of node {name:?} is not used: the mesh is read in its own space"
            ));
        }
    }
    for mesh in document.meshes() {
        for primitive in mesh.primitives() {
            let at = format!("/meshes/{}/primitives/{}", mesh.index(), primitive.index());
            gltf.static_primitive(&primitive, &at, &mut file)?;
        }
    }
    let mut looks = gltf.looks()?;
    file.warnings.append(&mut looks.warnings);
    (file.materials, file.images) = (looks.materials, looks.images);
    finish(&mut file);
    Ok(file)
}

impl File<'_> {
    fn static_primitive(
        &self,
        primitive: &gltf::Primitive<'_>,
        at: &str,
        file: &mut MeshFile,
    ) -> Result<(), Error> {
        if primitive.mode() != gltf::mesh::Mode::Triangles {
            return Err(self.value(&format!("{at}/mode"), primitive.mode(), "triangles"));
        }
        let Some(positions) = primitive.get(&Semantic::Positions) else {
            return Err(self.value(&format!("{at}/attributes"), "no POSITION", "positions"));
        };
        for (semantic, accessor) in primitive.attributes() {
            if accessor.count() != positions.count() {
                let pointer = format!("{at}/attributes/{}", semantic.to_string());
                let expected = format!("{}, as many as positions", positions.count());
                return Err(self.value(&pointer, accessor.count(), expected));
            }
        }
        let base = file.mesh.positions.len();
        check_vertices(base as u64 + positions.count() as u64, self.path, self.options)?;
        let positions = self.floats(&positions, Dimensions::Vec3, Numbers::Quantized)?;
        let count = positions.len() / 3;
        file.mesh
            .positions
            .extend(positions.as_chunks().0.iter().map(|xyz: &[f32; 3]| Vec3::from_array(*xyz)));
        for set in 0..MAX_UV_SETS {
            let Some(accessor) = primitive.get(&Semantic::TexCoords(set)) else {
                continue;
            };
            let uvs = self.floats(&accessor, Dimensions::Vec2, Numbers::Quantized)?;
            let name = format!("TEXCOORD_{set}");
            let index =
                file.uv_sets.iter().position(|known| known.name == name).unwrap_or(file.uv_sets.len());
            if index == file.uv_sets.len() {
                file.uv_sets.push(UvSet { name, uvs: Vec::new() });
            }
            // Primitives before this one that lack the set have no place in it.
            let known = &mut file.uv_sets[index].uvs;
            known.resize(base, Vec2::NAN);
            known.extend(uvs.as_chunks().0.iter().map(|uv: &[f32; 2]| Vec2::from_array(*uv)));
        }
        for set in &mut file.uv_sets {
            set.uvs.resize(base + count, Vec2::NAN);
        }
        let start = file.mesh.indices.len();
        match primitive.indices() {
            Some(accessor) => {
                let indices = self.indices(&accessor, count)?;
                file.mesh.indices.extend(indices.iter().map(|index| to_u32(base) + index));
            }
            None => file.mesh.indices.extend(to_u32(base)..to_u32(base + count)),
        }
        let indices = file.mesh.indices.len() - start;
        if !indices.is_multiple_of(3) {
            return Err(self.value(&format!("{at}/indices"), indices, "three per triangle"));
        }
        if indices > 0 {
            let material = primitive.material().index().map(to_u32);
            file.mesh
                .primitives
                .push(Primitive { indices: to_u32(start)..to_u32(start + indices), material });
        }
        Ok(())
    }
}
