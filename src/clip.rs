//! Clips: named frame ranges with their own rate and loop mode.

use glam::Vec3;

/// What happens at a clip's end.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopMode {
    /// The frame after the last is the first; the cycle lasts `frame_count / fps`.
    #[default]
    Loop = 0,
    /// Holds the last frame; lasts `(frame_count - 1) / fps`.
    Once = 1,
    /// Forwards, then backwards, end frames shown once; the cycle lasts `2 (frame_count - 1) / fps`.
    PingPong = 2,
}

impl LoopMode {
    /// Every loop mode, in the order of the stored numbers.
    pub const ALL: [Self; 3] = [Self::Loop, Self::Once, Self::PingPong];

    /// The name used in files, on the command line and in the panel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Once => "once",
            Self::PingPong => "ping-pong",
        }
    }
}

/// A named range of frames inside an asset's textures.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    /// Any text; need not be unique.
    pub name: String,
    /// First frame, counted over the whole asset.
    pub first_frame: u32,
    /// Number of frames, at least 1.
    pub frame_count: u32,
    /// Frames per second, finite, at least 0; 0 is a clip that stands still.
    pub fps: f64,
    /// What happens at the end.
    pub loop_mode: LoopMode,
    /// The way over the ground that was taken out of each frame, from the first on, metres.
    pub root_motion: Option<Vec<Vec3>>,
}

impl Clip {
    /// Intervals between frames in one cycle: 0 for a clip of one frame that does not move.
    pub fn intervals(&self) -> u32 {
        match self.loop_mode {
            LoopMode::Loop => self.frame_count,
            LoopMode::Once => self.frame_count - 1,
            LoopMode::PingPong => 2 * (self.frame_count - 1),
        }
    }

    /// Seconds of one cycle, or `None` where the clip stands still (fps 0, or one frame).
    pub fn cycle_seconds(&self) -> Option<f64> {
        let seconds = f64::from(self.intervals()) / self.fps;
        (self.frame_count > 1 && seconds.is_finite() && seconds > 0.0).then_some(seconds)
    }

    /// Time of a frame counted from the clip's first, seconds; 0 for a clip with fps 0.
    pub fn frame_seconds(&self, frame: f64) -> f64 {
        if self.fps > 0.0 { frame / self.fps } else { 0.0 }
    }
}
