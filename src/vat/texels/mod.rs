use bytes::Bytes;
use glam::{UVec2, UVec4};

use blocks::{BLOCK_BYTES, BLOCK_SIDE, decode_blocks};

pub mod blocks;

/// Unsigned integer texels, as shaders read them. Fixed point and floats are decoded from these
/// bits in [`super::encoding`], so that filtering and sRGB conversion cannot touch them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TexelFormat {
    /// Two channels of 8 bits.
    Rg8,
    /// Two channels of 16 bits.
    Rg16,
    /// Four channels of 8 bits.
    Rgba8,
    /// Four channels of 16 bits.
    Rgba16,
    /// Four channels of 32 bits.
    Rgba32,
    /// Blocks of 4 × 4 texels in 16 bytes ([`blocks`]); each texel is read as four channels of 16
    /// bits.
    Bc6h,
}

impl TexelFormat {
    /// Channels per texel.
    pub fn channels(self) -> u32 {
        match self {
            Self::Rg8 | Self::Rg16 => 2,
            Self::Rgba8 | Self::Rgba16 | Self::Rgba32 | Self::Bc6h => 4,
        }
    }

    /// Bytes per channel.
    pub fn channel_bytes(self) -> u32 {
        match self {
            Self::Rg8 | Self::Rgba8 => 1,
            Self::Rg16 | Self::Rgba16 | Self::Bc6h => 2,
            Self::Rgba32 => 4,
        }
    }

    /// Bytes per texel; of blocks, per texel that is read.
    pub fn bytes(self) -> u32 {
        self.channels() * self.channel_bytes()
    }

    /// Bytes of a picture; `None` where they cannot be counted, or blocks do not fill it.
    pub fn picture_bytes(self, size: UVec2) -> Option<u64> {
        let texels = u64::from(size.x).checked_mul(u64::from(size.y))?;
        match self {
            Self::Bc6h => {
                let whole = size % BLOCK_SIDE == UVec2::ZERO;
                whole.then_some(texels / u64::from(BLOCK_SIDE * BLOCK_SIDE) * BLOCK_BYTES as u64)
            }
            _ => texels.checked_mul(u64::from(self.bytes())),
        }
    }
}

/// A picture of integer texels: rows from the top, little-endian channels, no padding.
#[derive(Clone, PartialEq, Eq)]
pub struct Texels {
    format: TexelFormat,
    size: UVec2,
    data: Bytes,
    /// What blocks decode to.
    unblocked: Option<Bytes>,
}

impl Texels {
    /// Wraps `data`, which may be borrowed from a mapped file.
    ///
    /// Returns `None` unless `data` is exactly `size.x * size.y` texels and not empty. Blocks are decoded.
    pub fn new(format: TexelFormat, size: UVec2, data: impl Into<Bytes>) -> Option<Self> {
        let data = data.into();
        let bytes = format.picture_bytes(size)?;
        if bytes == 0 || bytes != data.len() as u64 {
            return None;
        }
        let unblocked = (format == TexelFormat::Bc6h).then(|| decode_blocks(size, &data));
        Some(Self { format, size, data, unblocked })
    }

    /// Layout of a texel.
    pub fn format(&self) -> TexelFormat {
        self.format
    }

    /// Width and height in texels.
    pub fn size(&self) -> UVec2 {
        self.size
    }

    /// All bytes, top row first; of blocks, the blocks.
    pub fn data(&self) -> &Bytes {
        &self.data
    }

    /// What `textureLoad` returns for a texture of unsigned integers: missing channels are 0, 0, 1.
    ///
    /// # Panics
    /// If `at` is outside the picture.
    #[inline]
    pub fn load(&self, at: UVec2) -> UVec4 {
        assert!(at.cmplt(self.size).all(), "texel {at} is outside {}", self.size);
        let texel_bytes = self.format.bytes() as usize;
        let start = (at.y as usize * self.size.x as usize + at.x as usize) * texel_bytes;
        let texel = &self.unblocked.as_ref().unwrap_or(&self.data)[start..start + texel_bytes];
        let mut channels = [0, 0, 0, 1];
        match self.format.channel_bytes() {
            1 => {
                for (channel, byte) in channels.iter_mut().zip(texel) {
                    *channel = u32::from(*byte);
                }
            }
            2 => {
                for (channel, bytes) in channels.iter_mut().zip(texel.as_chunks().0) {
                    *channel = u32::from(u16::from_le_bytes(*bytes));
                }
            }
            _ => {
                for (channel, bytes) in channels.iter_mut().zip(texel.as_chunks().0) {
                    *channel = u32::from_le_bytes(*bytes);
                }
            }
        }
        UVec4::from(channels)
    }
}

impl std::fmt::Debug for Texels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Texels({:?}, {}x{})", self.format, self.size.x, self.size.y)
    }
}
