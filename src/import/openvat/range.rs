//! Whether texels are fractions of the JSON file's range or metres, which no field says, and how fine they are.

use std::path::Path;

use glam::DVec3;

use super::super::Error;
use super::super::image::{Picture, Pixels};
use super::Remarked;
use super::json::Remap;
use super::layout::Layout;

/// The exporter rounds its bounds outwards to tenths; a little more for the rounding of texels.
const BOUNDS_SLACK: f64 = 0.11;
/// Fractions this far outside 0..1 are no rounding error.
const OUTSIDE: f64 = 0.01;

/// The box of the texels that vertices look at, as they are stored, the file's axes.
pub(super) struct Used {
    min: DVec3,
    max: DVec3,
}

impl Used {
    pub(super) fn of(layout: &Layout, picture: &Picture) -> Self {
        let mut used = Self { min: DVec3::INFINITY, max: DVec3::NEG_INFINITY };
        for frame in 0..layout.frames {
            for slot in &layout.slots {
                let value = picture.value(layout.texel(*slot, frame));
                used = Self { min: used.min.min(value), max: used.max.max(value) };
            }
        }
        used
    }

    /// Metres ("absolute values"), where a float picture cannot hold fractions of the range: it leaves 0..1,
    /// or fits the range as metres and not as fractions.
    pub(super) fn is_absolute(&self, picture: &Picture, remap: &Remap, parts: &mut Remarked) -> bool {
        if matches!(picture.pixels, Pixels::Unorm8(_) | Pixels::Unorm16(_)) {
            return false;
        }
        let fits = |min: DVec3, max: DVec3| {
            let (below, above) = (min - remap.min, remap.max - max);
            [below, above].iter().all(|gap| gap.abs().max_element() <= BOUNDS_SLACK)
        };
        let range = remap.max - remap.min;
        let outside = self.min.min_element() < -OUTSIDE || self.max.max_element() > 1.0 + OUTSIDE;
        if outside {
            parts
                .assumptions
                .push("texels are offsets in metres (absolute values): some are outside 0..1".to_owned());
        }
        let only_metres =
            !fits(remap.min + self.min * range, remap.min + self.max * range) && fits(self.min, self.max);
        if !outside && only_metres {
            parts.assumptions.push(
                "texels are offsets in metres (absolute values): as metres they fill the range of the JSON file, as \
                 fractions of it they do not"
                    .to_owned(),
            );
        }
        outside || only_metres
    }

    /// Speaks of axes whose motion the range takes away.
    ///
    /// # Errors
    /// [`Error::Value`] where it takes away all motion.
    pub(super) fn check_range(
        &self,
        absolute: bool,
        remap: &Remap,
        path: &Path,
        parts: &mut Remarked,
    ) -> Result<(), Error> {
        if absolute {
            return Ok(());
        }
        let moves = (self.max - self.min).cmpgt(DVec3::splat(2.0 / 255.0));
        let flat = remap.min.cmpeq(remap.max);
        if flat.all() && moves.any() {
            return Err(Error::Value {
                pointer: "/os-remap".to_owned(),
                found: format!("Min and Max alike, {}", remap.min),
                expected: "a range: the picture has motion".to_owned(),
                path: path.to_owned(),
            });
        }
        for (axis, name) in ["X", "Y", "Z"].into_iter().enumerate() {
            if flat.test(axis) && moves.test(axis) {
                parts.warnings.push(format!(
                    "os-remap has no range on {name}, though the picture has motion there: it is lost"
                ));
            }
        }
        Ok(())
    }

    /// Largest distance between neighbouring values, metres.
    pub(super) fn step(&self, absolute: bool, picture: &Picture, remap: &Remap, parts: &mut Remarked) -> f64 {
        let range = (remap.max - remap.min).max_element();
        let (step, remarks) = match picture.pixels {
            Pixels::Unorm8(_) => (range / 255.0, &mut parts.warnings),
            Pixels::Unorm16(_) => (range / 65535.0, &mut parts.assumptions),
            Pixels::Half(_) if !absolute => (range / 2048.0, &mut parts.assumptions),
            // The exporter's float pictures went through half floats.
            _ => {
                let largest = self.min.abs().max(self.max.abs()).max_element();
                return if absolute { largest / 1024.0 } else { range / 2048.0 };
            }
        };
        remarks.push(format!(
            "{} over a range of {range:.1} m: positions in steps of {:.3} mm",
            picture.kind(),
            step * 1e3
        ));
        // So do its fixed-point ones.
        step.max(range / 2048.0)
    }
}
