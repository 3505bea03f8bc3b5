//! Soft deformation: one texel per moving vertex and frame (Houdini "Soft", OpenVAT standard).
//!
//! ```text
//! position   e0 e1 e2 …      frame 0
//!            e0 e1 e2 …      frame 1        absolute: the position; offset: added to the rest position
//! ```
//!
//! Twin: `shaders/vat/soft.wgsl`.

use glam::{UVec2, Vec3};

use super::encoding::{Remap, decode_position, decode_split};
use super::grid::{Grid, texel_address};
use super::playback::{Frames, blend_position};
use super::{Encoding, FrameBlend, PositionSpace, Texels};

/// Stored position of `element` in one frame, metres.
#[inline]
pub fn soft_stored(
    position: &Texels,
    grid: Grid,
    encoding: Encoding,
    remap: Remap,
    element: u32,
    frame: u32,
) -> Vec3 {
    let at = texel_address(grid, element, frame);
    if encoding == Encoding::Split256 || encoding == Encoding::Split255 {
        let high = position.load(UVec2::new(at.x * 2, at.y));
        let low = position.load(UVec2::new(at.x * 2 + 1, at.y));
        return decode_split(high, low, encoding, remap);
    }
    decode_position(position.load(at), encoding, remap)
}

/// Stored position of `element` between frames, metres.
#[inline]
pub fn soft_blended(
    position: &Texels,
    grid: Grid,
    encoding: Encoding,
    remap: Remap,
    element: u32,
    frames: Frames,
    frame_blend: FrameBlend,
) -> Vec3 {
    let a = soft_stored(position, grid, encoding, remap, element, frames.a);
    if frame_blend == FrameBlend::Step {
        return a;
    }
    let b = soft_stored(position, grid, encoding, remap, element, frames.b);
    if frame_blend == FrameBlend::Linear {
        return blend_position(a, a, b, b, frames.weight, frame_blend);
    }
    let before = soft_stored(position, grid, encoding, remap, element, frames.before);
    let after = soft_stored(position, grid, encoding, remap, element, frames.after);
    blend_position(before, a, b, after, frames.weight, frame_blend)
}

/// Position of a vertex, metres, from its rest position and what its element stores.
#[inline]
pub fn soft_position(rest: Vec3, stored: Vec3, space: PositionSpace) -> Vec3 {
    if space == PositionSpace::Offset {
        return rest + stored;
    }
    stored
}
