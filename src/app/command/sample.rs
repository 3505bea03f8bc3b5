use std::fmt::Write as _;

use glam::{DVec3, Vec3};
use serde::Serialize;
use throng::asset::{Asset, Pose};
use throng::bake;
use throng::clip::Clip;
use throng::gpu::Gpu;
use throng::mesh::Mesh;
use throng::render::decode;
use throng::source::Model;
use throng::source::timeline::Wanted;
use throng::vat::playback::{Frames, clip_frames, encode_cursor, encode_frames, encode_speed};
use throng::vat::{Encoding, FrameBlend};

use super::{SCHEMA_VERSION, print};
use crate::cli::{Device, MeshFormat, Sample};
use crate::failure::Failure;
use crate::open::{self, Input};

#[derive(Serialize)]
struct Printed<'a, T: Serialize> {
    schema_version: u32,
    clip: &'a str,
    frame: f64,
    time_seconds: f64,
    vertex_count: usize,
    positions: Vec<T>,
    normals: Vec<T>,
    /// Three per vertex; where rotations are stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tangents: Vec<T>,
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
    let how = arguments.reading.how();
    let mut order = None;
    let asset = match open::input(&arguments.path, &how)? {
        Input::Model(model) => return of_model(&model, arguments),
        Input::Asset(asset) => *asset,
        Input::Source(source) => {
            // Not to the precision of a bake that nobody asked for.
            let settings = bake::Settings { encoding: Encoding::Float32, ..bake::Settings::default() };
            let (asset, vertices) = bake::encode(&source, &settings)?;
            order = Some((source.mesh, vertices));
            asset
        }
    };
    let clip = open::clip(&asset.clips, arguments.clip.as_deref())?;
    let moment = moment(clip, arguments)?;
    let mut pose = pose(&asset, moment.frames, arguments.blend, arguments.device)?;
    let mut mesh = &asset.mesh;
    if let Some((source, vertices)) = &order {
        // In the order of the source, as that of a model that is not baked is its file's.
        let mut ordered = Pose {
            positions: vec![Vec3::ZERO; source.vertex_count()],
            normals: source.normals.clone(),
            tangents: Vec::new(),
        };
        for (at, vertex) in vertices.iter().enumerate() {
            ordered.positions[*vertex as usize] = pose.positions[at];
            ordered.normals[*vertex as usize] = pose.normals[at];
        }
        (pose, mesh) = (ordered, source);
    }
    let text = match arguments.format {
        MeshFormat::Json => json(&Printed {
            schema_version: SCHEMA_VERSION,
            clip: &clip.name,
            frame: moment.frame,
            time_seconds: moment.seconds,
            vertex_count: pose.positions.len(),
            positions: flat(&pose.positions),
            normals: flat(&pose.normals),
            tangents: flat(&pose.tangents),
        }),
        MeshFormat::Obj => obj(mesh, &pose),
        MeshFormat::Ply => ply(mesh, &pose),
    };
    print(text.as_bytes())
}

/// A model that was not baked is evaluated by itself, in f64 and in its file's order of vertices.
fn of_model(model: &Model, arguments: &Sample) -> Result<(), Failure> {
    if arguments.device == Device::Gpu {
        let text = "a model that was not baked is evaluated on the CPU: bake it, or leave --device out";
        return Err(Failure::Usage(text.to_owned()));
    }
    let wanted = Wanted { fps: arguments.reading.fps, ..Wanted::default() };
    let cut = open::clips_of_model(model, &wanted)?;
    let clips: Vec<Clip> = cut.iter().map(|(clip, _)| clip.clone()).collect();
    let index = match &arguments.clip {
        None => 0,
        Some(_) => {
            let clip = open::clip(&clips, arguments.clip.as_deref())?;
            clips.iter().position(|other| std::ptr::eq(other, clip)).unwrap_or(0)
        }
    };
    let (clip, cut) = &cut[index];
    let (frame, seconds) = match arguments.frame {
        Some(_) => {
            let frame = moment(clip, arguments)?.frame;
            (frame, cut.start_seconds + clip.frame_seconds(frame))
        }
        None => {
            let seconds = arguments.time.unwrap_or(0.0);
            ((seconds - cut.start_seconds) * clip.fps, seconds)
        }
    };
    let evaluated = model.rig.evaluate((!model.rig.clips.is_empty()).then_some(index), seconds);
    let flat = |vectors: &[DVec3]| vectors.iter().flat_map(|vector| vector.to_array()).collect();
    let text = match arguments.format {
        MeshFormat::Json => json(&Printed {
            schema_version: SCHEMA_VERSION,
            clip: &clip.name,
            frame,
            time_seconds: seconds,
            vertex_count: evaluated.positions.len(),
            positions: flat(&evaluated.positions),
            normals: flat(&evaluated.normals),
            tangents: Vec::new(),
        }),
        MeshFormat::Obj | MeshFormat::Ply => {
            let single = |vectors: &[DVec3]| vectors.iter().map(|vector| vector.as_vec3()).collect();
            let pose = Pose {
                positions: single(&evaluated.positions),
                normals: single(&evaluated.normals),
                ..Pose::default()
            };
            let has_uvs = model.surfaces.iter().any(|surface| surface.has_uvs);
            let uvs = has_uvs.then(|| model.uvs.clone());
            let mesh = Mesh { uvs, indices: model.indices.clone(), ..Mesh::default() };
            if arguments.format == MeshFormat::Obj { obj(&mesh, &pose) } else { ply(&mesh, &pose) }
        }
    };
    print(text.as_bytes())
}

fn json(printed: &impl Serialize) -> String {
    let mut text = serde_json::to_string(printed).unwrap_or_default();
    text.push('\n');
    text
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
