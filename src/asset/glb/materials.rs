use glam::{Vec3, Vec4};

use super::document::{self, NormalTexture, Pbr, TextureInfo};
use super::read::Reader;
use crate::asset::Error;
use crate::material::Material;

/// A material as the file has it.
pub(super) fn encode(material: &Material) -> document::Material {
    // Textures stand in the order of images, one for each.
    let texture = |image: Option<u32>| image.map(|index| TextureInfo { index, tex_coord: None });
    document::Material {
        name: material.name.clone(),
        pbr_metallic_roughness: Pbr {
            base_color_factor: material.base_color.to_array(),
            base_color_texture: texture(material.base_color_image),
            metallic_factor: material.metallic,
            roughness_factor: material.roughness,
            metallic_roughness_texture: texture(material.metallic_roughness_image),
        },
        normal_texture: material.normal_image.map(|index| NormalTexture {
            index,
            tex_coord: None,
            scale: (material.normal_scale != 1.0).then_some(material.normal_scale),
        }),
        emissive_texture: texture(material.emissive_image),
        emissive_factor: (material.emissive != Vec3::ZERO).then(|| material.emissive.to_array()),
        double_sided: material.double_sided,
    }
}

impl Reader<'_> {
    pub(super) fn materials(&self) -> Result<Vec<Material>, Error> {
        let materials = self.document.materials.iter().enumerate();
        materials.map(|(index, material)| self.material(index, material)).collect()
    }

    fn material(&self, index: usize, material: &document::Material) -> Result<Material, Error> {
        let pbr = &material.pbr_metallic_roughness;
        let image = |name: &str, info: Option<(u32, Option<u32>)>| -> Result<Option<u32>, Error> {
            let Some((texture, set)) = info else { return Ok(None) };
            let textures = &self.document.textures;
            let at = format!("/materials/{index}/{name}");
            let expected = format!("below {}, the number of textures", textures.len());
            let found = textures.get(texture as usize);
            let found = found.ok_or_else(|| self.refusal(&format!("{at}/index"), &texture, &expected))?;
            let set = set.unwrap_or(0);
            self.check(&format!("{at}/texCoord"), set == 0, &set, "0")?;
            Ok(Some(found.source))
        };
        let plain = |info: &Option<TextureInfo>| info.as_ref().map(|info| (info.index, info.tex_coord));
        let normal = material.normal_texture.as_ref();
        Ok(Material {
            name: material.name.clone(),
            base_color: Vec4::from_array(pbr.base_color_factor),
            base_color_image: image("pbrMetallicRoughness/baseColorTexture", plain(&pbr.base_color_texture))?,
            metallic: pbr.metallic_factor,
            roughness: pbr.roughness_factor,
            metallic_roughness_image: image(
                "pbrMetallicRoughness/metallicRoughnessTexture",
                plain(&pbr.metallic_roughness_texture),
            )?,
            normal_image: image("normalTexture", normal.map(|info| (info.index, info.tex_coord)))?,
            normal_scale: normal.and_then(|info| info.scale).unwrap_or(1.0),
            emissive: Vec3::from_array(material.emissive_factor.unwrap_or_default()),
            emissive_image: image("emissiveTexture", plain(&material.emissive_texture))?,
            double_sided: material.double_sided,
        })
    }
}
