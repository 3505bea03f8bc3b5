//! The binary glTF around the document.

use serde_json::json;
use throng::asset::{Error, glb};

use crate::vat_glb::{PNG, with_json};
use crate::{EXTENSION, error, good};

#[test]
fn other_files_are_not_binary_gltf() {
    for other in [&b""[..], b"glT", PNG, b"{\"asset\":{\"version\":\"2.0\"}}"] {
        assert!(matches!(error(other), Error::NotGlb { .. }), "{other:?}");
        assert!(!glb::sniff(other));
    }
    assert!(matches!(error(&b"glTF\x02\0"[..]), Error::Length { what: "file", found: 6, expected: 12, .. }));
}

#[test]
fn versions_that_are_not_known_are_named() {
    let version = |file: Vec<u8>| match error(file) {
        Error::Version { what, found, known, .. } => (what, found, known),
        other => panic!("{other}"),
    };
    let mut container = good().file();
    container[4] = 1;
    assert_eq!(version(container), ("binary glTF container", "1".to_owned(), 2));
    let gltf = good().set("/asset/version", "1.0").file();
    assert_eq!(version(gltf), ("glTF", "\"1.0\"".to_owned(), 2));
    // A newer file may differ in everything else.
    let mut newer = good().set(&format!("{EXTENSION}/version"), 2);
    newer.json["extensions"]["THRONG_vertex_animation"] = json!({"version": 2, "mode": "unheard of"});
    newer.json["meshes"] = json!("none");
    assert_eq!(version(newer.file()), ("THRONG_vertex_animation", "2".to_owned(), 1));
    let mut none = good();
    none.json["extensions"]["THRONG_vertex_animation"] = json!({});
    assert_eq!(version(none.file()), ("THRONG_vertex_animation", "null".to_owned(), 1));
}

#[test]
fn lengths_of_chunks_are_checked() {
    let what = |file: Vec<u8>| match error(file) {
        Error::Length { what, .. } => what,
        other => panic!("{other}"),
    };
    let file = good().file();
    let json = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
    let changed = |at: usize, value: u32| {
        let mut file = file.clone();
        file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        file
    };
    assert_eq!(what(changed(8, 1)), "file");
    assert_eq!(what([&file[..], &[0]].concat()), "file");
    assert_eq!(what(changed(12, u32::MAX)), "JSON chunk");
    assert_eq!(what(changed(20 + json, u32::MAX)), "binary chunk");
    assert_eq!(what(with_json(&vec![b' '; (32 << 20) + 4], b"")), "JSON chunk");
    for (at, pointer) in [(16, "byte 16"), (24 + json, &format!("byte {}", 24 + json)[..])] {
        match error(changed(at, 0x1234_5678)) {
            Error::Value { pointer: found, .. } => assert_eq!(found, pointer),
            other => panic!("{other}"),
        }
    }
}
