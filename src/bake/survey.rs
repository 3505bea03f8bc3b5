//! The first look at all frames: are they sound, how far do they reach, and which elements do the same?

use std::collections::HashMap;

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::{Error, FrameOf, Settings};
use crate::bounds::Bounds;
use crate::source::{Sampler, Scratch, Source, VertexFrame};
use crate::vat::{Encoding, Normals};

/// Frames are kept from the first look to the second where all of them take no more than this.
const KEPT_BYTES: usize = 256 << 20;

/// Half floats end here.
const MOST_HALF: f32 = 65_504.0;

/// What an element does, over all frames: equal where the motions are, bit for bit.
pub(super) type Fingerprint = [u64; 2];

/// What was seen.
pub(super) struct Survey {
    /// Box of what is to be stored.
    pub(super) bounds: Bounds,
    /// Box of each clip's part of it.
    pub(super) clip_bounds: Vec<Bounds>,
    /// One per element.
    pub(super) fingerprints: Vec<Fingerprint>,
    /// All frames, where they take little memory.
    pub(super) kept: Option<Vec<VertexFrame>>,
}

/// What is looked at, and how.
pub(super) struct Look<'a> {
    pub(super) source: &'a Source,
    pub(super) sampler: &'a Sampler<'a>,
    pub(super) frames: &'a [FrameOf],
    pub(super) elements: usize,
    /// What positions are measured from, where that is not the origin.
    pub(super) rest: Option<&'a [Vec3]>,
    pub(super) settings: &'a Settings,
}

/// Results of one run of frames; sums and boxes do not depend on who saw which frame.
struct Part {
    clip_bounds: Vec<(usize, Bounds)>,
    sums: Vec<Fingerprint>,
    kept: Vec<VertexFrame>,
    error: Option<Error>,
}

/// Frames that tell most elements apart, so that few need to be followed through all.
const FIRST_FRAMES: usize = 4;

impl Look<'_> {
    pub(super) fn survey(&self) -> Result<Survey, Error> {
        let frame_bytes = self.elements.saturating_mul(size_of::<[Vec3; 2]>());
        let keep = self.frames.len().saturating_mul(frame_bytes) <= KEPT_BYTES;
        let (firsts, followed) = self.first_look()?;
        let chunk = self.frames.len().div_ceil(4 * rayon::current_num_threads()).max(1);
        let mut parts: Vec<Part> = self
            .frames
            .par_chunks(chunk)
            .enumerate()
            .map_init(
                || (Scratch::default(), VertexFrame::default()),
                |(scratch, frame), (index, frames)| {
                    let first = index * chunk;
                    self.part(first, frames, &followed, keep, scratch, frame)
                },
            )
            .collect();
        // The first wrong frame, whoever found one first.
        if let Some(error) = parts.iter_mut().find_map(|part| part.error.take()) {
            return Err(error);
        }
        let mut survey = Survey {
            bounds: Bounds::EMPTY,
            clip_bounds: vec![Bounds::EMPTY; self.source.clips.len()],
            fingerprints: firsts,
            kept: keep.then(Vec::new),
        };
        for part in parts {
            for (clip, bounds) in part.clip_bounds {
                survey.bounds = survey.bounds.union(bounds);
                survey.clip_bounds[clip] = survey.clip_bounds[clip].union(bounds);
            }
            for (element, more) in followed.iter().zip(&part.sums) {
                let sum = &mut survey.fingerprints[*element as usize];
                *sum = [sum[0].wrapping_add(more[0]), sum[1].wrapping_add(more[1])];
            }
            if let Some(kept) = &mut survey.kept {
                kept.extend(part.kept);
            }
        }
        Ok(survey)
    }

    /// Fingerprints of a few frames, and the elements that they do not tell from another.
    fn first_look(&self) -> Result<(Vec<Fingerprint>, Vec<u32>), Error> {
        let mut prints = vec![[0; 2]; self.elements];
        let (mut scratch, mut frame) = (Scratch::default(), VertexFrame::default());
        let all: Vec<u32> = (0..u32::try_from(self.elements).unwrap_or(u32::MAX)).collect();
        for index in 0..FIRST_FRAMES.min(self.frames.len()) {
            let number = index * self.frames.len() / FIRST_FRAMES.min(self.frames.len());
            let of = self.frames[number];
            self.sampler.frame(of.clip, f64::from(of.frame), &mut scratch, &mut frame);
            self.check(of, &frame)?;
            self.print(number, &frame, &all, &mut prints);
        }
        let mut seen: HashMap<Fingerprint, u32> = HashMap::new();
        for print in &prints {
            *seen.entry(*print).or_insert(0) += 1;
        }
        let alike = |element: &u32| seen[&prints[*element as usize]] > 1;
        let followed = all.into_iter().filter(alike).collect();
        Ok((prints, followed))
    }

    fn part(
        &self,
        first: usize,
        frames: &[FrameOf],
        followed: &[u32],
        keep: bool,
        scratch: &mut Scratch,
        frame: &mut VertexFrame,
    ) -> Part {
        let mut part = Part {
            clip_bounds: Vec::new(),
            sums: vec![[0; 2]; followed.len()],
            kept: Vec::new(),
            error: None,
        };
        for (number, of) in (first..).zip(frames) {
            self.sampler.frame(of.clip, f64::from(of.frame), scratch, frame);
            if let Err(error) = self.check(*of, frame) {
                part.error = Some(error);
                break;
            }
            let bounds = self.stored_bounds(frame);
            match part.clip_bounds.last_mut() {
                Some((clip, so_far)) if *clip == of.clip => *so_far = so_far.union(bounds),
                _ => part.clip_bounds.push((of.clip, bounds)),
            }
            self.print(number, frame, followed, &mut part.sums);
            if keep {
                part.kept.push(std::mem::take(frame));
            }
        }
        part
    }

    fn stored_bounds(&self, frame: &VertexFrame) -> Bounds {
        let (mut min, mut max) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        let mut add = |stored: Vec3A| (min, max) = (min.min(stored), max.max(stored));
        match self.rest {
            None => frame.positions.iter().for_each(|position| add(Vec3A::from(*position))),
            Some(rest) => {
                frame.positions.iter().zip(rest).for_each(|(position, rest)| add((*position - *rest).into()));
            }
        }
        Bounds { min: min.into(), max: max.into() }
    }

    /// Adds what some elements do in a frame to their fingerprints.
    fn print(&self, number: usize, frame: &VertexFrame, elements: &[u32], sums: &mut [Fingerprint]) {
        let normals = self.settings.normals.is_stored();
        let seed = mixed(number as u64 + 1);
        for (element, sum) in elements.iter().zip(sums) {
            let element = *element as usize;
            let position = frame.positions[element];
            let stored = self.rest.map_or(position, |rest| position - rest[element]);
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

    fn check(&self, of: FrameOf, frame: &VertexFrame) -> Result<(), Error> {
        let most = if self.settings.encoding == Encoding::Float16 { MOST_HALF } else { f32::MAX };
        // Comparisons with NaN are false, so that what is not finite is wrong.
        let position = |value: &Vec3| value.x.abs() <= most && value.y.abs() <= most && value.z.abs() <= most;
        self.check_stream(of, "positions", &frame.positions, "finite numbers", position)?;
        if self.settings.normals.is_stored() {
            let unit = |value: &Vec3| (value.length_squared() - 1.0).abs() < 1e-3;
            self.check_stream(of, "normals", &frame.normals, "a vector of unit length", unit)?;
        }
        if self.settings.normals == Normals::Rotation && !frame.tangents.is_empty() {
            let tangents: Vec<Vec3> = frame.tangents.iter().map(|tangent| tangent.truncate()).collect();
            self.check_stream(of, "tangents", &tangents, "finite numbers", |value| value.is_finite())?;
        }
        Ok(())
    }

    fn check_stream(
        &self,
        of: FrameOf,
        what: &'static str,
        values: &[Vec3],
        expected: &'static str,
        holds: impl Fn(&Vec3) -> bool,
    ) -> Result<(), Error> {
        let clip = || self.source.clips[of.clip].name.clone();
        let frame = of.frame as usize;
        if values.len() != self.elements {
            let (found, expected) = (values.len(), self.elements);
            return Err(Error::Count { clip: clip(), frame, what, found, expected });
        }
        // Without a branch per value, which is what the compiler makes wide code of.
        if values.iter().fold(true, |all, value| all & holds(value)) {
            return Ok(());
        }
        let element = values.iter().position(|value| !holds(value)).unwrap_or(0);
        Err(Error::Value { clip: clip(), frame, element, what, found: values[element], expected })
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
