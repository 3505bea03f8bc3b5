use std::fmt::Write as _;

use serde::Serialize;
use throng::asset::Asset;
use throng::bounds::Bounds;
use throng::vat::TexelFormat;

use super::{SCHEMA_VERSION, print, print_json};
use crate::cli::Inspect;
use crate::failure::Failure;
use crate::open;

#[derive(Serialize)]
struct Printed<'a> {
    schema_version: u32,
    name: &'a str,
    mode: &'static str,
    encoding: &'static str,
    space: &'static str,
    normals: &'static str,
    element_count: u32,
    vertex_count: usize,
    triangle_count: usize,
    frame_count: u32,
    lods: Vec<Lod>,
    clips: Vec<Clip<'a>>,
    bounds: Bounds,
    texture: Texture,
    #[serde(skip_serializing_if = "Option::is_none")]
    normal_texture: Option<Texture>,
    materials: Vec<Material<'a>>,
    producer: &'a str,
    assumptions: &'a [String],
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Clip<'a> {
    name: &'a str,
    first_frame: u32,
    frame_count: u32,
    fps: f64,
    #[serde(rename = "loop")]
    loop_mode: &'static str,
    bounds: Bounds,
}

#[derive(Serialize)]
struct Lod {
    triangle_count: usize,
    deviation_metres: f32,
}

#[derive(Serialize)]
struct Texture {
    width: u32,
    height: u32,
    rows_per_frame: u32,
    format: &'static str,
    bytes: usize,
}

#[derive(Serialize)]
struct Material<'a> {
    name: &'a str,
    base_color_image: bool,
    double_sided: bool,
}

fn texture(asset: &Asset, texels: &throng::vat::Texels) -> Texture {
    Texture {
        width: texels.size().x,
        height: texels.size().y,
        rows_per_frame: asset.animation.grid.rows_per_frame,
        format: match texels.format() {
            TexelFormat::Bc6h => "bc6h",
            TexelFormat::Rg8 => "rg8uint",
            TexelFormat::Rg16 => "rg16uint",
            TexelFormat::Rgba8 => "rgba8uint",
            TexelFormat::Rgba16 => "rgba16uint",
            TexelFormat::Rgba32 => "rgba32uint",
        },
        bytes: texels.data().len(),
    }
}

pub(crate) fn run(arguments: &Inspect) -> Result<(), Failure> {
    let asset = open::asset(&arguments.path, &arguments.reading.how())?;
    let animation = &asset.animation;
    let clips = asset.clips.iter().zip(&asset.clip_bounds);
    let printed = Printed {
        schema_version: SCHEMA_VERSION,
        name: &asset.name,
        mode: animation.mode.name(),
        encoding: animation.encoding.name(),
        space: animation.space.name(),
        normals: animation.normals.name(),
        element_count: animation.element_count,
        vertex_count: asset.mesh.vertex_count(),
        triangle_count: asset.mesh.triangle_count(),
        frame_count: animation.grid.frame_count,
        lods: asset
            .mesh
            .lods
            .iter()
            .map(|lod| Lod { triangle_count: lod.indices.len() / 3, deviation_metres: lod.deviation_metres })
            .collect(),
        clips: clips
            .map(|(clip, bounds)| Clip {
                name: &clip.name,
                first_frame: clip.first_frame,
                frame_count: clip.frame_count,
                fps: clip.fps,
                loop_mode: clip.loop_mode.name(),
                bounds: *bounds,
            })
            .collect(),
        bounds: asset.bounds(),
        texture: texture(&asset, &animation.positions),
        normal_texture: animation.normal_texels.as_ref().map(|texels| texture(&asset, texels)),
        materials: asset
            .materials
            .iter()
            .map(|material| Material {
                name: &material.name,
                base_color_image: material.base_color_image.is_some(),
                double_sided: material.double_sided,
            })
            .collect(),
        producer: &asset.producer,
        assumptions: &asset.assumptions,
        warnings: &asset.warnings,
    };
    if arguments.json {
        return print_json(&printed);
    }
    print(text(&printed).as_bytes())
}

/// Writing to a `String` cannot fail.
fn text(asset: &Printed<'_>) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: String| {
        writeln!(text, "{label:<14} {value}").unwrap_or_default();
    };
    line("name", asset.name.to_owned());
    line("producer", asset.producer.to_owned());
    line("mode", asset.mode.to_owned());
    line("mesh", format!("{} vertices, {} triangles", asset.vertex_count, asset.triangle_count));
    for Lod { triangle_count, deviation_metres } in &asset.lods {
        let millimetres = deviation_metres * 1e3;
        line("level", format!("{triangle_count} triangles, {millimetres:.4} mm off at worst"));
    }
    line("animation", format!("{} elements × {} frames", asset.element_count, asset.frame_count));
    line("positions", format!("{}, {}", asset.encoding, asset.space));
    line("normals", asset.normals.to_owned());
    let Texture { width, height, rows_per_frame, format, bytes } = &asset.texture;
    line("texture", format!("{width} × {height} {format}, {rows_per_frame} rows a frame, {bytes} bytes"));
    if let Some(Texture { width, height, format, bytes, .. }) = &asset.normal_texture {
        line("normal texture", format!("{width} × {height} {format}, {bytes} bytes"));
    }
    let (min, max) = (asset.bounds.min, asset.bounds.max);
    line(
        "bounds",
        format!("{:.3} {:.3} {:.3} to {:.3} {:.3} {:.3} m", min.x, min.y, min.z, max.x, max.y, max.z),
    );
    for clip in &asset.clips {
        let Clip { name, first_frame, frame_count, fps, loop_mode, .. } = clip;
        line(
            "clip",
            format!(
                "{name:?}, frames {first_frame} to {}, {fps} fps, {loop_mode}",
                first_frame + frame_count - 1
            ),
        );
    }
    for material in &asset.materials {
        let image = if material.base_color_image { "base-colour image" } else { "plain" };
        line("material", format!("{:?}, {image}", material.name));
    }
    for assumption in asset.assumptions {
        line("assumed", assumption.clone());
    }
    for warning in asset.warnings {
        line("warning", warning.clone());
    }
    text
}
