//! How fast a bake is: a made character of 5,000 vertices and 60 joints, 256 frames.
//!
//! `cargo bench --bench bake`. One core unless said; vertices times frames a second.

#![allow(clippy::print_stdout, clippy::cast_possible_truncation, reason = "a bench prints, of small numbers")]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use serde_json::json;
use throng::asset::{Compression, glb};
use throng::bake::{self, Settings};
use throng::import;
use throng::mesh::VertexFrame;
use throng::source::timeline::Wanted;
use throng::source::{Sampler, Scratch, Source};
use throng::vat::encoding::{Remap, encode_positions};
use throng::vat::normals::{encode_alpha, encode_normals};
use throng::vat::{Encoding, Normals};

type Error = Box<dyn std::error::Error + Send + Sync>;

const RINGS: usize = 100;
const SIDES: usize = 50;
const JOINTS: usize = 60;
const FRAMES: usize = 256;
const ROUNDS: usize = 7;
const TARGET_END_TO_END: f64 = 30e6;
const TARGET_LOOP: f64 = 100e6;

/// A tube of `RINGS * SIDES` vertices on a chain of joints that bend, four influences each, as a GLB file.
fn character(path: &Path) -> Result<(), Error> {
    let (mut json_accessors, mut views, mut binary) = (Vec::new(), Vec::new(), Vec::new());
    let mut push = |bytes: &[u8], component: u32, kind: &str, count: usize, bounds: Option<[[f32; 3]; 2]>| {
        views.push(json!({"buffer": 0, "byteOffset": binary.len(), "byteLength": bytes.len()}));
        binary.extend_from_slice(bytes);
        binary.resize(binary.len().next_multiple_of(4), 0);
        let view = views.len() - 1;
        let mut accessor =
            json!({"bufferView": view, "componentType": component, "type": kind, "count": count});
        if let Some([min, max]) = bounds {
            (accessor["min"], accessor["max"]) = (json!(min), json!(max));
        }
        json_accessors.push(accessor);
        json_accessors.len() - 1
    };
    let count = RINGS * SIDES;
    let (mut positions, mut normals, mut joints, mut weights) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for ring in 0..RINGS {
        for side in 0..SIDES {
            let turn = side as f32 / SIDES as f32 * std::f32::consts::TAU;
            let height = ring as f32 / (RINGS - 1) as f32 * 1.8;
            positions.extend([0.2 * turn.cos(), height, 0.2 * turn.sin()]);
            normals.extend([turn.cos(), 0.0, turn.sin()]);
            let at = ring as f32 / RINGS as f32 * (JOINTS - 4) as f32;
            joints.extend((0..4).map(|joint| at as u8 + joint));
            weights.extend([0.4_f32, 0.3, 0.2, 0.1]);
        }
    }
    let mut indices: Vec<u16> = Vec::new();
    for ring in 0..RINGS - 1 {
        for side in 0..SIDES {
            let next = (side + 1) % SIDES;
            let [a, b] = [ring * SIDES + side, ring * SIDES + next].map(|index| index as u16);
            let [c, d] = [a + SIDES as u16, b + SIDES as u16];
            indices.extend([a, c, b, b, c, d]);
        }
    }
    let bytes = |floats: &[f32]| bytemuck::cast_slice::<f32, u8>(floats).to_vec();
    let position = push(&bytes(&positions), 5126, "VEC3", count, Some([[-0.2, 0.0, -0.2], [0.2, 1.8, 0.2]]));
    let normal = push(&bytes(&normals), 5126, "VEC3", count, None);
    let joint = push(&joints, 5121, "VEC4", count, None);
    let weight = push(&bytes(&weights), 5126, "VEC4", count, None);
    let index = push(bytemuck::cast_slice(&indices), 5123, "SCALAR", indices.len(), None);
    let step = 1.8 / JOINTS as f32;
    let binds: Vec<f32> = (0..JOINTS)
        .flat_map(|joint| {
            let down = -step * joint as f32;
            [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, down, 0.0, 1.0]
        })
        .collect();
    let bind = push(&bytes(&binds), 5126, "MAT4", JOINTS, None);
    let times: Vec<f32> = (0..FRAMES).map(|frame| frame as f32 / 30.0).collect();
    let time = push(&bytes(&times), 5126, "SCALAR", FRAMES, None);
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for joint in 0..JOINTS {
        let rotations: Vec<f32> = (0..FRAMES)
            .flat_map(|frame| {
                let half = 0.02 * (frame as f32 * 0.11 + joint as f32 * 0.4).sin();
                [half.sin(), 0.0, 0.0, half.cos()]
            })
            .collect();
        let rotation = push(&bytes(&rotations), 5126, "VEC4", FRAMES, None);
        samplers.push(json!({"input": time, "output": rotation}));
        channels.push(json!({"sampler": joint, "target": {"node": joint, "path": "rotation"}}));
    }
    let mut nodes: Vec<_> = (0..JOINTS)
        .map(|joint| {
            let up = if joint == 0 { 0.0 } else { step };
            let mut node = json!({"translation": [0.0, up, 0.0]});
            if joint + 1 < JOINTS {
                node["children"] = json!([joint + 1]);
            }
            node
        })
        .collect();
    nodes.push(json!({"mesh": 0, "skin": 0}));
    let document = json!({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, JOINTS]}], "nodes": nodes,
        "meshes": [{"primitives": [{"indices": index, "attributes":
            {"POSITION": position, "NORMAL": normal, "JOINTS_0": joint, "WEIGHTS_0": weight}}]}],
        "skins": [{"joints": (0..JOINTS).collect::<Vec<_>>(), "inverseBindMatrices": bind}],
        "animations": [{"name": "bend", "samplers": samplers, "channels": channels}],
        "accessors": json_accessors, "bufferViews": views, "buffers": [{"byteLength": binary.len()}],
    });
    let mut json = serde_json::to_vec(&document)?;
    json.resize(json.len().next_multiple_of(4), b' ');
    let total = 28 + json.len() + binary.len();
    let mut file = Vec::new();
    file.extend_from_slice(b"glTF");
    for word in [2, total as u32, json.len() as u32] {
        file.extend_from_slice(&word.to_le_bytes());
    }
    file.extend_from_slice(b"JSON");
    file.extend_from_slice(&json);
    file.extend_from_slice(&(binary.len() as u32).to_le_bytes());
    file.extend_from_slice(b"BIN\0");
    file.extend_from_slice(&binary);
    std::fs::write(path, file)?;
    Ok(())
}

/// Median seconds of a task.
fn median(mut task: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let mut times = Vec::new();
    for round in 0..=ROUNDS {
        let begun = Instant::now();
        task()?;
        if round > 0 {
            times.push(begun.elapsed().as_secs_f64());
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn one_core() -> Result<rayon::ThreadPool, Error> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(1).build()?)
}

fn read(path: &Path) -> Result<Source, Error> {
    let model = import::model(path, &import::Options::default())?;
    Ok(model.source(None, &Wanted::default())?)
}

fn main() -> Result<(), Error> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("character.glb");
    let output = folder.path().join("character.vat.glb");
    character(&path)?;
    let source = read(&path)?;
    let vertices = source.mesh.vertex_count();
    let frames = source.clips[0].frame_count();
    let work = (vertices * frames) as f64;
    println!("{vertices} vertices, {frames} frames, {} columns at most", vertices);
    let rate = |seconds: f64| work / seconds / 1e6;
    let settings = Settings::default();
    let end_to_end = || -> Result<(), Error> {
        let (asset, _) = bake::encode(&read(&path)?, &settings)?;
        glb::write(&asset, &output, Compression::None, true)?;
        Ok(())
    };
    let pool = one_core()?;
    let seconds = median(|| pool.install(end_to_end))?;
    println!("end to end, one core     {:7.1} million a second (target 30)", rate(seconds));
    let missed = work / seconds < TARGET_END_TO_END;
    println!("end to end, all cores    {:7.1}", rate(median(end_to_end)?));
    let sampler = Sampler::new(&source);
    let (mut scratch, mut frame) = (Scratch::default(), VertexFrame::default());
    let sample_only = median(|| {
        for number in 0..frames {
            sampler.frame(0, number as f64, &mut scratch, &mut frame);
            black_box(&frame);
        }
        Ok(())
    })?;
    println!("sampling, one core       {:7.1}", rate(sample_only));
    let remap = Remap::new(glam::Vec3::splat(-3.0), glam::Vec3::splat(3.0));
    let mut slowest = f64::INFINITY;
    for (name, normals) in
        [("texture16", Normals::Texture16), ("alpha", Normals::Alpha), ("none", Normals::Rest)]
    {
        let (mut texels, mut alphas) = (Vec::new(), Vec::new());
        let seconds = median(|| {
            for number in 0..frames {
                sampler.frame(0, number as f64, &mut scratch, &mut frame);
                texels.clear();
                alphas.clear();
                if normals == Normals::Alpha {
                    alphas
                        .extend(frame.normals.iter().map(|normal| encode_alpha(*normal, Encoding::Unorm16)));
                }
                let alphas = (normals == Normals::Alpha).then_some(&alphas[..]);
                encode_positions(&frame.positions, alphas, Encoding::Unorm16, remap, &mut texels);
                if normals == Normals::Texture16 {
                    encode_normals(&frame.normals, normals, &mut texels);
                }
                black_box(&texels);
            }
            Ok(())
        })?;
        println!("sampling and encoding    {:7.1} unorm16, normals {name} (target 100)", rate(seconds));
        if normals == Normals::Texture16 {
            slowest = work / seconds;
        }
    }
    println!(
        "measuring, all cores     {:7.1}",
        rate(median(|| {
            black_box(bake::bake(&source, &settings)?);
            Ok(())
        })?)
    );
    if std::env::args().any(|argument| argument == "--check") && (missed || slowest < TARGET_LOOP) {
        return Err("a rate is below its target".into());
    }
    Ok(())
}
