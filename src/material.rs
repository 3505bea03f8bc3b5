//! How surfaces look: glTF materials as far as they are drawn.

use bytes::Bytes;
use glam::Vec4;

/// A glTF metallic-roughness material, as far as it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name for people.
    pub name: String,
    /// Linear RGBA.
    pub base_color: Vec4,
    /// Index into the asset's images, sRGB, sampled with the mesh's UVs.
    pub base_color_image: Option<u32>,
    /// 0 ..= 1.
    pub metallic: f32,
    /// 0 ..= 1.
    pub roughness: f32,
    /// Both sides are visible, the back with its normal turned.
    pub double_sided: bool,
}

impl Default for Material {
    /// The glTF default, but rough and not metallic as things without a material mostly are.
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: Vec4::ONE,
            base_color_image: None,
            metallic: 0.0,
            roughness: 0.8,
            double_sided: false,
        }
    }
}

/// An encoded picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// `image/png` or `image/jpeg`.
    pub mime_type: String,
    /// The file's bytes.
    pub data: Bytes,
}
