//! Rust twins of the structs that shaders read from buffers. A test holds each against naga's layout.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4};

pub use crate::vat::encoding::Remap;
pub use crate::vat::grid::Grid;
pub use crate::vat::playback::{ClipCursor, Frames};

/// What all draws of one view share (`shaders/view.wgsl`). Colours are linear light.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct View {
    /// View and projection.
    pub clip_from_world: Mat4,
    /// Their inverse.
    pub world_from_clip: Mat4,
    /// The camera, metres.
    pub eye: Vec3,
    /// All ones, or 0 to play every instance at phase 0.
    pub phase_mask: u32,
    /// Unit vector.
    pub to_sun: Vec3,
    /// Distance at which two thirds have faded, 0 is no haze.
    pub haze_metres: f32,
    /// Light of the sun on a surface that faces it.
    pub sun: Vec3,
    /// Height of the plane, metres.
    pub ground_height: f32,
    /// Light of the sky overhead.
    pub sky: Vec3,
    /// Distance between grid lines.
    pub line_metres: f32,
    /// Light at the horizon.
    pub horizon: Vec3,
    /// 1 draws the plane.
    pub ground_visible: u32,
    /// Albedo of the plane.
    pub ground: Vec3,
    /// 0.
    pub pad_ground: u32,
    /// Albedo of the lines.
    pub ground_line: Vec3,
    /// 0.
    pub pad_line: u32,
}

/// A material (`shaders/draw/vat.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Material {
    /// Linear RGBA.
    pub base_color: Vec4,
    /// 0 to 1.
    pub metallic: f32,
    /// 0 to 1.
    pub roughness: f32,
    /// How much X and Y of the normal map count.
    pub normal_scale: f32,
    /// 0.
    pub pad: u32,
    /// Linear RGB.
    pub emissive: Vec3,
    /// 0.
    pub pad_emissive: u32,
}

/// Bit of a material's textures in `TEXTURES`.
pub const TEXTURE_BASE_COLOR: u32 = 1;
/// Bit of a material's textures.
pub const TEXTURE_METALLIC_ROUGHNESS: u32 = 2;
/// Bit of a material's textures; needs tangents.
pub const TEXTURE_NORMAL: u32 = 4;
/// Bit of a material's textures.
pub const TEXTURE_EMISSIVE: u32 = 8;

/// Where soft texels are and what they mean (`shaders/draw/vat.wgsl`, `shaders/decode.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct SoftTexels {
    /// Where.
    pub grid: Grid,
    /// What.
    pub remap: Remap,
    /// Where the asset's clips begin among those of the view; 0 where there are none.
    pub first_clip: u32,
    /// 0.
    pub pad_x: u32,
    /// 0.
    pub pad_y: u32,
    /// 0.
    pub pad_z: u32,
}

impl SoftTexels {
    pub(super) fn new(animation: &crate::asset::Animation, first_clip: u32) -> Self {
        let (grid, remap) = (animation.grid, animation.remap);
        Self { grid, remap, first_clip, pad_x: 0, pad_y: 0, pad_z: 0 }
    }
}

/// A vertex of the rest mesh (`shaders/decode.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct RestVertex {
    /// Metres.
    pub position: Vec3,
    /// Its column.
    pub element: u32,
    /// Unit length.
    pub normal: Vec3,
    /// 0.
    pub pad: u32,
}

/// A vertex of a decoded pose (`shaders/decode.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct DecodedVertex {
    /// Metres.
    pub position: Vec3,
    /// 0.
    pub pad_position: u32,
    /// Unit length.
    pub normal: Vec3,
    /// 0.
    pub pad_normal: u32,
    /// Unit length; 0 unless rotations are stored.
    pub tangent: Vec3,
    /// 0.
    pub pad_tangent: u32,
}

/// What a parity test asks (`shaders/test/parity.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Question {
    /// A clip at a time.
    pub clip: ClipCursor,
    /// Of an instance; also the first factor of the product.
    pub phase: u32,
    /// Of an instance; its bits are the second factor of the product.
    pub speed: i32,
    /// An arrangement of texels.
    pub grid: Grid,
    /// An element of it.
    pub element: u32,
    /// A frame of it.
    pub frame: u32,
}

/// What a shader answers (`shaders/test/parity.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Answer {
    /// The frames that the instance shows.
    pub frames: Frames,
    /// Texel address, column.
    pub address_x: u32,
    /// Texel address, row.
    pub address_y: u32,
    /// Low word of the product.
    pub product_low: u32,
    /// High word of the product.
    pub product_high: u32,
}

/// Name, size, and name and offset of each field.
pub type Layout = (&'static str, usize, &'static [(&'static str, usize)]);

macro_rules! layouts {
    ($($struct:ident { $($field:ident),* $(,)? })*) => {
        /// Every struct that Rust and WGSL share.
        pub const LAYOUTS: &[Layout] = &[$((
            stringify!($struct),
            size_of::<$struct>(),
            &[$((stringify!($field), std::mem::offset_of!($struct, $field))),*],
        )),*];
    };
}

layouts! {
    View {
        clip_from_world, world_from_clip, eye, phase_mask, to_sun, haze_metres, sun, ground_height, sky,
        line_metres, horizon, ground_visible, ground, pad_ground, ground_line, pad_line,
    }
    Material { base_color, metallic, roughness, normal_scale, pad, emissive, pad_emissive }
    SoftTexels { grid, remap, first_clip, pad_x, pad_y, pad_z }
    Grid { columns, rows_per_frame, frames_per_band, frame_count }
    Remap { lo, pad_lo, hi, pad_hi }
    ClipCursor { first_frame, frame_count, loop_mode, pad, cycles_low, cycles_high }
    Frames { before, a, b, after, weight }
    RestVertex { position, element, normal, pad }
    DecodedVertex { position, pad_position, normal, pad_normal, tangent, pad_tangent }
    Question { clip, phase, speed, grid, element, frame }
    Answer { frames, address_x, address_y, product_low, product_high }
}
