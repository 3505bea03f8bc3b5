//! What is drawn: both ways to read texels, what a frame costs, and who faces where.
#![cfg(feature = "render")]
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod common;
#[allow(unreachable_pub, reason = "an example is a program")]
#[path = "../examples/own_pass.rs"]
mod own_pass;

use common::assets::sheet;
use glam::{UVec2, Vec3};
use image::RgbaImage;
use throng::asset::Asset;
use throng::capture::Capture;
use throng::crowd::{Crowd, Instance};
use throng::gpu::Gpu;
use throng::render::{Camera, Fetch, Ground, Light, Renderer, Settings, Shading, Target, View};
use throng::scene::{Scene, SceneCrowd};
use throng::vat::{Encoding, FrameBlend};

const SIZE: UVec2 = UVec2::new(160, 120);

fn scene(settings: Settings, count: u32) -> Scene {
    let crowd = Crowd { count, spacing: 2.5, heading_spread_degrees: 180.0, ..Crowd::default() };
    Scene {
        camera: None,
        settings,
        crowds: vec![SceneCrowd { asset: String::new(), crowd }],
        ..Scene::of_asset("", throng::bounds::Bounds { min: Vec3::NEG_ONE, max: Vec3::ONE }, 1)
    }
}

fn picture(gpu: &Gpu, asset: &Asset, settings: Settings, time: f64) -> RgbaImage {
    let mut capture = Capture::new(gpu, scene(settings, 5), vec![asset.clone()], SIZE).unwrap();
    let picture = pollster::block_on(capture.draw(time)).unwrap();
    gpu.check().unwrap();
    picture
}

/// Largest difference of a channel, and how many pixels differ by more than two levels.
fn difference(a: &RgbaImage, b: &RgbaImage) -> (u8, usize) {
    let differences = a
        .pixels()
        .zip(b.pixels())
        .map(|(a, b)| a.0.iter().zip(b.0).map(|(a, b)| a.abs_diff(b)).max().unwrap());
    differences.fold((0, 0), |(worst, count), one| (worst.max(one), count + usize::from(one > 2)))
}

#[test]
fn sampler_gives_the_picture_of_the_hand_made_blend() {
    let Some(gpu) = common::gpu() else { return };
    let texel = Settings::default();
    let sampler = Settings { fetch: Fetch::Sampler, ..texel };
    for encoding in Encoding::ALL {
        if throng::gpu::texture::filterable_format(*encoding, gpu.device.features()).is_none() {
            eprintln!("skipped: {encoding} is not filterable here");
            continue;
        }
        let asset = sheet(24, 8, *encoding, 8192);
        // Between frames, on a frame, and across the seam of the loop: 8 frames at 8 a second.
        for time in [0.06, 0.25, 0.94] {
            let by_hand = picture(&gpu, &asset, texel, time);
            let by_sampler = picture(&gpu, &asset, sampler, time);
            let (worst, count) = difference(&by_hand, &by_sampler);
            println!("{encoding} at {time}: worst level {worst}, {count} pixels above 2");
            // A sampler's weights have 8 bits or more: an edge may move by a part of a pixel.
            assert!(count <= 20, "{encoding} at {time}: {count} pixels differ");
            let other = picture(&gpu, &asset, texel, time + 0.1);
            assert!(difference(&by_hand, &other).1 > 200, "the pictures show a motion");
        }
    }
}

#[test]
fn sampler_falls_back_where_rows_are_not_frames_or_the_blend_is_not_linear() {
    let Some(gpu) = common::gpu() else { return };
    let sampler = Settings { fetch: Fetch::Sampler, ..Settings::default() };
    let wrapped = sheet(24, 8, Encoding::Unorm16, 256);
    assert!(!wrapped.animation.grid.rows_are_frames());
    let plain = picture(&gpu, &wrapped, Settings::default(), 0.06);
    assert_eq!(plain, picture(&gpu, &wrapped, sampler, 0.06));
    let asset = sheet(24, 8, Encoding::Unorm16, 8192);
    for frame_blend in [FrameBlend::Step, FrameBlend::CatmullRom] {
        let by_hand = picture(&gpu, &asset, Settings { frame_blend, ..Settings::default() }, 0.06);
        assert_eq!(by_hand, picture(&gpu, &asset, Settings { frame_blend, ..sampler }, 0.06));
    }
}

#[test]
fn the_arrangement_of_texels_does_not_show() {
    let Some(gpu) = common::gpu() else { return };
    let straight = picture(&gpu, &sheet(24, 8, Encoding::Unorm16, 8192), Settings::default(), 0.3);
    for max_texture_size in [100, 80] {
        let asset = sheet(24, 8, Encoding::Unorm16, max_texture_size);
        assert!(asset.animation.grid.rows_per_frame > 1);
        assert_eq!(straight, picture(&gpu, &asset, Settings::default(), 0.3), "{:?}", asset.animation.grid);
    }
}

fn view(time_seconds: f64) -> View {
    View {
        camera: Camera { eye: Vec3::new(0.0, 3.0, 9.0), target: Vec3::ZERO, ..Camera::default() },
        size: SIZE,
        light: Light::default(),
        ground: Ground::default(),
        time_seconds,
        settings: Settings::default(),
    }
}

#[test]
fn a_frame_costs_the_same_draws_and_bytes_whatever_the_crowd() {
    let Some(gpu) = common::gpu() else { return };
    let asset = sheet(8, 8, Encoding::Unorm16, 8192);
    let mut renderer =
        Renderer::new(&gpu.device, &gpu.queue, Target::new(wgpu::TextureFormat::Rgba8UnormSrgb));
    let model = renderer.upload(&asset).unwrap();
    let mut costs = Vec::new();
    for count in [1, 1000, 1_000_000] {
        let instances = Crowd { count, ..Crowd::default() }.instances(&asset.clips);
        renderer.set_instances(model, &instances).unwrap();
        renderer.prepare(&gpu.queue, &view(0.4));
        let stats = renderer.stats();
        assert_eq!(stats.instances, u64::from(count));
        assert_eq!(stats.instance_bytes, u64::from(count) * 40);
        costs.push((stats.draws, stats.written_bytes));
    }
    // Background, shadow and sheet; the view, padded, and one clip.
    assert_eq!(costs, [(3, 256 + 24); 3]);
}

#[test]
fn each_model_plays_its_own_clips() {
    let Some(gpu) = common::gpu() else { return };
    let asset = sheet(24, 8, Encoding::Unorm16, 8192);
    let mut parts = asset.clone().into_parts();
    parts.clips[0].fps = 0.0;
    let still = Asset::new(parts).unwrap();
    let crowd = |count, seed| {
        let crowd = Crowd { count, spacing: 2.5, heading_spread_degrees: 180.0, seed, ..Crowd::default() };
        SceneCrowd { asset: String::new(), crowd }
    };
    let draw = |crowds: Vec<SceneCrowd>, assets: Vec<Asset>| {
        let scene = Scene { crowds, ..scene(Settings::default(), 1) };
        let mut capture = Capture::new(&gpu, scene, assets, SIZE).unwrap();
        pollster::block_on(capture.draw(0.3)).unwrap()
    };
    let alone = draw(vec![crowd(5, 1)], vec![asset.clone()]);
    let second = draw(vec![crowd(0, 1), crowd(5, 1)], vec![still.clone(), asset.clone()]);
    assert_eq!(alone, second);
    let stands = draw(vec![crowd(0, 1), crowd(5, 1)], vec![asset, still]);
    assert!(difference(&alone, &stands).1 > 200, "the pictures show a motion");
}

#[test]
fn an_empty_crowd_and_a_removed_model_draw_nothing() {
    let Some(gpu) = common::gpu() else { return };
    let asset = sheet(8, 8, Encoding::Unorm16, 8192);
    let mut renderer =
        Renderer::new(&gpu.device, &gpu.queue, Target::new(wgpu::TextureFormat::Rgba8UnormSrgb));
    let model = renderer.upload(&asset).unwrap();
    renderer.prepare(&gpu.queue, &view(0.0));
    assert_eq!(renderer.stats().draws, 1);
    renderer.set_instances(model, &[Instance::at(Vec3::ZERO)]).unwrap();
    renderer.prepare(&gpu.queue, &view(0.0));
    assert_eq!(renderer.stats().draws, 3);
    renderer.remove(model);
    assert_eq!(renderer.stats().draws, 1);
    gpu.check().unwrap();
}

#[test]
fn a_crowd_that_is_too_large_is_refused_with_the_numbers_and_the_old_one_stays() {
    let Some(gpu) = common::gpu() else { return };
    let descriptor = wgpu::DeviceDescriptor {
        required_limits: wgpu::Limits { max_buffer_size: 1 << 20, ..gpu.adapter.limits() },
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(gpu.adapter.request_device(&descriptor)).unwrap();
    let mut renderer = Renderer::new(&device, &queue, Target::new(wgpu::TextureFormat::Rgba8UnormSrgb));
    let model = renderer.upload(&sheet(8, 8, Encoding::Unorm16, 8192)).unwrap();
    renderer.set_instances(model, &[Instance::at(Vec3::ZERO); 10]).unwrap();
    let refused = renderer.set_instances(model, &vec![Instance::at(Vec3::ZERO); 30_000]).unwrap_err();
    assert_eq!(
        refused,
        throng::gpu::Error::BufferTooLarge { what: "instances", needed: 1_200_000, limit: 1 << 20 }
    );
    assert_eq!(renderer.stats().instances, 10);
}

#[test]
fn an_asset_wider_than_the_device_allows_is_rearranged() {
    let Some(gpu) = common::gpu() else { return };
    let descriptor = wgpu::DeviceDescriptor {
        required_limits: wgpu::Limits { max_texture_dimension_2d: 256, ..gpu.adapter.limits() },
        ..Default::default()
    };
    let (small, small_queue) = pollster::block_on(gpu.adapter.request_device(&descriptor)).unwrap();
    for encoding in [Encoding::Unorm16, Encoding::Split256, Encoding::Bc6h] {
        let asset = sheet(24, 8, encoding, 8192);
        assert!(asset.animation.positions.size().x > 256);
        let wide = picture(&gpu, &asset, Settings::default(), 0.3);
        let rearranged = picture(&on(&small, &small_queue), &asset, Settings::default(), 0.3);
        assert_eq!(wide, rearranged, "{encoding}");
    }
}

fn on(device: &wgpu::Device, queue: &wgpu::Queue) -> Gpu {
    let mut gpu = pollster::block_on(Gpu::headless()).unwrap();
    (gpu.device, gpu.queue) = (device.clone(), queue.clone());
    gpu
}

/// The driver's decoder of blocks against the one in Rust.
#[test]
fn a_device_that_does_not_read_blocks_draws_the_same_picture() {
    let Some(gpu) = common::gpu() else { return };
    if !gpu.device.features().contains(wgpu::Features::TEXTURE_COMPRESSION_BC) {
        eprintln!("skipped: this device reads no blocks");
        return;
    }
    let plain = wgpu::DeviceDescriptor { required_limits: gpu.adapter.limits(), ..Default::default() };
    let (device, queue) = pollster::block_on(gpu.adapter.request_device(&plain)).unwrap();
    let asset = sheet(24, 8, Encoding::Bc6h, 8192);
    for frame_blend in [FrameBlend::Step, FrameBlend::Linear, FrameBlend::CatmullRom] {
        let settings = Settings { frame_blend, ..Settings::default() };
        let by_driver = picture(&gpu, &asset, settings, 0.31);
        assert_eq!(by_driver, picture(&on(&device, &queue), &asset, settings, 0.31), "{frame_blend}");
        assert!(difference(&by_driver, &picture(&gpu, &asset, settings, 0.5)).1 > 200);
    }
    let exact = picture(&gpu, &sheet(24, 8, Encoding::Unorm16, 8192), Settings::default(), 0.31);
    let blocks = picture(&gpu, &asset, Settings::default(), 0.31);
    assert!(difference(&exact, &blocks).1 < 3000, "much the same sheet");
    assert!(difference(&exact, &blocks).1 > 0, "though not exactly");
}

/// Light of the middle of the picture.
fn brightness(gpu: &Gpu, asset: &Asset, heading: f32, sun_azimuth_degrees: f32) -> f64 {
    let mut scene = scene(Settings { shadows: false, ..Settings::default() }, 1);
    scene.crowds[0].crowd.heading_degrees = heading;
    scene.crowds[0].crowd.heading_spread_degrees = 0.0;
    scene.crowds[0].crowd.phase_spread = 0.0;
    scene.ground.visible = false;
    scene.light = Light { sun_azimuth_degrees, sun_elevation_degrees: 10.0, ..Light::default() };
    scene.camera = Some(Camera { eye: Vec3::new(0.0, 5.0, 0.0), target: Vec3::ZERO, ..Camera::default() });
    let mut capture = Capture::new(gpu, scene, vec![asset.clone()], SIZE).unwrap();
    let picture = pollster::block_on(capture.draw(0.3)).unwrap();
    let sum: u64 = picture.pixels().map(|pixel| u64::from(pixel[0])).sum();
    sum as f64 / f64::from(SIZE.element_product())
}

/// A figure turned with the light looks the same from above: normals turn with the figure.
#[test]
fn normals_turn_with_the_heading() {
    let Some(gpu) = common::gpu() else { return };
    // All normals lean to +X, whatever the shape: only their turn shows.
    let mut parts = sheet(24, 8, Encoding::Unorm16, 8192).into_parts();
    parts.mesh.normals.fill(Vec3::new(0.8, 0.6, 0.0));
    parts.animation.normals = throng::vat::Normals::Rest;
    parts.animation.normal_texels = None;
    let asset = Asset::new(parts).unwrap();
    let still = brightness(&gpu, &asset, 0.0, 90.0);
    for turn in [90.0, 180.0, 270.0] {
        let together = brightness(&gpu, &asset, turn, 90.0 + turn);
        assert!((together - still).abs() < 2.5, "turned by {turn}: {together}, at rest {still}");
    }
    let apart = brightness(&gpu, &asset, 180.0, 90.0);
    assert!((apart - still).abs() > 4.0, "the light shows: {apart}, {still}");
}

#[test]
fn shadings_differ_and_flat_faces_the_eye() {
    let Some(gpu) = common::gpu() else { return };
    let asset = sheet(10, 8, Encoding::Unorm16, 8192);
    let of = |shading| picture(&gpu, &asset, Settings { shading, ..Settings::default() }, 0.3);
    let (stored, rest, flat) = (of(Shading::Stored), of(Shading::Rest), of(Shading::Flat));
    assert!(difference(&stored, &rest).1 > 100 && difference(&stored, &flat).1 > 100);
    let mean =
        |picture: &RgbaImage| picture.pixels().map(|pixel| f64::from(pixel[1])).sum::<f64>() / 19_200.0;
    assert!((mean(&stored) - mean(&flat)).abs() < 6.0, "{} {}", mean(&stored), mean(&flat));
}

#[test]
fn the_example_draws_a_crowd() {
    let Some(gpu) = common::gpu() else { return };
    let pixels = own_pass::draw(&gpu.device, &gpu.queue).unwrap();
    let distinct: std::collections::HashSet<_> = pixels.as_chunks::<4>().0.iter().collect();
    assert!(distinct.len() > 1000, "{}", distinct.len());
    assert!(include_str!("../examples/own_pass.rs").lines().count() < 100);
}

#[test]
fn a_level_of_detail_draws_fewer_triangles_and_much_the_same_picture() {
    let Some(gpu) = common::gpu() else { return };
    let source = throng::source::builtin::make("flag", Some(6.0)).unwrap();
    let settings = throng::bake::Settings { lods: 2, ..throng::bake::Settings::default() };
    let asset = throng::bake::encode(&source, &settings).unwrap().0;
    let mut drawn = Vec::new();
    for lod in [0, 1, 2, 9] {
        let scene = scene(Settings { lod, ..Settings::default() }, 5);
        let mut capture = Capture::new(&gpu, scene, vec![asset.clone()], SIZE).unwrap();
        let picture = pollster::block_on(capture.draw(0.3)).unwrap();
        drawn.push((capture.stage().renderer().stats().triangles, picture));
    }
    let triangles = |lod: usize| (asset.mesh.lods[lod].indices.len() / 3) as u64 * 5;
    assert_eq!(drawn[0].0, asset.mesh.triangle_count() as u64 * 5);
    assert_eq!([drawn[1].0, drawn[2].0, drawn[3].0], [triangles(0), triangles(1), triangles(1)]);
    assert_eq!(drawn[2].1, drawn[3].1, "beyond the last is the last");
    let count = difference(&drawn[0].1, &drawn[1].1).1;
    assert!(count > 0 && count < 1500, "{count} pixels differ");
}
