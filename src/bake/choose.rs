//! Choosing an encoding and a frame rate by the error that they make.

use serde::Serialize;

use super::{Baked, Error, Report, Settings, bake};
use crate::source::Source;
use crate::vat::{Encoding, FrameBlend};

/// Encodings from small to large; of equals the more exact comes first.
const BY_SIZE: [Encoding; 4] = [Encoding::Bc6h, Encoding::Unorm8, Encoding::Unorm16, Encoding::Float32];
/// Frame rates that are tried, from low to high.
pub const RATES: [f64; 10] = [8.0, 10.0, 12.0, 15.0, 20.0, 24.0, 30.0, 48.0, 60.0, 120.0];

/// How far off a bake may be, and how it will be played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Largest distance between a decoded vertex and the source, at baked frames and between, metres.
    pub metres: f64,
    /// How the player blends between frames.
    pub frame_blend: FrameBlend,
}

/// One bake that was tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// How positions are stored.
    pub encoding: &'static str,
    /// Highest frame rate of a clip.
    pub fps: f64,
    /// Worst distance at baked frames and between, metres.
    pub position_error_metres: f64,
    /// Mean distance at baked frames, metres.
    pub position_error_mean_metres: f64,
    /// Worst angle between normals, degrees; `None` where none are stored.
    pub normal_error_degrees: Option<f64>,
    /// Mean of those angles, degrees.
    pub normal_error_mean_degrees: Option<f64>,
    /// Bytes of all texels.
    pub texel_bytes: u64,
    /// Whether it is within the limit.
    pub meets: bool,
}

/// What was chosen.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The smallest bake within the limit, if there is one.
    pub baked: Option<Baked>,
    /// Everything that was tried, in order.
    pub tried: Vec<Tried>,
}

impl Report {
    /// Worst distance at baked frames, and between them for one frame blend, metres.
    pub fn worst_metres(&self, frame_blend: FrameBlend) -> f64 {
        let between = self.between_frames.iter().find(|between| between.frame_blend == frame_blend.name());
        let between = between.map_or(0.0, |between| between.position_error_metres.error);
        self.position_error_metres.error.max(between)
    }
}

/// The smallest encoding whose bake of `source` is within `limit`.
///
/// # Errors
/// As [`bake`].
pub fn choose_encoding(source: &Source, settings: &Settings, limit: Limit) -> Result<Chosen, Error> {
    let mut tried = Vec::new();
    for encoding in BY_SIZE {
        let baked = match bake(source, &Settings { encoding, ..*settings }) {
            Err(Error::NoEncoder(_) | Error::NoAlpha(_)) => continue,
            baked => baked?,
        };
        tried.push(attempt(source, &baked.report, limit));
        if tried.last().is_some_and(|last| last.meets) {
            return Ok(Chosen { baked: Some(baked), tried });
        }
    }
    Ok(Chosen { baked: None, tried })
}

/// The lowest of [`RATES`] at which some encoding is within `limit`, and that encoding. `cut` gives the
/// source at a rate.
///
/// # Errors
/// As [`bake`], or those of `cut`.
pub fn choose_rate<E: From<Error>>(
    cut: impl Fn(f64) -> Result<Source, E>,
    settings: &Settings,
    limit: Limit,
) -> Result<(Chosen, Option<Source>), E> {
    let mut tried = Vec::new();
    for fps in RATES {
        let source = cut(fps)?;
        // What the exact encoding cannot do at this rate, none can.
        let exact = bake(&source, &Settings { encoding: Encoding::Float32, ..*settings })?;
        let attempt = attempt(&source, &exact.report, limit);
        let meets = attempt.meets;
        tried.push(attempt);
        if meets {
            let chosen = choose_encoding(&source, settings, limit)?;
            tried.extend(chosen.tried);
            return Ok((Chosen { baked: chosen.baked, tried }, Some(source)));
        }
    }
    Ok((Chosen { baked: None, tried }, None))
}

fn attempt(source: &Source, report: &Report, limit: Limit) -> Tried {
    let position_error_metres = report.worst_metres(limit.frame_blend);
    Tried {
        encoding: report.encoding,
        fps: source.clips.iter().map(|clip| clip.fps).fold(0.0, f64::max),
        position_error_metres,
        position_error_mean_metres: report.position_error_mean_metres,
        normal_error_degrees: report.normal_error_degrees.as_ref().map(|worst| worst.error),
        normal_error_mean_degrees: report.normal_error_mean_degrees,
        texel_bytes: report.texel_bytes,
        meets: position_error_metres <= limit.metres,
    }
}
