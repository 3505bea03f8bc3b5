use std::fmt;

use glam::Vec3;
use serde::Serialize;

use crate::asset::Asset;
use crate::source::{Motion, Source};
use crate::vat::playback::encode_frames;
use crate::vat::{FrameBlend, Normals};

/// Size of a bake, and its error against the source at the baked frames, over all vertices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// How positions are stored.
    pub encoding: &'static str,
    /// Where normals come from.
    pub normals: &'static str,
    /// Texture width, texels.
    pub width: u32,
    /// Texture height, texels.
    pub height: u32,
    /// Bytes of all texels.
    pub texel_bytes: u64,
    /// Bytes of texels per element and frame.
    pub bytes_per_vertex_frame: f64,
    /// Worst distance between source and decoded position, metres.
    pub position_error_metres: Worst,
    /// Mean of those distances, metres.
    pub position_error_mean_metres: f64,
    /// Worst angle between source and decoded normal, degrees; `None` where the bake stores no normals.
    pub normal_error_degrees: Option<Worst>,
    /// Mean of those angles, degrees.
    pub normal_error_mean_degrees: Option<f64>,
}

/// A worst error, and where it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Worst {
    /// How large.
    pub error: f64,
    /// Vertex of the mesh.
    pub vertex: usize,
    /// Name of the clip.
    pub clip: String,
    /// Frame of the clip.
    pub frame: usize,
}

#[derive(Default)]
struct Errors {
    worst: Worst,
    sum: f64,
    count: u64,
}

impl Errors {
    fn add(&mut self, error: f64, vertex: usize, clip: &str, frame: usize) {
        self.sum += error;
        self.count += 1;
        if error > self.worst.error || self.count == 1 {
            self.worst = Worst { error, vertex, clip: clip.to_owned(), frame };
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

pub(super) fn measure(asset: &Asset, source: &Source) -> Report {
    let (mut positions, mut normals) = (Errors::default(), Errors::default());
    let stored_normals = asset.animation.normal_texels.is_some();
    for (clip, baked) in source.clips.iter().zip(&asset.clips) {
        let Motion::Vertices(frames) = &clip.motion;
        for (frame, truth) in frames.iter().enumerate() {
            let moment = encode_frames(baked, frame as f64);
            let pose = asset.pose(moment, FrameBlend::Step);
            for (vertex, element) in asset.mesh.elements.iter().enumerate() {
                let element = *element as usize;
                let distance =
                    pose.positions[vertex].as_dvec3().distance(truth.positions[element].as_dvec3());
                positions.add(distance, vertex, &clip.name, frame);
                if stored_normals {
                    let angle = angle_degrees(pose.normals[vertex], truth.normals[element]);
                    normals.add(angle, vertex, &clip.name, frame);
                }
            }
        }
    }
    let animation = &asset.animation;
    let samples = u64::from(animation.element_count) * u64::from(animation.grid.frame_count);
    let size = animation.positions.size();
    Report {
        encoding: animation.encoding.name(),
        normals: Normals::name(animation.normals),
        width: size.x,
        height: size.y,
        texel_bytes: asset.texel_bytes(),
        bytes_per_vertex_frame: asset.texel_bytes() as f64 / samples as f64,
        position_error_mean_metres: positions.mean(),
        position_error_metres: positions.worst,
        normal_error_mean_degrees: stored_normals.then(|| normals.mean()),
        normal_error_degrees: stored_normals.then_some(normals.worst),
    }
}

/// Angle between unit vectors, exact for small angles too.
fn angle_degrees(a: Vec3, b: Vec3) -> f64 {
    let (a, b) = (a.as_dvec3(), b.as_dvec3());
    libm::atan2(a.cross(b).length(), a.dot(b)).to_degrees()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Worst { error, vertex, clip, frame } = &self.position_error_metres;
        writeln!(f, "texture         {} × {} texels, {} bytes", self.width, self.height, self.texel_bytes)?;
        writeln!(f, "per vertex      {:.2} bytes a frame", self.bytes_per_vertex_frame)?;
        writeln!(
            f,
            "position error  worst {:.4} mm (vertex {vertex}, clip {clip}, frame {frame}), mean {:.4} mm",
            error * 1e3,
            self.position_error_mean_metres * 1e3
        )?;
        match (&self.normal_error_degrees, self.normal_error_mean_degrees) {
            (Some(Worst { error, vertex, clip, frame }), Some(mean)) => write!(
                f,
                "normal error    worst {error:.4}° (vertex {vertex}, clip {clip}, frame {frame}), mean {mean:.4}°"
            ),
            _ => write!(f, "normals         {}, not stored", self.normals),
        }
    }
}
