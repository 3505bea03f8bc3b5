//! CPU time to build and submit a frame, for crowds of 1, 1,000 and 1,000,000.
//!
//! `cargo bench --bench crowd`. Time is that of the thread that builds the frame. The asset is one
//! triangle and stands behind the camera, because a software driver runs the vertex stage of a million
//! instances on the same processor; it is waited for outside of what is measured.

#![allow(clippy::print_stdout, reason = "a bench prints")]

use std::hint::black_box;

use cpu_time::ThreadTime;
use glam::{UVec2, Vec3};
use throng::asset::Asset;
use throng::bake::{self, Settings as BakeSettings};
use throng::clip::LoopMode;
use throng::crowd::Crowd;
use throng::gpu::Gpu;
use throng::mesh::{Mesh, Primitive};
use throng::render::{Attachments, Camera, Ground, Light, Renderer, Settings, Target, View};
use throng::source::{Motion, Source, SourceClip, VertexFrame};

type Error = Box<dyn std::error::Error>;

const COUNTS: [u32; 3] = [1, 1000, 1_000_000];
const ROUNDS: usize = 101;
/// The first rounds make pipelines and warm caches.
const WARM_UP: usize = 5;
/// How often `--check` measures before it calls a miss one.
const ATTEMPTS: usize = 3;
const TARGET_RATIO: f64 = 1.05;
const TARGET_MICROSECONDS: f64 = 100.0;
const SIZE: UVec2 = UVec2::splat(64);

fn triangle() -> Result<Asset, Error> {
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let frame =
        VertexFrame { positions: positions.clone(), normals: vec![Vec3::Z; 3], ..VertexFrame::default() };
    let source = Source {
        name: "triangle".to_owned(),
        mesh: Mesh {
            positions,
            normals: vec![Vec3::Z; 3],
            elements: vec![0, 1, 2],
            indices: vec![0, 1, 2],
            primitives: vec![Primitive { indices: 0..3, material: None }],
            ..Mesh::default()
        },
        materials: Vec::new(),
        images: Vec::new(),
        clips: vec![SourceClip {
            name: "still".to_owned(),
            fps: 30.0,
            loop_mode: LoopMode::Loop,
            motion: Motion::Vertices(vec![frame.clone(), frame]),
        }],
        producer: "bench".to_owned(),
        ..Source::default()
    };
    Ok(bake::bake(&source, &BakeSettings::default())?.asset)
}

/// Thread CPU time of one frame, microseconds: built, submitted.
fn frame(
    gpu: &Gpu,
    renderer: &mut Renderer,
    attachments: &Attachments,
    picture: &wgpu::TextureView,
    view: &View,
) -> Result<[f64; 2], Error> {
    let begun = ThreadTime::now();
    renderer.prepare(&gpu.queue, black_box(view));
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = attachments.begin_pass(&mut encoder, picture, None);
        renderer.draw(&mut pass);
    }
    let commands = encoder.finish();
    let built = begun.elapsed();
    gpu.queue.submit([commands]);
    let submitted = begun.elapsed() - built;
    gpu.wait()?;
    Ok([built, submitted].map(|time| time.as_secs_f64() * 1e6))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Error> {
    let gpu = pollster::block_on(Gpu::headless())?;
    let asset = triangle()?;
    let target = Target::new(wgpu::TextureFormat::Rgba8UnormSrgb);
    let attachments = Attachments::new(&gpu.device, target, SIZE);
    let picture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: SIZE.x, height: SIZE.y, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: target.format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    let picture = picture.create_view(&wgpu::TextureViewDescriptor::default());
    let mut renderers = Vec::new();
    for count in COUNTS {
        let mut renderer = Renderer::new(&gpu.device, &gpu.queue, target);
        let model = renderer.upload(&asset)?;
        renderer.set_instances(model, &Crowd { count, ..Crowd::default() }.instances(&asset.clips))?;
        renderers.push(renderer);
    }
    println!("adapter: {} ({})", gpu.info.name, gpu.info.driver_info);
    let check = std::env::args().any(|argument| argument == "--check");
    // Where other programs disturb the measurement it misses now and then; a frame that grows misses always.
    let attempts = if check { ATTEMPTS } else { 1 };
    for _ in 0..attempts {
        let times = measure(&gpu, &mut renderers, &attachments, &picture)?;
        if report(&times) <= TARGET_RATIO {
            return Ok(());
        }
    }
    // The ratio holds on any machine; microseconds are those of this one.
    if check {
        return Err(format!("the frame's CPU time grew with the crowd in {ATTEMPTS} measurements").into());
    }
    Ok(())
}

/// Build and submit times of each case, round by round.
type Times = Vec<Vec<[f64; 2]>>;

fn measure(
    gpu: &Gpu,
    renderers: &mut [Renderer],
    attachments: &Attachments,
    picture: &wgpu::TextureView,
) -> Result<Times, Error> {
    let mut times = vec![Vec::new(); COUNTS.len()];
    for round in 0..WARM_UP + ROUNDS {
        let view = View {
            camera: Camera { eye: Vec3::Z * 1e5, target: Vec3::Z * 2e5, ..Camera::default() },
            size: SIZE,
            light: Light::default(),
            ground: Ground::default(),
            time_seconds: round as f64 / 60.0,
            settings: Settings::default(),
        };
        // Interleaved, and in another order each round: what disturbs one disturbs all.
        for turn in 0..COUNTS.len() {
            // Backwards every other round: each comes after each of the others.
            let turn = if round % 2 == 0 { turn } else { COUNTS.len() - turn };
            let case = (round + turn) % COUNTS.len();
            // A software driver works through the caches of the thread that is measured: a small frame
            // between lets every case begin from the same state.
            frame(gpu, &mut renderers[0], attachments, picture, &view)?;
            let time = frame(gpu, &mut renderers[case], attachments, picture, &view)?;
            if round >= WARM_UP {
                times[case].push(time);
            }
        }
    }
    Ok(times)
}

/// Prints medians; gives the ratio of a million to one.
fn report(times: &Times) -> f64 {
    println!("{:>10}  {:>9}  {:>9}  {:>9}", "instances", "build µs", "submit µs", "frame µs");
    let mut frames = Vec::new();
    for (count, times) in COUNTS.iter().zip(times) {
        let of = |pick: &dyn Fn(&[f64; 2]) -> f64| median(times.iter().map(pick).collect());
        let frame = of(&|time| time[0] + time[1]);
        println!("{count:>10}  {:>9.1}  {:>9.1}  {frame:>9.1}", of(&|time| time[0]), of(&|time| time[1]));
        frames.push(frame);
    }
    let ratio = frames[2] / frames[0];
    println!(
        "1,000,000 : 1 = {ratio:.3} (target {TARGET_RATIO}), {:.1} µs (target {TARGET_MICROSECONDS})",
        frames[2]
    );
    ratio
}
