//! Motions that are stored point by point: a mesh with a point cache, or a mesh file per frame.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::{Error, Options, digest, resolve};
use crate::bounds::Bounds;
use crate::clip::LoopMode;
use crate::source::timeline::{CYCLE_TOLERANCE, DEFAULT_FPS};
use crate::source::{Motion, PointFrames, Points, Source, SourceClip};

mod cache;
mod mtl;
mod obj;
mod ply;
mod sequence;
mod shape;

use cache::Cache;
use mtl::Looks;
use sequence::Sequence;
use shape::{Corner, Shape};

/// What is wanted of a motion that is stored point by point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointOptions {
    /// A PC2 or MDD file with the motion of the mesh.
    pub cache: Option<PathBuf>,
    /// The mesh file is the first of a numbered sequence.
    pub sequence: bool,
    /// What happens at the end; without it a motion that ends in its first pose is a loop.
    pub loop_mode: Option<LoopMode>,
}

/// Whether `path` is named like an OBJ or PLY file, or means a sequence of them.
pub fn is_points(path: &Path) -> bool {
    has_extension(path, &["obj", "ply"]) || (path.is_dir() && sequence::is_folder_of(path))
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    let extension = path.extension().unwrap_or_default();
    known.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Reads an OBJ, PLY or glTF mesh with a point cache, an OBJ or PLY file of a sequence, a folder or a pattern
/// (`cloth_*.obj`, `cloth_####.ply`) of such, or a single file, which then stands still.
///
/// # Errors
/// [`Error`] names what was found, what was expected and the file.
pub fn points(path: &Path, wanted: &PointOptions, options: &Options) -> Result<Source, Error> {
    let files = sequence::files(path, wanted.sequence)?;
    let first = &files[0];
    let folder = first.parent().unwrap_or(Path::new("."));
    let bytes = resolve::file(folder, first, &options.limits)?;
    let (shape, of_model) = base(&bytes, folder, first, options)?;
    let mut source = Source {
        name: first.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        ..Source::default()
    };
    let mut names: Vec<String> = Vec::new();
    for (name, _) in &shape.runs {
        if let Some(name) = name.as_ref().filter(|name| !names.contains(name)) {
            names.push(name.clone());
        }
    }
    let looks = mtl::read(&names, &shape.libraries, folder, first, options);
    (source.materials, source.images, source.warnings) = (looks.materials, looks.images, looks.warnings);
    if let Some(looks) = of_model {
        (source.materials, source.images) = (looks.materials, looks.images);
        names = (0..source.materials.len()).map(|number| number.to_string()).collect();
    }
    let drawn = shape.drawn(&names);
    let (frames, fps, digest): (Arc<dyn PointFrames>, _, _) = match &wanted.cache {
        Some(path) => {
            let map = resolve::map(path, &options.limits)?;
            let cache = Cache::new(map.clone(), path)?;
            if cache.point_count() != shape.points.len() {
                return Err(Error::Value {
                    pointer: "points".to_owned(),
                    found: format!("{} points in the cache", cache.point_count()),
                    expected: format!("{}, as many as {} has", shape.points.len(), first.display()),
                    path: path.clone(),
                });
            }
            let fps =
                cache.fps.or((cache.frames_per_sample != 1.0).then(|| DEFAULT_FPS / cache.frames_per_sample));
            let digest = digest([&bytes[..], &map[..]].into_iter());
            (Arc::new(cache), fps, digest)
        }
        None => {
            let sequence = Sequence::new(files.clone(), &shape, options)?;
            let digest = sequence.digest().to_owned();
            (Arc::new(sequence), None, digest)
        }
    };
    source.digest = Some(digest);
    source.mesh = drawn.mesh;
    let count = frames.frame_count();
    if fps.is_none() && options.fps.is_none() && count > 1 {
        source.assumptions.push(format!("the files say no frame rate: {DEFAULT_FPS} is used"));
    }
    let is_cycle = count > 2 && same_points(&*frames, 0, count - 1);
    let loop_mode = wanted.loop_mode.unwrap_or(if is_cycle { LoopMode::Loop } else { LoopMode::Once });
    if is_cycle && wanted.loop_mode.is_none() {
        source.assumptions.push("the motion ends in its first pose: it is a loop".to_owned());
    }
    let frame_count = if is_cycle && loop_mode == LoopMode::Loop { count - 1 } else { count };
    let name = wanted.cache.as_deref().and_then(Path::file_stem).map_or_else(
        || source.name.trim_end_matches(|c: char| c.is_ascii_digit() || "_-.".contains(c)).to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    source.clips.push(SourceClip {
        name: if name.is_empty() { source.name.clone() } else { name },
        fps: if count > 1 { options.fps.or(fps).unwrap_or(DEFAULT_FPS) } else { 0.0 },
        loop_mode,
        motion: Motion::Points(Points {
            frames,
            frame_count,
            points: drawn.points.into(),
            surface: Arc::new(drawn.surface),
        }),
    });
    Ok(source)
}

/// Whether two frames show the same.
fn same_points(frames: &dyn PointFrames, a: usize, b: usize) -> bool {
    let (mut first, mut last) = (Vec::new(), Vec::new());
    frames.read(a, &mut first);
    frames.read(b, &mut last);
    let size = f64::from(Bounds::of_points(first.iter().copied()).size().length());
    first.iter().zip(&last).all(|(a, b)| f64::from(a.distance(*b)) <= size * CYCLE_TOLERANCE)
}

/// The mesh that a cache moves, or the first of a sequence.
fn base(
    bytes: &[u8],
    folder: &Path,
    path: &Path,
    options: &Options,
) -> Result<(Shape, Option<Looks>), Error> {
    let (shape, looks) = if has_extension(path, &["glb", "gltf"]) {
        let (shape, looks) = of_gltf(bytes, folder, path, options)?;
        (shape, Some(looks))
    } else {
        (file(bytes, path, options)?, None)
    };
    shape.check(path)?;
    Ok((shape, looks))
}

/// An OBJ or PLY file.
fn file(bytes: &[u8], path: &Path, options: &Options) -> Result<Shape, Error> {
    let shape =
        if bytes.starts_with(b"ply") { ply::read(bytes, path, options)? } else { obj::read(bytes, path)? };
    super::mesh::check_vertices(shape.points.len() as u64, path, options)?;
    Ok(shape)
}

/// A model's vertices are its points.
fn of_gltf(bytes: &[u8], folder: &Path, path: &Path, options: &Options) -> Result<(Shape, Looks), Error> {
    let model = super::gltf::model(bytes, folder, path, options)?;
    let mut shape = Shape { points: model.rig.positions.clone(), ..Shape::default() };
    for surface in &model.surfaces {
        shape.has_uvs |= surface.has_uvs;
        for triangle in model.indices[surface.indices.clone()].as_chunks::<3>().0 {
            let corners = triangle.map(|point| Corner {
                point,
                uv: model.uvs.get(point as usize).copied().unwrap_or(Vec2::ZERO),
                normal: surface.has_normals.then(|| model.rig.normals[point as usize]),
            });
            // By number, because names need not be unique.
            let material = surface.material.map(|material| material.to_string());
            shape.face(&corners, material.as_deref());
        }
    }
    let (materials, images) = (model.materials, model.images);
    Ok((shape, Looks { materials, images, warnings: Vec::new() }))
}

fn positions(bytes: &[u8], path: &Path, options: &Options) -> Result<Vec<Vec3>, Error> {
    Ok(file(bytes, path, options)?.points)
}

/// Looks at every file of a sequence at once.
fn each<T: Send>(
    files: &[PathBuf],
    look: impl Fn(&Path) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    // The first that is wrong, whoever found one first.
    files.par_iter().map(|path| look(path)).collect::<Vec<_>>().into_iter().collect()
}

/// The bytes of a file that may be anywhere: the user named it.
fn read(path: &Path, options: &Options) -> Result<Bytes, Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    Ok(resolve::file(folder, path, &options.limits)?.into())
}
