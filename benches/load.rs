//! How fast an asset is ready for upload: our mapped file against the same texels as a 16-bit PNG.
//!
//! `cargo bench --bench load`. Both end with all bytes of positions and normals copied to where an upload
//! would take them from. The files are in the system's cache.

#![allow(clippy::print_stdout, reason = "a bench prints")]

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufReader, BufWriter};
use std::path::Path;
use std::time::Instant;

use throng::asset::{Compression, glb};
use throng::bake::{self, Settings};
use throng::source::builtin;
use throng::vat::Texels;

type Error = Box<dyn std::error::Error>;

const ROUNDS: usize = 15;
const TARGET: f64 = 20.0;

/// Positions as RGBA, normals as grey and alpha: the two layouts of 16 bits that PNG has for them.
fn write_png(path: &Path, texels: &Texels, color: png::ColorType) -> Result<(), Error> {
    let size = texels.size();
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), size.x, size.y);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Sixteen);
    // PNG has the high byte first.
    let swapped: Vec<u8> =
        texels.data().as_chunks::<2>().0.iter().flat_map(|[low, high]| [*high, *low]).collect();
    encoder.write_header()?.write_image_data(&swapped)?;
    Ok(())
}

fn read_png(path: &Path) -> Result<Vec<u8>, Error> {
    let mut reader = png::Decoder::new(BufReader::new(File::open(path)?)).read_info()?;
    let mut bytes = vec![0; reader.output_buffer_size().ok_or("too large")?];
    reader.next_frame(&mut bytes)?;
    bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|pair| pair.reverse());
    Ok(bytes)
}

fn read_asset(path: &Path) -> Result<Vec<u8>, Error> {
    let asset = glb::read(path)?;
    let mut bytes = asset.animation.positions.data().to_vec();
    bytes.extend_from_slice(asset.animation.normal_texels.as_ref().ok_or("no normals")?.data());
    Ok(bytes)
}

fn median(mut task: impl FnMut() -> Result<Vec<u8>, Error>) -> Result<f64, Error> {
    let mut times = Vec::new();
    for round in 0..=ROUNDS {
        let begun = Instant::now();
        black_box(task()?);
        if round > 0 {
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn main() -> Result<(), Error> {
    let folder = tempfile::tempdir()?;
    let asset = bake::bake(&builtin::make("flag", None)?, &Settings::default())?.asset;
    let path = |name: &str| folder.path().join(name);
    let normals = asset.animation.normal_texels.as_ref().ok_or("no normals")?;
    write_png(&path("positions.png"), &asset.animation.positions, png::ColorType::Rgba)?;
    write_png(&path("normals.png"), normals, png::ColorType::GrayscaleAlpha)?;
    glb::write(&asset, &path("mapped.vat.glb"), Compression::None, true)?;
    glb::write(&asset, &path("zstd.vat.glb"), Compression::Zstd, true)?;
    let both = || {
        let mut bytes = read_png(&path("positions.png"))?;
        bytes.extend(read_png(&path("normals.png"))?);
        Ok(bytes)
    };
    if both()? != read_asset(&path("mapped.vat.glb"))? {
        return Err("the files do not hold the same texels".into());
    }
    let png = median(both)?;
    let size = |names: &[&str]| -> Result<u64, Error> {
        names.iter().map(|name| Ok(fs::metadata(path(name))?.len())).sum()
    };
    println!("16-bit PNG       {png:8.3} ms, {} bytes", size(&["positions.png", "normals.png"])?);
    let mut ratio = 0.0;
    for name in ["zstd.vat.glb", "mapped.vat.glb"] {
        let ours = median(|| read_asset(&path(name)))?;
        ratio = png / ours;
        println!("{name:16} {ours:8.3} ms, {} bytes, {ratio:.1} times faster", size(&[name])?);
    }
    println!("target for the mapped file: {TARGET} times");
    if std::env::args().any(|argument| argument == "--check") && ratio < TARGET {
        return Err("the mapped file is not read fast enough".into());
    }
    Ok(())
}
