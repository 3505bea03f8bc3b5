use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use throng::asset::{Compression, glb};
use throng::bake::{self, Report, Settings};
use throng::import;
use throng::output;
use throng::source::timeline::Wanted;
use throng::source::{Source, builtin};

use super::{SCHEMA_VERSION, Talk, print, print_json};
use crate::cli::Bake;
use crate::failure::Failure;
use crate::open::{self, Input};
use crate::progress::Progress;

#[derive(Serialize)]
struct Printed<'a> {
    schema_version: u32,
    output: String,
    #[serde(flatten)]
    report: &'a Report,
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
    report: Option<Report>,
}

/// One bake of the command line.
struct Job<'a> {
    source: &'a str,
    output: PathBuf,
}

enum Outcome {
    Baked(Box<Report>),
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
    let Outcome::Baked(report) = outcome else {
        talk.say(&format!("unchanged {output}"));
        return Ok(());
    };
    talk.say(&format!("wrote {output}"));
    if arguments.json {
        return print_json(&Printed { schema_version: SCHEMA_VERSION, output, report });
    }
    print(format!("{report}\n").as_bytes())
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
            (None, Some(report)) => {
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
    output::check(&job.output, arguments.force || arguments.changed)?;
    let (source, digest) = source(job.source, arguments)?;
    let key = digest.map(|digest| key(&digest, arguments));
    let is_current = |asset: throng::asset::Asset| key.is_some() && asset.source_key == key;
    if arguments.changed && job.output.exists() && glb::read(&job.output).is_ok_and(is_current) {
        return Ok(Outcome::Unchanged);
    }
    let settings = Settings {
        encoding: arguments.encoding.encoding(),
        normals: arguments.normals.unwrap_or(arguments.encoding.normals()),
        space: arguments.space,
        max_texture_size: arguments.max_texture_size,
    };
    let baked = bake::bake(&source, &settings)?;
    let mut parts = baked.asset.into_parts();
    parts.source_key = key;
    let asset = throng::asset::Asset::new(parts).map_err(bake::Error::from)?;
    talk.remarks(&asset);
    let overwrite = arguments.force || arguments.changed;
    let compression: Compression = arguments.compression.into();
    glb::write(&asset, &job.output, compression, overwrite)?;
    Ok(Outcome::Baked(Box::new(baked.report)))
}

/// What is to be baked, and what tells whether its files have changed.
fn source(path: &str, arguments: &Bake) -> Result<(Source, Option<String>), Failure> {
    let timing = &arguments.timing;
    let options = import::Options { fps: timing.fps, ..import::Options::default() };
    match open::input(Path::new(path), &options)? {
        Input::Source(source) => Ok((*source, None)),
        Input::Asset(_) => {
            let known = builtin::ALL.iter().map(|(name, doc)| format!("builtin:{name} ({doc})"));
            let text = format!(
                "{path:?} is baked already. What can be baked are animated models (.glb, .gltf) and {}; an export of another tool is read by `throng import`",
                known.collect::<Vec<_>>().join(", ")
            );
            Err(Failure::Usage(text))
        }
        Input::Model(model) => {
            let wanted = Wanted { fps: timing.fps, loop_mode: timing.loop_mode, trim: timing.trim };
            let mut picked = Vec::new();
            if !timing.clip.is_empty() {
                let cut = open::clips_of_model(&model, &wanted)?;
                let clips: Vec<_> = cut.into_iter().map(|(clip, _)| clip).collect();
                for name in &timing.clip {
                    let found = open::clips(&clips, name)?;
                    picked.extend(found.into_iter().filter(|_| !model.rig.clips.is_empty()));
                }
                picked.sort_unstable();
                picked.dedup();
            }
            let picked = (!picked.is_empty()).then_some(&picked[..]);
            let source = model.source(picked, &wanted).map_err(bake::Error::from)?;
            Ok((source, Some(model.digest)))
        }
    }
}

/// Changes when the input, the options or the program do.
fn key(digest: &str, arguments: &Bake) -> String {
    let Bake { timing, encoding, normals, space, max_texture_size, compression, .. } = arguments;
    let options =
        format!("{timing:?} {} {normals:?} {space} {max_texture_size} {compression:?}", encoding.name());
    let text = format!("{} {digest} {options}", env!("CARGO_PKG_VERSION"));
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
