use std::fmt::Write as _;

use glam::Vec3;
use serde::Serialize;
use throng::asset::{Asset, Pose};
use throng::clip::Clip;
use throng::gpu::Gpu;
use throng::mesh::Mesh;
use throng::render::decode;
use throng::vat::FrameBlend;
use throng::vat::playback::{Frames, clip_frames, encode_cursor, encode_frames, encode_speed};

use super::{SCHEMA_VERSION, print};
use crate::cli::{Device, MeshFormat, Sample};
use crate::failure::Failure;
use crate::open;

#[derive(Serialize)]
struct Printed<'a> {
    schema_version: u32,
    clip: &'a str,
    frame: f64,
    time_seconds: f64,
    vertex_count: usize,
    positions: Vec<f32>,
    normals: Vec<f32>,
}

/// A moment of a clip.
struct Moment {
    frames: Frames,
    /// Frame from the clip's first.
    frame: f64,
    /// Seconds from the clip's beginning.
    seconds: f64,
}

pub(crate) fn run(arguments: &Sample) -> Result<(), Failure> {
    let asset = open::asset(&arguments.path, &arguments.reading.options())?;
    let clip = open::clip(&asset.clips, arguments.clip.as_deref())?;
    let moment = moment(clip, arguments)?;
    let pose = pose(&asset, moment.frames, arguments.blend, arguments.device)?;
    let text = match arguments.format {
        MeshFormat::Json => {
            let mut text = serde_json::to_string(&Printed {
                schema_version: SCHEMA_VERSION,
                clip: &clip.name,
                frame: moment.frame,
                time_seconds: moment.seconds,
                vertex_count: pose.positions.len(),
                positions: flat(&pose.positions),
                normals: flat(&pose.normals),
            })
            .unwrap_or_default();
            text.push('\n');
            text
        }
        MeshFormat::Obj => obj(&asset.mesh, &pose),
        MeshFormat::Ply => ply(&asset.mesh, &pose),
    };
    print(text.as_bytes())
}

fn moment(clip: &Clip, arguments: &Sample) -> Result<Moment, Failure> {
    if let Some(frame) = arguments.frame {
        let last = f64::from(clip.frame_count - 1);
        if !(0.0..=last).contains(&frame) {
            let text =
                format!("frame {frame} is not in the clip {:?}, which has frames 0 to {last}", clip.name);
            return Err(Failure::Usage(text));
        }
        return Ok(Moment { frames: encode_frames(clip, frame), frame, seconds: clip.frame_seconds(frame) });
    }
    let seconds = arguments.time.unwrap_or(0.0);
    let frames = clip_frames(encode_cursor(clip, seconds), 0, encode_speed(1.0));
    let a = f64::from(frames.a - clip.first_frame);
    let towards =
        if frames.b >= frames.a || clip.loop_mode == throng::clip::LoopMode::Loop { 1.0 } else { -1.0 };
    Ok(Moment { frames, frame: a + towards * f64::from(frames.weight), seconds })
}

fn pose(asset: &Asset, frames: Frames, blend: FrameBlend, device: Device) -> Result<Pose, Failure> {
    match device {
        Device::Cpu => Ok(asset.pose(frames, blend)),
        Device::Gpu => Ok(pollster::block_on(async {
            let gpu = Gpu::headless().await?;
            decode::pose(&gpu, asset, frames, blend).await
        })?),
    }
}

fn flat(vectors: &[Vec3]) -> Vec<f32> {
    vectors.iter().flat_map(|vector| vector.to_array()).collect()
}

/// Wavefront OBJ: one normal per vertex, so both have one index. Writing to a `String` cannot fail.
fn obj(mesh: &Mesh, pose: &Pose) -> String {
    let mut text = String::new();
    for p in &pose.positions {
        writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap_or_default();
    }
    for uv in mesh.uvs.iter().flatten() {
        // OBJ counts V from the bottom.
        writeln!(text, "vt {} {}", uv.x, 1.0 - uv.y).unwrap_or_default();
    }
    for n in &pose.normals {
        writeln!(text, "vn {} {} {}", n.x, n.y, n.z).unwrap_or_default();
    }
    for triangle in mesh.indices.as_chunks::<3>().0 {
        let [a, b, c] = triangle.map(|index| index + 1);
        if mesh.uvs.is_some() {
            writeln!(text, "f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}").unwrap_or_default();
        } else {
            writeln!(text, "f {a}//{a} {b}//{b} {c}//{c}").unwrap_or_default();
        }
    }
    text
}

/// PLY 1.0, as text.
fn ply(mesh: &Mesh, pose: &Pose) -> String {
    let mut text = format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         property float nx\nproperty float ny\nproperty float nz\nelement face {}\n\
         property list uchar uint vertex_indices\nend_header\n",
        pose.positions.len(),
        mesh.triangle_count()
    );
    for (p, n) in pose.positions.iter().zip(&pose.normals) {
        writeln!(text, "{} {} {} {} {} {}", p.x, p.y, p.z, n.x, n.y, n.z).unwrap_or_default();
    }
    for [a, b, c] in mesh.indices.as_chunks::<3>().0 {
        writeln!(text, "3 {a} {b} {c}").unwrap_or_default();
    }
    text
}
