//! The baked thing: rest mesh, materials, clips and texels.
//!
//! A value of type [`Asset`] is valid: [`Asset::new`] checks that every count, size and index fits
//! the others, so that drawing and decoding need no checks of their own.

use std::ops::{Deref, Range};

use glam::Vec3;

use crate::bounds::Bounds;
use crate::clip::Clip;
use crate::material::{Image, Material};
use crate::mesh::{Mesh, Primitive};
use crate::vat::encoding::Remap;
use crate::vat::grid::Grid;
use crate::vat::{Encoding, Mode, Normals, PositionSpace, Texels};

mod error;
pub mod glb;
mod ktx2;
mod pose;

pub use error::Error;
pub use ktx2::Error as Ktx2Error;
pub use pose::Pose;

/// How texels lie in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// As they are: mapped and uploaded without a copy.
    #[default]
    None,
    /// Zstandard: a smaller file.
    Zstd,
}

/// Elements travel as floats in a vertex attribute, which holds whole numbers up to here exactly.
pub const MAX_ELEMENTS: u32 = 1 << 24;

/// Everything an asset is made of, not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// Name for people, usually the file's.
    pub name: String,
    /// Rest mesh.
    pub mesh: Mesh,
    /// What primitives refer to.
    pub materials: Vec<Material>,
    /// What materials refer to.
    pub images: Vec<Image>,
    /// At least one; ranges inside the texture's frames.
    pub clips: Vec<Clip>,
    /// The box of all clips' poses, metres; one per clip, in the same order.
    pub clip_bounds: Vec<Bounds>,
    /// The texels and what they mean.
    pub animation: Animation,
    /// The program that made the data.
    pub producer: String,
    /// Changes when the input or the options of the bake do; opaque.
    pub source_key: Option<String>,
    /// What an importer concluded where the file did not say.
    pub assumptions: Vec<String>,
    /// What was wrong with the source but could be used.
    pub warnings: Vec<String>,
}

/// Texels and what they mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Animation {
    /// What owns a column.
    pub mode: Mode,
    /// What positions are measured from.
    pub space: PositionSpace,
    /// How a position is stored.
    pub encoding: Encoding,
    /// What 0 and 1 stand for in the bounded encodings; [`Remap::METRES`] in the others.
    pub remap: Remap,
    /// Where normals come from.
    pub normals: Normals,
    /// Number of columns in use.
    pub element_count: u32,
    /// Where texels are.
    pub grid: Grid,
    /// Positions.
    pub positions: Texels,
    /// Normals, present exactly where `normals` is a texture; same arrangement.
    pub normal_texels: Option<Texels>,
}

/// A checked asset. Reads like its [`Parts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Asset {
    parts: Parts,
}

impl Deref for Asset {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

/// Parts that do not fit together. `what` names the part as the file format does.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// A count differs from what another part needs.
    #[error("{what}: found {found}, expected {expected}")]
    Count {
        /// The part.
        what: &'static str,
        /// Its count.
        found: u64,
        /// The count that would fit.
        expected: u64,
    },
    /// An index or a range points past the end.
    #[error("{what}: {found} is out of range, there are {available}")]
    OutOfRange {
        /// The part.
        what: &'static str,
        /// What it points to.
        found: u64,
        /// How many there are.
        available: u64,
    },
    /// A number that is not finite, or outside its range.
    #[error("{what}: found {found}, expected {expected}")]
    Value {
        /// The part.
        what: &'static str,
        /// The value.
        found: String,
        /// The range.
        expected: &'static str,
    },
}

impl Asset {
    /// Checks that the parts fit together.
    ///
    /// # Errors
    /// [`Invalid`] for the first part that does not.
    pub fn new(parts: Parts) -> Result<Self, Invalid> {
        check_mesh(&parts)?;
        check_materials(&parts)?;
        check_clips(&parts)?;
        check_animation(&parts.animation)?;
        Ok(Self { parts })
    }

    /// Gives the parts back, to change them.
    pub fn into_parts(self) -> Parts {
        self.parts
    }

    /// The box of all clips, metres.
    pub fn bounds(&self) -> Bounds {
        self.clip_bounds.iter().copied().fold(Bounds::EMPTY, Bounds::union)
    }

    /// Bytes of all texels, uncompressed.
    pub fn texel_bytes(&self) -> u64 {
        let normals = self.animation.normal_texels.as_ref().map_or(0, |texels| texels.data().len());
        (self.animation.positions.data().len() + normals) as u64
    }
}

fn count(what: &'static str, found: usize, expected: usize) -> Result<(), Invalid> {
    if found == expected {
        return Ok(());
    }
    Err(Invalid::Count { what, found: found as u64, expected: expected as u64 })
}

fn below(what: &'static str, found: u64, available: u64) -> Result<(), Invalid> {
    if found < available {
        return Ok(());
    }
    Err(Invalid::OutOfRange { what, found, available })
}

fn value(
    what: &'static str,
    holds: bool,
    found: impl std::fmt::Debug,
    expected: &'static str,
) -> Result<(), Invalid> {
    if holds {
        return Ok(());
    }
    Err(Invalid::Value { what, found: format!("{found:?}"), expected })
}

fn finite(what: &'static str, vectors: &[Vec3]) -> Result<(), Invalid> {
    match vectors.iter().position(|vector| !vector.is_finite()) {
        None => Ok(()),
        Some(index) => value(what, false, (index, vectors[index]), "finite numbers"),
    }
}

fn check_mesh(parts: &Parts) -> Result<(), Invalid> {
    let mesh = &parts.mesh;
    let vertices = mesh.positions.len();
    value("mesh positions", vertices > 0, vertices, "at least one vertex")?;
    value("mesh positions", vertices <= u32::MAX as usize / 2, vertices, "at most 2^31 vertices")?;
    finite("mesh positions", &mesh.positions)?;
    count("mesh normals", mesh.normals.len(), vertices)?;
    finite("mesh normals", &mesh.normals)?;
    if let Some(tangents) = &mesh.tangents {
        count("mesh tangents", tangents.len(), vertices)?;
        let wrong = tangents.iter().find(|tangent| !tangent.is_finite() || tangent.w.abs() != 1.0);
        value("mesh tangents", wrong.is_none(), wrong, "finite numbers, w of 1 or -1")?;
    }
    if let Some(uvs) = &mesh.uvs {
        count("mesh texture coordinates", uvs.len(), vertices)?;
        let wrong = uvs.iter().find(|uv| !uv.is_finite());
        value("mesh texture coordinates", wrong.is_none(), wrong, "finite numbers")?;
    }
    count("mesh elements", mesh.elements.len(), vertices)?;
    for element in &mesh.elements {
        below("mesh elements", u64::from(*element), u64::from(parts.animation.element_count))?;
    }
    check_triangles(parts, &mesh.indices, &mesh.primitives)?;
    for lod in &mesh.lods {
        check_triangles(parts, &lod.indices, &lod.primitives)?;
        let deviation = lod.deviation_metres;
        let holds = deviation.is_finite() && deviation >= 0.0;
        value("level of detail deviation", holds, deviation, "a finite number, not negative")?;
    }
    Ok(())
}

fn check_triangles(parts: &Parts, indices: &[u32], primitives: &[Primitive]) -> Result<(), Invalid> {
    let vertices = parts.mesh.positions.len();
    value("mesh indices", !indices.is_empty(), 0, "at least one triangle")?;
    value("mesh indices", indices.len().is_multiple_of(3), indices.len(), "three per triangle")?;
    for index in indices {
        below("mesh indices", u64::from(*index), vertices as u64)?;
    }
    let mut covered = 0;
    for primitive in primitives {
        let Range { start, end } = primitive.indices;
        let holds = start == covered && end > start && (end - start).is_multiple_of(3);
        value("mesh primitives", holds, start..end, "whole triangles, one primitive after another")?;
        covered = end;
        if let Some(material) = primitive.material {
            below("mesh primitive material", u64::from(material), parts.materials.len() as u64)?;
        }
    }
    count("mesh indices in primitives", covered as usize, indices.len())
}

fn check_materials(parts: &Parts) -> Result<(), Invalid> {
    for material in &parts.materials {
        value("material base color", material.base_color.is_finite(), material.base_color, "finite numbers")?;
        for factor in [material.metallic, material.roughness] {
            value("material factor", (0.0..=1.0).contains(&factor), factor, "0 to 1")?;
        }
        for (_, image) in material.images() {
            below("material image", u64::from(image), parts.images.len() as u64)?;
        }
        let scale = material.normal_scale;
        value("material normal scale", scale.is_finite(), scale, "a finite number")?;
        let emissive = material.emissive;
        let holds = emissive.is_finite() && emissive.min_element() >= 0.0;
        value("material emissive factor", holds, emissive, "finite numbers, not negative")?;
    }
    for image in &parts.images {
        let bytes = image.data.len();
        value("image", bytes > 0, bytes, "at least one byte")?;
        let known = ["image/png", "image/jpeg"].contains(&image.mime_type.as_str());
        value("image type", known, &image.mime_type, "image/png or image/jpeg")?;
    }
    Ok(())
}

fn check_clips(parts: &Parts) -> Result<(), Invalid> {
    value("clips", !parts.clips.is_empty(), 0, "at least one clip")?;
    count("clip bounds", parts.clip_bounds.len(), parts.clips.len())?;
    for clip in &parts.clips {
        value("clip frame count", clip.frame_count > 0, clip.frame_count, "at least 1")?;
        let end = u64::from(clip.first_frame) + u64::from(clip.frame_count);
        below("clip last frame", end - 1, u64::from(parts.animation.grid.frame_count))?;
        let holds = clip.fps.is_finite() && clip.fps >= 0.0;
        value("clip fps", holds, clip.fps, "a finite number, at least 0")?;
        if let Some(way) = &clip.root_motion {
            count("clip root motion", way.len(), clip.frame_count as usize)?;
            finite("clip root motion", way)?;
        }
    }
    for bounds in &parts.clip_bounds {
        value("clip bounds", bounds.is_proper(), bounds, "finite numbers, min not above max")?;
    }
    Ok(())
}

fn check_animation(animation: &Animation) -> Result<(), Invalid> {
    let grid = animation.grid;
    let elements = animation.element_count;
    value("element count", (1..=MAX_ELEMENTS).contains(&elements), elements, "1 to 16777216")?;
    below("element count", u64::from(elements) - 1, grid.element_capacity())?;
    // Playback counts frames in signed integers, twice over for ping-pong.
    value("frame count", (1..=1 << 28).contains(&grid.frame_count), grid.frame_count, "1 to 268435456")?;
    let size = grid.size();
    value(
        "texture grid",
        size.map(|size| animation.encoding.texture_size(size)) == Some(animation.positions.size()),
        grid,
        "a grid that fills the position texture",
    )?;
    let stored = animation.positions.format();
    value(
        "position texels",
        stored == animation.encoding.texel_format(),
        stored,
        "the encoding's texel format",
    )?;
    let Remap { lo, hi, .. } = animation.remap;
    value("encoding range", lo.is_finite() && hi.is_finite(), (lo, hi), "finite numbers")?;
    let metres = animation.encoding.is_bounded() || animation.remap == Remap::METRES;
    value("encoding range", metres, (lo, hi), "none in an encoding that stores metres")?;
    let alpha = animation.normals != Normals::Alpha || animation.encoding.has_alpha();
    value("normals", alpha, animation.normals.name(), "normals elsewhere: the encoding has no alpha")?;
    let found = animation.normal_texels.as_ref().map(Texels::format);
    value(
        "normal texels",
        found == animation.normals.texel_format(),
        found,
        "what the kind of normals needs",
    )?;
    if let Some(normals) = &animation.normal_texels {
        value(
            "normal texels",
            Some(normals.size()) == size,
            normals.size(),
            "the size of the position texture",
        )?;
    }
    Ok(())
}
