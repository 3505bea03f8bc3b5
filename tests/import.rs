//! Real exports decode to what the exporting program itself evaluated, on CPU and GPU, every frame.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use common::openvat::{Truth, VARIANTS, errors};
use glam::Vec3;
use throng::asset::{Asset, Pose};
use throng::import::{self, MeshFrame, MissingNormals, Options};
use throng::vat::playback::encode_frames;
use throng::vat::{Encoding, FrameBlend, Normals};

fn poses(asset: &Asset) -> impl Iterator<Item = Pose> {
    (0..asset.clips[0].frame_count)
        .map(|frame| asset.pose(encode_frames(&asset.clips[0], f64::from(frame)), FrameBlend::Step))
}

fn folders(root: &Path) -> usize {
    let assets = fs::read_dir(root).unwrap().flatten().filter(|entry| entry.path().is_dir());
    assets
        .map(|asset| {
            fs::read_dir(asset.path()).unwrap().flatten().filter(|entry| entry.path().is_dir()).count()
        })
        .sum()
}

#[test]
fn every_export_agrees_with_ground_truth_on_the_cpu() {
    let Some(root) = common::fixtures("openvat") else {
        return;
    };
    assert_eq!(folders(&root), VARIANTS.len(), "an export is not in the table");
    for variant in &VARIANTS {
        let path = variant.path(&root);
        let asset =
            import::load(&path, &Options::default()).unwrap_or_else(|e| panic!("{}: {e}", variant.name));
        let truth = Truth::read(path.parent().unwrap(), variant.object_space());
        let errors = errors(&asset, &truth, poses(&asset));
        println!(
            "{:34} {:8} position {:7.3} mm (table {:6.3}), mean {:.3}; normal {:6.3}° (table {})",
            variant.name,
            asset.animation.encoding.name(),
            errors.position_max_mm,
            variant.position_mm,
            errors.position_mean_mm,
            errors.normal_max_degrees,
            variant.normal_degrees.map_or("none".to_owned(), |degrees| format!("{degrees:.3}°")),
        );
        variant.check(&errors);
    }
}

#[cfg(feature = "render")]
#[test]
fn every_export_agrees_with_ground_truth_on_the_gpu() {
    let Some(root) = common::fixtures("openvat") else {
        return;
    };
    let Some(gpu) = common::gpu() else { return };
    for variant in &VARIANTS {
        let path = variant.path(&root);
        let asset = import::load(&path, &Options::default()).unwrap();
        let truth = Truth::read(path.parent().unwrap(), variant.object_space());
        let decoded = (0..asset.clips[0].frame_count).map(|frame| {
            let frames = encode_frames(&asset.clips[0], f64::from(frame));
            pollster::block_on(throng::render::decode::pose(&gpu, &asset, frames, FrameBlend::Step)).unwrap()
        });
        variant.check(&errors(&asset, &truth, decoded));
    }
}

/// The trap that these files set: their glTF mesh is not the rest pose.
#[test]
fn taking_the_stored_mesh_for_the_rest_pose_would_be_wrong_by_metres() {
    let Some(root) = common::fixtures("openvat") else {
        return;
    };
    for (name, least_mm) in
        [("blob/exr16_packed", 3000.0), ("wave/png16_packed", 500.0), ("walker/exr16_packed", 60.0)]
    {
        let path = root.join(name);
        let naive = Options { mesh_frame: MeshFrame::Basis, ..Options::default() };
        let asset = import::load(&path, &naive).unwrap();
        let truth = Truth::read(path.parent().unwrap(), false);
        let errors = errors(&asset, &truth, poses(&asset));
        assert!(errors.position_max_mm > least_mm, "{name}: {errors:?}");
        // Told the right frame, it is right without looking at normals.
        let told = Options { mesh_frame: MeshFrame::Frame(asset.animation.grid.frame_count - 1), ..naive };
        let right = import::load(&path, &told).unwrap();
        if name != "blob/exr16_packed" {
            let found = common::openvat::errors(&right, &truth, poses(&right));
            assert!(found.position_max_mm < 2.0, "{name}: {found:?}");
        }
    }
}

/// Decoded values of 16 vertices, written down by another decoder.
#[test]
fn decoded_values_are_those_of_another_decoder() {
    let Some(root) = common::fixtures("openvat") else {
        return;
    };
    let mut checked = 0;
    for variant in &VARIANTS {
        let file = variant.path(&root).join("decode_expected.json");
        let Ok(text) = fs::read(&file) else { continue };
        let expected: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let asset = import::load(&variant.path(&root), &Options::default()).unwrap();
        let vertices: Vec<usize> = expected["glb_vertices"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_u64().unwrap() as usize)
            .collect();
        let vector = |value: &serde_json::Value| {
            Vec3::from_array([0, 1, 2].map(|axis| value[axis].as_f64().unwrap() as f32))
        };
        for (frame, pose) in poses(&asset).enumerate() {
            let decoded = &expected["pos_decoded"][frame];
            for (at, vertex) in vertices.iter().enumerate() {
                let off = pose.positions[*vertex].distance(vector(&decoded[at]));
                assert!(off < 1e-5 + 1.2e-6, "{}: frame {frame}, vertex {vertex}: {off} m", variant.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 10_000, "{checked}");
}

#[test]
fn what_the_files_do_not_say_is_said() {
    let Some(root) = common::fixtures("openvat") else {
        return;
    };
    let load = |name: &str, options: &Options| import::load(&root.join(name), options).unwrap();
    let said = |asset: &Asset, word: &str| {
        asset.assumptions.iter().chain(&asset.warnings).any(|remark| remark.contains(word))
    };
    let default = Options::default();
    let packed = load("walker/exr16_packed", &default);
    assert!(
        said(&packed, "packed")
            && said(&packed, "frame 29, not at rest")
            && said(&packed, "30 frames a second")
    );
    assert!(said(&load("walker/exr16_separate", &default), "picture of their own"));
    assert!(said(&load("walker/exr16_none", &default), "timeline that begins at 1"));
    assert!(said(&load("blob/exr16_none", &default), "timeline that begins at 10"));
    assert!(said(&load("walker/exr16_packed_wrapped", &default), "wraps"));
    let absolute = load("blob/exr32_absolute_separate", &default);
    assert!(said(&absolute, "absolute values") && said(&absolute, "no unit vectors"));
    let fast = load("walker/exr16_packed", &Options { fps: Some(12.5), ..default });
    assert_eq!(fast.clips[0].fps, 12.5);
    for (choice, normals) in [
        (MissingNormals::Computed, Normals::Texture16),
        (MissingNormals::Rest, Normals::Rest),
        (MissingNormals::Flat, Normals::Flat),
    ] {
        let asset = load("wave/exr16_none", &Options { missing_normals: choice, ..default });
        assert_eq!(asset.animation.normals, normals);
    }
}

#[test]
fn texels_are_taken_over_without_loss() {
    let Some(root) = common::fixtures("openvat") else {
        return;
    };
    let encodings: HashMap<&str, Encoding> = [
        ("wave/png8_packed", Encoding::Unorm8),
        ("wave/png16_packed", Encoding::Unorm16),
        ("wave/exr16_packed", Encoding::Float16Bounded),
        ("wave/exr32_packed", Encoding::Float32),
        ("wave/exr32_absolute_separate", Encoding::Float32),
    ]
    .into();
    for (name, encoding) in encodings {
        let asset = import::load(&root.join(name), &Options::default()).unwrap();
        assert_eq!(asset.animation.encoding, encoding, "{name}");
    }
}

#[test]
fn any_file_of_the_export_names_it() {
    let Some(root) = common::fixtures("openvat") else {
        return;
    };
    let folder = root.join("wave/png16_separate_fbx/wave_vat");
    let whole = import::load(&folder, &Options::default()).unwrap();
    for file in ["wave-remap_info.json", "wave.fbx", "wave_vat.png", "wave_vnrm.png"] {
        assert_eq!(
            import::load(&folder.join(file), &Options::default()).unwrap().animation,
            whole.animation,
            "{file}"
        );
    }
}
