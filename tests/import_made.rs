//! Exports made in code: counts around the wrap, motions that fool, faults that can be told.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod common;

use std::fs;

use common::export::{Folder, Made, MadeNormals, Picture, slide};
use glam::{DVec3, Vec2};
use throng::asset::Asset;
use throng::import::{self, Error, MeshFrame, Options};
use throng::vat::FrameBlend;
use throng::vat::playback::encode_frames;

fn load(folder: &Folder) -> Asset {
    import::load(folder.folder.path(), &Options::default()).unwrap()
}

fn refusal(folder: &Folder) -> Error {
    import::load(folder.folder.path(), &Options::default()).map(|asset| asset.warnings.clone()).unwrap_err()
}

/// Largest distance from the truth, all vertices and frames, metres.
fn error(folder: &Folder, asset: &Asset) -> f32 {
    let mut worst = 0.0_f32;
    let clip = &asset.clips[0];
    assert_eq!(clip.frame_count, folder.made.frames);
    for frame in 0..folder.made.frames {
        let positions = asset.positions(encode_frames(clip, f64::from(frame)), FrameBlend::Step);
        for (vertex, position) in positions.iter().enumerate() {
            worst = worst.max(position.distance(folder.truth(vertex, frame)));
        }
    }
    worst
}

fn says(remarks: &[String], word: &str) -> bool {
    remarks.iter().any(|remark| remark.contains(word))
}

#[test]
fn every_count_around_the_wrap_is_read_to_the_last_texel() {
    for vertices in [3, 63, 64, 65, 255, 256, 257, 1023, 1025, 4097] {
        for frames in [1, 2, 31] {
            for wrapped in [false, true] {
                for normals in [MadeNormals::Packed, MadeNormals::Separate, MadeNormals::None] {
                    let folder = Made { vertices, frames, wrapped, normals, ..Made::default() }.write();
                    let case = format!("{vertices} vertices, {frames} frames, {}, {normals:?}", folder.size);
                    let options = Options { mesh_frame: MeshFrame::Basis, ..Options::default() };
                    let asset = import::load(folder.folder.path(), &options)
                        .unwrap_or_else(|e| panic!("{case}: {e}"));
                    assert!(error(&folder, &asset) < 1e-4, "{case}: {}", error(&folder, &asset));
                    assert!(asset.warnings.is_empty(), "{case}: {:?}", asset.warnings);
                    let place = match normals {
                        MadeNormals::Packed => "packed in the lower half",
                        MadeNormals::Separate => "in a picture of their own",
                        MadeNormals::None => "have no normals",
                    };
                    assert!(says(&asset.assumptions, place), "{case}: {:?}", asset.assumptions);
                }
            }
        }
    }
}

#[test]
fn every_kind_of_picture_is_read_to_its_own_step() {
    for (picture, step) in
        [(Picture::Png8, 8e-3), (Picture::Png16, 4e-5), (Picture::Half, 1e-3), (Picture::Float, 2e-6)]
    {
        for absolute in [false, true] {
            if absolute && picture != Picture::Float {
                continue;
            }
            for stored_at in [None, Some(7)] {
                let folder = Made { picture, absolute, stored_at, ..Made::default() }.write();
                let asset = load(&folder);
                let off = error(&folder, &asset);
                println!("{picture:?}, absolute {absolute}, stored at {stored_at:?}: {off} m");
                assert!(off < step, "{picture:?}, absolute {absolute}, stored at {stored_at:?}: {off} m");
                let rest = if stored_at.is_some() { "not at rest" } else { "stored at rest" };
                assert!(says(&asset.assumptions, rest), "{:?}", asset.assumptions);
            }
        }
    }
}

/// Each triangle with its own vertices: three and more look at one texel.
#[test]
fn many_vertices_may_share_a_column() {
    let folder = Made { split: true, stored_at: Some(5), ..Made::default() }.write();
    let asset = load(&folder);
    assert_eq!((asset.mesh.vertex_count(), asset.animation.element_count), (38 * 3, 40));
    assert!(error(&folder, &asset) < 4e-5, "{}", error(&folder, &asset));
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
}

/// Normals say nothing where the motion does not turn anything.
#[test]
fn a_mesh_that_slides_is_put_right_by_the_timeline() {
    // The exporter stores the frame at scene time 0.
    for start in [0_i64, 1, 3, 10] {
        let stored_at = Some((-start).rem_euclid(8) as u32);
        let scene_frame = Some(start + 7);
        for (picture, step) in [(Picture::Png16, 2e-4), (Picture::Half, 6e-3)] {
            for normals in [MadeNormals::Packed, MadeNormals::None] {
                let made =
                    Made { picture, normals, offset: slide, stored_at, scene_frame, ..Made::default() };
                let folder = made.write();
                let asset = load(&folder);
                let off = error(&folder, &asset);
                assert!(off < step, "{picture:?} {normals:?} from {start}: {off} {:?}", asset.assumptions);
            }
        }
    }
    for absurd in [i64::MIN, i64::MAX] {
        load(&Made { offset: slide, scene_frame: Some(absurd), ..Made::default() }.write());
    }
    // Without the timeline the habit is taken, and doubt is said.
    let folder = Made { offset: slide, stored_at: Some(7), ..Made::default() }.write();
    let asset = load(&folder);
    assert!(error(&folder, &asset) < 2e-4);
    assert!(says(&asset.warnings, "--mesh-frame"), "{:?}", asset.warnings);
    let folder = Made { offset: slide, stored_at: Some(2), ..Made::default() }.write();
    let told = Options { mesh_frame: MeshFrame::Frame(2), ..Options::default() };
    assert!(error(&folder, &import::load(folder.folder.path(), &told).unwrap()) < 2e-4);
}

/// "Use Absolute Values" with offsets that could be fractions.
#[test]
fn metres_within_0_to_1_are_told_from_fractions_by_the_range() {
    let offset = |vertex, frame| DVec3::new(0.02, 0.3, 0.04) * f64::from(vertex * frame) / 273.0;
    let made = Made { picture: Picture::Float, absolute: true, offset, ..Made::default() };
    for absolute in [true, false] {
        let folder = Made { absolute, ..made.clone() }.write();
        let asset = load(&folder);
        assert!(error(&folder, &asset) < 1e-5, "{}", error(&folder, &asset));
        assert_eq!(says(&asset.assumptions, "absolute values"), absolute, "{:?}", asset.assumptions);
    }
}

#[test]
fn a_range_that_takes_the_motion_away_is_refused_or_warned_of() {
    let folder = Made::default().write();
    let range = |min: &str, max: &str| {
        let text = format!("{{\"os-remap\": {{\"Min\": {min}, \"Max\": {max}, \"Frames\": 8}}}}");
        fs::write(folder.path("-remap_info.json"), text).unwrap();
    };
    range("[0, 0, 0]", "[0, 0, 0]");
    assert!(matches!(refusal(&folder), Error::Value { pointer, .. } if pointer == "/os-remap"));
    range("[0, -1, -1]", "[0, 1, 1]");
    assert!(says(&load(&folder).warnings, "no range on X"));
}

#[test]
fn rounded_lookups_are_warned_of_and_refused_where_they_meet() {
    // A 4096th part of the picture, on a row of 257 texels.
    let lookup = |uv| uv + Vec2::new(1.0 / 4096.0, 0.0);
    let folder = Made { vertices: 257, lookup, ..Made::default() }.write();
    let asset = load(&folder);
    assert!(error(&folder, &asset) < 1e-3);
    assert!(says(&asset.warnings, "0.063 texels off"), "{:?}", asset.warnings);
    // Every second vertex looks a texel too far, at that of its neighbour.
    let second = |uv: Vec2| Vec2::new(((uv.x * 40.0 - 0.5) / 2.0).floor() / 20.0 + 0.0125, uv.y);
    let lookups: [fn(Vec2) -> Vec2; 2] = [second, |uv| Vec2::new(0.5 / 40.0, uv.y)];
    for lookup in lookups {
        let found = refusal(&Made { lookup, ..Made::default() }.write());
        assert!(
            matches!(&found, Error::NoLookup { found, .. } if found.contains("texel of another")),
            "{found:?}"
        );
    }
}

#[test]
fn the_set_that_points_at_texels_is_found_wherever_it_is() {
    for (lookup_first, name) in [(false, "TEXCOORD_1"), (true, "TEXCOORD_0")] {
        let folder = Made { lookup_first, ..Made::default() }.write();
        let asset = load(&folder);
        assert!(error(&folder, &asset) < 4e-5);
        assert!(says(&asset.assumptions, &format!("{name} points at texels")), "{:?}", asset.assumptions);
        let uvs = asset.mesh.uvs.as_ref().unwrap();
        assert!(uvs.iter().all(|uv| uv.y == 0.77), "the other set is the mesh's");
    }
}

#[test]
fn resized_pictures_are_refused_with_the_size_that_was_meant() {
    for (wrapped, normals) in
        [(false, MadeNormals::Packed), (false, MadeNormals::None), (true, MadeNormals::Packed)]
    {
        let folder = Made { vertices: 300, frames: 12, wrapped, normals, ..Made::default() }.write();
        let picture = image::open(folder.path("_vat.png")).unwrap();
        let (width, height) = (folder.size.x, folder.size.y);
        let power = (width + 1).next_power_of_two();
        for (new_width, new_height) in [
            (width / 2, height / 2),
            (width * 2, height * 2),
            (width, height * 2),
            (power, height.next_power_of_two()),
        ] {
            let filter = image::imageops::FilterType::Triangle;
            picture.resize_exact(new_width, new_height, filter).save(folder.path("_vat.png")).unwrap();
            let found = refusal(&folder);
            let meant = format!("{width}×{height}");
            assert!(
                matches!(&found, Error::PictureSize { width, height, expected, .. }
                    if (*width, *height) == (new_width, new_height) && expected.contains(&meant)),
                "{meant}: {found:?}"
            );
        }
    }
}

#[test]
fn pictures_tagged_as_srgb_are_read_as_linear_and_warned_of() {
    let folder = Made { vertices: 300, ..Made::default() }.write();
    let plain = load(&folder);
    let bytes = fs::read(folder.path("_vat.png")).unwrap();
    for (chunk, warned) in [
        (&b"\0\0\0\x01sRGB\0\xae\xce\x1c\xe9"[..], true),
        (&b"\0\0\0\x04gAMA\0\0\xb1\x8f\x0b\xfc\x61\x05"[..], true),
        (&b"\0\0\0\x04gAMA\0\x01\x86\xa0\x31\xe8\x96\x5f"[..], false),
    ] {
        let tagged = [&bytes[..33], chunk, &bytes[33..]].concat();
        fs::write(folder.path("_vat.png"), tagged).unwrap();
        let asset = load(&folder);
        assert_eq!(asset.animation.positions, plain.animation.positions);
        assert_eq!(says(&asset.warnings, "sRGB"), warned, "{:?}", asset.warnings);
    }
}

#[test]
fn texels_that_are_not_finite_are_refused_with_their_place() {
    fn with(bad: f64, vertex: u32, frame: u32) -> DVec3 {
        DVec3::new(0.1, 0.2, if (vertex, frame) == (9, 3) { bad } else { 0.5 })
    }
    let offsets: [fn(u32, u32) -> DVec3; 2] =
        [|vertex, frame| with(f64::NAN, vertex, frame), |vertex, frame| with(f64::INFINITY, vertex, frame)];
    for picture in [Picture::Half, Picture::Float] {
        for offset in offsets {
            let normals = MadeNormals::None;
            let folder = Made { picture, absolute: true, offset, normals, ..Made::default() }.write();
            let text = r#"{"os-remap": {"Min": [-1, -1, -1], "Max": [1, 1, 1], "Frames": 8}}"#;
            fs::write(folder.path("-remap_info.json"), text).unwrap();
            let found = refusal(&folder);
            assert!(matches!(found, Error::NotFinite { column: 30, row: 3, .. }), "{found:?}");
        }
    }
}

/// Another exporter's spelling: `NAME_pos.png`, numbers as strings.
#[test]
fn files_of_another_writer_of_the_format_are_read() {
    let folder = Made { normals: MadeNormals::None, ..Made::default() }.write();
    fs::rename(folder.path("_vat.png"), folder.path("_pos.png")).unwrap();
    let json: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path("-remap_info.json")).unwrap()).unwrap();
    let text = |value: &serde_json::Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(ToString::to_string).collect()
    };
    let written = serde_json::json!({"os-remap": {
        "Min": text(&json["os-remap"]["Min"]), "Max": text(&json["os-remap"]["Max"]), "Frames": "8"
    }});
    let told = Options { mesh_frame: MeshFrame::Basis, ..Options::default() };
    fs::write(folder.path("-remap_info.json"), written.to_string()).unwrap();
    let asset = import::load(folder.folder.path(), &told).unwrap();
    assert!(says(&asset.warnings, "as strings"), "{:?}", asset.warnings);
    assert!(error(&folder, &asset) < 4e-5);
}

#[test]
fn external_buffers_are_read_from_the_folder_alone() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("made_vat");
    fs::create_dir(&folder).unwrap();
    Made::default().write_to(&folder);
    let mesh = folder.join("made.gltf");
    let text = fs::read_to_string(&mesh).unwrap();
    let start = text.find("data:;base64,").unwrap();
    let end = start + text[start..].find('"').unwrap();
    let engine = &base64::engine::general_purpose::STANDARD;
    let bytes = base64::Engine::decode(engine, &text[start + 13..end]).unwrap();
    for (name, written, fine) in [
        ("A..B.bin", folder.join("A..B.bin"), true),
        ("with%20space.bin", folder.join("with space.bin"), true),
        ("../outside.bin", outer.path().join("outside.bin"), false),
        ("%2e%2e/outside.bin", outer.path().join("outside.bin"), false),
    ] {
        fs::write(&written, &bytes).unwrap();
        fs::write(&mesh, text.replace(&text[start..end], name)).unwrap();
        match import::load(&folder, &Options::default()) {
            Ok(_) => assert!(fine, "{name} is opened"),
            Err(found) => assert!(!fine && matches!(found, Error::Uri { .. }), "{name}: {found:?}"),
        }
    }
}

/// Several exports in one folder, and files that belong to none.
#[test]
fn the_file_that_is_named_says_which_export_is_meant() {
    let one = Made { name: "one", ..Made::default() }.write();
    let folder = one.folder.path();
    Made { name: "two", frames: 5, normals: MadeNormals::Separate, ..Made::default() }.write_to(folder);
    let frames = |name: &str| {
        let asset = import::load(&folder.join(name), &Options::default());
        asset.map(|asset| asset.animation.grid.frame_count).map_err(|error| format!("{error:?}"))
    };
    for name in ["one.gltf", "one_vat.png", "one-remap_info.json"] {
        assert_eq!(frames(name), Ok(8), "{name}");
    }
    for name in ["two.gltf", "two_vat.png", "two_vnrm.png", "two-remap_info.json"] {
        assert_eq!(frames(name), Ok(5), "{name}");
    }
    assert!(frames("").unwrap_err().contains("Ambiguous"));
    fs::write(folder.join("readme.txt"), "about").unwrap();
    fs::write(folder.join("other.json"), "{}").unwrap();
    for name in ["readme.txt", "other.json"] {
        assert!(frames(name).unwrap_err().contains("Unknown"), "{name}");
    }
    // An asset of our own beside the export is not its mesh.
    fs::write(one.path(".vat.glb"), "not read").unwrap();
    assert_eq!(frames("one-remap_info.json"), Ok(8));
}
