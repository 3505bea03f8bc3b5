use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use throng::asset::Compression;
use throng::asset::glb::{self, KeptRig};
use throng::bake::{self, Baked, Limit, Report, Settings, Tried};
use throng::bounds::Bounds;
use throng::import::{self, PointOptions};
use throng::source::timeline::{Root, Wanted};
use throng::source::{Model, Rigged, Source, builtin};
use throng::vat::Normals;

use super::{SCHEMA_VERSION, Talk, check_asset_output, print, print_json};
use crate::cli::{Bake, Length, Rate, RootName};
use crate::failure::Failure;
use crate::open::{self, How, Input};
use crate::progress::Progress;

#[derive(Serialize)]
struct Printed<'a> {
    schema_version: u32,
    output: String,
    #[serde(flatten)]
    done: &'a Done,
}

#[derive(Serialize)]
struct PrintedBatch {
    schema_version: u32,
    baked: usize,
    unchanged: usize,
    failed: usize,
    results: Vec<PrintedResult>,
}

#[derive(Serialize)]
struct PrintedResult {
    source: String,
    output: String,
    /// `baked`, `unchanged` or `failed`.
    outcome: &'static str,
    error: Option<String>,
    report: Option<Done>,
}

/// One bake of the command line.
struct Job<'a> {
    source: &'a str,
    output: PathBuf,
}

/// A bake and what was tried before it.
#[derive(Serialize)]
struct Done {
    #[serde(flatten)]
    report: Report,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tried: Vec<Tried>,
    /// From the first byte that was read to the last that was written.
    seconds: f64,
    vertex_frames_per_second: f64,
}

enum Outcome {
    Baked(Box<Done>),
    Unchanged,
}

pub(crate) fn run(arguments: &Bake, talk: Talk) -> Result<(), Failure> {
    match (&arguments.output, &arguments.out_dir) {
        (Some(output), _) => {
            let [source] = &arguments.sources[..] else {
                let text =
                    format!("--output is one file for {} models: use --out-dir", arguments.sources.len());
                return Err(Failure::Usage(text));
            };
            let job = Job { source, output: output.clone() };
            let outcome = bake(&job, arguments, talk)?;
            single(&job, &outcome, arguments, talk)
        }
        (None, folder) => batch(folder.as_deref().unwrap_or(Path::new(".")), arguments, talk),
    }
}

fn single(job: &Job<'_>, outcome: &Outcome, arguments: &Bake, talk: Talk) -> Result<(), Failure> {
    let output = job.output.display().to_string();
    let Outcome::Baked(done) = outcome else {
        talk.say(&format!("unchanged {output}"));
        return Ok(());
    };
    talk.say(&format!("wrote {output}"));
    if arguments.json {
        return print_json(&Printed { schema_version: SCHEMA_VERSION, output, done });
    }
    let (seconds, millions) = (done.seconds, done.vertex_frames_per_second / 1e6);
    let time = format!("time            {seconds:.2} s, {millions:.1} million vertex-frames a second");
    print(format!("{}{}\n{time}\n", listed(&done.tried), done.report).as_bytes())
}

/// Bakes every model into `folder`. One that fails does not stop the others.
fn batch(folder: &Path, arguments: &Bake, talk: Talk) -> Result<(), Failure> {
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for source in &arguments.sources {
        let stem = source.strip_prefix("builtin:").unwrap_or(source);
        let name = Path::new(stem).file_name().unwrap_or_default().to_string_lossy();
        let stem = name.strip_suffix(".vat.glb").unwrap_or(&name);
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        let output = folder.join(format!("{stem}.vat.glb"));
        if let Some(other) = jobs.iter().find(|job| job.output == output) {
            let text = format!("{} and {source} would both be {}", other.source, output.display());
            return Err(Failure::Usage(text));
        }
        jobs.push(Job { source, output });
    }
    let results = at_once(&jobs, arguments, talk);
    let mut printed = PrintedBatch {
        schema_version: SCHEMA_VERSION,
        baked: 0,
        unchanged: 0,
        failed: 0,
        results: Vec::new(),
    };
    let mut worst = None;
    for (job, result) in jobs.iter().zip(results) {
        let (outcome, error, report) = match result {
            Ok(Outcome::Baked(report)) => ("baked", None, Some(*report)),
            Ok(Outcome::Unchanged) => ("unchanged", None, None),
            Err(failure) => {
                let text = failure.to_string();
                worst.get_or_insert(failure);
                ("failed", Some(text), None)
            }
        };
        match outcome {
            "baked" => printed.baked += 1,
            "unchanged" => printed.unchanged += 1,
            _ => printed.failed += 1,
        }
        let (source, output) = (job.source.to_owned(), job.output.display().to_string());
        printed.results.push(PrintedResult { source, output, outcome, error, report });
    }
    if arguments.json {
        print_json(&printed)?;
    } else {
        print(summary(&printed).as_bytes())?;
    }
    match worst {
        None => Ok(()),
        Some(first) => Err(Failure::Batch { failed: printed.failed, of: jobs.len(), first: Box::new(first) }),
    }
}

/// `--jobs` of them at a time; results in the order of the jobs.
fn at_once(jobs: &[Job<'_>], arguments: &Bake, talk: Talk) -> Vec<Result<Outcome, Failure>> {
    let progress = Mutex::new(Progress::new("bake", jobs.len() as u64, talk.quiet));
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<Outcome, Failure>>>> =
        jobs.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some((job, result)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            jobs.get(index).zip(results.get(index))
        } {
            let done = bake(job, arguments, talk);
            if let (Ok(mut result), Ok(mut progress)) = (result.lock(), progress.lock()) {
                *result = Some(done);
                progress.step();
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..arguments.jobs {
            scope.spawn(work);
        }
        work();
    });
    let lost = || Err(Failure::Usage("the bake was interrupted".to_owned()));
    results.into_iter().map(|result| result.into_inner().ok().flatten().unwrap_or_else(lost)).collect()
}

fn summary(printed: &PrintedBatch) -> String {
    let mut text = String::new();
    for result in &printed.results {
        let PrintedResult { source, output, outcome, error, report } = result;
        let detail = match (error, report) {
            (Some(error), _) => error.clone(),
            (None, Some(Done { report, .. })) => {
                let millimetres = report.position_error_metres.error * 1e3;
                format!("{output}, {} bytes of texels, worst {millimetres:.4} mm", report.texel_bytes)
            }
            (None, None) => output.clone(),
        };
        text.push_str(&format!("{outcome:9} {source}: {detail}\n"));
    }
    let PrintedBatch { baked, unchanged, failed, .. } = printed;
    text.push_str(&format!("{baked} baked, {unchanged} unchanged, {failed} failed\n"));
    text
}

fn bake(job: &Job<'_>, arguments: &Bake, talk: Talk) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    check_asset_output(&job.output, arguments.force || arguments.changed)?;
    let input = input(job.source, arguments)?;
    let (source, digest) = match &input {
        Input::Model(model) => {
            (cut(model, arguments.timing.fps.and_then(Rate::fixed), arguments)?, Some(&model.digest))
        }
        Input::Source(source) => ((**source).clone(), source.digest.as_ref()),
        Input::Asset(_) => return Err(baked_already(job.source)),
    };
    if let Input::Source(_) = input {
        let timing = &arguments.timing;
        let needs_keys = [
            (timing.fps == Some(Rate::Auto), "--fps auto"),
            (timing.trim, "--trim"),
            (timing.root != RootName::Keep, "--root"),
            (!timing.clip.is_empty(), "--clip"),
        ];
        if let Some((_, flag)) = needs_keys.iter().find(|(given, _)| *given) {
            let text = format!("{flag} needs a model with clips and keys; {:?} has frames only", job.source);
            return Err(Failure::Usage(text));
        }
    }
    let key = digest.map(|digest| key(digest, arguments));
    let is_current = |asset: throng::asset::Asset| key.is_some() && asset.source_key == key;
    if arguments.changed && job.output.exists() && glb::read(&job.output).is_ok_and(is_current) {
        return Ok(Outcome::Unchanged);
    }
    let settings = Settings {
        encoding: arguments.encoding.encoding(),
        normals: arguments.normals.unwrap_or(arguments.encoding.normals()),
        space: arguments.space,
        max_texture_size: arguments.max_texture_size,
        lods: arguments.lods,
    };
    let (baked, source, tried) = match arguments.max_error {
        None => (bake::bake(&source, &settings)?, source, Vec::new()),
        Some(length) => within(&input, source, &settings, length, arguments)?,
    };
    let mut parts = baked.asset.clone().into_parts();
    parts.source_key = key;
    let asset = throng::asset::Asset::new(parts).map_err(bake::Error::from)?;
    talk.remarks(&asset);
    let overwrite = arguments.force || arguments.changed;
    let compression: Compression = arguments.compression.into();
    let is_skinned = |rig: &&Rigged| rig.rig.parts.iter().any(|part| part.skin.is_some());
    let rigged = source.rig.as_ref().filter(|rig| arguments.keep_rig.unwrap_or(is_skinned(rig)));
    let kept = rigged.map(|rigged| KeptRig {
        rig: &rigged.rig,
        mesh: &source.mesh,
        flat_from: rigged.flat_from,
        vertices: &baked.vertices,
    });
    glb::write_with_rig(&asset, kept.as_ref(), &job.output, compression, overwrite)?;
    let seconds = begun.elapsed().as_secs_f64();
    let work = baked.report.vertex_count as f64 * baked.report.frame_count as f64;
    let vertex_frames_per_second = work / seconds.max(1e-9);
    Ok(Outcome::Baked(Box::new(Done { report: baked.report, tried, seconds, vertex_frames_per_second })))
}

fn input(path: &str, arguments: &Bake) -> Result<Input, Failure> {
    if arguments.timing.fps == Some(Rate::Auto) && arguments.max_error.is_none() {
        return Err(Failure::Usage("--fps auto needs --max-error: the error that it may make".to_owned()));
    }
    let fps = arguments.timing.fps.and_then(Rate::fixed);
    let options = import::Options { fps, ..import::Options::default() };
    let points = PointOptions { loop_mode: arguments.timing.loop_mode, ..arguments.points.options() };
    open::input(Path::new(path), &How { options, points })
}

impl From<RootName> for Root {
    fn from(name: RootName) -> Self {
        match name {
            RootName::Keep => Self::Keep,
            RootName::Strip => Self::Strip,
            RootName::Extract => Self::Extract,
        }
    }
}

fn baked_already(path: &str) -> Failure {
    let known = builtin::ALL.iter().map(|(name, doc)| format!("builtin:{name} ({doc})"));
    Failure::Usage(format!(
        "{path:?} is baked already. What can be baked are animated models (.glb, .gltf, .fbx), meshes with a point cache, sequences of meshes (.obj, .ply) and {}; an export of another tool is read by `throng import`",
        known.collect::<Vec<_>>().join(", ")
    ))
}

/// The clips that were asked for, in frames.
fn cut(model: &Model, fps: Option<f64>, arguments: &Bake) -> Result<Source, Failure> {
    let timing = &arguments.timing;
    let wanted = Wanted {
        fps,
        loop_mode: timing.loop_mode,
        trim: timing.trim,
        root: timing.root.into(),
        tangents: arguments.normals == Some(Normals::Rotation),
    };
    let mut picked = Vec::new();
    if !timing.clip.is_empty() {
        let cut = open::clips_of_model(model, &wanted)?;
        let clips: Vec<_> = cut.into_iter().map(|(clip, _)| clip).collect();
        for name in &timing.clip {
            let found = open::clips(&clips, name)?;
            picked.extend(found.into_iter().filter(|_| !model.rig.clips.is_empty()));
        }
        picked.sort_unstable();
        picked.dedup();
    }
    let picked = (!picked.is_empty()).then_some(&picked[..]);
    Ok(model.source(picked, &wanted).map_err(bake::Error::from)?)
}

/// The smallest bake that is no further off than `length`.
fn within(
    input: &Input,
    source: Source,
    settings: &Settings,
    length: Length,
    arguments: &Bake,
) -> Result<(Baked, Source, Vec<Tried>), Failure> {
    let metres = match length {
        Length::Metres(metres) => metres,
        Length::OfSize(part) => {
            let size = Bounds::of_points(source.mesh.positions.iter().copied()).size().length();
            part * f64::from(size)
        }
    };
    let limit = Limit { metres, frame_blend: arguments.blend };
    let (chosen, source) = match input {
        Input::Model(model) if arguments.timing.fps == Some(Rate::Auto) => {
            let (chosen, cut) = bake::choose_rate(|fps| cut(model, Some(fps), arguments), settings, limit)?;
            (chosen, cut.unwrap_or(source))
        }
        _ => (bake::choose_encoding(&source, settings, limit)?, source),
    };
    match chosen.baked {
        Some(baked) => Ok((baked, source, chosen.tried)),
        None => Err(Failure::Missed(missed(input, settings, limit, &chosen.tried, arguments)?)),
    }
}

/// Why no bake is within the limit, and what would be.
fn missed(
    input: &Input,
    settings: &Settings,
    limit: Limit,
    tried: &[Tried],
    arguments: &Bake,
) -> Result<String, Failure> {
    let best = tried.iter().map(|one| one.position_error_metres).fold(f64::INFINITY, f64::min);
    let (asked, best_said) = (limit.metres * 1e3, best * 1e3);
    let mut ways = vec![format!("--max-error {:.3}mm", best_said * 1.001 + 0.0005)];
    if let (Input::Model(model), Some(Rate::Fixed(_)) | None) = (input, arguments.timing.fps) {
        let cut_at = |fps| cut(model, Some(fps), arguments);
        if let Some(fps) = bake::choose_rate(cut_at, settings, limit)?.1.map(|source| source.clips[0].fps) {
            ways.insert(0, format!("--fps {fps:.0}"));
        }
    }
    Ok(format!(
        "{}no encoding is within {asked:.4} mm with {} blending: the best is {best_said:.4} mm off. What would be: {}",
        listed(tried),
        limit.frame_blend,
        ways.join(", or ")
    ))
}

/// What was tried, a line each.
fn listed(tried: &[Tried]) -> String {
    let line = |one: &Tried| {
        let Tried { encoding, fps, position_error_metres, normal_error_degrees, texel_bytes, meets, .. } =
            one;
        let (error, verdict) = (position_error_metres * 1e3, if *meets { "fits" } else { "too far off" });
        let normals =
            normal_error_degrees.map_or(String::new(), |degrees| format!("normals {degrees:.4}°, "));
        format!(
            "tried           {encoding} at {fps:.2} fps: {error:.4} mm, {normals}{texel_bytes} bytes, {verdict}\n"
        )
    };
    tried.iter().map(line).collect()
}

/// Changes when the input, the options or the program do.
fn key(digest: &str, arguments: &Bake) -> String {
    let Bake {
        timing,
        encoding,
        max_error,
        blend,
        normals,
        space,
        max_texture_size,
        compression,
        points,
        keep_rig,
        lods,
        ..
    } = arguments;
    let options = format!(
        "{timing:?} {} {max_error:?} {blend} {normals:?} {space} {max_texture_size} {compression:?} {keep_rig:?} {lods} {points:?}",
        encoding.name()
    );
    let text = format!("{} {digest} {options}", env!("CARGO_PKG_VERSION"));
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
