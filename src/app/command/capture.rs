use std::path::{Path, PathBuf};

use glam::UVec2;
use image::RgbaImage;
use serde::Serialize;
use throng::asset::Asset;
use throng::capture::{self, Capture as Camera};
use throng::gpu::Gpu;
use throng::import;
use throng::output;
use throng::render::Stats;
use throng::scene::Scene;

use super::{SCHEMA_VERSION, Talk, print_json};
use crate::cli::Capture;
use crate::failure::Failure;
use crate::open::{self, How};
use crate::progress::Progress;

/// Pictures per second of a sequence that does not say.
const DEFAULT_FPS: f64 = 30.0;

/// A GIF's frames are in memory until it is written.
const MAX_GIF_FRAMES: u32 = 2000;

#[derive(Serialize)]
struct Printed {
    schema_version: u32,
    files: Vec<String>,
    width: u32,
    height: u32,
    adapter: String,
    instances: u64,
    draws: u32,
}

pub(crate) fn run(arguments: &Capture, talk: Talk) -> Result<(), Failure> {
    let shots = Shots::new(arguments)?;
    for path in &shots.paths {
        output::check(path, arguments.writing.force)?;
    }
    let options = import::Options { mesh_frame: arguments.mesh_frame, ..Default::default() };
    let how = How { options, points: arguments.points.options() };
    let (mut scene, assets) = open::scene(&arguments.path, &how)?;
    for asset in &assets {
        talk.remarks(asset);
    }
    apply(arguments, &mut scene, &assets)?;
    let size = arguments.size.unwrap_or(scene.size);
    let start = arguments.time.unwrap_or(scene.time_seconds);
    let gpu = pollster::block_on(Gpu::headless())?;
    let mut camera = Camera::new(&gpu, scene, assets, UVec2::from(size))?;
    shots.take(&mut camera, start, arguments.writing.force, talk)?;
    let Stats { instances, draws, .. } = camera.stage().renderer().stats();
    let files: Vec<String> = shots.paths.iter().map(|path| path.display().to_string()).collect();
    match &files[..] {
        [only] => talk.say(&format!("wrote {only}")),
        [first, .., last] => talk.say(&format!("wrote {} files, {first} to {last}", files.len())),
        [] => {}
    }
    if arguments.json {
        let [width, height] = size;
        let adapter = gpu.info.name.clone();
        return print_json(&Printed {
            schema_version: SCHEMA_VERSION,
            files,
            width,
            height,
            adapter,
            instances,
            draws,
        });
    }
    Ok(())
}

fn apply(arguments: &Capture, scene: &mut Scene, assets: &[Asset]) -> Result<(), Failure> {
    for (crowd, asset) in scene.crowds.iter_mut().zip(assets) {
        if let Some(count) = arguments.count {
            crowd.crowd.count = count;
        }
        if let Some(wanted) = &arguments.clip {
            let found = open::clips(&asset.clips, wanted)?;
            crowd.crowd.clips = found.into_iter().map(|index| asset.clips[index].name.clone()).collect();
        }
    }
    if let Some(blend) = arguments.blend {
        scene.settings.frame_blend = blend;
    }
    if let Some(lod) = arguments.lod {
        scene.settings.lod = lod;
    }
    Ok(())
}

/// The pictures to take, and where they go.
pub(crate) struct Shots {
    pub(crate) paths: Vec<PathBuf>,
    count: u32,
    fps: f64,
    gif: bool,
}

impl Shots {
    fn new(arguments: &Capture) -> Result<Self, Failure> {
        let output = &arguments.writing.output;
        let fps = arguments.fps.unwrap_or(DEFAULT_FPS);
        let extension = output.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        let gif = extension.eq_ignore_ascii_case("gif");
        if !gif && !extension.eq_ignore_ascii_case("png") {
            let text =
                format!("the output ends in {extension:?}, expected .png or .gif: {}", output.display());
            return Err(Failure::Usage(text));
        }
        let count = arguments.frames.unwrap_or(1);
        if gif && count > MAX_GIF_FRAMES {
            return Err(Failure::Usage(format!(
                "found {count} frames, a .gif takes at most {MAX_GIF_FRAMES}"
            )));
        }
        let paths = match arguments.frames {
            Some(count) if !gif => (0..count).map(|frame| numbered(output, frame)).collect(),
            _ => vec![output.clone()],
        };
        Ok(Self { paths, count, fps, gif })
    }

    /// One looping animation of `count` pictures.
    pub(crate) fn animation(path: PathBuf, count: u32, fps: f64) -> Self {
        Self { paths: vec![path], count, fps, gif: true }
    }

    pub(crate) fn take(
        &self,
        camera: &mut Camera<'_>,
        start: f64,
        force: bool,
        talk: Talk,
    ) -> Result<(), Failure> {
        let mut progress = Progress::new("pictures", u64::from(self.count), talk.quiet);
        let mut pictures: Vec<RgbaImage> = Vec::new();
        for frame in 0..self.count {
            let picture = pollster::block_on(camera.draw(start + f64::from(frame) / self.fps))?;
            if self.gif {
                pictures.push(picture);
            } else {
                output::write(&self.paths[frame as usize], force, &capture::png(&picture)?)?;
            }
            progress.step();
        }
        if self.gif {
            output::write(&self.paths[0], force, &capture::gif(pictures, self.fps)?)?;
        }
        Ok(())
    }
}

/// `crowd.png` and frame 7 → `crowd-0007.png`.
fn numbered(path: &Path, frame: u32) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{frame:04}.png"))
}
