//! The WGSL functions that draw agree with Rust: integers exactly, positions within 10⁻⁶ of the bounds.
#![cfg(feature = "render")]
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod common;

use common::assets::{Choice, random_asset};
use throng::clip::{Clip, LoopMode};
use throng::gpu::{readback, shader};
use throng::random::Random;
use throng::render::decode;
use throng::render::uniforms::{Answer, Question};
use throng::vat::grid::{Grid, texel_address};
use throng::vat::playback::{clip_frames, encode_cursor, encode_phase, encode_speed, multiply_wide};
use throng::vat::{Encoding, FrameBlend, Normals, PositionSpace};
use wgpu::util::DeviceExt as _;

/// Of the size of the bounds.
const POSITION_TOLERANCE: f64 = 1e-6;
/// Of the length of a normal or tangent.
const NORMAL_TOLERANCE: f32 = 1e-5;

#[test]
fn decoded_poses_agree_for_every_encoding_normals_blend_and_space() {
    let Some(gpu) = common::gpu() else { return };
    let (mut worst_position, mut worst_normal, mut combinations) = (0.0_f64, 0.0_f32, 0_u32);
    for encoding in Encoding::ALL {
        // Blocks have no alpha.
        let fits = |normals: &&Normals| encoding.has_alpha() || **normals != Normals::Alpha;
        for normals in Normals::ALL.iter().filter(fits) {
            for space in PositionSpace::ALL {
                // One row a frame; wrapped rows; wrapped rows in bands.
                for (elements, frames, max_texture_size) in [(97, 9, 256), (300, 7, 128), (40, 90, 64)] {
                    let choice = Choice {
                        encoding: *encoding,
                        normals: *normals,
                        space: *space,
                        elements,
                        frames,
                        max_texture_size,
                        seed: u64::from(combinations),
                    };
                    let asset = random_asset(choice);
                    let mut random = Random::new(99 + u64::from(combinations));
                    for blend in FrameBlend::ALL {
                        let clip = &asset.clips[1];
                        let cursor = encode_cursor(clip, random.unit() * 1e4);
                        let moment =
                            clip_frames(cursor, encode_phase(random.unit()), encode_speed(random.signed()));
                        let cpu = asset.pose(moment, *blend);
                        let gpu = pollster::block_on(decode::pose(&gpu, &asset, moment, *blend)).unwrap();
                        // The box of everything that is added up: texels, and rest positions in offset space.
                        let size = 42.0 + if *space == PositionSpace::Offset { 2.0 } else { 0.0 };
                        for (cpu, gpu) in cpu.positions.iter().zip(&gpu.positions) {
                            worst_position =
                                worst_position.max(f64::from((*cpu - *gpu).abs().max_element()) / size);
                        }
                        for (cpu, gpu) in cpu.normals.iter().zip(&gpu.normals) {
                            if *normals != Normals::Flat {
                                worst_normal = worst_normal.max(cpu.distance(*gpu));
                            }
                        }
                        for (cpu, gpu) in cpu.tangents.iter().zip(&gpu.tangents) {
                            worst_normal = worst_normal.max(cpu.distance(*gpu));
                        }
                        assert_eq!(cpu.positions.len(), gpu.positions.len());
                        let tangents = if *normals == Normals::Rotation { cpu.positions.len() } else { 0 };
                        assert_eq!([cpu.tangents.len(), gpu.tangents.len()], [tangents; 2]);
                        assert!(
                            worst_position <= POSITION_TOLERANCE,
                            "{encoding} {normals} {space} {blend}: {worst_position:e}"
                        );
                        assert!(
                            worst_normal <= NORMAL_TOLERANCE,
                            "{encoding} {normals} {space} {blend}: {worst_normal:e}"
                        );
                    }
                    combinations += 1;
                }
            }
        }
    }
    println!(
        "{combinations} assets × 3 blends: positions within {worst_position:.1e} of the bounds, normals within {worst_normal:.1e}"
    );
    assert_eq!(
        combinations as usize,
        (Encoding::ALL.len() * Normals::ALL.len() - 1) * PositionSpace::ALL.len() * 3
    );
}

fn questions() -> Vec<Question> {
    let mut random = Random::new(5);
    let edges = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, u32::MAX];
    (0..20_000)
        .map(|index| {
            let clip = Clip {
                name: String::new(),
                first_frame: random.below(1000) as u32,
                frame_count: [1, 2, 3, 24, 1 + random.below(5000) as u32][index % 5],
                fps: [0.0, 24.0, 29.97, 240.0][index % 4],
                loop_mode: LoopMode::ALL[index % 3],
                root_motion: None,
            };
            let time =
                [random.signed() * 10.0, random.signed() * 1e7, random.unit() * 1e12, f64::NAN, -1e300];
            let speed =
                [encode_speed(1.0), encode_speed(random.signed() * 3.0), random.bits() as i32, i32::MIN, -1];
            let phase = [random.bits() as u32, edges[index % edges.len()]];
            let grid = Grid::new(1 + random.below(9000) as u32, 1 + random.below(300) as u32, 8192).unwrap();
            Question {
                clip: encode_cursor(&clip, time[index / 3 % 5]),
                phase: phase[index / 7 % 2],
                speed: speed[index / 11 % 5],
                element: random.below(grid.columns as usize * grid.rows_per_frame as usize) as u32,
                frame: random.below(grid.frame_count as usize) as u32,
                grid,
            }
        })
        .collect()
}

#[test]
fn frames_addresses_and_products_agree_exactly() {
    let Some(gpu) = common::gpu() else { return };
    let questions = questions();
    let asked = gpu.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("parity: questions"),
        contents: bytemuck::cast_slice(&questions),
        usage: wgpu::BufferUsages::STORAGE,
    });
    let answered = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("parity: answers"),
        size: (questions.len() * size_of::<Answer>()) as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("parity"),
        layout: None,
        module: &shader::module(&gpu.device, "test/parity"),
        entry_point: Some("answer_all"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("parity"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: asked.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: answered.as_entire_binding() },
        ],
    });
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(questions.len().div_ceil(64) as u32, 1, 1);
    }
    gpu.queue.submit([encoder.finish()]);
    let bytes = pollster::block_on(readback::buffer(&gpu, &answered)).unwrap();
    let answers: Vec<Answer> = bytemuck::pod_collect_to_vec(&bytes);
    let mut blended = 0;
    for (question, answer) in questions.iter().zip(&answers) {
        let Question { clip, phase, speed, grid, element, frame } = *question;
        let address = texel_address(grid, element, frame);
        let [product_low, product_high] = multiply_wide(phase, speed as u32);
        let frames = clip_frames(clip, phase, speed);
        let expected =
            Answer { frames, address_x: address.x, address_y: address.y, product_low, product_high };
        assert_eq!(*answer, expected, "{question:?}");
        assert_eq!(
            u64::from(product_low) | u64::from(product_high) << 32,
            u64::from(phase) * u64::from(speed as u32)
        );
        blended += usize::from(frames.weight > 0.0);
    }
    assert!(blended > questions.len() / 4, "the questions are about blends too");
}
