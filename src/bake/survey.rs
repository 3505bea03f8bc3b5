//! The first look at all frames: are they sound, how far do they reach, and which elements do the same?

use glam::Vec3;
use rayon::prelude::*;

use super::{Error, FrameOf, Settings};
use crate::bounds::Bounds;
use crate::source::{Sampler, Scratch, Source, VertexFrame};
use crate::vat::Encoding;

/// Frames are kept from the first look to the second where all of them take no more than this.
const KEPT_BYTES: usize = 256 << 20;

/// What an element does, over all frames: equal where the motions are, bit for bit.
pub(super) type Fingerprint = [u64; 2];

/// What was seen.
pub(super) struct Survey {
    /// Box of what is to be stored.
    pub(super) bounds: Bounds,
    /// One per element.
    pub(super) fingerprints: Vec<Fingerprint>,
    /// All frames, where they take little memory.
    pub(super) kept: Option<Vec<VertexFrame>>,
}

/// Results of one thread; sums and boxes do not depend on who saw which frame.
struct Part {
    bounds: Bounds,
    sums: Vec<Fingerprint>,
    kept: Vec<(usize, VertexFrame)>,
    error: Option<(usize, Error)>,
}

pub(super) fn survey(
    source: &Source,
    sampler: &Sampler<'_>,
    frames: &[FrameOf],
    elements: usize,
    rest: Option<&[Vec3]>,
    settings: &Settings,
) -> Result<Survey, Error> {
    let keep = frames.len().saturating_mul(elements).saturating_mul(size_of::<[Vec3; 2]>()) <= KEPT_BYTES;
    let chunk = frames.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    let parts: Vec<Part> = frames
        .par_chunks(chunk)
        .enumerate()
        .map_init(
            || (Scratch::default(), VertexFrame::default()),
            |(scratch, frame), (index, chunk_frames)| {
                let mut part = Part {
                    bounds: Bounds::EMPTY,
                    sums: vec![[0; 2]; elements],
                    kept: Vec::new(),
                    error: None,
                };
                for (number, of) in (index * chunk..).zip(chunk_frames) {
                    sampler.frame(of.clip, f64::from(of.frame), scratch, frame);
                    if let Err(error) = check(source, *of, frame, elements, settings) {
                        part.error = Some((number, error));
                        break;
                    }
                    part.look(number, frame, rest, settings);
                    if keep {
                        part.kept.push((number, frame.clone()));
                    }
                }
                part
            },
        )
        .collect();
    let mut survey =
        Survey { bounds: Bounds::EMPTY, fingerprints: vec![[0; 2]; elements], kept: keep.then(Vec::new) };
    let mut parts = parts;
    // The first wrong frame, whoever found one first.
    if let Some((_, error)) = parts.iter_mut().filter_map(|part| part.error.take()).min_by_key(|e| e.0) {
        return Err(error);
    }
    for part in parts {
        survey.bounds = survey.bounds.union(part.bounds);
        for (sum, more) in survey.fingerprints.iter_mut().zip(&part.sums) {
            *sum = [sum[0].wrapping_add(more[0]), sum[1].wrapping_add(more[1])];
        }
        if let Some(kept) = &mut survey.kept {
            kept.extend(part.kept.into_iter().map(|(_, frame)| frame));
        }
    }
    Ok(survey)
}

impl Part {
    fn look(&mut self, number: usize, frame: &VertexFrame, rest: Option<&[Vec3]>, settings: &Settings) {
        let normals = settings.normals.is_stored();
        let seed = mixed(number as u64 + 1);
        for (element, sum) in self.sums.iter_mut().enumerate() {
            let position = frame.positions[element];
            let stored = rest.map_or(position, |rest| position - rest[element]);
            self.bounds.min = self.bounds.min.min(stored);
            self.bounds.max = self.bounds.max.max(stored);
            let mut hash = step(seed, stored);
            if normals {
                hash = step(hash, frame.normals[element]);
            }
            if let Some(tangent) = frame.tangents.get(element) {
                hash = step(hash ^ u64::from(tangent.w.to_bits()), tangent.truncate());
            }
            *sum = [sum[0].wrapping_add(hash), sum[1].wrapping_add(mixed(hash ^ 0x9e37_79b9_7f4a_7c15))];
        }
    }
}

/// One to one on 64 bits (the finaliser of MurmurHash3).
fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

fn step(hash: u64, vector: Vec3) -> u64 {
    // Adding 0 makes one of both zeros.
    let [x, y, z] = (vector + 0.0).to_array().map(|number| u64::from(number.to_bits()));
    let hash = (hash ^ (x | y << 32)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 32) ^ z).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 29)
}

fn check(
    source: &Source,
    of: FrameOf,
    frame: &VertexFrame,
    elements: usize,
    settings: &Settings,
) -> Result<(), Error> {
    let mut streams = vec![("positions", &frame.positions, "finite numbers")];
    if settings.normals.is_stored() {
        streams.push(("normals", &frame.normals, "a vector of unit length"));
    }
    let clip = || source.clips[of.clip].name.clone();
    let number = of.frame as usize;
    for (what, values, expected) in streams {
        if values.len() != elements {
            let found = values.len();
            return Err(Error::Count { clip: clip(), frame: number, what, found, expected: elements });
        }
        let wrong = |value: &Vec3| {
            let unit = what == "positions" || (value.length_squared() - 1.0).abs() < 1e-3;
            !value.is_finite() || !unit || out_of_range(what, *value, settings.encoding)
        };
        if let Some(element) = values.iter().position(wrong) {
            let found = values[element];
            return Err(Error::Value { clip: clip(), frame: number, element, what, found, expected });
        }
    }
    Ok(())
}

/// Half floats end at 65,504.
fn out_of_range(what: &str, value: Vec3, encoding: Encoding) -> bool {
    what == "positions" && encoding == Encoding::Float16 && value.abs().max_element() > 65_504.0
}
