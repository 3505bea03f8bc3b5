//! Keyframes, and the three ways in which glTF runs between them (glTF 2.0, appendix C).

use glam::{DQuat, DVec3};

/// What happens between two keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds the earlier key.
    Step,
    /// Straight, or along the shorter arc.
    #[default]
    Linear,
    /// Cubic Hermite; each key is in-tangent, value, out-tangent.
    CubicSpline,
}

/// Values over time. Before the first key and after the last it holds still.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    times: Vec<f64>,
    values: Vec<f64>,
    width: usize,
    interpolation: Interpolation,
}

/// Keys that make no track.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// No keys.
    #[error("found no keys, expected at least one")]
    Empty,
    /// Times that do not ascend, or are not finite.
    #[error("key {index}: found time {found}, expected a finite one above that of the key before")]
    Time {
        /// Which key.
        index: usize,
        /// Its time.
        found: f64,
    },
    /// Too many or too few values.
    #[error("found {found} values, expected {expected}")]
    Count {
        /// How many there are.
        found: usize,
        /// How many the times need.
        expected: usize,
    },
    /// A value that is not finite.
    #[error("value {index}: found {found}, expected a finite number")]
    Value {
        /// Which value.
        index: usize,
        /// The value.
        found: f64,
    },
}

/// Where a time falls among keys.
enum Place {
    Key(usize),
    Between { before: usize, weight: f64, seconds: f64 },
}

impl Track {
    /// A track of `width` numbers per key: 3 for positions and scales, 4 for rotations (xyzw), the number
    /// of targets for morph weights. Three times as many values where `interpolation` is a spline.
    ///
    /// # Errors
    /// [`Invalid`] names the key.
    pub fn new(
        times: Vec<f64>,
        values: Vec<f64>,
        width: usize,
        interpolation: Interpolation,
    ) -> Result<Self, Invalid> {
        if times.is_empty() || width == 0 {
            return Err(Invalid::Empty);
        }
        // Written so that NaN is refused.
        let follows = |index: usize| match index {
            0 => times[0].is_finite(),
            _ => times[index] > times[index - 1] && times[index].is_finite(),
        };
        if let Some(index) = (0..times.len()).find(|index| !follows(*index)) {
            return Err(Invalid::Time { index, found: times[index] });
        }
        let stored = if interpolation == Interpolation::CubicSpline { 3 * width } else { width };
        let expected = times.len() * stored;
        if values.len() != expected {
            return Err(Invalid::Count { found: values.len(), expected });
        }
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(Invalid::Value { index, found: values[index] });
        }
        Ok(Self { times, values, width, interpolation })
    }

    /// Numbers per key.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Numbers of all keys, in their order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// What happens between keys.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// Times of the keys, seconds, ascending.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Time of the last key, seconds.
    pub fn end(&self) -> f64 {
        self.times[self.times.len() - 1]
    }

    fn place(&self, seconds: f64) -> Place {
        let after = self.times.partition_point(|time| *time <= seconds);
        if after == 0 {
            return Place::Key(0);
        }
        let before = after - 1;
        if after == self.times.len() || self.interpolation == Interpolation::Step {
            return Place::Key(before);
        }
        let length = self.times[after] - self.times[before];
        Place::Between { before, weight: (seconds - self.times[before]) / length, seconds: length }
    }

    /// One of the up to three vectors of a key: 0 in-tangent, 1 value, 2 out-tangent.
    fn vector(&self, key: usize, which: usize) -> &[f64] {
        let at = match self.interpolation {
            Interpolation::CubicSpline => (key * 3 + which) * self.width,
            _ => key * self.width,
        };
        &self.values[at..at + self.width]
    }

    /// Component by component at `seconds`, without regard to what the numbers mean.
    pub fn numbers(&self, seconds: f64, into: &mut [f64]) {
        match self.place(seconds) {
            Place::Key(key) => into.copy_from_slice(self.vector(key, 1)),
            Place::Between { before, weight: t, seconds } => {
                let (a, b) = (self.vector(before, 1), self.vector(before + 1, 1));
                if self.interpolation != Interpolation::CubicSpline {
                    for ((into, a), b) in into.iter_mut().zip(a).zip(b) {
                        *into = a + (b - a) * t;
                    }
                    return;
                }
                let (leaving, arriving) = (self.vector(before, 2), self.vector(before + 1, 0));
                let (t2, t3) = (t * t, t * t * t);
                let weights = [
                    2.0 * t3 - 3.0 * t2 + 1.0,
                    seconds * (t3 - 2.0 * t2 + t),
                    -2.0 * t3 + 3.0 * t2,
                    seconds * (t3 - t2),
                ];
                for (index, into) in into.iter_mut().enumerate() {
                    let from = [a[index], leaving[index], b[index], arriving[index]];
                    *into = from.iter().zip(weights).map(|(value, weight)| value * weight).sum();
                }
            }
        }
    }

    /// A position or a scale at `seconds`.
    ///
    /// # Panics
    /// If the track is not three wide.
    pub fn vector3(&self, seconds: f64) -> DVec3 {
        let mut numbers = [0.0; 3];
        self.numbers(seconds, &mut numbers);
        DVec3::from_array(numbers)
    }

    /// A unit quaternion at `seconds`: spherical where the track is linear.
    ///
    /// # Panics
    /// If the track is not four wide.
    pub fn rotation(&self, seconds: f64) -> DQuat {
        if let (Interpolation::Linear, Place::Between { before, weight, .. }) =
            (self.interpolation, self.place(seconds))
        {
            let key = |key| unit(DQuat::from_slice(self.vector(key, 1)));
            return slerp(key(before), key(before + 1), weight);
        }
        let mut numbers = [0.0; 4];
        self.numbers(seconds, &mut numbers);
        unit(DQuat::from_array(numbers))
    }
}

/// A quaternion of length 1; the identity for one of length 0.
fn unit(q: DQuat) -> DQuat {
    let length = q.length();
    if length > 0.0 && length.is_finite() { q / length } else { DQuat::IDENTITY }
}

/// Along the shorter arc, at even speed (Shoemake 1985). Transcendental functions are libm's, so that
/// every platform gives the same bytes.
fn slerp(a: DQuat, b: DQuat, t: f64) -> DQuat {
    let (b, cosine) = if a.dot(b) < 0.0 { (-b, -a.dot(b)) } else { (b, a.dot(b)) };
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    if sine < 1e-9 {
        return unit(a * (1.0 - t) + b * t);
    }
    let angle = libm::atan2(sine, cosine);
    unit(a * (libm::sin((1.0 - t) * angle) / sine) + b * (libm::sin(t * angle) / sine))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn track(width: usize, times: &[f64], values: &[f64], interpolation: Interpolation) -> Track {
        Track::new(times.to_vec(), values.to_vec(), width, interpolation).unwrap()
    }

    #[test]
    fn runs_between_keys_as_each_interpolation_says() {
        let at = |track: &Track, seconds| {
            let mut number = [0.0];
            track.numbers(seconds, &mut number);
            number[0]
        };
        let step = track(1, &[1.0, 2.0], &[10.0, 20.0], Interpolation::Step);
        let moments = [0.0, 1.0, 1.999, 2.0, 9.0];
        assert_eq!(moments.map(|time| at(&step, time)), [10.0, 10.0, 10.0, 20.0, 20.0]);
        let linear = track(1, &[1.0, 3.0], &[10.0, 20.0], Interpolation::Linear);
        assert_eq!([0.5, 1.0, 1.5, 3.0, 4.0].map(|time| at(&linear, time)), [10.0, 10.0, 12.5, 20.0, 20.0]);
        // Value t³ over two seconds: tangents are derivatives per second.
        let cube = track(1, &[0.0, 2.0], &[0.0, 0.0, 0.0, 12.0, 8.0, 12.0], Interpolation::CubicSpline);
        for time in [0.0, 0.3, 1.0, 1.7, 2.0] {
            assert!((at(&cube, time) - time * time * time).abs() < 1e-12, "{time}");
        }
    }

    #[test]
    fn rotations_take_the_shorter_arc_at_even_speed() {
        let quarter = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
        let values: Vec<f64> = [DQuat::IDENTITY, -quarter].iter().flat_map(|q| q.to_array()).collect();
        let track = track(4, &[0.0, 1.0], &values, Interpolation::Linear);
        for t in [0.0, 0.25, 0.5, 1.0] {
            let expected = DQuat::from_rotation_y(t * std::f64::consts::FRAC_PI_2);
            assert!(track.rotation(t).dot(expected).abs() > 1.0 - 1e-14, "{t}");
        }
    }

    #[test]
    fn keys_that_make_no_track_are_refused() {
        let new = |times: &[f64], values: &[f64]| {
            Track::new(times.to_vec(), values.to_vec(), 1, Interpolation::Linear)
        };
        assert_eq!(new(&[], &[]), Err(Invalid::Empty));
        assert!(matches!(new(&[0.0, 0.0], &[1.0, 2.0]), Err(Invalid::Time { index: 1, .. })));
        assert!(matches!(new(&[0.0, f64::NAN], &[1.0, 2.0]), Err(Invalid::Time { index: 1, .. })));
        assert!(matches!(new(&[f64::INFINITY], &[1.0]), Err(Invalid::Time { index: 0, .. })));
        assert!(matches!(new(&[0.0, 1.0], &[1.0]), Err(Invalid::Count { found: 1, expected: 2 })));
        assert!(matches!(new(&[0.0], &[f64::INFINITY]), Err(Invalid::Value { index: 0, .. })));
    }
}
