//! Source → asset: bounds, encode, pack, and the measured error of what was baked.

use glam::Vec3;

use crate::asset::{Animation, Asset, Invalid, MAX_ELEMENTS, Parts};
use crate::bounds::Bounds;
use crate::clip::Clip;
use crate::source::{Motion, Source, VertexFrame};
use crate::vat::encoding::{Remap, encode_position};
use crate::vat::grid::{DoesNotFit, Grid, texel_address};
use crate::vat::normals::encode_normal;
use crate::vat::{Encoding, Mode, Normals, PositionSpace, Texels};

mod report;

pub use report::{Report, Worst};

/// Texture size that every desktop and the web's WebGPU have.
pub const DEFAULT_MAX_TEXTURE_SIZE: u32 = 8192;

/// How to bake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How positions are stored.
    pub encoding: Encoding,
    /// Where normals come from.
    pub normals: Normals,
    /// What positions are measured from.
    pub space: PositionSpace,
    /// Largest side of a texture, texels.
    pub max_texture_size: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            encoding: Encoding::Unorm16,
            normals: Normals::Texture16,
            space: PositionSpace::Absolute,
            max_texture_size: DEFAULT_MAX_TEXTURE_SIZE,
        }
    }
}

/// What a bake gives.
#[derive(Clone, Debug)]
pub struct Baked {
    /// The asset.
    pub asset: Asset,
    /// Size, and error against the source.
    pub report: Report,
}

/// Why a source cannot be baked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source moves nothing.
    #[error("found a source without {0}, expected at least one")]
    Empty(&'static str),
    /// A frame with another number of elements than the mesh.
    #[error("clip {clip:?}, frame {frame}: found {found} {what}, the mesh has {expected} elements")]
    Count {
        /// Name of the clip.
        clip: String,
        /// Frame of the clip.
        frame: usize,
        /// Positions or normals.
        what: &'static str,
        /// How many the frame has.
        found: usize,
        /// How many the mesh has.
        expected: usize,
    },
    /// A number that no texel can hold.
    #[error("clip {clip:?}, frame {frame}, element {element}: found {found} in {what}, expected {expected}")]
    Value {
        /// Name of the clip.
        clip: String,
        /// Frame of the clip.
        frame: usize,
        /// Element of the mesh.
        element: usize,
        /// Positions or normals.
        what: &'static str,
        /// The value.
        found: Vec3,
        /// What can be stored.
        expected: &'static str,
    },
    /// No arrangement of texels fits.
    #[error(transparent)]
    DoesNotFit(#[from] DoesNotFit),
    /// The mesh or a clip is not sound.
    #[error("the source is not sound: {0}")]
    Source(#[from] Invalid),
}

/// Bakes all clips of `source` into one set of textures, and measures the result.
///
/// # Errors
/// [`Error`] names the clip, frame and element.
pub fn bake(source: &Source, settings: &Settings) -> Result<Baked, Error> {
    let elements = source.mesh.elements.iter().max().map_or(0, |last| *last as usize + 1);
    let Ok(element_count) = u32::try_from(elements) else {
        return Err(Error::Empty("elements below 2^24"));
    };
    if element_count == 0 || element_count > MAX_ELEMENTS {
        return Err(Error::Empty("elements below 2^24"));
    }
    check(source, elements, settings)?;
    let rest = rest_positions(source, elements);
    let stored = |frame: &VertexFrame, element: usize| match settings.space {
        PositionSpace::Absolute => frame.positions[element],
        PositionSpace::Offset => frame.positions[element] - rest[element],
    };
    let frames: Vec<&VertexFrame> = frames(source).collect();
    let Ok(frame_count) = u32::try_from(frames.len()) else {
        return Err(Error::Empty("frames below 2^28"));
    };
    let values = frames.iter().flat_map(|frame| (0..elements).map(|element| stored(frame, element)));
    let bounds = Bounds::of_points(values);
    let remap = if settings.encoding.is_bounded() { Remap::spanning(bounds) } else { Remap::METRES };
    let grid = Grid::new(element_count, frame_count, settings.max_texture_size)?;
    let positions =
        pack(grid, settings.encoding.texel_format(), element_count, &frames, |frame, element, bytes| {
            encode_position(stored(frame, element), settings.encoding, remap, bytes);
        });
    let normal_texels = settings.normals.texel_format().map(|format| {
        pack(grid, format, element_count, &frames, |frame, element, bytes| {
            encode_normal(frame.normals[element], settings.normals, bytes);
        })
    });
    let clips = clips(source);
    let parts = Parts {
        name: source.name.clone(),
        mesh: source.mesh.clone(),
        materials: source.materials.clone(),
        images: source.images.clone(),
        clip_bounds: clips.iter().map(|_| Bounds { min: Vec3::ZERO, max: Vec3::ZERO }).collect(),
        clips,
        animation: Animation {
            mode: Mode::Soft,
            space: settings.space,
            encoding: settings.encoding,
            remap,
            normals: settings.normals,
            element_count,
            grid,
            positions,
            normal_texels,
        },
        producer: source.producer.clone(),
        assumptions: Vec::new(),
        warnings: Vec::new(),
    };
    // Bounds hold what is decoded, which differs from the source by the encoding's error.
    let asset = Asset::new(parts)?;
    let clip_bounds = asset.measure_clip_bounds();
    let asset = Asset::new(Parts { clip_bounds, ..asset.into_parts() })?;
    let report = report::measure(&asset, source);
    Ok(Baked { asset, report })
}

fn frames(source: &Source) -> impl Iterator<Item = &VertexFrame> {
    source.clips.iter().flat_map(|clip| match &clip.motion {
        Motion::Vertices(frames) => frames,
    })
}

fn clips(source: &Source) -> Vec<Clip> {
    let mut first_frame = 0;
    source
        .clips
        .iter()
        .map(|clip| {
            let Motion::Vertices(frames) = &clip.motion;
            let frame_count = u32::try_from(frames.len()).unwrap_or(u32::MAX);
            let range = Clip {
                name: clip.name.clone(),
                first_frame,
                frame_count,
                fps: clip.fps,
                loop_mode: clip.loop_mode,
            };
            first_frame = first_frame.saturating_add(frame_count);
            range
        })
        .collect()
}

fn check(source: &Source, elements: usize, settings: &Settings) -> Result<(), Error> {
    if source.clips.is_empty() {
        return Err(Error::Empty("clips"));
    }
    if source.mesh.positions.len() != source.mesh.elements.len() {
        let (found, expected) = (source.mesh.elements.len() as u64, source.mesh.positions.len() as u64);
        return Err(Error::Source(Invalid::Count { what: "mesh elements", found, expected }));
    }
    for clip in &source.clips {
        let Motion::Vertices(frames) = &clip.motion;
        if frames.is_empty() {
            return Err(Error::Empty("frames in a clip"));
        }
        for (number, frame) in frames.iter().enumerate() {
            let mut streams = vec![("positions", &frame.positions, "finite numbers")];
            if settings.normals.texel_format().is_some() {
                streams.push(("normals", &frame.normals, "a vector of unit length"));
            }
            for (what, values, expected) in streams {
                if values.len() != elements {
                    let (clip, found) = (clip.name.clone(), values.len());
                    return Err(Error::Count { clip, frame: number, what, found, expected: elements });
                }
                let wrong = |value: &Vec3| {
                    let unit = what == "positions" || (value.length_squared() - 1.0).abs() < 1e-3;
                    !value.is_finite() || !unit || out_of_range(what, *value, settings.encoding)
                };
                if let Some(element) = values.iter().position(wrong) {
                    let (clip, found) = (clip.name.clone(), values[element]);
                    return Err(Error::Value { clip, frame: number, element, what, found, expected });
                }
            }
        }
    }
    Ok(())
}

/// Half floats end at 65,504.
fn out_of_range(what: &str, value: Vec3, encoding: Encoding) -> bool {
    what == "positions" && encoding == Encoding::Float16 && value.abs().max_element() > 65_504.0
}

/// Where elements rest: the position of the first vertex that an element moves.
fn rest_positions(source: &Source, elements: usize) -> Vec<Vec3> {
    let mut rest = vec![Vec3::ZERO; elements];
    for (position, element) in source.mesh.positions.iter().zip(&source.mesh.elements).rev() {
        rest[*element as usize] = *position;
    }
    rest
}

fn pack(
    grid: Grid,
    format: crate::vat::TexelFormat,
    element_count: u32,
    frames: &[&VertexFrame],
    encode: impl Fn(&VertexFrame, usize, &mut Vec<u8>),
) -> Texels {
    let size = grid.size().unwrap_or_default();
    let texel_bytes = format.bytes() as usize;
    let mut data = vec![0; size.x as usize * size.y as usize * texel_bytes];
    let mut texel = Vec::with_capacity(texel_bytes);
    for (frame, values) in (0..).zip(frames) {
        for element in 0..element_count {
            texel.clear();
            encode(values, element as usize, &mut texel);
            let at = texel_address(grid, element, frame);
            let start = (at.y as usize * size.x as usize + at.x as usize) * texel_bytes;
            data[start..start + texel_bytes].copy_from_slice(&texel);
        }
    }
    Texels::new(format, size, data).expect("as many bytes as the size says")
}
