//! Broken exports are refused with what was found and where, and nothing outside the folder is opened.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod common;

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use throng::import::{self, Error, MeshFrame, Options};
use throng::random::Random;

/// A copy of a real export, to be broken.
struct Export {
    folder: TempDir,
}

impl Export {
    fn new(name: &str) -> Option<Self> {
        let from = common::fixtures("openvat")?.join(name);
        let from = fs::read_dir(from).unwrap().flatten().find(|entry| entry.path().is_dir()).unwrap().path();
        let folder = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(from).unwrap().flatten() {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        Some(Self { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn load(&self) -> Result<throng::asset::Asset, Error> {
        self.load_with(&Options::default())
    }

    fn load_with(&self, options: &Options) -> Result<throng::asset::Asset, Error> {
        import::load(self.folder.path(), options)
    }

    fn edit(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.path(name)).unwrap();
        change(&mut bytes);
        fs::write(self.path(name), bytes).unwrap();
    }

    fn replace(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(name)).unwrap();
        assert!(text.contains(from), "{name} has no {from}");
        fs::write(self.path(name), text.replacen(from, to, 1)).unwrap();
    }
}

const JSON: &str = "wave-remap_info.json";
const GLB: &str = "wave.glb";
const PNG: &str = "wave_vat.png";
const EXR: &str = "wave_vat.exr";

#[test]
fn missing_files_are_named() {
    for (name, what) in [(GLB, "mesh"), (PNG, "position picture")] {
        let Some(export) = Export::new("wave/png16_packed") else { return };
        fs::remove_file(export.path(name)).unwrap();
        let error = export.load().unwrap_err();
        assert!(matches!(&error, Error::Missing { what: found, .. } if found.starts_with(what)), "{error:?}");
    }
    let Some(export) = Export::new("wave/png16_packed") else { return };
    fs::remove_file(export.path(JSON)).unwrap();
    assert!(matches!(export.load(), Err(Error::Unknown { .. })));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(import::load(empty.path(), &Options::default()), Err(Error::Unknown { .. })));
    let nowhere = empty.path().join("nowhere");
    assert!(matches!(import::load(&nowhere, &Options::default()), Err(Error::Read { .. })));
}

#[test]
fn two_candidates_are_listed() {
    let Some(export) = Export::new("wave/png16_packed") else { return };
    fs::copy(export.path(JSON), export.path("other-remap_info.json")).unwrap();
    let error = export.load().unwrap_err();
    assert!(
        matches!(&error, Error::Ambiguous { found, .. } if found.contains("other-remap_info.json")),
        "{error:?}"
    );
}

#[test]
fn truncated_and_corrupt_files_are_refused() {
    for (variant, name) in [
        ("wave/png16_packed", JSON),
        ("wave/png16_packed", PNG),
        ("wave/png16_packed", GLB),
        ("wave/exr16_packed", EXR),
        ("wave/exr32_packed", EXR),
        ("wave/png16_separate_fbx", "wave.fbx"),
    ] {
        for part in [0, 1, 3, 50, 90] {
            let Some(export) = Export::new(variant) else { return };
            export.edit(name, |bytes| bytes.truncate(bytes.len() * part / 100));
            let error = export.load().map(|_| ()).unwrap_err();
            println!("{name} cut to {part} %: {error}");
            let sort = match &error {
                Error::Json { .. } | Error::Unknown { .. } => "json",
                Error::Picture { .. } => "picture",
                Error::Mesh { .. } | Error::Value { .. } => "mesh",
                other => panic!("{name} cut to {part} %: {other:?}"),
            };
            let expected = if name == JSON {
                "json"
            } else if name == PNG || name == EXR {
                "picture"
            } else {
                "mesh"
            };
            assert_eq!(sort, expected, "{error:?}");
        }
    }
}

#[test]
fn pictures_of_another_size_are_refused_with_both_sizes() {
    // Resampled to powers of two, as engines do on import.
    let Some(export) = Export::new("wave/png16_packed") else { return };
    let picture = image::open(export.path(PNG)).unwrap();
    picture.resize_exact(1024, 64, image::imageops::FilterType::Triangle).save(export.path(PNG)).unwrap();
    let error = export.load().unwrap_err();
    assert!(matches!(&error, Error::NoLookup { found, .. } if found.contains("1024×64")), "{error:?}");
    // A frame short.
    let Some(export) = Export::new("wave/png16_separate_fbx") else { return };
    image::open(export.path(PNG)).unwrap().crop_imm(0, 0, 625, 31).save(export.path(PNG)).unwrap();
    assert!(export.load().is_err());
    // Normals of another size.
    let Some(export) = Export::new("wave/png8_separate") else { return };
    image::open(export.path("wave_vnrm.png"))
        .unwrap()
        .crop_imm(0, 0, 625, 16)
        .save(export.path("wave_vnrm.png"))
        .unwrap();
    assert!(matches!(export.load(), Err(Error::PictureSize { width: 625, height: 16, .. })));
    // More frames than there are rows.
    let Some(export) = Export::new("wave/exr16_none") else { return };
    export.replace(JSON, "\"Frames\": 32", "\"Frames\": 33");
    assert!(matches!(export.load(), Err(Error::PictureSize { .. } | Error::NoLookup { .. })));
}

#[test]
fn absurd_sizes_are_refused_before_memory_is_taken() {
    let big = Duration::from_secs(2);
    let Some(export) = Export::new("wave/png16_packed") else { return };
    export.edit(PNG, |bytes| {
        // Width and height in the header chunk, and its checksum.
        bytes[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        let checksum = crc32(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&checksum.to_be_bytes());
    });
    let begun = Instant::now();
    let error = export.load().unwrap_err();
    assert!(
        matches!(error, Error::TooLarge { .. } | Error::Picture { .. }) && begun.elapsed() < big,
        "{error:?}"
    );
    let Some(export) = Export::new("wave/exr16_packed") else { return };
    export.edit(EXR, |bytes| {
        let at = bytes.windows(10).position(|window| window == b"dataWindow").unwrap() + 10 + 1 + 6 + 4;
        bytes[at + 8..at + 16].copy_from_slice(&[0xff, 0xff, 0xff, 0x3f, 0xff, 0xff, 0xff, 0x3f]);
    });
    let begun = Instant::now();
    let error = export.load().unwrap_err();
    assert!(
        matches!(error, Error::TooLarge { .. } | Error::Picture { .. }) && begun.elapsed() < big,
        "{error:?}"
    );
    for frames in ["1000001", "4294967297", "1e300"] {
        let Some(export) = Export::new("wave/png16_packed") else { return };
        export.replace(JSON, "\"Frames\": 32", &format!("\"Frames\": {frames}"));
        assert!(matches!(export.load(), Err(Error::Value { .. })), "{frames}");
    }
    let Some(export) = Export::new("wave/png16_packed") else { return };
    let mut options = Options::default();
    options.limits.vertices = 600;
    assert!(matches!(export.load_with(&options), Err(Error::TooLarge { found: 625, limit: 600, .. })));
    options = Options::default();
    options.limits.image_pixels = 1000;
    assert!(matches!(export.load_with(&options), Err(Error::TooLarge { limit: 1000, .. })));
    options = Options::default();
    options.limits.file_bytes = 1000;
    assert!(matches!(export.load_with(&options), Err(Error::TooLarge { limit: 1000, .. })));
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

#[test]
fn values_that_are_not_finite_are_refused() {
    let Some(export) = Export::new("wave/exr32_separate") else { return };
    // Uncompressed floats: the file's end is pixels of the last row.
    export.edit(EXR, |bytes| {
        let end = bytes.len();
        for pixel in bytes[end - 625 * 4..].as_chunks_mut::<4>().0 {
            *pixel = f32::NAN.to_le_bytes();
        }
    });
    assert!(matches!(export.load(), Err(Error::NotFinite { row: 31, .. })));
    let Some(export) = Export::new("wave/png16_packed") else { return };
    let glb = fs::read(export.path(GLB)).unwrap();
    let json = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    export.edit(GLB, |bytes| bytes[28 + json..28 + json + 4].copy_from_slice(&f32::INFINITY.to_le_bytes()));
    assert!(matches!(export.load(), Err(Error::Value { found, .. }) if found == "inf"));
}

#[test]
fn meshes_without_a_lookup_are_refused_and_slightly_off_ones_warned_of() {
    let Some(export) = Export::new("walker/png16_packed") else { return };
    // The lookup is TEXCOORD_1; without it only the ordinary UVs are left.
    export.edit("walker.glb", |bytes| {
        let at = bytes.windows(10).position(|window| window == b"TEXCOORD_1").unwrap();
        bytes[at..at + 10].copy_from_slice(b"_EXCOORD_1");
    });
    assert!(matches!(export.load(), Err(Error::NoLookup { .. })));
    for (shift, refused) in [(0.1, false), (0.4, true)] {
        let Some(export) = Export::new("wave/png16_packed") else { return };
        let glb = fs::read(export.path(GLB)).unwrap();
        let json = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
        let document: serde_json::Value = serde_json::from_slice(&glb[20..20 + json]).unwrap();
        let attributes = document["meshes"][0]["primitives"][0]["attributes"].as_object().unwrap();
        let last = attributes
            .iter()
            .filter(|(name, _)| name.starts_with("TEXCOORD"))
            .max_by_key(|(name, _)| *name)
            .unwrap()
            .1;
        let accessor = &document["accessors"][last.as_u64().unwrap() as usize];
        let view = &document["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let start = 28 + json + view["byteOffset"].as_u64().unwrap() as usize;
        export.edit(GLB, |bytes| {
            for uv in bytes[start..start + 625 * 8].as_chunks_mut::<8>().0 {
                let u = f32::from_le_bytes(uv[..4].try_into().unwrap()) + shift / 625.0;
                uv[..4].copy_from_slice(&u.to_le_bytes());
            }
        });
        match export.load() {
            Ok(asset) => {
                assert!(!refused && asset.warnings.iter().any(|warning| warning.contains("off the centres")));
            }
            Err(error) => assert!(refused && matches!(error, Error::NoLookup { .. }), "{error:?}"),
        }
    }
}

#[test]
fn wrong_numbers_of_the_json_are_refused_with_their_place() {
    for (from, to, place) in [
        ("\"Frames\": 32", "\"Frames\": 0", "/os-remap/Frames"),
        ("\"Frames\": 32", "\"Frames\": \"x\"", "/os-remap/Frames"),
        ("\"Min\"", "\"Nim\"", "/os-remap/Min"),
    ] {
        let Some(export) = Export::new("wave/png16_packed") else { return };
        export.replace(JSON, from, to);
        match export.load() {
            Err(Error::Value { pointer, .. }) => assert_eq!(pointer, place),
            other => panic!("{to}: {other:?}"),
        }
    }
    let Some(export) = Export::new("wave/png16_packed") else { return };
    let frame = Options { mesh_frame: MeshFrame::Frame(32), ..Options::default() };
    assert!(
        matches!(export.load_with(&frame), Err(Error::Value { pointer, .. }) if pointer == "--mesh-frame")
    );
}

#[test]
fn clips_of_the_json_become_clips_and_ranges_outside_are_refused() {
    let clips = |clips: &str| {
        let export = Export::new("wave/png16_packed")?;
        export.replace(JSON, "{", &format!("{{ \"animations\": {{ {clips} }},"));
        Some(export.load())
    };
    let two = "\"in\": {\"startFrame\": 1, \"endFrame\": 10, \"framerate\": 12.5, \"looping\": false},
               \"out\": {\"startFrame\": 11, \"endFrame\": 32, \"looping\": true}";
    let Some(Ok(asset)) = clips(two) else { return };
    let found: Vec<_> =
        asset.clips.iter().map(|clip| (clip.first_frame, clip.frame_count, clip.fps)).collect();
    assert_eq!(found, [(0, 10, 12.5), (10, 22, 30.0)]);
    // A timeline that begins at 101.
    let late = "\"late\": {\"startFrame\": 101, \"endFrame\": 132, \"framerate\": 24}";
    let asset = clips(late).unwrap().unwrap();
    assert_eq!((asset.clips[0].first_frame, asset.clips[0].frame_count), (0, 32));
    assert!(asset.warnings.iter().any(|warning| warning.contains("begin at frame 101")));
    let wide = "\"wide\": {\"startFrame\": 1, \"endFrame\": 40}";
    assert!(
        matches!(clips(wide).unwrap(), Err(Error::Value { pointer, .. }) if pointer == "/animations/wide")
    );
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_and_pipes_are_not_opened() {
    let Some(export) = Export::new("wave/png16_packed") else { return };
    let Some(other) = Export::new("wave/png16_packed") else { return };
    for name in [PNG, GLB] {
        fs::remove_file(export.path(name)).unwrap();
        std::os::unix::fs::symlink(other.path(name), export.path(name)).unwrap();
        assert!(matches!(export.load(), Err(Error::Uri { .. })), "{name}");
        fs::remove_file(export.path(name)).unwrap();
        let made = std::process::Command::new("mkfifo").arg(export.path(name)).status().unwrap();
        assert!(made.success());
        assert!(matches!(export.load(), Err(Error::Uri { .. })), "{name}");
        fs::remove_file(export.path(name)).unwrap();
        fs::copy(other.path(name), export.path(name)).unwrap();
    }
    export.load().unwrap();
}

#[test]
fn jpeg_positions_are_refused() {
    let Some(export) = Export::new("wave/png8_packed") else { return };
    let picture = image::open(export.path(PNG)).unwrap();
    fs::remove_file(export.path(PNG)).unwrap();
    picture.save(export.path("wave_vat.jpg")).unwrap();
    assert!(matches!(export.load(), Err(Error::Picture { .. })));
}

/// Hundreds of broken copies: an error or an asset, never a panic.
#[test]
fn mutations_never_panic() {
    let mut random = Random::new(1);
    let (mut loaded, mut refused) = (0, 0);
    for (variant, name, rounds) in [
        ("wave/png8_packed", JSON, 120),
        ("wave/png8_packed", GLB, 160),
        ("wave/png8_packed", PNG, 60),
        ("wave/exr16_packed", EXR, 100),
        ("wave/png16_separate_fbx", "wave.fbx", 100),
    ] {
        let Some(export) = Export::new(variant) else { return };
        let whole = fs::read(export.path(name)).unwrap();
        for _ in 0..rounds {
            let mut bytes = whole.clone();
            for _ in 0..=random.below(4) {
                // Headers are short; half of the changes go there.
                let reach = if random.below(2) == 0 { bytes.len().min(1500) } else { bytes.len() };
                let at = random.below(reach);
                match random.below(4) {
                    0 => bytes[at] ^= 1 << random.below(8),
                    1 => bytes[at] = [0, 0xff, 0x7f, b'9'][random.below(4)],
                    2 => drop(bytes.drain(at..(at + random.below(9)).min(bytes.len()))),
                    _ => bytes.insert(at, random.bits() as u8),
                }
            }
            fs::write(export.path(name), &bytes).unwrap();
            let result = panic::catch_unwind(|| export.load().is_ok());
            match result {
                Ok(true) => loaded += 1,
                Ok(false) => refused += 1,
                Err(_) => {
                    let kept = std::env::temp_dir().join(format!("throng-panic-{name}"));
                    fs::write(&kept, bytes).unwrap();
                    panic!("a broken {name} panics: {}", kept.display());
                }
            }
        }
    }
    println!("{refused} refused, {loaded} loaded");
    assert!(refused > 200, "{refused}");
}

/// glTF files that other projects keep because they broke a reader.
#[test]
fn hostile_meshes_never_panic_and_attacks_are_refused() {
    let Some(root) = common::fixtures("hostile") else { return };
    let mut files = Vec::new();
    let mut pending = vec![root.clone()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "gltf" || extension == "glb") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 200, "{}", files.len());
    let mut refused = Vec::new();
    for path in &files {
        let begun = Instant::now();
        let result = panic::catch_unwind(|| import::read_mesh(path, &Options::default()));
        let Ok(result) = result else { panic!("{} panics", path.display()) };
        assert!(begun.elapsed() < Duration::from_secs(3), "{}", path.display());
        if result.is_err() {
            refused.push(path);
        }
        if let Ok(mesh) = result {
            assert!(mesh.positions.iter().all(|position| position.is_finite()));
            assert!(mesh.indices.iter().all(|index| (*index as usize) < mesh.positions.len()));
        }
    }
    println!("{} of {} refused", refused.len(), files.len());
    let refuses = |path: &Path| refused.iter().any(|refused| *refused == path);
    // Files with a fault in what a static mesh needs.
    for name in [
        "accessor_count_huge.gltf",
        "attr_count_mismatch.gltf",
        "chunk_length_huge.glb",
        "empty.glb",
        "html.gltf",
        "index_oob.gltf",
        "inf_position.gltf",
        "lfs_pointer.glb",
        "no_position.gltf",
        "not_gltf.glb",
        "truncated_half.glb",
        "uri_absolute.gltf",
        "uri_backslash.gltf",
        "uri_bad_percent.gltf",
        "uri_device.gltf",
        "uri_file_scheme.gltf",
        "uri_http.gltf",
        "uri_parent_dir.gltf",
        "utf16.gltf",
        "view_offset_overflow.gltf",
    ] {
        let path = root.join("made").join(name);
        assert!(refuses(&path), "{name} is taken");
    }
}
