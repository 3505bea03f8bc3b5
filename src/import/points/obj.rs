//! Wavefront OBJ: points in the file's order, which caches count by. Materials only by name.

use std::path::Path;

use glam::{Vec2, Vec3};

use super::super::Error;
use super::shape::{Corner, Shape};

/// Reads positions, texture coordinates, normals and faces; colours behind a position, groups, curves and
/// everything else are left out.
pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Shape, Error> {
    let mut reader = Reader { path, line: 0, uvs: Vec::new(), normals: Vec::new(), shape: Shape::default() };
    let mut material: Option<String> = None;
    let mut joined = String::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        reader.line += 1;
        let line = String::from_utf8_lossy(line);
        // A backslash at the end goes on with the next line.
        if let Some(part) = line.trim_end().strip_suffix('\\') {
            joined.push_str(part);
            joined.push(' ');
            continue;
        }
        joined.push_str(&line);
        let whole = std::mem::take(&mut joined);
        let text = whole.split('#').next().unwrap_or_default().trim();
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match keyword {
            "v" => {
                let [x, y, z] = reader.numbers(rest)?;
                reader.shape.points.push(Vec3::new(x, y, z));
            }
            "vt" => {
                // One number is a texture of one dimension.
                let [u, v] = match rest.split_ascii_whitespace().count() {
                    1 => [reader.numbers::<1>(rest)?[0], 0.0],
                    _ => reader.numbers(rest)?,
                };
                reader.uvs.push(Vec2::new(u, 1.0 - v));
            }
            "vn" => {
                let normal = reader.numbers(rest)?;
                reader.normals.push(Vec3::from_array(normal));
            }
            "f" => reader.face(rest, material.as_deref())?,
            "usemtl" => material = Some(rest.trim().to_owned()),
            "mtllib" => reader.shape.libraries.push(rest.trim().to_owned()),
            _ => {}
        }
    }
    Ok(reader.shape)
}

struct Reader<'a> {
    path: &'a Path,
    line: usize,
    uvs: Vec<Vec2>,
    normals: Vec<Vec3>,
    shape: Shape,
}

impl Reader<'_> {
    fn wrong(&self, found: &str, expected: impl Into<String>) -> Error {
        Error::Value {
            pointer: format!("line {}", self.line),
            found: format!("{:?}", found.chars().take(60).collect::<String>()),
            expected: expected.into(),
            path: self.path.to_owned(),
        }
    }

    /// The first numbers of a line; there may be more.
    fn numbers<const COUNT: usize>(&self, text: &str) -> Result<[f32; COUNT], Error> {
        let mut words = text.split_ascii_whitespace();
        let mut numbers = [0.0; COUNT];
        for number in &mut numbers {
            let word = words.next().ok_or_else(|| self.wrong(text, format!("{COUNT} numbers")))?;
            *number = word.parse().map_err(|_| self.wrong(word, "a number"))?;
        }
        Ok(numbers)
    }

    fn face(&mut self, text: &str, material: Option<&str>) -> Result<(), Error> {
        let corners: Vec<Corner> =
            text.split_ascii_whitespace().map(|word| self.corner(word)).collect::<Result<_, Error>>()?;
        if corners.len() < 3 {
            return Err(self.wrong(text, "a face of at least three corners"));
        }
        self.shape.has_uvs |= !self.uvs.is_empty();
        self.shape.face(&corners, material);
        Ok(())
    }

    /// `point`, `point/uv`, `point//normal` or `point/uv/normal`; from 1, or back from the last.
    fn corner(&self, word: &str) -> Result<Corner, Error> {
        let mut parts = word.split('/');
        let mut index = |count: usize, what: &str| -> Result<Option<usize>, Error> {
            let Some(part) = parts.next().filter(|part| !part.is_empty()) else { return Ok(None) };
            let expected = || format!("the number of one of {count} {what}, from 1 or back from -1");
            let number: i64 = part.parse().map_err(|_| self.wrong(word, expected()))?;
            let place = if number < 0 { number + count as i64 } else { number - 1 };
            let place = usize::try_from(place).ok().filter(|place| *place < count);
            place.map(Some).ok_or_else(|| self.wrong(word, expected()))
        };
        let point = index(self.shape.points.len(), "points")?;
        let uv = index(self.uvs.len(), "texture coordinates")?;
        let normal = index(self.normals.len(), "normals")?;
        let point = point.ok_or_else(|| self.wrong(word, "a point"))?;
        Ok(Corner {
            point: u32::try_from(point).map_err(|_| self.wrong(word, "fewer than 2^32 points"))?,
            uv: uv.map_or(Vec2::ZERO, |uv| self.uvs[uv]),
            normal: normal.map(|normal| self.normals[normal]),
        })
    }
}
