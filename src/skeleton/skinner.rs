use std::ops::Range;

use glam::{DMat4, DVec3, Vec3, Vec3A, Vec4};

use super::{Pose, Rig};
use crate::mesh::VertexFrame;

/// Evaluates a rig many times. Poses are computed in f64, vertices in f32: within a millionth of the
/// model's size of [`Rig::evaluate`]. No multiply-add is fused, so that every processor gives the same
/// bytes.
pub struct Skinner<'a> {
    rig: &'a Rig,
    parts: Vec<Prepared>,
    positions: Vec<Vec3A>,
    normals: Vec<Vec3A>,
}

/// How a part's vertices are moved.
enum Prepared {
    Rigid,
    /// At most four influences each; unused ones have weight 0.
    Four(Vec<Four>),
    Many,
}

#[derive(Clone, Copy, Default)]
struct Four {
    joints: [u16; 4],
    weights: [f32; 4],
}

/// What evaluation needs besides the result; reused from frame to frame.
#[derive(Default)]
pub struct Scratch {
    pose: Pose,
    matrices: Vec<DMat4>,
    columns: Vec<Columns>,
    positions: Vec<Vec3A>,
    normals: Vec<Vec3A>,
}

impl Scratch {
    /// Where `node` stood in the world at the last sample.
    pub fn place(&self, node: u32) -> Option<DVec3> {
        self.pose.worlds.get(node as usize).map(|world| world.col(3).truncate())
    }
}

/// An affine matrix.
#[derive(Clone, Copy, Default)]
struct Columns([Vec3A; 4]);

impl Columns {
    fn of(matrix: &DMat4) -> Self {
        let column = |index| matrix.col(index).truncate().as_vec3a();
        Self([column(0), column(1), column(2), column(3)])
    }

    #[inline(always)]
    fn scaled(&self, factor: f32) -> Self {
        Self(self.0.map(|column| column * factor))
    }

    #[inline(always)]
    fn plus_scaled(&self, other: &Self, factor: f32) -> Self {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = other.0;
        Self([a + e * factor, b + f * factor, c + g * factor, d + h * factor])
    }

    #[inline(always)]
    fn point(&self, p: Vec3A) -> Vec3A {
        let [x, y, z, w] = self.0;
        x * p.x + y * p.y + z * p.z + w
    }

    /// By the cofactors: the inverse transpose up to a scale, whose sign is put right.
    #[inline(always)]
    fn normal(&self, n: Vec3A) -> Vec3A {
        let [x, y, z, _] = self.0;
        let a = y.cross(z);
        let turned = a * n.x + z.cross(x) * n.y + x.cross(y) * n.z;
        unit(turned, if x.dot(a) < 0.0 { -1.0 } else { 1.0 })
    }

    fn vector(&self, v: Vec3A) -> Vec3A {
        let [x, y, z, _] = self.0;
        x * v.x + y * v.y + z * v.z
    }

    fn mirrors(&self) -> bool {
        let [x, y, z, _] = self.0;
        x.dot(y.cross(z)) < 0.0
    }
}

/// `v` at length 1 (`side` 1) or turned round (-1); +Y where it has no length.
#[inline(always)]
fn unit(v: Vec3A, side: f32) -> Vec3A {
    let length = v.length();
    if length > 1e-30 { v * (side / length) } else { Vec3A::Y }
}

impl<'a> Skinner<'a> {
    /// Prepares `rig`, which has been checked.
    pub fn new(rig: &'a Rig) -> Self {
        let parts = rig.parts.iter().map(|part| prepared(rig, part)).collect();
        Self {
            rig,
            parts,
            positions: rig.positions.iter().map(|position| Vec3A::from(*position)).collect(),
            normals: rig.normals.iter().map(|normal| Vec3A::from(*normal)).collect(),
        }
    }

    /// Every vertex at `seconds` of `clip`; at rest without a clip.
    pub fn sample(&self, clip: Option<usize>, seconds: f64, scratch: &mut Scratch, into: &mut VertexFrame) {
        let count = self.rig.vertex_count();
        into.positions.resize(count, Vec3::ZERO);
        into.normals.resize(count, Vec3::ZERO);
        into.tangents.resize(self.rig.tangents.len(), Vec4::ZERO);
        let mut pose = std::mem::take(&mut scratch.pose);
        self.rig.pose(clip, seconds, &mut pose);
        for index in 0..self.parts.len() {
            self.rig.part_matrices(&pose, index, &mut scratch.matrices);
            scratch.columns.clear();
            scratch.columns.extend(scratch.matrices.iter().map(Columns::of));
            self.part(index, &pose.weights[index], scratch, into);
        }
        scratch.pose = pose;
    }

    fn part(&self, index: usize, weights: &[f64], scratch: &mut Scratch, into: &mut VertexFrame) {
        let part = &self.rig.parts[index];
        let range = part.vertices.clone();
        let morphs = weights.iter().any(|weight| *weight != 0.0);
        if morphs {
            self.morph(index, weights, scratch);
        }
        let (positions, normals) = if morphs {
            (&scratch.positions[..], &scratch.normals[..])
        } else {
            (&self.positions[range.clone()], &self.normals[range.clone()])
        };
        let joints = &scratch.columns[..];
        let moved = into.positions[range.clone()].iter_mut().zip(&mut into.normals[range.clone()]);
        let rest = positions.iter().zip(normals);
        match &self.parts[index] {
            Prepared::Rigid => {
                for ((position, normal), (p, n)) in moved.zip(rest) {
                    *position = joints[0].point(*p).into();
                    *normal = joints[0].normal(*n).into();
                }
            }
            Prepared::Four(influences) => {
                for (((position, normal), (p, n)), four) in moved.zip(rest).zip(influences) {
                    let blended = four.blended(joints);
                    *position = blended.point(*p).into();
                    *normal = blended.normal(*n).into();
                }
            }
            Prepared::Many => {
                for (((position, normal), (p, n)), vertex) in moved.zip(rest).zip(range.clone()) {
                    let blended = self.blended_of_many(vertex, joints);
                    *position = blended.point(*p).into();
                    *normal = blended.normal(*n).into();
                }
            }
        }
        if !self.rig.tangents.is_empty() {
            self.tangents(index, range, weights, joints, into);
        }
    }

    fn tangents(
        &self,
        index: usize,
        range: Range<usize>,
        weights: &[f64],
        joints: &[Columns],
        into: &mut VertexFrame,
    ) {
        let targets = &self.rig.parts[index].targets;
        for (within, vertex) in range.enumerate() {
            let rest = self.rig.tangents[vertex];
            let mut along = Vec3A::from(rest.truncate());
            for (target, weight) in targets.iter().zip(weights) {
                if let Some(delta) = target.tangents.get(within) {
                    along += Vec3A::from(*delta) * to_f32(*weight);
                }
            }
            let blended = match &self.parts[index] {
                Prepared::Rigid => joints[0],
                Prepared::Four(influences) => influences[within].blended(joints),
                Prepared::Many => self.blended_of_many(vertex, joints),
            };
            let sign = if blended.mirrors() { -rest.w } else { rest.w };
            into.tangents[vertex] = Vec3::from(unit(blended.vector(along), 1.0)).extend(sign);
        }
    }

    fn morph(&self, index: usize, weights: &[f64], scratch: &mut Scratch) {
        let part = &self.rig.parts[index];
        let range = part.vertices.clone();
        scratch.positions.clear();
        scratch.positions.extend_from_slice(&self.positions[range.clone()]);
        scratch.normals.clear();
        scratch.normals.extend_from_slice(&self.normals[range]);
        for (target, weight) in part.targets.iter().zip(weights) {
            let weight = to_f32(*weight);
            if weight == 0.0 {
                continue;
            }
            for (position, delta) in scratch.positions.iter_mut().zip(&target.positions) {
                *position += Vec3A::from(*delta) * weight;
            }
            for (normal, delta) in scratch.normals.iter_mut().zip(&target.normals) {
                *normal += Vec3A::from(*delta) * weight;
            }
        }
    }

    fn blended_of_many(&self, vertex: usize, joints: &[Columns]) -> Columns {
        let influences = self.rig.influences_of(vertex).iter();
        influences.fold(Columns::default(), |sum, (joint, weight)| {
            sum.plus_scaled(&joints[*joint as usize], to_f32(*weight))
        })
    }
}

impl Four {
    #[inline(always)]
    fn blended(&self, joints: &[Columns]) -> Columns {
        let [a, b, c, d] = self.joints.map(|joint| &joints[usize::from(joint)]);
        let [s, t, u, v] = self.weights;
        a.scaled(s).plus_scaled(b, t).plus_scaled(c, u).plus_scaled(d, v)
    }
}

fn prepared(rig: &Rig, part: &super::Part) -> Prepared {
    if part.skin.is_none() {
        return Prepared::Rigid;
    }
    let mut fours = Vec::with_capacity(part.vertices.len());
    for vertex in part.vertices.clone() {
        let influences = rig.influences_of(vertex);
        if influences.len() > 4 {
            return Prepared::Many;
        }
        let mut four = Four::default();
        for (index, (joint, weight)) in influences.iter().enumerate() {
            let Ok(joint) = u16::try_from(*joint) else {
                return Prepared::Many;
            };
            four.joints[index] = joint;
            four.weights[index] = to_f32(*weight);
        }
        fours.push(four);
    }
    Prepared::Four(fours)
}

#[expect(clippy::cast_possible_truncation, reason = "vertices are made in f32")]
fn to_f32(value: f64) -> f32 {
    value as f32
}
