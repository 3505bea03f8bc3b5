//! One view: what is drawn, from where, in which light.
//!
//! [`Renderer`] is middleware: device, queue and render pass belong to the caller. Per view the CPU
//! writes one uniform and, per model, a few words for each clip; every mesh primitive is one instanced
//! draw (and one more for its shadow), whatever the size of the crowd.

mod attachments;
mod camera;
pub mod decode;
mod frame;
mod light;
mod model;
mod pipeline;
mod renderer;
mod settings;
pub mod uniforms;

pub use attachments::{Attachments, Target};
pub use camera::Camera;
pub use light::{Ground, Light};
pub use model::UploadOptions;
pub use renderer::{Model, Renderer, Stats};
pub use settings::{Fetch, Settings, Shading};

use glam::{UVec2, Vec3};

/// What one picture shows of the models.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// From where.
    pub camera: Camera,
    /// Size of the picture, pixels.
    pub size: UVec2,
    /// Sun and sky.
    pub light: Light,
    /// The plane they stand on.
    pub ground: Ground,
    /// The clock that all clips play on, seconds; any finite number, exact up to 10⁷ and beyond.
    pub time_seconds: f64,
    /// How it is drawn.
    pub settings: Settings,
}

impl View {
    fn uniform(&self) -> uniforms::View {
        let Self { camera, light, ground, settings, .. } = self;
        let clip_from_world = camera.clip_from_world(self.size.x as f32 / self.size.y.max(1) as f32);
        let linear = |tint: crate::crowd::Tint| Vec3::from_array(tint.linear_f32());
        uniforms::View {
            clip_from_world,
            world_from_clip: clip_from_world.inverse(),
            eye: camera.eye,
            phase_mask: if settings.instance_offsets { u32::MAX } else { 0 },
            to_sun: light.to_sun(),
            haze_metres: light.haze_metres,
            sun: linear(light.sun_color) * light.sun_strength,
            ground_height: ground.height,
            sky: linear(light.sky_color) * light.sky_strength,
            line_metres: ground.line_metres,
            horizon: linear(light.horizon_color) * light.sky_strength,
            ground_visible: u32::from(ground.visible),
            ground: linear(ground.color),
            pad_ground: 0,
            ground_line: linear(ground.line_color),
            pad_line: 0,
        }
    }

    /// A sun that is down, or nearly, casts no shadow that fits a picture.
    fn has_shadows(&self) -> bool {
        self.settings.shadows && self.ground.visible && self.light.to_sun().y > 0.05
    }
}
