use glam::UVec2;

/// What pictures are drawn into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Colour format. Linear light is turned into sRGB by the hardware where the format is sRGB, else
    /// by the shader.
    pub format: wgpu::TextureFormat,
    /// Samples per pixel, 1 or 4.
    pub samples: u32,
    /// Depth format; depth is reversed: cleared to 0, nearer is greater.
    pub depth_format: wgpu::TextureFormat,
}

impl Target {
    /// `format` with four samples per pixel and a float depth buffer.
    pub fn new(format: wgpu::TextureFormat) -> Self {
        Self { format, samples: 4, depth_format: wgpu::TextureFormat::Depth32Float }
    }
}

/// Multisampled colour and depth for one size of picture.
pub struct Attachments {
    size: UVec2,
    color: Option<wgpu::TextureView>,
    depth: wgpu::TextureView,
}

impl Attachments {
    /// Attachments for pictures of `size` pixels, at least 1×1.
    pub fn new(device: &wgpu::Device, target: Target, size: UVec2) -> Self {
        let texture = |label, format| {
            device
                .create_texture(&wgpu::TextureDescriptor {
                    label: Some(label),
                    size: wgpu::Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 },
                    mip_level_count: 1,
                    sample_count: target.samples,
                    dimension: wgpu::TextureDimension::D2,
                    format,
                    usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                    view_formats: &[],
                })
                .create_view(&wgpu::TextureViewDescriptor::default())
        };
        Self {
            size,
            color: (target.samples > 1).then(|| texture("attachments: color", target.format)),
            depth: texture("attachments: depth", target.depth_format),
        }
    }

    /// Size of the pictures, pixels.
    pub fn size(&self) -> UVec2 {
        self.size
    }

    /// A pass that clears, draws, and leaves the picture in `picture`.
    pub fn begin_pass<'encoder>(
        &self,
        encoder: &'encoder mut wgpu::CommandEncoder,
        picture: &wgpu::TextureView,
        timestamp_writes: Option<wgpu::RenderPassTimestampWrites<'_>>,
    ) -> wgpu::RenderPass<'encoder> {
        let (view, resolve_target) = match &self.color {
            Some(color) => (color, Some(picture)),
            None => (picture, None),
        };
        let store = if resolve_target.is_some() { wgpu::StoreOp::Discard } else { wgpu::StoreOp::Store };
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("render: view"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(0.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            timestamp_writes,
            occlusion_query_set: None,
            multiview_mask: None,
        })
    }
}
