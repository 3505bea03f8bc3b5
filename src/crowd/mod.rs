//! Instances: where each character stands and what it plays.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::clip::Clip;
use crate::random::Random;
use crate::vat::playback::{encode_phase, encode_speed};

mod layout;

pub use layout::Layout;

/// One character, as it lies in the GPU's instance buffer: 40 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Instance {
    /// Where its origin is, metres, world space.
    pub position: Vec3,
    /// Size, 1 is as baked.
    pub scale: f32,
    /// Cosine and sine of the turn about +Y, counter-clockwise seen from above.
    pub heading: [f32; 2],
    /// Multiplies the base colour: linear RGB in 8-bit fixed point; alpha is not used.
    pub tint: [u8; 4],
    /// Index of the clip.
    pub clip: u32,
    /// Where in the clip's cycle it stands at time 0, in units of 2⁻³² cycles.
    pub phase: u32,
    /// Rate of its clock, in units of 2⁻²⁴.
    pub speed: i32,
}

impl Instance {
    /// One at `position`, as baked: clip 0, phase 0, speed 1.
    pub fn at(position: Vec3) -> Self {
        Self {
            position,
            scale: 1.0,
            heading: [1.0, 0.0],
            tint: [255; 4],
            clip: 0,
            phase: 0,
            speed: encode_speed(1.0),
        }
    }
}

/// How a crowd of one asset is made up. Everything random follows `seed`, so the same description
/// is the same crowd everywhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Crowd {
    /// Number of characters.
    pub count: u32,
    /// How they stand.
    pub layout: Layout,
    /// Distance between neighbours, metres, above 0.
    pub spacing: f32,
    /// Middle of the layout, metres, world space.
    pub origin: Vec3,
    /// Turn about +Y that all share, degrees.
    pub heading_degrees: f32,
    /// Random turn to either side, degrees.
    pub heading_spread_degrees: f32,
    /// Size, 1 is as baked.
    pub scale: f32,
    /// Random change of size to either side, as a part of it.
    pub scale_spread: f32,
    /// Colours, one picked at random for each; sRGB `#rrggbb`. None is white.
    pub tints: Vec<Tint>,
    /// Names of the clips, one picked at random for each. None is every clip.
    pub clips: Vec<String>,
    /// How far phases are spread over the clip's cycle, 0 (all in step) to 1 (all phases).
    pub phase_spread: f32,
    /// Rate of the clock, 1 is the clip's own.
    pub speed: f32,
    /// Random change of speed to either side, as a part of it.
    pub speed_spread: f32,
    /// Makes the crowd another one.
    pub seed: u64,
}

impl Default for Crowd {
    fn default() -> Self {
        Self {
            count: 1,
            layout: Layout::Grid,
            spacing: 1.5,
            origin: Vec3::ZERO,
            heading_degrees: 0.0,
            heading_spread_degrees: 0.0,
            scale: 1.0,
            scale_spread: 0.0,
            tints: Vec::new(),
            clips: Vec::new(),
            phase_spread: 1.0,
            speed: 1.0,
            speed_spread: 0.0,
            seed: 1,
        }
    }
}

impl Crowd {
    /// The instances, for an asset with `clips`. Names that the asset does not have are left out.
    pub fn instances(&self, clips: &[Clip]) -> Vec<Instance> {
        let mut random = Random::new(self.seed);
        let named = |clip: &Clip| self.clips.is_empty() || self.clips.contains(&clip.name);
        let choices: Vec<u32> =
            (0..).zip(clips).filter(|(_, clip)| named(clip)).map(|(index, _)| index).collect();
        let places = self.layout.places(self.count, self.spacing, self.seed);
        places
            .into_iter()
            .map(|place| {
                // One draw per property, always, so that switching one off leaves the others alone.
                let (turn, size, tint) = (random.signed(), random.signed(), random.unit());
                let (clip, phase, rate) = (random.unit(), random.unit(), random.signed());
                let degrees = f64::from(self.heading_degrees) + turn * f64::from(self.heading_spread_degrees);
                #[expect(clippy::cast_possible_truncation, reason = "as exact as an f32 is")]
                Instance {
                    position: self.origin + Vec3::new(place.x, 0.0, place.y),
                    scale: (f64::from(self.scale) * (1.0 + size * f64::from(self.scale_spread))) as f32,
                    heading: [libm::cos(degrees.to_radians()) as f32, libm::sin(degrees.to_radians()) as f32],
                    tint: pick(&self.tints, tint).map_or([255; 4], |tint| tint.linear()),
                    clip: pick(&choices, clip).copied().unwrap_or(0),
                    phase: encode_phase(phase * f64::from(self.phase_spread)),
                    speed: encode_speed(f64::from(self.speed) * (1.0 + rate * f64::from(self.speed_spread))),
                }
            })
            .collect()
    }
}

fn pick<T>(choices: &[T], unit: f64) -> Option<&T> {
    #[expect(clippy::cast_possible_truncation, reason = "unit is below 1, so this is below len")]
    choices.get((unit * choices.len() as f64) as usize)
}

/// An sRGB colour, written `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tint(pub [u8; 3]);

impl Tint {
    /// Linear RGB in 8-bit fixed point, alpha 255 (IEC 61966-2-1).
    pub fn linear(self) -> [u8; 4] {
        let [r, g, b] = self.linear_f32();
        #[expect(clippy::cast_possible_truncation, reason = "0..=255")]
        let fixed = |channel: f32| (channel * 255.0).round() as u8;
        [fixed(r), fixed(g), fixed(b), 255]
    }

    /// Linear RGB, 0 ..= 1 (IEC 61966-2-1).
    pub fn linear_f32(self) -> [f32; 3] {
        self.0.map(|channel| {
            let s = f32::from(channel) / 255.0;
            if s <= 0.04045 { s / 12.92 } else { libm::powf((s + 0.055) / 1.055, 2.4) }
        })
    }
}

/// A colour that is not `#rrggbb`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found the colour {0:?}, expected #rrggbb")]
pub struct NotAColor(pub String);

impl TryFrom<String> for Tint {
    type Error = NotAColor;

    fn try_from(text: String) -> Result<Self, NotAColor> {
        let digits = text
            .strip_prefix('#')
            .filter(|digits| digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let parsed = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(number) = parsed else {
            return Err(NotAColor(text));
        };
        let [_, r, g, b] = number.to_be_bytes();
        Ok(Self([r, g, b]))
    }
}

impl From<Tint> for String {
    fn from(Tint([r, g, b]): Tint) -> Self {
        format!("#{r:02x}{g:02x}{b:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::LoopMode;

    fn clips(count: usize) -> Vec<Clip> {
        ["idle", "walk", "run"][..count]
            .iter()
            .map(|name| Clip {
                name: (*name).to_owned(),
                first_frame: 0,
                frame_count: 1,
                fps: 30.0,
                loop_mode: LoopMode::Loop,
                root_motion: None,
            })
            .collect()
    }

    #[test]
    fn same_description_is_the_same_crowd() {
        let crowd = Crowd {
            count: 500,
            layout: Layout::Disc,
            tints: vec![Tint([255, 0, 0]), Tint([0, 0, 255])],
            heading_spread_degrees: 180.0,
            speed_spread: 0.2,
            ..Crowd::default()
        };
        let first = crowd.instances(&clips(3));
        assert_eq!(first, crowd.instances(&clips(3)));
        assert_ne!(first, Crowd { seed: 2, ..crowd.clone() }.instances(&clips(3)));
        assert!((0..3).all(|clip| first.iter().any(|instance| instance.clip == clip)));
        let still = Crowd { speed_spread: 0.0, ..crowd }.instances(&clips(3));
        assert!(still.iter().zip(&first).all(|(a, b)| a.phase == b.phase && a.position == b.position));
        assert!(still.iter().all(|instance| instance.speed == 1 << 24));
    }

    #[test]
    fn clips_that_the_asset_lacks_are_left_out() {
        let crowd = Crowd { count: 100, clips: vec!["walk".into(), "fly".into()], ..Crowd::default() };
        assert!(crowd.instances(&clips(2)).iter().all(|instance| instance.clip == 1));
        assert!(crowd.instances(&clips(1)).iter().all(|instance| instance.clip == 0));
    }

    #[test]
    fn tints_are_turned_linear() {
        assert_eq!(Tint::try_from("#ff8000".to_owned()).unwrap().linear(), [255, 55, 0, 255]);
        assert_eq!(String::from(Tint([255, 128, 0])), "#ff8000");
        for wrong in ["ff8000", "#ff80", "#gg0000", "#ééé", "#+fffff"] {
            let parsed = Tint::try_from(wrong.to_owned());
            assert!(parsed.is_err(), "{wrong}");
        }
    }
}
