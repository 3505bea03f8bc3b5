//! What is baked decodes to its source within the error that each encoding states, and is the same every time.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

use std::path::Path;
use std::sync::LazyLock;

use glam::Vec3;
use throng::asset::{Compression, glb};
use throng::bake::{self, Error, Settings};
use throng::bounds::Bounds;
use throng::source::{Motion, Source, VertexFrame, builtin};
use throng::vat::playback::encode_frames;
use throng::vat::rotation::stored_rotation;
use throng::vat::{Encoding, FrameBlend, Normals, PositionSpace};

static FLAG: LazyLock<Source> = LazyLock::new(|| builtin::make("flag", Some(8.0)).unwrap());

fn frames(source: &mut Source) -> &mut Vec<VertexFrame> {
    let Motion::Vertices(frames) = &mut source.clips[0].motion else { panic!() };
    frames
}

#[test]
fn every_encoding_normals_and_space_meets_its_stated_error() {
    for encoding in Encoding::ALL {
        // Blocks have no alpha.
        let fits = |normals: &&Normals| encoding.has_alpha() || **normals != Normals::Alpha;
        for normals in Normals::ALL.iter().filter(fits) {
            for space in PositionSpace::ALL {
                let settings =
                    Settings { encoding: *encoding, normals: *normals, space: *space, ..Settings::default() };
                let baked = bake::bake(&FLAG, &settings).unwrap();
                let animation = &baked.asset.animation;
                let Motion::Vertices(frames) = &FLAG.clips[0].motion else { panic!() };
                let stored = Bounds::of_points(frames.iter().flat_map(|frame| {
                    frame.positions.iter().zip(&FLAG.mesh.positions).map(|(moved, rest)| match space {
                        PositionSpace::Absolute => *moved,
                        PositionSpace::Offset => *moved - *rest,
                    })
                }));
                // The bounds are those of the values, not a hair wider.
                if encoding.is_bounded() {
                    assert_eq!((animation.remap.lo, animation.remap.hi), (stored.min, stored.max));
                }
                let stated = f64::from(encoding.max_error(animation.remap, stored).length()) + 1e-6;
                let report = &baked.report;
                let found = report.position_error_metres.error;
                println!(
                    "{encoding:16} {normals:10} {space:8} worst {:9.5} mm of {:9.5}, normals {:?}",
                    found * 1e3,
                    stated * 1e3,
                    report.normal_error_degrees.as_ref().map(|worst| worst.error)
                );
                assert!(found <= stated, "{encoding} {space}: {found} above {stated}");
                if let Some(worst) = &report.normal_error_degrees {
                    assert!(
                        worst.error <= f64::from(normals.max_error_degrees(*encoding)) + 1e-4,
                        "{normals}: {worst:?}"
                    );
                }
                assert_eq!(report.normal_error_degrees.is_some(), normals.is_stored());
            }
        }
    }
}

/// The report is not only true of itself: decode here, and compare with the source.
#[test]
fn report_names_the_worst_vertex() {
    let settings = Settings { encoding: Encoding::Unorm8, ..Settings::default() };
    let baked = bake::bake(&FLAG, &settings).unwrap();
    let worst = &baked.report.position_error_metres;
    let Motion::Vertices(frames) = &FLAG.clips[0].motion else { panic!() };
    let pose = baked.asset.pose(encode_frames(&baked.asset.clips[0], worst.frame as f64), FrameBlend::Step);
    let element = FLAG.mesh.elements[baked.vertices[worst.vertex] as usize] as usize;
    let off =
        f64::from(pose.positions[worst.vertex].distance(frames[worst.frame as usize].positions[element]));
    assert!((off - worst.error).abs() < 1e-6 && off > 1e-3, "{off} {worst:?}");
}

#[test]
fn clip_bounds_hold_every_decoded_vertex_and_are_tight() {
    let baked = bake::bake(&FLAG, &Settings { encoding: Encoding::Unorm8, ..Settings::default() }).unwrap();
    assert_eq!(baked.asset.clip_bounds, baked.asset.measure_clip_bounds());
    let size = baked.asset.bounds().size();
    assert!(size.y > 2.9 && size.y < 3.1 && size.x > 1.0 && size.x < 1.7, "{size}");
}

#[test]
fn an_axis_without_motion_is_exact() {
    let mut source = FLAG.clone();
    for frame in frames(&mut source) {
        frame.positions.iter_mut().for_each(|position| position.z = 0.25);
    }
    for encoding in Encoding::ALL {
        let baked = bake::bake(&source, &Settings { encoding: *encoding, ..Settings::default() }).unwrap();
        let bounds = baked.asset.bounds();
        assert_eq!((bounds.min.z, bounds.max.z), (0.25, 0.25), "{encoding}");
    }
}

#[test]
fn broken_sources_are_refused_with_clip_frame_and_element() {
    let bake = |change: &dyn Fn(&mut Source), settings: Settings| {
        let mut source = FLAG.clone();
        change(&mut source);
        bake::bake(&source, &settings).unwrap_err()
    };
    let set = Settings::default();
    for wrong in [f32::NAN, f32::INFINITY] {
        let error = bake(&|source| frames(source)[3].positions[17].y = wrong, set);
        assert!(matches!(error, Error::Value { frame: 3, element: 17, what: "positions", .. }), "{error:?}");
        let error = bake(&|source| frames(source)[2].normals[5].x = wrong, set);
        assert!(matches!(error, Error::Value { frame: 2, element: 5, what: "normals", .. }), "{error:?}");
    }
    let error = bake(&|source| frames(source)[1].normals[4] = Vec3::ZERO, set);
    assert!(matches!(error, Error::Value { frame: 1, element: 4, .. }), "{error:?}");
    let error = bake(
        &|source| frames(source)[1].positions[0].x = 1e6,
        Settings { encoding: Encoding::Float16, ..set },
    );
    assert!(matches!(error, Error::Value { element: 0, .. }), "{error:?}");
    let error = bake(&|source| frames(source)[4].positions.truncate(9), set);
    assert!(matches!(error, Error::Count { frame: 4, what: "positions", .. }), "{error:?}");
    let error = bake(&|source| source.clips.clear(), set);
    assert!(matches!(error, Error::Empty("clips")), "{error:?}");
    let error = bake(&|source| frames(source).clear(), set);
    assert!(matches!(error, Error::Empty(_)), "{error:?}");
    let error = bake(&|source| source.mesh.indices.push(0), set);
    assert!(matches!(error, Error::Source(_)), "{error:?}");
    let error = bake(&|_| (), Settings { max_texture_size: 64, ..set });
    assert!(matches!(error, Error::DoesNotFit(_)), "{error:?}");
}

#[test]
fn texture_size_limit_is_kept_and_changes_nothing_else() {
    let wide = bake::bake(&FLAG, &Settings::default()).unwrap();
    let narrow = bake::bake(&FLAG, &Settings { max_texture_size: 512, ..Settings::default() }).unwrap();
    assert!(narrow.asset.animation.positions.size().max_element() <= 512);
    assert!(wide.asset.animation.positions.size().x > 512);
    let frames = encode_frames(&wide.asset.clips[0], 2.5);
    assert_eq!(wide.asset.pose(frames, FrameBlend::Linear), narrow.asset.pose(frames, FrameBlend::Linear));
}

#[test]
fn unknown_names_and_rates_are_refused() {
    assert!(matches!(builtin::make("bird", None), Err(builtin::Error::Unknown { .. })));
    for fps in [0.0, -1.0, f64::NAN, 1e9] {
        assert!(matches!(builtin::make("flag", Some(fps)), Err(builtin::Error::Fps { .. })), "{fps}");
    }
}

/// As `scripts/bake_assets.sh` makes them.
#[cfg(target_arch = "x86_64")]
#[test]
fn demo_assets_are_rebuilt_byte_for_byte() {
    let (texture16, rotation) = (Normals::Texture16, Normals::Rotation);
    for (file, source, fps, normals) in [
        ("flag", "flag", None, texture16),
        ("ribbon_rotation", "ribbon", Some(16.0), rotation),
        ("ribbon_texture16", "ribbon", Some(16.0), texture16),
    ] {
        let source = builtin::make(source, fps).unwrap();
        let baked = bake::bake(&source, &Settings { normals, ..Settings::default() }).unwrap();
        let bytes = glb::encode(&baked.asset, Compression::Zstd);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/baked/{file}.vat.glb"));
        assert!(std::fs::read(&path).unwrap() == bytes, "{} differs from what is baked now", path.display());
        assert!(bytes.len() < 2 << 20, "{} bytes", bytes.len());
    }
}

#[test]
fn rotations_carry_tangents_and_stay_in_one_hemisphere() {
    let source = builtin::make("ribbon", None).unwrap();
    let baked = bake::bake(&source, &Settings { normals: Normals::Rotation, ..Settings::default() }).unwrap();
    let worst = baked.report.tangent_error_degrees.unwrap().error;
    assert!(worst > 0.0 && worst <= f64::from(Normals::Rotation.max_error_degrees(Encoding::Unorm16)));
    let animation = &baked.asset.animation;
    let texels = animation.normal_texels.as_ref().unwrap();
    let mut turned = 0;
    for element in 0..animation.element_count {
        let rotation = |frame| stored_rotation(texels, animation.grid, element, frame);
        for frame in 1..animation.grid.frame_count {
            assert!(rotation(frame).dot(rotation(frame - 1)) >= 0.0, "element {element}, frame {frame}");
        }
        turned +=
            u32::from(rotation(0).w < 0.0) + u32::from(rotation(animation.grid.frame_count / 2).w < 0.0);
    }
    println!("worst {worst:.5} degrees; {turned} of the looked at have a negative w");
    // Between frames the tangent follows the ribbon too: half way it is that of the bake with twice the frames.
    let twice = builtin::make("ribbon", Some(60.0)).unwrap();
    let Motion::Vertices(truth) = &twice.clips[0].motion else { panic!() };
    let mut worst = 0.0_f32;
    for frame in 0..60 {
        let frames = encode_frames(&baked.asset.clips[0], f64::from(frame) + 0.5);
        let tangents = baked.asset.tangents(frames, FrameBlend::Linear).unwrap();
        for (vertex, tangent) in tangents.iter().enumerate() {
            let expected = truth[frame as usize * 2 + 1].tangents[baked.vertices[vertex] as usize];
            worst = worst.max(tangent.distance(expected.truncate()).to_degrees());
        }
    }
    println!("between frames tangents are off by {worst:.3} degrees at worst");
    assert!(worst < 1.0);
}
