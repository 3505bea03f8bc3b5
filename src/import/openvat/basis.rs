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

    /// Mean angle between the normals of these triangles and those stored for `frame`, degrees.
    fn disagreement(&self, positions: &[Vec3], normal: &dyn Fn(u32, u32) -> Vec3, frame: u32) -> f64 {
        let normals = self.stored.angle_weighted_normals(positions);
        let angles = normals.iter().zip(&self.stored.elements).map(|(made, element)| {
            let cosine = made.dot(normal(*element, frame)).clamp(-1.0, 1.0);
            f64::from(cosine).acos()
        });
        (angles.sum::<f64>() / normals.len() as f64).to_degrees()
    }

    fn largest_offset(&self, frame: u32) -> f64 {
        self.stored.elements.iter().map(|element| (self.offset)(*element, frame).length()).fold(0.0, f64::max)
    }

    /// The frame whose normals are those of the stored triangles; its offsets are taken away, if what is
    /// left then explains the normals of the other frames better than the stored positions do.
    fn by_normals(&self, normal: &dyn Fn(u32, u32) -> Vec3, remarks: &mut Remarks) -> Vec<Vec3> {
        let fits =
            (0..self.frames).map(|frame| (self.disagreement(&self.stored.positions, normal, frame), frame));
        let (fit, frame) =
            fits.fold((f64::INFINITY, 0), |best, next| if next.0 < best.0 { next } else { best });
        let repaired = self.without(frame);
        let step = self.frames.div_ceil(MAX_COMPARED).max(1) as usize;
        let mean = |rest: &[Vec3]| {
            let frames = (0..self.frames).step_by(step);
            let count = frames.len() as f64;
            frames.map(|frame| self.disagreement(&self.posed(rest, frame), normal, frame)).sum::<f64>()
                / count
        };
        let (with, without) = (mean(&repaired), mean(&self.stored.positions));
        if without <= with {
            remarks.assumptions.push(format!(
                "the mesh is stored at rest: its normals fit all frames to {without:.2}° in the mean"
            ));
            return self.stored.positions.clone();
        }
        let wrong = self.largest_offset(frame);
        remarks.assumptions.push(format!(
            "the mesh is stored at frame {frame}, not at rest: its normals fit that frame to {fit:.2}° in the mean; with \
             that frame's offsets taken away all frames fit to {with:.2}°, else to {without:.2}° (and up to {wrong:.3} m off)"
        ));
        repaired
    }

    /// Without normals the timeline tells, else the exporter's habit.
    fn by_default(&self, remarks: &mut Remarks) -> Vec<Vec3> {
        if !self.is_gltf {
            remarks.assumptions.push("the mesh is stored at rest, as FBX exports are".to_owned());
            return self.stored.positions.clone();
        }
        // The preview that the glTF writer applies stands at scene time 0, wrapped into the frames.
        if let Some(start) = self.scene_start {
            let frame = u32::try_from((-start).rem_euclid(i64::from(self.frames))).unwrap_or(0);
            let wrong = self.largest_offset(frame);
            remarks.assumptions.push(format!(
                "the mesh is stored at frame {frame}, as the exporter does for a timeline that begins at {start} (said by \
                 the picture); its offsets, up to {wrong:.3} m, are taken away"
            ));
            return self.without(frame);
        }
        let last = self.frames - 1;
        let wrong = self.largest_offset(last);
        remarks.warnings.push(format!(
            "without normals the mesh's frame cannot be found: frame {last} is assumed, the exporter's habit for glTF; if \
             parts sit wrong (by up to {wrong:.3} m), give --mesh-frame"
        ));
        self.without(last)
    }
}
