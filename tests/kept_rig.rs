//! A bake that keeps its rig is also an ordinary animated glTF file, which moves as the original does.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use throng::asset::Compression;
use throng::asset::glb::{self, KeptRig};
use throng::bake::{self, Baked, Settings};
use throng::import;
use throng::source::timeline::Wanted;
use throng::source::{Model, Source};

/// Models of the fixtures; none where they are missing.
fn models() -> Vec<PathBuf> {
    let Some(root) = common::fixtures("gltf") else { return Vec::new() };
    let mut models = Vec::new();
    for entry in fs::read_dir(root).unwrap().flatten() {
        let Ok(text) = fs::read(entry.path().join("truth/manifest.json")) else { continue };
        let manifest: Value = serde_json::from_slice(&text).unwrap();
        models.push(entry.path().join(manifest["asset"].as_str().unwrap()));
    }
    models.sort();
    models
}

fn written(source: &Source, baked: &Baked, path: &Path) -> Vec<u32> {
    let rigged = source.rig.as_ref().unwrap();
    let kept = KeptRig {
        rig: &rigged.rig,
        mesh: &source.mesh,
        flat_from: rigged.flat_from,
        vertices: &baked.vertices,
    };
    glb::write_with_rig(&baked.asset, Some(&kept), path, Compression::None, true).unwrap();
    let bytes = fs::read(path).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let accessor = json["extensions"]["THRONG_vertex_animation"]["rigVertices"].as_u64().unwrap();
    let accessor = &json["accessors"][accessor as usize];
    assert_eq!(accessor["componentType"], 5125);
    let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let [from, size] = ["byteOffset", "byteLength"].map(|key| view[key].as_u64().unwrap() as usize);
    bytemuck::pod_collect_to_vec(&bytes[20 + length + 8 + from..][..size])
}

/// Worst distance between both models over all clips, in parts of the model's size.
fn worst(model: &Model, again: &Model, source: &Source, baked: &Baked, places: &[u32]) -> f64 {
    let of_model = &source.rig.as_ref().unwrap().model_vertices;
    let clips: Vec<usize> =
        (0..model.rig.clips.len()).filter(|clip| !model.rig.clips[*clip].channels.is_empty()).collect();
    assert_eq!(clips.len(), again.rig.clips.len());
    let mut worst = 0.0_f64;
    let moments = clips.iter().enumerate().flat_map(|(at, clip)| {
        let seconds = model.rig.clips[*clip].seconds();
        [0.0, 0.13, 0.5, 0.77, 1.0].map(|part| (Some(*clip), Some(at), part * seconds))
    });
    for (clip, at, seconds) in moments.chain([(None, None, 0.0)]) {
        let (truth, found) = (model.rig.evaluate(clip, seconds), again.rig.evaluate(at, seconds));
        let size = truth.positions.iter().map(|p| p.length()).fold(1e-9, f64::max);
        for (vertex, place) in places.iter().enumerate() {
            let expected = truth.positions[of_model[baked.vertices[vertex] as usize] as usize];
            worst = worst.max(expected.distance(found.positions[*place as usize]) / size);
        }
    }
    worst
}

#[test]
fn every_model_moves_as_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.vat.glb");
    for file in models() {
        let Ok(model) = import::model(&file, &import::Options::default()) else { continue };
        let source = model.source(None, &Wanted::default()).unwrap();
        let Ok((asset, vertices)) = bake::encode(&source, &Settings::default()) else { continue };
        let report = bake::bake(&source, &Settings::default()).unwrap().report;
        let baked = Baked { asset, vertices, report };
        let places = written(&source, &baked, &path);
        assert_eq!(places.len(), baked.asset.mesh.vertex_count());
        assert_eq!(glb::read(&path).unwrap(), baked.asset, "the rig disturbs the asset");
        let again = import::model(&path, &import::Options::default()).unwrap();
        let worst = worst(&model, &again, &source, &baked, &places);
        println!(
            "{:60} {:4} clips, off by {worst:.1e}",
            file.file_name().unwrap().display(),
            again.rig.clips.len()
        );
        assert!(worst < 1e-6, "{}: {worst:e}", file.display());
        assert_eq!(again.materials, model.materials);
        assert_eq!(again.images, model.images);
    }
}
