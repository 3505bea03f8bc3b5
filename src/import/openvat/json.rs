//! The `remap_info` JSON file, with the faults that are seen in public files.

use std::path::Path;

use glam::DVec3;
use serde_json::Value;

use super::super::Error;
use crate::clip::LoopMode;

/// Bounds, frames and clips as the file says them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Remap {
    /// Value of texel 0, Blender axes, metres.
    pub(super) min: DVec3,
    /// Value of texel 1.
    pub(super) max: DVec3,
    pub(super) frames: u32,
    pub(super) clips: Vec<RemapClip>,
    pub(super) warnings: Vec<String>,
}

/// A clip as the file says it: frames of the scene's timeline.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RemapClip {
    pub(super) name: String,
    /// First frame, counted from 1.
    pub(super) start: u32,
    /// Last frame, included.
    pub(super) end: u32,
    pub(super) fps: Option<f64>,
    pub(super) loop_mode: LoopMode,
}

/// Frames beyond this are a mistake.
const MAX_FRAMES: f64 = 1e6;

/// Reads the text of the file; `path` is for messages.
pub(super) fn read(text: &[u8], path: &Path) -> Result<Remap, Error> {
    let mut remap = Remap::default();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let value: Value = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(source) => {
            let repaired = without_trailing_commas(text);
            let read = serde_json::from_slice(&repaired)
                .map_err(|_| Error::Json { source, path: path.to_owned() })?;
            remap.warnings.push("the JSON file has a trailing comma".to_owned());
            read
        }
    };
    let reader = Reader { path };
    let bounds = &value["os-remap"];
    if !bounds.is_object() {
        let others: Vec<_> = value.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        let found = format!("no os-remap, but: {}", others.join(", "));
        return Err(reader.error("/os-remap", found, "an object with Min, Max and Frames"));
    }
    remap.min = reader.vector(&bounds["Min"], "/os-remap/Min", &mut remap.warnings)?;
    remap.max = reader.vector(&bounds["Max"], "/os-remap/Max", &mut remap.warnings)?;
    for axis in 0..3 {
        if remap.min[axis] > remap.max[axis] {
            let found = format!("{} above Max {}", remap.min[axis], remap.max[axis]);
            return Err(reader.error(&format!("/os-remap/Min/{axis}"), found, "at most Max"));
        }
    }
    remap.frames = reader.frames(&bounds["Frames"], "/os-remap/Frames", &mut remap.warnings)?;
    if bounds.get("Position").is_some_and(|position| {
        reader.vector(position, "/os-remap/Position", &mut Vec::new()).ok() != Some(DVec3::ZERO)
    }) {
        remap.warnings.push("os-remap/Position is not used: the mesh is read in its own space".to_owned());
    }
    if let Some(animations) = value["animations"].as_object() {
        for (name, clip) in animations {
            remap.clips.push(reader.clip(name, clip, &mut remap.warnings)?);
        }
    }
    // The reader sorts by name; frames are the better order.
    remap.clips.sort_by_key(|clip| (clip.start, clip.end));
    for (key, _) in value.as_object().into_iter().flatten() {
        if key != "os-remap" && key != "animations" {
            remap.warnings.push(format!("{key:?} in the JSON file is not used"));
        }
    }
    Ok(remap)
}

struct Reader<'a> {
    path: &'a Path,
}

impl Reader<'_> {
    fn error(&self, pointer: &str, found: impl Into<String>, expected: &str) -> Error {
        let (pointer, path) = (pointer.to_owned(), self.path.to_owned());
        Error::Value { pointer, found: found.into(), expected: expected.to_owned(), path }
    }

    /// A finite number; some writers put it in quotes.
    fn number(&self, value: &Value, pointer: &str, warnings: &mut Vec<String>) -> Result<f64, Error> {
        let number = match value {
            Value::String(text) => {
                let warning = "numbers of the JSON file are written as strings".to_owned();
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
                text.trim().parse().ok()
            }
            other => other.as_f64(),
        };
        match number.filter(|number: &f64| number.is_finite() && number.abs() < 1e9) {
            Some(number) => Ok(number),
            None => Err(self.error(pointer, value.to_string(), "a finite number below 1e9")),
        }
    }

    fn vector(&self, value: &Value, pointer: &str, warnings: &mut Vec<String>) -> Result<DVec3, Error> {
        let Some([x, y, z]) = value.as_array().map(Vec::as_slice) else {
            return Err(self.error(pointer, value.to_string(), "three numbers"));
        };
        let mut vector = DVec3::ZERO;
        for (axis, value) in [x, y, z].into_iter().enumerate() {
            vector[axis] = self.number(value, &format!("{pointer}/{axis}"), warnings)?;
        }
        Ok(vector)
    }

    fn frames(&self, value: &Value, pointer: &str, warnings: &mut Vec<String>) -> Result<u32, Error> {
        let frames = self.number(value, pointer, warnings)?;
        if !(1.0..=MAX_FRAMES).contains(&frames) || frames.fract() != 0.0 {
            return Err(self.error(pointer, value.to_string(), "a whole number, 1 to 1000000"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "a whole number of at most a million")]
        Ok(frames as u32)
    }

    fn clip(&self, name: &str, clip: &Value, warnings: &mut Vec<String>) -> Result<RemapClip, Error> {
        let at = |field: &str| format!("/animations/{name}/{field}");
        let start = self.frames(&clip["startFrame"], &at("startFrame"), warnings)?;
        let end = self.frames(&clip["endFrame"], &at("endFrame"), warnings)?;
        if end < start {
            return Err(self.error(&at("endFrame"), end.to_string(), "at least startFrame"));
        }
        let fps = match &clip["framerate"] {
            Value::Null => None,
            value => {
                let fps = self.number(value, &at("framerate"), warnings)?;
                if !(0.0..=1000.0).contains(&fps) {
                    return Err(self.error(&at("framerate"), value.to_string(), "0 to 1000"));
                }
                Some(fps)
            }
        };
        let looping = clip["looping"].as_bool().unwrap_or(true);
        let loop_mode = if looping { LoopMode::Loop } else { LoopMode::Once };
        Ok(RemapClip { name: name.to_owned(), start, end, fps, loop_mode })
    }
}

/// The text with commas between a value and `}` or `]` blanked, outside of strings.
fn without_trailing_commas(text: &[u8]) -> Vec<u8> {
    let mut repaired = text.to_vec();
    let (mut in_string, mut escaped) = (false, false);
    let (mut comma, mut before) = (None, b'{');
    for (at, byte) in text.iter().enumerate() {
        if in_string {
            in_string = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match byte {
            byte if byte.is_ascii_whitespace() => continue,
            b'"' => (in_string, comma) = (true, None),
            b',' => comma = (!b"{[,".contains(&before)).then_some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    repaired[comma] = b' ';
                }
            }
            _ => comma = None,
        }
        before = *byte;
    }
    repaired
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Remap, Error> {
        read(text.as_bytes(), Path::new("a-remap_info.json"))
    }

    #[test]
    fn faults_of_public_files_are_read() {
        let text = "\u{feff}{\"os-remap\": {\"Min\": [\"-1\", 0, -2.5,], \"Max\": [1, 0, 2.5], \"Frames\": \"24\", \"x,]\": 1,},
            \"extra\": {}, \"animations\": {\"a\": {\"startFrame\": 1, \"endFrame\": 10, \"framerate\": 12.5, \"looping\": false}},}";
        let remap = parse(text).unwrap();
        assert_eq!(
            (remap.min, remap.max, remap.frames),
            (DVec3::new(-1.0, 0.0, -2.5), DVec3::new(1.0, 0.0, 2.5), 24)
        );
        let clip = &remap.clips[0];
        assert_eq!((clip.start, clip.end, clip.fps, clip.loop_mode), (1, 10, Some(12.5), LoopMode::Once));
        assert_eq!(remap.warnings.len(), 3, "{:?}", remap.warnings);
    }

    #[test]
    fn wrong_values_are_refused_with_their_place() {
        let bounds = |min: &str, max: &str, frames: &str| {
            parse(&format!("{{\"os-remap\": {{\"Min\": {min}, \"Max\": {max}, \"Frames\": {frames}}}}}"))
        };
        for (result, place) in [
            (bounds("[0,0,0]", "[1,1,1]", "0"), "/os-remap/Frames"),
            (bounds("[0,0,0]", "[1,1,1]", "2.5"), "/os-remap/Frames"),
            (bounds("[0,0,0]", "[1,1,1]", "1e30"), "/os-remap/Frames"),
            (bounds("[0,0,0]", "[1,1,1]", "null"), "/os-remap/Frames"),
            (bounds("[0,0]", "[1,1,1]", "1"), "/os-remap/Min"),
            (bounds("[0,2,0]", "[1,1,1]", "1"), "/os-remap/Min/1"),
            (bounds("[0,0,0]", "[1,\"nan\",1]", "1"), "/os-remap/Max/1"),
            (parse("{\"Color\": {\"Min\": 0}}"), "/os-remap"),
            (parse("[]"), "/os-remap"),
        ] {
            match result {
                Err(Error::Value { pointer, .. }) => assert_eq!(pointer, place),
                other => panic!("{place}: {other:?}"),
            }
        }
        for broken in ["", "{", "{\"os-remap\": }", "nan"] {
            assert!(matches!(parse(broken), Err(Error::Json { .. })), "{broken}");
        }
    }
}
