//! Axis-aligned boxes.

use glam::Vec3;

/// An axis-aligned box, metres, right-handed, Y up.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bounds {
    /// Smallest coordinate on each axis.
    pub min: Vec3,
    /// Largest coordinate on each axis.
    pub max: Vec3,
}

impl Bounds {
    /// The box that contains nothing: joining a point to it gives that point.
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// The tightest box around `points`; [`Bounds::EMPTY`] when there are none.
    pub fn of_points(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |bounds, point| Self {
            min: bounds.min.min(point),
            max: bounds.max.max(point),
        })
    }

    /// The tightest box around both.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Edge lengths, metres.
    pub fn size(self) -> Vec3 {
        self.max - self.min
    }

    /// Middle of the box.
    pub fn center(self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Finite, and `min <= max` on every axis. A box of zero size is proper.
    pub fn is_proper(self) -> bool {
        self.min.is_finite() && self.max.is_finite() && self.min.cmple(self.max).all()
    }
}
