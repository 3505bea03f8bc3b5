use glam::{Mat4, Vec3, camera::rh};
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;

/// A perspective camera; right-handed, Y up, metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Camera {
    /// Where it is.
    pub eye: Vec3,
    /// What it looks at; elsewhere than `eye`.
    pub target: Vec3,
    /// Vertical field of view, degrees, above 0 and below 180.
    pub fov_y_degrees: f32,
    /// Distance of the near plane, metres, above 0. There is no far plane.
    pub near: f32,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            eye: Vec3::new(0.0, 3.0, 8.0),
            target: Vec3::new(0.0, 1.0, 0.0),
            fov_y_degrees: 40.0,
            near: 0.1,
        }
    }
}

impl Camera {
    /// View and projection: depth is 1 at the near plane and goes to 0 at infinity (reversed), which
    /// spreads the precision of a float depth buffer evenly.
    pub fn clip_from_world(&self, aspect: f32) -> Mat4 {
        let up = if (self.target - self.eye).cross(Vec3::Y).length_squared() < 1e-12 {
            Vec3::NEG_Z
        } else {
            Vec3::Y
        };
        let clip_from_view = rh::proj::directx::perspective_infinite_reverse(
            self.fov_y_degrees.to_radians(),
            aspect,
            self.near,
        );
        clip_from_view * rh::view::look_at_mat4(self.eye, self.target, up)
    }

    /// This camera moved along its direction so that all of `bounds` is just in the picture.
    pub fn framing(self, bounds: Bounds, aspect: f32) -> Self {
        let away = (self.eye - self.target).try_normalize().unwrap_or(Vec3::Z);
        let right = away.cross(Vec3::NEG_Y).try_normalize().unwrap_or(Vec3::X);
        let up = away.cross(right);
        let slope_y = (self.fov_y_degrees * 0.5).to_radians().tan();
        let slope_x = slope_y * aspect;
        let half = bounds.size() * 0.5;
        let mut distance = 1e-3_f32;
        for corner in 0..8 {
            let sign = |axis: usize| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
            let corner = half * Vec3::new(sign(0), sign(1), sign(2));
            let aside = (corner.dot(right).abs() / slope_x).max(corner.dot(up).abs() / slope_y);
            distance = distance.max(corner.dot(away) + aside * 1.06);
        }
        Self {
            eye: bounds.center() + away * distance,
            target: bounds.center(),
            near: (distance * 0.01).clamp(1e-4, 0.1),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_reversed() {
        let camera =
            Camera { eye: Vec3::new(0.0, 0.0, 5.0), target: Vec3::ZERO, near: 0.5, ..Camera::default() };
        let depth = |z: f32| camera.clip_from_world(1.5).project_point3(Vec3::new(0.0, 0.0, z)).z;
        assert!((depth(4.5) - 1.0).abs() < 1e-6);
        assert!(depth(0.0) > depth(-100.0));
        assert!(depth(-1e6) > 0.0);
    }

    #[test]
    fn framing_holds_every_corner() {
        let bounds = Bounds { min: Vec3::new(-3.0, 0.0, -1.0), max: Vec3::new(5.0, 2.0, 7.0) };
        for aspect in [0.5, 1.0, 1.777] {
            let matrix = Camera::default().framing(bounds, aspect).clip_from_world(aspect);
            for corner in 0..8 {
                let pick = |axis: usize| {
                    if corner >> axis & 1 == 1 { bounds.max[axis] } else { bounds.min[axis] }
                };
                let at = matrix.project_point3(Vec3::new(pick(0), pick(1), pick(2)));
                assert!(at.x.abs() <= 1.0 && at.y.abs() <= 1.0 && at.z > 0.0, "{at}");
            }
        }
    }

    #[test]
    fn looking_straight_down_has_an_up() {
        let camera = Camera { eye: Vec3::Y * 10.0, target: Vec3::ZERO, ..Camera::default() };
        assert!(camera.clip_from_world(1.0).is_finite());
    }
}
