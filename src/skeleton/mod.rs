//! Rigs: meshes on a tree of nodes, moved by skins, morph targets and the nodes themselves.
//!
//! A [`Rig`] is what glTF calls an animated scene, checked and flattened: evaluating it needs no more
//! checks. [`Rig::evaluate`] is the slow, exact way in f64; [`Skinner`] the fast one that bakes use.

use std::ops::Range;

use glam::{DMat4, DQuat, DVec3, Vec3, Vec4};

pub mod track;

mod check;
mod evaluate;
mod pose;
mod skinner;

pub use check::Invalid;
pub use evaluate::Evaluated;
pub use pose::Pose;
pub use skinner::{Scratch, Skinner};
use track::Track;

/// Meshes, their skeleton and what it does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rig {
    /// Parents before children.
    pub nodes: Vec<Node>,
    /// What parts refer to.
    pub skins: Vec<Skin>,
    /// Runs of vertices, one after another, covering all of them.
    pub parts: Vec<Part>,
    /// Positions in the space of the mesh, metres.
    pub positions: Vec<Vec3>,
    /// Unit normals in the space of the mesh.
    pub normals: Vec<Vec3>,
    /// Unit tangents in the space of the mesh; w is the sign of the bitangent. Empty where there are none.
    pub tangents: Vec<Vec4>,
    /// Which joints move a vertex: its run of `influences`. One longer than the vertices.
    pub influence_starts: Vec<u32>,
    /// Joint of the part's skin, and its weight; the weights of a skinned vertex sum to 1.
    pub influences: Vec<(u32, f64)>,
    /// What it does.
    pub clips: Vec<RigClip>,
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Name for people.
    pub name: String,
    /// Index of a node before this one.
    pub parent: Option<u32>,
    /// Where it stands when nothing moves it.
    pub local: Local,
}

/// From a node's space to its parent's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Local {
    /// Scaled, then turned, then moved.
    Trs(Trs),
    /// Any affine map; cannot be animated.
    Matrix(DMat4),
}

/// Scale, rotation, translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// Metres.
    pub translation: DVec3,
    /// Unit quaternion.
    pub rotation: DQuat,
    /// Factors.
    pub scale: DVec3,
}

impl Default for Trs {
    fn default() -> Self {
        Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE }
    }
}

impl Trs {
    /// The matrix.
    pub fn matrix(&self) -> DMat4 {
        DMat4::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

impl Local {
    /// The matrix.
    pub fn matrix(&self) -> DMat4 {
        match self {
            Self::Trs(trs) => trs.matrix(),
            Self::Matrix(matrix) => *matrix,
        }
    }
}

/// Joints that move vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// Nodes.
    pub joints: Vec<u32>,
    /// From the space of the mesh to that of the joint, when the skin was bound. As many as joints.
    pub inverse_binds: Vec<DMat4>,
}

/// The vertices of one primitive as one node shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The node. Where there is a skin its own place does not count.
    pub node: u32,
    /// Range of the rig's vertices.
    pub vertices: Range<usize>,
    /// What moves the vertices; without one the node does.
    pub skin: Option<u32>,
    /// Shapes that are mixed in.
    pub targets: Vec<Target>,
    /// How much of each, when nothing moves them. As many as targets.
    pub weights: Vec<f64>,
}

/// A morph target: what is added per vertex of its part. A stream may be empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// Metres.
    pub positions: Vec<Vec3>,
    /// Differences of normals.
    pub normals: Vec<Vec3>,
    /// Differences of tangents.
    pub tangents: Vec<Vec3>,
}

/// One motion.
#[derive(Clone, Debug, PartialEq)]
pub struct RigClip {
    /// Name for people; need not be unique.
    pub name: String,
    /// What moves.
    pub channels: Vec<Channel>,
    /// Frames per second that the file was made at, where it says.
    pub fps: Option<f64>,
}

/// One property of one node over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// The node.
    pub node: u32,
    /// Which property.
    pub property: Property,
    /// Its values.
    pub track: Track,
}

/// What a channel moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Three wide.
    Translation,
    /// Four wide.
    Rotation,
    /// Three wide.
    Scale,
    /// As wide as the node's parts have targets.
    Weights,
}

impl RigClip {
    /// Time of the last key, seconds: the clip's length. 0 without channels.
    pub fn seconds(&self) -> f64 {
        self.channels.iter().map(|channel| channel.track.end()).fold(0.0, f64::max)
    }

    /// Time of the first key, seconds; until then it holds still. 0 without channels.
    pub fn first_key(&self) -> f64 {
        let first =
            self.channels.iter().map(|channel| channel.track.times()[0]).fold(f64::INFINITY, f64::min);
        if first.is_finite() { first.max(0.0) } else { 0.0 }
    }
}

impl Rig {
    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// A rig of some of the vertices, in another order, which may repeat; those of a part are together.
    /// `tangents`, one for each, replace the rig's.
    pub fn select(&self, vertices: &[u32], tangents: Option<Vec<Vec4>>) -> Self {
        let mut selected = Self {
            nodes: self.nodes.clone(),
            skins: self.skins.clone(),
            clips: self.clips.clone(),
            positions: vertices.iter().map(|vertex| self.positions[*vertex as usize]).collect(),
            normals: vertices.iter().map(|vertex| self.normals[*vertex as usize]).collect(),
            tangents: tangents.unwrap_or_default(),
            influence_starts: vec![0],
            ..Self::default()
        };
        for vertex in vertices {
            selected.influences.extend_from_slice(self.influences_of(*vertex as usize));
            selected.influence_starts.push(u32::try_from(selected.influences.len()).unwrap_or(u32::MAX));
        }
        let mut start = 0;
        while let Some(first) = vertices.get(start) {
            let first = *first as usize;
            // Parts cover all vertices in order.
            let part = &self.parts[self.parts.partition_point(|part| part.vertices.end <= first)];
            let inside = |vertex: &&u32| part.vertices.contains(&(**vertex as usize));
            let run: Vec<usize> = vertices[start..]
                .iter()
                .take_while(inside)
                .map(|vertex| *vertex as usize - part.vertices.start)
                .collect();
            let pick = |stream: &Vec<Vec3>| match stream.is_empty() {
                true => Vec::new(),
                false => run.iter().map(|within| stream[*within]).collect(),
            };
            let target = |target: &Target| Target {
                positions: pick(&target.positions),
                normals: pick(&target.normals),
                tangents: pick(&target.tangents),
            };
            selected.parts.push(Part {
                node: part.node,
                vertices: start..start + run.len(),
                skin: part.skin,
                targets: part.targets.iter().map(target).collect(),
                weights: part.weights.clone(),
            });
            start += run.len();
        }
        selected
    }

    /// Whether a part stands mirrored where nothing moves it: its triangles are then seen from inside.
    pub fn mirrors(&self, part: usize) -> bool {
        let part = &self.parts[part];
        if part.skin.is_some() {
            return false;
        }
        let mut pose = Pose::default();
        self.pose(None, 0.0, &mut pose);
        pose.worlds[part.node as usize].determinant() < 0.0
    }

    /// The run of influences of a vertex.
    pub fn influences_of(&self, vertex: usize) -> &[(u32, f64)] {
        &self.influences[self.influence_starts[vertex] as usize..self.influence_starts[vertex + 1] as usize]
    }
}
