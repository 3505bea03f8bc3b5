//! How large a bake is on disk, and what it loses: `cargo bench --bench sizes -- MODEL…`.
//!
//! For each model and way to store it: bytes of both textures under zstandard for each column and frame, and
//! the worst and mean distance of a vertex in per cent of the model's size.

#![allow(clippy::print_stdout, reason = "a bench prints")]

use std::path::Path;

use serde_json::Value;
use throng::asset::{Compression, glb};
use throng::bake::{self, Settings};
use throng::import;
use throng::source::timeline::Wanted;
use throng::vat::{Encoding, Normals, PositionSpace};

type Error = Box<dyn std::error::Error + Send + Sync>;

const WAYS: [(&str, Encoding, Normals, PositionSpace); 5] = [
    ("unorm16, texture16", Encoding::Unorm16, Normals::Texture16, PositionSpace::Absolute),
    ("packed16", Encoding::Unorm16, Normals::Alpha, PositionSpace::Absolute),
    ("unorm16, texture8", Encoding::Unorm16, Normals::Texture8, PositionSpace::Absolute),
    ("the same, from rest", Encoding::Unorm16, Normals::Texture8, PositionSpace::Offset),
    ("bc6h, texture8", Encoding::Bc6h, Normals::Texture8, PositionSpace::Absolute),
];

/// Bytes of the textures in a file.
fn texture_bytes(file: &[u8]) -> Result<u64, Error> {
    let length = u32::from_le_bytes(file[12..16].try_into()?) as usize;
    let json: Value = serde_json::from_slice(&file[20..20 + length])?;
    let animation = &json["extensions"]["THRONG_vertex_animation"];
    let views = ["positions", "normalTexels"].iter().filter_map(|key| animation[*key]["bufferView"].as_u64());
    let index = |view: u64| usize::try_from(view).unwrap_or(usize::MAX);
    Ok(views.filter_map(|view| json["bufferViews"][index(view)]["byteLength"].as_u64()).sum())
}

fn main() -> Result<(), Error> {
    let models = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    for path in models {
        let model = import::model(Path::new(&path), &import::Options::default())?;
        let source = model.source(None, &Wanted::default())?;
        println!("{path}");
        for (name, encoding, normals, space) in WAYS {
            let settings = Settings { encoding, normals, space, ..Settings::default() };
            let baked = bake::bake(&source, &settings)?;
            let report = &baked.report;
            let bytes = texture_bytes(&glb::encode(&baked.asset, Compression::Zstd))?;
            let work = f64::from(report.element_count) * report.frame_count as f64;
            let size = f64::from(baked.asset.bounds().size().length());
            println!(
                "    {name:20} {:5.2} bytes, worst {:.4} %, mean {:.4} %",
                bytes as f64 / work,
                report.position_error_metres.error / size * 100.0,
                report.position_error_mean_metres / size * 100.0
            );
        }
    }
    Ok(())
}
