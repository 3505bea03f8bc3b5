//! Compressed buffer views: `EXT_meshopt_compression`.

use gltf::Document;
use serde::Deserialize;

use super::{File, check_total};
use crate::import::Error;

pub(super) const EXTENSION: &str = "EXT_meshopt_compression";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compressed {
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    byte_length: usize,
    byte_stride: usize,
    count: usize,
    mode: String,
    #[serde(default)]
    filter: Option<String>,
}

/// Whether a buffer only stands in for what is compressed, and has no bytes of its own.
pub(super) fn is_fallback(document: &Document, buffer: usize) -> bool {
    let buffer = &document.as_json().buffers[buffer];
    buffer.uri.is_none()
        && buffer
            .extensions
            .as_ref()
            .and_then(|extensions| extensions.others.get(EXTENSION))
            .is_some_and(|extension| extension["fallback"] == true)
}

/// The bytes of every compressed view.
pub(super) fn decode_views(file: &File<'_>) -> Result<Vec<Option<Vec<u8>>>, Error> {
    let mut decoded = Vec::new();
    let mut total = 0;
    for (index, view) in file.document.as_json().buffer_views.iter().enumerate() {
        let extension = view.extensions.as_ref().and_then(|extensions| extensions.others.get(EXTENSION));
        let Some(extension) = extension else {
            decoded.push(None);
            continue;
        };
        let pointer = format!("/bufferViews/{index}/extensions/{EXTENSION}");
        let compressed: Compressed = serde_json::from_value(extension.clone())
            .map_err(|error| file.value(&pointer, error.to_string(), "the extension's fields"))?;
        total += (compressed.count as u64).saturating_mul(compressed.byte_stride as u64);
        check_total("bytes of decompressed views", total, file.path, file.options)?;
        decoded.push(Some(decode(file, &compressed, &pointer)?));
    }
    Ok(decoded)
}

fn decode(file: &File<'_>, compressed: &Compressed, pointer: &str) -> Result<Vec<u8>, Error> {
    let Compressed { buffer, byte_offset, byte_length, byte_stride, count, mode, filter } = compressed;
    let bytes = file.buffers.get(*buffer).map_or(&[][..], |buffer| &buffer[..]);
    let end = byte_offset.checked_add(*byte_length).filter(|end| *end <= bytes.len());
    let Some(end) = end else {
        let found = (byte_offset, byte_length);
        return Err(file.value(pointer, found, format!("a range within {} bytes", bytes.len())));
    };
    let bytes = &bytes[*byte_offset..end];
    let corrupt = |error: ::meshopt::Error| file.value(pointer, error.to_string(), "data that decode");
    let decoded = match (mode.as_str(), *byte_stride) {
        ("ATTRIBUTES", stride) if stride % 4 == 0 && (4..=256).contains(&stride) => {
            let filter = filter.as_deref().unwrap_or("NONE");
            return attributes(bytes, *count, stride, filter).map_err(corrupt)?.ok_or_else(|| {
                file.value(&format!("{pointer}/filter"), filter, "a filter that this stride allows")
            });
        }
        ("TRIANGLES", 2 | 4) if count.is_multiple_of(3) => {
            ::meshopt::decode_index_buffer(bytes, *count).map_err(corrupt)?
        }
        ("INDICES", 2 | 4) => ::meshopt::decode_index_sequence(bytes, *count).map_err(corrupt)?,
        (mode, stride) => {
            let expected = "ATTRIBUTES of 4 to 256 bytes, TRIANGLES or INDICES of 2 or 4";
            return Err(file.value(pointer, (mode, stride, count), expected));
        }
    };
    let bytes = |index: &u32| index.to_le_bytes().into_iter().take(*byte_stride);
    Ok(decoded.iter().flat_map(bytes).collect())
}

/// An element of a given number of words: what the decoder writes.
#[derive(Clone, Copy)]
struct Words<const N: usize>([u32; N]);

impl<const N: usize> Default for Words<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

/// Elements of `stride` bytes, with the filter undone; `None` where the filter wants another stride.
fn attributes(
    bytes: &[u8],
    count: usize,
    stride: usize,
    filter: &str,
) -> Result<Option<Vec<u8>>, ::meshopt::Error> {
    macro_rules! by_words {
        ($($words:literal)*) => {
            match stride / 4 {
                $($words => ::meshopt::decode_vertex_buffer::<Words<$words>>(bytes, count)?
                    .iter()
                    .flat_map(|element| element.0)
                    .collect(),)*
                _ => Vec::new(),
            }
        };
    }
    let mut words: Vec<u32> = by_words!(
        1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
    );
    match (filter, stride) {
        ("NONE", _) => {}
        ("OCTAHEDRAL", 4) => ::meshopt::decode_filter_oct(bytemuck::cast_slice_mut::<_, [i8; 4]>(&mut words)),
        ("OCTAHEDRAL", 8) => {
            ::meshopt::decode_filter_oct(bytemuck::cast_slice_mut::<_, [i16; 4]>(&mut words));
        }
        ("QUATERNION", 8) => ::meshopt::decode_filter_quat(bytemuck::cast_slice_mut(&mut words)),
        ("EXPONENTIAL", _) => {
            ::meshopt::decode_filter_exp(bytemuck::cast_slice_mut::<_, [u32; 1]>(&mut words));
        }
        _ => return Ok(None),
    }
    Ok(Some(bytemuck::cast_slice(&words).to_vec()))
}
