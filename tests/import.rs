//! Real exports decode to what the exporting program itself evaluated, on CPU and GPU, every frame.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;

use common::openvat::{Truth, VARIANTS, errors};
use glam::Vec3;
use throng::asset::{Asset, Pose};
use throng::import::{self, MeshFrame, MissingNormals, Options};
use throng::vat::grid::texel_address;
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
            "{:29} {:15} position {:6.3} mm (table {:6.3}), mean {:.3}; normal {:6.3}° (table {}), mean {:.3}; rest \
             {:.4} mm",
            variant.name,
            asset.animation.encoding.name(),
            errors.position_max_mm,
            variant.position_mm,
            errors.position_mean_mm,
            errors.normal_max_degrees,
            variant.normal_degrees.map_or("none".to_owned(), |degrees| format!("{degrees:.3}°")),
            errors.normal_mean_degrees,
            errors.rest_max_mm,
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

/// Without normals only the timeline tells where the mesh is, and PNG pictures say it too.
#[test]
fn exports_that_lost_their_normals_are_put_right_by_the_timeline() {
    let Some(root) = common::fixtures("openvat") else {
        return;
    };
    for name in ["blob/png8_separate", "walker/png8_separate", "wave/exr32_separate"] {
        let variant = VARIANTS.iter().find(|variant| variant.name == name).unwrap();
        let copy = tempfile::tempdir().unwrap();
        let from = root.join(name);
        let export =
            fs::read_dir(&from).unwrap().flatten().find(|entry| entry.path().is_dir()).unwrap().path();
        for file in fs::read_dir(export).unwrap().flatten() {
            if !file.file_name().to_string_lossy().contains("_vnrm") {
                fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
            }
        }
        let asset = import::load(copy.path(), &Options::default()).unwrap();
        let truth = Truth::read(from.parent().unwrap(), false);
        let errors = errors(&asset, &truth, poses(&asset));
        assert!(
            errors.position_max_mm <= variant.position_mm + common::openvat::OWN_POSITION_MM,
            "{name}: {errors:?}"
        );
    }
}

#[test]
fn only_faults_are_warned_of_and_every_mesh_is_explained() {
    let Some(root) = common::fixtures("openvat") else {
        return;
    };
    for variant in &VARIANTS {
        let asset = import::load(&variant.path(&root), &Options::default()).unwrap();
        let expected = if variant.name.contains("png8") {
            "in steps of"
        } else if variant.name.contains("absolute") {
            "no unit vectors"
        } else {
            ""
        };
        let faults: Vec<_> = asset.warnings.iter().filter(|warning| !warning.contains(expected)).collect();
        assert!(faults.is_empty() && asset.warnings.len() <= 1, "{}: {:?}", variant.name, asset.warnings);
        assert_eq!(asset.warnings.is_empty(), expected.is_empty(), "{}", variant.name);
        let at_rest = asset.assumptions.iter().any(|remark| remark.contains("stored at rest"));
        let at_frame = asset.assumptions.iter().any(|remark| remark.contains("stored at frame"));
        assert_eq!(at_rest, variant.name.contains("fbx"), "{}: {:?}", variant.name, asset.assumptions);
        assert_ne!(at_rest, at_frame, "{}: {:?}", variant.name, asset.assumptions);
    }
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

/// Bits of the file's first three channels, by row and column, read by another decoder.
fn stored(path: &Path) -> Vec<Vec<[u32; 3]>> {
    if path.extension().is_some_and(|extension| extension == "exr") {
        let rows = |size: exr::prelude::Vec2<usize>, _: &_| vec![vec![[0; 3]; size.width()]; size.height()];
        let image = exr::prelude::read_first_rgba_layer_from_file(
            path,
            rows,
            |rows: &mut Vec<Vec<[u32; 3]>>,
             at,
             (r, g, b, _): (half::f16, half::f16, half::f16, half::f16)| {
                rows[at.y()][at.x()] = [r, g, b].map(|channel| u32::from(channel.to_bits()));
            },
        );
        return image.unwrap().layer_data.channel_data.pixels;
    }
    match image::open(path).unwrap() {
        image::DynamicImage::ImageRgb8(image) => {
            image.rows().map(|row| row.map(|pixel| pixel.0.map(u32::from)).collect()).collect()
        }
        image::DynamicImage::ImageRgb16(image) => {
            image.rows().map(|row| row.map(|pixel| pixel.0.map(u32::from)).collect()).collect()
        }
        other => panic!("{:?}", other.color()),
    }
}

#[test]
fn texels_are_taken_over_bit_for_bit() {
    let Some(root) = common::fixtures("openvat") else {
        return;
    };
    for (name, file, encoding) in [
        ("wave/png8_packed", "wave_vat.png", Encoding::Unorm8),
        ("blob/png16_separate_fbx", "blob_vat.png", Encoding::Unorm16),
        ("walker/exr16_packed", "walker_vat.exr", Encoding::Float16Bounded),
        ("walker/exr16_packed_wrapped", "walker_vat.exr", Encoding::Float16Bounded),
    ] {
        let folder = root.join(name);
        let asset = import::load(&folder, &Options::default()).unwrap();
        let animation = &asset.animation;
        assert_eq!(animation.encoding, encoding, "{name}");
        let export = name.split('/').next().unwrap();
        let rows = stored(&folder.join(format!("{export}_vat")).join(file));
        let (width, frames) = (rows[0].len() as u32, animation.grid.frame_count);
        for element in 0..animation.element_count {
            for frame in 0..frames {
                let row = element / width * frames + frame;
                let [x, y, z] = rows[row as usize][(element % width) as usize];
                let ours = animation.positions.load(texel_address(animation.grid, element, frame));
                assert_eq!(ours.truncate().to_array(), [x, z, y], "{name}: element {element}, frame {frame}");
            }
        }
    }
    for name in ["wave/exr32_packed", "wave/exr32_absolute_separate"] {
        let asset = import::load(&root.join(name), &Options::default()).unwrap();
        assert_eq!(asset.animation.encoding, Encoding::Float32, "{name}");
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
