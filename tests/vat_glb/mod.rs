//! Random assets, and files whose JSON can be changed. Shared by the tests of the file format.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use bytes::Bytes;
use glam::{UVec2, Vec2, Vec3, Vec4};
use serde_json::Value;
use throng::asset::{Animation, Asset, Compression, Parts, glb};
use throng::bounds::Bounds;
use throng::clip::{Clip, LoopMode};
use throng::material::{Image, Material};
use throng::mesh::{Mesh, Primitive};
use throng::random::Random;
use throng::vat::encoding::Remap;
use throng::vat::grid::Grid;
use throng::vat::{Encoding, Mode, Normals, PositionSpace, Texels};

/// What varies between assets; the rest follows from `seed`.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) seed: u64,
    pub(crate) encoding: Encoding,
    pub(crate) normals: Normals,
    pub(crate) space: PositionSpace,
    pub(crate) textured: bool,
    pub(crate) primitives: usize,
    pub(crate) elements: u32,
    pub(crate) frames: u32,
    pub(crate) max_size: u32,
    pub(crate) clip_names: Vec<String>,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            seed: 1,
            encoding: Encoding::Unorm16,
            normals: Normals::Texture8,
            space: PositionSpace::Absolute,
            textured: true,
            primitives: 2,
            elements: 7,
            frames: 5,
            max_size: 16,
            clip_names: vec!["wave".to_owned()],
        }
    }
}

/// A picture of one white pixel.
pub(crate) const PNG: &[u8] = include_bytes!("pixel.png");

fn vector(random: &mut Random) -> Vec3 {
    Vec3::from([0; 3].map(|_| random.signed() as f32 * 10.0))
}

fn texels(random: &mut Random, format: throng::vat::TexelFormat, size: UVec2) -> Texels {
    let bytes = format.picture_bytes(size).unwrap() as usize;
    let data: Vec<u8> = (0..bytes).map(|_| random.bits() as u8).collect();
    Texels::new(format, size, data).unwrap()
}

impl Shape {
    pub(crate) fn parts(&self) -> Parts {
        let random = &mut Random::new(self.seed);
        let vertices = self.elements as usize + random.below(9) + 2;
        let mesh = self.mesh(random, vertices);
        let grid = Grid::new(self.elements, self.frames, self.max_size).unwrap();
        let clips = self.clip_names.iter().map(|name| {
            let first_frame = random.below(self.frames as usize) as u32;
            Clip {
                name: name.clone(),
                first_frame,
                frame_count: 1 + random.below((self.frames - first_frame) as usize) as u32,
                fps: [0.0, 24.0, 24_000.0 / 1001.0, 1e-300, 1e300][random.below(5)],
                loop_mode: LoopMode::ALL[random.below(3)],
                root_motion: None,
            }
        });
        let clips: Vec<_> = clips.collect();
        let remap = Remap::new(vector(random), vector(random));
        let size = grid.size().unwrap();
        let normal_format = self.normals.texel_format();
        Parts {
            name: self.clip_names.concat(),
            clip_bounds: clips.iter().map(|_| Bounds::of_points([vector(random), vector(random)])).collect(),
            clips,
            materials: self.materials(),
            images: vec![
                Image { mime_type: "image/png".to_owned(), data: Bytes::from_static(PNG) };
                usize::from(self.textured)
            ],
            animation: Animation {
                mode: Mode::Soft,
                space: self.space,
                encoding: self.encoding,
                remap: if self.encoding.is_bounded() { remap } else { Remap::METRES },
                normals: self.normals,
                element_count: self.elements,
                grid,
                positions: texels(random, self.encoding.texel_format(), self.encoding.texture_size(size)),
                normal_texels: normal_format.map(|format| texels(random, format, size)),
            },
            producer: "a test \u{1F3F3} \"quoted\" \\ \u{0}".to_owned(),
            source_key: self.textured.then(|| "a key".to_owned()),
            assumptions: vec![String::new(); random.below(3)],
            warnings: self.clip_names.clone(),
            mesh,
        }
    }

    pub(crate) fn asset(&self) -> Asset {
        Asset::new(self.parts()).unwrap()
    }

    fn mesh(&self, random: &mut Random, vertices: usize) -> Mesh {
        let mut mesh = Mesh {
            positions: (0..vertices).map(|_| vector(random)).collect(),
            normals: (0..vertices).map(|_| vector(random).try_normalize().unwrap_or(Vec3::Y)).collect(),
            tangents: self.textured.then(|| {
                let along = (0..vertices).map(|_| vector(random).try_normalize().unwrap_or(Vec3::X));
                along.map(|along| along.extend(if along.x < 0.0 { -1.0 } else { 1.0 })).collect()
            }),
            uvs: self.textured.then(|| {
                (0..vertices).map(|_| Vec2::new(random.signed() as f32, random.unit() as f32)).collect()
            }),
            elements: (0..vertices).map(|_| random.below(self.elements as usize) as u32).collect(),
            ..Mesh::default()
        };
        for primitive in 0..self.primitives {
            let start = mesh.indices.len() as u32;
            for _ in 0..=random.below(4) {
                let corner = random.below(vertices - 2) as u32;
                mesh.indices.extend([corner, corner + 2, corner + 1]);
            }
            // The last has no material.
            let material = (primitive + 1 < self.primitives).then_some(primitive as u32);
            mesh.primitives.push(Primitive { indices: start..mesh.indices.len() as u32, material });
        }
        mesh
    }

    fn materials(&self) -> Vec<Material> {
        let count = self.primitives - 1;
        (0..count)
            .map(|index| Material {
                name: format!("material {index}"),
                base_color: Vec4::new(0.1, 0.2, 0.3, 1.0 - index as f32 / 64.0),
                base_color_image: (self.textured && index == 0).then_some(0),
                metallic: index as f32 / count as f32,
                roughness: 1.0 / 3.0,
                metallic_roughness_image: (self.textured && index % 3 == 0).then_some(0),
                normal_image: (self.textured && index % 2 == 0).then_some(0),
                normal_scale: if self.textured && index % 2 == 0 { 0.75 } else { 1.0 },
                emissive: Vec3::splat((index % 2) as f32),
                emissive_image: (self.textured && index % 2 == 1).then_some(0),
                double_sided: index % 2 == 0,
            })
            .collect()
    }
}

/// The two chunks of a binary glTF file, taken apart without the crate's own reader.
#[derive(Clone)]
pub(crate) struct Chunks {
    pub(crate) json: Value,
    pub(crate) binary: Vec<u8>,
}

impl Chunks {
    pub(crate) fn of(asset: &Asset, compression: Compression) -> Self {
        Self::parse(&glb::encode(asset, compression))
    }

    pub(crate) fn parse(file: &[u8]) -> Self {
        let length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
        Self {
            json: serde_json::from_slice(&file[20..20 + length]).unwrap(),
            binary: file[28 + length..].to_vec(),
        }
    }

    pub(crate) fn file(&self) -> Vec<u8> {
        with_json(self.json.to_string().as_bytes(), &self.binary)
    }

    pub(crate) fn set(mut self, pointer: &(impl AsRef<str> + ?Sized), value: impl Into<Value>) -> Self {
        let pointer = pointer.as_ref();
        let target = self.json.pointer_mut(pointer);
        *target.unwrap_or_else(|| panic!("{pointer}")) = value.into();
        self
    }

    /// Where the bytes of a buffer view lie in the binary chunk.
    pub(crate) fn view(&self, index: &Value) -> std::ops::Range<usize> {
        let view = &self.json["bufferViews"][index.as_u64().unwrap() as usize];
        let start = view["byteOffset"].as_u64().unwrap() as usize;
        start..start + view["byteLength"].as_u64().unwrap() as usize
    }

    /// Where a texel image lies: `positions` or `normalTexels`.
    pub(crate) fn ktx2(&self, name: &str) -> std::ops::Range<usize> {
        self.view(&self.json["extensions"]["THRONG_vertex_animation"][name]["bufferView"])
    }
}

/// A file around any text for JSON.
pub(crate) fn with_json(json: &[u8], binary: &[u8]) -> Vec<u8> {
    let mut json = json.to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let word = |number: usize| (number as u32).to_le_bytes();
    let mut file = [&b"glTF\x02\0\0\0"[..], &word(28 + json.len() + binary.len())].concat();
    file.extend([&word(json.len())[..], b"JSON", &json].concat());
    file.extend([&word(binary.len())[..], b"BIN\0", binary].concat());
    file
}
