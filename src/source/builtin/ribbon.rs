use std::f32::consts::TAU;
use std::io::Cursor;

use glam::{Quat, Vec2, Vec3, Vec4};
use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};

use crate::clip::LoopMode;
use crate::material::{Image, Material};
use crate::mesh::{Mesh, Primitive};
use crate::source::{Motion, Source, SourceClip, VertexFrame};

const COLUMNS: usize = 7;
const ROWS: usize = 49;
/// Metres.
const WIDTH: f32 = 0.5;
const HEIGHT: f32 = 2.0;
const SECONDS: f32 = 2.0;
/// Studs across the ribbon.
const STUDS: f32 = 4.0;

/// A studded ribbon that stands on its end, bows and turns about itself: what a normal map needs tangents
/// for.
pub(super) fn ribbon(fps: f64) -> Source {
    #[expect(clippy::cast_possible_truncation, reason = "at most 240 frames a second")]
    let frame_count = (f64::from(SECONDS) * fps).round() as usize;
    let frames = (0..frame_count).map(|frame| at(frame as f32 / frame_count as f32)).collect();
    Source {
        name: "ribbon".to_owned(),
        mesh: mesh(),
        materials: vec![Material {
            name: "studded leather".to_owned(),
            base_color: Vec4::new(0.30, 0.12, 0.06, 1.0),
            roughness: 0.42,
            normal_image: Some(0),
            double_sided: true,
            ..Material::default()
        }],
        images: vec![Image { mime_type: "image/png".to_owned(), data: studs().into() }],
        clips: vec![SourceClip {
            name: "bow".to_owned(),
            fps: frame_count as f64 / f64::from(SECONDS),
            loop_mode: LoopMode::Loop,
            motion: Motion::Vertices(frames),
        }],
        producer: concat!("throng ", env!("CARGO_PKG_VERSION"), " builtin:ribbon").to_owned(),
        ..Source::default()
    }
}

/// The ribbon at a part of its loop: a frame is carried up its middle, turned a little at each step.
fn at(part: f32) -> VertexFrame {
    let turn = TAU * part;
    let bow = 1.15 * libm::sinf(turn);
    let twist = 1.3 * libm::cosf(turn) - 0.5;
    let mut frame = VertexFrame::default();
    let (mut place, mut turned) = (Vec3::ZERO, Quat::IDENTITY);
    let step = HEIGHT / (ROWS - 1) as f32;
    for _ in 0..ROWS {
        let across = turned * Vec3::X;
        // The twist tilts the surface away from the middle.
        let up = turned * Vec3::Y;
        for column in 0..COLUMNS {
            let aside = (column as f32 / (COLUMNS - 1) as f32 - 0.5) * WIDTH;
            let facing = turned * Vec3::Z;
            let along = (up - facing * (twist * aside)).normalize();
            frame.positions.push(place + across * aside);
            frame.normals.push(across.cross(along).normalize());
            frame.tangents.push(across.extend(1.0));
        }
        let half = Quat::from_euler(glam::EulerRot::XYZ, bow * step * 0.5, twist * step * 0.5, 0.0);
        turned = (turned * half).normalize();
        place += turned * Vec3::Y * step;
        turned = (turned * half).normalize();
    }
    frame
}

fn mesh() -> Mesh {
    let count = COLUMNS * ROWS;
    let flat = |index: usize| {
        let (column, row) = (index % COLUMNS, index / COLUMNS);
        Vec2::new(column as f32 / (COLUMNS - 1) as f32, row as f32 / (ROWS - 1) as f32)
    };
    let to_u32 = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let mut indices = Vec::new();
    for row in 0..ROWS - 1 {
        for column in 0..COLUMNS - 1 {
            let [a, b] = [row * COLUMNS + column, (row + 1) * COLUMNS + column].map(to_u32);
            indices.extend([a, a + 1, b, a + 1, b + 1, b]);
        }
    }
    let uv = |at: Vec2| Vec2::new(at.x * STUDS, (1.0 - at.y) * STUDS * HEIGHT / WIDTH);
    Mesh {
        positions: (0..count)
            .map(|index| ((flat(index) - Vec2::X * 0.5) * Vec2::new(WIDTH, HEIGHT)).extend(0.0))
            .collect(),
        normals: vec![Vec3::Z; count],
        tangents: Some(vec![Vec4::new(1.0, 0.0, 0.0, 1.0); count]),
        uvs: Some((0..count).map(|index| uv(flat(index))).collect()),
        elements: (0..to_u32(count)).collect(),
        primitives: vec![Primitive { indices: 0..to_u32(indices.len()), material: Some(0) }],
        indices,
        ..Mesh::default()
    }
}

/// A normal map of one round stud, as a PNG. Y points up.
fn studs() -> Vec<u8> {
    const SIDE: u16 = 64;
    let mut pixels = Vec::new();
    for y in 0..SIDE {
        for x in 0..SIDE {
            let from_middle = |pixel: u16| (f32::from(pixel) + 0.5) / f32::from(SIDE) * 2.0 - 1.0;
            let out = Vec2::new(from_middle(x), -from_middle(y)) / 0.72;
            // A cap of a sphere: its normal leans out as far as the point lies out.
            let lean = if out.length() < 1.0 { out * 0.8 } else { Vec2::ZERO };
            let normal = lean.extend((1.0 - lean.length_squared()).sqrt());
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0..=255")]
            pixels.extend(normal.to_array().map(|n| (n * 127.0 + 128.0).round() as u8));
        }
    }
    let mut png = Cursor::new(Vec::new());
    // The only failure is a buffer of the wrong length, which this is not.
    let side = u32::from(SIDE);
    PngEncoder::new(&mut png).write_image(&pixels, side, side, ExtendedColorType::Rgb8).unwrap_or_default();
    png.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_and_tangents_are_those_of_the_surface() {
        let [mut worst, mut most] = [0.0_f32; 2];
        for step in 0..8 {
            let frame = at(step as f32 / 8.0);
            let place = |row: usize, column: usize| frame.positions[row * COLUMNS + column];
            for row in 1..ROWS - 1 {
                for column in 1..COLUMNS - 1 {
                    let across = (place(row, column + 1) - place(row, column - 1)).normalize();
                    let along = (place(row + 1, column) - place(row - 1, column)).normalize();
                    let index = row * COLUMNS + column;
                    let normal = frame.normals[index];
                    worst = worst.max(normal.distance(across.cross(along).normalize()));
                    worst = worst.max(frame.tangents[index].truncate().distance(across));
                    most = most.max(normal.angle_between(Vec3::Z).to_degrees());
                }
            }
        }
        println!("off by {worst:.4}, turned by up to {most:.0} degrees");
        assert!(worst < 0.01 && most > 90.0);
    }
}
