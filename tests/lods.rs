//! Levels of detail share the vertices, respect the whole animation, and are as far off as the report says.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

use std::path::Path;

use bytes::Bytes;
use glam::{DVec3, Vec3};
use throng::asset::{Asset, Compression, glb};
use throng::bake::{self, Settings};
use throng::clip::LoopMode;
use throng::mesh::{Lod, Mesh, Primitive};
use throng::source::{Motion, Source, SourceClip, VertexFrame, builtin};
use throng::vat::FrameBlend;
use throng::vat::playback::encode_frames;

/// Distance of a point from a triangle: from its plane inside of it, else from its edges.
fn from_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let normal = (b - a).cross(c - a).normalize_or_zero();
    let inside =
        [(a, b), (b, c), (c, a)].iter().all(|(from, to)| (*to - *from).cross(p - *from).dot(normal) >= 0.0);
    if inside && normal != DVec3::ZERO {
        return (p - a).dot(normal).abs();
    }
    let from_edge = |from: DVec3, to: DVec3| {
        let along = ((p - from).dot(to - from) / (to - from).length_squared().max(1e-30)).clamp(0.0, 1.0);
        p.distance(from + (to - from) * along)
    };
    from_edge(a, b).min(from_edge(b, c)).min(from_edge(c, a))
}

fn worst_at(asset: &Asset, lod: &Lod, clip: usize, frame: f64) -> f64 {
    let pose = asset.positions(encode_frames(&asset.clips[clip], frame), FrameBlend::Step);
    let place = |index: u32| pose[index as usize].as_dvec3();
    let triangles: Vec<_> = lod.indices.as_chunks::<3>().0.iter().map(|t| t.map(place)).collect();
    let from_level =
        |p: &Vec3| triangles.iter().map(|t| from_triangle(p.as_dvec3(), *t)).fold(f64::INFINITY, f64::min);
    pose.iter().map(from_level).fold(0.0, f64::max)
}

#[test]
fn each_level_has_half_the_triangles_and_the_deviation_that_is_said() {
    let source = builtin::make("flag", Some(6.0)).unwrap();
    let baked = bake::bake(&source, &Settings { lods: 3, ..Settings::default() }).unwrap();
    let asset = &baked.asset;
    let mut before = asset.mesh.triangle_count();
    assert_eq!((asset.mesh.lods.len(), baked.report.lods.len()), (3, 3));
    for (lod, report) in asset.mesh.lods.iter().zip(&baked.report.lods) {
        let found = lod.indices.len() / 3;
        assert!(found <= before * 6 / 10 && found > before / 3, "{found} of {before}");
        assert_eq!(report.triangle_count, found);
        before = found;
        assert_eq!(report.measured_frames, 24);
        let said = &report.deviation_metres;
        assert!((f64::from(lod.deviation_metres) - said.error).abs() < 1e-6);
        let here = worst_at(asset, lod, 0, said.frame);
        println!("{found} triangles: {:.3} mm said, {:.3} mm found", said.error * 1e3, here * 1e3);
        assert!((here - said.error).abs() < 1e-5, "{here} {said:?}");
        for frame in [0.0, 7.0, 13.0] {
            assert!(worst_at(asset, lod, 0, frame) <= said.error + 1e-5, "frame {frame}");
        }
        assert!(report.deviation_mean_metres > 0.0 && report.deviation_mean_metres < said.error);
    }
    for compression in [Compression::None, Compression::Zstd] {
        let file = Bytes::from(glb::encode(asset, compression));
        assert_eq!(&glb::decode(&file, Path::new("a.vat.glb")).unwrap(), asset);
    }
}

/// A strip that lies flat at rest and in most frames, and folds sharply in one.
fn folding() -> Source {
    const STEPS: u32 = 33;
    let place = |step: u32, side: u32, folded: bool| {
        let x = step as f32 - 16.0;
        let y = if folded { 10.0 - x.abs() } else { 0.0 };
        Vec3::new(x, y, side as f32)
    };
    let frame = |folded: bool| VertexFrame {
        positions: (0..STEPS * 2).map(|v| place(v / 2, v % 2, folded)).collect(),
        normals: vec![Vec3::Y; STEPS as usize * 2],
        ..VertexFrame::default()
    };
    let quads = (0..STEPS - 1).map(|step| step * 2);
    let indices: Vec<u32> = quads.flat_map(|at| [at, at + 1, at + 2, at + 1, at + 3, at + 2]).collect();
    Source {
        mesh: Mesh {
            positions: frame(false).positions,
            normals: frame(false).normals,
            elements: (0..STEPS * 2).collect(),
            primitives: vec![Primitive { indices: 0..indices.len() as u32, material: None }],
            indices,
            ..Mesh::default()
        },
        clips: vec![SourceClip {
            name: "fold".to_owned(),
            fps: 24.0,
            loop_mode: LoopMode::Once,
            motion: Motion::Vertices((0..9).map(|at| frame(at == 4)).collect()),
        }],
        ..Source::default()
    }
}

#[test]
fn what_moves_in_one_frame_only_is_kept() {
    let baked = bake::bake(&folding(), &Settings { lods: 3, ..Settings::default() }).unwrap();
    let last = baked.report.lods.last().unwrap();
    println!("{} triangles, {:.4} m off", last.triangle_count, last.deviation_metres.error);
    // The fold is ten metres high: a level chosen by the rest pose alone would flatten it.
    assert!(last.triangle_count <= 8 && last.deviation_metres.error < 0.01, "{last:?}");
}

#[test]
fn a_mesh_that_gets_no_smaller_has_fewer_levels_and_says_so() {
    let mut source = folding();
    source.mesh.indices.truncate(6);
    source.mesh.primitives[0].indices = 0..6;
    let baked = bake::bake(&source, &Settings { lods: 8, ..Settings::default() }).unwrap();
    assert!(baked.asset.mesh.lods.len() < 8);
    assert!(baked.asset.assumptions.iter().any(|text| text.contains("levels of detail")));
}

#[test]
fn levels_do_not_depend_on_the_number_of_threads() {
    let source = builtin::make("ribbon", None).unwrap();
    let settings = Settings { lods: 2, ..Settings::default() };
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let baked = pool.install(|| bake::bake(&source, &settings)).unwrap();
        (glb::encode(&baked.asset, Compression::None), baked.report)
    };
    assert!(bytes(1) == bytes(3));
}
