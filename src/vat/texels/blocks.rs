//! Blocks of 4 × 4 texels in 16 bytes: BC6H, unsigned.
//!
//! A block interpolates between its endpoints in the bits of half floats, not in their values. Positions are
//! therefore stored as those bits, 0 to 31743 (half 0 to the largest finite half), which makes them linear.

use std::borrow::Cow;

use bcdec_rs::bc6h_half;
use bytes::Bytes;
use glam::UVec2;

use super::{TexelFormat, Texels};

/// Texels on the side of a block.
pub const BLOCK_SIDE: u32 = 4;
/// Bytes of a block.
pub const BLOCK_BYTES: usize = 16;
/// Bits of the largest half that is finite.
pub(in crate::vat) const MOST: u16 = 0x7bff;
/// Bytes of a texel of four halfs.
const TEXEL_BYTES: usize = 8;

/// Texels of four channels of 16 bits, for blocks that fill `size`; alpha is 1 as a half.
pub(super) fn decode_blocks(size: UVec2, blocks: &[u8]) -> Bytes {
    let width = size.x as usize;
    let mut texels = vec![0; width * size.y as usize * TEXEL_BYTES];
    let across = width / BLOCK_SIDE as usize;
    for (index, block) in blocks.chunks_exact(BLOCK_BYTES).enumerate() {
        let mut channels = [0u16; 3 * 16];
        bc6h_half(block, &mut channels, 3 * BLOCK_SIDE as usize, false);
        let (left, top) = (index % across * BLOCK_SIDE as usize, index / across * BLOCK_SIDE as usize);
        for (at, rgb) in channels.as_chunks::<3>().0.iter().enumerate() {
            let (x, y) = (left + at % BLOCK_SIDE as usize, top + at / BLOCK_SIDE as usize);
            let start = (y * width + x) * TEXEL_BYTES;
            let [r, g, b] = rgb.map(u16::to_le_bytes);
            let texel = [r, g, b, 0x3c00u16.to_le_bytes()];
            texels[start..start + TEXEL_BYTES].copy_from_slice(texel.as_flattened());
        }
    }
    texels.into()
}

/// Blocks of texels of four channels of 16 bits; the last row and column are repeated to fill `size`, a
/// multiple of a block's side. `None` where this build has no encoder.
pub fn encode_blocks(size: UVec2, texels: &[u8], texel_size: UVec2) -> Option<Vec<u8>> {
    let mut filled = Vec::with_capacity(size.element_product() as usize * TEXEL_BYTES);
    let row_bytes = texel_size.x as usize * TEXEL_BYTES;
    for y in 0..size.y {
        let row = y.min(texel_size.y - 1) as usize;
        let row = &texels[row * row_bytes..][..row_bytes];
        filled.extend_from_slice(row);
        for _ in texel_size.x..size.x {
            filled.extend_from_slice(&row[row_bytes - TEXEL_BYTES..]);
        }
    }
    compress(size, &filled)
}

#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    any(
        target_os = "macos",
        all(target_os = "linux", target_env = "gnu"),
        all(target_os = "windows", target_env = "msvc")
    )
))]
fn compress(size: UVec2, texels: &[u8]) -> Option<Vec<u8>> {
    use intel_tex_2::{RgbaSurface, bc6h};
    let (width, height) = (size.x, size.y);
    let surface = RgbaSurface { data: texels, width, height, stride: width * 8 };
    Some(bc6h::compress_blocks(&bc6h::very_slow_settings(), &surface))
}

#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    any(
        target_os = "macos",
        all(target_os = "linux", target_env = "gnu"),
        all(target_os = "windows", target_env = "msvc")
    )
)))]
fn compress(_size: UVec2, _texels: &[u8]) -> Option<Vec<u8>> {
    None
}

impl Texels {
    /// The texels one by one: blocks are decoded to four channels of 16 bits, others are as they are.
    pub fn unblocked(&self) -> Cow<'_, Self> {
        match &self.unblocked {
            None => Cow::Borrowed(self),
            Some(texels) => Cow::Owned(Self {
                format: TexelFormat::Rgba16,
                size: self.size,
                data: texels.clone(),
                unblocked: None,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::vat::Encoding;
    use crate::vat::encoding::{Remap, decode_position, encode_positions};

    #[test]
    fn a_smooth_motion_stays_near() {
        let (size, remap) = (UVec2::new(30, 22), Remap::new(Vec3::NEG_ONE, Vec3::ONE));
        let value = |x: u32, y: u32| {
            let (x, y) = (f64::from(x) / 30.0, f64::from(y) / 22.0);
            glam::dvec3((x * 1.5 + y).sin(), (y * 2.0).cos() * 0.8, x - y * 0.9).as_vec3()
        };
        let mut texels = Vec::new();
        let values: Vec<Vec3> = (0..size.y).flat_map(|y| (0..size.x).map(move |x| value(x, y))).collect();
        encode_positions(&values, None, Encoding::Bc6h, remap, &mut texels);
        let full = Encoding::Bc6h.texture_size(size);
        assert_eq!(full, UVec2::new(32, 24));
        let Some(blocks) = encode_blocks(full, &texels, size) else { return };
        assert_eq!(blocks.len(), 32 * 24);
        let texels = Texels::new(TexelFormat::Bc6h, full, blocks).unwrap();
        let (mut worst, mut sum) = (0.0_f32, 0.0);
        for y in 0..size.y {
            for x in 0..size.x {
                let found = decode_position(texels.load(UVec2::new(x, y)), Encoding::Bc6h, remap);
                worst = worst.max(found.distance(value(x, y)));
                sum += found.distance(value(x, y)) / 660.0;
            }
        }
        println!("worst {worst:.5} of 2, mean {sum:.5}");

        // Two directions of change in a block are more than its lines can follow.
        assert!(worst < 0.06 && sum < 0.03 && sum > 0.0, "{worst} {sum}");
    }
}
