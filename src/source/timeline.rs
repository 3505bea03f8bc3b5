//! Cutting continuous time into frames.

use glam::{DVec3, Vec3};

use super::RootMotion;
use crate::clip::LoopMode;
use crate::skeleton::{Evaluated, Pose, Rig, RigClip};

/// Rates that files are commonly made at; the first that holds all keys is taken.
const RATES: [f64; 6] = [30.0, 24.0, 25.0, 60.0, 50.0, 48.0];
/// Where keys keep to no rate.
pub const DEFAULT_FPS: f64 = 30.0;
/// How far from a frame a key may lie, in frames.
const KEY_TOLERANCE: f64 = 0.01;
/// How far apart the ends of a cycle may be, in parts of the model's size.
pub const CYCLE_TOLERANCE: f64 = 5e-4;
/// More frames in one clip are refused.
pub const MAX_FRAMES: u32 = 1 << 20;

/// What is wanted of every clip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Frames per second; without it the rate of the file's keys.
    pub fps: Option<f64>,
    /// What happens at the end; without it a clip that ends in its first pose is a loop, others play once.
    pub loop_mode: Option<LoopMode>,
    /// Begin at the first key instead of at time 0.
    pub trim: bool,
    /// What becomes of the way over the ground.
    pub root: Root,
    /// Tangents wherever there are texture coordinates, not only under normal maps.
    pub tangents: bool,
}

/// What becomes of the way that a clip's root goes over the ground (X and Z).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Root {
    /// It is baked.
    #[default]
    Keep,
    /// It is taken out: the figure moves on the spot.
    Strip,
    /// It is taken out, and the asset says it frame by frame.
    Extract,
}

/// How a clip is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Time of the first frame, seconds.
    pub start_seconds: f64,
    /// Frames per second.
    pub fps: f64,
    /// At least 1.
    pub frame_count: u32,
    /// What happens at the end.
    pub loop_mode: LoopMode,
    /// Whether the last pose is the first.
    pub is_cycle: bool,
    /// What is taken out.
    pub root: Option<RootMotion>,
}

/// A clip that cannot be cut.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("clip {clip:?} lasts {seconds} s: at {fps} frames a second that is more than {MAX_FRAMES} frames")]
pub struct TooLong {
    /// Name of the clip.
    pub clip: String,
    /// Its length.
    pub seconds: f64,
    /// The rate.
    pub fps: f64,
}

/// The rate that the file says, else that at which the keys of a clip stand, if they keep to one.
pub fn rate_of_keys(clip: &RigClip) -> Option<f64> {
    if clip.fps.is_some() {
        return clip.fps;
    }
    let keys = || clip.channels.iter().flat_map(|channel| channel.track.times());
    RATES.into_iter().find(|fps| {
        keys().all(|time| {
            let frame = time * fps;
            (frame - frame.round()).abs() <= KEY_TOLERANCE
        })
    })
}

/// The rate that is aimed at: what is wanted, else that of the keys, else [`DEFAULT_FPS`].
pub fn rate(clip: &RigClip, wanted: &Wanted) -> f64 {
    wanted.fps.unwrap_or_else(|| rate_of_keys(clip).unwrap_or(DEFAULT_FPS))
}

/// Cuts a clip of `rig` into evenly spaced frames. A length that is no whole number of frames is divided
/// into the nearest number of equal ones. The last frame of a cycle is its first, and is left out.
///
/// # Errors
/// [`TooLong`].
pub fn cut(rig: &Rig, clip: usize, wanted: &Wanted) -> Result<Cut, TooLong> {
    let of_rig = &rig.clips[clip];
    let start_seconds = if wanted.trim { of_rig.first_key() } else { 0.0 };
    let seconds = of_rig.seconds() - start_seconds;
    let fps = rate(of_rig, wanted);
    let intervals = (seconds * fps).round().max(1.0);
    if intervals >= f64::from(MAX_FRAMES) {
        return Err(TooLong { clip: of_rig.name.clone(), seconds, fps });
    }
    if seconds <= 0.0 {
        let loop_mode = wanted.loop_mode.unwrap_or(LoopMode::Once);
        return Ok(Cut { start_seconds, fps, frame_count: 1, loop_mode, is_cycle: false, root: None });
    }
    let (first, last) =
        (rig.evaluate(Some(clip), start_seconds), rig.evaluate(Some(clip), start_seconds + seconds));
    let root = root(rig, clip, start_seconds, wanted.root);
    let way = root.map_or(Vec3::ZERO, |root| root.way(place(rig, clip, start_seconds + seconds, root.node)));
    let is_cycle = same_pose(&first, &last, way.as_dvec3());
    let loop_mode = wanted.loop_mode.unwrap_or(if is_cycle { LoopMode::Loop } else { LoopMode::Once });
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MAX_FRAMES")]
    let intervals_whole = intervals as u32;
    let drops_last = is_cycle && loop_mode == LoopMode::Loop;
    let frame_count = if drops_last { intervals_whole } else { intervals_whole + 1 };
    Ok(Cut { start_seconds, fps: intervals / seconds, frame_count, loop_mode, is_cycle, root })
}

fn place(rig: &Rig, clip: usize, seconds: f64, node: u32) -> DVec3 {
    let mut pose = Pose::default();
    rig.pose(Some(clip), seconds, &mut pose);
    pose.worlds[node as usize].col(3).truncate()
}

fn root(rig: &Rig, clip: usize, start_seconds: f64, wanted: Root) -> Option<RootMotion> {
    if wanted == Root::Keep {
        return None;
    }
    let node = rig.root_of(clip)?;
    let start = place(rig, clip, start_seconds, node);
    Some(RootMotion { node, start, is_kept: wanted == Root::Extract })
}

/// Whether `b`, moved back by `way`, is `a`.
fn same_pose(a: &Evaluated, b: &Evaluated, way: DVec3) -> bool {
    let (mut lo, mut hi) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for position in a.positions.iter().chain(&b.positions) {
        (lo, hi) = (lo.min(*position), hi.max(*position));
    }
    let allowed = (hi - lo).length() * CYCLE_TOLERANCE;
    a.positions.iter().zip(&b.positions).all(|(a, b)| a.distance(*b - way) <= allowed)
}
