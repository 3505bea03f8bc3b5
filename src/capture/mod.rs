//! Scene → picture, without a window.
//!
//! Time is an input and nothing is random, so the same scene, size and driver give the same bits.

use glam::{UVec2, uvec2};
use image::RgbaImage;

use crate::asset::Asset;
use crate::gpu;
use crate::gpu::Gpu;
use crate::render::{Attachments, Target};
use crate::scene::{Scene, Stage};

mod encode;

pub use encode::{gif, png};

/// Draws views of one scene at one size.
pub struct Capture<'gpu> {
    gpu: &'gpu Gpu,
    stage: Stage,
    attachments: Attachments,
    picture: wgpu::Texture,
}

impl<'gpu> Capture<'gpu> {
    /// Pictures are sRGB.
    const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

    /// Makes ready to draw `scene` with `assets`, one per crowd, at `size` pixels.
    ///
    /// # Errors
    /// [`gpu::Error`] when the picture, a texture or a crowd is too large for the device.
    pub fn new(gpu: &'gpu Gpu, scene: Scene, assets: Vec<Asset>, size: UVec2) -> Result<Self, gpu::Error> {
        let limit = gpu.device.limits().max_texture_dimension_2d;
        if size.max_element() > limit {
            return Err(gpu::Error::TextureTooLarge { width: size.x, height: size.y, limit });
        }
        let target = Target::new(Self::FORMAT);
        let stage = Stage::new(&gpu.device, &gpu.queue, target, scene, assets)?;
        let picture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("capture: picture"),
            size: wgpu::Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: Self::FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let attachments = Attachments::new(&gpu.device, target, size);
        Ok(Self { gpu, stage, attachments, picture })
    }

    /// The scene and what is drawn of it.
    pub fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    /// Draws the scene at `time_seconds`.
    ///
    /// # Errors
    /// [`gpu::Error`] when the device is lost or does not answer in time.
    pub async fn draw(&mut self, time_seconds: f64) -> Result<RgbaImage, gpu::Error> {
        let size = uvec2(self.picture.width(), self.picture.height());
        let view = self.stage.view(size, time_seconds);
        let renderer = self.stage.renderer();
        renderer.prepare(&self.gpu.queue, &view);
        let target = self.picture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("capture: picture") });
        {
            let mut pass = self.attachments.begin_pass(&mut encoder, &target, None);
            renderer.draw(&mut pass);
        }
        self.gpu.queue.submit([encoder.finish()]);
        let pixels = gpu::readback::rgba(self.gpu, &self.picture).await?;
        Ok(RgbaImage::from_raw(size.x, size.y, pixels).expect("four bytes a pixel"))
    }
}
