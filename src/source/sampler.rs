use glam::Vec3;

use super::{Motion, Source, VertexFrame};
use crate::skeleton::{Scratch, Skinner};

/// Gives the frames of a source, to any number of threads.
pub struct Sampler<'a> {
    source: &'a Source,
    skinner: Option<Skinner<'a>>,
}

impl<'a> Sampler<'a> {
    /// A sampler of `source`.
    pub fn new(source: &'a Source) -> Self {
        Self { source, skinner: source.rig.as_ref().map(|rigged| Skinner::new(&rigged.rig)) }
    }

    /// All elements at a frame of a clip, which may lie between frames where [`Sampler::is_continuous`].
    ///
    /// # Panics
    /// If there is no such clip or frame.
    pub fn frame(&self, clip: usize, frame: f64, scratch: &mut Scratch, into: &mut VertexFrame) {
        let clip = &self.source.clips[clip];
        match (&clip.motion, &self.skinner, &self.source.rig) {
            (Motion::Rig { clip: of_rig, start_seconds, root, .. }, Some(skinner), Some(rigged)) => {
                let seconds = if clip.fps > 0.0 { start_seconds + frame / clip.fps } else { *start_seconds };
                skinner.sample(*of_rig, seconds, scratch, into);
                rigged.flatten(into);
                if let Some(way) = root.and_then(|root| Some(root.way(scratch.place(root.node)?))) {
                    into.positions.iter_mut().for_each(|position| *position -= way);
                }
            }
            (Motion::Vertices(frames), ..) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a frame's number"
                )]
                into.clone_from(&frames[frame as usize]);
            }
            (Motion::Points(points), ..) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a frame's number"
                )]
                points.frame(frame as usize, into);
            }
            (Motion::Rig { .. }, ..) => *into = VertexFrame::default(),
        }
    }

    /// What is taken out of a frame's positions and kept, metres.
    pub fn root_way(&self, clip: usize, frame: f64) -> Option<Vec3> {
        let Motion::Rig { root: Some(root), .. } = self.source.clips[clip].motion else {
            return None;
        };
        let (mut scratch, mut unused) = (Scratch::default(), VertexFrame::default());
        self.frame(clip, frame, &mut scratch, &mut unused);
        scratch.place(root.node).filter(|_| root.is_kept).map(|place| root.way(place))
    }

    /// All elements where nothing moves them; nothing without a rig.
    pub fn rest(&self, scratch: &mut Scratch, into: &mut VertexFrame) {
        if let (Some(skinner), Some(rigged)) = (&self.skinner, &self.source.rig) {
            skinner.sample(None, 0.0, scratch, into);
            rigged.flatten(into);
        }
    }

    /// Whether a clip can be asked for times between its frames.
    pub fn is_continuous(&self, clip: usize) -> bool {
        matches!(self.source.clips[clip].motion, Motion::Rig { .. }) && self.source.clips[clip].fps > 0.0
    }
}
