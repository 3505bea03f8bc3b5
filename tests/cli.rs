//! The program, end to end: what it prints where, its exit codes, and what it leaves on the disk.
#![cfg(feature = "app")]
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod common;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The flag, baked small once for all tests.
static FLAG: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flag.vat.glb");
    let output = throng(&["bake", "builtin:flag", "--fps", "5", "-o", path.to_str().unwrap()]);
    assert_code(&output, 0);
    (folder, path)
});

fn flag() -> &'static str {
    FLAG.1.to_str().unwrap()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    command.args(arguments).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("RUST_LOG");
    command
}

fn throng(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    let value: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(output)));
    assert_eq!(value["schema_version"], 1);
    value
}

#[track_caller]
fn assert_code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
}

/// Whether this machine can draw; where it must, a failure to is one.
fn can_draw() -> bool {
    common::gpu().is_some()
}

#[test]
fn inspect_says_what_is_in_an_asset() {
    let value = json(&throng(&["inspect", flag(), "--json"]));
    for key in ["mode", "encoding", "normals", "producer", "assumptions", "warnings"] {
        assert!(!value[key].is_null(), "{key}");
    }
    assert_eq!(value["mode"], "soft");
    assert_eq!(value["encoding"], "unorm16");
    assert_eq!(value["normals"], "texture16");
    assert_eq!(value["element_count"], value["vertex_count"]);
    assert!(value["triangle_count"].as_u64().unwrap() > 2000);
    assert_eq!(
        value["clips"][0]["name"].as_str().zip(value["clips"][0]["loop"].as_str()),
        Some(("fly", "loop"))
    );
    assert_eq!(
        (&value["clips"][0]["first_frame"], &value["clips"][0]["frame_count"]),
        (&0.into(), &20.into())
    );
    assert_eq!(value["clips"][0]["fps"], 5.0);
    assert!(value["bounds"]["max"][1].as_f64().unwrap() > 2.9);
    let texture = &value["texture"];
    assert_eq!((&texture["rows_per_frame"], &texture["height"]), (&1.into(), &20.into()));
    assert_eq!(
        texture["bytes"].as_u64().unwrap(),
        8 * texture["width"].as_u64().unwrap() * texture["height"].as_u64().unwrap()
    );
    let text = throng(&["inspect", flag()]);
    assert_code(&text, 0);
    assert!(String::from_utf8(text.stdout).unwrap().contains("unorm16"));
}

#[test]
fn sample_prints_the_mesh_at_a_moment() {
    let value = json(&throng(&["sample", flag(), "--frame", "3"]));
    let count = value["vertex_count"].as_u64().unwrap() as usize;
    assert_eq!(value["positions"].as_array().unwrap().len(), 3 * count);
    assert_eq!(value["normals"].as_array().unwrap().len(), 3 * count);
    assert_eq!(
        (&value["clip"], &value["frame"], &value["time_seconds"]),
        (&"fly".into(), &3.0.into(), &0.6.into())
    );
    // The same moment by time, and one loop later.
    for time in ["0.6", "4.6"] {
        let by_time = json(&throng(&["sample", flag(), "--time", time]));
        assert_eq!(by_time["positions"], value["positions"], "{time}");
    }
    let between = json(&throng(&["sample", flag(), "--frame", "3.5"]));
    let stepped = json(&throng(&["sample", flag(), "--frame", "3.5", "--blend", "step"]));
    let curved = json(&throng(&["sample", flag(), "--frame", "3.5", "--blend", "catmull-rom"]));
    assert_eq!(stepped["positions"], value["positions"]);
    assert_ne!(between["positions"], value["positions"]);
    assert_ne!(between["positions"], curved["positions"]);
    if can_draw() {
        let gpu = json(&throng(&["sample", flag(), "--frame", "3.5", "--device", "gpu"]));
        let pairs = gpu["positions"].as_array().unwrap().iter().zip(between["positions"].as_array().unwrap());
        assert!(pairs.into_iter().all(|(a, b)| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-5));
    }
}

#[test]
fn sample_prints_obj_and_ply_with_all_triangles() {
    let value = json(&throng(&["inspect", flag(), "--json"]));
    let count = |key: &str| value[key].as_u64().unwrap() as usize;
    let obj = throng(&["sample", flag(), "--frame", "0", "--format", "obj"]);
    let obj = String::from_utf8(obj.stdout).unwrap();
    let lines = |start: &str| obj.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!(
        (lines("v "), lines("vn "), lines("f ")),
        (count("vertex_count"), count("vertex_count"), count("triangle_count"))
    );
    let ply = throng(&["sample", flag(), "--frame", "0", "--format", "ply"]);
    let ply = String::from_utf8(ply.stdout).unwrap();
    let body = ply.split_once("end_header\n").unwrap().1;
    assert_eq!(body.lines().count(), count("vertex_count") + count("triangle_count"));
}

#[test]
fn clips_are_found_by_name_index_and_glob_and_listed_when_not() {
    for clip in ["fly", "0", "f*", "?ly"] {
        assert_code(&throng(&["sample", flag(), "--frame", "0", "--clip", clip]), 0);
    }
    let unknown = throng(&["sample", flag(), "--frame", "0", "--clip", "swim"]);
    assert_code(&unknown, 2);
    assert!(unknown.stdout.is_empty());
    assert!(stderr(&unknown).contains("\"fly\""), "{}", stderr(&unknown));
    let late = throng(&["sample", flag(), "--frame", "20"]);
    assert_code(&late, 2);
    assert!(stderr(&late).contains("0 to 19"), "{}", stderr(&late));
}

#[test]
fn usage_errors_are_2_and_print_nothing_on_stdout() {
    let unused = tempfile::tempdir().unwrap();
    let txt = unused.path().join("a.txt");
    for arguments in [
        &["sample", flag()][..],
        &["sample", flag(), "--frame", "0", "--time", "0"],
        &["sample", flag(), "--frame", "NaN"],
        &["sample", flag(), "--frame", "-1"],
        &["sample", flag(), "--frame", "0", "--blend", "cubic"],
        &["bake", "builtin:flag", "-o", "x.vat.glb", "--encoding", "unorm12"],
        &["bake", "builtin:bird", "-o", "x.vat.glb"],
        &["bake", "a.glb", "b.glb", "-o", "x.vat.glb"],
        &["bake", "a.glb"],
        &["bake", "builtin:flag", "-o", "x.vat.glb", "--fps", "0"],
        &["capture", flag(), "-o", txt.to_str().unwrap()],
        &["capture", flag(), "-o", "a.png", "--size", "0x10"],
        &["capture", flag(), "-o", "a.png", "--size", "99999x10"],
        &["imporrt"],
        &["import", flag(), "-o", "x.vat.glb", "--mesh-frame", "first"],
    ] {
        let output = throng(arguments);
        assert_code(&output, 2);
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    assert!(!Path::new("x.vat.glb").exists());
    assert!(stderr(&throng(&["imporrt"])).contains("import"), "it guesses what was meant");
}

#[test]
fn inputs_that_are_no_assets_are_3() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.path().join(name), bytes).unwrap();
        folder.path().join(name).to_str().unwrap().to_owned()
    };
    let whole = fs::read(flag()).unwrap();
    let inputs = [
        write("empty.vat.glb", b""),
        write("text.vat.glb", b"hello"),
        write("cut.vat.glb", &whole[..whole.len() / 2]),
        write("scene.json", b"{\"schema_version\": 2, \"crowds\": []}"),
        write("broken.json", b"{"),
        folder.path().join("nowhere").to_str().unwrap().to_owned(),
        folder.path().to_str().unwrap().to_owned(),
    ];
    let out = folder.path().join("out.png");
    for input in &inputs {
        let output = throng(&["capture", input, "-o", out.to_str().unwrap()]);
        assert_code(&output, 3);
        assert!(output.stdout.is_empty() && !out.exists(), "{input}");
        let named = stderr(&output);
        assert!(named.contains(input.as_str()), "{input} is not named: {named}");
    }
}

#[test]
fn outputs_are_overwritten_only_with_force_and_nothing_half_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vat.glb");
    let to = path.to_str().unwrap();
    let bake = ["bake", "builtin:flag", "--fps", "2", "-o", to];
    assert_code(&throng(&bake), 0);
    let first = fs::read(&path).unwrap();
    let refused = throng(&bake);
    assert_code(&refused, 4);
    assert!(stderr(&refused).contains("--force"));
    assert_eq!(fs::read(&path).unwrap(), first);
    assert_code(&throng(&[&bake[..], &["--encoding", "unorm8", "--force"]].concat()), 0);
    assert_ne!(fs::read(&path).unwrap(), first);
    let missing = folder.path().join("no/such/folder/a.vat.glb");
    assert_code(&throng(&["bake", "builtin:flag", "--fps", "2", "-o", missing.to_str().unwrap()]), 4);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn baking_twice_gives_the_same_bytes_and_import_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(format!("{name}.vat.glb")).to_str().unwrap().to_owned();
    let report = json(&throng(&["bake", "builtin:flag", "--fps", "5", "--json", "-o", &path("again")]));
    assert!(report["position_error_metres"]["error"].as_f64().unwrap() < 1e-4);
    assert_eq!(fs::read(flag()).unwrap(), fs::read(path("again")).unwrap());
    // Our own file goes through import unchanged, and compressed and back.
    assert_code(&throng(&["import", flag(), "-o", &path("same")]), 0);
    assert_eq!(fs::read(flag()).unwrap(), fs::read(path("same")).unwrap());
    assert_code(&throng(&["import", flag(), "-o", &path("small"), "--compression", "zstd"]), 0);
    assert!(fs::metadata(path("small")).unwrap().len() < fs::metadata(flag()).unwrap().len());
    assert_code(&throng(&["import", &path("small"), "-o", &path("back")]), 0);
    assert_eq!(fs::read(flag()).unwrap(), fs::read(path("back")).unwrap());
}

#[test]
fn captures_are_pictures_sequences_and_animations() {
    if !can_draw() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let size = ["--size", "64x48"];
    let one =
        throng(&[&["capture", flag(), "-o", &path("one.png"), "--json", "--count", "9"], &size[..]].concat());
    let printed = json(&one);
    assert_eq!(
        (&printed["instances"], &printed["width"], &printed["height"]),
        (&9.into(), &64.into(), &48.into())
    );
    // Background, and shadow and colour of cloth and pole.
    assert_eq!(printed["draws"], 5);
    let dimensions = |name: &str| image::image_dimensions(path(name)).unwrap();
    assert_eq!(dimensions("one.png"), (64, 48));
    let sequence = ["capture", flag(), "-o", &path("seq.png"), "--frames", "3", "--fps", "2"];
    assert_code(&throng(&[&sequence, &size[..]].concat()), 0);
    let frames: Vec<_> =
        (0..3).map(|frame| fs::read(path(&format!("seq-{frame:04}.png"))).unwrap()).collect();
    assert!(frames[0] != frames[1] && frames[1] != frames[2] && !Path::new(&path("seq.png")).exists());
    assert_code(
        &throng(&[&["capture", flag(), "-o", &path("a.gif"), "--frames", "3"], &size[..]].concat()),
        0,
    );
    assert_eq!(dimensions("a.gif"), (64, 48));
    // Time is what makes the picture: the second of the sequence is the picture at half a second.
    let late = ["capture", flag(), "-o", &path("late.png"), "--time", "0.5"];
    assert_code(&throng(&[&late, &size[..]].concat()), 0);
    assert_eq!(fs::read(path("late.png")).unwrap(), frames[1]);
}

#[test]
fn without_a_display_the_demo_is_two_files_and_view_says_so() {
    if !can_draw() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = command(&[]).current_dir(folder.path()).output().unwrap();
    assert_code(&output, 0);
    assert!(output.stdout.is_empty() && stderr(&output).contains("no display"));
    for name in ["throng-demo.png", "throng-demo.gif"] {
        assert!(fs::metadata(folder.path().join(name)).unwrap().len() > 10_000, "{name}");
    }
    // Run again, it overwrites nothing.
    let before = fs::read(folder.path().join("throng-demo.png")).unwrap();
    fs::write(folder.path().join("throng-demo.gif"), "mine").unwrap();
    assert_code(&command(&[]).current_dir(folder.path()).output().unwrap(), 0);
    assert_eq!(fs::read(folder.path().join("throng-demo.png")).unwrap(), before);
    assert_eq!(fs::read(folder.path().join("throng-demo.gif")).unwrap(), b"mine");
    assert!(folder.path().join("throng-demo-2.gif").exists());
    let view = throng(&["view", flag()]);
    assert_code(&view, 5);
    assert!(stderr(&view).contains("throng capture"));
}

#[test]
fn doctor_says_what_is_there_and_5_where_nothing_is() {
    if can_draw() {
        let value = json(&throng(&["doctor", "--json"]));
        let adapter = &value["adapters"][0];
        assert!(
            adapter["name"].is_string()
                && adapter["limits"]["max_texture_dimension_2d"].as_u64().unwrap() >= 2048
        );
        assert_eq!(value["display"], false);
    }
    let nothing = command(&["doctor"]).env("WGPU_BACKEND", "dx12").output().unwrap();
    if cfg!(target_os = "linux") {
        assert_code(&nothing, 5);
        assert!(String::from_utf8_lossy(&nothing.stdout).contains("mesa-vulkan-drivers"));
        let capture =
            command(&["capture", flag(), "-o", "never.png"]).env("WGPU_BACKEND", "dx12").output().unwrap();
        assert_code(&capture, 5);
        assert!(!Path::new("never.png").exists());
    }
}

#[test]
fn help_version_and_completions() {
    for arguments in [&["--help"][..], &["-h"], &["help", "sample"], &["--version"], &["completions", "bash"]]
    {
        let output = throng(arguments);
        assert_code(&output, 0);
        assert!(!output.stdout.is_empty(), "{arguments:?}");
    }
    let help = String::from_utf8(throng(&["--help"]).stdout).unwrap();
    assert!(help.contains("Exit codes") && help.contains("Examples"));
    let version = String::from_utf8(throng(&["--version"]).stdout).unwrap();
    assert!(version.contains(env!("CARGO_PKG_VERSION")) && version.contains("wgpu"));
}

#[test]
fn colour_is_for_terminals_and_as_asked() {
    let plain = throng(&["inspect", "nowhere"]);
    assert!(!stderr(&plain).contains('\x1b'), "stderr is no terminal here");
    let always = throng(&["--color", "always", "inspect", "nowhere"]);
    assert!(stderr(&always).contains("\x1b["));
    let never = throng(&["--color", "never", "inspect", "nowhere"]);
    assert!(!stderr(&never).contains('\x1b'));
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = command(&["sample", flag(), "--frame", "0", "--format", "obj"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_code(&output, 0);
    assert!(output.stderr.is_empty(), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn signals_end_it_at_once_with_their_code_and_leave_nothing() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = command(&["bake", "builtin:flag", "--fps", "240", "-o"])
            .arg(folder.path().join("a.vat.glb"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let begun = Instant::now();
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(code), "{signal}");
        assert!(begun.elapsed() < Duration::from_secs(1));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{signal}");
    }
}

#[test]
fn every_command_takes_a_foreign_folder() {
    let Some(root) = common::fixtures("openvat") else { return };
    let folder = root.join("wave/exr16_packed/wave_vat");
    let folder = folder.to_str().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(json(&throng(&["inspect", folder, "--json"]))["vertex_count"], 625);
    assert_eq!(json(&throng(&["sample", folder, "--frame", "31"]))["vertex_count"], 625);
    let import = throng(&["import", folder, "-o", &path("wave.vat.glb"), "--fps", "24"]);
    assert_code(&import, 0);
    assert!(stderr(&import).contains("not at rest"), "what was assumed is said: {}", stderr(&import));
    let ours = json(&throng(&["sample", &path("wave.vat.glb"), "--frame", "17"]));
    assert_eq!(ours["positions"], json(&throng(&["sample", folder, "--frame", "17"]))["positions"]);
    assert_eq!(json(&throng(&["inspect", &path("wave.vat.glb"), "--json"]))["clips"][0]["fps"], 24.0);
    if can_draw() {
        assert_code(&throng(&["capture", folder, "-o", &path("a.png"), "--size", "64x48", "-q"]), 0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_error_that_nobody_can_read_keeps_its_exit_code() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = command(&["inspect", "nothing-there"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(3));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = command(&["inspect", "nothing-there"]).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(3));
}

#[test]
fn files_that_are_no_assets_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = folder.path().join("mesh.glb");
    fs::write(&mesh, b"glTF of somebody").unwrap();
    let output = throng(&["bake", "builtin:flag", "-o", mesh.to_str().unwrap(), "--force"]);
    assert_code(&output, 4);
    assert_eq!(fs::read(&mesh).unwrap(), b"glTF of somebody");
    let picture = folder.path().join("a.png");
    assert_code(&throng(&["bake", "builtin:flag", "-o", picture.to_str().unwrap()]), 2);
}

#[test]
fn what_is_no_model_is_called_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, word) in [
        ("lfs.glb", &b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"[..], "LFS"),
        ("empty.glb", b"", "empty"),
        ("page.gltf", b"<!doctype html>", "HTML"),
        ("archive.glb", b"PK\x03\x04", "zip"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let output = throng(&["inspect", path.to_str().unwrap()]);
        assert_code(&output, 3);
        assert!(stderr(&output).contains(word), "{name}: {}", stderr(&output));
    }
}

#[test]
fn a_scene_names_clips_and_sources_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.json");
    for (asset, clips, word) in [(flag(), "nope", "clips of"), ("builtin:nope", "fly", "built-in")] {
        let text = serde_json::json!({"schema_version": 1, "crowds":
            [{"asset": asset, "crowd": {"count": 2, "clips": [clips]}}]});
        fs::write(&scene, text.to_string()).unwrap();
        let to = folder.path().join("a.png");
        let output = throng(&["capture", scene.to_str().unwrap(), "-o", to.to_str().unwrap()]);
        assert_code(&output, 3);
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
    }
}

/// `bake` of models: one, several with one that fails, unchanged ones, and a limit that cannot be kept.
#[test]
fn models_are_baked_one_by_one_and_in_batches() {
    let Some(models) = common::fixtures("gltf") else { return };
    let folder = tempfile::tempdir().unwrap();
    let model = |name: &str| models.join(name).to_str().unwrap().to_owned();
    let (fox, simple) = (model("fox/Fox.glb"), model("simple_skin/SimpleSkin.gltf"));
    let draco = model("quat_mech_finn_draco/Mech_FinnTheFrog-transformed.glb");
    let to = folder.path().to_str().unwrap();
    let batch = ["bake", &fox, &draco, &simple, "--out-dir", to, "--jobs", "2", "--json"];
    let output = throng(&batch);
    assert_code(&output, 3);
    let value = json(&output);
    assert_eq!((&value["baked"], &value["failed"]), (&2.into(), &1.into()));
    assert!(value["results"][1]["error"].as_str().unwrap().contains("KHR_draco_mesh_compression"));
    let fox_file = folder.path().join("Fox.vat.glb");
    let bytes = fs::read(&fox_file).unwrap();
    let again = json(&throng(&[&batch[..], &["--changed"]].concat()));
    assert_eq!((&again["unchanged"], &again["failed"]), (&2.into(), &1.into()));
    let other = json(&throng(&[&batch[..], &["--changed", "--encoding", "unorm8"]].concat()));
    assert_eq!(other["baked"], 2);
    assert_ne!(fs::read(&fox_file).unwrap(), bytes);
    // Same bytes whatever the number of threads.
    let single = folder.path().join("single.vat.glb");
    let one = command(&["bake", &fox, "-o", single.to_str().unwrap()]).env("RAYON_NUM_THREADS", "1").output();
    assert_code(&one.unwrap(), 0);
    assert_eq!(fs::read(&single).unwrap(), bytes);
    let missed = throng(&["bake", &simple, "-o", &format!("{to}/x.vat.glb"), "--max-error", "0.000001mm"]);
    assert_code(&missed, 1);
    assert!(stderr(&missed).contains("What would be"), "{}", stderr(&missed));
    assert!(!folder.path().join("x.vat.glb").exists());
    // A model is evaluated by itself, in its own order of vertices.
    let sample = json(&throng(&["sample", &fox, "--clip", "Run", "--time", "0.2"]));
    assert_eq!(sample["vertex_count"], 1728);
    assert!(sample["positions"][0].as_f64().unwrap().to_string().len() > 10, "all digits of a double");
}

/// Anisotropic filtering never ended on llvmpipe where a crowd's derivatives are not numbers.
#[test]
fn a_crowd_that_overlaps_itself_is_drawn_in_time() {
    let Some(exports) = common::fixtures("openvat") else { return };
    if !can_draw() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.json");
    let wave = folder.path().join("wave.vat.glb");
    let export = exports.join("wave/exr16_packed");
    assert_code(&throng(&["import", export.to_str().unwrap(), "-o", wave.to_str().unwrap()]), 0);
    let text = r#"{"schema_version": 1, "size": [32, 32],
        "crowds": [{"asset": "wave.vat.glb", "crowd": {"count": 2000, "layout": "ring"}}]}"#;
    fs::write(&scene, text).unwrap();
    let to = folder.path().join("a.png");
    let mut child =
        command(&["capture", scene.to_str().unwrap(), "-o", to.to_str().unwrap()]).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("not drawn after a minute");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(child.wait().unwrap().success());
}

#[test]
fn sequences_levels_and_kept_rigs_by_their_flags() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for frame in 0..4 {
        let mut text = String::new();
        for point in 0..81 {
            let (x, z) = (point % 9, point / 9);
            text.push_str(&format!("v {x} {} {z}\n", if x > 4 { frame } else { 0 }));
        }
        for quad in (0..72).filter(|quad| quad % 9 < 8) {
            text.push_str(&format!("f {} {} {} {}\n", quad + 1, quad + 10, quad + 11, quad + 2));
        }
        fs::write(at(&format!("rise_{frame}.obj")), text).unwrap();
    }
    let output = at("rise.vat.glb");
    let bake = |source: &str, more: &[&str]| {
        let arguments = [&["bake", source, "-o", &output, "--force", "--json"][..], more].concat();
        json(&throng(&arguments))
    };
    for (source, more) in [
        (folder.path().to_str().unwrap().to_owned(), &[][..]),
        (at("rise_*.obj"), &[][..]),
        (at("rise_0.obj"), &["--sequence"][..]),
    ] {
        let report = bake(&source, &[more, &["--lods", "2", "--fps", "12"]].concat());
        assert_eq!((&report["frame_count"], &report["lods"][1]["measured_frames"]), (&4.into(), &4.into()));
        assert!(report["seconds"].as_f64().unwrap() > 0.0);
    }
    let inspected = json(&throng(&["inspect", &output, "--json"]));
    assert_eq!(inspected["clips"][0]["fps"], 12.0);
    let levels = inspected["lods"].as_array().unwrap();
    assert!(levels[1]["triangle_count"].as_u64() < levels[0]["triangle_count"].as_u64());
    // A sample is exact, and in the order of the file.
    let sample = json(&throng(&["sample", folder.path().to_str().unwrap(), "--frame", "3"]));
    assert_eq!(sample["positions"].as_array().unwrap()[8 * 3..9 * 3], [8.0, 3.0, 0.0].map(Value::from));
    for wrong in
        [&["--fps", "auto", "--max-error", "1mm"][..], &["--trim"], &["--root", "strip"], &["--clip", "x"]]
    {
        let source = at("rise_*.obj");
        let arguments = [&["bake", &source, "-o", &output, "--force"][..], wrong].concat();
        assert_code(&throng(&arguments), 2);
    }
    assert_code(
        &throng(&["bake", &at("rise_0.obj"), "--cache", &at("none.pc2"), "-o", &output, "--force"]),
        3,
    );
    let Some(root) = common::fixtures("gltf") else { return };
    let fox = root.join("fox/Fox.glb");
    let fox = fox.to_str().unwrap();
    let plays = |path: &str| fs::read(path).unwrap().windows(12).any(|bytes| bytes == b"\"animations\"");
    for (flag, kept) in [(&[][..], true), (&["--keep-rig=false"], false), (&["--keep-rig"], true)] {
        bake(fox, flag);
        assert_eq!(plays(&output), kept, "{flag:?}");
    }
    bake(&at("rise_*.obj"), &["--keep-rig"]);
    assert!(!plays(&output), "there is none to keep");
}
