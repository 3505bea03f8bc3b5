//! Each scene in `assets/scenes` gives its golden picture, and gives it again in a new process.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test --test golden` writes the pictures; look at them before committing.
#![cfg(feature = "app")]
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use image::RgbImage;

/// Goldens are small: they are looked at in reviews and live in the repository.
const MAX_GOLDEN_BYTES: u64 = 64 << 10;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn scenes() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root().join("assets/scenes"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|name| name != "scene.schema")
        .collect();
    names.sort();
    names
}

/// At most 256×144, in the scene's own shape.
fn golden_size(scene: &Path) -> String {
    let value: serde_json::Value = serde_json::from_slice(&fs::read(scene).unwrap()).unwrap();
    let side = |index: usize, default: u64| value["size"][index].as_u64().unwrap_or(default) as f64;
    let (width, height) = (side(0, 1280), side(1, 720));
    let scale = (256.0 / width).min(144.0 / height);
    format!("{}x{}", (width * scale).round(), (height * scale).round())
}

/// Runs `throng capture` in a process of its own. `None` when there is no adapter to draw with.
fn capture(name: &str, to: &Path) -> Option<()> {
    let scene = root().join(format!("assets/scenes/{name}.json"));
    let output = Command::new(env!("CARGO_BIN_EXE_throng"))
        .args(["capture", "--force", "--size", &golden_size(&scene), "-o"])
        .args([to, scene.as_path()])
        .output()
        .unwrap();
    if output.status.code() == Some(5) && env::var_os("THRONG_REQUIRE_GPU").is_none() {
        eprintln!("skipped: no adapter");
        return None;
    }
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

fn pixels(path: &Path) -> RgbImage {
    image::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).into_rgb8()
}

/// Pixels of which a channel differs by more than `levels`.
fn differing(a: &RgbImage, b: &RgbImage, levels: u8) -> usize {
    assert_eq!(a.dimensions(), b.dimensions());
    a.pixels()
        .zip(b.pixels())
        .filter(|(a, b)| a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > levels))
        .count()
}

/// The goldens were drawn by this driver; others round edges differently.
fn is_reference_driver() -> bool {
    let output = Command::new(env!("CARGO_BIN_EXE_throng")).args(["doctor", "--json"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).contains("llvmpipe")
}

#[test]
fn every_scene_gives_its_golden() {
    let folder = root().join("tests/golden");
    let scratch = tempfile::tempdir().unwrap();
    let update = env::var_os("UPDATE_SNAPSHOTS").is_some();
    // On another driver an outline of one pixel may move; a limb that is wrong is more than that.
    let (levels, allowed) = if is_reference_driver() { (0, 0) } else { (12, 400) };
    let mut wrong = Vec::new();
    for name in scenes() {
        let golden = folder.join(format!("{name}.png"));
        let found = scratch.path().join(format!("{name}.png"));
        let Some(()) = capture(&name, &found) else {
            return;
        };
        if update {
            fs::create_dir_all(&folder).unwrap();
            fs::copy(&found, &golden).unwrap();
        }
        let count = differing(&pixels(&found), &pixels(&golden), levels);
        let bytes = fs::metadata(&golden).unwrap().len();
        assert!(bytes <= MAX_GOLDEN_BYTES, "{name}: {bytes} bytes");
        if count > allowed {
            let new: PathBuf = folder.join(format!("{name}.new.png"));
            fs::copy(&found, &new).unwrap();
            wrong.push(format!("{name}: {count} pixels differ by more than {levels}: see {}", new.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_second_process_draws_the_same_bits() {
    let scratch = tempfile::tempdir().unwrap();
    for name in ["one", "ring"] {
        let (first, second) = (scratch.path().join("first.png"), scratch.path().join("second.png"));
        let Some(()) = capture(name, &first) else {
            return;
        };
        capture(name, &second);
        assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap(), "{name}");
    }
}

#[test]
fn goldens_have_scenes_and_differ_from_each_other() {
    let names = scenes();
    let mut pictures = Vec::new();
    for entry in fs::read_dir(root().join("tests/golden")).unwrap().flatten() {
        let file = entry.file_name().into_string().unwrap();
        let Some(name) = file.strip_suffix(".png").filter(|name| !name.contains('.')) else {
            continue;
        };
        assert!(names.iter().any(|scene| scene == name), "{file} has no scene");
        pictures.push((name.to_owned(), fs::read(entry.path()).unwrap()));
    }
    assert_eq!(pictures.len(), names.len(), "a scene has no golden");
    for (index, (name, picture)) in pictures.iter().enumerate() {
        for (other, other_picture) in &pictures[..index] {
            assert_ne!(picture, other_picture, "{name} and {other}");
        }
    }
}
