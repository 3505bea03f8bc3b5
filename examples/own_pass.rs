//! A crowd inside a program that has its own device and render pass.
//!
//! `cargo run --release --example own_pass` writes `own_pass.png`.

use glam::{UVec2, Vec3};
use throng::bake::{self, Settings as BakeSettings};
use throng::crowd::{Crowd, Layout};
use throng::render::{Attachments, Camera, Ground, Light, Renderer, Settings, Target, View};
use throng::source::builtin;

type Error = Box<dyn std::error::Error>;

const SIZE: UVec2 = UVec2::new(640, 360);

/// Your program's part: a device and a queue, from wherever you have them.
async fn device() -> Result<(wgpu::Device, wgpu::Queue), Error> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    descriptor.backends &= wgpu::Backends::PRIMARY;
    let adapter = wgpu::Instance::new(descriptor).request_adapter(&Default::default()).await?;
    Ok(adapter.request_device(&Default::default()).await?)
}

/// Draws one picture of a crowd and gives its pixels, RGBA, top row first.
pub fn draw(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Vec<u8>, Error> {
    // An asset: baked here; `throng::asset::glb::read(path)` reads one from a file.
    let source = builtin::make("flag", Some(15.0))?;
    let asset = bake::bake(&source, &BakeSettings::default())?.asset;

    // Once: a renderer for your pass, the asset, and who stands where.
    let target = Target::new(wgpu::TextureFormat::Rgba8UnormSrgb);
    let mut renderer = Renderer::new(device, queue, target);
    let model = renderer.upload(&asset)?;
    let crowd = Crowd { count: 60, layout: Layout::Disc, spacing: 2.2, ..Crowd::default() };
    renderer.set_instances(model, &crowd.instances(&asset.clips))?;

    // Every picture: say what is seen, then draw inside your pass.
    let view = View {
        camera: Camera { eye: Vec3::new(0.0, 4.0, 16.0), target: Vec3::Y, ..Camera::default() },
        size: SIZE,
        light: Light::default(),
        ground: Ground::default(),
        time_seconds: 1.0,
        settings: Settings::default(),
    };
    renderer.prepare(queue, &view);
    let picture = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: SIZE.x, height: SIZE.y, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: target.format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        // Yours may be any pass with this format, sample count and depth; draw before and after as you like.
        let attachments = Attachments::new(device, target, SIZE);
        let mut pass = attachments.begin_pass(&mut encoder, &picture.create_view(&Default::default()), None);
        renderer.draw(&mut pass);
    }
    let row = SIZE.x * 4; // A multiple of 256, as copies want.
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(row * SIZE.y),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
    let copy = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
    encoder.copy_texture_to_buffer(picture.as_image_copy(), copy, picture.size());
    queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |_| ());
    let timeout = Some(std::time::Duration::from_secs(60));
    device.poll(wgpu::PollType::Wait { submission_index: None, timeout })?;
    Ok(buffer.get_mapped_range(..)?.to_vec())
}

#[allow(dead_code, reason = "a test uses the rest of this file")]
fn main() -> Result<(), Error> {
    let (device, queue) = pollster::block_on(device())?;
    let pixels = draw(&device, &queue)?;
    image::save_buffer("own_pass.png", &pixels, SIZE.x, SIZE.y, image::ColorType::Rgba8)?;
    Ok(())
}
