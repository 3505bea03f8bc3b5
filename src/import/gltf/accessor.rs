use gltf::Accessor;
use gltf::accessor::sparse::IndexType;
use gltf::accessor::{DataType, Dimensions};

use super::File;
use crate::import::Error;

/// What an accessor's numbers may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Floats, or normalised integers.
    Fractions,
    /// As `Fractions`, and integers that stand for themselves (`KHR_mesh_quantization`).
    Quantized,
}

impl File<'_> {
    /// The bytes of a view, checked against its buffer.
    pub(super) fn view_bytes(&self, view: &gltf::buffer::View<'_>) -> Result<&[u8], Error> {
        if let Some(Some(bytes)) = self.decoded.get(view.index()) {
            return Ok(bytes);
        }
        let bytes = self.buffers.get(view.buffer().index()).map_or(&[][..], |buffer| &buffer[..]);
        let end = view.offset().checked_add(view.length()).filter(|end| *end <= bytes.len());
        let Some(end) = end else {
            let pointer = format!("/bufferViews/{}", view.index());
            let found = (view.offset(), view.length());
            return Err(self.value(&pointer, found, format!("a range within {} bytes", bytes.len())));
        };
        Ok(&bytes[view.offset()..end])
    }

    /// `count` elements of `size` bytes from `offset` of a view, one after another.
    fn packed(
        &self,
        view: &gltf::buffer::View<'_>,
        offset: usize,
        size: usize,
        count: usize,
        pointer: &str,
    ) -> Result<Vec<u8>, Error> {
        let stride = view.stride().unwrap_or(size);
        let at = format!("/bufferViews/{}", view.index());
        if stride < size || stride > 252 {
            return Err(self.value(&format!("{at}/byteStride"), stride, format!("{size} to 252")));
        }
        let bytes = self.view_bytes(view)?;
        let needed = match count {
            0 => Some(0),
            _ => (count - 1).checked_mul(stride).and_then(|start| start.checked_add(size)),
        };
        let end = needed.and_then(|needed| offset.checked_add(needed));
        if end.is_none_or(|end| end > bytes.len()) {
            let expected = format!("what {} bytes hold", bytes.len());
            return Err(self.value(&format!("{pointer}/count"), (offset, count), expected));
        }
        let elements = (0..count).map(|index| offset + index * stride);
        Ok(elements.flat_map(|start| &bytes[start..start + size]).copied().collect())
    }

    /// The elements of an accessor, one after another, with what is sparse put in.
    fn elements(&self, accessor: &Accessor<'_>) -> Result<Vec<u8>, Error> {
        let pointer = format!("/accessors/{}", accessor.index());
        let (size, count) = (accessor.size(), accessor.count());
        // Zeros have no bytes in the file that would bound them.
        let total = (count as u64).saturating_mul(size as u64);
        let limit = self.options.limits.file_bytes;
        if total > limit {
            let path = self.path.to_owned();
            return Err(Error::TooLarge { what: "bytes of an accessor", found: total, limit, path });
        }
        let mut bytes = match accessor.view() {
            Some(view) => self.packed(&view, accessor.offset(), size, count, &pointer)?,
            None if accessor.sparse().is_some() => vec![0; count * size],
            None => return Err(self.value(&format!("{pointer}/bufferView"), "none", "a buffer view")),
        };
        let Some(sparse) = accessor.sparse() else {
            return Ok(bytes);
        };
        let pointer = format!("{pointer}/sparse");
        let given = sparse.count();
        if given > count {
            return Err(self.value(&format!("{pointer}/count"), given, format!("at most {count}")));
        }
        let indices = sparse.indices();
        let width = match indices.index_type() {
            IndexType::U8 => 1,
            IndexType::U16 => 2,
            IndexType::U32 => 4,
        };
        let places = self.packed(&indices.view(), indices.offset(), width, given, &pointer)?;
        let values = sparse.values();
        let values = self.packed(&values.view(), values.offset(), size, given, &pointer)?;
        for (place, value) in places.chunks_exact(width).zip(values.chunks_exact(size)) {
            let index = place.iter().rev().fold(0, |index, byte| index << 8 | usize::from(*byte));
            if index >= count {
                return Err(self.value(&format!("{pointer}/indices"), index, format!("below {count}")));
            }
            bytes[index * size..][..size].copy_from_slice(value);
        }
        Ok(bytes)
    }

    fn check_dimensions(&self, accessor: &Accessor<'_>, expected: Dimensions) -> Result<(), Error> {
        let found = accessor.dimensions();
        if found == expected {
            return Ok(());
        }
        Err(self.value(&format!("/accessors/{}/type", accessor.index()), found, format!("{expected:?}")))
    }

    /// Finite numbers of an accessor.
    pub(super) fn floats(
        &self,
        accessor: &Accessor<'_>,
        dimensions: Dimensions,
        numbers: Numbers,
    ) -> Result<Vec<f32>, Error> {
        self.check_dimensions(accessor, dimensions)?;
        let pointer = format!("/accessors/{}", accessor.index());
        let kind = accessor.data_type();
        let normalized = accessor.normalized();
        let whole = kind != DataType::F32 && !normalized;
        if kind == DataType::U32 || (whole && numbers == Numbers::Fractions) {
            let expected = "floats, or normalised bytes or shorts";
            return Err(self.value(&format!("{pointer}/componentType"), kind, expected));
        }
        let elements = self.elements(accessor)?;
        // glTF 2.0, section 3.6.2.2: -128 and -127 both stand for -1.
        let signed = |value: f32, most: f32| if normalized { (value / most).max(-1.0) } else { value };
        let unsigned = |value: f32, most: f32| if normalized { value / most } else { value };
        let shorts = || elements.as_chunks::<2>().0.iter();
        let floats: Vec<f32> = match kind {
            DataType::I8 => {
                elements.iter().map(|byte| signed(f32::from(byte.cast_signed()), 127.0)).collect()
            }
            DataType::U8 => elements.iter().map(|byte| unsigned(f32::from(*byte), 255.0)).collect(),
            DataType::I16 => shorts().map(|b| signed(f32::from(i16::from_le_bytes(*b)), 32767.0)).collect(),
            DataType::U16 => shorts().map(|b| unsigned(f32::from(u16::from_le_bytes(*b)), 65535.0)).collect(),
            DataType::F32 | DataType::U32 => {
                elements.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
            }
        };
        match floats.iter().position(|float| !float.is_finite()) {
            None => Ok(floats),
            Some(at) => {
                let element = at / dimensions.multiplicity();
                Err(self.value(&format!("{pointer}, element {element}"), floats[at], "finite numbers"))
            }
        }
    }

    /// Numbers that may be broken: weights are mended, not refused.
    pub(super) fn raw_weights(&self, accessor: &Accessor<'_>) -> Result<Vec<f32>, Error> {
        if accessor.data_type() == DataType::F32 {
            self.check_dimensions(accessor, Dimensions::Vec4)?;
            let elements = self.elements(accessor)?;
            return Ok(elements.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect());
        }
        self.floats(accessor, Dimensions::Vec4, Numbers::Fractions)
    }

    /// Whole numbers of an accessor.
    pub(super) fn integers(
        &self,
        accessor: &Accessor<'_>,
        dimensions: Dimensions,
    ) -> Result<Vec<u32>, Error> {
        self.check_dimensions(accessor, dimensions)?;
        let pointer = format!("/accessors/{}", accessor.index());
        let kind = accessor.data_type();
        let width = match kind {
            DataType::U8 => 1,
            DataType::U16 => 2,
            DataType::U32 => 4,
            other => return Err(self.value(&format!("{pointer}/componentType"), other, "unsigned integers")),
        };
        let elements = self.elements(accessor)?;
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
        Ok(elements.chunks_exact(width).map(number).collect())
    }

    /// Indices of triangles' corners, each below `count`.
    pub(super) fn indices(&self, accessor: &Accessor<'_>, count: usize) -> Result<Vec<u32>, Error> {
        let indices = self.integers(accessor, Dimensions::Scalar)?;
        match indices.iter().find(|index| **index as usize >= count) {
            None => Ok(indices),
            Some(index) => {
                let pointer = format!("/accessors/{}", accessor.index());
                Err(self.value(&pointer, index, format!("indices below {count}")))
            }
        }
    }
}
