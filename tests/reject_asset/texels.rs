//! The KTX2 images.

use serde_json::json;
use throng::asset::{Compression, Error, Ktx2Error};
use throng::vat::Encoding;

use crate::vat_glb::{Chunks, Shape};
use crate::{EXTENSION, error, field_of_texels, good, good_zstd, patch, patch_words};

#[test]
fn texels_of_another_kind_are_refused() {
    field_of_texels(&patch(good(), 0, b"\xabKTX 11\xbb\r\n\x1a\n"), "identifier");
    // sRGB, and a single float where fixed point should be.
    for format in [43, 97, 109, 0] {
        field_of_texels(&patch_words(good(), 12, &[format]), "vkFormat");
    }
    let sizes = |chunks, at| field_of_texels(&patch_words(chunks, at, &[1 << 30]), "width and height");
    sizes(good(), 20);
    sizes(good(), 24);
    field_of_texels(&patch_words(good(), 28, &[1]), "pixelDepth");
    field_of_texels(&patch_words(good(), 32, &[1]), "layerCount");
    field_of_texels(&patch_words(good(), 36, &[6]), "faceCount");
    field_of_texels(&patch_words(good(), 40, &[2]), "levelCount");
    field_of_texels(&patch_words(good(), 44, &[1]), "supercompressionScheme");
    field_of_texels(&patch(good(), 104 + 14, &[2]), "transfer function");
    field_of_texels(&good().set(&format!("{EXTENSION}/encoding"), "float16-bounded"), "vkFormat");
    // Both sizes are told.
    let wide = good().set(&format!("{EXTENSION}/grid/columns"), 8);
    let message = error(wide.file()).to_string();
    assert!(message.contains("[7, 5]") && message.contains("[8, 5]"), "{message}");
}

#[test]
fn levels_that_leave_their_blob_are_refused() {
    for (at, words) in [(80, [1 << 30, 0]), (80, [u32::MAX; 2]), (88, [u32::MAX; 2]), (48, [1 << 30, 44])] {
        let result = error(patch_words(good(), at, &words).file());
        assert!(matches!(result, Error::Texels { source: Ktx2Error::Truncated { .. }, .. }), "{result}");
    }
    field_of_texels(&patch_words(good(), 96, &[u32::MAX; 2]), "level uncompressed length");
    field_of_texels(&patch_words(good(), 88, &[16, 0]), "level length");
    let mut cut = good();
    let view = cut.json.pointer(&format!("{EXTENSION}/positions/bufferView")).unwrap().as_u64().unwrap();
    cut = cut.set(&format!("/bufferViews/{view}/byteLength"), 100);
    let result = error(cut.file());
    assert!(
        matches!(
            result,
            Error::Texels { source: Ktx2Error::Truncated { what: "header", needed: 104, found: 100 }, .. }
        ),
        "{result}"
    );
}

/// Puts other bytes in the place of the compressed level, which lies at the end of its blob.
fn with_level(mut chunks: Chunks, level: &[u8]) -> Chunks {
    let blob = chunks.ktx2("positions");
    let offset = u64::from_le_bytes(chunks.binary[blob.start + 80..][..8].try_into().unwrap()) as usize;
    let start = blob.start + offset;
    let room = blob.end - start;
    assert!(level.len() <= room, "{} bytes do not fit {room}", level.len());
    chunks.binary[start..start + level.len()].copy_from_slice(level);
    patch_words(chunks, 88, &[level.len() as u32, 0])
}

#[test]
fn damaged_zstandard_data_are_corrupt() {
    let chunks = good_zstd();
    let blob = chunks.ktx2("positions");
    let mut damaged = chunks.clone();
    let end = damaged.binary[blob.clone()].len();
    damaged = patch(damaged, end - 200, &[0xff; 200]);
    let result = error(damaged.file());
    assert!(matches!(result, Error::Texels { source: Ktx2Error::Zstd(_), .. }), "{result}");
    let result = error(with_level(chunks.clone(), b"not zstandard data").file());
    assert!(matches!(result, Error::Texels { source: Ktx2Error::Zstd(_), .. }), "{result}");
    // The right size is claimed, and less is there.
    let needed = 7 * 5 * 8;
    let short = zstd::bulk::compress(&vec![0; needed - 8], 1).unwrap();
    field_of_texels(&with_level(chunks, &short), "zstandard content size");
}

/// A zstandard frame that claims `size` and holds `blocks` runs of 128 KiB of zeros.
fn bomb(size: u64, blocks: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
    frame.extend(size.to_le_bytes());
    for block in 0..blocks {
        let last = u32::from(block + 1 == blocks);
        let header = (128 << 10) << 3 | 1 << 1 | last;
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

#[test]
fn the_bomb_is_a_bomb() {
    let frame = bomb(3 << 17, 3);
    assert_eq!(zstd::stream::decode_all(&frame[..]).unwrap(), vec![0; 3 << 17]);
}

#[test]
fn a_zstandard_bomb_costs_nothing() {
    // It restores to more than the grid says.
    field_of_texels(&with_level(good_zstd(), &bomb(64 << 17, 60)), "zstandard content size");
    let result = error(with_level(good_zstd(), &bomb(7 * 5 * 8, 60)).file());
    assert!(matches!(result, Error::Texels { source: Ktx2Error::Zstd(_), .. }), "{result}");

    // Grid, header and frame agree on 4 GB, for which the data are too short.
    let asset = Shape { encoding: Encoding::Float32, ..Shape::default() }.asset();
    let (width, height) = (16_384u32, 16_383u32);
    let size = u64::from(width) * u64::from(height) * 16;
    let grid = json!({"columns": width, "rowsPerFrame": 1, "framesPerBand": height, "frameCount": height});
    let chunks = Chunks::of(&asset, Compression::Zstd).set(&format!("{EXTENSION}/grid"), grid);
    let chunks = with_level(chunks, &bomb(size, 60));
    let chunks = patch(patch_words(chunks, 20, &[width, height]), 96, &size.to_le_bytes());
    field_of_texels(&chunks, "zstandard data");
}
