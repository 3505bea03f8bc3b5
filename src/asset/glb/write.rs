use bytes::Bytes;

use super::container::pack;
use super::document::{
    ARRAY_BUFFER, Accessor, Animation, AssetInfo, Attributes, Blob, Buffer, BufferView, Clip, Document,
    ELEMENT_ARRAY_BUFFER, EXTENSION, Extensions, FLOAT, Grid, Image, Lod, LodPrimitive, Mesh, Meshes, Node,
    Primitive, Range, Sampler, Scene, Texture, UNSIGNED_INT, UNSIGNED_SHORT, VERSION,
};
use super::materials;
use super::rig::{self, KeptRig};
use crate::asset::ktx2::{self, ALIGNMENT};
use crate::asset::{Asset, Compression};

/// The binary chunk while it grows.
#[derive(Default)]
pub(super) struct Binary {
    pieces: Vec<Bytes>,
    length: usize,
    views: Vec<BufferView>,
}

impl Binary {
    /// Appends a buffer view and gives its index.
    pub(super) fn push(&mut self, data: &[u8], target: Option<u32>) -> u32 {
        self.push_pieces(&[Bytes::copy_from_slice(data)], target)
    }

    /// Appends a buffer view of several pieces, none of which is copied.
    fn push_pieces(&mut self, data: &[Bytes], target: Option<u32>) -> u32 {
        // The chunk itself begins at a multiple of the alignment, see `encode`.
        let padding = self.length.next_multiple_of(ALIGNMENT) - self.length;
        self.pieces.push(Bytes::from(vec![0; padding]));
        self.length += padding;
        let byte_length: usize = data.iter().map(Bytes::len).sum();
        self.views.push(BufferView {
            buffer: 0,
            byte_offset: self.length as u64,
            byte_length: byte_length as u64,
            byte_stride: None,
            target,
        });
        self.pieces.extend_from_slice(data);
        self.length += byte_length;
        index(self.views.len() - 1)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "views and accessors are counted in dozens")]
fn index(index: usize) -> u32 {
    index as u32
}

/// The bytes of a `.vat.glb` file: same asset and compression, same bytes.
///
/// More than [`super::MAX_FILE_BYTES`] are no valid file; [`super::write()`] refuses them.
pub fn encode(asset: &Asset, compression: Compression) -> Vec<u8> {
    pieces(asset, compression, None).concat()
}

/// The same, in pieces.
pub(super) fn pieces(asset: &Asset, compression: Compression, rig: Option<&KeptRig<'_>>) -> Vec<Bytes> {
    let mut binary = Binary::default();
    let mut accessors = Vec::new();
    let (mesh, lods) = mesh(asset, &mut binary, &mut accessors);
    let meshes = Meshes { asset: Some(mesh), rig: Vec::new() };
    let images: Vec<_> = asset
        .images
        .iter()
        .map(|image| Image {
            mime_type: image.mime_type.clone(),
            buffer_view: binary.push(&image.data, None),
        })
        .collect();
    let animation = Animation { lods, ..animation(asset, compression, &mut binary) };
    let extensions = Extensions { animation };
    let mut document = Document {
        asset: AssetInfo {
            version: "2.0".to_owned(),
            generator: Some(concat!("throng ", env!("CARGO_PKG_VERSION")).to_owned()),
        },
        extensions_used: vec![EXTENSION.to_owned()],
        extensions_required: Vec::new(),
        scene: 0,
        scenes: vec![Scene { nodes: vec![0] }],
        nodes: vec![Node { name: asset.name.clone(), mesh: Some(0), ..Node::default() }],
        meshes,
        skins: Vec::new(),
        animations: Vec::new(),
        materials: asset.materials.iter().map(materials::encode).collect(),
        textures: (0..images.len()).map(|image| Texture { sampler: Some(0), source: index(image) }).collect(),
        // Linear, with mipmaps: what base colours want.
        samplers: if images.is_empty() {
            Vec::new()
        } else {
            vec![Sampler { mag_filter: Some(9729), min_filter: Some(9987) }]
        },
        images,
        accessors,
        buffer_views: Vec::new(),
        buffers: Vec::new(),
        extensions,
    };
    if let Some(rig) = rig {
        document.extensions.animation.rig_vertices = Some(rig::add(rig, &mut document, &mut binary));
    }
    document.buffer_views = binary.views;
    document.buffers = vec![Buffer { byte_length: binary.length as u64, uri: None }];
    // Strings and finite numbers only: there is nothing in the document that JSON cannot hold.
    let json = serde_json::to_vec(&document).unwrap_or_default();
    pack(json, binary.pieces)
}

fn mesh(asset: &Asset, binary: &mut Binary, accessors: &mut Vec<Accessor>) -> (Mesh, Vec<Lod>) {
    let mesh = &asset.mesh;
    let mut push = |binary: &mut Binary, data: &[u8], component_type, count: usize, kind: &str, target| {
        accessors.push(Accessor::new(binary.push(data, Some(target)), component_type, count, kind));
        index(accessors.len() - 1)
    };
    let vertices = mesh.vertex_count();
    let elements: Vec<f32> = mesh.elements.iter().map(|element| *element as f32).collect();
    let position = push(binary, bytemuck::cast_slice(&mesh.positions), FLOAT, vertices, "VEC3", ARRAY_BUFFER);
    let normal = push(binary, bytemuck::cast_slice(&mesh.normals), FLOAT, vertices, "VEC3", ARRAY_BUFFER);
    let tangent = mesh
        .tangents
        .as_ref()
        .map(|tangents| push(binary, bytemuck::cast_slice(tangents), FLOAT, vertices, "VEC4", ARRAY_BUFFER));
    let texcoord = mesh
        .uvs
        .as_ref()
        .map(|uvs| push(binary, bytemuck::cast_slice(uvs), FLOAT, vertices, "VEC2", ARRAY_BUFFER));
    let element = push(binary, bytemuck::cast_slice(&elements), FLOAT, vertices, "SCALAR", ARRAY_BUFFER);
    let attributes = Attributes { position, normal, tangent, texcoord, element };
    // 65535 itself is kept free: it restarts strips in some readers.
    let short = vertices < 65_535;
    let mut indices_of = |binary: &mut Binary, indices: &[u32], range: &std::ops::Range<u32>| {
        let range = &indices[range.start as usize..range.end as usize];
        if short {
            #[expect(clippy::cast_possible_truncation, reason = "there are fewer vertices")]
            let range: Vec<u16> = range.iter().map(|index| *index as u16).collect();
            let data = bytemuck::cast_slice(&range);
            push(binary, data, UNSIGNED_SHORT, range.len(), "SCALAR", ELEMENT_ARRAY_BUFFER)
        } else {
            let data = bytemuck::cast_slice(range);
            push(binary, data, UNSIGNED_INT, range.len(), "SCALAR", ELEMENT_ARRAY_BUFFER)
        }
    };
    let primitives = mesh.primitives.iter().map(|primitive| Primitive {
        attributes: attributes.clone(),
        indices: indices_of(binary, &mesh.indices, &primitive.indices),
        material: primitive.material,
        mode: None,
    });
    let primitives = primitives.collect();
    let lods = mesh.lods.iter().map(|lod| Lod {
        deviation: lod.deviation_metres,
        primitives: lod
            .primitives
            .iter()
            .map(|primitive| LodPrimitive {
                indices: indices_of(binary, &lod.indices, &primitive.indices),
                material: primitive.material,
            })
            .collect(),
    });
    let lods = lods.collect();
    let bounds = crate::bounds::Bounds::of_points(mesh.positions.iter().copied());
    accessors[position as usize].min = bounds.min.to_array().to_vec();
    accessors[position as usize].max = bounds.max.to_array().to_vec();
    (Mesh { name: asset.name.clone(), primitives }, lods)
}

fn animation(asset: &Asset, compression: Compression, binary: &mut Binary) -> Animation {
    let animation = &asset.animation;
    let positions = ktx2::encode(&animation.positions, Some(animation.encoding), compression);
    let positions = Blob { buffer_view: binary.push_pieces(&positions, None) };
    let normal_texels = animation.normal_texels.as_ref().map(|texels| Blob {
        buffer_view: binary.push_pieces(&ktx2::encode(texels, None, compression), None),
    });
    let clips = asset.clips.iter().zip(&asset.clip_bounds);
    Animation {
        version: VERSION,
        mode: animation.mode,
        space: animation.space,
        encoding: animation.encoding,
        range: animation
            .encoding
            .is_bounded()
            .then(|| Range { lo: animation.remap.lo.to_array(), hi: animation.remap.hi.to_array() }),
        normals: animation.normals,
        element_count: animation.element_count,
        grid: Grid {
            columns: animation.grid.columns,
            rows_per_frame: animation.grid.rows_per_frame,
            frames_per_band: animation.grid.frames_per_band,
            frame_count: animation.grid.frame_count,
        },
        positions,
        normal_texels,
        bounds: asset.bounds().into(),
        clips: clips
            .map(|(clip, bounds)| Clip {
                name: clip.name.clone(),
                first_frame: clip.first_frame,
                frame_count: clip.frame_count,
                fps: clip.fps,
                loop_mode: clip.loop_mode,
                root_motion: clip
                    .root_motion
                    .as_ref()
                    .map(|way| way.iter().map(|place| place.to_array()).collect()),
                bounds: (*bounds).into(),
            })
            .collect(),
        producer: asset.producer.clone(),
        source_key: asset.source_key.clone(),
        lods: Vec::new(),
        rig_vertices: None,
        assumptions: asset.assumptions.clone(),
        warnings: asset.warnings.clone(),
    }
}
