//! Animated models evaluate to what two other programs computed, and bake to what they evaluate to.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::PathBuf;

use glam::{DVec3, Vec3};
use serde_json::Value;
use throng::bake::{self, Limit, Settings};
use throng::import;
use throng::mesh::VertexFrame;
use throng::skeleton::track::{Interpolation, Track};
use throng::skeleton::{Channel, Property, Scratch, Skinner};
use throng::source::timeline::{Root, Wanted};
use throng::source::{Model, Motion};
use throng::vat::playback::encode_frames;
use throng::vat::{Encoding, FrameBlend};

struct Truth {
    name: String,
    model: PathBuf,
    manifest: Value,
    folder: PathBuf,
}

/// Every model with ground truth; none where the fixtures are missing.
fn truths() -> Vec<Truth> {
    let Some(root) = common::fixtures("gltf") else { return Vec::new() };
    let mut truths = Vec::new();
    for entry in fs::read_dir(root).unwrap().flatten() {
        let folder = entry.path().join("truth");
        let Ok(text) = fs::read(folder.join("manifest.json")) else { continue };
        let manifest: Value = serde_json::from_slice(&text).unwrap();
        let model = entry.path().join(manifest["asset"].as_str().unwrap());
        truths.push(Truth { name: entry.file_name().into_string().unwrap(), model, manifest, folder });
    }
    truths.sort_by(|a, b| a.name.cmp(&b.name));
    truths
}

/// Clip, its times with the positions at each, and its extent.
type TrueClip = (Option<usize>, Vec<(f64, Vec<Vec3>)>, f64);

impl Truth {
    /// The rest pose has no clip.
    fn poses(&self) -> Vec<TrueClip> {
        let clips = self.manifest["clips"].as_array().unwrap();
        let rest = &self.manifest["rest"];
        // Of models with many clips some are only listed.
        clips
            .iter()
            .chain([rest])
            .filter(|clip| clip["file"].is_string())
            .map(|clip| self.clip(clip))
            .collect()
    }

    fn clip(&self, clip: &Value) -> TrueClip {
        let bytes = fs::read(self.folder.join(clip["file"].as_str().unwrap())).unwrap();
        let floats: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
        let vectors: Vec<Vec3> = floats.as_chunks::<3>().0.iter().map(|xyz| Vec3::from_array(*xyz)).collect();
        let times = clip["times"].as_array().unwrap();
        let count = self.manifest["vertices"].as_u64().unwrap() as usize;
        assert_eq!(vectors.len(), times.len() * count, "{}", self.name);
        let poses = times.iter().zip(vectors.chunks(count));
        let poses = poses.map(|(time, pose)| (time.as_f64().unwrap(), pose.to_vec())).collect();
        (clip["clip"].as_u64().map(|clip| clip as usize), poses, clip["extent"].as_f64().unwrap())
    }

    fn open(&self) -> Result<Model, import::Error> {
        import::model(&self.model, &import::Options::default())
    }
}

fn worst(found: &[DVec3], expected: &[Vec3]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(a, b)| a.distance(b.as_dvec3())).fold(0.0, f64::max)
}

#[test]
fn evaluates_every_model_as_two_other_programs_do() {
    let mut seen = 0;
    println!("| model | vertices | clips | worst error / extent | allowed | f32 against f64 |");
    println!("|---|---:|---:|---:|---:|---:|");
    for truth in truths() {
        let name = &truth.name;
        let model = match truth.open() {
            Ok(model) => model,
            Err(import::Error::Extension { extension, .. }) if name.ends_with("draco") => {
                println!("| {name} | refused: {extension} | | | | |");
                assert_eq!(extension, "KHR_draco_mesh_compression");
                continue;
            }
            Err(error) => panic!("{name}: {error}"),
        };
        let skinner = Skinner::new(&model.rig);
        let (mut scratch, mut vertices) = (Scratch::default(), VertexFrame::default());
        let allowed = truth.manifest["tolerance_rel"].as_f64().unwrap();
        let (mut largest, mut fast) = (0.0_f64, 0.0_f64);
        for (clip, poses, extent) in truth.poses() {
            for (seconds, expected) in poses {
                let exact = model.rig.evaluate(clip, seconds);
                let error = worst(&exact.positions, &expected) / extent;
                assert!(error <= allowed, "{name}, clip {clip:?} at {seconds}: {error:e} above {allowed:e}");
                largest = largest.max(error);
                skinner.sample(clip, seconds, &mut scratch, &mut vertices);
                fast = fast.max(worst(&exact.positions, &vertices.positions) / extent);
                for (exact, fast) in exact.normals.iter().zip(&vertices.normals) {
                    assert!(
                        *exact == DVec3::ZERO || exact.dot(fast.as_dvec3()) > 0.9999,
                        "{name}: {exact} {fast}"
                    );
                }
            }
        }
        assert!(fast <= 1e-6, "{name}: f32 is {fast:e} off");
        println!(
            "| {name} | {} | {} | {largest:.1e} | {allowed:.0e} | {fast:.1e} |",
            model.rig.vertex_count(),
            model.rig.clips.len()
        );
        seen += 1;
    }
    if common::fixtures("gltf").is_some() {
        assert!(seen >= 30, "only {seen} models were found");
    }
}

#[test]
fn bakes_of_every_model_are_what_it_evaluates_to() {
    println!(
        "| model | columns | vertices | frames | float32 / size | unorm16 / size | float16 / size | worst normal |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for truth in truths() {
        let name = &truth.name;
        let Ok(model) = truth.open() else { continue };
        let all: Vec<usize> = (0..model.rig.clips.len().min(4)).collect();
        let source = model.source(Some(&all), &Wanted::default()).unwrap();
        let rigged = source.rig.as_ref().unwrap();
        let (mut row, mut columns) = (Vec::new(), 0);
        let mut normal = 0.0_f64;
        for encoding in [Encoding::Float32, Encoding::Unorm16, Encoding::Float16] {
            let baked = bake::bake(&source, &Settings { encoding, ..Settings::default() }).unwrap();
            let asset = &baked.asset;
            columns = asset.animation.element_count;
            let size = f64::from(asset.bounds().size().length());
            let mut largest = 0.0_f64;
            for (clip, of) in asset.clips.iter().zip(&source.clips) {
                let Motion::Rig { clip: of_rig, start_seconds, frame_count, .. } = of.motion else {
                    panic!()
                };
                // Every frame of small models, some of large ones.
                let stride = (of.frame_count() * asset.mesh.vertex_count() / 200_000).max(1);
                for frame in (0..frame_count).step_by(stride) {
                    let seconds = start_seconds + clip.frame_seconds(f64::from(frame));
                    let exact = model.rig.evaluate(of_rig, seconds);
                    let pose = asset.pose(encode_frames(clip, f64::from(frame)), FrameBlend::Step);
                    for (vertex, position) in pose.positions.iter().enumerate() {
                        let of_model = rigged.model_vertices[baked.vertices[vertex] as usize] as usize;
                        largest = largest.max(exact.positions[of_model].distance(position.as_dvec3()));
                    }
                }
            }
            // The model's own vertices, which is what the report measures against its faster evaluator.
            let reported = baked.report.position_error_metres.error;
            assert!(
                (largest - reported).abs() <= 2e-6 * size,
                "{name}: {largest} found, {reported} reported"
            );
            normal = normal.max(baked.report.normal_error_degrees.as_ref().unwrap().error);
            row.push(largest / size);
        }
        println!(
            "| {name} | {columns} | {} of {} | {} | {:.1e} | {:.1e} | {:.1e} | {normal:.4}° |",
            source.mesh.vertex_count(),
            model.rig.vertex_count(),
            source.clips.iter().map(|clip| clip.frame_count()).sum::<usize>(),
            row[0],
            row[1],
            row[2]
        );
        assert!(row[0] <= 1e-6, "{name}: float32 {:e}", row[0]);
        assert!(row[1] <= 2e-5, "{name}: unorm16 {:e}", row[1]);
        assert!(row[2] <= 6e-4, "{name}: float16 {:e}", row[2]);
        assert!(normal <= 0.005, "{name}: normals are {normal} degrees off");
    }
}

#[test]
fn the_chosen_bake_keeps_to_the_limit_at_any_time() {
    let Some(truth) = truths().into_iter().find(|truth| truth.name == "quat_manta") else { return };
    let model = truth.open().unwrap();
    let size = model.rig.evaluate(None, 0.0).positions.iter().map(|p| p.length()).fold(0.0, f64::max);
    let cut = |fps| {
        let wanted = Wanted { fps: Some(fps), ..Wanted::default() };
        model.source(None, &wanted).map_err(bake::Error::from)
    };
    for (part, frame_blend) in [(0.02, FrameBlend::Linear), (0.005, FrameBlend::CatmullRom)] {
        let limit = Limit { metres: part * size, frame_blend };
        let (chosen, source) = bake::choose_rate(cut, &Settings::default(), limit).unwrap();
        let (baked, source) = (chosen.baked.unwrap(), source.unwrap());
        let tried: Vec<_> = chosen.tried.iter().map(|one| (one.encoding, one.fps, one.meets)).collect();
        // The last is taken; what is smaller was tried before it, and was too far off.
        let (encoding, fps, meets) = *tried.last().unwrap();
        assert!(meets && encoding == baked.report.encoding, "{tried:?}");
        let smaller = |one: &&(&str, f64, bool)| one.1 < fps || (one.0 != "float32" && one.0 != encoding);
        assert!(tried.iter().filter(smaller).all(|one| !one.2), "{tried:?}");
        let rigged = source.rig.as_ref().unwrap();
        let clip = &baked.asset.clips[0];
        let mut largest = 0.0_f64;
        for moment in 0..500 {
            let frame = f64::from(moment) / 500.0 * f64::from(clip.frame_count);
            let exact = model.rig.evaluate(Some(0), clip.frame_seconds(frame));
            let pose = baked.asset.pose(encode_frames(clip, frame), frame_blend);
            for (vertex, position) in pose.positions.iter().enumerate() {
                let of_model = rigged.model_vertices[baked.vertices[vertex] as usize] as usize;
                largest = largest.max(exact.positions[of_model].distance(position.as_dvec3()));
            }
        }
        println!("{frame_blend}: {tried:?}: {largest} of {} m", limit.metres);
        // It is measured at three moments between two frames, and may be a little more at others.
        assert!(largest <= limit.metres * 1.02, "{largest} above {}", limit.metres);
    }
}

#[test]
fn a_root_that_walks_is_stripped_or_extracted() {
    let Some(truth) = truths().into_iter().find(|truth| truth.name == "quat_manta") else { return };
    let mut model = truth.open().unwrap();
    // The root wanders off along X and Z at one and half a metre a second, and up.
    let root = model.rig.skins[0].joints[0];
    let times = vec![0.0, 2.0];
    let track = Track::new(times, vec![0.0, 0.0, 0.0, 2.0, 0.3, 1.0], 3, Interpolation::Linear).unwrap();
    model.rig.clips[0].channels.retain(|c| c.node != root || c.property != Property::Translation);
    let still = model.source(None, &Wanted::default()).unwrap();
    assert_eq!(model.rig.root_of(0), None, "its channels only turn");
    model.rig.clips[0].channels.push(Channel { node: root, property: Property::Translation, track });
    assert_eq!(model.rig.root_of(0), Some(root));
    let bake = |root| {
        let source = model.source(None, &Wanted { root, ..Wanted::default() }).unwrap();
        let exact = Settings { encoding: Encoding::Float32, ..Settings::default() };
        bake::bake(&source, &exact).unwrap()
    };
    let (kept, stripped, extracted) = (bake(Root::Keep), bake(Root::Strip), bake(Root::Extract));
    let width = |baked: &bake::Baked| baked.asset.bounds().size();
    let in_place = bake::bake(&still, &Settings::default()).unwrap();
    println!("kept {}, stripped {}, in place {}", width(&kept), width(&stripped), width(&in_place));
    assert!(width(&kept).x > width(&stripped).x * 1.2);
    assert!((width(&stripped).x - width(&in_place).x).abs() < 1e-3 * width(&in_place).x);
    assert!((width(&stripped).z - width(&in_place).z).abs() < 1e-3 * width(&in_place).z);
    assert!(stripped.asset.clips[0].root_motion.is_none() && kept.asset.clips[0].root_motion.is_none());
    let motion = extracted.asset.clips[0].root_motion.as_ref().unwrap();
    assert_eq!(motion.len(), extracted.asset.clips[0].frame_count as usize);
    let pose = |baked: &bake::Baked, frame: u32| {
        baked.asset.pose(encode_frames(&baked.asset.clips[0], f64::from(frame)), FrameBlend::Step).positions
    };
    // What was taken out and the rest make the whole.
    for frame in [0, 10, 30] {
        let (kept_pose, extracted_pose) = (pose(&kept, frame), pose(&extracted, frame));
        for (kept, rest) in kept_pose.iter().zip(&extracted_pose) {
            assert!(kept.distance(*rest + motion[frame as usize]) < 1e-3, "frame {frame}");
        }
    }
}
