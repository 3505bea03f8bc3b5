//! The JSON chunk, as this crate writes it. Fields are in the order of the file.

use std::collections::BTreeMap;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::clip::LoopMode;
use crate::vat::{Encoding, Mode, Normals, PositionSpace};

/// Name of the extension.
pub(super) const EXTENSION: &str = "THRONG_vertex_animation";
/// Version of the extension that is written and read.
pub(super) const VERSION: u32 = 1;

pub(super) const ARRAY_BUFFER: u32 = 34962;
pub(super) const ELEMENT_ARRAY_BUFFER: u32 = 34963;
pub(super) const UNSIGNED_SHORT: u32 = 5123;
pub(super) const UNSIGNED_INT: u32 = 5125;
pub(super) const FLOAT: u32 = 5126;
pub(super) const TRIANGLES: u32 = 4;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) asset: AssetInfo,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) extensions_used: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) extensions_required: Vec<String>,
    #[serde(default)]
    pub(super) scene: u32,
    #[serde(default)]
    pub(super) scenes: Vec<Scene>,
    #[serde(default)]
    pub(super) nodes: Vec<Node>,
    pub(super) meshes: Meshes,
    #[serde(default, skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub(super) skins: Vec<RigSkin>,
    #[serde(default, skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub(super) animations: Vec<RigAnimation>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) materials: Vec<Material>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) textures: Vec<Texture>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) samplers: Vec<Sampler>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) images: Vec<Image>,
    pub(super) accessors: Vec<Accessor>,
    pub(super) buffer_views: Vec<BufferView>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) extensions: Extensions,
}

/// The versions alone, read before anything that may differ between them.
#[derive(Deserialize)]
pub(super) struct Versions {
    #[serde(default)]
    pub(super) asset: Version,
    #[serde(default)]
    pub(super) extensions: ExtensionVersions,
}

#[derive(Default, Deserialize)]
pub(super) struct ExtensionVersions {
    #[serde(rename = "THRONG_vertex_animation")]
    pub(super) animation: Option<Version>,
}

#[derive(Default, Deserialize)]
pub(super) struct Version {
    #[serde(default)]
    pub(super) version: serde_json::Value,
}

#[derive(Serialize, Deserialize)]
pub(super) struct AssetInfo {
    pub(super) version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) generator: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub(super) nodes: Vec<u32>,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Node {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mesh: Option<u32>,
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(super) skin: Option<u32>,
    #[serde(default, skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub(super) children: Vec<u32>,
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(super) matrix: Option<[f64; 16]>,
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(super) translation: Option<[f64; 3]>,
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(super) rotation: Option<[f64; 4]>,
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(super) scale: Option<[f64; 3]>,
}

/// The mesh of the asset, and those of the rig that it was baked from, which are not read.
pub(super) struct Meshes {
    pub(super) asset: Option<Mesh>,
    pub(super) rig: Vec<RigMesh>,
}

impl Serialize for Meshes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(None)?;
        if let Some(mesh) = &self.asset {
            sequence.serialize_element(mesh)?;
        }
        for mesh in &self.rig {
            sequence.serialize_element(mesh)?;
        }
        sequence.end()
    }
}

impl<'de> Deserialize<'de> for Meshes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct First;

        impl<'de> Visitor<'de> for First {
            type Value = Meshes;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("meshes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut meshes: A) -> Result<Meshes, A::Error> {
                let asset = meshes.next_element()?;
                while meshes.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Meshes { asset, rig: Vec::new() })
            }
        }

        deserializer.deserialize_seq(First)
    }
}

#[derive(Serialize)]
pub(super) struct RigMesh {
    pub(super) primitives: Vec<RigPrimitive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) weights: Vec<f64>,
}

#[derive(Serialize)]
pub(super) struct RigPrimitive {
    pub(super) attributes: BTreeMap<String, u32>,
    pub(super) indices: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) material: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) targets: Vec<BTreeMap<String, u32>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RigSkin {
    pub(super) joints: Vec<u32>,
    pub(super) inverse_bind_matrices: u32,
}

#[derive(Default, Serialize)]
pub(super) struct RigAnimation {
    pub(super) name: String,
    pub(super) channels: Vec<ClipChannel>,
    pub(super) samplers: Vec<ClipSampler>,
}

#[derive(Serialize)]
pub(super) struct ClipChannel {
    pub(super) sampler: u32,
    pub(super) target: ClipTarget,
}

#[derive(Serialize)]
pub(super) struct ClipTarget {
    pub(super) node: u32,
    pub(super) path: &'static str,
}

#[derive(Serialize)]
pub(super) struct ClipSampler {
    pub(super) input: u32,
    pub(super) interpolation: &'static str,
    pub(super) output: u32,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Mesh {
    #[serde(default)]
    pub(super) name: String,
    pub(super) primitives: Vec<Primitive>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Primitive {
    pub(super) attributes: Attributes,
    pub(super) indices: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) material: Option<u32>,
    /// Absent for triangles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<u32>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Attributes {
    #[serde(rename = "POSITION")]
    pub(super) position: u32,
    #[serde(rename = "NORMAL")]
    pub(super) normal: u32,
    #[serde(rename = "TANGENT", default, skip_serializing_if = "Option::is_none")]
    pub(super) tangent: Option<u32>,
    #[serde(rename = "TEXCOORD_0", default, skip_serializing_if = "Option::is_none")]
    pub(super) texcoord: Option<u32>,
    #[serde(rename = "_ELEMENT")]
    pub(super) element: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Material {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) pbr_metallic_roughness: Pbr,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) normal_texture: Option<NormalTexture>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) emissive_texture: Option<TextureInfo>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) emissive_factor: Option<[f32; 3]>,
    #[serde(default)]
    pub(super) double_sided: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Pbr {
    pub(super) base_color_factor: [f32; 4],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) base_color_texture: Option<TextureInfo>,
    pub(super) metallic_factor: f32,
    pub(super) roughness_factor: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metallic_roughness_texture: Option<TextureInfo>,
}

impl Default for Pbr {
    /// The defaults of glTF.
    fn default() -> Self {
        Self {
            base_color_factor: [1.0; 4],
            base_color_texture: None,
            metallic_factor: 1.0,
            roughness_factor: 1.0,
            metallic_roughness_texture: None,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureInfo {
    pub(super) index: u32,
    /// Absent for the first set of coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tex_coord: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NormalTexture {
    pub(super) index: u32,
    /// Absent for the first set of coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tex_coord: Option<u32>,
    /// Absent for 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scale: Option<f32>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Texture {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sampler: Option<u32>,
    pub(super) source: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sampler {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mag_filter: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) min_filter: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Image {
    pub(super) mime_type: String,
    pub(super) buffer_view: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: u32,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) component_type: u32,
    pub(super) count: u64,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) min: Vec<f32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) max: Vec<f32>,
    /// Never written; known so that it can be refused.
    #[serde(default, skip_serializing)]
    pub(super) sparse: Option<IgnoredAny>,
}

impl Accessor {
    /// All of a buffer view.
    pub(super) fn new(buffer_view: u32, component_type: u32, count: usize, kind: &str) -> Self {
        let (count, kind) = (count as u64, kind.to_owned());
        let (min, max) = (Vec::new(), Vec::new());
        Self { buffer_view, byte_offset: 0, component_type, count, kind, min, max, sparse: None }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: u32,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) byte_length: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) byte_stride: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub(super) byte_length: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) uri: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Extensions {
    #[serde(rename = "THRONG_vertex_animation")]
    pub(super) animation: Animation,
}

/// The extension; `docs/format.md` describes it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Animation {
    pub(super) version: u32,
    pub(super) mode: Mode,
    pub(super) space: PositionSpace,
    pub(super) encoding: Encoding,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) range: Option<Range>,
    pub(super) normals: Normals,
    pub(super) element_count: u32,
    pub(super) grid: Grid,
    pub(super) positions: Blob,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) normal_texels: Option<Blob>,
    pub(super) bounds: Bounds,
    pub(super) clips: Vec<Clip>,
    pub(super) producer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) source_key: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) lods: Vec<Lod>,
    /// Accessor: which vertex of the rig each vertex is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rig_vertices: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) assumptions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<String>,
}

/// Fewer triangles over the vertices of the first mesh.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lod {
    pub(super) deviation: f32,
    pub(super) primitives: Vec<LodPrimitive>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LodPrimitive {
    pub(super) indices: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) material: Option<u32>,
}

/// A [`crate::bounds::Bounds`] without other keys.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bounds {
    pub(super) min: [f32; 3],
    pub(super) max: [f32; 3],
}

impl From<crate::bounds::Bounds> for Bounds {
    fn from(bounds: crate::bounds::Bounds) -> Self {
        Self { min: bounds.min.to_array(), max: bounds.max.to_array() }
    }
}

impl From<&Bounds> for crate::bounds::Bounds {
    fn from(bounds: &Bounds) -> Self {
        Self { min: bounds.min.into(), max: bounds.max.into() }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    pub(super) lo: [f32; 3],
    pub(super) hi: [f32; 3],
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Grid {
    pub(super) columns: u32,
    pub(super) rows_per_frame: u32,
    pub(super) frames_per_band: u32,
    pub(super) frame_count: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Blob {
    pub(super) buffer_view: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Clip {
    pub(super) name: String,
    pub(super) first_frame: u32,
    pub(super) frame_count: u32,
    pub(super) fps: f64,
    #[serde(rename = "loop")]
    pub(super) loop_mode: LoopMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) root_motion: Option<Vec<[f32; 3]>>,
    pub(super) bounds: Bounds,
}
