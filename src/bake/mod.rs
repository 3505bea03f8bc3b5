//! Source → asset: bounds, encode, pack, and the measured error of what was baked.

use glam::{UVec2, Vec3};

use crate::asset::{Animation, Asset, Invalid, MAX_ELEMENTS, Parts};
use crate::bounds::Bounds;
use crate::clip::Clip;
use crate::source::timeline::TooLong;
use crate::source::{Sampler, Source};
use crate::vat::encoding::{Remap, encode_positions};
use crate::vat::grid::{DoesNotFit, Grid};
use crate::vat::soft::soft_stored;
use crate::vat::{Encoding, Mode, Normals, PositionSpace, Texels};

mod choose;
mod lod;
mod order;
mod pack;
mod report;
mod survey;

use order::ordered;
use pack::Packing;
use survey::Look;

pub use choose::{Chosen, Limit, RATES, Tried, choose_encoding, choose_rate};
pub use lod::{LodReport, MAX_LODS};
pub use report::{Between, Report, Worst};

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
    /// Levels of detail below the full mesh, at most [`MAX_LODS`].
    pub lods: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            encoding: Encoding::Unorm16,
            normals: Normals::Texture16,
            space: PositionSpace::Absolute,
            max_texture_size: DEFAULT_MAX_TEXTURE_SIZE,
            lods: 0,
        }
    }
}

/// What a bake gives.
#[derive(Clone, Debug)]
pub struct Baked {
    /// The asset.
    pub asset: Asset,
    /// Which vertex of the source's mesh each vertex of the asset is.
    pub vertices: Vec<u32>,
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
    /// A clip of too many frames.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The encoding is not available.
    #[error("this build has no encoder for {0}: choose another encoding")]
    NoEncoder(Encoding),
    /// Nowhere to put normals.
    #[error("{0} has no alpha for normals: choose another encoding, or normals in a texture")]
    NoAlpha(Encoding),
    /// The mesh or a clip is not sound.
    #[error("the source is not sound: {0}")]
    Source(#[from] Invalid),
}

/// A frame of the asset: which clip's, and which of its frames.
#[derive(Clone, Copy)]
struct FrameOf {
    clip: usize,
    frame: u32,
}

/// Bakes all clips of `source` into one set of textures, and measures the result. All cores work; the
/// result does not depend on their number.
///
/// # Errors
/// [`Error`] names the clip, frame and element.
pub fn bake(source: &Source, settings: &Settings) -> Result<Baked, Error> {
    let (asset, vertices, lods) = made(source, settings)?;
    let report = Report { lods, ..report::measure(&asset, source, &vertices) };
    Ok(Baked { asset, vertices, report })
}

/// Bakes without measuring: the asset, and which vertex of the source each of its vertices is.
///
/// # Errors
/// As [`bake`].
pub fn encode(source: &Source, settings: &Settings) -> Result<(Asset, Vec<u32>), Error> {
    made(source, settings).map(|(asset, vertices, _)| (asset, vertices))
}

fn made(source: &Source, settings: &Settings) -> Result<(Asset, Vec<u32>, Vec<LodReport>), Error> {
    let elements = source.mesh.elements.iter().max().map_or(0, |last| *last as usize + 1);
    if elements == 0 || elements > MAX_ELEMENTS as usize {
        return Err(Error::Empty("elements below 2^24"));
    }
    check(source)?;
    if settings.normals == Normals::Alpha && !settings.encoding.has_alpha() {
        return Err(Error::NoAlpha(settings.encoding));
    }
    let frames = frames(source);
    let Ok(frame_count) = u32::try_from(frames.len()) else {
        return Err(Error::Empty("frames below 2^28"));
    };
    // Sizes that cannot be are refused before anything is sampled.
    let max_size = settings.encoding.max_grid_size(settings.max_texture_size);
    Grid::new(1, frame_count, max_size)?;
    let sampler = Sampler::new(source);
    let rest = of_elements(source, elements, &source.mesh.positions);
    let rest_normals = of_elements(source, elements, &source.mesh.normals);
    let offset = (settings.space == PositionSpace::Offset).then_some(&rest[..]);
    let look = Look { source, sampler: &sampler, frames: &frames, elements, rest: offset, settings };
    let survey = look.survey()?;
    // A block's texels should do the same.
    let by_place = (settings.encoding == Encoding::Bc6h).then_some(&rest[..]);
    let ordered = ordered(&source.mesh, &survey.fingerprints, by_place);
    let remap = if settings.encoding.is_bounded() { Remap::spanning(survey.bounds) } else { Remap::METRES };
    let element_count = u32::try_from(ordered.columns.len()).unwrap_or(u32::MAX);
    let grid = Grid::new(element_count, frame_count, max_size)?;
    let packing = Packing {
        sampler: &sampler,
        frames: &frames,
        kept: survey.kept.as_deref(),
        columns: &ordered.columns,
        rest: &rest,
        rest_normals: &rest_normals,
        grid,
        remap,
        settings,
    };
    let clips = clips(source, &sampler);
    let (positions, normal_texels) = packing.texels(&clips).ok_or(Error::NoEncoder(settings.encoding))?;
    let parts = Parts {
        name: source.name.clone(),
        mesh: ordered.mesh,
        materials: source.materials.clone(),
        images: source.images.clone(),
        clip_bounds: survey
            .clip_bounds
            .iter()
            .map(|bounds| decoded(*bounds, settings.encoding, remap))
            .collect(),
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
        source_key: None,
        assumptions: source.assumptions.clone(),
        warnings: source.warnings.clone(),
    };
    let mut asset = Asset::new(parts)?;
    if settings.space == PositionSpace::Offset || settings.encoding == Encoding::Bc6h {
        let clip_bounds = asset.measure_clip_bounds();
        asset = Asset::new(Parts { clip_bounds, ..asset.into_parts() })?;
    }
    let mut reports = Vec::new();
    if settings.lods > 0 {
        let lods;
        (lods, reports) = lod::lods(&asset, settings.lods);
        let mut parts = asset.into_parts();
        if lods.len() < settings.lods as usize {
            let found = lods.len();
            parts.assumptions.push(format!(
                "{found} of {} levels of detail: more would hardly have fewer triangles",
                settings.lods
            ));
        }
        parts.mesh.lods = lods;
        asset = Asset::new(parts)?;
    }
    Ok((asset, ordered.vertices, reports))
}

/// The box of what is decoded, which differs from the source by the encoding's error. Encodings keep the
/// order of values, so the corners are enough.
fn decoded(bounds: Bounds, encoding: Encoding, remap: Remap) -> Bounds {
    let round_trip = |corner: Vec3| {
        let mut bytes = Vec::new();
        if encoding == Encoding::Bc6h {
            // What blocks make of it is not known yet: the box is measured afterwards.
            return corner;
        }
        encode_positions(&[corner], None, encoding, remap, &mut bytes);
        let size = encoding.texture_size(UVec2::ONE);
        let texels = Texels::new(encoding.texel_format(), size, bytes).expect("the texels of one element");
        let grid = Grid { columns: 1, rows_per_frame: 1, frames_per_band: 1, frame_count: 1 };
        soft_stored(&texels, grid, encoding, remap, 0, 0)
    };
    let (a, b) = (round_trip(bounds.min), round_trip(bounds.max));
    Bounds { min: a.min(b), max: a.max(b) }
}

fn frames(source: &Source) -> Vec<FrameOf> {
    let clips = source.clips.iter().enumerate();
    clips
        .flat_map(|(clip, of)| {
            let count = u32::try_from(of.frame_count()).unwrap_or(u32::MAX);
            (0..count).map(move |frame| FrameOf { clip, frame })
        })
        .collect()
}

fn clips(source: &Source, sampler: &Sampler<'_>) -> Vec<Clip> {
    let mut first_frame = 0;
    source
        .clips
        .iter()
        .enumerate()
        .map(|(index, clip)| {
            let frame_count = u32::try_from(clip.frame_count()).unwrap_or(u32::MAX);
            let range = Clip {
                name: clip.name.clone(),
                first_frame,
                frame_count,
                fps: clip.fps,
                loop_mode: clip.loop_mode,
                root_motion: (0..frame_count)
                    .map(|frame| sampler.root_way(index, f64::from(frame)))
                    .collect(),
            };
            first_frame = first_frame.saturating_add(frame_count);
            range
        })
        .collect()
}

fn check(source: &Source) -> Result<(), Error> {
    if source.clips.is_empty() {
        return Err(Error::Empty("clips"));
    }
    if source.clips.iter().any(|clip| clip.frame_count() == 0) {
        return Err(Error::Empty("frames in a clip"));
    }
    if source.mesh.positions.len() != source.mesh.elements.len() {
        let (found, expected) = (source.mesh.elements.len() as u64, source.mesh.positions.len() as u64);
        return Err(Error::Source(Invalid::Count { what: "mesh elements", found, expected }));
    }
    let vertices = source.mesh.positions.len();
    let covered: usize = source.mesh.primitives.iter().map(|primitive| primitive.indices.len()).sum();
    if covered != source.mesh.indices.len() || !covered.is_multiple_of(3) {
        let (found, expected) = (covered as u64, source.mesh.indices.len() as u64);
        return Err(Error::Source(Invalid::Count { what: "mesh indices in primitives", found, expected }));
    }
    if let Some(index) = source.mesh.indices.iter().find(|index| **index as usize >= vertices) {
        let (found, available) = (u64::from(*index), vertices as u64);
        return Err(Error::Source(Invalid::OutOfRange { what: "mesh indices", found, available }));
    }
    if source.mesh.normals.len() != vertices {
        let (found, expected) = (source.mesh.normals.len() as u64, vertices as u64);
        return Err(Error::Source(Invalid::Count { what: "mesh normals", found, expected }));
    }
    Ok(())
}

/// What elements have at rest: that of the first vertex that an element moves.
fn of_elements(source: &Source, elements: usize, stream: &[Vec3]) -> Vec<Vec3> {
    let mut rest = vec![Vec3::ZERO; elements];
    for (value, element) in stream.iter().zip(&source.mesh.elements).rev() {
        rest[*element as usize] = *value;
    }
    rest
}
