//! Texels and pictures → textures.

use glam::UVec2;

use super::Error;
use crate::vat::blocks::BLOCK_SIDE;
use crate::vat::{Encoding, TexelFormat, Texels};

/// The unsigned integer format in which texels are read by address.
pub fn integer_format(format: TexelFormat) -> wgpu::TextureFormat {
    match format {
        TexelFormat::Rg8 => wgpu::TextureFormat::Rg8Uint,
        TexelFormat::Rg16 => wgpu::TextureFormat::Rg16Uint,
        TexelFormat::Rgba8 => wgpu::TextureFormat::Rgba8Uint,
        // Blocks are decoded first.
        TexelFormat::Rgba16 | TexelFormat::Bc6h => wgpu::TextureFormat::Rgba16Uint,
        TexelFormat::Rgba32 => wgpu::TextureFormat::Rgba32Uint,
    }
}

/// The format in which a sampler can filter texels of `encoding`, if the device has one.
pub fn filterable_format(encoding: Encoding, features: wgpu::Features) -> Option<wgpu::TextureFormat> {
    let with = |feature, format| features.contains(feature).then_some(format);
    match encoding {
        Encoding::Unorm8 => Some(wgpu::TextureFormat::Rgba8Unorm),
        Encoding::Unorm16 => {
            with(wgpu::Features::TEXTURE_FORMAT_16BIT_NORM, wgpu::TextureFormat::Rgba16Unorm)
        }
        Encoding::Float16 | Encoding::Float16Bounded => Some(wgpu::TextureFormat::Rgba16Float),
        // The bits of halfs are no numbers to a filter; filtering between high and low parts makes neither.
        Encoding::Bc6h | Encoding::Split256 | Encoding::Split255 => None,
        Encoding::Float32 => with(wgpu::Features::FLOAT32_FILTERABLE, wgpu::TextureFormat::Rgba32Float),
    }
}

/// Uploads `texels` as they lie in memory: no copy is made on the way to the queue.
///
/// # Errors
/// [`Error::TextureTooLarge`].
pub fn upload(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    label: &str,
    texels: &Texels,
    format: wgpu::TextureFormat,
) -> Result<wgpu::TextureView, Error> {
    let texels = texels.unblocked();
    let texture = create(device, label, texels.size(), 1, format)?;
    write(queue, &texture, 0, texels.size(), texels.data(), texels.format().bytes());
    Ok(texture.create_view(&wgpu::TextureViewDescriptor::default()))
}

/// Uploads blocks as they are.
///
/// # Errors
/// [`Error::TextureTooLarge`].
pub fn upload_blocks(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    label: &str,
    texels: &Texels,
) -> Result<wgpu::TextureView, Error> {
    let texture = create(device, label, texels.size(), 1, wgpu::TextureFormat::Bc6hRgbUfloat)?;
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(texels.size().x / BLOCK_SIDE * 16),
        rows_per_image: Some(texels.size().y / BLOCK_SIDE),
    };
    queue.write_texture(texture.as_image_copy(), texels.data(), layout, texture.size());
    Ok(texture.create_view(&wgpu::TextureViewDescriptor::default()))
}

/// Uploads a picture with all its mipmaps: of colours in sRGB, or of plain numbers.
///
/// # Errors
/// [`Error::TextureTooLarge`].
pub fn upload_picture(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    label: &str,
    picture: image::RgbaImage,
    is_color: bool,
) -> Result<wgpu::TextureView, Error> {
    let levels = mipmaps(picture, is_color);
    let size = UVec2::from(levels[0].dimensions());
    #[expect(clippy::cast_possible_truncation, reason = "at most 32 levels")]
    let count = levels.len() as u32;
    let format = if is_color { wgpu::TextureFormat::Rgba8UnormSrgb } else { wgpu::TextureFormat::Rgba8Unorm };
    let texture = create(device, label, size, count, format)?;
    for (level, picture) in (0..).zip(&levels) {
        write(queue, &texture, level, UVec2::from(picture.dimensions()), picture, 4);
    }
    Ok(texture.create_view(&wgpu::TextureViewDescriptor::default()))
}

fn create(
    device: &wgpu::Device,
    label: &str,
    size: UVec2,
    mip_level_count: u32,
    format: wgpu::TextureFormat,
) -> Result<wgpu::Texture, Error> {
    let limit = device.limits().max_texture_dimension_2d;
    if size.max_element() > limit {
        return Err(Error::TextureTooLarge { width: size.x, height: size.y, limit });
    }
    Ok(device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 },
        mip_level_count,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    }))
}

fn write(
    queue: &wgpu::Queue,
    texture: &wgpu::Texture,
    mip_level: u32,
    size: UVec2,
    data: &[u8],
    texel_bytes: u32,
) {
    queue.write_texture(
        wgpu::TexelCopyTextureInfo {
            texture,
            mip_level,
            origin: wgpu::Origin3d::ZERO,
            aspect: wgpu::TextureAspect::All,
        },
        data,
        wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(size.x * texel_bytes),
            rows_per_image: Some(size.y),
        },
        wgpu::Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 },
    );
}

/// The picture and its halvings down to one pixel; colours are averaged in linear light.
fn mipmaps(picture: image::RgbaImage, is_color: bool) -> Vec<image::RgbaImage> {
    let levels = (0..=255u8).map(|level| f32::from(level) / 255.0);
    let linear: Vec<f32> = levels.map(|level| if is_color { srgb_to_linear(level) } else { level }).collect();
    let stored = |light: f32| if is_color { linear_to_srgb(light) } else { light };
    let mut levels = vec![picture];
    while let Some(last) = levels.last().filter(|last| last.width() > 1 || last.height() > 1) {
        let (width, height) = last.dimensions();
        let half = image::RgbaImage::from_fn((width / 2).max(1), (height / 2).max(1), |x, y| {
            let mut sum = [0.0; 4];
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let pixel = last.get_pixel((2 * x + dx).min(width - 1), (2 * y + dy).min(height - 1));
                for channel in 0..3 {
                    sum[channel] += 0.25 * linear[pixel[channel] as usize];
                }
                sum[3] += 0.25 * f32::from(pixel[3]);
            }
            let [r, g, b] = [sum[0], sum[1], sum[2]].map(|light| stored(light) * 255.0);
            #[expect(clippy::cast_possible_truncation, reason = "0..=255")]
            image::Rgba([r, g, b, sum[3]].map(|channel| channel.round() as u8))
        });
        levels.push(half);
    }
    levels
}

/// IEC 61966-2-1.
fn srgb_to_linear(s: f32) -> f32 {
    if s <= 0.04045 { s / 12.92 } else { libm::powf((s + 0.055) / 1.055, 2.4) }
}

/// IEC 61966-2-1.
fn linear_to_srgb(l: f32) -> f32 {
    if l <= 0.003_130_8 { l * 12.92 } else { 1.055 * libm::powf(l, 1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use image::{Rgba, RgbaImage};

    use super::*;

    #[test]
    fn mipmaps_go_down_to_one_pixel_and_average_light() {
        let checker =
            RgbaImage::from_fn(
                6,
                4,
                |x, y| {
                    if (x + y) % 2 == 0 { Rgba([255; 4]) } else { Rgba([0, 0, 0, 255]) }
                },
            );
        let numbers = mipmaps(checker.clone(), false);
        assert_eq!(numbers[1].get_pixel(1, 1), &Rgba([128, 128, 128, 255]));
        let levels = mipmaps(checker, true);
        let sizes: Vec<_> = levels.iter().map(RgbaImage::dimensions).collect();
        assert_eq!(sizes, [(6, 4), (3, 2), (1, 1)]);
        // Half the light is 188 in sRGB, not 128.
        assert_eq!(levels[1].get_pixel(1, 1), &Rgba([188, 188, 188, 255]));
    }
}
