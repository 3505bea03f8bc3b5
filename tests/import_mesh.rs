//! The mesh reader trusts nothing that a glTF file says about itself.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::panic;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use throng::import::{self, Error, Options};
use throng::mesh::Mesh;

/// Two triangles with lookup coordinates, a material, and one picture in the buffer.
fn document() -> (Value, Vec<u8>) {
    let mut bytes = Vec::new();
    for float in [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0] {
        bytes.extend(float.to_le_bytes());
    }
    for float in [0.125_f32, 0.5, 0.375, 0.5, 0.625, 0.5, 0.875, 0.5] {
        bytes.extend(float.to_le_bytes());
    }
    for index in [0_u16, 1, 2, 0, 2, 3] {
        bytes.extend(index.to_le_bytes());
    }
    bytes.extend(b"\x89PNG");
    let document = json!({
        "asset": {"version": "2.0", "generator": "test"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "node", "children": [1], "translation": [0, 0, 1]}, {"scale": [1, 1, 1]}],
        "meshes": [{"name": "sheet", "primitives": [{
            "attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 2, "mode": 4, "material": 0
        }]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC2", "byteOffset": 0},
            {"bufferView": 2, "componentType": 5123, "count": 6, "type": "SCALAR", "normalized": false}
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 48, "target": 34962},
            {"buffer": 0, "byteOffset": 48, "byteLength": 32, "byteStride": 8},
            {"buffer": 0, "byteOffset": 80, "byteLength": 12},
            {"buffer": 0, "byteOffset": 92, "byteLength": 4}
        ],
        "materials": [{"name": "cloth", "doubleSided": true, "alphaMode": "OPAQUE", "pbrMetallicRoughness": {
            "baseColorFactor": [1, 0.5, 0.25, 1], "metallicFactor": 0, "roughnessFactor": 1,
            "baseColorTexture": {"index": 0, "texCoord": 0}
        }}],
        "textures": [{"source": 0, "sampler": 0}],
        "samplers": [{"magFilter": 9729, "wrapS": 10497}],
        "images": [{"bufferView": 3, "mimeType": "image/png"}],
        "buffers": [{"byteLength": bytes.len(), "uri": format!("data:;base64,{}", STANDARD.encode(&bytes))}],
    });
    (document, bytes)
}

fn read(folder: &Path, document: &Value) -> Result<Mesh, Error> {
    let path = folder.join("a.gltf");
    fs::write(&path, document.to_string()).unwrap();
    import::read_mesh(&path, &Options::default())
}

/// JSON pointers of everything in a document.
fn pointers(value: &Value, here: &str, found: &mut Vec<String>) {
    let mut child = |key: &str, value: &Value| {
        let place = format!("{here}/{}", key.replace('~', "~0").replace('/', "~1"));
        found.push(place.clone());
        pointers(value, &place, found);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| child(key, value)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, value)| child(&index.to_string(), value));
        }
        _ => {}
    }
}

fn remove(document: &mut Value, pointer: &str) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(map) => drop(map.remove(&key.replace("~1", "/").replace("~0", "~"))),
        Value::Array(list) => drop(list.remove(key.parse().unwrap())),
        _ => unreachable!("a parent holds children"),
    }
}

#[test]
fn the_document_itself_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = read(folder.path(), &document().0).unwrap();
    assert_eq!((mesh.vertex_count(), mesh.triangle_count()), (4, 2));
}

/// Each field in turn missing, and each value in turn odd.
#[test]
fn no_single_wrong_field_panics() {
    let odd = [
        json!(-1),
        json!(0),
        json!(1),
        json!(3),
        json!(255),
        json!(5121),
        json!(0.5),
        json!(4_294_967_295_u32),
        json!(4_294_967_296_u64),
        json!(u64::MAX),
        json!(9_007_199_254_740_992_u64),
        json!(1e300),
        json!(null),
        json!(""),
        json!("../../etc/passwd"),
        json!([]),
        json!({}),
        json!([0, 0]),
        json!([0, 1, 2]),
    ];
    let whole = document().0;
    let mut places = Vec::new();
    pointers(&whole, "", &mut places);
    let folder = tempfile::tempdir().unwrap();
    let (mut loaded, mut refused, mut panicked) = (0, 0, Vec::new());
    let mut check = |document: &Value, what: &str| match panic::catch_unwind(|| read(folder.path(), document))
    {
        Ok(Ok(mesh)) => {
            loaded += 1;
            assert!(mesh.positions.iter().all(|position| position.is_finite()), "{what}");
            assert!(mesh.indices.iter().all(|index| (*index as usize) < mesh.positions.len()), "{what}");
        }
        Ok(Err(_)) => refused += 1,
        Err(_) => panicked.push(what.to_owned()),
    };
    for place in &places {
        let mut document = whole.clone();
        remove(&mut document, place);
        check(&document, &format!("without {place}"));
        for value in &odd {
            let mut document = whole.clone();
            *document.pointer_mut(place).unwrap() = value.clone();
            check(&document, &format!("{place} = {value}"));
        }
    }
    println!("{refused} refused, {loaded} loaded");
    assert!(panicked.is_empty(), "{panicked:#?}");
    assert!(refused > 500 && loaded > 100, "{refused} refused, {loaded} loaded");
}
