//! Models made here: compressed views, mended weights, and faults that are refused with their place.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

use std::fs;

use serde_json::{Value, json};
use throng::import::{self, Error};
use throng::source::Model;

/// A ribbon of quads, on two joints that bend it, as glTF: the document and its views.
struct Made {
    document: Value,
    views: Vec<Vec<u8>>,
}

const STEPS: usize = 20;

fn bytes(floats: impl IntoIterator<Item = f32>) -> Vec<u8> {
    floats.into_iter().flat_map(f32::to_le_bytes).collect()
}

impl Made {
    fn new() -> Self {
        let vertices = 2 * STEPS;
        let corners = (0..STEPS).flat_map(|step| [(0.0, step as f32 * 0.1), (0.3, step as f32 * 0.1)]);
        let positions = bytes(corners.flat_map(|(x, y)| [x, y, 0.0]));
        let normals = bytes((0..vertices).flat_map(|_| [0.0, 0.0, 1.0]));
        let joints: Vec<u8> = (0..vertices).flat_map(|_| [0, 1, 0, 0]).collect();
        let weights = bytes((0..vertices).flat_map(|vertex| {
            let part = vertex as f32 / vertices as f32;
            [1.0 - part, part, 0.0, 0.0]
        }));
        let quads = (0..STEPS as u16 - 1).map(|step| step * 2);
        let indices: Vec<u8> = quads
            .flat_map(|at| [at, at + 1, at + 2, at + 1, at + 3, at + 2])
            .flat_map(u16::to_le_bytes)
            .collect();
        let times = bytes([0.0, 1.0]);
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let rotations = bytes([0.0, 0.0, 0.0, 1.0, half, 0.0, 0.0, half]);
        let index_count = indices.len() / 2;
        let views = vec![positions, normals, joints, weights, indices, times, rotations];
        let accessor = |view: usize, kind: &str, component: u32, count: usize| json!({"bufferView": view, "type": kind, "componentType": component, "count": count});
        let mut accessors = vec![
            accessor(0, "VEC3", 5126, vertices),
            accessor(1, "VEC3", 5126, vertices),
            accessor(2, "VEC4", 5121, vertices),
            accessor(3, "VEC4", 5126, vertices),
            accessor(4, "SCALAR", 5123, index_count),
            accessor(5, "SCALAR", 5126, 2),
            accessor(6, "VEC4", 5126, 2),
        ];
        accessors[0]["min"] = json!([0.0, 0.0, 0.0]);
        accessors[0]["max"] = json!([0.3, 1.9, 0.0]);
        let document = json!({
            "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 2]}],
            "nodes": [{"children": [1]}, {}, {"mesh": 0, "skin": 0}],
            "meshes": [{"primitives": [{"indices": 4, "attributes":
                {"POSITION": 0, "NORMAL": 1, "JOINTS_0": 2, "WEIGHTS_0": 3}}]}],
            "skins": [{"joints": [0, 1]}],
            "animations": [{"name": "bend", "samplers": [{"input": 5, "output": 6}],
                "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}]}],
            "accessors": accessors,
        });
        Self { document, views }
    }

    fn set(mut self, pointer: &str, value: Value) -> Self {
        *self.document.pointer_mut(pointer).unwrap() = value;
        self
    }

    /// Stores the views as `EXT_meshopt_compression` does.
    fn compressed(&self) -> (Value, Vec<u8>) {
        let mut document = self.document.clone();
        let (mut binary, mut views) = (Vec::new(), Vec::new());
        let mut fallback = 0;
        for (index, view) in self.views.iter().enumerate() {
            let (stride, mode, encoded) = match index {
                0 | 1 => (12, "ATTRIBUTES", encode::<[u32; 3]>(view)),
                3 | 6 => (16, "ATTRIBUTES", encode::<[u32; 4]>(view)),
                4 => {
                    let indices: Vec<u32> =
                        view.as_chunks().0.iter().map(|b| u32::from(u16::from_le_bytes(*b))).collect();
                    (2, "TRIANGLES", meshopt::encode_index_buffer(&indices, 2 * STEPS).unwrap())
                }
                _ => (4, "ATTRIBUTES", encode::<[u32; 1]>(view)),
            };
            views.push(json!({"buffer": 1, "byteOffset": fallback, "byteLength": view.len(), "extensions":
                {"EXT_meshopt_compression": {"buffer": 0, "byteOffset": binary.len(), "byteLength": encoded.len(),
                    "byteStride": stride, "count": view.len() / stride, "mode": mode}}}));
            fallback += view.len().next_multiple_of(4);
            binary.extend(encoded);
            binary.resize(binary.len().next_multiple_of(4), 0);
        }
        document["bufferViews"] = json!(views);
        document["buffers"] = json!([{"byteLength": binary.len()},
            {"byteLength": fallback, "extensions": {"EXT_meshopt_compression": {"fallback": true}}}]);
        document["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
        document["extensionsUsed"] = json!(["EXT_meshopt_compression"]);
        (document, binary)
    }

    fn plain(&self) -> (Value, Vec<u8>) {
        let mut document = self.document.clone();
        let (mut binary, mut views) = (Vec::new(), Vec::new());
        for view in &self.views {
            views.push(json!({"buffer": 0, "byteOffset": binary.len(), "byteLength": view.len()}));
            binary.extend(view);
            binary.resize(binary.len().next_multiple_of(4), 0);
        }
        document["bufferViews"] = json!(views);
        document["buffers"] = json!([{"byteLength": binary.len()}]);
        (document, binary)
    }

    fn load(&self) -> Result<Model, Error> {
        load(self.plain())
    }
}

fn encode<T: bytemuck::Pod>(view: &[u8]) -> Vec<u8> {
    meshopt::encode_vertex_buffer(&bytemuck::pod_collect_to_vec::<u8, T>(view)).unwrap()
}

fn load((document, binary): (Value, Vec<u8>)) -> Result<Model, Error> {
    let mut json = serde_json::to_vec(&document).unwrap();
    json.resize(json.len().next_multiple_of(4), b' ');
    let word = |number: usize| (number as u32).to_le_bytes();
    let total = word(28 + json.len() + binary.len());
    let parts: [&[u8]; 9] = [
        b"glTF",
        &word(2),
        &total,
        &word(json.len()),
        b"JSON",
        &json,
        &word(binary.len()),
        b"BIN\0",
        &binary,
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.glb");
    fs::write(&path, parts.concat()).unwrap();
    import::model(&path, &import::Options::default())
}

/// Triangles with their smallest corner first: the compression may turn them.
fn triangles(model: &Model) -> Vec<[u32; 3]> {
    let turned = |[a, b, c]: &[u32; 3]| {
        let turns = [[*a, *b, *c], [*b, *c, *a], [*c, *a, *b]];
        turns.into_iter().min_by_key(|turn| turn[0]).unwrap()
    };
    model.indices.as_chunks::<3>().0.iter().map(turned).collect()
}

#[test]
fn compressed_views_hold_the_same_model() {
    let made = Made::new();
    let (plain, packed) = (load(made.plain()).unwrap(), load(made.compressed()).unwrap());
    assert_eq!(plain.rig, packed.rig);
    assert_eq!(triangles(&plain), triangles(&packed));
    assert_eq!(plain.rig.vertex_count(), 2 * STEPS);
    // A quarter turn about X takes the far end, which hangs on the second joint, from Y towards Z.
    let end = packed.rig.evaluate(Some(0), 1.0).positions[2 * STEPS - 1];
    assert!(end.z > 1.5 && end.y < 0.2, "{end}");
    let (document, mut binary) = made.compressed();
    binary[3] ^= 0xff;
    binary[60] ^= 0xff;
    assert!(
        load((document.clone(), binary.clone())).is_err()
            || load((document, binary)).unwrap().rig != plain.rig
    );
}

#[test]
fn weights_are_mended_and_counted() {
    let mut made = Made::new();
    let nan = f32::NAN.to_le_bytes();
    made.views[3][..4].copy_from_slice(&nan);
    made.views[3][4..8].copy_from_slice(&0.5_f32.to_le_bytes());
    made.views[3][16..32].fill(0);
    let model = made.load().unwrap();
    let influences = |vertex: usize| {
        let range =
            model.rig.influence_starts[vertex] as usize..model.rig.influence_starts[vertex + 1] as usize;
        &model.rig.influences[range]
    };
    assert_eq!(influences(0), [(1, 1.0)], "what is left counts whole");
    assert_eq!(influences(1), [(0, 1.0)], "all zero follows the first joint");
    assert!(
        model.warnings.iter().any(|text| text.starts_with("1 vertices had weights")),
        "{:?}",
        model.warnings
    );
    assert!(model.warnings.iter().any(|text| text.starts_with("1 vertices had no usable")));
}

#[test]
fn faults_are_refused_with_their_place() {
    let animation = "/animations/0/channels/0";
    let attributes = "/meshes/0/primitives/0/attributes";
    for (pointer, value, said) in [
        ("/asset/version", json!("3.0"), "/asset/version"),
        ("/animations/0/channels/0/target/node", json!(9), "/animations/0/channels/0/target/node"),
        ("/animations/0/channels/0/sampler", json!(9), "/animations/0/channels/0/sampler"),
        (attributes, json!({"POSITION": 0, "JOINTS_0": 2}), attributes),
        (attributes, json!({"POSITION": 0, "NORMAL": 6}), "/meshes/0/primitives/0/attributes/NORMAL"),
        ("/accessors/4/count", json!(100_000), "/accessors/4/count"),
        ("/accessors/3/type", json!("VEC3"), "/accessors/3/type"),
        ("/nodes/1", json!({"children": [0]}), "/nodes/"),
        ("/nodes/2", json!({"mesh": 0, "skin": 0, "children": [1]}), "/nodes/1"),
    ] {
        match Made::new().set(pointer, value.clone()).load() {
            Err(Error::Value { pointer: found, .. }) => {
                assert!(found.starts_with(said), "{pointer}: {found}");
            }
            other => panic!("{pointer}: {value}: {other:?}"),
        }
    }
    let mut late = Made::new();
    late.views[5] = bytes([1.0, f32::NAN]);
    assert!(matches!(late.load(), Err(Error::Value { pointer, .. }) if pointer.starts_with("/accessors/5")));
    late.views[5] = bytes([1.0, 0.5]);
    let refused = late.load();
    assert!(
        matches!(&refused, Err(Error::Value { pointer, .. }) if pointer.starts_with(animation)),
        "{refused:?}"
    );
    let mut far = Made::new();
    far.views[2][4 * 10 + 1] = 7;
    assert!(
        matches!(far.load(), Err(Error::Value { pointer, found, .. }) if pointer.contains("vertex 10") && found == "7")
    );
    let draco = Made::new().set("/asset", json!({"version": "2.0"}));
    let (mut document, binary) = draco.plain();
    document["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    let refused = load((document, binary));
    assert!(matches!(refused, Err(Error::Extension { extension, .. }) if extension.contains("draco")));
}
