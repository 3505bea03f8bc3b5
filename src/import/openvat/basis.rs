//! The rest pose. The exporter's glTF files do not hold it: they hold the rest pose plus the offsets of
//! some frame, and adding offsets to that is wrong by the whole motion.

use glam::{DVec3, Vec3};

use super::super::MeshFrame;
use crate::mesh::Mesh;

/// What is known of an export's motion, in glTF axes.
pub(super) struct Motion<'a> {
    /// Triangles, elements, and the positions that the file holds.
    pub(super) stored: &'a Mesh,
    pub(super) frames: u32,
    /// Offset of an element from the rest pose, metres.
    pub(super) offset: &'a dyn Fn(u32, u32) -> DVec3,
    /// What the exporter's preview adds for a frame: the offset, or in absolute mode the offset mapped once
    /// more.
    pub(super) preview: &'a dyn Fn(u32, u32) -> DVec3,
    /// Unit normal of an element, where the files have normals.
    pub(super) normal: Option<&'a dyn Fn(u32, u32) -> Vec3>,
    pub(super) is_gltf: bool,
    /// Largest distance between neighbouring values of a texel, metres.
    pub(super) step: f64,
    /// First frame of the scene's timeline, where the picture says it.
    pub(super) scene_start: Option<i64>,
}

/// Frames that are compared: enough to tell, and bounded work.
const MAX_COMPARED: u32 = 48;

/// Rest positions, one per vertex, and what was concluded.
pub(super) fn find(motion: &Motion<'_>, choice: MeshFrame, remarks: &mut Remarks) -> Vec<Vec3> {
    match choice {
        MeshFrame::Basis => motion.stored.positions.clone(),
        MeshFrame::Frame(frame) => motion.without(frame),
        MeshFrame::Auto => match motion.normal {
            Some(normal) => motion.by_normals(normal, remarks),
            None => motion.by_default(remarks),
        },
    }
}

/// What is said about the conclusion.
#[derive(Default)]
pub(super) struct Remarks {
    pub(super) assumptions: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl Motion<'_> {
    /// The stored positions without the preview of `frame`.
    fn without(&self, frame: u32) -> Vec<Vec3> {
        let vertices = self.stored.positions.iter().zip(&self.stored.elements);
        vertices
            .map(|(stored, element)| (stored.as_dvec3() - (self.preview)(*element, frame)).as_vec3())
            .collect()
    }

    fn posed(&self, rest: &[Vec3], frame: u32) -> Vec<Vec3> {
        let vertices = rest.iter().zip(&self.stored.elements);
        vertices.map(|(rest, element)| (rest.as_dvec3() + (self.offset)(*element, frame)).as_vec3()).collect()
    }

    /// Mean angle between these normals, one per vertex, and those stored for `frame`, degrees.
    fn disagreement(&self, made: &[Vec3], normal: &dyn Fn(u32, u32) -> Vec3, frame: u32) -> f64 {
        let angles = made.iter().zip(&self.stored.elements).map(|(made, element)| {
            let cosine = made.dot(normal(*element, frame)).clamp(-1.0, 1.0);
            f64::from(cosine).acos()
        });
        (angles.sum::<f64>() / made.len() as f64).to_degrees()
    }

    /// Mean angle over the frames between the normals of the triangles and those stored, degrees.
    fn disagreement_in_motion(&self, rest: &[Vec3], normal: &dyn Fn(u32, u32) -> Vec3) -> f64 {
        let step = self.frames.div_ceil(MAX_COMPARED).max(1) as usize;
        let frames = (0..self.frames).step_by(step);
        let count = frames.len() as f64;
        let angles = frames.map(|frame| {
            let made = self.stored.angle_weighted_normals(&self.posed(rest, frame));
            self.disagreement(&made, normal, frame)
        });
        angles.sum::<f64>() / count
    }

    /// How far a vertex is from rest where the mesh is stored at `frame`, metres.
    fn largest_preview(&self, frame: u32) -> f64 {
        self.stored
            .elements
            .iter()
            .map(|element| (self.preview)(*element, frame).length())
            .fold(0.0, f64::max)
    }

    /// The frame that the exporter's glTF writer stores: the preview stands at scene time 0, wrapped into
    /// the frames; the last one where the timeline's beginning is not known, as most begin at 1.
    fn written_at(&self) -> u32 {
        let start = self.scene_start.unwrap_or(1);
        u32::try_from(0_i64.saturating_sub(start).rem_euclid(i64::from(self.frames))).unwrap_or(0)
    }

    /// The frame whose normals are those of the stored triangles; its offsets are taken away, if what is
    /// left then explains the normals of all frames better than the stored positions do.
    fn by_normals(&self, normal: &dyn Fn(u32, u32) -> Vec3, remarks: &mut Remarks) -> Vec<Vec3> {
        let made = self.stored.angle_weighted_normals(&self.stored.positions);
        let fits: Vec<f64> = (0..self.frames).map(|frame| self.disagreement(&made, normal, frame)).collect();
        let (mut fit, mut frame) = (f64::INFINITY, 0);
        for (candidate, angle) in (0..).zip(&fits) {
            if *angle < fit {
                (fit, frame) = (*angle, candidate);
            }
        }
        // Of frames that fit alike, the one that the exporter writes.
        let written = self.written_at();
        if self.is_gltf && alike(fits[written as usize], fit) {
            (fit, frame) = (fits[written as usize], written);
        }
        let wrong = self.largest_preview(frame);
        let repaired = self.without(frame);
        let with = self.disagreement_in_motion(&repaired, normal);
        let without = self.disagreement_in_motion(&self.stored.positions, normal);
        if alike(with, without) && wrong <= 2.0 * self.step {
            remarks.assumptions.push(format!(
                "the mesh is stored at rest: it is that of frame {frame}, which has no offsets; its normals fit all \
                 frames to {without:.2}° in the mean"
            ));
            return self.stored.positions.clone();
        }
        if alike(with, without) && self.is_gltf && frame == written {
            return self.by_default(remarks);
        }
        if without <= with || alike(with, without) {
            remarks.assumptions.push(format!(
                "the mesh is stored at rest: its normals fit all frames to {without:.2}° in the mean"
            ));
            return self.stored.positions.clone();
        }
        remarks.assumptions.push(format!(
            "the mesh is stored at frame {frame}, not at rest: its normals fit that frame to {fit:.2}° in the mean; with \
             that frame's offsets taken away all frames fit to {with:.2}°, else to {without:.2}° (and up to {wrong:.3} m off)"
        ));
        repaired
    }

    /// Where normals do not tell, the timeline does, else the exporter's habit.
    fn by_default(&self, remarks: &mut Remarks) -> Vec<Vec3> {
        if !self.is_gltf {
            remarks.assumptions.push("the mesh is stored at rest, as FBX exports are".to_owned());
            return self.stored.positions.clone();
        }
        let frame = self.written_at();
        let wrong = self.largest_preview(frame);
        match self.scene_start {
            Some(start) => remarks.assumptions.push(format!(
                "the mesh is stored at frame {frame}, as the exporter does for a timeline that begins at {start} (said by \
                 the picture), and normals do not tell; its offsets, up to {wrong:.3} m, are taken away"
            )),
            None => remarks.warnings.push(format!(
                "normals do not tell at which frame the mesh is stored: frame {frame} is assumed, the exporter's habit \
                 for glTF; if parts sit wrong (by up to {wrong:.3} m), give --mesh-frame"
            )),
        }
        self.without(frame)
    }
}

/// Angles between which nothing can be decided, degrees: the difference is that of noise.
fn alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.02 + 0.02 * a.min(b)
}
