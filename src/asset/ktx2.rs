//! Texels ↔ KTX2 (Khronos KTX File Format 2.0): one level, linear, no mipmaps.
//!
//! ```text
//!   0  identifier, header                    80 bytes
//!  80  level index: offset, length, bytes    24 bytes
//! 104  data format descriptor                4 + 24 + 16 per channel
//!      key and value: KTXwriter              padded to 4
//!      texels, at a multiple of 16           little endian, top row first
//! ```

use bytes::Bytes;
use glam::{UVec2, uvec2};

use super::Compression;
use crate::vat::{Encoding, TexelFormat, Texels};

const IDENTIFIER: [u8; 12] = *b"\xabKTX 20\xbb\r\n\x1a\n";
const LEVEL_INDEX: usize = 80;
const DESCRIPTOR: usize = 104;
const ZSTD: u32 = 2;
/// Fixed, so that the same texels give the same bytes.
const ZSTD_LEVEL: i32 = 9;
/// Texels begin at a multiple of this, which suits every format and a mapped upload.
pub(super) const ALIGNMENT: usize = 16;
/// As much as an uncompressed file of this format can hold.
const MAX_TEXEL_BYTES: u64 = u32::MAX as u64;
/// A block of zstandard data restores to at most 128 KiB (RFC 8878, section 3.1.1.2).
const ZSTD_LARGEST_BLOCK: u64 = 128 << 10;
/// Three bytes of header and the byte that is repeated.
const ZSTD_SMALLEST_BLOCK: u64 = 4;
const WRITER: &[u8] = b"KTXwriter\0throng\0";

/// Why KTX2 bytes are not the texels they should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Too short, or a range points past the end.
    #[error("KTX2 {what} needs {needed} bytes, found {found}")]
    Truncated {
        /// The part that is cut.
        what: &'static str,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A field with another value than it must have.
    #[error("KTX2 {what}: found {found}, expected {expected}")]
    Field {
        /// The field.
        what: &'static str,
        /// Its value.
        found: String,
        /// The value it must have.
        expected: String,
    },
    /// The compressed texels cannot be restored.
    #[error("KTX2 zstandard data is corrupt: {0}")]
    Zstd(String),
}

/// How the format of texels is called in Vulkan. Fixed point and floats are told apart, so that other
/// readers of the file see what the numbers mean.
fn vulkan_format(format: TexelFormat, encoding: Option<Encoding>) -> u32 {
    let float = matches!(encoding, Some(Encoding::Float16 | Encoding::Float16Bounded | Encoding::Float32));
    match (format, float) {
        (TexelFormat::Rg8, _) => 16,
        (TexelFormat::Rgba8, _) => 37,
        (TexelFormat::Rg16, _) => 77,
        (TexelFormat::Rgba16, false) => 91,
        (TexelFormat::Rgba16, true) => 97,
        (TexelFormat::Rgba32, _) => 109,
        (TexelFormat::Bc6h, _) => 143,
    }
}

/// Basic data format descriptor (Khronos Data Format Specification 1.3, section 5).
fn descriptor(format: TexelFormat, float: bool) -> Vec<u8> {
    if format == TexelFormat::Bc6h {
        return block_descriptor();
    }
    let channels = format.channels();
    let bits = format.channel_bytes() * 8;
    let block = 24 + 16 * channels;
    let mut words = vec![
        4 + block,
        0,                    // vendor Khronos, basic descriptor
        2 | block << 16,      // version 1.3, size
        1 | 1 << 8 | 1 << 16, // RGBSDA, BT.709 primaries, linear transfer, straight alpha
        0,                    // texel block 1×1×1×1
        format.bytes(),       // bytes in plane 0
        0,
    ];
    for channel in 0..channels {
        let id = [0, 1, 2, 15][channel as usize];
        let qualifiers: u32 = if float { 0xc0 } else { 0 };
        words.push((channel * bits) | (bits - 1) << 16 | (id | qualifiers) << 24);
        words.push(0);
        let (lower, upper) = match (float, bits) {
            (true, _) => ((-1.0f32).to_bits(), 1.0f32.to_bits()),
            (false, 8) => (0, 0xff),
            (false, _) => (0, 0xffff),
        };
        words.push(lower);
        words.push(upper);
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// That of unsigned BC6H: one sample for the whole block.
fn block_descriptor() -> Vec<u8> {
    let block = 24 + 16;
    let words: [u32; 11] = [
        4 + block,
        0,
        2 | block << 16,
        133 | 1 << 8 | 1 << 16, // BC6H, BT.709 primaries, linear transfer
        3 | 3 << 8,             // texel block 4×4×1×1
        16,                     // bytes in plane 0
        0,
        127 << 16 | 0x80 << 24, // 128 bits of floats without a sign
        0,
        0f32.to_bits(),
        1f32.to_bits(),
    ];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// What the header says of a channel's bytes; 1 for blocks.
fn type_size(format: TexelFormat) -> u32 {
    if format == TexelFormat::Bc6h { 1 } else { format.channel_bytes() }
}

/// KTX2 bytes of `texels`; `encoding` is that of a position texture, `None` for normals.
/// In two pieces, so that texels are not copied: what comes before them, and they.
pub(super) fn encode(texels: &Texels, encoding: Option<Encoding>, compression: Compression) -> [Bytes; 2] {
    let vulkan = vulkan_format(texels.format(), encoding);
    let descriptor = descriptor(texels.format(), matches!(vulkan, 97 | 109));
    let mut key_value: Vec<u8> = [&u32::try_from(WRITER.len()).unwrap_or(0).to_le_bytes(), WRITER].concat();
    key_value.resize(key_value.len().next_multiple_of(4), 0);
    let key_value_offset = DESCRIPTOR + descriptor.len();
    let data_offset = (key_value_offset + key_value.len()).next_multiple_of(ALIGNMENT);
    let packed = match compression {
        Compression::None => None,
        // Without the memory for it the texels stay as they are, which is a valid file too.
        Compression::Zstd => compress(texels.data()).ok(),
    };
    let (scheme, data) = match packed {
        None => (0, texels.data().clone()),
        Some(packed) => (ZSTD, Bytes::from(packed)),
    };
    let size = texels.size();
    #[expect(clippy::cast_possible_truncation, reason = "offsets within the first kilobyte")]
    let [descriptor_at, key_value_at] = [DESCRIPTOR as u32, key_value_offset as u32];
    #[expect(clippy::cast_possible_truncation, reason = "lengths within the first kilobyte")]
    let [descriptor_length, key_value_length] = [descriptor.len() as u32, key_value.len() as u32];
    let mut bytes = Vec::with_capacity(data_offset);
    bytes.extend_from_slice(&IDENTIFIER);
    let header = [vulkan, type_size(texels.format()), size.x, size.y, 0, 0, 1, 1, scheme];
    let index = [descriptor_at, descriptor_length, key_value_at, key_value_length];
    bytes.extend(header.iter().chain(&index).flat_map(|word| word.to_le_bytes()));
    bytes.extend_from_slice(&[0; 16]);
    for number in [data_offset, data.len(), texels.data().len()] {
        bytes.extend_from_slice(&(number as u64).to_le_bytes());
    }
    bytes.extend_from_slice(&descriptor);
    bytes.extend_from_slice(&key_value);
    bytes.resize(data_offset, 0);
    [bytes.into(), data]
}

/// With a checksum, so that damage is noticed.
fn compress(data: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
    compressor.include_checksum(true)?;
    compressor.compress(data)
}

/// The texels in KTX2 `bytes`, which must have this format and size. Uncompressed texels are a slice
/// of `bytes`; compressed ones are restored into exactly the room that the size needs.
pub(super) fn decode(
    bytes: &Bytes,
    format: TexelFormat,
    encoding: Option<Encoding>,
    size: UVec2,
) -> Result<Texels, Error> {
    let found = bytes.len() as u64;
    if bytes.len() < DESCRIPTOR {
        return Err(Error::Truncated { what: "header", needed: DESCRIPTOR as u64, found });
    }
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    let field = |what, found: &dyn std::fmt::Debug, expected: &dyn std::fmt::Debug| Error::Field {
        what,
        found: format!("{found:?}"),
        expected: format!("{expected:?}"),
    };
    if bytes[..12] != IDENTIFIER {
        return Err(field("identifier", &&bytes[..12], &IDENTIFIER));
    }
    let stored = uvec2(word(20), word(24));
    if stored != size {
        return Err(field("width and height", &stored.to_array(), &size.to_array()));
    }
    let expected = [
        ("vkFormat", 12, vulkan_format(format, encoding)),
        ("typeSize", 16, type_size(format)),
        ("pixelDepth", 28, 0),
        ("layerCount", 32, 0),
        ("faceCount", 36, 1),
        ("levelCount", 40, 1),
        ("supercompressionGlobalData length", 72, 0),
    ];
    for (what, at, value) in expected {
        if word(at) != value {
            return Err(field(what, &word(at), &value));
        }
    }
    let scheme = word(44);
    let (offset, length, restored) = (long(LEVEL_INDEX), long(LEVEL_INDEX + 8), long(LEVEL_INDEX + 16));
    check_transfer(bytes, u64::from(word(48)), u64::from(word(52)))?;
    let needed = format
        .picture_bytes(size) // Blocks take more once they are decoded.
        .filter(|needed| (*needed).max(decoded_bytes(format, size)) <= MAX_TEXEL_BYTES)
        .ok_or_else(|| {
            let limit = format!("at most {MAX_TEXEL_BYTES} bytes of texels");
            field("width and height", &size.to_array(), &limit)
        })?;
    if restored != needed {
        return Err(field("level uncompressed length", &restored, &needed));
    }
    let level = range(bytes, "level", offset, length)?;
    let data = match scheme {
        0 => level,
        ZSTD => Bytes::from(decompress(&level, needed)?),
        other => {
            return Err(field("supercompressionScheme", &other, &"0 (none) or 2 (zstandard)"));
        }
    };
    let bytes = data.len();
    Texels::new(format, size, data).ok_or_else(|| field("level length", &bytes, &needed))
}

fn decoded_bytes(format: TexelFormat, size: UVec2) -> u64 {
    (u64::from(size.x) * u64::from(size.y)).saturating_mul(u64::from(format.bytes()))
}

fn range(bytes: &Bytes, what: &'static str, offset: u64, length: u64) -> Result<Bytes, Error> {
    let found = bytes.len() as u64;
    let needed = offset.saturating_add(length);
    match (usize::try_from(offset), usize::try_from(needed)) {
        (Ok(from), Ok(to)) if needed <= found => Ok(bytes.slice(from..to)),
        _ => Err(Error::Truncated { what, needed, found }),
    }
}

/// Texels are numbers: a descriptor that calls them sRGB would make other readers bend them.
fn check_transfer(bytes: &Bytes, offset: u64, length: u64) -> Result<(), Error> {
    let descriptor = range(bytes, "data format descriptor", offset, length)?;
    match descriptor.get(14) {
        Some(1) => Ok(()),
        found => Err(Error::Field {
            what: "transfer function",
            found: format!("{found:?}"),
            expected: "1 (linear)".to_owned(),
        }),
    }
}

/// Exactly `needed` bytes. What cannot be true is refused before memory is taken for it.
fn decompress(packed: &[u8], needed: u64) -> Result<Vec<u8>, Error> {
    let refused = |what, found: String| Error::Field { what, found, expected: needed.to_string() };
    match zstd::zstd_safe::get_frame_content_size(packed) {
        Ok(Some(said)) if said == needed => {}
        Ok(Some(said)) => return Err(refused("zstandard content size", said.to_string())),
        Ok(None) => return Err(refused("zstandard content size", "none".to_owned())),
        Err(error) => return Err(Error::Zstd(error.to_string())),
    }
    let most = (packed.len() as u64 / ZSTD_SMALLEST_BLOCK + 1) * ZSTD_LARGEST_BLOCK;
    if needed > most {
        return Err(refused("zstandard data", format!("{} bytes, which hold at most {most}", packed.len())));
    }
    let corrupt = |error: &dyn std::fmt::Display| Error::Zstd(error.to_string());
    let room = usize::try_from(needed).map_err(|error| corrupt(&error))?;
    let mut data = Vec::new();
    data.try_reserve_exact(room).map_err(|error| corrupt(&error))?;
    zstd::bulk::Decompressor::new()
        .and_then(|mut decompressor| decompressor.decompress_to_buffer(packed, &mut data))
        .map_err(|error| corrupt(&error))?;
    Ok(data)
}
