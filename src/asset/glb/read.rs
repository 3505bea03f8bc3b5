use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use glam::{Vec2, Vec3, Vec4};
use serde_json::Value;

use super::container::unpack;
use super::document::{
    self, Accessor, Document, EXTENSION, FLOAT, TRIANGLES, UNSIGNED_INT, UNSIGNED_SHORT, VERSION,
};
use crate::asset::{Animation, Asset, Error, MAX_ELEMENTS, Parts, ktx2};
use crate::bounds::Bounds;
use crate::clip::Clip;
use crate::material::Image;
use crate::mesh::{Lod, Mesh, Primitive};
use crate::vat::encoding::Remap;
use crate::vat::grid::Grid;
use crate::vat::{Encoding, TexelFormat};

/// The asset in the bytes of a `.vat.glb` file. Uncompressed texels and images are slices of `bytes`.
/// `path` is for messages.
///
/// # Errors
/// [`Error`] names what was found, what was expected, where, and the file.
pub fn decode(bytes: &Bytes, path: &Path) -> Result<Asset, Error> {
    let (json, binary) = unpack(bytes, path)?;
    let syntax = |source| Error::Json { source, path: path.to_owned() };
    // Versions first: a newer file may have other fields, and its version is what people need to hear.
    let versions: document::Versions = serde_json::from_slice(&json).map_err(syntax)?;
    let Some(extension) = versions.extensions.animation else {
        return Err(Error::NoExtension { path: path.to_owned() });
    };
    let versions = [
        ("glTF", versions.asset.version, Value::from("2.0"), 2),
        (EXTENSION, extension.version, Value::from(VERSION), VERSION),
    ];
    for (what, found, expected, known) in versions {
        if found != expected {
            return Err(Error::Version { what, found: found.to_string(), known, path: path.to_owned() });
        }
    }
    Reader {
        // From the text, not from a tree: errors have a line, and numbers are rounded once.
        document: serde_json::from_slice(&json).map_err(syntax)?,
        binary,
        path,
    }
    .asset()
}

pub(super) struct Reader<'a> {
    pub(super) document: Document,
    binary: Bytes,
    path: &'a Path,
}

impl Reader<'_> {
    fn asset(&self) -> Result<Asset, Error> {
        let buffers = &self.document.buffers;
        self.check("/buffers", buffers.len() == 1, &buffers.len(), "one buffer, in the file itself")?;
        self.check(
            "/buffers/0/uri",
            buffers[0].uri.is_none(),
            &buffers[0].uri,
            "none: nothing outside is opened",
        )?;
        let (said, there) = (buffers[0].byte_length, self.binary.len() as u64);
        self.check(
            "/buffers/0/byteLength",
            said <= there,
            &said,
            &format!("at most the {there} bytes of the chunk"),
        )?;
        let required = &self.document.extensions_required;
        self.check(
            "/extensionsRequired",
            required.iter().all(|name| name == EXTENSION),
            &required,
            EXTENSION,
        )?;
        let animation = &self.document.extensions.animation;
        let at = "/extensions/THRONG_vertex_animation";
        let clips: Vec<_> = animation
            .clips
            .iter()
            .map(|clip| Clip {
                name: clip.name.clone(),
                first_frame: clip.first_frame,
                frame_count: clip.frame_count,
                fps: clip.fps,
                loop_mode: clip.loop_mode,
                root_motion: clip
                    .root_motion
                    .as_ref()
                    .map(|way| way.iter().map(|place| Vec3::from_array(*place)).collect()),
            })
            .collect();
        let parts = Parts {
            name: self.document.nodes.first().map(|node| node.name.clone()).unwrap_or_default(),
            mesh: self.mesh()?,
            materials: self.materials()?,
            images: self.images()?,
            clips,
            clip_bounds: animation.clips.iter().map(|clip| (&clip.bounds).into()).collect(),
            animation: self.animation()?,
            producer: animation.producer.clone(),
            source_key: animation.source_key.clone(),
            assumptions: animation.assumptions.clone(),
            warnings: animation.warnings.clone(),
        };
        let asset =
            Asset::new(parts).map_err(|source| Error::Invalid { source, path: self.path.to_owned() })?;
        let (said, union) = (Bounds::from(&animation.bounds), asset.bounds());
        self.check(&format!("{at}/bounds"), said == union, &said, "the box round the clips' bounds")?;
        Ok(asset)
    }

    pub(super) fn check(
        &self,
        pointer: &str,
        holds: bool,
        found: &dyn Debug,
        expected: &str,
    ) -> Result<(), Error> {
        if holds {
            return Ok(());
        }
        Err(self.refusal(pointer, found, expected))
    }

    pub(super) fn refusal(&self, pointer: &str, found: &dyn Debug, expected: &str) -> Error {
        Error::Value {
            pointer: pointer.to_owned(),
            found: format!("{found:?}"),
            expected: expected.to_owned(),
            path: self.path.to_owned(),
        }
    }

    /// The bytes of a buffer view.
    fn view(&self, index: u32, pointer: &str) -> Result<Bytes, Error> {
        let views = &self.document.buffer_views;
        let expected = format!("below {}, the number of buffer views", views.len());
        let view = views.get(index as usize).ok_or_else(|| self.refusal(pointer, &index, &expected))?;
        let at = format!("/bufferViews/{index}");
        self.check(&at, view.buffer == 0, &view.buffer, "buffer 0")?;
        self.check(
            &at,
            view.byte_stride.is_none(),
            &view.byte_stride,
            "no stride: data of this format are tight",
        )?;
        let limit = self.document.buffers[0].byte_length;
        let end = view.byte_offset.saturating_add(view.byte_length);
        self.check(
            &at,
            end <= limit,
            &(view.byte_offset, view.byte_length),
            &format!("an offset and a length within {limit} bytes"),
        )?;
        Ok(self.binary.slice(to_usize(view.byte_offset)..to_usize(end)))
    }

    /// The bytes of an accessor, tightly packed.
    fn accessor(
        &self,
        index: u32,
        pointer: &str,
        kind: &str,
        component_types: &[u32],
    ) -> Result<(Bytes, &Accessor), Error> {
        let accessors = &self.document.accessors;
        let at = format!("/accessors/{index}");
        let expected = format!("below {}, the number of accessors", accessors.len());
        let accessor =
            accessors.get(index as usize).ok_or_else(|| self.refusal(pointer, &index, &expected))?;
        self.check(
            &format!("{at}/sparse"),
            accessor.sparse.is_none(),
            &"a sparse accessor",
            "none: data of this format are dense",
        )?;
        self.check(&format!("{at}/type"), accessor.kind == kind, &accessor.kind, kind)?;
        let component_type = accessor.component_type;
        let holds = component_types.contains(&component_type);
        self.check(
            &format!("{at}/componentType"),
            holds,
            &component_type,
            &format!("one of {component_types:?}"),
        )?;
        let components = match kind {
            "VEC4" => 4,
            "VEC3" => 3,
            "VEC2" => 2,
            _ => 1,
        };
        let component_bytes = if component_type == UNSIGNED_SHORT { 2 } else { 4 };
        let bytes = self.view(accessor.buffer_view, &format!("{at}/bufferView"))?;
        let needed = accessor.count.checked_mul(components * component_bytes);
        let end = needed.and_then(|needed| needed.checked_add(accessor.byte_offset));
        let holds = end.is_some_and(|end| end <= bytes.len() as u64);
        self.check(
            &format!("{at}/count"),
            holds,
            &accessor.count,
            &format!("what {} bytes hold", bytes.len()),
        )?;
        let from = to_usize(accessor.byte_offset);
        Ok((bytes.slice(from..from + to_usize(needed.unwrap_or(0))), accessor))
    }

    fn floats(&self, index: u32, attribute: &str, kind: &str) -> Result<Vec<f32>, Error> {
        let pointer = format!("/meshes/0/primitives/0/attributes/{attribute}");
        let (bytes, _) = self.accessor(index, &pointer, kind, &[FLOAT])?;
        Ok(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn vectors(&self, index: u32, attribute: &str) -> Result<Vec<Vec3>, Error> {
        Ok(self
            .floats(index, attribute, "VEC3")?
            .as_chunks()
            .0
            .iter()
            .map(|xyz| Vec3::from_array(*xyz))
            .collect())
    }

    fn mesh(&self) -> Result<Mesh, Error> {
        let Some(mesh) = &self.document.meshes.asset else {
            return Err(self.refusal("/meshes", &0, "at least one mesh"));
        };
        let primitives = &mesh.primitives;
        let at = "/meshes/0/primitives";
        self.check(at, !primitives.is_empty(), &primitives.len(), "at least one primitive")?;
        let attributes = &primitives[0].attributes;
        let shared = primitives.iter().all(|primitive| primitive.attributes == *attributes);
        self.check(at, shared, &"different attributes", "primitives that share their vertices")?;
        let mut mesh = Mesh {
            positions: self.vectors(attributes.position, "POSITION")?,
            normals: self.vectors(attributes.normal, "NORMAL")?,
            tangents: match attributes.tangent {
                None => None,
                Some(index) => {
                    let floats = self.floats(index, "TANGENT", "VEC4")?;
                    Some(floats.as_chunks().0.iter().map(|xyzw| Vec4::from_array(*xyzw)).collect())
                }
            },
            uvs: match attributes.texcoord {
                None => None,
                Some(index) => {
                    let floats = self.floats(index, "TEXCOORD_0", "VEC2")?;
                    Some(floats.as_chunks().0.iter().map(|uv| Vec2::from_array(*uv)).collect())
                }
            },
            ..Mesh::default()
        };
        for element in self.floats(attributes.element, "_ELEMENT", "SCALAR")? {
            let whole = element >= 0.0 && element.fract() == 0.0 && element < MAX_ELEMENTS as f32;
            let pointer = format!("/accessors/{}", attributes.element);
            self.check(&pointer, whole, &element, "elements: whole numbers below 16777216")?;
            #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^24")]
            mesh.elements.push(element as u32);
        }
        for (index, primitive) in primitives.iter().enumerate() {
            self.check(
                &format!("{at}/{index}/mode"),
                primitive.mode.is_none_or(|mode| mode == TRIANGLES),
                &primitive.mode,
                "4, triangles",
            )?;
            let pointer = format!("{at}/{index}/indices");
            let range = self.indices(primitive.indices, &pointer, 0, &mut mesh.indices)?;
            mesh.primitives.push(Primitive { indices: range, material: primitive.material });
        }
        let mut before = mesh.indices.len();
        for (level, lod) in self.document.extensions.animation.lods.iter().enumerate() {
            let mut read = Lod { deviation_metres: lod.deviation, ..Lod::default() };
            for (index, primitive) in lod.primitives.iter().enumerate() {
                let pointer =
                    format!("/extensions/THRONG_vertex_animation/lods/{level}/primitives/{index}/indices");
                let range = self.indices(primitive.indices, &pointer, before, &mut read.indices)?;
                read.primitives.push(Primitive { indices: range, material: primitive.material });
            }
            before += read.indices.len();
            mesh.lods.push(read);
        }
        Ok(mesh)
    }

    /// Appends the indices of an accessor to `into`, and gives their range. `before` were read elsewhere.
    fn indices(
        &self,
        accessor: u32,
        pointer: &str,
        before: usize,
        into: &mut Vec<u32>,
    ) -> Result<Range<u32>, Error> {
        let types = [UNSIGNED_SHORT, UNSIGNED_INT];
        let (bytes, accessor) = self.accessor(accessor, pointer, "SCALAR", &types)?;
        let start = into.len() as u64;
        let end = start + accessor.count;
        // Many primitives may point to the same bytes; together they must not outgrow the file.
        let most = self.binary.len() as u64 / 2;
        let total = end + before as u64;
        self.check(
            pointer,
            total <= most,
            &total,
            &format!("at most {most} indices in all, as many as the file has room for"),
        )?;
        if accessor.component_type == UNSIGNED_SHORT {
            into.extend(bytes.as_chunks().0.iter().map(|b| u32::from(u16::from_le_bytes(*b))));
        } else {
            into.extend(bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)));
        }
        #[expect(clippy::cast_possible_truncation, reason = "below the size of the file")]
        Ok(start as u32..end as u32)
    }

    fn images(&self) -> Result<Vec<Image>, Error> {
        let images = self.document.images.iter().enumerate();
        images
            .map(|(index, image)| {
                let data = self.view(image.buffer_view, &format!("/images/{index}/bufferView"))?;
                Ok(Image { mime_type: image.mime_type.clone(), data })
            })
            .collect()
    }

    fn animation(&self) -> Result<Animation, Error> {
        let animation = &self.document.extensions.animation;
        let at = |field: &str| format!("/extensions/THRONG_vertex_animation/{field}");
        let document::Grid { columns, rows_per_frame, frames_per_band, frame_count } = animation.grid;
        let grid = Grid { columns, rows_per_frame, frames_per_band, frame_count };
        let size = grid.size();
        self.check(&at("grid"), size.is_some(), &grid, "a grid with a size that fits 32 bits")?;
        let size = size.unwrap_or_default();
        let remap = match &animation.range {
            Some(range) => Remap::new(Vec3::from_array(range.lo), Vec3::from_array(range.hi)),
            None => Remap::METRES,
        };
        let bounded = animation.encoding.is_bounded() == animation.range.is_some();
        let expected = if animation.encoding.is_bounded() { "lo and hi" } else { "none in this encoding" };
        self.check(&at("range"), bounded, &animation.range.is_some(), expected)?;
        let position_size = animation.encoding.texture_size(size);
        let texels = |blob: &document::Blob, pointer, format: TexelFormat, encoding: Option<Encoding>| {
            let size = if encoding.is_some() { position_size } else { size };
            let bytes = self.view(blob.buffer_view, &format!("{pointer}/bufferView"))?;
            ktx2::decode(&bytes, format, encoding, size).map_err(|source| Error::Texels {
                pointer,
                source,
                path: self.path.to_owned(),
            })
        };
        let format = animation.encoding.texel_format();
        let pointer = "/extensions/THRONG_vertex_animation/positions";
        let positions = texels(&animation.positions, pointer, format, Some(animation.encoding))?;
        let format = animation.normals.texel_format();
        let holds = format.is_some() == animation.normal_texels.is_some();
        let expected = "a texture exactly where the kind of normals has one";
        self.check(&at("normalTexels"), holds, &animation.normal_texels.is_some(), expected)?;
        let normal_texels = match (format, &animation.normal_texels) {
            (Some(format), Some(blob)) => {
                Some(texels(blob, "/extensions/THRONG_vertex_animation/normalTexels", format, None)?)
            }
            _ => None,
        };
        Ok(Animation {
            mode: animation.mode,
            space: animation.space,
            encoding: animation.encoding,
            remap,
            normals: animation.normals,
            element_count: animation.element_count,
            grid,
            positions,
            normal_texels,
        })
    }
}

/// A length that was checked against the bytes in memory.
fn to_usize(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
