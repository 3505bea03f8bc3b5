//! PNG and EXR → numbers as they are stored: linear, no gamma, no filter.

use std::io::Cursor;
use std::path::Path;

use exr::prelude::{FlatSamples, ReadChannels as _, ReadLayers as _};
use glam::{DVec3, UVec2, uvec2};

use super::{Error, Limits};

/// A picture's first three channels.
pub(super) struct Picture {
    pub(super) size: UVec2,
    pub(super) pixels: Pixels,
    /// It says that it is sRGB or has a gamma, which positions are not.
    pub(super) tagged_srgb: bool,
    /// The number of the scene's frame at which the picture was written, where it says so.
    pub(super) scene_frame: Option<i64>,
}

/// Three channels per pixel, top row first.
pub(super) enum Pixels {
    Unorm8(Vec<[u8; 3]>),
    Unorm16(Vec<[u16; 3]>),
    /// Bits of half floats.
    Half(Vec<[u16; 3]>),
    Float(Vec<[f32; 3]>),
}

impl Picture {
    fn index(&self, at: UVec2) -> usize {
        at.y as usize * self.size.x as usize + at.x as usize
    }

    /// Fixed point as 0..1, floats as they are.
    pub(super) fn value(&self, at: UVec2) -> DVec3 {
        let index = self.index(at);
        let channels = match &self.pixels {
            Pixels::Unorm8(pixels) => pixels[index].map(|channel| f64::from(channel) / 255.0),
            Pixels::Unorm16(pixels) => pixels[index].map(|channel| f64::from(channel) / 65535.0),
            Pixels::Half(pixels) => pixels[index].map(|bits| half::f16::from_bits(bits).to_f64()),
            Pixels::Float(pixels) => pixels[index].map(f64::from),
        };
        DVec3::from_array(channels)
    }

    /// The stored bytes of the three channels, in the order `order`, little endian.
    pub(super) fn stored(&self, at: UVec2, order: [usize; 3]) -> Vec<u8> {
        let index = self.index(at);
        match &self.pixels {
            Pixels::Unorm8(pixels) => order.iter().map(|channel| pixels[index][*channel]).collect(),
            Pixels::Unorm16(pixels) | Pixels::Half(pixels) => {
                order.iter().flat_map(|channel| pixels[index][*channel].to_le_bytes()).collect()
            }
            Pixels::Float(pixels) => {
                order.iter().flat_map(|channel| pixels[index][*channel].to_le_bytes()).collect()
            }
        }
    }

    /// What the numbers are, for people.
    pub(super) fn kind(&self) -> &'static str {
        match self.pixels {
            Pixels::Unorm8(_) => "8-bit PNG",
            Pixels::Unorm16(_) => "16-bit PNG",
            Pixels::Half(_) => "half-float EXR",
            Pixels::Float(_) => "float EXR",
        }
    }
}

/// Reads a PNG or EXR file. `path` is for messages.
pub(super) fn read(bytes: &[u8], path: &Path, limits: &Limits) -> Result<Picture, Error> {
    if bytes.starts_with(b"\x89PNG") {
        return png(bytes, path, limits);
    }
    if bytes.starts_with(&[0x76, 0x2f, 0x31, 0x01]) {
        return exr(bytes, path, limits);
    }
    let message = format!("found {:02x?}, expected a PNG or EXR file", &bytes[..bytes.len().min(4)]);
    Err(Error::Picture { message, path: path.to_owned() })
}

fn check_size(size: UVec2, path: &Path, limits: &Limits) -> Result<(), Error> {
    let (found, limit) = (u64::from(size.x) * u64::from(size.y), limits.image_pixels);
    if found > limit {
        return Err(Error::TooLarge { what: "pixels of the picture", found, limit, path: path.to_owned() });
    }
    Ok(())
}

fn png(bytes: &[u8], path: &Path, limits: &Limits) -> Result<Picture, Error> {
    let refused =
        |error: png::DecodingError| Error::Picture { message: error.to_string(), path: path.to_owned() };
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let size = {
        let info = decoder.read_header_info().map_err(refused)?;
        uvec2(info.width, info.height)
    };
    check_size(size, path, limits)?;
    let mut reader = decoder.read_info().map_err(refused)?;
    let (color, depth) = reader.output_color_type();
    let channels = color.samples();
    let needed = reader.output_buffer_size();
    let message = "a picture of a size that does not fit memory".to_owned();
    let Some(needed) = needed else {
        return Err(Error::Picture { message, path: path.to_owned() });
    };
    let mut data = vec![0; needed];
    reader.next_frame(&mut data).map_err(refused)?;
    let info = reader.info();
    let tagged_srgb = info.srgb.is_some() || info.gama_chunk.is_some_and(|gamma| gamma.into_value() < 0.99);
    // Grey is taken for all three channels, alpha is not read.
    let rgb = if channels >= 3 { [0, 1, 2] } else { [0; 3] };
    let pixels = match depth {
        png::BitDepth::Sixteen => Pixels::Unorm16(
            data.chunks_exact(2 * channels)
                .map(|pixel| {
                    rgb.map(|channel| u16::from_be_bytes([pixel[2 * channel], pixel[2 * channel + 1]]))
                })
                .collect(),
        ),
        _ => Pixels::Unorm8(
            data.chunks_exact(channels).map(|pixel| rgb.map(|channel| pixel[channel])).collect(),
        ),
    };
    Ok(Picture { size, pixels, tagged_srgb, scene_frame: None })
}

fn exr(bytes: &[u8], path: &Path, limits: &Limits) -> Result<Picture, Error> {
    let refused = |message: String| Error::Picture { message, path: path.to_owned() };
    let meta = exr::meta::MetaData::read_from_buffered(Cursor::new(bytes), false);
    let meta = meta.map_err(|error| refused(error.to_string()))?;
    for header in &meta.headers {
        let size = header.layer_size;
        let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
        check_size(uvec2(side(size.0), side(size.1)), path, limits)?;
        let channels = header.channels.list.len() as u64;
        if channels > 64 {
            let (found, limit) = (channels, 64);
            return Err(Error::TooLarge {
                what: "channels of the picture",
                found,
                limit,
                path: path.to_owned(),
            });
        }
    }
    let scene_frame = meta
        .headers
        .first()
        .and_then(|header| header.own_attributes.other.get(&exr::meta::attribute::Text::from("Frame")));
    let scene_frame = match scene_frame {
        Some(exr::meta::attribute::AttributeValue::Text(text)) => text.to_string().trim().parse().ok(),
        _ => None,
    };
    let image = exr::prelude::read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .non_parallel()
        .from_buffered(Cursor::new(bytes))
        .map_err(|error| refused(error.to_string()))?;
    let layer = image.layer_data;
    let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    let size = uvec2(side(layer.size.0), side(layer.size.1));
    // Layers and passes come before a dot: "ViewLayer.Combined.R".
    let channel = |wanted: &str| {
        let mut list = layer.channel_data.list.iter();
        list.find(|channel| channel.name.to_string().rsplit('.').next() == Some(wanted))
            .map(|found| &found.sample_data)
    };
    let (Some(r), Some(g), Some(b)) = (channel("R"), channel("G"), channel("B")) else {
        let names: Vec<_> = layer.channel_data.list.iter().map(|channel| channel.name.to_string()).collect();
        return Err(refused(format!("found channels {}, expected R, G and B", names.join(", "))));
    };
    let pixels = match (r, g, b) {
        (FlatSamples::F16(r), FlatSamples::F16(g), FlatSamples::F16(b)) => Pixels::Half(
            (0..r.len()).map(|at| [r[at], g[at], b[at]].map(exr::prelude::f16::to_bits)).collect(),
        ),
        (FlatSamples::F32(r), FlatSamples::F32(g), FlatSamples::F32(b)) => {
            Pixels::Float((0..r.len()).map(|at| [r[at], g[at], b[at]]).collect())
        }
        _ => {
            return Err(refused("expected three channels of half or three of float".to_owned()));
        }
    };
    Ok(Picture { size, pixels, tagged_srgb: false, scene_frame })
}
