use glam::{DMat3, DMat4, DVec3, DVec4};

use super::{Pose, Rig};

/// All vertices at one moment, in f64.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// Metres, right-handed, Y up.
    pub positions: Vec<DVec3>,
    /// Unit length; zero where a vertex has no surface.
    pub normals: Vec<DVec3>,
    /// Unit length, w is the sign of the bitangent; empty where the rig has none.
    pub tangents: Vec<DVec4>,
}

impl Rig {
    /// Every vertex at `seconds` of `clip` in f64, by the definition (glTF 2.0, sections 3.7.2 and 3.7.3):
    /// morph, then skin or node. Normals turn by the inverse transpose, tangents by the matrix itself.
    pub fn evaluate(&self, clip: Option<usize>, seconds: f64) -> Evaluated {
        let mut pose = Pose::default();
        self.pose(clip, seconds, &mut pose);
        let mut evaluated = Evaluated::default();
        let mut matrices = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            self.part_matrices(&pose, index, &mut matrices);
            for vertex in part.vertices.clone() {
                let within = vertex - part.vertices.start;
                let mut position = self.positions[vertex].as_dvec3();
                let mut normal = self.normals[vertex].as_dvec3();
                let tangent = self.tangents.get(vertex).map(|tangent| tangent.as_dvec4());
                let mut along = tangent.map_or(DVec3::ZERO, |tangent| tangent.truncate());
                for (target, weight) in part.targets.iter().zip(&pose.weights[index]) {
                    let add = |stream: &[glam::Vec3]| {
                        stream.get(within).map_or(DVec3::ZERO, |delta| delta.as_dvec3() * *weight)
                    };
                    position += add(&target.positions);
                    normal += add(&target.normals);
                    along += add(&target.tangents);
                }
                let matrix = if part.skin.is_some() {
                    let influences = self.influences_of(vertex).iter();
                    influences.map(|(joint, weight)| matrices[*joint as usize] * *weight).sum::<DMat4>()
                } else {
                    matrices[0]
                };
                let linear = DMat3::from_mat4(matrix);
                evaluated.positions.push(matrix.transform_point3(position));
                evaluated.normals.push(turned_normal(linear, normal));
                if let Some(tangent) = tangent {
                    let along = (linear * along).normalize_or_zero();
                    evaluated.tangents.push(along.extend(tangent.w * linear.determinant().signum()));
                }
            }
        }
        evaluated
    }
}

/// By the inverse transpose, up to scale: the cofactors, which exist where the inverse does not.
fn turned_normal(linear: DMat3, normal: DVec3) -> DVec3 {
    let DMat3 { x_axis: x, y_axis: y, z_axis: z } = linear;
    let turned = y.cross(z) * normal.x + z.cross(x) * normal.y + x.cross(y) * normal.z;
    let side = if x.cross(y).dot(z) < 0.0 { -1.0 } else { 1.0 };
    // Cofactors of a scale of 1/1000 are a millionth.
    let length = turned.length();
    if length > 1e-30 { turned * (side / length) } else { DVec3::ZERO }
}
