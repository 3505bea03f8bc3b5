//! Binary glTF: a header of 12 bytes, then chunks of length, kind and bytes.

use std::path::Path;

use bytes::Bytes;

use super::MAX_JSON_BYTES;
use crate::asset::Error;
use crate::asset::ktx2::ALIGNMENT;

/// A file of two chunks, in pieces: what is large is not copied.
pub(super) fn pack(mut json: Vec<u8>, mut binary: Vec<Bytes>) -> Vec<Bytes> {
    // Header and chunk headers are 12 + 8 + 8 bytes: padded so that the binary data begin aligned.
    json.resize((json.len() + 28).next_multiple_of(ALIGNMENT) - 28, b' ');
    let mut binary_length: usize = binary.iter().map(Bytes::len).sum();
    let padding = binary_length.next_multiple_of(4) - binary_length;
    binary.push(Bytes::from(vec![0; padding]));
    binary_length += padding;
    let total = 28 + json.len() + binary_length;
    let mut bytes = Vec::with_capacity(28 + json.len());
    let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    bytes.extend_from_slice(b"glTF");
    bytes.extend_from_slice(&2u32.to_le_bytes());
    bytes.extend_from_slice(&length(total));
    bytes.extend_from_slice(&length(json.len()));
    bytes.extend_from_slice(b"JSON");
    bytes.extend_from_slice(&json);
    bytes.extend_from_slice(&length(binary_length));
    bytes.extend_from_slice(b"BIN\0");
    binary.insert(0, bytes.into());
    binary
}

/// The JSON and binary chunks of a file; the second may be absent, more may follow.
pub(super) fn unpack(bytes: &Bytes, path: &Path) -> Result<(Bytes, Bytes), Error> {
    let length =
        |what, found: u64, expected: u64| Error::Length { what, found, expected, path: path.to_owned() };
    if !bytes.starts_with(b"glTF") {
        return Err(Error::NotGlb {
            found: format!("\"{}\"", bytes[..bytes.len().min(4)].escape_ascii()),
            path: path.to_owned(),
        });
    }
    if bytes.len() < 12 {
        return Err(length("file", bytes.len() as u64, 12));
    }
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    if word(4) != 2 {
        let found = word(4).to_string();
        return Err(Error::Version { what: "binary glTF container", found, known: 2, path: path.to_owned() });
    }
    if u64::from(word(8)) != bytes.len() as u64 {
        return Err(length("file", bytes.len() as u64, u64::from(word(8))));
    }
    let chunk = |at: usize, what, kind: &[u8; 4]| {
        let available = (bytes.len() as u64).saturating_sub(at as u64 + 8);
        if bytes.len() < at + 8 {
            return Err(length(what, 0, 8));
        }
        if u64::from(word(at)) > available {
            return Err(length(what, available, u64::from(word(at))));
        }
        if bytes[at + 4..at + 8] != *kind {
            return Err(Error::Value {
                pointer: format!("byte {}", at + 4),
                found: format!("chunk {:?}", String::from_utf8_lossy(&bytes[at + 4..at + 8])),
                expected: format!("chunk {:?}", String::from_utf8_lossy(kind)),
                path: path.to_owned(),
            });
        }
        Ok(bytes.slice(at + 8..at + 8 + word(at) as usize))
    };
    let json = chunk(12, "JSON chunk", b"JSON")?;
    if json.len() as u64 > MAX_JSON_BYTES {
        return Err(length("JSON chunk", json.len() as u64, MAX_JSON_BYTES));
    }
    let rest = 20 + json.len();
    if rest == bytes.len() {
        return Ok((json, Bytes::new()));
    }
    Ok((json, chunk(rest, "binary chunk", b"BIN\0")?))
}
