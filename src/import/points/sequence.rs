//! A mesh file per frame, in the order of the numbers in their names.

use std::path::{Path, PathBuf};

use glam::Vec3;

use super::super::{Error, Options, digest};
use super::shape::Shape;
use super::{each, file, has_extension, positions, read};
use crate::source::PointFrames;

/// Files that were all looked at once, and are read again when they are asked for.
#[derive(Debug)]
pub(super) struct Sequence {
    files: Vec<PathBuf>,
    points: usize,
    options: Options,
    digest: String,
}

impl Sequence {
    /// Refuses files whose triangles are not those of `base`.
    pub(super) fn new(files: Vec<PathBuf>, base: &Shape, options: &Options) -> Result<Self, Error> {
        let digests = each(&files, |path| {
            let bytes = read(path, options)?;
            // A mesh of another kind stands still.
            if files.len() == 1 {
                return Ok(digest([&bytes[..]].into_iter()));
            }
            let shape = file(&bytes, path, options)?;
            shape.check(path)?;
            if !shape.has_topology_of(base) {
                let said = |shape: &Shape| {
                    format!("{} points and {} triangles", shape.points.len(), shape.corners.len() / 3)
                };
                return Err(Error::Value {
                    pointer: "topology".to_owned(),
                    found: said(&shape),
                    expected: format!(
                        "the {} of {}, between the same points",
                        said(base),
                        files[0].display()
                    ),
                    path: path.to_owned(),
                });
            }
            Ok(digest([&bytes[..]].into_iter()))
        })?;
        let digest = digest(digests.iter().map(|digest| digest.as_bytes()));
        let mut sequence = Self { files, points: base.points.len(), options: *options, digest };
        if sequence.files.len() == 1 {
            sequence.digest = digests[0].clone();
        }
        Ok(sequence)
    }

    pub(super) fn digest(&self) -> &str {
        &self.digest
    }
}

impl PointFrames for Sequence {
    fn frame_count(&self) -> usize {
        self.files.len()
    }

    fn point_count(&self) -> usize {
        self.points
    }

    fn read(&self, frame: usize, into: &mut Vec<Vec3>) {
        into.clear();
        let path = &self.files[frame];
        // They were read before; one that changed meanwhile gives no points, which the bake refuses.
        match read(path, &self.options).and_then(|bytes| positions(&bytes, path, &self.options)) {
            Ok(found) => *into = found,
            Err(error) => log::warn!("{error}"),
        }
    }
}

/// Whether a folder holds numbered OBJ or PLY files.
pub(super) fn is_folder_of(folder: &Path) -> bool {
    !inside(folder, |_| true).unwrap_or_default().is_empty()
}

/// The files that `path` means, at least one: itself, those of a folder, those that a pattern with `*`, `?` or
/// `#` (a digit) matches, or with `is_first` itself and those with the same name and other numbers.
pub(super) fn files(path: &Path, is_first: bool) -> Result<Vec<PathBuf>, Error> {
    let none = |message: &str| Error::Mesh { message: message.to_owned(), path: path.to_owned() };
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let found = if path.is_dir() {
        inside(path, |_| true)?
    } else if is_first {
        let (stem, number) = numbered(path);
        if number.is_none() {
            return Err(none("found no number in the name of the first file of a sequence"));
        }
        inside(folder, |other| numbered(other).0 == stem && numbered(other).1 >= number)?
    } else if !path.exists() && name.contains(['*', '?', '#']) {
        inside(folder, |other| {
            let other = other.file_name().unwrap_or_default().to_string_lossy();
            matches(name.as_bytes(), other.as_bytes())
        })?
    } else {
        return Ok(vec![path.to_owned()]);
    };
    if found.is_empty() {
        return Err(none("found no OBJ or PLY files of a sequence"));
    }
    check_numbers(&found)?;
    Ok(found)
}

/// OBJ and PLY files of a folder, in the order of their numbers.
fn inside(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Error> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let refused = |source| Error::Read { source, path: folder.to_owned() };
    let mut found = Vec::new();
    for entry in folder.read_dir().map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        if has_extension(&path, &["obj", "ply"]) && path.is_file() && wanted(&path) {
            found.push(path);
        }
    }
    found.sort_by_cached_key(|path| (numbered(path), path.clone()));
    Ok(found)
}

/// The name without its last number, and that number.
fn numbered(path: &Path) -> (String, Option<u64>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // The number of a version before the extension is not meant: cloth.0012.obj.
    let stem = name.rsplit_once('.').map_or(&name[..], |(stem, _)| stem);
    let end = stem.trim_end_matches(|c: char| !c.is_ascii_digit()).len();
    let start = stem[..end].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    match stem[start..end].parse() {
        Ok(number) => (format!("{}#{}", &name[..start], &name[end..]), Some(number)),
        Err(_) => (name, None),
    }
}

/// Refuses several sequences at once, a number twice, and a number that is missing.
fn check_numbers(files: &[PathBuf]) -> Result<(), Error> {
    if files.len() < 2 {
        return Ok(());
    }
    let folder = files[0].parent().unwrap_or(Path::new(".")).to_owned();
    let names: Vec<_> = files.iter().map(|path| numbered(path)).collect();
    if let Some((other, _)) = names.iter().find(|(stem, _)| *stem != names[0].0) {
        let found = format!("{}, {other}", names[0].0);
        return Err(Error::Ambiguous { what: "sequence of meshes", found, path: folder });
    }
    let numbers: Vec<u64> = names.iter().filter_map(|(_, number)| *number).collect();
    let step = numbers.get(1).zip(numbers.first()).map_or(1, |(b, a)| b - a);
    let gap = numbers.windows(2).find(|pair| pair[1] - pair[0] != step || step == 0);
    match gap {
        None => Ok(()),
        Some(pair) => Err(Error::Value {
            pointer: "frame".to_owned(),
            found: format!("{} after {}", pair[1], pair[0]),
            expected: format!(
                "{}, a step of {step} as between the first two: a frame is missing",
                pair[0] + step
            ),
            path: folder,
        }),
    }
}

/// `*` is any text, `?` any character, `#` any digit.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    // What the pattern so far can have matched: the ends of each such part of the text.
    let mut ends = vec![false; text.len() + 1];
    ends[0] = true;
    for wanted in pattern {
        if *wanted == b'*' {
            let first = ends.iter().position(|end| *end).unwrap_or(ends.len());
            ends[first..].fill(true);
            continue;
        }
        let holds = |found: u8| match wanted {
            b'?' => true,
            b'#' => found.is_ascii_digit(),
            wanted => found == *wanted,
        };
        for end in (0..text.len()).rev() {
            ends[end + 1] = ends[end] && holds(text[end]);
        }
        ends[0] = false;
    }
    ends[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names() {
        let of = |name: &str| numbered(Path::new(name));
        assert_eq!(of("cloth_0012.obj"), ("cloth_#.obj".to_owned(), Some(12)));
        assert_eq!(of("v2_cloth.9.ply"), ("v2_cloth.#.ply".to_owned(), Some(9)));
        assert_eq!(of("f10a.obj"), ("f#a.obj".to_owned(), Some(10)));
        assert_eq!(of("cloth.obj"), ("cloth.obj".to_owned(), None));
    }

    #[test]
    fn patterns() {
        for (pattern, text, holds) in [
            ("a_*.obj", "a_12.obj", true),
            ("a_##.obj", "a_12.obj", true),
            ("a_##.obj", "a_1x.obj", false),
            ("a_?.obj", "a_1.obj", true),
            ("a_*.obj", "b_1.obj", false),
            ("*", "", true),
            ("", "a", false),
            ("a", "", false),
            ("*a*b*", "xxaxbx", true),
            ("*a*b*", "xxbxax", false),
            ("*a*a*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), holds, "{pattern} {text}");
        }
    }
}
