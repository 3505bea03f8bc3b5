//! Materials and their pictures: embedded, or files in the folder.

use std::path::Path;

use glam::Vec3;

use super::model::color;
use crate::import::{Error, Options, picture};
use crate::material::{Image, Material};

/// What surfaces look like.
#[derive(Default)]
pub(super) struct Looks {
    pub(super) materials: Vec<Material>,
    pub(super) images: Vec<Image>,
    pub(super) warnings: Vec<String>,
}

/// Materials in the order of the scene; what cannot be opened is left out with a warning.
pub(super) fn read(scene: &ufbx::Scene, folder: &Path, path: &Path, options: &Options) -> Looks {
    let mut looks = Looks::default();
    for material in &scene.materials {
        let (fbx, pbr) = (&material.fbx, &material.pbr);
        let name = material.element.name.to_string();
        let mut made = Material { name: name.clone(), ..Material::default() };
        if pbr.base_color.has_value {
            let mut base = color(&pbr.base_color.value_vec4);
            if pbr.base_factor.has_value {
                let factor = color(&pbr.base_factor.value_vec4).x;
                base = (base.truncate() * factor).extend(base.w);
            }
            made.base_color = base.max(glam::Vec4::ZERO).with_w(1.0);
        }
        if pbr.metalness.has_value {
            made.metallic = color(&pbr.metalness.value_vec4).x.clamp(0.0, 1.0);
        }
        if pbr.roughness.has_value {
            made.roughness = color(&pbr.roughness.value_vec4).x.clamp(0.0, 1.0);
        }
        if pbr.emission_color.has_value {
            let factor =
                if pbr.emission_factor.has_value { color(&pbr.emission_factor.value_vec4).x } else { 1.0 };
            let emissive = color(&pbr.emission_color.value_vec4).truncate() * factor;
            made.emissive = if emissive.is_finite() { emissive.max(Vec3::ZERO) } else { Vec3::ZERO };
        }
        made.double_sided = material.features.double_sided.enabled;
        let mut image = |map: &ufbx::MaterialMap| {
            let texture = map.texture.as_ref().filter(|_| map.texture_enabled)?;
            match read_texture(texture, folder, path, options) {
                Ok(image) => picture::place(image, &mut looks.images),
                Err(error) => {
                    looks.warnings.push(format!("material {name:?} loses a picture: {error}"));
                    None
                }
            }
        };
        made.base_color_image = image(&pbr.base_color);
        made.normal_image = image(&pbr.normal_map).or_else(|| image(&fbx.normal_map));
        made.emissive_image = image(&pbr.emission_color);
        if !made.base_color.is_finite() {
            made.base_color = glam::Vec4::ONE;
        }
        looks.materials.push(made);
    }
    looks
}

fn read_texture(
    texture: &ufbx::Texture,
    folder: &Path,
    path: &Path,
    options: &Options,
) -> Result<Image, Error> {
    if !texture.content.is_empty() {
        return picture::of_bytes(texture.content.to_vec(), path);
    }
    let named = [&texture.relative_filename, &texture.filename];
    let name = named.iter().map(|name| name.to_string()).find(|name| !name.is_empty());
    picture::open(&name.unwrap_or_default(), folder, path, options)
}
