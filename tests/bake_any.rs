//! Any length of a clip, any frame rate, and any number of vertices around the wrap of a texture.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

use glam::Vec3;
use proptest::prelude::*;
use throng::bake::{self, Error, Settings};
use throng::clip::LoopMode;
use throng::mesh::{Mesh, Primitive};
use throng::skeleton::track::{Interpolation, Track};
use throng::skeleton::{Channel, Local, Node, Part, Property, Rig, RigClip, Trs};
use throng::source::timeline::Wanted;
use throng::source::{Model, Motion, Source, SourceClip, Surface, VertexFrame};
use throng::vat::playback::encode_frames;
use throng::vat::{Encoding, FrameBlend, PositionSpace};

/// Every vertex at every frame is a place of its own.
fn place(vertex: u32, frame: u32) -> Vec3 {
    Vec3::new(vertex as f32 * 0.5, frame as f32 * 0.25 - 3.0, ((vertex * 7 + frame * 13) % 31) as f32)
}

fn many(vertices: u32, frames: u32) -> Source {
    let frame = |frame: u32| VertexFrame {
        positions: (0..vertices).map(|vertex| place(vertex, frame)).collect(),
        normals: vec![Vec3::Y; vertices as usize],
        ..VertexFrame::default()
    };
    // Fans, so that every vertex is shown however many there are.
    let indices: Vec<u32> =
        (0..vertices).flat_map(|at| [at, (at + 1) % vertices, (at + 2) % vertices]).collect();
    Source {
        mesh: Mesh {
            positions: frame(0).positions,
            normals: frame(0).normals,
            elements: (0..vertices).collect(),
            primitives: vec![Primitive { indices: 0..indices.len() as u32, material: None }],
            indices,
            ..Mesh::default()
        },
        clips: vec![SourceClip {
            name: "any".to_owned(),
            fps: 24.0,
            loop_mode: LoopMode::Once,
            motion: Motion::Vertices((0..frames).map(frame).collect()),
        }],
        ..Source::default()
    }
}

/// A triangle that one node carries: along X by the time, and round.
fn carried(seconds: f64, keys: usize) -> Model {
    let times: Vec<f64> = (0..keys).map(|key| seconds * key as f64 / (keys - 1) as f64).collect();
    let values = times.iter().flat_map(|time| [*time, (time * 3.0).sin(), (time * 2.0).cos()]).collect();
    let track = Track::new(times, values, 3, Interpolation::Linear).unwrap();
    Model {
        rig: Rig {
            nodes: vec![Node { name: "n".to_owned(), parent: None, local: Local::Trs(Trs::default()) }],
            parts: vec![Part {
                node: 0,
                vertices: 0..3,
                skin: None,
                targets: Vec::new(),
                weights: Vec::new(),
            }],
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            normals: vec![Vec3::Z; 3],
            influence_starts: vec![0; 4],
            clips: vec![RigClip {
                name: "go".to_owned(),
                channels: vec![Channel { node: 0, property: Property::Translation, track }],
                fps: None,
            }],
            ..Rig::default()
        },
        surfaces: vec![Surface {
            indices: 0..3,
            material: None,
            has_normals: true,
            has_uvs: false,
            has_tangents: false,
        }],
        uvs: vec![glam::Vec2::ZERO; 3],
        indices: vec![0, 1, 2],
        ..Model::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_vertex_of_every_frame_is_found_again(
        max_size in 8u32..40,
        rows in 1u32..4,
        off in -2i64..3,
        frames in 1u32..70,
        encoding in prop::sample::select(Encoding::ALL),
        space in prop::sample::select(PositionSpace::ALL),
    ) {
        let size = encoding.max_grid_size(max_size);
        let vertices = (i64::from(size * rows) + off).max(3) as u32;
        let source = many(vertices, frames);
        let settings = Settings { encoding, space, max_texture_size: max_size, ..Settings::default() };
        let baked = match bake::bake(&source, &settings) {
            Ok(baked) => baked,
            Err(Error::DoesNotFit(refusal)) => {
                // Refused only where half the texels of the largest texture would not do.
                prop_assert!(u64::from(vertices) * u64::from(frames) > u64::from(size) * u64::from(size) / 2, "{refusal}");
                return Ok(());
            }
            Err(error) => panic!("{error}"),
        };
        let asset = &baked.asset;
        prop_assert!(asset.animation.positions.size().max_element() <= max_size);
        // The step of the encoding, and what a decoder may lose of hundreds of metres; blocks keep to no bound.
        let range = asset.animation.remap.range().length();
        let allowed = match encoding {
            Encoding::Unorm8 => range / 400.0,
            Encoding::Bc6h => return Ok(()),
            Encoding::Float16 => 0.25,
            Encoding::Float16Bounded => range / 3000.0,
            _ => range / 60_000.0 + 1e-4,
        };
        for frame in 0..frames {
            let pose = asset.positions(encode_frames(&asset.clips[0], f64::from(frame)), FrameBlend::Step);
            for (vertex, position) in pose.iter().enumerate() {
                let expected = place(baked.vertices[vertex], frame);
                prop_assert!(position.distance(expected) <= allowed, "{position} {expected} {allowed}");
            }
        }
    }

    #[test]
    fn any_clip_at_any_rate_is_cut_evenly(
        seconds in 0.001f64..30.0,
        fps in 1.0f64..240.0,
        keys in 2usize..20,
        loop_mode in prop::sample::select(&LoopMode::ALL[..]),
    ) {
        let model = carried(seconds, keys);
        let wanted = Wanted { fps: Some(fps), loop_mode: Some(loop_mode), ..Wanted::default() };
        let source = model.source(None, &wanted).unwrap();
        let clip = &source.clips[0];
        let count = clip.frame_count();
        // Nothing is lost at the end and nothing is added: whole intervals fill the length.
        let intervals = (count - 1) as f64;
        prop_assert!((intervals / clip.fps - seconds).abs() < 1e-9 * seconds.max(1.0), "{intervals} at {}", clip.fps);
        // The nearest number of whole frames, but never none.
        let near = (intervals - seconds * fps).abs() <= 0.5 + 1e-9;
        prop_assert!(near || intervals == 1.0, "{intervals} for {}", seconds * fps);
        let baked = bake::bake(&source, &Settings { encoding: Encoding::Float32, ..Settings::default() }).unwrap();
        let of_asset = &baked.asset.clips[0];
        prop_assert_eq!((of_asset.frame_count as usize, of_asset.loop_mode), (count, loop_mode));
        for frame in [0, count / 3, count - 1] {
            let truth = model.rig.evaluate(Some(0), frame as f64 / clip.fps);
            let pose = baked.asset.positions(encode_frames(of_asset, frame as f64), FrameBlend::Step);
            for (vertex, position) in pose.iter().enumerate() {
                let off = truth.positions[baked.vertices[vertex] as usize].distance(position.as_dvec3());
                prop_assert!(off < 1e-5, "frame {frame}: {off}");
            }
        }
    }
}
