//! Static meshes from glTF, through the `gltf` crate, which trusts what a file says about itself: every
//! range is checked here before it is read, and references go through the one resolver.

use std::path::Path;

use glam::{Vec2, Vec3, Vec4};
use gltf::accessor::{DataType, Dimensions};
use gltf::{Accessor, Document, Semantic};

use super::fbx::finish;
use super::mesh::{MeshFile, UvSet, check_vertices};
use super::{Error, Options, resolve};
use crate::material::{Image, Material};
use crate::mesh::Primitive;

/// UV sets beyond this are not looked for.
const MAX_UV_SETS: u32 = 8;

/// Reads all primitives of all meshes, one after another.
pub(super) fn read(bytes: &[u8], folder: &Path, path: &Path, options: &Options) -> Result<MeshFile, Error> {
    let refused = |message: String| Error::Mesh { message, path: path.to_owned() };
    let (json, blob) = split(bytes).map_err(&refused)?;
    let root: gltf::json::Root =
        gltf::json::deserialize::from_slice(json).map_err(|error| refused(error.to_string()))?;
    // The crate's own validation looks positions up before it checks that they are there.
    for (mesh, primitive) in
        root.meshes.iter().flat_map(|mesh| mesh.primitives.iter().map(move |p| (mesh, p)))
    {
        let accessors = root.accessors.len();
        if let Some(index) = primitive.attributes.values().find(|index| index.value() >= accessors) {
            let name = mesh.name.as_deref().unwrap_or("");
            let index = index.value();
            return Err(refused(format!("mesh {name:?} uses accessor {index}, there are {accessors}")));
        }
    }
    let document = Document::from_json(root).map_err(|error| refused(error.to_string()))?;
    let reader = Reader { folder, path, options, buffers: buffers(&document, blob, folder, path, options)? };
    let mut file = MeshFile {
        is_gltf: true,
        generator: document.as_json().asset.generator.clone().unwrap_or_default(),
        ..MeshFile::default()
    };
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
            reader.primitive(&primitive, &at, &mut file)?;
        }
    }
    reader.materials(&document, &mut file)?;
    finish(&mut file);
    Ok(file)
}

/// JSON and binary chunk of a GLB file; all of a glTF file is JSON.
fn split(bytes: &[u8]) -> Result<(&[u8], Option<Vec<u8>>), String> {
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes, None));
    }
    let word = |at: usize| {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        word.map(u32::from_le_bytes).ok_or_else(|| format!("the file ends at byte {}", bytes.len()))
    };
    if word(4)? != 2 {
        return Err(format!("binary glTF of version {}, expected 2", word(4)?));
    }
    if word(8)? as usize != bytes.len() {
        return Err(format!("the file has {} bytes, its header says {}", bytes.len(), word(8)?));
    }
    let chunk = |at: usize, kind: &[u8; 4]| {
        let length = word(at)? as usize;
        let found = bytes.get(at + 4..at + 8).unwrap_or_default();
        if found != kind {
            let (found, kind) = (found.escape_ascii(), kind.escape_ascii());
            return Err(format!("a chunk of kind \"{found}\" at byte {at}, expected \"{kind}\""));
        }
        let end = at.saturating_add(8).saturating_add(length);
        bytes.get(at + 8..end).ok_or_else(|| format!("a chunk of {length} bytes at byte {at} is cut"))
    };
    let json = chunk(12, b"JSON")?;
    let rest = 20 + json.len();
    let binary = if rest < bytes.len() { Some(chunk(rest, b"BIN\0")?.to_vec()) } else { None };
    Ok((json, binary))
}

fn buffers(
    document: &Document,
    blob: Option<Vec<u8>>,
    folder: &Path,
    path: &Path,
    options: &Options,
) -> Result<Vec<Vec<u8>>, Error> {
    let mut blob = blob;
    let mut buffers = Vec::new();
    for buffer in document.buffers() {
        let bytes = match buffer.source() {
            gltf::buffer::Source::Bin => blob.take().ok_or_else(|| Error::Value {
                pointer: format!("/buffers/{}", buffer.index()),
                found: "no binary chunk".to_owned(),
                expected: "one".to_owned(),
                path: path.to_owned(),
            })?,
            gltf::buffer::Source::Uri(uri) => resolve::uri(folder, path, uri, &options.limits)?,
        };
        if bytes.len() < buffer.length() {
            return Err(Error::Value {
                pointer: format!("/buffers/{}/byteLength", buffer.index()),
                found: buffer.length().to_string(),
                expected: format!("at most the {} bytes that are there", bytes.len()),
                path: path.to_owned(),
            });
        }
        buffers.push(bytes);
    }
    Ok(buffers)
}

struct Reader<'a> {
    folder: &'a Path,
    path: &'a Path,
    options: &'a Options,
    buffers: Vec<Vec<u8>>,
}

impl Reader<'_> {
    fn value(&self, pointer: &str, found: impl std::fmt::Debug, expected: impl Into<String>) -> Error {
        let (found, expected) = (format!("{found:?}"), expected.into());
        Error::Value { pointer: pointer.to_owned(), found, expected, path: self.path.to_owned() }
    }

    fn primitive(&self, primitive: &gltf::Primitive<'_>, at: &str, file: &mut MeshFile) -> Result<(), Error> {
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
        let positions = self.floats(&positions, Dimensions::Vec3)?;
        let count = positions.len() / 3;
        file.mesh
            .positions
            .extend(positions.as_chunks().0.iter().map(|xyz: &[f32; 3]| Vec3::from_array(*xyz)));
        for set in 0..MAX_UV_SETS {
            let Some(accessor) = primitive.get(&Semantic::TexCoords(set)) else {
                continue;
            };
            let uvs = self.floats(&accessor, Dimensions::Vec2)?;
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
                for index in self.indices(&accessor)? {
                    if index as usize >= count {
                        let pointer = format!("/accessors/{}", accessor.index());
                        return Err(self.value(&pointer, index, format!("indices below {count}")));
                    }
                    file.mesh.indices.push(to_u32(base) + index);
                }
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

    /// The stored elements of an accessor, each `element` bytes, checked against view and buffer.
    fn elements<'b>(&'b self, accessor: &Accessor<'_>) -> Result<impl Iterator<Item = &'b [u8]>, Error> {
        let pointer = format!("/accessors/{}", accessor.index());
        if accessor.sparse().is_some() {
            return Err(self.value(
                &format!("{pointer}/sparse"),
                "a sparse accessor",
                "a dense one in an export",
            ));
        }
        let Some(view) = accessor.view() else {
            return Err(self.value(&format!("{pointer}/bufferView"), "none", "a buffer view"));
        };
        let size = accessor.size();
        let stride = view.stride().unwrap_or(size);
        let at = format!("/bufferViews/{}", view.index());
        if stride < size || stride > 252 {
            return Err(self.value(&format!("{at}/byteStride"), stride, format!("{size} to 252")));
        }
        let bytes = self.buffers.get(view.buffer().index()).map_or(&[][..], |buffer| &buffer[..]);
        let view_end = view.offset().checked_add(view.length()).filter(|end| *end <= bytes.len());
        let Some(view_end) = view_end else {
            let found = (view.offset(), view.length());
            return Err(self.value(&at, found, format!("a range within {} bytes", bytes.len())));
        };
        let count = accessor.count();
        let needed = count
            .checked_sub(1)
            .and_then(|steps| steps.checked_mul(stride))
            .and_then(|end| end.checked_add(size));
        let needed = if count == 0 { Some(0) } else { needed };
        let start = view.offset().checked_add(accessor.offset());
        let end = start.zip(needed).and_then(|(start, needed)| start.checked_add(needed));
        let (Some(start), true) = (start, end.is_some_and(|end| end <= view_end)) else {
            let found = (accessor.offset(), count);
            return Err(self.value(
                &format!("{pointer}/count"),
                found,
                format!("what {} bytes hold", view.length()),
            ));
        };
        Ok((0..count).map(move |index| &bytes[start + index * stride..start + index * stride + size]))
    }

    fn floats(&self, accessor: &Accessor<'_>, dimensions: Dimensions) -> Result<Vec<f32>, Error> {
        let pointer = format!("/accessors/{}", accessor.index());
        if accessor.dimensions() != dimensions {
            return Err(self.value(
                &format!("{pointer}/type"),
                accessor.dimensions(),
                format!("{dimensions:?}"),
            ));
        }
        let normalized = accessor.normalized();
        let kind = accessor.data_type();
        if kind != DataType::F32 && !(normalized && matches!(kind, DataType::U8 | DataType::U16)) {
            let expected = "floats, or normalised unsigned bytes or shorts";
            return Err(self.value(&format!("{pointer}/componentType"), kind, expected));
        }
        let mut floats = Vec::new();
        for element in self.elements(accessor)? {
            match kind {
                DataType::U8 => floats.extend(element.iter().map(|byte| f32::from(*byte) / 255.0)),
                DataType::U16 => {
                    let shorts = element.as_chunks().0.iter();
                    floats.extend(shorts.map(|short| f32::from(u16::from_le_bytes(*short)) / 65535.0));
                }
                _ => floats.extend(element.as_chunks().0.iter().map(|float| f32::from_le_bytes(*float))),
            }
        }
        if let Some(at) = floats.iter().position(|float| !float.is_finite()) {
            return Err(self.value(&pointer, floats[at], "finite numbers"));
        }
        Ok(floats)
    }

    fn indices(&self, accessor: &Accessor<'_>) -> Result<Vec<u32>, Error> {
        let pointer = format!("/accessors/{}", accessor.index());
        if accessor.dimensions() != Dimensions::Scalar {
            return Err(self.value(&format!("{pointer}/type"), accessor.dimensions(), "Scalar"));
        }
        let elements = self.elements(accessor)?;
        match accessor.data_type() {
            DataType::U8 => Ok(elements.map(|bytes| u32::from(bytes[0])).collect()),
            DataType::U16 => {
                Ok(elements.map(|bytes| u32::from(u16::from_le_bytes([bytes[0], bytes[1]]))).collect())
            }
            DataType::U32 => Ok(elements
                .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                .collect()),
            other => Err(self.value(&format!("{pointer}/componentType"), other, "unsigned integers")),
        }
    }

    fn materials(&self, document: &Document, file: &mut MeshFile) -> Result<(), Error> {
        // Images that nothing shows are not opened.
        let mut places: Vec<Option<u32>> = vec![None; document.images().count()];
        for material in document.materials() {
            let pbr = material.pbr_metallic_roughness();
            let mut base_color_image = None;
            if let Some(info) = pbr.base_color_texture() {
                let image = info.texture().source();
                if places[image.index()].is_none() {
                    places[image.index()] = self.image(&image, file)?;
                }
                base_color_image = places[image.index()];
            }
            file.materials.push(Material {
                name: material.name().unwrap_or_default().to_owned(),
                base_color: Vec4::from_array(pbr.base_color_factor()),
                base_color_image,
                metallic: pbr.metallic_factor().clamp(0.0, 1.0),
                roughness: pbr.roughness_factor().clamp(0.0, 1.0),
                double_sided: material.double_sided(),
            });
        }
        Ok(())
    }

    fn image(&self, image: &gltf::Image<'_>, file: &mut MeshFile) -> Result<Option<u32>, Error> {
        let data = match image.source() {
            gltf::image::Source::Uri { uri, .. } => {
                resolve::uri(self.folder, self.path, uri, &self.options.limits)?
            }
            gltf::image::Source::View { view, .. } => {
                let buffer = self.buffers.get(view.buffer().index()).map_or(&[][..], |buffer| &buffer[..]);
                let end = view.offset().checked_add(view.length()).filter(|end| *end <= buffer.len());
                let Some(end) = end else {
                    let pointer = format!("/bufferViews/{}", view.index());
                    return Err(self.value(
                        &pointer,
                        view.length(),
                        format!("a range within {} bytes", buffer.len()),
                    ));
                };
                buffer[view.offset()..end].to_vec()
            }
        };
        let mime_type = match &data[..] {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            _ => {
                file.warnings
                    .push(format!("image {} is neither PNG nor JPEG and is left out", image.index()));
                return Ok(None);
            }
        };
        file.images.push(Image { mime_type: mime_type.to_owned(), data: data.into() });
        Ok(Some(to_u32(file.images.len() - 1)))
    }
}

/// Counts are below the limits, which are below 2³².
fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
