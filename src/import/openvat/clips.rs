//! The JSON file's clips, which count frames of a timeline whose beginning it does not say.

use std::path::Path;

use super::super::{Error, Options};
use super::Remarked;
use super::json::Remap;
use crate::clip::{Clip, LoopMode};

/// What most of the exporter's engine kits play at where nothing is said.
const DEFAULT_FPS: f64 = 30.0;

/// The clips of the file at `path`, or one of all frames. `scene_start` is the timeline's beginning, where
/// the picture says it.
pub(super) fn clips(
    remap: &Remap,
    options: &Options,
    scene_start: Option<i64>,
    mesh: &str,
    path: &Path,
    parts: &mut Remarked,
) -> Result<Vec<Clip>, Error> {
    let said = options.fps.unwrap_or(DEFAULT_FPS);
    let whose = if options.fps.is_some() { "given" } else { "assumed" };
    if remap.clips.is_empty() {
        parts.assumptions.push(format!("the files do not say a frame rate: {said} frames a second {whose}"));
        parts.assumptions.push("all frames are one clip that loops".to_owned());
        let name = mesh.rsplit_once('.').map_or(mesh, |(stem, _)| stem).to_owned();
        let (frame_count, loop_mode) = (remap.frames, LoopMode::Loop);
        return Ok(vec![Clip { name, first_frame: 0, frame_count, fps: said, loop_mode, root_motion: None }]);
    }
    // Frames are those of the scene's timeline; where it begins only the picture may say.
    let start = remap.clips.iter().map(|clip| clip.start).min().unwrap_or(1);
    let last = remap.clips.iter().map(|clip| clip.end).max().unwrap_or(1);
    let said_start = scene_start.and_then(|start| u32::try_from(start).ok()).filter(|start| *start > 0);
    let mut first = said_start.unwrap_or(1);
    if start < first || last - first >= remap.frames {
        first = start;
        parts.warnings.push(format!(
            "clips go from frame {start} to {last}, the picture has {} frames{}: the timeline is taken to begin at \
             frame {start}",
            remap.frames,
            said_start.map_or(String::new(), |said| format!(", the first of them {said}"))
        ));
    }
    let mut clips = Vec::new();
    for clip in &remap.clips {
        let range = clip.start.checked_sub(first).zip(clip.end.checked_sub(first));
        let Some((start, end)) = range.filter(|(_, end)| *end < remap.frames) else {
            return Err(Error::Value {
                pointer: format!("/animations/{}", clip.name),
                found: format!("frames {} to {}", clip.start, clip.end),
                expected: format!("a range within the {} frames of the picture", remap.frames),
                path: path.to_owned(),
            });
        };
        if clip.fps.is_none() {
            parts.assumptions.push(format!(
                "clip {:?} does not say a frame rate: {said} frames a second {whose}",
                clip.name
            ));
        }
        clips.push(Clip {
            name: clip.name.clone(),
            first_frame: start,
            frame_count: end - start + 1,
            fps: clip.fps.unwrap_or(said),
            loop_mode: clip.loop_mode,
            root_motion: None,
        });
    }
    Ok(clips)
}
