//! Small assets built in code.

use glam::{Vec2, Vec3};
use throng::asset::{Animation, Asset, Parts};
use throng::bounds::Bounds;
use throng::clip::{Clip, LoopMode};
use throng::material::Material;
use throng::mesh::{Mesh, Primitive};
use throng::random::Random;
use throng::vat::blocks::encode_blocks;
use throng::vat::encoding::{Remap, encode_position, encode_positions};
use throng::vat::grid::{Grid, texel_address};
use throng::vat::normals::{encode_alpha, encode_normal};
use throng::vat::{Encoding, Mode, Normals, PositionSpace, TexelFormat, Texels};

/// What is chosen of a random asset.
#[derive(Clone, Copy)]
pub struct Choice {
    pub encoding: Encoding,
    pub normals: Normals,
    pub space: PositionSpace,
    pub elements: u32,
    pub frames: u32,
    pub max_texture_size: u32,
    pub seed: u64,
}

pub fn random_vector(random: &mut Random) -> Vec3 {
    glam::dvec3(random.signed(), random.signed(), random.signed()).as_vec3()
}

pub fn random_unit(random: &mut Random) -> Vec3 {
    loop {
        if let Some(unit) = random_vector(random).try_normalize() {
            return unit;
        }
    }
}

/// Texels of `grid`, filled by `encode` for each element and frame.
pub fn texels(
    grid: Grid,
    format: TexelFormat,
    elements: u32,
    mut encode: impl FnMut(u32, u32, &mut Vec<u8>),
) -> Texels {
    let size = grid.size().unwrap();
    // One texel per element, or as many as its bytes fill.
    let mut first = Vec::new();
    encode(0, 0, &mut first);
    let bytes = first.len();
    let mut data = vec![0; size.element_product() as usize * bytes];
    for frame in 0..grid.frame_count {
        for element in 0..elements {
            let mut texel = Vec::new();
            encode(element, frame, &mut texel);
            let at = texel_address(grid, element, frame);
            let start = (at.y * size.x + at.x) as usize * bytes;
            data[start..start + bytes].copy_from_slice(&texel);
        }
    }
    if format == TexelFormat::Bc6h {
        let full = Encoding::Bc6h.texture_size(size);
        return Texels::new(format, full, encode_blocks(full, &data, size).unwrap()).unwrap();
    }
    let side_by_side = bytes as u32 / format.bytes();
    Texels::new(format, glam::UVec2::new(size.x * side_by_side, size.y), data).unwrap()
}

/// Random positions and normals; vertices in random order, some elements shared; two clips.
pub fn random_asset(choice: Choice) -> Asset {
    let Choice { encoding, normals, space, elements, frames, max_texture_size, seed } = choice;
    let mut random = Random::new(seed);
    let bounds = Bounds { min: Vec3::new(-3.0, 0.5, -40.0), max: Vec3::new(5.0, 0.5, 2.0) };
    let remap = if encoding.is_bounded() { Remap::spanning(bounds) } else { Remap::METRES };
    let grid = Grid::new(elements, frames, max_texture_size).unwrap();
    let positions = texels(grid, encoding.texel_format(), elements, |_, _, bytes| {
        let part = (random_vector(&mut random) + 1.0) * 0.5;
        let alpha = [encode_alpha(random_unit(&mut random), encoding)];
        let alphas = (normals == Normals::Alpha).then_some(&alpha[..]);
        encode_positions(&[bounds.min + part * bounds.size()], alphas, encoding, remap, bytes);
    });
    let normal_texels = normals.texel_format().map(|format| {
        texels(grid, format, elements, |_, _, bytes| {
            encode_normal(random_unit(&mut random), normals, bytes);
        })
    });
    let vertices = (elements as usize + elements as usize / 3 + 3).next_multiple_of(3);
    let mut mesh = Mesh::default();
    for _ in 0..vertices {
        mesh.positions.push(random_vector(&mut random) * 2.0);
        mesh.normals.push(random_unit(&mut random));
        mesh.elements.push(random.below(elements as usize) as u32);
    }
    mesh.indices = (0..vertices as u32).collect();
    mesh.primitives = vec![Primitive { indices: 0..vertices as u32, material: None }];
    let clip = |name: &str, first_frame, frame_count, loop_mode| Clip {
        name: name.to_owned(),
        first_frame,
        frame_count,
        fps: 30.0,
        loop_mode,
        root_motion: None,
    };
    let clips = if frames > 1 {
        vec![clip("a", 0, 1, LoopMode::Loop), clip("b", 1, frames - 1, LoopMode::PingPong)]
    } else {
        vec![clip("a", 0, 1, LoopMode::Once)]
    };
    let wide = Bounds { min: Vec3::splat(-50.0), max: Vec3::splat(50.0) };
    Asset::new(Parts {
        name: "random".to_owned(),
        mesh,
        materials: Vec::new(),
        images: Vec::new(),
        clip_bounds: vec![wide; clips.len()],
        clips,
        animation: Animation {
            mode: Mode::Soft,
            space,
            encoding,
            remap,
            normals,
            element_count: elements,
            grid,
            positions,
            normal_texels,
        },
        producer: "test".to_owned(),
        source_key: None,
        assumptions: Vec::new(),
        warnings: Vec::new(),
    })
    .unwrap()
}

/// A sheet of `side`² vertices that waves along X and turns through its frames: a smooth motion to draw.
pub fn sheet(side: u32, frames: u32, encoding: Encoding, max_texture_size: u32) -> Asset {
    let at = |element: u32, frame: u32| {
        let (x, z) =
            ((element % side) as f32 / (side - 1) as f32, (element / side) as f32 / (side - 1) as f32);
        let turn = std::f32::consts::TAU * (frame as f32 / frames as f32 + x);
        Vec3::new(x * 2.0 - 1.0, 0.8 + 0.3 * libm::sinf(turn), z * 2.0 - 1.0)
    };
    let slope = |element: u32, frame: u32| {
        let x = (element % side) as f32 / (side - 1) as f32;
        let turn = std::f32::consts::TAU * (frame as f32 / frames as f32 + x);
        Vec3::new(-0.3 * std::f32::consts::PI * libm::cosf(turn), 1.0, 0.0).normalize()
    };
    let elements = side * side;
    let bounds = Bounds { min: Vec3::new(-1.0, 0.5, -1.0), max: Vec3::new(1.0, 1.1, 1.0) };
    let remap = if encoding.is_bounded() { Remap::spanning(bounds) } else { Remap::METRES };
    let grid = Grid::new(elements, frames, max_texture_size).unwrap();
    let mut mesh = Mesh { uvs: Some(Vec::new()), ..Mesh::default() };
    for element in 0..elements {
        mesh.positions.push(at(element, 0));
        mesh.normals.push(slope(element, 0));
        mesh.elements.push(element);
        mesh.uvs.as_mut().unwrap().push(Vec2::ZERO);
    }
    for row in 0..side - 1 {
        for column in 0..side - 1 {
            let corner = row * side + column;
            mesh.indices.extend([
                corner,
                corner + side,
                corner + 1,
                corner + 1,
                corner + side,
                corner + side + 1,
            ]);
        }
    }
    mesh.primitives = vec![Primitive { indices: 0..mesh.indices.len() as u32, material: Some(0) }];
    Asset::new(Parts {
        name: "sheet".to_owned(),
        mesh,
        materials: vec![Material { double_sided: true, ..Material::default() }],
        images: Vec::new(),
        clips: vec![Clip {
            name: "wave".to_owned(),
            first_frame: 0,
            frame_count: frames,
            fps: 8.0,
            loop_mode: LoopMode::Loop,
            root_motion: None,
        }],
        clip_bounds: vec![bounds],
        animation: Animation {
            mode: Mode::Soft,
            space: PositionSpace::Absolute,
            encoding,
            remap,
            normals: Normals::Texture16,
            element_count: elements,
            grid,
            positions: texels(grid, encoding.texel_format(), elements, |element, frame, bytes| {
                encode_position(at(element, frame), encoding, remap, bytes);
            }),
            normal_texels: Some(texels(grid, TexelFormat::Rg16, elements, |element, frame, bytes| {
                encode_normal(slope(element, frame), Normals::Texture16, bytes);
            })),
        },
        producer: "test".to_owned(),
        source_key: None,
        assumptions: Vec::new(),
        warnings: Vec::new(),
    })
    .unwrap()
}
