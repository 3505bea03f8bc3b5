//! One view: what is drawn, from where, in which light.

mod camera;
mod light;
mod settings;

pub use camera::Camera;
pub use light::{Ground, Light};
pub use settings::{Fetch, Settings, Shading};
