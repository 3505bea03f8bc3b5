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
    talk.say("no display: the demo is drawn into throng-demo.png and throng-demo.gif");
    let (scene, assets) = open::demo()?;
    let gpu = pollster::block_on(Gpu::headless())?;
    let picture = {
        let (size, time) = (UVec2::from(scene.size), scene.time_seconds);
        let mut camera = Capture::new(&gpu, scene, assets, size)?;
        pollster::block_on(camera.draw(time))?
    };
    output::write(&PathBuf::from("throng-demo.png"), true, &capture::png(&picture)?)?;
    let (scene, assets) = open::demo_loop()?;
    let size = UVec2::from(scene.size);
    let mut camera = Capture::new(&gpu, scene, assets, size)?;
    let fps = f64::from(ANIMATION_FRAMES) / ANIMATION_SECONDS;
    let shots = Shots::animation(PathBuf::from("throng-demo.gif"), ANIMATION_FRAMES, fps);
    shots.take(&mut camera, 0.0, true, talk)?;
    talk.say("wrote throng-demo.png and throng-demo.gif");
    Ok(())
}
