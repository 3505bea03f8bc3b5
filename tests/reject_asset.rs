//! Broken asset files are refused, each with its own error; no byte of a file can make the reader panic.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    unreachable_pub,
    dead_code,
    reason = "a test may panic"
)]

mod vat_glb;

use std::panic;
use std::path::Path;

use bytes::Bytes;
use serde_json::Value;
use throng::asset::{Asset, Compression, Error, glb};
use vat_glb::Shape;

fn whole(compression: Compression) -> Vec<u8> {
    glb::encode(&Shape::default().asset(), compression)
}

fn decode(bytes: Vec<u8>) -> Result<Asset, Error> {
    glb::decode(&Bytes::from(bytes), Path::new("broken.vat.glb"))
}

/// The file with its JSON changed; lengths are put right, the JSON keeps its length.
fn edited(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let bytes = whole(Compression::None);
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    change(&mut json);
    let mut text = serde_json::to_vec(&json).unwrap();
    text.resize(text.len().max(length).next_multiple_of(16) + (length % 16), b' ');
    let binary = &bytes[20 + length..];
    let total = (20 + text.len() + binary.len()) as u32;
    let lengths = [2u32.to_le_bytes(), total.to_le_bytes(), (text.len() as u32).to_le_bytes()].concat();
    [b"glTF", &lengths[..], b"JSON", &text, binary].concat()
}

fn extension(json: &mut Value) -> &mut Value {
    &mut json["extensions"]["THRONG_vertex_animation"]
}

#[test]
fn each_fault_has_its_own_error() {
    assert!(matches!(decode(Vec::new()), Err(Error::NotGlb { .. })));
    assert!(matches!(decode(b"hello, world".to_vec()), Err(Error::NotGlb { .. })));
    let mut bytes = whole(Compression::None);
    bytes[4] = 1;
    assert!(matches!(decode(bytes), Err(Error::Version { .. })));
    let mut bytes = whole(Compression::None);
    bytes[20] = b'?';
    assert!(matches!(decode(bytes), Err(Error::Json { .. })));
    let found = decode(edited(|json| json["extensions"] = serde_json::json!({})));
    assert!(matches!(found, Err(Error::NoExtension { .. })), "{found:?}");
    let found = decode(edited(|json| extension(json)["version"] = 2.into()));
    assert!(matches!(&found, Err(Error::Version { found, known: 1, .. }) if found == "2"), "{found:?}");
    let found = decode(edited(|json| json["asset"]["version"] = "3.0".into()));
    assert!(matches!(found, Err(Error::Version { .. })), "{found:?}");
    let found = decode(edited(|json| json["buffers"][0]["uri"] = "../secret.bin".into()));
    assert!(matches!(&found, Err(Error::Value { pointer, .. }) if pointer == "/buffers/0/uri"), "{found:?}");
    let found = decode(edited(|json| extension(json)["grid"]["columns"] = 4_000_000_000_u64.into()));
    assert!(found.is_err(), "{found:?}");
    let found = decode(edited(|json| extension(json)["grid"]["framesPerBand"] = 0.into()));
    assert!(found.is_err(), "{found:?}");
    let found = decode(edited(|json| extension(json)["clips"][0]["frameCount"] = 0.into()));
    assert!(found.is_err(), "{found:?}");
    let found = decode(edited(|json| extension(json)["clips"][0]["bounds"]["min"][0] = 1e30.into()));
    assert!(found.is_err(), "{found:?}");
    let found = decode(edited(|json| extension(json)["elementCount"] = 1.into()));
    assert!(matches!(found, Err(Error::Invalid { .. })), "{found:?}");
    for pointer in ["/accessors/0/bufferView", "/bufferViews/0/byteOffset", "/accessors/0/count"] {
        let found = decode(edited(|json| *json.pointer_mut(pointer).unwrap() = 4_000_000_000_u64.into()));
        assert!(matches!(found, Err(Error::Value { .. })), "{pointer}: {found:?}");
    }
}

fn position_blob(bytes: &[u8]) -> usize {
    bytes.windows(7).position(|window| window == b"\xabKTX 20").unwrap()
}

#[test]
fn broken_texel_images_are_refused() {
    for (offset, value) in [(0, 0), (12, 1), (20, 77), (40, 3), (44, 9), (80, 0xff), (88, 0xff), (96, 1)] {
        for compression in [Compression::None, Compression::Zstd] {
            let mut bytes = whole(compression);
            let at = position_blob(&bytes) + offset;
            bytes[at] = value;
            let found = decode(bytes);
            assert!(matches!(found, Err(Error::Texels { .. })), "offset {offset}: {found:?}");
        }
    }
    // Compressed data that is no zstandard frame.
    let mut bytes = whole(Compression::Zstd);
    let data = position_blob(&bytes) + 80;
    let data = position_blob(&bytes) + bytes[data] as usize;
    bytes[data..data + 8].fill(0x55);
    assert!(matches!(decode(bytes), Err(Error::Texels { .. })));
}

#[test]
fn every_cut_is_refused_and_no_flipped_byte_panics() {
    for compression in [Compression::None, Compression::Zstd] {
        let bytes = whole(compression);
        for length in 0..bytes.len() {
            assert!(decode(bytes[..length].to_vec()).is_err(), "cut to {length} of {}", bytes.len());
        }
        let (mut refused, mut read) = (0, 0);
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut broken = bytes.clone();
                broken[at] ^= flip;
                match panic::catch_unwind(|| decode(broken).is_ok()) {
                    Ok(true) => read += 1,
                    Ok(false) => refused += 1,
                    Err(_) => panic!("byte {at} ^ {flip:#x} panics"),
                }
            }
        }
        println!("{compression:?}: {} bytes; {refused} refused, {read} read", bytes.len());
        assert!(refused > 500);
    }
}
