//! The window: events, clock and camera. What is on the GPU is in [`live`].

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use glam::{UVec2, Vec2, Vec3};
use throng::asset::Asset;
use throng::scene::Scene;
use winit::application::ApplicationHandler;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{KeyCode, PhysicalKey};
use winit::window::{Window, WindowId};

use crate::failure::Failure;
use crate::orbit::Orbit;
use crate::panel::{Controls, Readings, Wishes};

mod live;

use live::{Live, Shown};

/// Room of a crowd slider where memory allows.
const MAX_COUNT: u32 = 1_000_000;
/// A pause of the program is no time on the clock.
const MAX_TICK_SECONDS: f64 = 0.25;

/// Whether a window could be opened at all.
pub(crate) fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos"))) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// What went wrong, without the place in the window library that it names first.
fn reason(text: &str) -> String {
    let is_place = text.starts_with("os error at ");
    let last = text.rsplit(": ").next().filter(|_| is_place).unwrap_or(text);
    format!("{last}; `throng capture` draws without a display")
}

/// Shows `scene` until the window is closed.
pub(crate) fn run(scene: Scene, assets: Vec<Asset>, title: String) -> Result<(), Failure> {
    let event_loop = EventLoop::new().map_err(|error| Failure::Window(reason(&error.to_string())))?;
    let mut app = App::new(scene, assets, title);
    event_loop.run_app(&mut app).map_err(|error| Failure::Window(error.to_string()))?;
    match app.failure {
        None => Ok(()),
        Some(failure) => Err(failure),
    }
}

struct App {
    scene: Scene,
    assets: Vec<Asset>,
    title: String,
    live: Option<Live>,
    failure: Option<Failure>,
    controls: Controls,
    readings: Readings,
    clock: Clock,
    orbit: Option<Orbit>,
    input: Input,
}

/// The scene's clock.
struct Clock {
    seconds: f64,
    last: Instant,
    /// Smoothed seconds from picture to picture.
    tick: f64,
}

#[derive(Default)]
struct Input {
    cursor: Vec2,
    buttons: HashSet<MouseButton>,
    keys: HashSet<KeyCode>,
}

impl Input {
    fn shift(&self) -> bool {
        self.keys.contains(&KeyCode::ShiftLeft) || self.keys.contains(&KeyCode::ShiftRight)
    }

    /// Where the keys fly to: right, up, forwards.
    fn flight(&self) -> Vec3 {
        let key = |code| f32::from(u8::from(self.keys.contains(&code)));
        Vec3::new(
            key(KeyCode::KeyD) - key(KeyCode::KeyA),
            key(KeyCode::KeyE) - key(KeyCode::KeyQ),
            key(KeyCode::KeyW) - key(KeyCode::KeyS),
        )
    }
}

impl App {
    fn new(scene: Scene, assets: Vec<Asset>, title: String) -> Self {
        let controls = Controls {
            crowd: scene.crowds.first().map(|crowd| crowd.crowd.clone()).unwrap_or_default(),
            max_count: MAX_COUNT,
            lod_count: assets
                .iter()
                .map(|asset| u32::try_from(asset.mesh.lods.len()).unwrap_or(0))
                .max()
                .unwrap_or(0),
            settings: scene.settings,
            playing: true,
            speed: 1.0,
        };
        Self {
            clock: Clock { seconds: scene.time_seconds, last: Instant::now(), tick: 0.0 },
            orbit: scene.camera.map(Orbit::of),
            scene,
            assets,
            title,
            live: None,
            failure: None,
            controls,
            readings: Readings::default(),
            input: Input::default(),
        }
    }

    /// Makes window and device; after a lost device all of it anew, with the same scene, camera and time.
    fn start(&mut self, event_loop: &ActiveEventLoop) {
        let made = match self.live.take() {
            // A driver may want a window that no surface had before.
            Some(live) => self.live(event_loop, live.into_window()).or_else(|failure| {
                log::warn!("{failure}: opening another window");
                self.open(event_loop)
            }),
            None => self.open(event_loop),
        };
        match made {
            Ok(live) => {
                self.readings.adapter = live.adapter().to_owned();
                self.readings.software = live.is_software();
                self.controls.max_count = live.max_count().min(MAX_COUNT).max(self.controls.crowd.count);
                self.live = Some(live);
            }
            Err(failure) => self.fail(event_loop, failure),
        }
    }

    fn open(&self, event_loop: &ActiveEventLoop) -> Result<Live, Failure> {
        let attributes = Window::default_attributes()
            .with_title(format!("{} - throng", self.title))
            .with_inner_size(winit::dpi::LogicalSize::new(1280.0, 760.0));
        let window = event_loop.create_window(attributes);
        self.live(event_loop, Arc::new(window.map_err(|error| Failure::Window(error.to_string()))?))
    }

    fn live(&self, event_loop: &ActiveEventLoop, window: Arc<Window>) -> Result<Live, Failure> {
        Live::new(event_loop, window, self.scene.clone(), self.assets.clone())
    }

    fn fail(&mut self, event_loop: &ActiveEventLoop, failure: Failure) {
        self.failure = Some(failure);
        event_loop.exit();
    }

    fn tick(&mut self) {
        let now = Instant::now();
        let seconds = (now - self.clock.last).as_secs_f64();
        self.clock.last = now;
        self.clock.tick =
            if self.clock.tick == 0.0 { seconds } else { self.clock.tick * 0.9 + seconds * 0.1 };
        let seconds = seconds.min(MAX_TICK_SECONDS);
        if self.controls.playing {
            self.clock.seconds += seconds * self.controls.speed;
        }
        if let (Some(orbit), true) = (&mut self.orbit, self.input.buttons.contains(&MouseButton::Right)) {
            let faster = if self.input.shift() { 4.0 } else { 1.0 };
            #[expect(clippy::cast_possible_truncation, reason = "less than a second")]
            let metres = orbit.fly_speed() * faster * seconds as f32;
            orbit.fly(self.input.flight() * metres);
        }
    }

    fn draw(&mut self, event_loop: &ActiveEventLoop) {
        self.tick();
        let Some(live) = &mut self.live else { return };
        let aspect = live.aspect();
        let bounds = live.bounds();
        let orbit =
            self.orbit.get_or_insert_with(|| Orbit::of(self.scene.view(bounds, live.size(), 0.0).camera));
        self.readings.frames_per_second = if self.clock.tick > 0.0 { 1.0 / self.clock.tick } else { 0.0 };
        self.readings.time_seconds = self.clock.seconds;
        let before = self.controls.clone();
        let shown = live.draw(orbit.camera(), self.clock.seconds, &mut self.controls, &mut self.readings);
        let (wishes, lost) = match shown {
            Shown::Lost => (Wishes::default(), true),
            Shown::Picture(wishes) | Shown::Nothing(wishes) => (wishes, false),
        };
        if wishes.frame_all {
            orbit.frame(bounds, aspect);
        }
        if before != self.controls {
            self.readings.trouble = live.apply(&before, &mut self.controls);
            self.scene = live.scene().clone();
        }
        self.step(wishes.step);
        if lost {
            log::warn!("the graphics device or surface was lost: starting again");
            self.start(event_loop);
        }
    }

    /// Moves the clock by animation frames of the first clip.
    fn step(&mut self, frames: i32) {
        if frames == 0 {
            return;
        }
        self.controls.playing = false;
        let fps = self.assets.first().map_or(30.0, |asset| asset.clips[0].fps);
        if fps > 0.0 {
            self.clock.seconds = ((self.clock.seconds * fps).round() + f64::from(frames)) / fps;
        }
    }

    fn key(&mut self, code: KeyCode) {
        let flying = self.input.buttons.contains(&MouseButton::Right);
        match code {
            KeyCode::Space => self.controls.playing = !self.controls.playing,
            KeyCode::Comma => self.step(-1),
            KeyCode::Period => self.step(1),
            KeyCode::KeyF | KeyCode::Home if !flying => {
                if let (Some(live), Some(orbit)) = (&self.live, &mut self.orbit) {
                    orbit.frame(live.bounds(), live.aspect());
                }
            }
            _ => {}
        }
    }

    fn moved(&mut self, cursor: Vec2) {
        let drag = cursor - self.input.cursor;
        self.input.cursor = cursor;
        let (Some(orbit), Some(live)) = (&mut self.orbit, &self.live) else {
            return;
        };
        let held = |button| self.input.buttons.contains(&button);
        if held(MouseButton::Right) {
            orbit.look(drag);
        } else if held(MouseButton::Middle) || (held(MouseButton::Left) && self.input.shift()) {
            orbit.pan(drag, live.size().y as f32);
        } else if held(MouseButton::Left) {
            orbit.orbit(drag);
        }
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        event_loop.set_control_flow(ControlFlow::Wait);
        if self.live.is_none() {
            self.start(event_loop);
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(live) = &mut self.live else { return };
        let taken = live.on_event(&event);
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => live.resize(UVec2::new(size.width, size.height)),
            WindowEvent::RedrawRequested => self.draw(event_loop),
            WindowEvent::KeyboardInput { event, .. } => {
                let PhysicalKey::Code(code) = event.physical_key else {
                    return;
                };
                match event.state {
                    ElementState::Released => {
                        self.input.keys.remove(&code);
                    }
                    ElementState::Pressed if !taken => {
                        self.input.keys.insert(code);
                        let control = self.input.keys.contains(&KeyCode::ControlLeft);
                        if control && code == KeyCode::KeyQ {
                            event_loop.exit();
                        }
                        self.key(code);
                    }
                    ElementState::Pressed => {}
                }
            }
            WindowEvent::MouseInput { state, button, .. } => match state {
                ElementState::Pressed if !taken => {
                    self.input.buttons.insert(button);
                }
                ElementState::Pressed => {}
                ElementState::Released => {
                    self.input.buttons.remove(&button);
                }
            },
            WindowEvent::CursorMoved { position, .. } => {
                self.moved(glam::dvec2(position.x, position.y).as_vec2());
            }
            WindowEvent::MouseWheel { delta, .. } if !taken => {
                let steps = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => lines,
                    MouseScrollDelta::PixelDelta(pixels) => glam::dvec2(0.0, pixels.y / 60.0).as_vec2().y,
                };
                if let Some(orbit) = &mut self.orbit {
                    orbit.zoom(steps);
                }
            }
            WindowEvent::Focused(false) => {
                self.input = Input { cursor: self.input.cursor, ..Input::default() }
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, _: &ActiveEventLoop) {
        if let Some(live) = &self.live {
            live.request_redraw();
        }
    }
}
