use std::fmt;

use glam::Vec3;
use serde::Serialize;

use rayon::prelude::*;

use super::lod::LodReport;
use crate::asset::{Animation, Asset};
use crate::clip::LoopMode;
use crate::source::{Sampler, Scratch, Source, SourceClip, VertexFrame};
use crate::vat::playback::{Frames, blend_position, encode_frames};
use crate::vat::soft::{soft_position, soft_stored};
use crate::vat::{FrameBlend, Normals};

/// Size of a bake, and its error against the source at the baked frames, over all vertices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// How positions are stored.
    pub encoding: &'static str,
    /// Where normals come from.
    pub normals: &'static str,
    /// Vertices of the mesh.
    pub vertex_count: usize,
    /// Columns of texels: vertices that always agree share one.
    pub element_count: u32,
    /// Frames of all clips.
    pub frame_count: usize,
    /// Frames at which errors were measured; fewer than all only in very large bakes.
    pub measured_frames: usize,
    /// Texture width, texels.
    pub width: u32,
    /// Texture height, texels.
    pub height: u32,
    /// Bytes of all texels.
    pub texel_bytes: u64,
    /// Bytes of texels per element and frame.
    pub bytes_per_vertex_frame: f64,
    /// Worst distance between source and decoded position, metres.
    pub position_error_metres: Worst,
    /// Mean of those distances, metres.
    pub position_error_mean_metres: f64,
    /// Worst angle between source and decoded normal, degrees; `None` where the bake stores no normals.
    pub normal_error_degrees: Option<Worst>,
    /// Mean of those angles, degrees.
    pub normal_error_mean_degrees: Option<f64>,
    /// Worst angle between source and decoded tangent, degrees; `None` unless both have tangents.
    pub tangent_error_degrees: Option<Worst>,
    /// A quarter, half and three quarters on the way to the next frame, for each frame blend; nothing
    /// where the source is known at its frames only.
    pub between_frames: Vec<Between>,
    /// Levels of detail, from fine to coarse.
    pub lods: Vec<LodReport>,
}

/// Errors between frames, where a player blends and the source has a pose of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Between {
    /// How the player blends.
    pub frame_blend: &'static str,
    /// Worst distance between source and decoded position, metres.
    pub position_error_metres: Worst,
    /// Mean of those distances, metres.
    pub position_error_mean_metres: f64,
}

/// A worst error, and where it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Worst {
    /// How large.
    pub error: f64,
    /// Vertex of the mesh.
    pub vertex: usize,
    /// Name of the clip.
    pub clip: String,
    /// Frame of the clip; a fraction between frames.
    pub frame: f64,
}

/// Errors of some vertices.
#[derive(Clone, Copy, Default)]
struct Errors {
    worst: f64,
    vertex: usize,
    sum: f64,
    count: u64,
}

impl Errors {
    fn add(&mut self, error: f64, vertex: usize) {
        self.sum += error;
        self.count += 1;
        if error > self.worst || self.count == 1 {
            (self.worst, self.vertex) = (error, vertex);
        }
    }
}

/// Errors of many moments, in order: sums do not depend on who measured what.
#[derive(Default)]
struct Total {
    worst: Worst,
    sum: f64,
    count: u64,
}

impl Total {
    fn add(&mut self, errors: Errors, clip: &str, frame: f64) {
        if errors.count > 0 && (errors.worst > self.worst.error || self.count == 0) {
            let clip = clip.to_owned();
            self.worst = Worst { error: errors.worst, vertex: errors.vertex, clip, frame };
        }
        self.sum += errors.sum;
        self.count += errors.count;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

/// Where between two frames is measured.
const BETWEEN: [f64; 3] = [0.25, 0.5, 0.75];
/// Vertices and moments beyond which only every so manieth frame is measured.
const MEASURED: usize = 24_000_000;

/// What is found at one frame and behind it.
struct Moment {
    clip: usize,
    frame: usize,
    positions: Errors,
    normals: Errors,
    tangents: Errors,
    between: Vec<[Errors; BETWEEN.len()]>,
}

/// Measures `asset` against `source`; `vertices` says which vertex of the source each vertex is.
pub(super) fn measure(asset: &Asset, source: &Source, vertices: &[u32]) -> Report {
    let sampler = Sampler::new(source);
    let elements: Vec<u32> = vertices.iter().map(|vertex| source.mesh.elements[*vertex as usize]).collect();
    let frame_count: usize = source.clips.iter().map(SourceClip::frame_count).sum();
    let stride = frame_count.saturating_mul(vertices.len()).div_ceil(MEASURED).max(1);
    let moments: Vec<(usize, usize)> = source
        .clips
        .iter()
        .enumerate()
        .flat_map(|(clip, of)| (0..of.frame_count()).step_by(stride).map(move |frame| (clip, frame)))
        .collect();
    let gauge = Gauge { asset, elements: &elements, sampler: &sampler };
    let found: Vec<Vec<Moment>> = moments
        .par_chunks(RUN)
        .map_init(Room::default, |room, run| {
            room.decoded.clear();
            run.iter().map(|(clip, frame)| gauge.moment(*clip, *frame, room)).collect()
        })
        .collect();
    let (mut positions, mut normals, mut tangents) = (Total::default(), Total::default(), Total::default());
    let mut between: Vec<Total> = FrameBlend::ALL.iter().map(|_| Total::default()).collect();
    for moment in found.iter().flatten() {
        let (name, at) = (&source.clips[moment.clip].name, moment.frame as f64);
        positions.add(moment.positions, name, at);
        normals.add(moment.normals, name, at);
        tangents.add(moment.tangents, name, at);
        for (total, errors) in between.iter_mut().zip(&moment.between) {
            for (errors, part) in errors.iter().zip(BETWEEN) {
                total.add(*errors, name, at + part);
            }
        }
    }
    let stored_normals = asset.animation.normals.is_stored();
    let animation = &asset.animation;
    let samples = u64::from(animation.element_count) * u64::from(animation.grid.frame_count);
    let size = animation.positions.size();
    let blends = FrameBlend::ALL.iter().zip(between).filter(|(_, total)| total.count > 0);
    Report {
        encoding: animation.encoding.name(),
        normals: Normals::name(animation.normals),
        vertex_count: vertices.len(),
        element_count: animation.element_count,
        frame_count,
        measured_frames: moments.len(),
        width: size.x,
        height: size.y,
        texel_bytes: asset.texel_bytes(),
        bytes_per_vertex_frame: asset.texel_bytes() as f64 / samples as f64,
        position_error_mean_metres: positions.mean(),
        position_error_metres: positions.worst,
        normal_error_mean_degrees: stored_normals.then(|| normals.mean()),
        normal_error_degrees: stored_normals.then_some(normals.worst),
        tangent_error_degrees: (tangents.count > 0).then_some(tangents.worst),
        lods: Vec::new(),
        between_frames: blends
            .map(|(blend, total)| Between {
                frame_blend: blend.name(),
                position_error_mean_metres: total.mean(),
                position_error_metres: total.worst,
            })
            .collect(),
    }
}

/// Frames that one thread measures after each other, so that it decodes each of them once.
const RUN: usize = 32;
/// Decoded frames that are kept: the four of a spline, and one.
const KEPT: usize = 5;

/// Buffers of one thread.
#[derive(Default)]
struct Room {
    scratch: Scratch,
    truth: VertexFrame,
    /// Frames of the asset, and what each column stores there.
    decoded: Vec<(u32, Vec<Vec3>)>,
}

impl Room {
    /// Decodes a frame, unless it was one of the last.
    fn decode(&mut self, asset: &Asset, frame: u32) {
        if self.decoded.iter().any(|(number, _)| *number == frame) {
            return;
        }
        let Animation { positions, grid, encoding, remap, element_count, .. } = &asset.animation;
        let mut stored = if self.decoded.len() < KEPT { Vec::new() } else { self.decoded.remove(0).1 };
        stored.clear();
        let columns = 0..*element_count;
        stored.extend(columns.map(|column| soft_stored(positions, *grid, *encoding, *remap, column, frame)));
        self.decoded.push((frame, stored));
    }

    fn stored(&self, frame: u32) -> &[Vec3] {
        let found = self.decoded.iter().find(|(number, _)| *number == frame);
        found.map_or(&[], |(_, stored)| stored)
    }
}

/// What is measured.
struct Gauge<'a> {
    asset: &'a Asset,
    /// Element of the source for each vertex.
    elements: &'a [u32],
    sampler: &'a Sampler<'a>,
}

impl Gauge<'_> {
    fn moment(&self, clip: usize, frame: usize, room: &mut Room) -> Moment {
        let baked = &self.asset.clips[clip];
        let none = Errors::default();
        let mut moment =
            Moment { clip, frame, positions: none, normals: none, tangents: none, between: Vec::new() };
        let at = frame as f64;
        self.sampler.frame(clip, at, &mut room.scratch, &mut room.truth);
        let frames = encode_frames(baked, at);
        moment.positions = self.positions(frames, FrameBlend::Step, room);
        if self.asset.animation.normals.is_stored() {
            let pose = self.asset.normals(frames, FrameBlend::Step);
            for (vertex, element) in self.elements.iter().enumerate() {
                let truth = room.truth.normals[*element as usize];
                moment.normals.add(angle_degrees(pose[vertex], truth), vertex);
            }
        }
        let tangents = self.asset.tangents(frames, FrameBlend::Step).unwrap_or_default();
        for (vertex, (element, found)) in self.elements.iter().zip(tangents).enumerate() {
            let Some(tangent) = room.truth.tangents.get(*element as usize) else { break };
            // What is along the normal is not part of it.
            let normal = room.truth.normals[*element as usize];
            if let Some(across) = tangent.truncate().reject_from_normalized(normal).try_normalize() {
                moment.tangents.add(angle_degrees(found, across), vertex);
            }
        }
        let is_last = frame + 1 == baked.frame_count as usize;
        if !self.sampler.is_continuous(clip) || (is_last && baked.loop_mode != LoopMode::Loop) {
            return moment;
        }
        moment.between = vec![[Errors::default(); BETWEEN.len()]; FrameBlend::ALL.len()];
        for (part, weight) in BETWEEN.into_iter().enumerate() {
            let at = at + weight;
            self.sampler.frame(clip, at, &mut room.scratch, &mut room.truth);
            let frames = encode_frames(baked, at);
            for (blend, errors) in FrameBlend::ALL.iter().zip(&mut moment.between) {
                errors[part] = self.positions(frames, *blend, room);
            }
        }
        moment
    }

    /// Distances between the truth and what a player blends.
    fn positions(&self, frames: Frames, blend: FrameBlend, room: &mut Room) -> Errors {
        let needed = [frames.before, frames.a, frames.b, frames.after];
        for frame in needed {
            room.decode(self.asset, frame);
        }
        let [before, a, b, after] = needed.map(|frame| room.stored(frame));
        let mut errors = Errors::default();
        let mesh = &self.asset.mesh;
        for (vertex, (element, column)) in self.elements.iter().zip(&mesh.elements).enumerate() {
            let column = *column as usize;
            let stored = match blend {
                FrameBlend::Step => a[column],
                _ => {
                    let [before, a, b, after] = [before, a, b, after].map(|frame| frame[column]);
                    blend_position(before, a, b, after, frames.weight, blend)
                }
            };
            let found = soft_position(mesh.positions[vertex], stored, self.asset.animation.space);
            errors.add(distance(found, room.truth.positions[*element as usize]), vertex);
        }
        errors
    }
}

fn distance(a: Vec3, b: Vec3) -> f64 {
    a.as_dvec3().distance(b.as_dvec3())
}

/// Angle between unit vectors, exact for small angles too.
fn angle_degrees(a: Vec3, b: Vec3) -> f64 {
    let (a, b) = (a.as_dvec3(), b.as_dvec3());
    libm::atan2(a.cross(b).length(), a.dot(b)).to_degrees()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Worst { error, vertex, clip, frame } = &self.position_error_metres;
        writeln!(
            f,
            "stored          {} vertices in {} columns, {} frames",
            self.vertex_count, self.element_count, self.frame_count
        )?;
        writeln!(f, "texture         {} × {} texels, {} bytes", self.width, self.height, self.texel_bytes)?;
        writeln!(f, "per vertex      {:.2} bytes a frame", self.bytes_per_vertex_frame)?;
        writeln!(
            f,
            "position error  worst {:.4} mm (vertex {vertex}, clip {clip}, frame {frame}), mean {:.4} mm",
            error * 1e3,
            self.position_error_mean_metres * 1e3
        )?;
        match (&self.normal_error_degrees, self.normal_error_mean_degrees) {
            (Some(Worst { error, vertex, clip, frame }), Some(mean)) => write!(
                f,
                "normal error    worst {error:.4}° (vertex {vertex}, clip {clip}, frame {frame}), mean {mean:.4}°"
            )?,
            _ => write!(f, "normals         {}, not stored", self.normals)?,
        }
        if let Some(Worst { error, vertex, clip, frame }) = &self.tangent_error_degrees {
            write!(f, "\ntangent error   worst {error:.4}° (vertex {vertex}, clip {clip}, frame {frame})")?;
        }
        for Between { frame_blend, position_error_metres: worst, position_error_mean_metres: mean } in
            &self.between_frames
        {
            write!(
                f,
                "\nbetween frames  {frame_blend}: worst {:.4} mm (vertex {}, clip {}, frame {}), mean {:.4} mm",
                worst.error * 1e3,
                worst.vertex,
                worst.clip,
                worst.frame,
                mean * 1e3
            )?;
        }
        for (level, lod) in (1..).zip(&self.lods) {
            let Worst { error, vertex, clip, frame } = &lod.deviation_metres;
            write!(
                f,
                "\nlod {level}           {} triangles, deviation worst {:.4} mm (vertex {vertex}, clip {clip}, frame {frame}), mean {:.4} mm, over {} frames",
                lod.triangle_count,
                error * 1e3,
                lod.deviation_mean_metres * 1e3,
                lod.measured_frames
            )?;
        }
        Ok(())
    }
}
