//! `<name>.vat.glb`: a binary glTF file with the extension `THRONG_vertex_animation`.
//!
//! Other readers show the rest mesh with its materials; `docs/format.md` describes every field.

use std::fs::File;
use std::path::Path;

use bytes::Bytes;

use super::{Asset, Compression, Error};
use crate::output;

mod container;
mod document;
mod materials;
mod read;
mod rig;
mod write;

pub use read::decode;
pub use rig::KeptRig;
pub use write::encode;

/// Version of the extension that is written and read.
pub const FORMAT_VERSION: u32 = document::VERSION;

/// Largest file: lengths in a binary glTF file have 32 bits.
pub const MAX_FILE_BYTES: u64 = u32::MAX as u64;

/// Largest JSON chunk: a file with 100,000 clips stays below it, and reading it takes bounded memory.
pub const MAX_JSON_BYTES: u64 = 32 << 20;

/// Whether `bytes`, the beginning of a file or all of it, are of this format: a binary glTF whose JSON
/// names the extension. The first 256 bytes are enough for a file written here.
pub fn sniff(bytes: &[u8]) -> bool {
    let Some((header, rest)) = bytes.split_first_chunk::<20>() else {
        return false;
    };
    let length = u32::from_le_bytes([header[12], header[13], header[14], header[15]]);
    let json = &rest[..rest.len().min(length as usize)];
    let extension = document::EXTENSION.as_bytes();
    header.starts_with(b"glTF") && json.windows(extension.len()).any(|window| window == extension)
}

/// Reads an asset. The file is mapped, and uncompressed texels stay in the map until they are uploaded.
///
/// The file must not be changed in place while the asset is in use; replacing it (as [`write()`] does)
/// is safe.
///
/// # Errors
/// [`Error`] names what was found, what was expected, where, and the file.
pub fn read(path: &Path) -> Result<Asset, Error> {
    let refused = |source| Error::Read { source, path: path.to_owned() };
    // Before it is opened: opening a pipe would wait for a writer.
    if !std::fs::metadata(path).map_err(refused)?.is_file() {
        return Err(refused(std::io::Error::other("not a regular file")));
    }
    let file = File::open(path).map_err(refused)?;
    let metadata = file.metadata().map_err(refused)?;
    if metadata.len() == 0 {
        return Err(Error::NotGlb { found: "an empty file".to_owned(), path: path.to_owned() });
    }
    if metadata.len() > MAX_FILE_BYTES {
        let (found, expected) = (metadata.len(), MAX_FILE_BYTES);
        return Err(Error::Length { what: "file", found, expected, path: path.to_owned() });
    }
    #[expect(unsafe_code, reason = "mapping a file is unsafe because another process could change it")]
    // SAFETY: the map is only read, as bytes and never as a type with invalid values, so a change by
    // another process can spoil a picture but break no rule of the language. Truncation in place is
    // excluded by the contract above.
    let map = unsafe { memmap2::Mmap::map(&file) }.map_err(refused)?;
    decode(&Bytes::from_owner(map), path)
}

/// Writes an asset to `path`, whole or not at all.
///
/// # Errors
/// [`Error::Output`]; [`Error::Length`] when it does not fit the format's 4 GiB, or its JSON
/// [`MAX_JSON_BYTES`].
pub fn write(asset: &Asset, path: &Path, compression: Compression, overwrite: bool) -> Result<(), Error> {
    write_with_rig(asset, None, path, compression, overwrite)
}

/// Writes an asset, and the rig that it was baked from as ordinary glTF: other readers play its clips.
///
/// # Errors
/// As [`write()`].
pub fn write_with_rig(
    asset: &Asset,
    rig: Option<&KeptRig<'_>>,
    path: &Path,
    compression: Compression,
    overwrite: bool,
) -> Result<(), Error> {
    output::check(path, overwrite)?;
    let pieces = write::pieces(asset, compression, rig);
    let head = &pieces[0];
    let json = u32::from_le_bytes([head[12], head[13], head[14], head[15]]);
    let total: u64 = pieces.iter().map(|piece| piece.len() as u64).sum();
    let lengths = [("file", total, MAX_FILE_BYTES), ("JSON chunk", u64::from(json), MAX_JSON_BYTES)];
    for (what, found, expected) in lengths {
        if found > expected {
            return Err(Error::Length { what, found, expected, path: path.to_owned() });
        }
    }
    Ok(output::write_pieces(path, overwrite, &pieces)?)
}
