//! Value ↔ texel.
//!
//! ```text
//! unorm8            R8  G8  B8  A8     value = lo + texel/255 · (hi - lo), per axis
//! unorm16           R16 G16 B16 A16    value = lo + texel/65535 · (hi - lo)
//! float16           R16 G16 B16 A16    value = half float, metres
//! float16-bounded   R16 G16 B16 A16    value = lo + half float · (hi - lo)
//! float32           R32 G32 B32 A32    value = single float, metres
//! split256          R8 … A8, R8 … A8   value = lo + (256 high + low)/65535 · (hi - lo)
//! split255          R8 … A8, R8 … A8   value = lo + (high/255 + low/65025) · (hi - lo)
//! bc6h              R16 G16 B16        value = lo + bits of the half/31743 · (hi - lo)
//! ```
//!
//! The two texels of a split value stand side by side, the high one first. Alpha holds a normal
//! ([`super::normals`]), or is written as 1 and not read. `hi` may be below `lo`: that axis is mirrored, as happens
//! when a foreign file's axis is turned round without touching its texels. An axis without range
//! (`hi == lo`) decodes to `lo` whatever the texel.
//!
//! Twin: `shaders/vat/encoding.wgsl`.

use glam::{UVec2, UVec4, Vec3, Vec4};
use half::f16;

use super::blocks::{BLOCK_SIDE, MOST};
use super::{Encoding, TexelFormat};
use crate::bounds::Bounds;

/// The values that texel 0 and texel 1 stand for, per axis, metres.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Remap {
    /// Value of texel 0.
    pub lo: Vec3,
    /// Makes the layout that of WGSL; 0.
    pub pad_lo: u32,
    /// Value of texel 1.
    pub hi: Vec3,
    /// Makes the layout that of WGSL; 0.
    pub pad_hi: u32,
}

impl Remap {
    /// Texels are metres.
    pub const METRES: Self = Self::new(Vec3::ZERO, Vec3::ONE);

    /// Texel 0 is `lo`, texel 1 is `hi`.
    pub const fn new(lo: Vec3, hi: Vec3) -> Self {
        Self { lo, pad_lo: 0, hi, pad_hi: 0 }
    }

    /// The tightest mapping for values inside `bounds`.
    pub const fn spanning(bounds: Bounds) -> Self {
        Self::new(bounds.min, bounds.max)
    }

    /// Lengths of the mapped axes, metres, not negative.
    pub fn range(self) -> Vec3 {
        (self.hi - self.lo).abs()
    }
}

/// Channels of a texel as numbers: fixed point in 0..1, floats as they are.
#[inline]
pub fn decode_texel(texel: UVec4, encoding: Encoding) -> Vec4 {
    match encoding {
        Encoding::Unorm8 | Encoding::Split256 | Encoding::Split255 => texel.as_vec4() / 255.0,
        Encoding::Unorm16 => texel.as_vec4() / 65535.0,
        Encoding::Bc6h => texel.as_vec4() / 31743.0,
        Encoding::Float16 | Encoding::Float16Bounded => {
            Vec4::from(texel.to_array().map(|bits| f16::from_bits((bits & 0xffff) as u16).to_f32()))
        }
        Encoding::Float32 => Vec4::from(texel.to_array().map(f32::from_bits)),
    }
}

/// Position of a texel, metres: the bounded encodings are mapped, the others are metres already.
#[inline]
pub fn decode_position(texel: UVec4, encoding: Encoding, remap: Remap) -> Vec3 {
    let value = decode_texel(texel, encoding).truncate();
    if encoding.is_bounded() {
        return remap.lo + value * (remap.hi - remap.lo);
    }
    value
}

/// Position of two texels of 8 bits, metres.
#[inline]
pub fn decode_split(high: UVec4, low: UVec4, encoding: Encoding, remap: Remap) -> Vec3 {
    let (high, low) = (high.truncate(), low.truncate());
    let value = if encoding == Encoding::Split256 {
        (high * 256 + low).as_vec3() / 65535.0
    } else {
        (high * 255 + low).as_vec3() / 65025.0
    };
    remap.lo + value * (remap.hi - remap.lo)
}

/// Appends the texel or texels of `value` to `bytes`, rounded to nearest; values outside the mapping are
/// clamped to it in the fixed-point encodings.
pub fn encode_position(value: Vec3, encoding: Encoding, remap: Remap, bytes: &mut Vec<u8>) {
    encode_positions(&[value], None, encoding, remap, bytes);
}

/// Appends the texels of many values; those of `bc6h` before they become blocks. With `alphas` in the alpha where they are given
/// ([`super::normals::encode_alpha`]), else 1.
///
/// # Panics
/// If there are fewer alphas than values.
pub fn encode_positions(
    values: &[Vec3],
    alphas: Option<&[u32]>,
    encoding: Encoding,
    remap: Remap,
    bytes: &mut Vec<u8>,
) {
    let start = bytes.len();
    let size = encoding.element_bytes();
    bytes.resize(start + values.len() * size, 0);
    let elements = &mut bytes[start..];
    let half = |value: f32| f16::from_f32(value).to_bits();
    match encoding {
        Encoding::Unorm8 => {
            let fixed = Fixed::new(remap, 255);
            for (texel, value) in elements.as_chunks_mut::<4>().0.iter_mut().zip(values) {
                let [x, y, z] = fixed.encode(*value).map(|channel| channel.to_le_bytes()[0]);
                *texel = [x, y, z, u8::MAX];
            }
        }
        Encoding::Unorm16 | Encoding::Bc6h => {
            let fixed = Fixed::new(remap, if encoding == Encoding::Bc6h { MOST } else { 65535 });
            for (texel, value) in elements.as_chunks_mut::<8>().0.iter_mut().zip(values) {
                let [x, y, z] = fixed.encode(*value);
                *texel =
                    (u64::from(x) | u64::from(y) << 16 | u64::from(z) << 32 | 0xffff << 48).to_le_bytes();
            }
        }
        Encoding::Float16 | Encoding::Float16Bounded => {
            for (texel, value) in elements.as_chunks_mut::<8>().0.iter_mut().zip(values) {
                let value = if encoding.is_bounded() { encode_fraction(*value, remap) } else { *value };
                let channels = value.extend(1.0).to_array().map(half);
                *texel = bytemuck::cast(channels.map(u16::to_le_bytes));
            }
        }
        Encoding::Float32 => {
            for (texel, value) in elements.as_chunks_mut::<16>().0.iter_mut().zip(values) {
                *texel = bytemuck::cast(value.extend(1.0).to_array().map(f32::to_le_bytes));
            }
        }
        Encoding::Split256 | Encoding::Split255 => {
            let (base, most) = if encoding == Encoding::Split256 { (256, 65535) } else { (255, 65025) };
            let fixed = Fixed::new(remap, most);
            for (texels, value) in elements.as_chunks_mut::<8>().0.iter_mut().zip(values) {
                for (axis, whole) in fixed.encode(*value).into_iter().enumerate() {
                    let high = (whole / base).min(255);
                    let low = whole - high * base;
                    (texels[axis], texels[axis + 4]) = (high.to_le_bytes()[0], low.to_le_bytes()[0]);
                }
                (texels[3], texels[7]) = (u8::MAX, u8::MAX);
            }
        }
    }
    let Some(alphas) = alphas else { return };
    for (element, alpha) in bytes[start..].chunks_exact_mut(size).zip(alphas) {
        let alpha = alpha.to_le_bytes();
        match encoding {
            // Half of the bits in each texel.
            Encoding::Split256 | Encoding::Split255 => (element[3], element[7]) = (alpha[0], alpha[1]),
            _ => element[size * 3 / 4..].copy_from_slice(&alpha[..size / 4]),
        }
    }
}

/// Fixed point across a mapping.
struct Fixed {
    lo: Vec3,
    scale: Vec3,
    most: f32,
}

impl Fixed {
    /// 0 is `lo`, `most` is `hi`; an axis without range is 0.
    fn new(remap: Remap, most: u16) -> Self {
        let range = remap.hi - remap.lo;
        let most = f32::from(most);
        let scale = Vec3::select(range.cmpeq(Vec3::ZERO), Vec3::ZERO, Vec3::splat(most) / range);
        Self { lo: remap.lo, scale, most }
    }

    /// Rounded to nearest.
    #[inline(always)]
    fn encode(&self, value: Vec3) -> [u32; 3] {
        let whole = (value - self.lo) * self.scale + 0.5;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to most after the clamp"
        )]
        whole.to_array().map(|channel| channel.clamp(0.0, self.most) as i32 as u32)
    }
}

/// Where `value` lies between `lo` (0) and `hi` (1), per axis; 0 on an axis without range.
fn encode_fraction(value: Vec3, remap: Remap) -> Vec3 {
    let range = remap.hi - remap.lo;
    let fraction = (value - remap.lo) / range;
    Vec3::select(range.cmpeq(Vec3::ZERO), Vec3::ZERO, fraction)
}

impl Encoding {
    /// Texels are fractions of a [`Remap`].
    pub fn is_bounded(self) -> bool {
        match self {
            Self::Unorm8
            | Self::Unorm16
            | Self::Float16Bounded
            | Self::Split256
            | Self::Split255
            | Self::Bc6h => true,
            Self::Float16 | Self::Float32 => false,
        }
    }

    /// Layout of a texel.
    pub fn texel_format(self) -> TexelFormat {
        match self {
            Self::Unorm8 | Self::Split256 | Self::Split255 => TexelFormat::Rgba8,
            Self::Unorm16 | Self::Float16 | Self::Float16Bounded => TexelFormat::Rgba16,
            Self::Float32 => TexelFormat::Rgba32,
            Self::Bc6h => TexelFormat::Bc6h,
        }
    }

    /// Texels side by side that store one position.
    pub fn texels_per_element(self) -> u32 {
        match self {
            Self::Split256 | Self::Split255 => 2,
            _ => 1,
        }
    }

    /// Whether texels have an alpha.
    pub fn has_alpha(self) -> bool {
        self != Self::Bc6h
    }

    /// Bytes that store one position; of blocks, before they become blocks.
    pub fn element_bytes(self) -> usize {
        (self.texel_format().bytes() * self.texels_per_element()) as usize
    }

    /// Size of the texture for a grid of this size.
    pub fn texture_size(self, grid: UVec2) -> UVec2 {
        if self == Self::Bc6h {
            return grid.map(|side| side.checked_next_multiple_of(BLOCK_SIDE).unwrap_or(side));
        }
        UVec2::new(grid.x.saturating_mul(self.texels_per_element()), grid.y)
    }

    /// Largest side of a grid whose texture has no side above `max_size`.
    pub fn max_grid_size(self, max_size: u32) -> u32 {
        if self == Self::Bc6h {
            return max_size / BLOCK_SIDE * BLOCK_SIDE;
        }
        max_size / self.texels_per_element()
    }

    /// Largest difference between a value and its decoded texel on each axis, metres: half a step
    /// of the format, plus what single floats lose on the way. Of blocks the whole range, because what is
    /// lost depends on what a block holds.
    ///
    /// `remap` is the mapping in use, `values` the box of the values themselves.
    pub fn max_error(self, remap: Remap, values: Bounds) -> Vec3 {
        let largest = values.min.abs().max(values.max.abs());
        let step = match self {
            Self::Unorm8 => remap.range() / 510.0,
            Self::Unorm16 | Self::Split256 => remap.range() / 131_070.0,
            Self::Split255 => remap.range() / 130_050.0,
            Self::Float16 => (largest / 2048.0).max(Vec3::splat(2f32.powi(-25))),
            Self::Float16Bounded => remap.range() / 4096.0,
            Self::Float32 => return Vec3::ZERO,
            Self::Bc6h => remap.range(),
        };
        step + (largest + remap.range()) * (4.0 * f32::EPSILON)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vat::Texels;
    use glam::vec3;

    fn round_trip(value: Vec3, encoding: Encoding, remap: Remap) -> Vec3 {
        let mut bytes = Vec::new();
        encode_position(value, encoding, remap, &mut bytes);
        // Blocks have a test of their own.
        let (format, size) = match encoding {
            Encoding::Bc6h => (TexelFormat::Rgba16, UVec2::ONE),
            _ => (encoding.texel_format(), encoding.texture_size(UVec2::ONE)),
        };
        let texels = Texels::new(format, size, bytes).unwrap();
        if encoding.texels_per_element() == 2 {
            return decode_split(texels.load(UVec2::ZERO), texels.load(UVec2::X), encoding, remap);
        }
        decode_position(texels.load(UVec2::ZERO), encoding, remap)
    }

    proptest! {
        #[test]
        fn round_trip_stays_within_the_stated_error(
            a in prop::array::uniform3(-1000f32..1000.0),
            b in prop::array::uniform3(-1000f32..1000.0),
            t in prop::array::uniform3(0f32..=1.0),
            mirrored: bool,
        ) {
            let (a, b, t) = (Vec3::from(a), Vec3::from(b), Vec3::from(t));
            let bounds = Bounds { min: a.min(b), max: a.max(b) };
            let value = (a + t * (b - a)).clamp(bounds.min, bounds.max);
            let remap = if mirrored { Remap::new(bounds.max, bounds.min) } else { Remap::spanning(bounds) };
            for encoding in Encoding::ALL {
                let error = (round_trip(value, *encoding, remap) - value).abs();
                let allowed = encoding.max_error(remap, bounds);
                prop_assert!(error.cmple(allowed).all(), "{encoding}: {error} > {allowed}");
            }
        }
    }

    #[test]
    fn stated_error_is_reached_and_not_padded() {
        let remap = Remap::new(Vec3::ZERO, Vec3::ONE);
        let bounds = Bounds { min: Vec3::ZERO, max: Vec3::ONE };
        for (encoding, stated) in [
            (Encoding::Unorm8, 1.0 / 510.0),
            (Encoding::Unorm16, 1.0 / 131_070.0),
            (Encoding::Float16, 1.0 / 2048.0),
            (Encoding::Float16Bounded, 1.0 / 4096.0),
            (Encoding::Split256, 1.0 / 131_070.0),
            (Encoding::Split255, 1.0 / 130_050.0),
        ] {
            let worst = (0..=100_000u32)
                .map(|i| i as f32 / 100_000.0)
                .map(|x| (round_trip(Vec3::splat(x), encoding, remap).x - x).abs())
                .fold(0.0, f32::max);
            println!("{encoding}: worst {worst:.3e}, stated {stated:.3e} of the bounds");
            assert!(worst <= encoding.max_error(remap, bounds).x);
            assert!(worst > 0.4 * stated, "{encoding}: the stated error is far from the real one");
        }
        assert_eq!(round_trip(Vec3::splat(0.1), Encoding::Float32, remap), Vec3::splat(0.1));
    }

    #[test]
    fn a_split_value_read_with_the_other_base_is_off() {
        let remap = Remap::new(Vec3::ZERO, Vec3::ONE);
        let mut bytes = Vec::new();
        encode_position(Vec3::splat(0.7), Encoding::Split256, remap, &mut bytes);
        let texels = Texels::new(TexelFormat::Rgba8, UVec2::new(2, 1), bytes).unwrap();
        let (high, low) = (texels.load(UVec2::ZERO), texels.load(UVec2::X));
        let wrong = decode_split(high, low, Encoding::Split255, remap);
        assert!((wrong.x - 0.7).abs() > 1e-4, "{wrong}");
    }

    #[test]
    fn axis_without_range_decodes_to_its_value() {
        let remap = Remap::new(vec3(3.5, 0.0, -1.0), vec3(3.5, 2.0, 1.0));
        for encoding in [Encoding::Unorm8, Encoding::Unorm16, Encoding::Float16Bounded] {
            let value = round_trip(vec3(3.5, 2.0, 0.0), encoding, remap);
            assert_eq!(value.x, 3.5, "{encoding}");
            assert!(value.is_finite());
        }
    }
}
