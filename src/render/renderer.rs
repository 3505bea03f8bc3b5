use std::collections::HashSet;

use super::frame::{FrameBuffer, free_place};
use super::model::{ModelData, Part, Shared, UploadOptions, buffer};
use super::pipeline::{Key, Layouts, Pass, Pipelines, Reading};
use super::uniforms::TEXTURE_NORMAL;
use super::{Fetch, Shading, Target, View};
use crate::asset::Asset;
use crate::crowd::Instance;
use crate::gpu;
use crate::gpu::texture;
use crate::vat::playback::encode_cursor;
use crate::vat::{FrameBlend, Normals};

/// An uploaded asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Model(usize);

/// What a view costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Draw calls of the last prepared view.
    pub draws: u32,
    /// Characters.
    pub instances: u64,
    /// Vertices of all characters.
    pub vertices: u64,
    /// Triangles of all characters.
    pub triangles: u64,
    /// Bytes of meshes and texels.
    pub asset_bytes: u64,
    /// Bytes of instance buffers.
    pub instance_bytes: u64,
    /// Bytes that the CPU wrote for the last prepared view.
    pub written_bytes: u64,
}

/// Draws crowds of uploaded assets inside the caller's render pass.
///
/// ```text
/// let mut renderer = Renderer::new(&device, &queue, target);
/// let model = renderer.upload(&asset)?;            // once per asset
/// renderer.set_instances(model, &instances)?;      // when the crowd changes
/// renderer.prepare(&queue, &view);                 // once per picture, before the pass
/// renderer.draw(&mut pass);                        // inside it
/// ```
pub struct Renderer {
    device: wgpu::Device,
    queue: wgpu::Queue,
    target: Target,
    layouts: Layouts,
    pipelines: Pipelines,
    shared: Shared,
    frame: FrameBuffer,
    models: Vec<Option<ModelData>>,
    plan: Vec<Draw>,
    written_bytes: u64,
    lod: u32,
    warned: HashSet<usize>,
}

/// One draw call.
struct Draw {
    key: Key,
    model: usize,
    part: usize,
}

impl Renderer {
    /// A renderer for passes into `target`. Nothing is global and no window is needed.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, target: Target) -> Self {
        let layouts = Layouts::new(device);
        let mut pipelines = Pipelines::new(device, target, &layouts);
        pipelines.make(Key::Background);
        Self {
            frame: FrameBuffer::new(device, &layouts.view),
            pipelines,
            shared: shared(device, queue),
            device: device.clone(),
            queue: queue.clone(),
            target,
            layouts,
            models: Vec::new(),
            plan: Vec::new(),
            written_bytes: 0,
            lod: 0,
            warned: HashSet::new(),
        }
    }

    /// What this renderer draws into.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Uploads an asset, to be read by texel address. Its crowd is empty.
    ///
    /// # Errors
    /// [`gpu::Error`] when it does not fit the device.
    pub fn upload(&mut self, asset: &Asset) -> Result<Model, gpu::Error> {
        self.upload_with(asset, UploadOptions::default())
    }

    /// Uploads an asset. Texels that are arranged wider than the device allows are rearranged.
    ///
    /// # Errors
    /// As [`Renderer::upload`].
    pub fn upload_with(&mut self, asset: &Asset, options: UploadOptions) -> Result<Model, gpu::Error> {
        let taken = self.models.iter().flatten().map(ModelData::cursors).collect();
        let first_clip = free_place(taken, u32::try_from(asset.clips.len()).unwrap_or(u32::MAX));
        let model = ModelData::new(
            &self.device,
            &self.queue,
            &self.layouts,
            &self.shared,
            asset,
            options,
            first_clip,
        )?;
        self.frame.reserve(&self.device, &self.layouts.view, model.cursors().end);
        let free = self.models.iter().position(Option::is_none).unwrap_or(self.models.len());
        if free == self.models.len() {
            self.models.push(None);
        }
        self.models[free] = Some(model);
        Ok(Model(free))
    }

    /// Forgets an asset and its crowd.
    pub fn remove(&mut self, model: Model) {
        if let Some(slot) = self.models.get_mut(model.0) {
            *slot = None;
        }
        self.plan.retain(|draw| draw.model != model.0);
    }

    /// Replaces the crowd of `model`. Clips that the asset does not have become its last.
    ///
    /// # Errors
    /// [`gpu::Error::BufferTooLarge`] with the numbers; the old crowd stays.
    pub fn set_instances(&mut self, model: Model, instances: &[Instance]) -> Result<(), gpu::Error> {
        let Some(data) = self.models.get_mut(model.0).and_then(Option::as_mut) else {
            return Ok(());
        };
        let Ok(instance_count) = u32::try_from(instances.len()) else {
            let (needed, limit) = (size_of_val(instances) as u64, self.device.limits().max_buffer_size);
            return Err(gpu::Error::BufferTooLarge { what: "instances", needed, limit });
        };
        let clip_count = data.clips.len();
        let outside = |instance: &Instance| instance.clip as usize >= clip_count;
        let usage = wgpu::BufferUsages::VERTEX;
        data.instances = match instances {
            [] => None,
            _ if instances.iter().any(outside) => {
                // An asset has at least one clip and at most what a u32 counts.
                let last = u32::try_from(clip_count - 1).unwrap_or(u32::MAX);
                let clamped: Vec<Instance> =
                    instances.iter().map(|one| Instance { clip: one.clip.min(last), ..*one }).collect();
                Some(buffer(&self.device, "instances", bytemuck::cast_slice(&clamped), usage)?)
            }
            _ => Some(buffer(&self.device, "instances", bytemuck::cast_slice(instances), usage)?),
        };
        data.instance_count = instance_count;
        Ok(())
    }

    /// Writes what `view` needs and plans its draws: the cost depends on models and clips, not on the
    /// size of crowds.
    pub fn prepare(&mut self, queue: &wgpu::Queue, view: &View) {
        self.frame.set_view(&view.uniform());
        let mut cursor_end = 0;
        self.plan.clear();
        let shadows = view.has_shadows();
        let lod = view.settings.lod;
        self.lod = lod;
        for index in 0..self.models.len() {
            let Some(model) = &self.models[index] else {
                continue;
            };
            if model.instance_count == 0 {
                continue;
            }
            cursor_end = cursor_end.max(model.cursors().end);
            for (place, clip) in model.cursors().zip(&model.clips) {
                self.frame.set_cursor(place, &encode_cursor(clip, view.time_seconds));
            }
            let sampler = view.settings.fetch == Fetch::Sampler;
            let by_sampler = sampler
                && model.sampler.is_some()
                && !model.has_blocks
                && view.settings.frame_blend == FrameBlend::Linear;
            if sampler && !by_sampler && self.warned.insert(index) {
                log::warn!("the sampler path does not apply to model {index}: texels are read by address");
            }
            let normals = match view.settings.shading {
                Shading::Stored => model.normals,
                Shading::Rest => Normals::Rest,
                Shading::Flat => Normals::Flat,
            };
            let by_texels = if model.has_blocks { Reading::Blocks } else { Reading::Texels };
            let shaded = if by_sampler { Reading::Sampler } else { by_texels };
            for (part, Part { double_sided, textures, .. }) in model.level(lod).iter().enumerate() {
                // Faces have no tangents.
                let unmapped = if normals == Normals::Flat { !TEXTURE_NORMAL } else { !0 };
                let key = |pass, reading, normals, double_sided, textures| Key::Soft {
                    pass,
                    reading,
                    encoding: model.encoding,
                    normals,
                    frame_blend: view.settings.frame_blend,
                    space: model.space,
                    double_sided,
                    textures,
                };
                if shadows {
                    let key = key(Pass::Shadow, by_texels, Normals::Rest, true, 0);
                    self.plan.push(Draw { key, model: index, part });
                }
                let key = key(Pass::Shaded, shaded, normals, *double_sided, textures & unmapped);
                self.plan.push(Draw { key, model: index, part });
            }
        }
        self.written_bytes = self.frame.write(queue, cursor_end);
        for draw in &self.plan {
            self.pipelines.make(draw.key);
        }
        // Shadows lie on the ground and come before what stands on it.
        self.plan.sort_by_key(|draw| !matches!(draw.key, Key::Soft { pass: Pass::Shadow, .. }));
    }

    /// Draws the prepared view. The pass has this renderer's target format, samples and depth; depth is
    /// cleared to 0.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        let Some(background) = self.pipelines.get(Key::Background) else {
            return;
        };
        pass.set_bind_group(0, self.frame.group(), &[]);
        pass.set_pipeline(background);
        pass.draw(0..3, 0..1);
        for draw in &self.plan {
            let model = self.models.get(draw.model).and_then(Option::as_ref);
            let (Some(model), Some(pipeline)) = (model, self.pipelines.get(draw.key)) else {
                continue;
            };
            let Some(instances) = &model.instances else {
                continue;
            };
            let part = &model.level(self.lod)[draw.part];
            pass.set_pipeline(pipeline);
            pass.set_bind_group(1, &part.material, &[]);
            pass.set_bind_group(2, &model.animation, &[]);
            if let (Key::Soft { reading: Reading::Sampler | Reading::Blocks, .. }, Some(sampler)) =
                (draw.key, &model.sampler)
            {
                pass.set_bind_group(3, sampler, &[]);
            }
            pass.set_vertex_buffer(0, model.vertices.slice(..));
            pass.set_vertex_buffer(1, instances.slice(..));
            if let Some(tangents) = model.tangents.as_ref().filter(|_| draw.key.is_mapped()) {
                pass.set_vertex_buffer(2, tangents.slice(..));
            }
            pass.set_index_buffer(model.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(part.indices.clone(), 0, 0..model.instance_count);
        }
    }

    /// What the prepared view costs.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats {
            // One is the background.
            draws: u32::try_from(self.plan.len()).unwrap_or(u32::MAX).saturating_add(1),
            written_bytes: self.written_bytes,
            ..Stats::default()
        };
        for model in self.models.iter().flatten() {
            let count = u64::from(model.instance_count);
            let triangles: u64 =
                model.level(self.lod).iter().map(|part| (part.indices.len() / 3) as u64).sum();
            stats.instances += count;
            stats.vertices += count * model.vertex_count;
            stats.triangles += count * triangles;
            stats.asset_bytes += model.asset_bytes;
            stats.instance_bytes += model.instances.as_ref().map_or(0, wgpu::Buffer::size);
        }
        stats
    }
}

fn shared(device: &wgpu::Device, queue: &wgpu::Queue) -> Shared {
    let pixel = |format, bytes: &[u8]| {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("render: one texel"),
            size: wgpu::Extent3d::default(),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: None, rows_per_image: None };
        queue.write_texture(texture.as_image_copy(), bytes, layout, wgpu::Extent3d::default());
        texture.create_view(&wgpu::TextureViewDescriptor::default())
    };
    Shared {
        white: pixel(wgpu::TextureFormat::Rgba8UnormSrgb, &[255; 4]),
        white_number: pixel(wgpu::TextureFormat::Rgba8Unorm, &[255; 4]),
        no_normals: pixel(texture::integer_format(crate::vat::TexelFormat::Rg8), &[127; 2]),
        color_sampler: device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("render: pictures"),
            address_mode_u: wgpu::AddressMode::Repeat,
            address_mode_v: wgpu::AddressMode::Repeat,
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            // Not anisotropic: where a triangle's UVs are one point, as in palettes, llvmpipe then never ends.
            anisotropy_clamp: 1,
            ..Default::default()
        }),
        position_sampler: device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("render: positions"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        }),
    }
}
