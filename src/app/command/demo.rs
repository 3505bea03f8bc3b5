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

/// The animation is one turn of the flag's loop, small enough to look at at once.
const ANIMATION_SIZE: UVec2 = UVec2::new(480, 270);
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
    let (mut scene, assets) = open::demo()?;
    let gpu = pollster::block_on(Gpu::headless())?;
    let picture = {
        let mut camera = Capture::new(&gpu, scene.clone(), assets.clone(), UVec2::from(scene.size))?;
        pollster::block_on(camera.draw(scene.time_seconds))?
    };
    output::write(&PathBuf::from("throng-demo.png"), true, &capture::png(&picture)?)?;
    // In step with the loop: no change of speed, so that the last picture meets the first.
    for crowd in &mut scene.crowds {
        crowd.crowd.speed_spread = 0.0;
    }
    let mut camera = Capture::new(&gpu, scene, assets, ANIMATION_SIZE)?;
    let fps = f64::from(ANIMATION_FRAMES) / ANIMATION_SECONDS;
    let shots = Shots::animation(PathBuf::from("throng-demo.gif"), ANIMATION_FRAMES, fps);
    shots.take(&mut camera, 0.0, true, talk)?;
    talk.say("wrote throng-demo.png and throng-demo.gif");
    Ok(())
}
