//! A model as its file has it: a rig, its surfaces and how they look.

use std::ops::Range;

use glam::Vec2;

use super::corners::corners;
use super::timeline::{self, Root, TooLong, Wanted};
use super::{Motion, Rigged, Sampler, Scratch, Source, SourceClip, VertexFrame};
use crate::clip::LoopMode;
use crate::mesh::Mesh;

use crate::material::{Image, Material};
use crate::skeleton::Rig;

/// An animated model before it is baked. Vertices are in the order of its file, node by node and primitive
/// by primitive; one surface per part of the rig.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Name for people.
    pub name: String,
    /// What moves.
    pub rig: Rig,
    /// What is seen, in the order of the rig's parts.
    pub surfaces: Vec<Surface>,
    /// Texture coordinates of each vertex, V down.
    pub uvs: Vec<Vec2>,
    /// Three per triangle, counter-clockwise seen from outside.
    pub indices: Vec<u32>,
    /// What surfaces refer to.
    pub materials: Vec<Material>,
    /// What materials refer to.
    pub images: Vec<Image>,
    /// The program that made it.
    pub producer: String,
    /// SHA-256 of the files, hexadecimal: changes when they do.
    pub digest: String,
    /// What was wrong with the file but could be used.
    pub warnings: Vec<String>,
}

/// The triangles of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Range of the model's indices.
    pub indices: Range<usize>,
    /// Index of a material.
    pub material: Option<u32>,
    /// Without normals in the file, triangles are flat (glTF 2.0, section 3.7.2.1).
    pub has_normals: bool,
    /// Whether there are texture coordinates.
    pub has_uvs: bool,
    /// Whether the file has tangents.
    pub has_tangents: bool,
}

impl Model {
    /// Cuts the clips with these indices into frames, all of them where none are given. A model without
    /// clips gives one of a single frame.
    ///
    /// # Errors
    /// [`TooLong`] for a clip of too many frames.
    pub fn source(&self, clips: Option<&[usize]>, wanted: &Wanted) -> Result<Source, TooLong> {
        let corners = corners(self, wanted.tangents);
        let tangents = corners.tangents.clone();
        let rig = self.rig.select(&corners.vertices, corners.tangents);
        let mut source = Source {
            name: self.name.clone(),
            materials: self.materials.clone(),
            images: self.images.clone(),
            producer: self.producer.clone(),
            digest: Some(self.digest.clone()),
            warnings: self.warnings.clone(),
            ..Source::default()
        };
        let all: Vec<usize> = (0..rig.clips.len()).collect();
        for clip in clips.unwrap_or(&all) {
            self.add_clip(&mut source, &rig, *clip, wanted)?;
        }
        let nudged: Vec<String> = source
            .clips
            .iter()
            .filter_map(|clip| {
                let Motion::Rig { clip: Some(of_rig), .. } = clip.motion else { return None };
                let asked = timeline::rate(&rig.clips[of_rig], wanted);
                let is_off = (clip.fps - asked).abs() > asked * 1e-3;
                is_off.then(|| format!("{:?} {:.3}", clip.name, clip.fps))
            })
            .collect();
        if !nudged.is_empty() {
            let nudged = nudged.join(", ");
            source.assumptions.push(format!(
                "frames are spaced evenly over clips whose length is no whole number of them, which changes their rate: {nudged}"
            ));
        }
        let loops = source.clips.iter().filter(|clip| clip.loop_mode == LoopMode::Loop);
        let loops: Vec<String> = loops.map(|clip| format!("{:?}", clip.name)).collect();
        if wanted.loop_mode.is_none() && !loops.is_empty() {
            let loops = loops.join(", ");
            source.assumptions.push(format!("clips that end in their first pose are loops: {loops}"));
        }
        if source.clips.is_empty() {
            let motion = Motion::Rig { clip: None, start_seconds: 0.0, frame_count: 1, root: None };
            let (name, loop_mode) = ("rest".to_owned(), LoopMode::Once);
            source.clips.push(SourceClip { name, fps: 0.0, loop_mode, motion });
            source
                .assumptions
                .push("the model has no clips: its rest pose is one of a single frame".to_owned());
        }
        let rigged = Rigged { rig, model_vertices: corners.vertices, flat_from: corners.flat_from };
        let mut rest = VertexFrame::default();
        source.rig = Some(rigged);
        Sampler::new(&source).rest(&mut Scratch::default(), &mut rest);
        let count = u32::try_from(rest.positions.len()).unwrap_or(u32::MAX);
        source.mesh = Mesh {
            tangents: tangents.is_some().then_some(rest.tangents),
            positions: rest.positions,
            normals: rest.normals,
            uvs: corners.uvs,
            elements: (0..count).collect(),
            indices: corners.indices,
            primitives: corners.primitives,
            ..Mesh::default()
        };
        Ok(source)
    }

    fn add_clip(&self, source: &mut Source, rig: &Rig, clip: usize, wanted: &Wanted) -> Result<(), TooLong> {
        let of_rig = &rig.clips[clip];
        let name = if of_rig.name.is_empty() { format!("clip {clip}") } else { of_rig.name.clone() };
        let cut = timeline::cut(rig, clip, wanted)?;
        if wanted.fps.is_none() && timeline::rate_of_keys(of_rig).is_none() {
            let fps = timeline::DEFAULT_FPS;
            source.assumptions.push(format!("clip {name:?}: its keys keep to no frame rate: {fps} is used"));
        }
        if of_rig.channels.iter().any(|channel| channel.track.times()[0] < 0.0) {
            source.warnings.push(format!("clip {name:?} has keys before time 0: it begins at 0"));
        }
        if !wanted.trim && of_rig.first_key() > 0.0 && of_rig.seconds() > of_rig.first_key() {
            let first = of_rig.first_key();
            source.warnings.push(format!(
                "clip {name:?} holds still until its first key at {first:.4} s; --trim begins there"
            ));
        }
        if wanted.root != Root::Keep && cut.root.is_none() {
            source.warnings.push(format!("clip {name:?} has no root that moves: nothing is taken out"));
        }
        let timeline::Cut { start_seconds, fps, frame_count, loop_mode, root, .. } = cut;
        let motion = Motion::Rig { clip: Some(clip), start_seconds, frame_count, root };
        source.clips.push(SourceClip { name, fps, loop_mode, motion });
        Ok(())
    }
}
