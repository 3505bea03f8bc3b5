//! Point caches and sequences of meshes: one motion, however it is stored, and faults with their place.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use glam::Vec3;
use throng::bake::{self, Settings};
use throng::clip::LoopMode;
use throng::import::{self, Error, Options, PointOptions};
use throng::source::Source;
use throng::vat::playback::encode_frames;
use throng::vat::{Encoding, FrameBlend};

const SIDE: usize = 9;
const FRAMES: usize = 6;

/// A sheet that waves. Point by point at each frame.
fn wave(frame: usize) -> Vec<Vec3> {
    let turn = frame as f32 / FRAMES as f32 * std::f32::consts::TAU;
    let at = |index: usize| (index % SIDE, index / SIDE);
    (0..SIDE * SIDE)
        .map(|index| {
            let (x, z) = (at(index).0 as f32 / 4.0 - 1.0, at(index).1 as f32 / 4.0 - 1.0);
            Vec3::new(x, 0.3 * (x * 3.0 + turn).sin(), z)
        })
        .collect()
}

/// Quads of the sheet, counted from 0.
fn quads() -> impl Iterator<Item = [usize; 4]> {
    (0..(SIDE - 1) * (SIDE - 1)).map(|quad| {
        let a = quad / (SIDE - 1) * SIDE + quad % (SIDE - 1);
        [a, a + SIDE, a + SIDE + 1, a + 1]
    })
}

/// An OBJ with a seam in its texture coordinates, colours behind the points and indices from the end.
fn obj(points: &[Vec3]) -> String {
    let mut text = "# a sheet\nmtllib none.mtl\no sheet\n".to_owned();
    for p in points {
        writeln!(text, "v {} {} {} 0.5 0.25 1", p.x, p.y, p.z).unwrap();
    }
    text.push_str("vt 0 0\nvt 1 0\nvt 1 \\\n1\nvt 0 1\nusemtl cloth\n");
    let count = points.len() as i64;
    for (number, quad) in quads().enumerate() {
        let corners = quad.map(|at| if number % 2 == 0 { at as i64 + 1 } else { at as i64 - count });
        let corners: Vec<_> = (1..).zip(corners).map(|(uv, at): (i32, _)| format!("{at}/{uv}")).collect();
        writeln!(text, "f {}", corners.join(" ")).unwrap();
    }
    text
}

fn ply(points: &[Vec3], format: &str) -> Vec<u8> {
    let head = format!(
        "ply\nformat {format} 1.0\ncomment made\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n",
        points.len(),
        quads().count()
    );
    let mut bytes = head.into_bytes();
    if format == "ascii" {
        let mut text = String::new();
        points.iter().for_each(|p| writeln!(text, "{} {} {} 255", p.x, p.y, p.z).unwrap());
        quads().for_each(|[a, b, c, d]| writeln!(text, "4 {a} {b} {c} {d}").unwrap());
        bytes.extend(text.into_bytes());
        return bytes;
    }
    let big = format == "binary_big_endian";
    for p in points {
        for n in p.to_array() {
            bytes.extend(if big { n.to_be_bytes() } else { n.to_le_bytes() });
        }
        bytes.push(255);
    }
    for quad in quads() {
        bytes.push(4);
        for at in quad {
            bytes.extend(if big { (at as i32).to_be_bytes() } else { (at as i32).to_le_bytes() });
        }
    }
    bytes
}

fn pc2(frames: usize) -> Vec<u8> {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    bytes.extend(1i32.to_le_bytes());
    bytes.extend(((SIDE * SIDE) as i32).to_le_bytes());
    bytes.extend(0f32.to_le_bytes());
    bytes.extend(1f32.to_le_bytes());
    bytes.extend((frames as i32).to_le_bytes());
    (0..frames).flat_map(wave).for_each(|p| bytes.extend(p.to_array().iter().flat_map(|n| n.to_le_bytes())));
    bytes
}

fn mdd() -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((FRAMES as u32).to_be_bytes());
    bytes.extend(((SIDE * SIDE) as u32).to_be_bytes());
    (0..FRAMES).for_each(|frame| bytes.extend((frame as f32 / 12.0).to_be_bytes()));
    (0..FRAMES).flat_map(wave).for_each(|p| bytes.extend(p.to_array().iter().flat_map(|n| n.to_be_bytes())));
    bytes
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("base.obj", obj(&wave(0)));
        folder
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn cached(&self, name: &str, bytes: &[u8]) -> Result<Source, Error> {
        let cache = Some(self.write(name, bytes));
        let wanted = PointOptions { cache, ..PointOptions::default() };
        import::points(&self.0.path().join("base.obj"), &wanted, &Options::default())
    }
}

fn sequence(path: &Path) -> Result<Source, Error> {
    import::points(path, &PointOptions::default(), &Options::default())
}

fn check(source: &Source, frames: usize) {
    let settings = Settings { encoding: Encoding::Float32, ..Settings::default() };
    let baked = bake::bake(source, &settings).unwrap();
    let clip = &baked.asset.clips[0];
    assert_eq!(clip.frame_count as usize, frames);
    assert_eq!(baked.asset.mesh.triangle_count(), quads().count() * 2);
    for frame in 0..frames {
        let pose = baked.asset.pose(encode_frames(clip, frame as f64), FrameBlend::Step);
        let truth = wave(frame);
        // Every point is shown, each at its own place: whatever vertices were split or ordered into.
        let mut shown = vec![false; truth.len()];
        for (position, normal) in pose.positions.iter().zip(&pose.normals) {
            let near = truth.iter().position(|p| p.distance(*position) < 1e-6).expect("no such point");
            shown[near] = true;
            // The slope of the sheet where it is smooth on both sides.
            let x = truth[near].x;
            let turn = frame as f32 / FRAMES as f32 * std::f32::consts::TAU;
            let slope = Vec3::new(-0.9 * (x * 3.0 + turn).cos(), 1.0, 0.0).normalize();
            let inner = x.abs() < 0.9 && truth[near].z.abs() < 0.9;
            assert!(!inner || normal.angle_between(slope).to_degrees() < 8.0, "{normal} {slope}");
        }
        assert!(shown.iter().all(|shown| *shown));
    }
}

#[test]
fn caches_and_sequences_of_one_motion_agree() {
    let folder = Folder::new();
    for frame in 0..FRAMES {
        folder.write(&format!("obj/w_{}.obj", frame + 8), obj(&wave(frame)));
        for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
            folder.write(&format!("{format}/w{frame:03}.ply"), ply(&wave(frame), format));
        }
    }
    let from_mdd = folder.cached("a.mdd", &mdd()).unwrap();
    assert!((from_mdd.clips[0].fps - 12.0).abs() < 1e-3, "its times say the rate");
    check(&from_mdd, FRAMES);
    let from_pc2 = folder.cached("a.pc2", &pc2(FRAMES)).unwrap();
    assert_eq!(from_pc2.clips[0].fps, 30.0);
    assert!(from_pc2.assumptions.iter().any(|text| text.contains("no frame rate")));
    check(&from_pc2, FRAMES);
    // Frames 8 to 13: by number, not by letter.
    let from_obj = sequence(&folder.0.path().join("obj")).unwrap();
    check(&from_obj, FRAMES);
    assert_eq!(from_obj.clips[0].name, "w");
    assert_eq!(from_obj.materials[0].name, "cloth");
    assert!(from_obj.warnings[0].contains("none.mtl"), "{:?}", from_obj.warnings);
    folder.write(
        "obj/none.mtl",
        "newmtl other\nKd 0 0 1\nnewmtl cloth\nKd 1 0.5 0\nPr 0.25\nmap_Kd C:\\art\\c.png\n",
    );
    let colored = sequence(&folder.0.path().join("obj")).unwrap();
    assert!(colored.materials[0].base_color.distance(glam::vec4(1.0, 0.2140, 0.0, 1.0)) < 1e-3);
    assert_eq!((colored.materials[0].roughness, colored.images.len()), (0.25, 0));
    folder.write("obj/c.png", b"\x89PNG and so on");
    let textured = sequence(&folder.0.path().join("obj")).unwrap();
    assert_eq!((textured.materials[0].base_color_image, textured.images.len()), (Some(0), 1));
    check(&sequence(&folder.0.path().join("obj/w_*.obj")).unwrap(), FRAMES);
    let first = PointOptions { sequence: true, ..PointOptions::default() };
    let from_first = import::points(&folder.0.path().join("obj/w_10.obj"), &first, &Options::default());
    assert_eq!(from_first.unwrap().clips[0].frame_count(), 4);
    for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
        check(&sequence(&folder.0.path().join(format)).unwrap(), FRAMES);
    }
    let alone = sequence(&folder.0.path().join("base.obj")).unwrap();
    check(&alone, 1);
    // All roads give the same texels, to the bit.
    let texels =
        |source: &Source| bake::encode(source, &Settings::default()).unwrap().0.into_parts().animation;
    assert_eq!(texels(&from_mdd), texels(&from_pc2));
    assert_eq!(texels(&from_obj), texels(&from_pc2));
}

#[test]
fn a_cache_that_ends_where_it_begins_is_a_loop_without_its_last_frame() {
    let folder = Folder::new();
    let source = folder.cached("a.pc2", &pc2(FRAMES + 1)).unwrap();
    assert_eq!((source.clips[0].frame_count(), source.clips[0].loop_mode), (FRAMES, LoopMode::Loop));
    let once = PointOptions {
        cache: Some(folder.0.path().join("a.pc2")),
        loop_mode: Some(LoopMode::Once),
        ..PointOptions::default()
    };
    let source = import::points(&folder.0.path().join("base.obj"), &once, &Options::default()).unwrap();
    assert_eq!(source.clips[0].frame_count(), FRAMES + 1);
}

#[test]
fn a_cache_moves_a_gltf_mesh() {
    let Some(root) = common::fixtures("gltf") else { return };
    let path = root.join("box_animated/BoxAnimated.glb");
    let model = import::model(&path, &Options::default()).unwrap();
    let points = &model.rig.positions;
    let mut bytes = 2u32.to_be_bytes().to_vec();
    bytes.extend((points.len() as u32).to_be_bytes());
    bytes.extend([0f32, 0.5].iter().flat_map(|time| time.to_be_bytes()));
    for lift in [0.0, 2.0] {
        let moved = points.iter().flat_map(|p| (*p + Vec3::Y * lift).to_array());
        bytes.extend(moved.flat_map(f32::to_be_bytes));
    }
    let folder = Folder::new();
    let cache = Some(folder.write("box.mdd", bytes));
    let wanted = PointOptions { cache, ..PointOptions::default() };
    let source = import::points(&path, &wanted, &Options::default()).unwrap();
    let asset = bake::encode(&source, &Settings::default()).unwrap().0;
    let [a, b] =
        [0.0, 1.0].map(|frame| asset.positions(encode_frames(&asset.clips[0], frame), FrameBlend::Step));
    assert!(a.iter().zip(&b).all(|(a, b)| (*b - *a).distance(Vec3::Y * 2.0) < 1e-3));
    assert_eq!(source.clips[0].fps, 2.0);
}

#[test]
fn a_cache_of_another_program_is_read() {
    let Some(root) = common::fixtures("pointcache") else { return };
    let path = root.join("max_cache_box.pc2");
    let bytes = fs::read(&path).unwrap();
    // The points in the order of the file, read here by hand: 770 of them, 11 samples.
    let floats: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes[32..]);
    let vectors: Vec<Vec3> = floats.as_chunks::<3>().0.iter().map(|xyz| Vec3::from_array(*xyz)).collect();
    assert_eq!(vectors.len(), 770 * 11);
    let mut text = String::new();
    vectors[..770].iter().for_each(|p| writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap());
    (1..769).for_each(|at| writeln!(text, "f {at} {} {}", at + 1, at + 2).unwrap());
    let folder = Folder::new();
    let base = folder.write("box.obj", text);
    let wanted = PointOptions { cache: Some(path), ..PointOptions::default() };
    let source = import::points(&base, &wanted, &Options::default()).unwrap();
    assert_eq!(source.clips[0].frame_count(), 11);
    let settings = Settings { encoding: Encoding::Float32, ..Settings::default() };
    let baked = bake::bake(&source, &settings).unwrap();
    let size = baked.asset.bounds().size().length();
    let mut moved = 0.0_f32;
    for (frame, truth) in vectors.chunks(770).enumerate() {
        let pose =
            baked.asset.positions(encode_frames(&baked.asset.clips[0], frame as f64), FrameBlend::Step);
        for (position, vertex) in pose.iter().zip(&baked.vertices) {
            let point = source.mesh.positions[*vertex as usize];
            let at = vectors[..770].iter().position(|p| *p == point).unwrap();
            // Points at one place at the start may part: one of them is meant.
            let same = (0..770).filter(|other| vectors[*other] == point);
            let off = same.map(|other| truth[other].distance(*position)).fold(f32::INFINITY, f32::min);
            assert!(off < 1e-6 * size, "frame {frame}: {off}");
            moved = moved.max(truth[at].distance(point));
        }
    }
    println!("{size} m large, moves by up to {moved} m");
    assert!(moved > 0.01 * size);
}

#[test]
fn broken_caches_are_refused_with_their_place() {
    let folder = Folder::new();
    let refused = |name: &str, bytes: &[u8], at: &str, said: &str| match folder.cached(name, bytes) {
        Err(error @ Error::Value { .. }) => {
            let text = error.to_string();
            assert!(text.starts_with(at) && text.contains(said), "{text}");
        }
        other => panic!("{name}: {other:?}"),
    };
    let good = pc2(FRAMES);
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = good.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    refused("cut.pc2", &good[..good.len() - 1], "size", "expected 5864 bytes");
    refused("head.pc2", &good[..20], "header", "20 bytes");
    refused("empty.pc2", b"", "header", "0 bytes");
    refused("version.pc2", &with(12, &7i32.to_le_bytes()), "version", "found 7");
    refused("less.pc2", &with(16, &(-1i32).to_le_bytes()), "points", "found -1");
    refused("none.pc2", &with(16, &0i32.to_le_bytes()), "header", "0 points");
    refused("huge.pc2", &with(28, &i32::MAX.to_le_bytes()), "size", "2147483647 samples");
    refused("rate.pc2", &with(24, &f32::NAN.to_le_bytes()), "sample rate", "NaN");
    let at = 32 + (SIDE * SIDE * 2 + 5) * 12;
    refused("nan.pc2", &with(at, &f32::NAN.to_le_bytes()), "sample 2, point 5", "NaN");
    let fewer: Vec<u8> =
        [&good[..16], &80i32.to_le_bytes(), &good[20..32], &good[32..32 + 80 * FRAMES * 12]].concat();
    refused("fewer.pc2", &fewer, "points", "80 points in the cache, expected 81");
    let mut times = mdd();
    times[0..4].copy_from_slice(&u32::MAX.to_be_bytes());
    refused("huge.mdd", &times, "header", "bytes");
}

#[test]
fn broken_meshes_and_sequences_are_refused_with_their_place() {
    let folder = Folder::new();
    let one = |name: &str, bytes: &[u8]| sequence(&folder.write(name, bytes)).unwrap_err().to_string();
    let good = obj(&wave(0));
    assert!(one("a.obj", good.replace("v -1 ", "v x ").as_bytes()).starts_with("line 4: found \"x\""));
    assert!(one("b.obj", format!("{good}f 1 2 999\n").as_bytes()).contains("one of 81 points"));
    assert!(one("c.obj", format!("{good}f 0 1 2\n").as_bytes()).contains("found \"0\""));
    assert!(one("d.obj", format!("{good}f 1 2\n").as_bytes()).contains("at least three corners"));
    assert!(one("e.obj", b"v 1 2 3\n").contains("no triangles"));
    assert!(one("f.obj", b"v 1 2 nan\nv 0 0 0\nv 0 1 0\nf 1 2 3\n").contains("finite"));
    let plain = ply(&wave(0), "binary_little_endian");
    assert!(one("a.ply", &plain[..plain.len() - 3]).contains("cannot read the mesh"));
    let text = String::from_utf8(ply(&wave(0), "ascii")).unwrap();
    assert!(
        one("b.ply", text.replace("vertex 81", "vertex 99999999999").as_bytes())
            .contains("more than the file")
    );
    assert!(one("c.ply", text.replace("4 0 9", "4 0 99").as_bytes()).contains("face 0: found 99"));
    for frame in [0, 1, 3] {
        folder.write(&format!("gap/w{frame}.obj"), &good);
    }
    assert!(sequence(&folder.0.path().join("gap")).unwrap_err().to_string().contains("a frame is missing"));
    folder.write("two/a1.obj", &good);
    folder.write("two/b1.obj", &good);
    assert!(matches!(sequence(&folder.0.path().join("two")), Err(Error::Ambiguous { .. })));
    folder.write("change/w1.obj", &good);
    let changed = folder.write("change/w2.obj", good.replacen("f 1/1", "f 2/1", 1));
    match sequence(&folder.0.path().join("change")).unwrap_err() {
        Error::Value { pointer, path, .. } => assert_eq!((&pointer[..], path), ("topology", changed)),
        other => panic!("{other}"),
    }
    assert!(sequence(&folder.0.path().join("nothing_*.obj")).is_err());
}
