//! OpenVAT exports made in code from the description of the format: any counts, any motion, any fault.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use exr::prelude::{Encoding, Image, Layer, LayerAttributes, SpecificChannels};
use exr::prelude::{Text, Vec2 as Size, WritableImage as _};
use glam::{DVec3, UVec2, Vec2, Vec3, uvec2};
use half::f16;
use serde_json::json;
use tempfile::TempDir;
use throng::mesh::Mesh;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Picture {
    Png8,
    Png16,
    Half,
    Float,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MadeNormals {
    None,
    Packed,
    Separate,
}

/// What to make. Blender's axes: Z up, metres.
#[derive(Clone)]
pub struct Made {
    pub name: &'static str,
    pub vertices: u32,
    pub frames: u32,
    pub picture: Picture,
    pub normals: MadeNormals,
    /// Texels that fill powers of two, several columns of frames above each other.
    pub wrapped: bool,
    /// Texels are metres.
    pub absolute: bool,
    /// Offset of a vertex from rest in a frame.
    pub offset: fn(u32, u32) -> DVec3,
    /// The frame whose offsets are in the mesh; `None` is rest.
    pub stored_at: Option<u32>,
    /// The scene frame that the picture says it was written at.
    pub scene_frame: Option<i64>,
    /// Every triangle has its own three vertices.
    pub split: bool,
    /// The lookup comes before the ordinary texture coordinates.
    pub lookup_first: bool,
    /// What is done to a lookup coordinate.
    pub lookup: fn(Vec2) -> Vec2,
}

impl Default for Made {
    fn default() -> Self {
        Self {
            name: "made",
            vertices: 40,
            frames: 8,
            picture: Picture::Png16,
            normals: MadeNormals::Packed,
            wrapped: false,
            absolute: false,
            offset: bend,
            stored_at: None,
            scene_frame: None,
            split: false,
            lookup_first: false,
            lookup: |uv| uv,
        }
    }
}

/// A strip that bends more from frame to frame, and not at all in frame 0; different on every axis.
pub fn bend(vertex: u32, frame: u32) -> DVec3 {
    let along = f64::from(vertex / 2) * 0.3;
    let much = f64::from(frame) * 0.1;
    DVec3::new(0.21 * much * along.cos() - 0.21 * much, 0.5 * much * along.sin(), -0.9 * much * along.sin())
}

/// The strip moves as a whole: its normals are the same in all frames.
pub fn slide(_: u32, frame: u32) -> DVec3 {
    DVec3::new(0.31, -0.17, 0.73) * f64::from(frame)
}

/// Rest position: a zigzag strip.
pub fn rest(vertex: u32) -> DVec3 {
    DVec3::new(f64::from(vertex / 2) * 0.05, f64::from(vertex % 2) * 0.4, 1.0 + f64::from(vertex % 3) * 0.02)
}

/// An export in a folder of its own, gone when dropped.
pub struct Folder {
    pub folder: TempDir,
    pub made: Made,
    /// Source vertex of each vertex of the mesh file.
    pub sources: Vec<u32>,
    pub size: UVec2,
}

impl Folder {
    pub fn path(&self, end: &str) -> PathBuf {
        self.folder.path().join(format!("{}{end}", self.made.name))
    }

    pub fn edit(&self, end: &str, change: impl FnOnce(String) -> String) {
        let path = self.path(end);
        let text = fs::read_to_string(&path).unwrap();
        let changed = change(text.clone());
        assert_ne!(text, changed, "nothing changes in {end}");
        fs::write(path, changed).unwrap();
    }

    /// Where a mesh vertex is in a frame: glTF axes.
    pub fn truth(&self, vertex: usize, frame: u32) -> Vec3 {
        let source = self.sources[vertex];
        y_up(rest(source) + (self.made.offset)(source, frame))
    }
}

fn y_up(v: DVec3) -> Vec3 {
    DVec3::new(v.x, v.z, -v.y).as_vec3()
}

impl Made {
    fn wraps(&self, width: u32) -> u32 {
        self.vertices.div_ceil(width)
    }

    fn size(&self) -> UVec2 {
        let halves = if self.normals == MadeNormals::Packed { 2 } else { 1 };
        if !self.wrapped {
            return uvec2(self.vertices, self.frames * halves);
        }
        let powers = (6..=13).flat_map(|x| (6..=13).map(move |y| uvec2(1 << x, 1 << y)));
        powers
            .filter(|size| size.x.trailing_zeros().abs_diff(size.y.trailing_zeros()) <= 1)
            .filter(|size| size.y >= self.wraps(size.x) * self.frames * halves)
            .min_by_key(|size| size.element_product())
            .unwrap()
    }

    /// Smallest and largest offset, rounded outwards to tenths.
    fn bounds(&self) -> (DVec3, DVec3) {
        let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for frame in 0..self.frames {
            for vertex in 0..self.vertices {
                let offset = (self.offset)(vertex, frame);
                (min, max) = (min.min(offset), max.max(offset));
            }
        }
        // An axis without motion keeps its zero.
        ((min * 10.0 + 1e-9).floor() / 10.0, (max * 10.0 - 1e-9).ceil() / 10.0)
    }

    /// Source vertices of the mesh file and its triangles.
    fn triangles(&self) -> (Vec<u32>, Vec<u32>) {
        let corners = (0..self.vertices.saturating_sub(2))
            .flat_map(|at| if at % 2 == 0 { [at, at + 1, at + 2] } else { [at + 1, at, at + 2] });
        if self.split {
            let sources: Vec<u32> = corners.collect();
            let indices = (0..sources.len() as u32).collect();
            return (sources, indices);
        }
        ((0..self.vertices).collect(), corners.collect())
    }

    pub fn write(&self) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        let (sources, size) = self.write_to(folder.path());
        Folder { folder, made: self.clone(), sources, size }
    }

    pub fn write_to(&self, folder: &Path) -> (Vec<u32>, UVec2) {
        let size = self.size();
        let (min, max) = self.bounds();
        let (sources, indices) = self.triangles();
        let whole = Mesh {
            elements: (0..self.vertices).collect(),
            indices: if self.split { sources.clone() } else { indices.clone() },
            ..Mesh::default()
        };
        let mut positions = vec![DVec3::ZERO; size.element_product() as usize];
        let mut separate = positions.clone();
        let index = |at: UVec2| (at.y * size.x + at.x) as usize;
        for frame in 0..self.frames {
            let posed: Vec<Vec3> =
                (0..self.vertices).map(|v| (rest(v) + (self.offset)(v, frame)).as_vec3()).collect();
            let normals = whole.angle_weighted_normals(&posed);
            for vertex in 0..self.vertices {
                let slot = self.vertices - 1 - vertex;
                let at = uvec2(slot % size.x, slot / size.x * self.frames + frame);
                let offset = (self.offset)(vertex, frame);
                let range = max - min;
                let share = DVec3::select(range.cmpeq(DVec3::ZERO), DVec3::ZERO, (offset - min) / range);
                positions[index(at)] = if self.absolute { offset } else { share };
                let normal = (normals[vertex as usize].as_dvec3() + 1.0) * 0.5;
                match self.normals {
                    MadeNormals::None => {}
                    MadeNormals::Packed => positions[index(at + uvec2(0, size.y / 2))] = normal,
                    MadeNormals::Separate => separate[index(at)] = normal,
                }
            }
        }
        self.write_picture(&folder.join(format!("{}_vat", self.name)), size, &positions);
        if self.normals == MadeNormals::Separate {
            self.write_picture(&folder.join(format!("{}_vnrm", self.name)), size, &separate);
        }
        let remap =
            json!({"os-remap": {"Min": min.to_array(), "Max": max.to_array(), "Frames": self.frames}});
        fs::write(folder.join(format!("{}-remap_info.json", self.name)), remap.to_string()).unwrap();
        self.write_mesh(&folder.join(format!("{}.gltf", self.name)), size, (min, max), &sources, &indices);
        (sources, size)
    }

    fn write_picture(&self, path: &Path, size: UVec2, texels: &[DVec3]) {
        if matches!(self.picture, Picture::Png8 | Picture::Png16) {
            self.write_png(path, size, texels);
            return;
        }
        let texel = |at: Size<usize>| texels[at.y() * size.x as usize + at.x()];
        let mut attributes = LayerAttributes::default();
        if let Some(frame) = self.scene_frame {
            let text = exr::meta::attribute::AttributeValue::Text(Text::from(&*frame.to_string()));
            attributes.other.insert(Text::from("Frame"), text);
        }
        let path = path.with_extension("exr");
        let sides = (size.x as usize, size.y as usize);
        if self.picture == Picture::Half {
            let channels = SpecificChannels::rgb(|at: Size<usize>| {
                let [r, g, b] = texel(at).to_array().map(f16::from_f64);
                (r, g, b)
            });
            let layer = Layer::new(sides, attributes, Encoding::SMALL_LOSSLESS, channels);
            Image::from_layer(layer).write().non_parallel().to_file(path).unwrap();
        } else {
            let channels = SpecificChannels::rgb(|at: Size<usize>| {
                let [r, g, b] = texel(at).as_vec3().to_array();
                (r, g, b)
            });
            let layer = Layer::new(sides, attributes, Encoding::UNCOMPRESSED, channels);
            Image::from_layer(layer).write().non_parallel().to_file(path).unwrap();
        }
    }

    fn write_png(&self, path: &Path, size: UVec2, texels: &[DVec3]) {
        let file = fs::File::create(path.with_extension("png")).unwrap();
        let mut encoder = png::Encoder::new(file, size.x, size.y);
        encoder.set_color(png::ColorType::Rgb);
        let wide = self.picture == Picture::Png16;
        encoder.set_depth(if wide { png::BitDepth::Sixteen } else { png::BitDepth::Eight });
        if let Some(frame) = self.scene_frame {
            encoder.add_text_chunk("Frame".to_owned(), frame.to_string()).unwrap();
        }
        let channels = texels.iter().flat_map(|texel| texel.to_array());
        let bytes: Vec<u8> = if wide {
            channels.flat_map(|c| ((c * 65535.0).round() as u16).to_be_bytes()).collect()
        } else {
            channels.map(|c| (c * 255.0).round() as u8).collect()
        };
        encoder.write_header().unwrap().write_image_data(&bytes).unwrap();
    }

    fn write_mesh(
        &self,
        path: &Path,
        size: UVec2,
        (min, max): (DVec3, DVec3),
        sources: &[u32],
        indices: &[u32],
    ) {
        let mut bytes = Vec::new();
        for source in sources {
            let added = self.stored_at.map_or(DVec3::ZERO, |frame| {
                let offset = (self.offset)(*source, frame);
                // The exporter's preview maps metres once more.
                if self.absolute { min + offset * (max - min) } else { offset }
            });
            bytes.extend(y_up(rest(*source) + added).to_array().map(f32::to_le_bytes).as_flattened());
        }
        for lookup in [self.lookup_first, !self.lookup_first] {
            for source in sources {
                let slot = self.vertices - 1 - source;
                let texel = uvec2(slot % size.x, slot / size.x * self.frames);
                let uv = if lookup {
                    (self.lookup)((texel.as_vec2() + 0.5) / size.as_vec2())
                } else {
                    Vec2::new(*source as f32 * 0.0137, 0.77)
                };
                bytes.extend(uv.to_array().map(f32::to_le_bytes).as_flattened());
            }
        }
        bytes.extend(indices.iter().flat_map(|index| index.to_le_bytes()));
        let count = sources.len();
        let ends = [0, count * 12, count * 20, count * 28, count * 28 + indices.len() * 4];
        let views: Vec<_> = ends
            .windows(2)
            .map(|ends| json!({"buffer": 0, "byteOffset": ends[0], "byteLength": ends[1] - ends[0]}))
            .collect();
        let uri = format!("data:;base64,{}", STANDARD.encode(&bytes));
        let accessor = |view: u32, kind: &str| json!({"bufferView": view, "componentType": 5126, "count": count, "type": kind});
        let mut positions = accessor(0, "VEC3");
        positions["min"] = json!([0, 0, 0]);
        positions["max"] = json!([0, 0, 0]);
        let document = json!({
            "asset": {"version": "2.0"},
            "meshes": [{"primitives": [{
                "attributes": {"POSITION": 0, "TEXCOORD_0": 1, "TEXCOORD_1": 2},
                "indices": 3
            }]}],
            "accessors": [
                positions,
                accessor(1, "VEC2"),
                accessor(2, "VEC2"),
                {"bufferView": 3, "componentType": 5125, "count": indices.len(), "type": "SCALAR"}
            ],
            "bufferViews": views,
            "buffers": [{"byteLength": bytes.len(), "uri": uri}],
        });
        fs::write(path, document.to_string()).unwrap();
    }
}
