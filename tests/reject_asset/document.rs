//! The JSON, and what it points to.

use serde_json::{Value, json};
use throng::asset::{Compression, Error, Invalid, glb};
use throng::vat::Encoding;

use crate::vat_glb::{Chunks, Shape, with_json};
use crate::{EXTENSION, decode, error, field_of_texels, good, patch_words, refused_at};

#[test]
fn faults_of_the_json_have_a_line() {
    let position = |json: &str| match error(with_json(json.as_bytes(), b"")) {
        Error::Json { source, .. } => (source.line(), source.column()),
        other => panic!("{other}"),
    };
    assert_eq!(position("{\n  \"asset\": }"), (2, 12));
    assert_eq!(position("{\"a\":11,"), (1, 8));
    let text = good().json.to_string();
    let typed = text.replacen("\"framesPerBand\":", "\n\"framesPerBand\":-", 1);
    assert_eq!(position(&typed).0, 2, "a wrong type has a line too");
    let twice = text.replacen("\"version\":1", "\"version\":1,\"version\":1", 1);
    assert!(position(&twice).1 > 1);
    assert!(position(&"[".repeat(100_000)).1 > 100);
    assert!(position(&format!("{{\"extras\":{}", "[".repeat(100_000))).1 > 100);
    let nan = text.replacen("\"fps\":", "\"fps\":NaN,\"x\":", 1);
    assert!(position(&nan).1 > 1);
    let infinite = text.replacen("\"fps\":", "\"fps\":1e999,\"x\":", 1);
    assert!(position(&infinite).1 > 1);
}

#[test]
fn ordinary_gltf_lacks_the_extension() {
    let mut chunks = good();
    chunks.json.as_object_mut().unwrap().remove("extensions");
    assert!(matches!(error(chunks.file()), Error::NoExtension { .. }));
    let mut alone = with_json(b"{\"asset\":{\"version\":\"2.0\"}}", b"");
    alone.truncate(alone.len() - 8);
    let length = alone.len() as u32;
    alone[8..12].copy_from_slice(&length.to_le_bytes());
    assert!(matches!(error(alone.clone()), Error::NoExtension { .. }));
    assert!(!glb::sniff(&alone));
}

#[test]
fn keys_of_other_programs_are_tolerated_in_gltf_objects() {
    let mut chunks = good();
    let more = json!({"EXT_other": {"deep": [[[1]]]}});
    for pointer in ["/asset", "/nodes/0", "/meshes/0", "/materials/0", "/accessors/0", "/bufferViews/0"] {
        chunks.json.pointer_mut(pointer).unwrap()["extensions"] = more.clone();
        chunks.json.pointer_mut(pointer).unwrap()["extras"] = json!("anything");
    }
    chunks.json["cameras"] = json!([]);
    assert_eq!(decode(chunks.file()).unwrap(), Shape::default().asset());
}

#[test]
fn nothing_outside_the_file_is_opened() {
    for uri in ["a.bin", "../../secret", "file:///etc/passwd", "data:application/octet-stream;base64,AA=="] {
        let mut chunks = good();
        chunks.json["buffers"][0]["uri"] = json!(uri);
        refused_at(&chunks, "/buffers/0/uri");
    }
}

#[test]
fn ranges_that_leave_the_file_are_refused() {
    for (field, value) in [
        ("/bufferViews/0/byteLength", json!(1 << 20)),
        ("/bufferViews/0/byteOffset", json!(u64::MAX)),
        ("/bufferViews/0/byteLength", json!(u64::MAX)),
        ("/bufferViews/0/buffer", json!(1)),
    ] {
        refused_at(&good().set(field, value), "/bufferViews/0");
    }
    let mut stride = good();
    stride.json["bufferViews"][0]["byteStride"] = json!(16);
    refused_at(&stride, "/bufferViews/0");
    refused_at(&good().set("/buffers/0/byteLength", 1 << 20), "/buffers/0/byteLength");
    refused_at(&good().set("/buffers", json!([])), "/buffers");
    for count in [1 << 20, u64::MAX / 12 + 1, u64::MAX] {
        refused_at(&good().set("/accessors/0/count", count), "/accessors/0/count");
    }
    let mut offset = good();
    offset.json["accessors"][0]["byteOffset"] = json!(u64::MAX - 3);
    refused_at(&offset, "/accessors/0/count");
    for pointer in [
        "/accessors/0/bufferView",
        "/images/0/bufferView",
        "/meshes/0/primitives/0/attributes/POSITION",
        "/meshes/0/primitives/1/indices",
        "/materials/0/pbrMetallicRoughness/baseColorTexture/index",
        "/extensions/THRONG_vertex_animation/positions/bufferView",
        "/extensions/THRONG_vertex_animation/normalTexels/bufferView",
    ] {
        let mut chunks = good().set(pointer, 99);
        if pointer.contains("attributes") {
            chunks = chunks.set("/meshes/0/primitives/1/attributes/POSITION", 99);
        }
        refused_at(&chunks, pointer);
    }
}

#[test]
fn gltf_that_would_be_misread_is_refused() {
    let mut chunks = good();
    chunks.json["accessors"][0]["sparse"] = json!({"count": 1});
    refused_at(&chunks, "/accessors/0/sparse");
    refused_at(&good().set("/accessors/0/type", "VEC4"), "/accessors/0/type");
    refused_at(&good().set("/accessors/0/componentType", 5123), "/accessors/0/componentType");
    let mut strip = good();
    strip.json["meshes"][0]["primitives"][1]["mode"] = json!(5);
    refused_at(&strip, "/meshes/0/primitives/1/mode");
    let mut second = good();
    let texture = "/materials/0/pbrMetallicRoughness/baseColorTexture";
    second.json.pointer_mut(texture).unwrap()["texCoord"] = json!(1);
    refused_at(&second, &format!("{texture}/texCoord"));
    let mut packed = good();
    packed.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    refused_at(&packed, "/extensionsRequired");
    let mut two = good();
    let mesh = two.json["meshes"][0].clone();
    two.json["meshes"].as_array_mut().unwrap().push(mesh);
    assert_eq!(decode(two.file()).unwrap(), Shape::default().asset(), "the first is the asset's");
    refused_at(&good().set("/meshes", json!([])), "/meshes");
    refused_at(&good().set("/meshes/0/primitives", json!([])), "/meshes/0/primitives");
    refused_at(&good().set("/meshes/0/primitives/1/attributes/NORMAL", 0), "/meshes/0/primitives");
}

#[test]
fn levels_of_detail_are_checked_as_the_mesh_is() {
    let with = |lods: Value| {
        let mut chunks = good();
        chunks.json["extensions"]["THRONG_vertex_animation"]["lods"] = lods;
        chunks
    };
    let indices = good().json["meshes"][0]["primitives"][0]["indices"].clone();
    let fine = with(json!([{"deviation": 0.5, "primitives": [{"indices": indices}]}]));
    assert_eq!(decode(fine.file()).unwrap().mesh.lods[0].deviation_metres, 0.5);
    let at = "/extensions/THRONG_vertex_animation/lods/0/primitives/0/indices";
    refused_at(&with(json!([{"deviation": 0, "primitives": [{"indices": 99}]}])), at);
    refused_at(&with(json!([{"deviation": 0, "primitives": [{"indices": 0}]}])), "/accessors/0/type");
    let many = json!([{"deviation": 0, "primitives": vec![json!({"indices": indices}); 20_000]}]);
    match error(with(many).file()) {
        Error::Value { pointer, .. } => assert!(pointer.contains("/lods/0/"), "{pointer}"),
        other => panic!("{other}"),
    }
    for wrong in [
        json!([{"deviation": -1, "primitives": [{"indices": indices}]}]),
        json!([{"deviation": 0, "primitives": []}]),
        json!([{"deviation": 0, "primitives": [{"indices": indices, "material": 77}]}]),
    ] {
        assert!(matches!(error(with(wrong).file()), Error::Invalid { .. }));
    }
}

#[test]
fn many_primitives_on_one_range_cannot_outgrow_the_file() {
    let mut chunks = good();
    let primitive = chunks.json["meshes"][0]["primitives"][0].clone();
    chunks.json["meshes"][0]["primitives"] = Value::Array(vec![primitive; 20_000]);
    match error(chunks.file()) {
        Error::Value { pointer, .. } => assert!(pointer.ends_with("/indices"), "{pointer}"),
        other => panic!("{other}"),
    }
}

#[test]
fn parts_that_do_not_fit_are_invalid() {
    let invalid = |chunks: &Chunks| match error(chunks.file()) {
        Error::Invalid { source, .. } => source,
        other => panic!("{other}"),
    };
    let clip = |field: &str, value: Value| good().set(&format!("{EXTENSION}/clips/0/{field}"), value);
    assert!(matches!(
        invalid(&clip("frameCount", json!(0))),
        Invalid::Value { what: "clip frame count", .. }
    ));
    assert!(matches!(
        invalid(&clip("firstFrame", json!(u32::MAX))),
        Invalid::OutOfRange { what: "clip last frame", .. }
    ));
    assert!(matches!(invalid(&clip("fps", json!(-1.0))), Invalid::Value { what: "clip fps", .. }));
    assert!(matches!(
        invalid(&clip("bounds/min/0", json!(1e30))),
        Invalid::Value { what: "clip bounds", .. }
    ));
    let elements = good().set(&format!("{EXTENSION}/elementCount"), 1);
    assert!(matches!(
        invalid(&elements),
        Invalid::OutOfRange { what: "mesh elements", found: 1.., available: 1 }
    ));
    let elements = good().set(&format!("{EXTENSION}/elementCount"), 1 << 20);
    assert!(matches!(invalid(&elements), Invalid::OutOfRange { what: "element count", .. }));
    let mut less = good();
    let normal = less.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"].clone();
    less.json["accessors"][normal.as_u64().unwrap() as usize]["count"] = json!(1);
    assert!(matches!(invalid(&less), Invalid::Count { what: "mesh normals", found: 1, .. }));
    let material = good().set("/meshes/0/primitives/0/material", 7);
    assert!(matches!(
        invalid(&material),
        Invalid::OutOfRange { what: "mesh primitive material", found: 7, available: 1 }
    ));
    let image = good().set("/textures/0/source", 7);
    assert!(matches!(invalid(&image), Invalid::OutOfRange { what: "material image", found: 7, .. }));
    let image = good().set("/images/0/mimeType", "image/tiff");
    assert!(matches!(invalid(&image), Invalid::Value { what: "image type", .. }));
    let mut not_a_number = good();
    let start = not_a_number.view(&json!(0)).start;
    not_a_number.binary[start..start + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(matches!(invalid(&not_a_number), Invalid::Value { what: "mesh positions", .. }));
}

#[test]
fn numbers_too_large_for_single_floats_are_refused() {
    for field in ["bounds/min/0", "clips/0/bounds/max/1", "range/lo/2"] {
        let result = error(good().set(&format!("{EXTENSION}/{field}"), 1e39).file());
        assert!(matches!(result, Error::Json { .. } | Error::Invalid { .. }), "{field}: {result}");
    }
}

#[test]
fn elements_are_whole_numbers() {
    let chunks = good();
    let element = &chunks.json["meshes"][0]["primitives"][0]["attributes"]["_ELEMENT"];
    let accessor = element.as_u64().unwrap() as usize;
    let start = chunks.view(&chunks.json["accessors"][accessor]["bufferView"]).start;
    for wrong in [0.5, -1.0, f32::NAN, f32::INFINITY, 16_777_216.0] {
        let mut chunks = chunks.clone();
        chunks.binary[start..start + 4].copy_from_slice(&wrong.to_le_bytes());
        refused_at(&chunks, &format!("/accessors/{accessor}"));
    }
}

#[test]
fn the_whole_box_is_the_union_of_the_clips() {
    refused_at(&good().set(&format!("{EXTENSION}/bounds/max/0"), 1e30), &format!("{EXTENSION}/bounds"));
}

#[test]
fn absurd_grids_are_refused() {
    for (field, value) in [
        ("frameCount", 0),
        ("columns", 0),
        ("rowsPerFrame", 0),
        ("framesPerBand", 0),
        ("rowsPerFrame", u32::MAX),
    ] {
        refused_at(&good().set(&format!("{EXTENSION}/grid/{field}"), value), &format!("{EXTENSION}/grid"));
    }
    // More than any file holds, and more than 64 bits hold.
    for side in [1 << 20, u32::MAX] {
        let grid = json!({"columns": side, "rowsPerFrame": side, "framesPerBand": 1, "frameCount": 1});
        let huge = patch_words(good().set(&format!("{EXTENSION}/grid"), grid), 20, &[side, side]);
        field_of_texels(&huge, "width and height");
    }
}

#[test]
fn a_range_belongs_to_the_bounded_encodings() {
    let mut none = good();
    none.json.pointer_mut(EXTENSION).unwrap().as_object_mut().unwrap().remove("range");
    refused_at(&none, &format!("{EXTENSION}/range"));
    let metres = Shape { encoding: Encoding::Float32, ..Shape::default() };
    let mut one = Chunks::of(&metres.asset(), Compression::None);
    one.json.pointer_mut(EXTENSION).unwrap()["range"] = json!({"lo": [0, 0, 0], "hi": [1, 1, 1]});
    refused_at(&one, &format!("{EXTENSION}/range"));
}
