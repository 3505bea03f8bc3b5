use std::path::PathBuf;

use glam::UVec2;
use throng::capture::{self, Capture};
use throng::gpu::Gpu;
use throng::output;

use super::Talk;
use super::capture::Shots;
use crate::failure::Failure;
use crate::open;
use crate::window;

/// The animation is one turn of the flag's loop.
const ANIMATION_FRAMES: u32 = 32;
const ANIMATION_SECONDS: f64 = 4.0;

/// The demo: in a window, or where there is no display, as pictures in the current folder.
pub(crate) fn run(talk: Talk) -> Result<(), Failure> {
    let (scene, assets) = open::demo()?;
    if window::has_display() {
        match window::run(scene, assets, "throng demo".to_owned()) {
            Err(Failure::Window(reason)) => talk.say(&format!("cannot open a window: {reason}")),
            done => return done,
        }
    }
    let (still, moving) = free_names();
    talk.say(&format!("no display: the demo is drawn into {} and {}", still.display(), moving.display()));
    let (scene, assets) = open::demo()?;
    let gpu = pollster::block_on(Gpu::headless())?;
    let picture = {
        let (size, time) = (UVec2::from(scene.size), scene.time_seconds);
        let mut camera = Capture::new(&gpu, scene, assets, size)?;
        pollster::block_on(camera.draw(time))?
    };
    output::write(&still, false, &capture::png(&picture)?)?;
    talk.say(&format!("wrote {}; the animation takes a little longer", still.display()));
    let (scene, assets) = open::demo_loop()?;
    let size = UVec2::from(scene.size);
    let mut camera = Capture::new(&gpu, scene, assets, size)?;
    let fps = f64::from(ANIMATION_FRAMES) / ANIMATION_SECONDS;
    let shots = Shots::animation(moving.clone(), ANIMATION_FRAMES, fps);
    shots.take(&mut camera, 0.0, false, talk)?;
    talk.say(&format!("wrote {}", moving.display()));
    Ok(())
}

/// Names that no file has yet: the demo is run again and again, and overwrites nothing.
fn free_names() -> (PathBuf, PathBuf) {
    let names = |suffix: &str| {
        let name = |extension| PathBuf::from(format!("throng-demo{suffix}.{extension}"));
        (name("png"), name("gif"))
    };
    let numbered = (2_u32..).map(|number| names(&format!("-{number}")));
    let mut all = std::iter::once(names("")).chain(numbered);
    let free = all.find(|(still, moving)| !still.exists() && !moving.exists());
    free.unwrap_or_else(|| names(""))
}
