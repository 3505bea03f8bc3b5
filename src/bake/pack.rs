//! The second look: every frame into its texels.

use glam::{Quat, Vec3, Vec4};
use rayon::prelude::*;

use super::{FrameOf, Settings};
use crate::clip::Clip;
use crate::source::{Sampler, Scratch, VertexFrame};
use crate::vat::blocks::encode_blocks;
use crate::vat::encoding::{Remap, encode_positions};
use crate::vat::grid::{Grid, texel_address};
use crate::vat::normals::{encode_alpha, encode_normals};
use crate::vat::rotation::{encode_rotations, encode_same_hemisphere, encode_tangent_frame};
use crate::vat::{Encoding, Normals, PositionSpace, Texels};

/// What to pack.
pub(super) struct Packing<'a> {
    pub(super) sampler: &'a Sampler<'a>,
    pub(super) frames: &'a [FrameOf],
    /// Frames that the survey kept.
    pub(super) kept: Option<&'a [VertexFrame]>,
    /// Element of each column.
    pub(super) columns: &'a [u32],
    /// Rest position of each element.
    pub(super) rest: &'a [Vec3],
    /// Rest normal of each element.
    pub(super) rest_normals: &'a [Vec3],
    pub(super) grid: Grid,
    pub(super) remap: Remap,
    pub(super) settings: &'a Settings,
}

/// Buffers of one thread.
#[derive(Default)]
struct Room {
    scratch: Scratch,
    frame: VertexFrame,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    rotations: Vec<Vec4>,
    alphas: Vec<u32>,
    texels: Vec<u8>,
}

impl Packing<'_> {
    /// Positions, and normals where they are stored.
    /// `None` where this build cannot encode them.
    pub(super) fn texels(&self, clips: &[Clip]) -> Option<(Texels, Option<Texels>)> {
        let size = self.grid.size().unwrap_or_default();
        let encoding = self.settings.encoding;
        let normal_format = self.settings.normals.texel_format();
        let texel_count = size.x as usize * size.y as usize;
        let normal_bytes = normal_format.map_or(0, |format| format.bytes() as usize);
        let mut positions = vec![0; texel_count * encoding.element_bytes()];
        let mut normals = vec![0; texel_count * normal_bytes];
        // The rows of a frame hold the frames of other bands too: one thread does all of them.
        let rows = (size.x * self.grid.rows_per_frame) as usize;
        let position_rows = positions.par_chunks_mut(rows * encoding.element_bytes());
        if normal_bytes == 0 {
            position_rows
                .enumerate()
                .for_each_init(Room::default, |room, (row, bytes)| self.rows(row, bytes, &mut [], room));
        } else {
            let normal_rows = normals.par_chunks_mut(rows * normal_bytes);
            position_rows.zip(normal_rows).enumerate().for_each_init(
                Room::default,
                |room, (row, (positions, normals))| {
                    self.rows(row, positions, normals, room);
                },
            );
        }
        if self.settings.normals == Normals::Rotation {
            self.keep_hemispheres(clips, &mut normals);
        }
        let texels =
            |format, size, data| Texels::new(format, size, data).expect("as many bytes as the size says");
        let full = encoding.texture_size(size);
        if encoding == Encoding::Bc6h {
            positions = encode_blocks(full, &positions, size)?;
        }
        Some((
            texels(encoding.texel_format(), full, positions),
            normal_format.map(|format| texels(format, size, normals)),
        ))
    }

    /// Every band's frame of the `row`-th run of rows.
    fn rows(&self, row: usize, positions: &mut [u8], normals: &mut [u8], room: &mut Room) {
        let per_band = self.grid.frames_per_band as usize;
        for (band, number) in (row..self.frames.len()).step_by(per_band).enumerate() {
            let of = self.frames[number];
            let frame = match self.kept {
                Some(kept) => &kept[number],
                None => {
                    self.sampler.frame(of.clip, f64::from(of.frame), &mut room.scratch, &mut room.frame);
                    &room.frame
                }
            };
            room.positions.clear();
            let stored = |element: &u32| {
                let element = *element as usize;
                match self.settings.space {
                    PositionSpace::Absolute => frame.positions[element],
                    PositionSpace::Offset => frame.positions[element] - self.rest[element],
                }
            };
            room.positions.extend(self.columns.iter().map(stored));
            if self.settings.encoding == Encoding::Bc6h
                && let Some(last) = room.positions.last().copied()
            {
                // What blocks do not share with anything else costs them nothing.
                room.positions.resize((self.grid.columns * self.grid.rows_per_frame) as usize, last);
            }
            room.normals.clear();
            if self.settings.normals.is_stored() {
                room.normals.extend(self.columns.iter().map(|element| frame.normals[*element as usize]));
            }
            let encoding = self.settings.encoding;
            let in_alpha = self.settings.normals == Normals::Alpha;
            room.alphas.clear();
            if in_alpha {
                room.alphas.extend(room.normals.iter().map(|normal| encode_alpha(*normal, encoding)));
            }
            let alphas = in_alpha.then_some(&room.alphas[..]);
            room.texels.clear();
            encode_positions(&room.positions, alphas, encoding, self.remap, &mut room.texels);
            self.place(band, &room.texels, encoding.element_bytes(), positions);
            if !normals.is_empty() {
                room.texels.clear();
                if self.settings.normals == Normals::Rotation {
                    room.rotations.clear();
                    room.rotations.extend(self.columns.iter().map(|element| self.rotation(frame, *element)));
                    encode_rotations(&room.rotations, &mut room.texels);
                } else {
                    encode_normals(&room.normals, self.settings.normals, &mut room.texels);
                }
                let texel_bytes = room.texels.len() / self.columns.len();
                self.place(band, &room.texels, texel_bytes, normals);
            }
        }
    }

    /// The tangent frame of an element. Without tangents it turns the shortest way from that of rest, so
    /// that it does not spin from frame to frame.
    fn rotation(&self, frame: &VertexFrame, element: u32) -> Vec4 {
        let element = element as usize;
        let normal = frame.normals[element];
        if let Some(tangent) = frame.tangents.get(element) {
            return encode_tangent_frame(normal, tangent.truncate());
        }
        let rest = self.rest_normals[element];
        let from_rest = Quat::from_rotation_arc(rest, normal);
        encode_tangent_frame(normal, from_rest * rest.any_orthonormal_vector())
    }

    /// Gives the rotations of each clip's frames, one after the other, the sign that is nearer to the last.
    fn keep_hemispheres(&self, clips: &[Clip], rotations: &mut [u8]) {
        let width = self.grid.size().unwrap_or_default().x as usize;
        let texels = rotations.as_chunks_mut::<8>().0;
        let columns = u32::try_from(self.columns.len()).unwrap_or(u32::MAX);
        let at = |element, frame| {
            let at = texel_address(self.grid, element, frame);
            at.y as usize * width + at.x as usize
        };
        for clip in clips {
            for frame in clip.first_frame + 1..clip.first_frame + clip.frame_count {
                for element in 0..columns {
                    let before = texels[at(element, frame - 1)];
                    encode_same_hemisphere(&mut texels[at(element, frame)], &before);
                }
            }
        }
    }

    /// Puts the texels of one frame into its rows.
    fn place(&self, band: usize, texels: &[u8], texel_bytes: usize, rows: &mut [u8]) {
        let columns = self.grid.columns as usize;
        let width = self.grid.size().unwrap_or_default().x as usize;
        for (row, line) in texels.chunks(columns * texel_bytes).enumerate() {
            let start = (row * width + band * columns) * texel_bytes;
            rows[start..start + line.len()].copy_from_slice(line);
        }
    }
}
