//! Materials of OBJ files: colours, and pictures that lie in the folder.

use std::path::Path;

use glam::{Vec3, Vec4};

use super::super::{Options, picture, resolve};
use crate::material::{Image, Material};

/// What surfaces look like.
#[derive(Default)]
pub(super) struct Looks {
    pub(super) materials: Vec<Material>,
    pub(super) images: Vec<Image>,
    pub(super) warnings: Vec<String>,
}

/// The materials of these names; those that no library describes are plain.
pub(super) fn read(
    names: &[String],
    libraries: &[String],
    folder: &Path,
    path: &Path,
    options: &Options,
) -> Looks {
    let plain = |name: &String| Material { name: name.clone(), ..Material::default() };
    let mut looks = Looks { materials: names.iter().map(plain).collect(), ..Looks::default() };
    for library in libraries {
        match resolve::file(folder, &folder.join(library.replace('\\', "/")), &options.limits) {
            Ok(bytes) => looks.library(&String::from_utf8_lossy(&bytes), folder, path, options),
            Err(error) => looks.warnings.push(format!("materials are plain: {error}")),
        }
    }
    looks
}

impl Looks {
    fn library(&mut self, text: &str, folder: &Path, path: &Path, options: &Options) {
        let mut current = None;
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let rest = rest.trim();
            if keyword == "newmtl" {
                current = self.materials.iter().position(|material| material.name == rest);
                continue;
            }
            let Some(at) = current else { continue };
            let numbers: Vec<f32> =
                rest.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
            match (keyword, &numbers[..]) {
                // Colours of MTL files are those of pictures.
                ("Kd", [r, g, b, ..]) => {
                    self.materials[at].base_color = Vec3::new(*r, *g, *b).map(linear).extend(1.0);
                }
                ("Ke", [r, g, b, ..]) => self.materials[at].emissive = Vec3::new(*r, *g, *b).map(linear),
                ("Pr", [roughness, ..]) => self.materials[at].roughness = roughness.clamp(0.0, 1.0),
                ("Pm", [metallic, ..]) => self.materials[at].metallic = metallic.clamp(0.0, 1.0),
                ("map_Kd", _) => {
                    let image = self.image(rest, folder, path, options);
                    let material = &mut self.materials[at];
                    material.base_color_image = image;
                    // A picture is multiplied, and exporters write any colour beside it.
                    if image.is_some() {
                        material.base_color = Vec4::ONE;
                    }
                }
                ("map_Ke", _) => self.materials[at].emissive_image = self.image(rest, folder, path, options),
                _ => {}
            }
        }
    }

    /// A picture; options before its name are left out.
    fn image(&mut self, text: &str, folder: &Path, path: &Path, options: &Options) -> Option<u32> {
        let name = if text.starts_with('-') { text.rsplit(' ').next().unwrap_or_default() } else { text };
        match picture::open(name, folder, path, options) {
            Ok(image) => picture::place(image, &mut self.images),
            Err(error) => {
                self.warnings.push(format!("a picture is left out: {error}"));
                None
            }
        }
    }
}

/// IEC 61966-2-1; what is no number is black.
fn linear(s: f32) -> f32 {
    let s = if s.is_finite() { s.clamp(0.0, 1.0) } else { 0.0 };
    if s <= 0.04045 { s / 12.92 } else { libm::powf((s + 0.055) / 1.055, 2.4) }
}
