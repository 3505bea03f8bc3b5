//! Mouse and keys → camera.

use glam::{Vec2, Vec3};
use throng::bounds::Bounds;
use throng::render::Camera;

/// A camera that circles a target, and can fly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Orbit {
    target: Vec3,
    /// Turn about +Y, radians; 0 looks along -Z.
    yaw: f32,
    /// Above the horizon, radians.
    pitch: f32,
    distance: f32,
    fov_y_degrees: f32,
}

/// Straight up and down have no sideways.
const MAX_PITCH: f32 = 1.55;

impl Orbit {
    /// The orbit that shows what `camera` shows.
    pub(crate) fn of(camera: Camera) -> Self {
        let away = camera.eye - camera.target;
        let distance = away.length().max(1e-3);
        Self {
            target: camera.target,
            yaw: away.x.atan2(away.z),
            pitch: (away.y / distance).clamp(-1.0, 1.0).asin().clamp(-MAX_PITCH, MAX_PITCH),
            distance,
            fov_y_degrees: camera.fov_y_degrees,
        }
    }

    /// Unit vector from the target to the eye.
    fn away(&self) -> Vec3 {
        let flat = self.pitch.cos();
        Vec3::new(flat * self.yaw.sin(), self.pitch.sin(), flat * self.yaw.cos())
    }

    fn right(&self) -> Vec3 {
        Vec3::new(self.yaw.cos(), 0.0, -self.yaw.sin())
    }

    pub(crate) fn camera(&self) -> Camera {
        Camera {
            eye: self.target + self.away() * self.distance,
            target: self.target,
            fov_y_degrees: self.fov_y_degrees,
            near: (self.distance * 0.01).clamp(1e-4, 0.1),
        }
    }

    /// Turns round the target by a drag of `pixels`.
    pub(crate) fn orbit(&mut self, pixels: Vec2) {
        self.yaw -= pixels.x * 0.006;
        self.pitch = (self.pitch + pixels.y * 0.006).clamp(-MAX_PITCH, MAX_PITCH);
    }

    /// Moves the target so that the picture follows a drag of `pixels` in a window `height` pixels high.
    pub(crate) fn pan(&mut self, pixels: Vec2, height: f32) {
        let metres = 2.0 * self.distance * (self.fov_y_degrees.to_radians() * 0.5).tan() / height.max(1.0);
        let up = self.away().cross(self.right());
        self.target += (up * pixels.y - self.right() * pixels.x) * metres;
    }

    /// Nearer by `steps` of the wheel.
    pub(crate) fn zoom(&mut self, steps: f32) {
        self.distance = (self.distance * 0.88_f32.powf(steps)).clamp(1e-3, 1e5);
    }

    /// Turns the view in place, as a head does.
    pub(crate) fn look(&mut self, pixels: Vec2) {
        let eye = self.camera().eye;
        self.yaw -= pixels.x * 0.004;
        self.pitch = (self.pitch + pixels.y * 0.004).clamp(-MAX_PITCH, MAX_PITCH);
        self.target = eye - self.away() * self.distance;
    }

    /// Moves eye and target: right, up and forwards, in metres.
    pub(crate) fn fly(&mut self, metres: Vec3) {
        self.target += self.right() * metres.x + Vec3::Y * metres.y - self.away() * metres.z;
    }

    /// A speed that suits the distance, metres per second.
    pub(crate) fn fly_speed(&self) -> f32 {
        self.distance.clamp(0.5, 40.0) * 0.6
    }

    /// Keeps the direction and shows all of `bounds`.
    pub(crate) fn frame(&mut self, bounds: Bounds, aspect: f32) {
        *self = Self::of(self.camera().framing(bounds, aspect));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera() -> Camera {
        Camera {
            eye: Vec3::new(3.0, 4.0, 5.0),
            target: Vec3::new(1.0, 1.0, -1.0),
            fov_y_degrees: 42.0,
            near: 0.05,
        }
    }

    #[test]
    fn orbit_of_a_camera_is_that_camera() {
        let found = Orbit::of(camera()).camera();
        assert!(found.eye.distance(camera().eye) < 1e-4 && found.target == camera().target);
    }

    #[test]
    fn orbiting_keeps_the_distance_and_looking_keeps_the_eye() {
        let mut orbit = Orbit::of(camera());
        orbit.orbit(Vec2::new(120.0, -4000.0));
        let found = orbit.camera();
        assert!((found.eye.distance(found.target) - camera().eye.distance(camera().target)).abs() < 1e-4);
        let mut orbit = Orbit::of(camera());
        orbit.look(Vec2::new(50.0, 20.0));
        assert!(orbit.camera().eye.distance(camera().eye) < 1e-4);
        assert!(orbit.camera().target.distance(camera().target) > 0.1);
    }

    #[test]
    fn panning_follows_the_drag() {
        let mut orbit = Orbit::of(Camera { eye: Vec3::Z * 5.0, target: Vec3::ZERO, ..Camera::default() });
        orbit.pan(Vec2::new(10.0, 0.0), 100.0);
        // The picture goes right, so the camera goes left.
        assert!(orbit.camera().target.x < 0.0);
        orbit.pan(Vec2::new(0.0, 10.0), 100.0);
        assert!(orbit.camera().target.y > 0.0, "down is positive in pixels");
    }
}
