use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::crowd::Tint;

/// One sun, and a sky that lights from all around.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Light {
    /// Direction to the sun about +Y, degrees; 0 is +Z, 90 is +X.
    pub sun_azimuth_degrees: f32,
    /// Height of the sun above the horizon, degrees.
    pub sun_elevation_degrees: f32,
    /// Colour of the sun.
    pub sun_color: Tint,
    /// Light of the sun, 1 is a white surface's own white when lit head on.
    pub sun_strength: f32,
    /// Colour of the sky overhead.
    pub sky_color: Tint,
    /// Colour at the horizon, into which the distance fades.
    pub horizon_color: Tint,
    /// Light of the sky.
    pub sky_strength: f32,
    /// Distance at which two thirds of the view have faded into the horizon, metres; 0 is no haze.
    pub haze_metres: f32,
}

impl Default for Light {
    fn default() -> Self {
        Self {
            sun_azimuth_degrees: -38.0,
            sun_elevation_degrees: 42.0,
            sun_color: Tint([255, 244, 226]),
            sun_strength: 1.5,
            sky_color: Tint([92, 148, 220]),
            horizon_color: Tint([214, 222, 228]),
            sky_strength: 1.0,
            haze_metres: 220.0,
        }
    }
}

impl Light {
    /// Unit vector to the sun.
    pub fn to_sun(&self) -> Vec3 {
        let (azimuth, elevation) =
            (self.sun_azimuth_degrees.to_radians(), self.sun_elevation_degrees.to_radians());
        let flat = libm::cosf(elevation);
        Vec3::new(flat * libm::sinf(azimuth), libm::sinf(elevation), flat * libm::cosf(azimuth))
    }
}

/// The plane that the crowd stands on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ground {
    /// Draw it.
    pub visible: bool,
    /// Height, metres.
    pub height: f32,
    /// Colour of the plane.
    pub color: Tint,
    /// Colour of the grid lines.
    pub line_color: Tint,
    /// Distance between lines, metres, above 0; every tenth is stronger.
    pub line_metres: f32,
}

impl Default for Ground {
    fn default() -> Self {
        Self {
            visible: true,
            height: 0.0,
            color: Tint([168, 163, 154]),
            line_color: Tint([138, 133, 125]),
            line_metres: 1.0,
        }
    }
}
