//! Scene files: every picture is one. Viewer, captures, benches and golden tests load the same JSON.
//!
//! The fields are described by `assets/scenes/scene.schema.json`.

use std::path::{Path, PathBuf};

use glam::{UVec2, Vec3};
use serde::{Deserialize, Serialize};

use crate::asset::Asset;
use crate::bounds::Bounds;
use crate::crowd::{Crowd, Instance};
use crate::render::{Camera, Ground, Light, Settings, View};

mod stage;

pub use stage::Stage;

/// The version of the scene format that this crate reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// Largest side of a picture, pixels.
pub const MAX_PICTURE_SIZE: u32 = 16_384;

/// Largest crowd of one asset.
pub const MAX_COUNT: u32 = 10_000_000;

/// A scene file is text of a few kilobytes; nothing larger is read.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// What is drawn, from where, in which light, at what time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Where editors find the JSON Schema; not read.
    #[serde(default, rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Always [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// One crowd per asset that is drawn.
    pub crowds: Vec<SceneCrowd>,
    /// `None` frames all crowds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub camera: Option<Camera>,
    /// Sun and sky.
    #[serde(default)]
    pub light: Light,
    /// The plane they stand on.
    #[serde(default)]
    pub ground: Ground,
    /// Time of the picture, seconds on the scene's clock.
    #[serde(default)]
    pub time_seconds: f64,
    /// How it is drawn.
    #[serde(default)]
    pub settings: Settings,
    /// Width and height of the picture, pixels.
    #[serde(default = "default_size")]
    pub size: [u32; 2],
}

/// A crowd and the asset that it is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneCrowd {
    /// `builtin:NAME`, or a path, relative to the scene file's folder.
    pub asset: String,
    /// How the crowd is made up.
    #[serde(default)]
    pub crowd: Crowd,
}

fn default_size() -> [u32; 2] {
    [1280, 720]
}

/// Why a scene cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the scene: {source}: {}", path.display())]
    Read {
        /// The cause.
        source: std::io::Error,
        /// The file.
        path: PathBuf,
    },
    /// The file is larger than any scene.
    #[error("found {found} bytes, expected a scene file of at most {limit}: {}", path.display())]
    TooLarge {
        /// Size of the file.
        found: u64,
        /// Largest size that is read.
        limit: u64,
        /// The file.
        path: PathBuf,
    },
    /// Not JSON, or fields that a scene does not have.
    #[error("{source}: {}", path.display())]
    Json {
        /// What was found, with line and column.
        source: serde_json::Error,
        /// The file.
        path: PathBuf,
    },
    /// A value outside its range.
    #[error("{pointer}: found {found}, expected {expected}: {}", path.display())]
    Value {
        /// JSON pointer of the value.
        pointer: String,
        /// The value.
        found: String,
        /// Its range.
        expected: String,
        /// The file.
        path: PathBuf,
    },
}

/// Single floats tell millimetres apart up to a few kilometres; far beyond that nothing is drawn right.
const MAX_METRES: f32 = 1e6;

impl Scene {
    /// A scene of one asset: `count` of it on a grid, framed.
    pub fn of_asset(asset: impl Into<String>, bounds: Bounds, count: u32) -> Self {
        let size = bounds.size();
        // Room for the widest pose whatever the heading, and a little air.
        let spacing = (size.x.max(size.z) * 1.15).max(1e-3);
        let largest = size.max_element().max(1e-3);
        Self {
            schema: None,
            schema_version: SCHEMA_VERSION,
            crowds: vec![SceneCrowd {
                asset: asset.into(),
                crowd: Crowd { count, spacing, ..Crowd::default() },
            }],
            camera: None,
            light: Light { haze_metres: largest * 120.0, ..Light::default() },
            ground: Ground {
                height: bounds.min.y.min(0.0),
                line_metres: 10f32.powf((largest * 0.6).log10().floor()),
                ..Ground::default()
            },
            time_seconds: 0.0,
            settings: Settings::default(),
            size: default_size(),
        }
    }

    /// Reads a scene file.
    ///
    /// # Errors
    /// [`Error`] when the file cannot be read, is no scene, or holds a value outside its range.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let read = |source| Error::Read { source, path: path.to_owned() };
        let found = std::fs::metadata(path).map_err(read)?.len();
        if found > MAX_FILE_BYTES {
            return Err(Error::TooLarge { found, limit: MAX_FILE_BYTES, path: path.to_owned() });
        }
        let text = std::fs::read(path).map_err(read)?;
        Self::parse(&text, path)
    }

    /// Reads the text of a scene file; `path` is for messages.
    ///
    /// # Errors
    /// As [`Scene::read`].
    pub fn parse(text: &[u8], path: &Path) -> Result<Self, Error> {
        let scene: Self =
            serde_json::from_slice(text).map_err(|source| Error::Json { source, path: path.to_owned() })?;
        scene.check(path)?;
        Ok(scene)
    }

    fn check(&self, path: &Path) -> Result<(), Error> {
        let value = |holds: bool, pointer: &str, found: &dyn std::fmt::Debug, expected: &str| {
            if holds {
                return Ok(());
            }
            let (pointer, found, expected) = (pointer.to_owned(), format!("{found:?}"), expected.to_owned());
            Err(Error::Value { pointer, found, expected, path: path.to_owned() })
        };
        let version = self.schema_version;
        value(version == SCHEMA_VERSION, "/schema_version", &version, &SCHEMA_VERSION.to_string())?;
        let sides = 1..=MAX_PICTURE_SIZE;
        let holds = self.size.iter().all(|side| sides.contains(side));
        value(holds, "/size", &self.size, "1 to 16384 pixels")?;
        value(self.time_seconds.is_finite(), "/time_seconds", &self.time_seconds, "a finite number")?;
        for (index, SceneCrowd { crowd, .. }) in self.crowds.iter().enumerate() {
            let at = |field: &str| format!("/crowds/{index}/crowd/{field}");
            value(crowd.count <= MAX_COUNT, &at("count"), &crowd.count, "at most 10000000")?;
            let positive = |number: f32| number.is_finite() && number > 0.0;
            value(positive(crowd.spacing), &at("spacing"), &crowd.spacing, "metres, above 0")?;
            value(positive(crowd.scale), &at("scale"), &crowd.scale, "a number above 0")?;
            value(crowd.origin.is_finite(), &at("origin"), &crowd.origin, "finite numbers")?;
            for (field, number) in [
                ("heading_degrees", crowd.heading_degrees),
                ("heading_spread_degrees", crowd.heading_spread_degrees),
                ("phase_spread", crowd.phase_spread),
            ] {
                value(number.is_finite(), &at(field), &number, "a finite number")?;
            }
            // Everybody keeps some size, and goes the same way in time.
            let spread = |number: f32| (0.0..1.0).contains(&number);
            value(spread(crowd.scale_spread), &at("scale_spread"), &crowd.scale_spread, "0 to below 1")?;
            value(spread(crowd.speed_spread), &at("speed_spread"), &crowd.speed_spread, "0 to below 1")?;
            let far = MAX_METRES;
            value(crowd.spacing <= far, &at("spacing"), &crowd.spacing, "at most 1e6 metres")?;
            value(crowd.scale <= far, &at("scale"), &crowd.scale, "at most 1e6")?;
            let slow = crowd.speed.is_finite() && crowd.speed.abs() < 128.0;
            value(slow, &at("speed"), &crowd.speed, "-128 to 128")?;
        }
        if let Some(camera) = self.camera {
            let apart = camera.eye.is_finite() && camera.target.is_finite() && camera.eye != camera.target;
            value(apart, "/camera/target", &camera.target, "a finite point other than the eye")?;
            let fov = camera.fov_y_degrees;
            value(fov > 0.0 && fov < 180.0, "/camera/fov_y_degrees", &fov, "above 0, below 180")?;
            let near = camera.near;
            value(near > 0.0 && near <= MAX_METRES, "/camera/near", &near, "metres, above 0, at most 1e6")?;
        }
        let haze = self.light.haze_metres;
        value(haze.is_finite() && haze >= 0.0, "/light/haze_metres", &haze, "metres, at least 0")?;
        let line = self.ground.line_metres;
        value(line.is_finite() && line > 0.0, "/ground/line_metres", &line, "metres, above 0")?;
        value(self.ground.height.is_finite(), "/ground/height", &self.ground.height, "a finite number")
    }

    /// Instances of each crowd, for the scene's assets in the order of the crowds, and the box round
    /// all of them, whatever they play.
    pub fn instances(&self, assets: &[Asset]) -> (Vec<Vec<Instance>>, Bounds) {
        let mut bounds = Bounds::EMPTY;
        let instances = self
            .crowds
            .iter()
            .zip(assets)
            .map(|(SceneCrowd { crowd, .. }, asset)| {
                let instances = crowd.instances(&asset.clips);
                let local = asset.bounds();
                for instance in &instances {
                    bounds = bounds.union(placed(local, instance));
                }
                instances
            })
            .collect();
        (instances, bounds)
    }

    /// The view at `time_seconds`, for a picture of `size` pixels; without a camera of its own it
    /// frames `bounds`.
    pub fn view(&self, bounds: Bounds, size: UVec2, time_seconds: f64) -> View {
        let camera = self.camera.unwrap_or_else(|| framing(bounds, size));
        let mut light = self.light;
        if self.camera.is_none() && light.haze_metres > 0.0 {
            // What is framed is to be seen, however far back the camera had to go.
            light.haze_metres = light.haze_metres.max(camera.eye.distance(camera.target) * 4.0);
        }
        View { camera, size, light, ground: self.ground, time_seconds, settings: self.settings }
    }
}

/// The box round `bounds` where an instance puts it.
fn placed(bounds: Bounds, instance: &Instance) -> Bounds {
    let [cosine, sine] = instance.heading;
    Bounds::of_points((0..8).map(|corner| {
        let pick = |axis: usize| {
            if corner >> axis & 1 == 1 { bounds.max[axis] } else { bounds.min[axis] }
        };
        let local = Vec3::new(pick(0), pick(1), pick(2)) * instance.scale;
        let turned = Vec3::new(cosine * local.x + sine * local.z, local.y, cosine * local.z - sine * local.x);
        instance.position + turned
    }))
}

/// Three quarters from the front, a little above: where one would stand to look at a crowd.
fn framing(bounds: Bounds, size: UVec2) -> Camera {
    let bounds = if bounds.is_proper() { bounds } else { Bounds { min: -Vec3::ONE, max: Vec3::ONE } };
    let camera = Camera { eye: Vec3::new(0.45, 0.4, 1.0), target: Vec3::ZERO, ..Camera::default() };
    camera.framing(bounds, size.x as f32 / size.y.max(1) as f32)
}
