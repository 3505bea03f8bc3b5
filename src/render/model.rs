use std::collections::HashMap;
use std::ops::Range;

use glam::Vec2;
use wgpu::util::DeviceExt as _;

use super::pipeline::Layouts;
use super::uniforms::{
    self, SoftTexels, TEXTURE_BASE_COLOR, TEXTURE_EMISSIVE, TEXTURE_METALLIC_ROUGHNESS, TEXTURE_NORMAL,
};
use crate::asset::{Animation, Asset};
use crate::clip::Clip;
use crate::gpu;
use crate::gpu::texture;
use crate::material::Material;
use crate::mesh::Primitive;
use crate::vat::grid::{Grid, texel_address};
use crate::vat::{Encoding, Normals, PositionSpace, TexelFormat, Texels};

/// What an upload makes besides the textures that are read by address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UploadOptions {
    /// A second position texture in a filterable format, for [`super::Fetch::Sampler`].
    pub sampler: bool,
}

/// Where the fallback texture and samplers come from.
pub(super) struct Shared {
    pub(super) white: wgpu::TextureView,
    pub(super) white_number: wgpu::TextureView,
    pub(super) no_normals: wgpu::TextureView,
    pub(super) color_sampler: wgpu::Sampler,
    pub(super) position_sampler: wgpu::Sampler,
}

/// One draw call's worth of a model.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) indices: Range<u32>,
    pub(super) material: wgpu::BindGroup,
    pub(super) double_sided: bool,
    /// Bits of the textures that it has.
    pub(super) textures: u32,
}

/// An asset on the GPU, with its crowd.
pub(super) struct ModelData {
    pub(super) encoding: Encoding,
    pub(super) normals: Normals,
    pub(super) space: PositionSpace,
    pub(super) clips: Vec<Clip>,
    first_clip: u32,
    pub(super) vertices: wgpu::Buffer,
    /// Present where a normal map needs them.
    pub(super) tangents: Option<wgpu::Buffer>,
    pub(super) indices: wgpu::Buffer,
    /// By level of detail, the full mesh first.
    pub(super) levels: Vec<Vec<Part>>,
    pub(super) animation: wgpu::BindGroup,
    /// Whether positions are blocks, which `sampler` holds.
    pub(super) has_blocks: bool,
    /// Present where the sampler path is possible and was asked for, or positions are blocks.
    pub(super) sampler: Option<wgpu::BindGroup>,
    pub(super) instances: Option<wgpu::Buffer>,
    pub(super) instance_count: u32,
    pub(super) vertex_count: u64,
    pub(super) asset_bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Vertex {
    position: glam::Vec3,
    normal: glam::Vec3,
    uv: Vec2,
    element: u32,
}

/// The animation in an arrangement that the device allows: as it is, or rearranged.
pub(super) fn fitted(
    animation: &Animation,
    limit: u32,
) -> Result<std::borrow::Cow<'_, Animation>, gpu::Error> {
    if animation.positions.size().max_element() <= limit {
        return Ok(std::borrow::Cow::Borrowed(animation));
    }
    let encoding = animation.encoding;
    let limit = encoding.max_grid_size(limit);
    let grid = Grid::new(animation.element_count, animation.grid.frame_count, limit)?;
    Ok(std::borrow::Cow::Owned(Animation {
        positions: rearranged(&animation.positions, animation, grid, encoding.texels_per_element()),
        normal_texels: animation.normal_texels.as_ref().map(|texels| rearranged(texels, animation, grid, 1)),
        grid,
        ..animation.clone()
    }))
}

fn rearranged(texels: &Texels, animation: &Animation, grid: Grid, texels_per_element: u32) -> Texels {
    // Blocks hold texels of several elements: they are decoded, and stay so.
    let texels = texels.unblocked();
    let size = grid.size().unwrap_or_default();
    let texel_bytes = (texels.format().bytes() * texels_per_element) as usize;
    let mut data = vec![0; size.x as usize * size.y as usize * texel_bytes];
    let at = |at: glam::UVec2, width: u32| (at.y as usize * width as usize + at.x as usize) * texel_bytes;
    let width = texels.size().x / texels_per_element;
    for frame in 0..grid.frame_count {
        for element in 0..animation.element_count {
            let from = at(texel_address(animation.grid, element, frame), width);
            let to = at(texel_address(grid, element, frame), size.x);
            data[to..to + texel_bytes].copy_from_slice(&texels.data()[from..from + texel_bytes]);
        }
    }
    let size = glam::UVec2::new(size.x * texels_per_element, size.y);
    Texels::new(texels.format(), size, data).expect("as many bytes as the size says")
}

pub(super) fn buffer(
    device: &wgpu::Device,
    what: &'static str,
    bytes: &[u8],
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, gpu::Error> {
    let (needed, limit) = (bytes.len() as u64, device.limits().max_buffer_size);
    if needed > limit {
        return Err(gpu::Error::BufferTooLarge { what, needed, limit });
    }
    Ok(device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some(what),
        contents: bytes,
        usage,
    }))
}

impl ModelData {
    pub(super) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        layouts: &Layouts,
        shared: &Shared,
        asset: &Asset,
        options: UploadOptions,
        first_clip: u32,
    ) -> Result<Self, gpu::Error> {
        let animation = fitted(&asset.animation, device.limits().max_texture_dimension_2d)?;
        let mesh = &asset.mesh;
        let vertices: Vec<Vertex> = (0..mesh.vertex_count())
            .map(|index| Vertex {
                position: mesh.positions[index],
                normal: mesh.normals[index],
                uv: mesh.uvs.as_ref().map_or(Vec2::ZERO, |uvs| uvs[index]),
                element: mesh.elements[index],
            })
            .collect();
        let vertices =
            buffer(device, "model: vertices", bytemuck::cast_slice(&vertices), wgpu::BufferUsages::VERTEX)?;
        let all: Vec<u32> =
            mesh.indices.iter().chain(mesh.lods.iter().flat_map(|lod| &lod.indices)).copied().collect();
        let indices =
            buffer(device, "model: indices", bytemuck::cast_slice(&all), wgpu::BufferUsages::INDEX)?;
        let levels = levels(device, queue, layouts, shared, asset)?;
        let is_mapped = levels[0].iter().any(|part| part.textures & TEXTURE_NORMAL != 0);
        let tangents = match mesh.tangents.as_ref().filter(|_| is_mapped) {
            None => None,
            Some(tangents) => {
                let bytes = bytemuck::cast_slice(tangents);
                Some(buffer(device, "model: tangents", bytes, wgpu::BufferUsages::VERTEX)?)
            }
        };
        let has_blocks = animation.positions.format() == TexelFormat::Bc6h
            && device.features().contains(wgpu::Features::TEXTURE_COMPRESSION_BC);
        let positions = if has_blocks {
            shared.no_normals.clone()
        } else {
            let format = texture::integer_format(animation.positions.format());
            texture::upload(device, queue, "model: positions", &animation.positions, format)?
        };
        let normals = match &animation.normal_texels {
            None => shared.no_normals.clone(),
            Some(texels) => texture::upload(
                device,
                queue,
                "model: normals",
                texels,
                texture::integer_format(texels.format()),
            )?,
        };
        let soft = SoftTexels::new(&animation, first_clip);
        let soft = buffer(device, "model: texels", bytemuck::bytes_of(&soft), wgpu::BufferUsages::UNIFORM)?;
        let sampler = if has_blocks {
            let blocks = texture::upload_blocks(device, queue, "model: blocks", &animation.positions)?;
            Some(float_group(device, layouts, shared, &blocks))
        } else if options.sampler {
            sampler_group(device, queue, layouts, shared, &animation)?
        } else {
            None
        };
        Ok(Self {
            encoding: animation.encoding,
            normals: animation.normals,
            space: animation.space,
            clips: asset.clips.clone(),
            animation: device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("model: animation"),
                layout: &layouts.animation,
                entries: &[
                    entry(0, soft.as_entire_binding()),
                    entry(1, wgpu::BindingResource::TextureView(&positions)),
                    entry(2, wgpu::BindingResource::TextureView(&normals)),
                ],
            }),
            first_clip,
            asset_bytes: vertices.size()
                + indices.size()
                + tangents.as_ref().map_or(0, wgpu::Buffer::size)
                + asset.texel_bytes(),
            levels,
            vertices,
            tangents,
            indices,
            has_blocks,
            sampler,
            instances: None,
            instance_count: 0,
            vertex_count: mesh.vertex_count() as u64,
        })
    }

    /// The draws of a level of detail; of the coarsest where there are fewer.
    pub(super) fn level(&self, lod: u32) -> &[Part] {
        let last = self.levels.len() - 1;
        &self.levels[last.min(lod as usize)]
    }

    /// Places of this model's clips among those of the view.
    pub(super) fn cursors(&self) -> Range<u32> {
        self.first_clip..self.first_clip + u32::try_from(self.clips.len()).unwrap_or(0)
    }
}

pub(super) fn entry(binding: u32, resource: wgpu::BindingResource<'_>) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry { binding, resource }
}

fn sampler_group(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    layouts: &Layouts,
    shared: &Shared,
    animation: &Animation,
) -> Result<Option<wgpu::BindGroup>, gpu::Error> {
    let format = texture::filterable_format(animation.encoding, device.features());
    let Some(format) = format.filter(|_| animation.grid.rows_are_frames()) else {
        log::warn!(
            "no sampler path for {} in {:?}: texels are read by address",
            animation.encoding,
            animation.grid
        );
        return Ok(None);
    };
    let view = texture::upload(device, queue, "model: filtered positions", &animation.positions, format)?;
    Ok(Some(float_group(device, layouts, shared, &view)))
}

fn float_group(
    device: &wgpu::Device,
    layouts: &Layouts,
    shared: &Shared,
    view: &wgpu::TextureView,
) -> wgpu::BindGroup {
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("model: positions as floats"),
        layout: &layouts.sampler,
        entries: &[
            entry(0, wgpu::BindingResource::TextureView(view)),
            entry(1, wgpu::BindingResource::Sampler(&shared.position_sampler)),
        ],
    })
}

fn levels(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    layouts: &Layouts,
    shared: &Shared,
    asset: &Asset,
) -> Result<Vec<Vec<Part>>, gpu::Error> {
    let mut pictures = Pictures { device, queue, asset, made: HashMap::new() };
    let mut made: HashMap<Option<u32>, Part> = HashMap::new();
    for primitive in
        asset.mesh.primitives.iter().chain(asset.mesh.lods.iter().flat_map(|lod| &lod.primitives))
    {
        if made.contains_key(&primitive.material) {
            continue;
        }
        let fallback = Material::default();
        let material = primitive.material.map_or(&fallback, |index| &asset.materials[index as usize]);
        let uniform = uniforms::Material {
            base_color: material.base_color,
            metallic: material.metallic,
            roughness: material.roughness,
            normal_scale: material.normal_scale,
            pad: 0,
            emissive: material.emissive,
            pad_emissive: 0,
        };
        let uniform =
            buffer(device, "model: material", bytemuck::bytes_of(&uniform), wgpu::BufferUsages::UNIFORM)?;
        // Without tangents a normal map says nothing.
        let normal_image = material.normal_image.filter(|_| asset.mesh.tangents.is_some());
        let wanted = [
            (TEXTURE_BASE_COLOR, material.base_color_image, true),
            (TEXTURE_METALLIC_ROUGHNESS, material.metallic_roughness_image, false),
            (TEXTURE_NORMAL, normal_image, false),
            (TEXTURE_EMISSIVE, material.emissive_image, true),
        ];
        let mut textures = 0;
        let mut views = Vec::new();
        for (bit, image, is_color) in wanted {
            let view = match image {
                Some(image) => pictures.view(image, is_color)?,
                None => None,
            };
            textures |= if view.is_some() { bit } else { 0 };
            let fallback = if is_color { &shared.white } else { &shared.white_number };
            views.push(view.unwrap_or_else(|| fallback.clone()));
        }
        let mut entries = vec![
            entry(0, uniform.as_entire_binding()),
            entry(1, wgpu::BindingResource::Sampler(&shared.color_sampler)),
        ];
        let textures_of = (2..).zip(&views);
        entries.extend(textures_of.map(|(at, view)| entry(at, wgpu::BindingResource::TextureView(view))));
        let part = Part {
            indices: 0..0,
            double_sided: material.double_sided,
            textures,
            material: device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("model: material"),
                layout: &layouts.material,
                entries: &entries,
            }),
        };
        made.insert(primitive.material, part);
    }
    let mut first = 0;
    let mut level = |primitives: &[Primitive], count: usize| -> Vec<Part> {
        let placed = |primitive: &Primitive| {
            let Range { start, end } = primitive.indices;
            Part { indices: first + start..first + end, ..made[&primitive.material].clone() }
        };
        let parts = primitives.iter().map(placed).collect();
        first += u32::try_from(count).unwrap_or(u32::MAX);
        parts
    };
    let mut levels = vec![level(&asset.mesh.primitives, asset.mesh.indices.len())];
    levels.extend(asset.mesh.lods.iter().map(|lod| level(&lod.primitives, lod.indices.len())));
    Ok(levels)
}

/// Pictures of an asset, uploaded when they are first used.
struct Pictures<'a> {
    device: &'a wgpu::Device,
    queue: &'a wgpu::Queue,
    asset: &'a Asset,
    /// By index, and whether they are colours.
    made: HashMap<(u32, bool), Option<wgpu::TextureView>>,
}

impl Pictures<'_> {
    /// Drawing is lenient: a picture that cannot be decoded is said once, and the surface drawn without.
    fn view(&mut self, image: u32, is_color: bool) -> Result<Option<wgpu::TextureView>, gpu::Error> {
        if let Some(view) = self.made.get(&(image, is_color)) {
            return Ok(view.clone());
        }
        let limit = self.device.limits().max_texture_dimension_2d;
        let mut limits = image::Limits::default();
        limits.max_image_width = Some(limit);
        limits.max_image_height = Some(limit);
        let data = std::io::Cursor::new(&self.asset.images[image as usize].data);
        let decoded = image::ImageReader::new(data)
            .with_guessed_format()
            .map_err(image::ImageError::from)
            .and_then(|mut reader| {
                reader.limits(limits);
                reader.decode()
            });
        let view = match decoded {
            Ok(picture) => {
                let picture = picture.into_rgba8();
                Some(texture::upload_picture(self.device, self.queue, "model: picture", picture, is_color)?)
            }
            Err(error) => {
                log::warn!("image {image} cannot be read and is left out: {error}");
                None
            }
        };
        self.made.insert((image, is_color), view.clone());
        Ok(view)
    }
}
