//! OpenVAT folders: a picture of offsets from a rest mesh, normals packed below them, separate or none, a
//! JSON file with bounds, and the mesh whose last UV map points at texels.
//!
//! Texels are taken over bit for bit where they are fixed point or half floats: the file's axes (Z up) are
//! turned by exchanging channels and mirroring the range, never by arithmetic on texels.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use glam::{DVec3, Vec3};

use super::image::{self, Picture, Pixels};
use super::{Error, MeshFrame, MissingNormals, Options, mesh};
use crate::asset::{Animation, Asset, Parts};
use crate::bounds::Bounds;
use crate::material::Material;
use crate::mesh::Mesh;
use crate::vat::encoding::{Remap, encode_position};
use crate::vat::grid::{Grid, texel_address};
use crate::vat::normals::encode_normal;
use crate::vat::{Encoding, Mode, Normals, PositionSpace, TexelFormat, Texels};

mod basis;
mod clips;
mod files;
mod json;
mod layout;
mod range;

use files::Files;
pub(super) use files::sniff;
use layout::{Layout, normal_at};
use range::Used;

/// Z up to Y up, right-handed both.
fn y_up(v: DVec3) -> DVec3 {
    DVec3::new(v.x, v.z, -v.y)
}

/// Which channel of the file is X, Y and Z.
const CHANNELS: [usize; 3] = [0, 2, 1];

/// Reads the export at `path`.
pub(super) fn load(path: &Path, options: &Options) -> Result<Asset, Error> {
    let Files { folder, remap_path, remap, positions, normals, mesh, assumptions } =
        files::find(path, &options.limits)?;
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let picture = image::read(
        &super::resolve::file(&folder, &positions, &options.limits)?,
        &positions,
        &options.limits,
    )?;
    let file = mesh::read(&folder, &mesh, options)?;
    let layout =
        Layout::find(&file, picture.size, remap.frames, layout::Paths { mesh: &mesh, picture: &positions })?;
    let mut parts = Remarked { assumptions, warnings: remap.warnings.clone() };
    parts.warnings.extend(file.warnings.iter().chain(&layout.warnings).cloned());
    let packed = normals.is_none() && layout.is_packed(&picture);
    layout.check_height(&picture, packed, &positions)?;
    let separate = match &normals {
        None => None,
        Some(path) => {
            Some(image::read(&super::resolve::file(&folder, path, &options.limits)?, path, &options.limits)?)
        }
    };
    if let (Some(separate), Some(path)) = (&separate, &normals)
        && separate.size != picture.size
    {
        let (width, height) = separate.size.into();
        let expected = format!("the positions are {}×{}", picture.size.x, picture.size.y);
        return Err(Error::PictureSize { width, height, expected, path: path.clone() });
    }
    for (picture, path) in [(Some(&picture), Some(&positions)), (separate.as_ref(), normals.as_ref())] {
        if let (Some(Picture { tagged_srgb: true, .. }), Some(path)) = (picture, path) {
            parts
                .warnings
                .push(format!("{} is tagged as sRGB; read as linear, which positions are", name(path)));
        }
    }
    parts.assumptions.push(layout_said(&layout, &picture, &file.uv_sets[layout.uv_set].name));
    check_finite(&layout, &picture, &positions)?;
    let used = Used::of(&layout, &picture);
    let absolute = used.is_absolute(&picture, &remap, &mut parts);
    used.check_range(absolute, &remap, &remap_path, &mut parts)?;
    let step = used.step(absolute, &picture, &remap, &mut parts);
    let offset = |slot: u32, frame: u32| {
        let value = picture.value(layout.texel(slot, frame));
        y_up(if absolute { value } else { remap.min + value * (remap.max - remap.min) })
    };
    // The exporter's preview maps metres once more, and that is what its glTF writer stores.
    let preview = |slot: u32, frame: u32| {
        let value = picture.value(layout.texel(slot, frame));
        if absolute && !file.is_gltf {
            y_up(value)
        } else {
            y_up(remap.min + value * (remap.max - remap.min))
        }
    };
    let source = NormalSource::new(&layout, &picture, separate.as_ref(), packed, &mut parts);
    let stored_normal = |slot: u32, frame: u32| source.normal(&layout, slot, frame);
    let elements = layout.slots.iter().max().map_or(0, |last| last + 1);
    // The picture is written at the last frame.
    let scene_start =
        picture.scene_frame.map(|last| last.saturating_sub(i64::from(layout.frames)).saturating_add(1));
    let mut rest = Mesh { elements: layout.slots.clone(), ..file.mesh };
    let motion = basis::Motion {
        stored: &rest,
        frames: layout.frames,
        offset: &offset,
        preview: &preview,
        normal: source.is_there().then_some(&stored_normal as &dyn Fn(u32, u32) -> Vec3),
        is_gltf: file.is_gltf,
        step,
        scene_start,
    };
    if let MeshFrame::Frame(frame) = options.mesh_frame
        && frame >= layout.frames
    {
        return Err(Error::Value {
            pointer: "--mesh-frame".to_owned(),
            found: frame.to_string(),
            expected: format!("a frame below {}", layout.frames),
            path: folder,
        });
    }
    let mut remarks = basis::Remarks::default();
    let positions_at_rest = basis::find(&motion, options.mesh_frame, &mut remarks);
    parts.assumptions.append(&mut remarks.assumptions);
    parts.warnings.append(&mut remarks.warnings);
    rest.positions = positions_at_rest;
    rest.normals = rest.angle_weighted_normals(&rest.positions);
    if let Some(set) = file.uv_sets.iter().enumerate().find(|(index, _)| *index != layout.uv_set) {
        // Vertices of a primitive without the set have no place in it.
        rest.uvs =
            Some(set.1.uvs.iter().map(|uv| if uv.is_finite() { *uv } else { glam::Vec2::ZERO }).collect());
    }
    let grid = Grid::new(elements, layout.frames, options.max_texture_size)?;
    let used = used_elements(&layout, elements);
    let pack = Packer { grid, frames: layout.frames, used: &used };
    let (encoding, mapping, position_texels) =
        pack_positions(&pack, &layout, &picture, absolute, &remap, &offset);
    let (normals, normal_texels) = if source.is_there() {
        (Normals::Texture16, Some(pack.normals(&stored_normal)))
    } else {
        match options.missing_normals {
            MissingNormals::Rest => (Normals::Rest, None),
            MissingNormals::Flat => (Normals::Flat, None),
            MissingNormals::Computed => {
                parts
                    .assumptions
                    .push("the files have no normals: made from the triangles of every frame".to_owned());
                (Normals::Texture16, Some(pack.normals(&computed_normals(&rest, &offset))))
            }
        }
    };
    let clips = clips::clips(&remap, options, scene_start, &name(&mesh), &remap_path, &mut parts)?;
    let materials = if file.materials.is_empty() { vec![clay()] } else { file.materials };
    for primitive in &mut rest.primitives {
        primitive.material = primitive.material.or(Some(0));
    }
    let asset = Parts {
        name: mesh.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        mesh: rest,
        materials,
        images: file.images,
        clip_bounds: vec![Bounds { min: Vec3::ZERO, max: Vec3::ZERO }; clips.len()],
        clips,
        animation: Animation {
            mode: Mode::Soft,
            space: PositionSpace::Offset,
            encoding,
            remap: mapping,
            normals,
            element_count: elements,
            grid,
            positions: position_texels,
            normal_texels,
        },
        producer: producer(&file.generator),
        source_key: None,
        assumptions: parts.assumptions,
        warnings: parts.warnings,
    };
    let invalid = |source| Error::Invalid { source, path: folder.clone() };
    let asset = Asset::new(asset).map_err(invalid)?;
    let clip_bounds = asset.measure_clip_bounds();
    Asset::new(Parts { clip_bounds, ..asset.into_parts() }).map_err(invalid)
}

/// Exports come without materials; both sides are shown, as sheets have no inside.
fn clay() -> Material {
    let base_color = glam::Vec4::new(0.62, 0.62, 0.64, 1.0);
    Material { name: "clay".to_owned(), base_color, double_sided: true, ..Material::default() }
}

#[derive(Default)]
struct Remarked {
    assumptions: Vec<String>,
    warnings: Vec<String>,
}

fn producer(generator: &str) -> String {
    if generator.is_empty() { "OpenVAT".to_owned() } else { format!("OpenVAT, {generator}") }
}

fn layout_said(layout: &Layout, picture: &Picture, uv_set: &str) -> String {
    let (width, height) = picture.size.into();
    let rows =
        if layout.wraps == 1 { "one row a frame".to_owned() } else { format!("{} wraps", layout.wraps) };
    format!(
        "{width}×{height} {}, {} frames, {rows}; {uv_set} points at texels",
        picture.kind(),
        layout.frames
    )
}

fn used_elements(layout: &Layout, elements: u32) -> Vec<u32> {
    let mut used = vec![false; elements as usize];
    for slot in &layout.slots {
        used[*slot as usize] = true;
    }
    (0..elements).filter(|element| used[*element as usize]).collect()
}

fn check_finite(layout: &Layout, picture: &Picture, path: &Path) -> Result<(), Error> {
    for frame in 0..layout.frames {
        for slot in &layout.slots {
            let at = layout.texel(*slot, frame);
            if !picture.value(at).is_finite() {
                return Err(Error::NotFinite { column: at.x, row: at.y, path: path.to_owned() });
            }
        }
    }
    Ok(())
}

/// Where normals are, if anywhere.
struct NormalSource<'a> {
    picture: Option<&'a Picture>,
    down: u32,
}

impl<'a> NormalSource<'a> {
    fn new(
        layout: &Layout,
        positions: &'a Picture,
        separate: Option<&'a Picture>,
        packed: bool,
        parts: &mut Remarked,
    ) -> Self {
        let source = match separate {
            Some(picture) => Self { picture: Some(picture), down: 0 },
            None if packed => Self { picture: Some(positions), down: positions.size.y / 2 },
            None => {
                return Self { picture: None, down: 0 };
            }
        };
        let vectors = |frame| layout.slots.iter().map(move |slot| (frame, *slot));
        let mut worst = 0.0_f64;
        for (frame, slot) in (0..layout.frames).flat_map(vectors) {
            let length = source.vector(layout, slot, frame).length();
            worst = if length.is_finite() { worst.max((length - 1.0).abs()) } else { f64::INFINITY };
        }
        if worst > 0.2 {
            parts.warnings.push("the normal picture holds no unit vectors and is not used".to_owned());
            return Self { picture: None, down: 0 };
        }
        let place =
            if packed { "packed in the lower half of the picture" } else { "in a picture of their own" };
        parts.assumptions.push(format!("normals are {place}"));
        source
    }

    fn is_there(&self) -> bool {
        self.picture.is_some()
    }

    fn vector(&self, layout: &Layout, slot: u32, frame: u32) -> DVec3 {
        let at = layout.texel(slot, frame) + glam::uvec2(0, self.down);
        self.picture.map_or(DVec3::Z, |picture| y_up(normal_at(picture, at)))
    }

    fn normal(&self, layout: &Layout, slot: u32, frame: u32) -> Vec3 {
        self.vector(layout, slot, frame).normalize().as_vec3()
    }
}

/// Fills our own arrangement of texels.
struct Packer<'a> {
    grid: Grid,
    frames: u32,
    used: &'a [u32],
}

impl Packer<'_> {
    fn texels(&self, format: TexelFormat, mut texel: impl FnMut(u32, u32) -> Vec<u8>) -> Texels {
        let size = self.grid.size().unwrap_or_default();
        let bytes = format.bytes() as usize;
        let mut data = vec![0; size.x as usize * size.y as usize * bytes];
        for frame in 0..self.frames {
            for element in self.used {
                let at = texel_address(self.grid, *element, frame);
                let start = (at.y as usize * size.x as usize + at.x as usize) * bytes;
                data[start..start + bytes].copy_from_slice(&texel(*element, frame));
            }
        }
        Texels::new(format, size, data).expect("as many bytes as the size says")
    }

    fn normals(&self, normal: &dyn Fn(u32, u32) -> Vec3) -> Texels {
        self.texels(TexelFormat::Rg16, |element, frame| {
            let mut bytes = Vec::with_capacity(4);
            encode_normal(normal(element, frame), Normals::Texture16, &mut bytes);
            bytes
        })
    }
}

fn pack_positions(
    pack: &Packer<'_>,
    layout: &Layout,
    picture: &Picture,
    absolute: bool,
    remap: &json::Remap,
    offset: &dyn Fn(u32, u32) -> DVec3,
) -> (Encoding, Remap, Texels) {
    let encoding = match picture.pixels {
        Pixels::Unorm8(_) => Encoding::Unorm8,
        Pixels::Unorm16(_) => Encoding::Unorm16,
        Pixels::Half(_) if absolute => Encoding::Float32,
        Pixels::Half(_) => Encoding::Float16Bounded,
        Pixels::Float(_) => Encoding::Float32,
    };
    if encoding == Encoding::Float32 {
        let texels = pack.texels(encoding.texel_format(), |element, frame| {
            let mut bytes = Vec::with_capacity(16);
            encode_position(offset(element, frame).as_vec3(), encoding, Remap::METRES, &mut bytes);
            bytes
        });
        return (encoding, Remap::METRES, texels);
    }
    let alpha: &[u8] = match picture.pixels {
        Pixels::Unorm8(_) => &[0xff],
        Pixels::Unorm16(_) => &[0xff, 0xff],
        Pixels::Half(_) | Pixels::Float(_) => &[0x00, 0x3c],
    };
    let texels = pack.texels(encoding.texel_format(), |element, frame| {
        let mut bytes = picture.stored(layout.texel(element, frame), CHANNELS);
        bytes.extend_from_slice(alpha);
        bytes
    });
    (encoding, Remap::new(y_up(remap.min).as_vec3(), y_up(remap.max).as_vec3()), texels)
}

/// Vertex normals of the decoded triangles: by element and frame, frame after frame.
fn computed_normals(rest: &Mesh, offset: &dyn Fn(u32, u32) -> DVec3) -> impl Fn(u32, u32) -> Vec3 {
    let vertices: HashMap<u32, usize> = rest.elements.iter().copied().zip(0..).collect();
    let current: RefCell<(Option<u32>, Vec<Vec3>)> = RefCell::default();
    move |element, frame| {
        let mut current = current.borrow_mut();
        if current.0 != Some(frame) {
            let vertices = rest.positions.iter().zip(&rest.elements);
            let posed: Vec<Vec3> = vertices
                .map(|(rest, element)| (rest.as_dvec3() + offset(*element, frame)).as_vec3())
                .collect();
            *current = (Some(frame), rest.angle_weighted_normals(&posed));
        }
        vertices.get(&element).map_or(Vec3::Y, |vertex| current.1[*vertex])
    }
}
