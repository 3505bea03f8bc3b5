//! How surfaces look: glTF materials as far as they are drawn.

use bytes::Bytes;
use glam::{Vec3, Vec4};

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
    /// Index into the asset's images: roughness in green, metalness in blue, factors of the above.
    pub metallic_roughness_image: Option<u32>,
    /// Index into the asset's images: normals in tangent space, which need the mesh's tangents.
    pub normal_image: Option<u32>,
    /// How much the normal image's X and Y count; 1 is as it is.
    pub normal_scale: f32,
    /// Light that the surface gives off, linear RGB, not negative.
    pub emissive: Vec3,
    /// Index into the asset's images, sRGB, a factor of `emissive`.
    pub emissive_image: Option<u32>,
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
            metallic_roughness_image: None,
            normal_image: None,
            normal_scale: 1.0,
            emissive: Vec3::ZERO,
            emissive_image: None,
            double_sided: false,
        }
    }
}

impl Material {
    /// Every image that the material refers to, with the name of its use.
    pub fn images(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let uses = [
            ("base color", self.base_color_image),
            ("metallic roughness", self.metallic_roughness_image),
            ("normal", self.normal_image),
            ("emissive", self.emissive_image),
        ];
        uses.into_iter().filter_map(|(name, image)| image.map(|image| (name, image)))
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

impl Image {
    /// A PNG or JPEG file by its first bytes; `None` where it is neither.
    pub fn new(data: Bytes) -> Option<Self> {
        let mime_type = if data.starts_with(b"\x89PNG") {
            "image/png"
        } else if data.starts_with(b"\xff\xd8\xff") {
            "image/jpeg"
        } else {
            return None;
        };
        Some(Self { mime_type: mime_type.to_owned(), data })
    }
}
