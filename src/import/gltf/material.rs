use glam::{Vec3, Vec4};

use super::{File, check_total, to_u32};
use crate::import::{Error, resolve};
use crate::material::{Image, Material};

/// Materials and the images that they use.
#[derive(Default)]
pub(super) struct Looks {
    pub(super) materials: Vec<Material>,
    pub(super) images: Vec<Image>,
    pub(super) warnings: Vec<String>,
    /// By index of the file: its place among `images`, once it was opened.
    places: Vec<Option<Option<u32>>>,
}

impl File<'_> {
    /// All materials. Images that nothing shows are not opened.
    pub(super) fn looks(&self) -> Result<Looks, Error> {
        let mut looks = Looks { places: vec![None; self.document.images().count()], ..Looks::default() };
        for material in self.document.materials() {
            let pbr = material.pbr_metallic_roughness();
            let base = pbr.base_color_texture().map(|info| info.texture().source().index());
            let rough = pbr.metallic_roughness_texture().map(|info| info.texture().source().index());
            let normal = material.normal_texture();
            let bumps = normal.as_ref().map(|info| info.texture().source().index());
            let glow = material.emissive_texture().map(|info| info.texture().source().index());
            let unit = |factor: f32| if factor.is_finite() { factor.clamp(0.0, 1.0) } else { 1.0 };
            let emissive = Vec3::from_array(material.emissive_factor());
            let material = Material {
                name: material.name().unwrap_or_default().to_owned(),
                base_color: Vec4::from_array(pbr.base_color_factor()),
                base_color_image: self.shown(base, &mut looks)?,
                metallic: unit(pbr.metallic_factor()),
                roughness: unit(pbr.roughness_factor()),
                metallic_roughness_image: self.shown(rough, &mut looks)?,
                normal_image: self.shown(bumps, &mut looks)?,
                normal_scale: normal.map_or(1.0, |info| info.scale()),
                emissive: if emissive.is_finite() { emissive.max(Vec3::ZERO) } else { Vec3::ZERO },
                emissive_image: self.shown(glow, &mut looks)?,
                double_sided: material.double_sided(),
            };
            looks.materials.push(material);
        }
        Ok(looks)
    }

    fn shown(&self, image: Option<usize>, looks: &mut Looks) -> Result<Option<u32>, Error> {
        let Some(image) = image else { return Ok(None) };
        if let Some(place) = looks.places[image] {
            return Ok(place);
        }
        let place = self.image(image, looks)?;
        looks.places[image] = Some(place);
        Ok(place)
    }

    fn image(&self, index: usize, looks: &mut Looks) -> Result<Option<u32>, Error> {
        // The crate's own accessor panics on an image without its type or its source.
        let image = &self.document.as_json().images[index];
        let view = image.buffer_view.and_then(|view| self.document.views().nth(view.value()));
        let data = match (&image.uri, view) {
            (Some(uri), None) => {
                match resolve::uri(self.folder, self.path, uri, &self.options.limits) {
                    // Models are often passed on without their pictures.
                    Err(Error::Read { source, path }) if source.kind() == std::io::ErrorKind::NotFound => {
                        looks.warnings.push(format!("image {index} is not there: {}", path.display()));
                        return Ok(None);
                    }
                    read => read?,
                }
            }
            (None, Some(view)) => self.view_bytes(&view)?.to_vec(),
            (uri, view) => {
                let found = (uri.is_some(), view.is_some());
                return Err(self.value(&format!("/images/{index}"), found, "either a uri or a bufferView"));
            }
        };
        let total = looks.images.iter().map(|image| image.data.len() as u64).sum::<u64>() + data.len() as u64;
        check_total("bytes of all images", total, self.path, self.options)?;
        let mime_type = match &data[..] {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            _ => {
                looks.warnings.push(format!("image {index} is neither PNG nor JPEG and is left out"));
                return Ok(None);
            }
        };
        looks.images.push(Image { mime_type: mime_type.to_owned(), data: data.into() });
        Ok(Some(to_u32(looks.images.len() - 1)))
    }
}
