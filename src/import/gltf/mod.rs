//! glTF through the `gltf` crate, which trusts what a file says about itself: every index and range is
//! checked here before it is used, and references go through the one resolver.

use std::path::Path;

use gltf::{Document, json};
use serde_json::Value;

use super::{Error, Options, resolve};

mod accessor;
mod compression;
mod material;
mod rig;
mod static_mesh;

pub(super) use rig::read as model;
pub(super) use static_mesh::read;

/// Extensions that change what geometry or motion means, and are understood.
const UNDERSTOOD: [&str; 2] = ["KHR_mesh_quantization", compression::EXTENSION];
/// Required or not, these change only how surfaces look; what is not drawn is left out.
const LOOKS: [&str; 3] = ["KHR_materials_", "KHR_texture_transform", "KHR_lights_punctual"];

/// An opened file: checked JSON, and the bytes of its buffers.
struct File<'a> {
    document: Document,
    buffers: Vec<Vec<u8>>,
    /// Buffer views that were compressed, by index.
    decoded: Vec<Option<Vec<u8>>>,
    folder: &'a Path,
    path: &'a Path,
    options: &'a Options,
    warnings: Vec<String>,
}

impl<'a> File<'a> {
    fn open(bytes: &[u8], folder: &'a Path, path: &'a Path, options: &'a Options) -> Result<Self, Error> {
        let refused = |message: String| Error::Mesh { message, path: path.to_owned() };
        let (json, blob) = split(bytes).map_err(&refused)?;
        if let Some(other) = other_kind(bytes) {
            return Err(refused(format!("found {other}, expected glTF")));
        }
        let mut value: Value = serde_json::from_slice(json).map_err(|error| refused(error.to_string()))?;
        let mut warnings = Vec::new();
        check_version(&value, path)?;
        check_channels(&mut value, &mut warnings, path)?;
        let mut root: json::Root =
            serde_json::from_value(value).map_err(|error| refused(error.to_string()))?;
        check_extensions(&mut root, path)?;
        // The crate's own validation looks positions up before it checks that they are there.
        let primitives = root.meshes.iter().flat_map(|mesh| mesh.primitives.iter().map(move |p| (mesh, p)));
        for (mesh, primitive) in primitives {
            let accessors = root.accessors.len();
            if let Some(index) = primitive.attributes.values().find(|index| index.value() >= accessors) {
                let name = mesh.name.as_deref().unwrap_or("");
                let index = index.value();
                return Err(refused(format!("mesh {name:?} uses accessor {index}, there are {accessors}")));
            }
        }
        let document = Document::from_json(root).map_err(|error| refused(error.to_string()))?;
        let buffers = buffers(&document, blob, folder, path, options)?;
        let mut file = Self { document, buffers, decoded: Vec::new(), folder, path, options, warnings };
        file.decoded = compression::decode_views(&file)?;
        Ok(file)
    }

    fn value(&self, pointer: &str, found: impl std::fmt::Debug, expected: impl Into<String>) -> Error {
        let (found, expected) = (format!("{found:?}"), expected.into());
        Error::Value { pointer: pointer.to_owned(), found, expected, path: self.path.to_owned() }
    }

    fn generator(&self) -> String {
        self.document.as_json().asset.generator.clone().unwrap_or_default()
    }
}

/// What a file is that is called glTF and is something else.
fn other_kind(bytes: &[u8]) -> Option<&'static str> {
    let start = bytes.trim_ascii_start();
    match start {
        [] => Some("an empty file"),
        [b'v', ..] if start.starts_with(b"version https://git-lfs") => {
            Some("a git LFS pointer in place of the file (`git lfs pull` fetches it)")
        }
        [b'P', b'K', 3 | 5, ..] => Some("a zip archive"),
        [b'<', ..] => Some("a page of HTML or XML"),
        _ => None,
    }
}

/// Other major versions mean other things.
fn check_version(value: &Value, path: &Path) -> Result<(), Error> {
    let asset = &value["asset"];
    for (key, accepts) in [("version", "2."), ("minVersion", "2.0")] {
        let found = &asset[key];
        let fits = match found.as_str() {
            Some(text) => text.starts_with(accepts),
            None => found.is_null() && key == "minVersion",
        };
        if !fits {
            return Err(Error::Value {
                pointer: format!("/asset/{key}"),
                found: found.to_string(),
                expected: "glTF 2".to_owned(),
                path: path.to_owned(),
            });
        }
    }
    Ok(())
}

/// Channels may point somewhere else than at nodes, by extensions; the crate wants a node, and does not
/// look whether it is there.
fn check_channels(value: &mut Value, warnings: &mut Vec<String>, path: &Path) -> Result<(), Error> {
    let count = |value: &Value| value.as_array().map_or(0, |items| items.len() as u64);
    let nodes = count(&value["nodes"]);
    let Some(animations) = value.get_mut("animations").and_then(Value::as_array_mut) else {
        return Ok(());
    };
    for (index, animation) in animations.iter_mut().enumerate() {
        let samplers = count(&animation["samplers"]);
        let Some(channels) = animation.get_mut("channels").and_then(Value::as_array_mut) else {
            continue;
        };
        let before = channels.len();
        channels.retain(|channel| channel["target"]["node"].is_u64());
        let dropped = before - channels.len();
        if dropped > 0 {
            warnings.push(format!("animation {index}: {dropped} channels that move no node are left out"));
        }
        for (number, channel) in channels.iter().enumerate() {
            let found = [
                ("target/node", &channel["target"]["node"], nodes),
                ("sampler", &channel["sampler"], samplers),
            ];
            for (field, found, available) in found {
                if found.as_u64().is_none_or(|found| found >= available) {
                    return Err(Error::Value {
                        pointer: format!("/animations/{index}/channels/{number}/{field}"),
                        found: found.to_string(),
                        expected: format!("below {available}"),
                        path: path.to_owned(),
                    });
                }
            }
        }
    }
    Ok(())
}

fn check_extensions(root: &mut json::Root, path: &Path) -> Result<(), Error> {
    let mut refused = None;
    root.extensions_required.retain(|name| {
        let fine = UNDERSTOOD.contains(&name.as_str()) || LOOKS.iter().any(|known| name.starts_with(known));
        if !fine {
            refused.get_or_insert_with(|| name.clone());
        }
        false
    });
    match refused {
        None => Ok(()),
        Some(extension) => Err(Error::Extension { extension, path: path.to_owned() }),
    }
}

/// JSON and binary chunk of a GLB file; all of a glTF file is JSON.
fn split(bytes: &[u8]) -> Result<(&[u8], Option<Vec<u8>>), String> {
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes, None));
    }
    let word = |at: usize| {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        word.map(u32::from_le_bytes).ok_or_else(|| format!("the file ends at byte {}", bytes.len()))
    };
    if word(4)? != 2 {
        return Err(format!("binary glTF of version {}, expected 2", word(4)?));
    }
    if word(8)? as usize != bytes.len() {
        return Err(format!("the file has {} bytes, its header says {}", bytes.len(), word(8)?));
    }
    let chunk = |at: usize, kind: &[u8; 4]| {
        let length = word(at)? as usize;
        let found = bytes.get(at + 4..at + 8).unwrap_or_default();
        if found != kind {
            let (found, kind) = (found.escape_ascii(), kind.escape_ascii());
            return Err(format!("a chunk of kind \"{found}\" at byte {at}, expected \"{kind}\""));
        }
        let end = at.saturating_add(8).saturating_add(length);
        bytes.get(at + 8..end).ok_or_else(|| format!("a chunk of {length} bytes at byte {at} is cut"))
    };
    let json = chunk(12, b"JSON")?;
    let rest = 20 + json.len();
    let binary = if rest < bytes.len() { Some(chunk(rest, b"BIN\0")?.to_vec()) } else { None };
    Ok((json, binary))
}

fn buffers(
    document: &Document,
    blob: Option<Vec<u8>>,
    folder: &Path,
    path: &Path,
    options: &Options,
) -> Result<Vec<Vec<u8>>, Error> {
    let mut blob = blob;
    let mut buffers = Vec::new();
    let mut total = 0;
    for buffer in document.buffers() {
        if compression::is_fallback(document, buffer.index()) {
            buffers.push(Vec::new());
            continue;
        }
        let bytes = match buffer.source() {
            gltf::buffer::Source::Bin => blob.take().ok_or_else(|| Error::Value {
                pointer: format!("/buffers/{}", buffer.index()),
                found: "no binary chunk".to_owned(),
                expected: "one".to_owned(),
                path: path.to_owned(),
            })?,
            gltf::buffer::Source::Uri(uri) => resolve::uri(folder, path, uri, &options.limits)?,
        };
        if bytes.len() < buffer.length() {
            return Err(Error::Value {
                pointer: format!("/buffers/{}/byteLength", buffer.index()),
                found: buffer.length().to_string(),
                expected: format!("at most the {} bytes that are there", bytes.len()),
                path: path.to_owned(),
            });
        }
        total += bytes.len() as u64;
        check_total("bytes of all buffers", total, path, options)?;
        buffers.push(bytes);
    }
    Ok(buffers)
}

/// One file may be named many times: the limit of one file holds for all that is read from it.
fn check_total(what: &'static str, found: u64, path: &Path, options: &Options) -> Result<(), Error> {
    let limit = options.limits.file_bytes;
    if found > limit {
        return Err(Error::TooLarge { what, found, limit, path: path.to_owned() });
    }
    Ok(())
}

/// Counts are below the limits, which are below 2³².
fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
