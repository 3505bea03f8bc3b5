//! Point caches: every point's position at every sample, and nothing else.
//!
//! ```text
//! PC2  little endian   "POINTCACHE2\0"  version 1  points  start frame  frames a sample  samples   x y z …
//! MDD  big endian      frames  points   times …    x y z …
//! ```

use std::path::Path;

use bytes::Bytes;
use glam::Vec3;

use super::super::Error;
use crate::source::PointFrames;

const PC2_HEADER: usize = 32;
const MDD_HEADER: usize = 8;

/// A cache in memory or mapped.
#[derive(Debug)]
pub(super) struct Cache {
    bytes: Bytes,
    first: usize,
    points: usize,
    samples: usize,
    big_endian: bool,
    /// Samples a second, where the file tells.
    pub(super) fps: Option<f64>,
    /// Frames of the scene between two samples.
    pub(super) frames_per_sample: f64,
}

impl Cache {
    pub(super) fn new(bytes: Bytes, path: &Path) -> Result<Self, Error> {
        let cache = if bytes.starts_with(b"POINTCACHE2\0") { pc2(bytes, path)? } else { mdd(bytes, path)? };
        let wrong = |what: &str, found: String, expected: String| {
            Err(Error::Value { pointer: what.to_owned(), found, expected, path: path.to_owned() })
        };
        if cache.points == 0 || cache.samples == 0 {
            let found = format!("{} points, {} samples", cache.points, cache.samples);
            return wrong("header", found, "at least one of each".to_owned());
        }
        let needed = (cache.points as u128) * (cache.samples as u128) * 12 + cache.first as u128;
        if needed != cache.bytes.len() as u128 {
            let found = format!("{} bytes", cache.bytes.len());
            let (points, samples) = (cache.points, cache.samples);
            return wrong("size", found, format!("{needed} bytes for {points} points and {samples} samples"));
        }
        let mut positions = Vec::new();
        for sample in 0..cache.samples {
            cache.read(sample, &mut positions);
            if let Some(point) = positions.iter().position(|position| !position.is_finite()) {
                let found = positions[point].to_string();
                return wrong(&format!("sample {sample}, point {point}"), found, "finite numbers".to_owned());
            }
        }
        Ok(cache)
    }
}

impl PointFrames for Cache {
    fn frame_count(&self) -> usize {
        self.samples
    }

    fn point_count(&self) -> usize {
        self.points
    }

    fn read(&self, frame: usize, into: &mut Vec<Vec3>) {
        into.clear();
        let size = self.points * 12;
        let Some(sample) = self.bytes.get(self.first + frame * size..self.first + (frame + 1) * size) else {
            return;
        };
        let number = if self.big_endian { f32::from_be_bytes } else { f32::from_le_bytes };
        let vectors = sample.as_chunks::<4>().0.as_chunks::<3>().0.iter();
        into.extend(vectors.map(|xyz| Vec3::from_array(xyz.map(number))));
    }
}

fn pc2(bytes: Bytes, path: &Path) -> Result<Cache, Error> {
    let header = bytes.get(12..PC2_HEADER).ok_or_else(|| short(bytes.len(), PC2_HEADER, path))?;
    let word = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
    let whole = |at: usize| i32::from_le_bytes(word(at));
    let single = |at: usize| f64::from(f32::from_le_bytes(word(at)));
    let value = |pointer: &str, found: String, expected: &str| Error::Value {
        pointer: pointer.to_owned(),
        found,
        expected: expected.to_owned(),
        path: path.to_owned(),
    };
    if whole(0) != 1 {
        return Err(value("version", whole(0).to_string(), "1"));
    }
    let count = |at: usize, what: &str| {
        usize::try_from(whole(at)).map_err(|_| value(what, whole(at).to_string(), "a count"))
    };
    let frames_per_sample = single(12);
    if !frames_per_sample.is_finite() || frames_per_sample <= 0.0 {
        return Err(value("sample rate", frames_per_sample.to_string(), "a number above 0"));
    }
    let (points, samples) = (count(4, "points")?, count(16, "samples")?);
    Ok(Cache { bytes, first: PC2_HEADER, points, samples, big_endian: false, fps: None, frames_per_sample })
}

fn mdd(bytes: Bytes, path: &Path) -> Result<Cache, Error> {
    let header = bytes.get(..MDD_HEADER).ok_or_else(|| short(bytes.len(), MDD_HEADER, path))?;
    let count =
        |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize;
    let (samples, points) = (count(0), count(4));
    let first = MDD_HEADER + samples.saturating_mul(4);
    let times = bytes.get(MDD_HEADER..first).ok_or_else(|| short(bytes.len(), first, path))?;
    let times: Vec<f64> =
        times.as_chunks().0.iter().map(|time| f64::from(f32::from_be_bytes(*time))).collect();
    // Evenly spaced times say a rate; others do not.
    let fps = match times[..] {
        [begin, .., end] if end > begin && (end - begin).is_finite() => {
            let step = (end - begin) / (times.len() - 1) as f64;
            let even = times.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < step * 0.01);
            even.then_some(1.0 / step)
        }
        _ => None,
    };
    Ok(Cache { bytes, first, points, samples, big_endian: true, fps, frames_per_sample: 1.0 })
}

fn short(found: usize, needed: usize, path: &Path) -> Error {
    Error::Value {
        pointer: "header".to_owned(),
        found: format!("{found} bytes"),
        expected: format!("a PC2 or MDD point cache of at least {needed} bytes"),
        path: path.to_owned(),
    }
}
