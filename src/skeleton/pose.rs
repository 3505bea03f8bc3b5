use glam::DMat4;

use super::{Local, Property, Rig, Trs};

/// Where every node stands at one moment, and how much of each morph target shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pose {
    /// From each node's space to the world's.
    pub worlds: Vec<DMat4>,
    /// Weights of each part's targets.
    pub weights: Vec<Vec<f64>>,
    locals: Vec<Local>,
}

impl Rig {
    /// The pose at `seconds` of `clip`; the rest pose without a clip, or with one that is not there.
    /// `pose` is reused.
    pub fn pose(&self, clip: Option<usize>, seconds: f64, pose: &mut Pose) {
        pose.locals.clear();
        pose.locals.extend(self.nodes.iter().map(|node| node.local));
        pose.weights.resize_with(self.parts.len(), Vec::new);
        for (weights, part) in pose.weights.iter_mut().zip(&self.parts) {
            weights.clone_from(&part.weights);
        }
        for channel in clip.and_then(|clip| self.clips.get(clip)).map_or(&[][..], |clip| &clip.channels) {
            let node = channel.node as usize;
            if channel.property == Property::Weights {
                let mut first = None;
                for (index, part) in self.parts.iter().enumerate() {
                    if part.node != channel.node || part.targets.is_empty() {
                        continue;
                    }
                    match first {
                        None => {
                            channel.track.numbers(seconds, &mut pose.weights[index]);
                            first = Some(index);
                        }
                        Some(first) => pose.weights[index] = pose.weights[first].clone(),
                    }
                }
                continue;
            }
            // Checked: nodes with a matrix are not animated.
            let Local::Trs(trs) = &mut pose.locals[node] else { continue };
            match channel.property {
                Property::Translation => trs.translation = channel.track.vector3(seconds),
                Property::Rotation => trs.rotation = channel.track.rotation(seconds),
                Property::Scale => trs.scale = channel.track.vector3(seconds),
                Property::Weights => {}
            }
        }
        pose.worlds.clear();
        for (node, local) in self.nodes.iter().zip(&pose.locals) {
            let local = match local {
                Local::Trs(Trs { translation, rotation, scale }) => {
                    DMat4::from_scale_rotation_translation(*scale, *rotation, *translation)
                }
                Local::Matrix(matrix) => *matrix,
            };
            let world = match node.parent {
                Some(parent) => pose.worlds[parent as usize] * local,
                None => local,
            };
            pose.worlds.push(world);
        }
    }

    /// The node that carries the whole figure through a clip: of the nodes above everything that is shown
    /// and moved by the clip, the topmost. `None` where nothing is.
    pub fn root_of(&self, clip: usize) -> Option<u32> {
        let moved = |node: u32| {
            let channels = self.clips.get(clip).map_or(&[][..], |clip| &clip.channels);
            channels.iter().any(|channel| channel.node == node && channel.property == Property::Translation)
        };
        let joints = self.skins.iter().flat_map(|skin| &skin.joints);
        let rigid = self.parts.iter().filter(|part| part.skin.is_none()).map(|part| &part.node);
        let carriers: Vec<u32> = joints.chain(rigid).copied().collect();
        // Parents come before children, so the first that carries most is the topmost.
        let carried = |root: u32| {
            let below = |node: u32| {
                let mut at = Some(node);
                while let Some(node) = at {
                    if node == root {
                        return true;
                    }
                    at = self.nodes[node as usize].parent;
                }
                false
            };
            carriers.iter().filter(|node| below(**node)).count()
        };
        let nodes = (0..self.nodes.len()).filter_map(|node| u32::try_from(node).ok());
        let candidates = nodes.filter(|node| moved(*node)).map(|node| (carried(node), node));
        let best = candidates.max_by_key(|(carried, node)| (*carried, std::cmp::Reverse(*node)));
        best.filter(|(carried, _)| *carried * 2 > carriers.len()).map(|(_, node)| node)
    }

    /// What each part multiplies its vertices by: the matrices of its skin's joints, else of its node.
    pub(super) fn part_matrices(&self, pose: &Pose, part: usize, into: &mut Vec<DMat4>) {
        into.clear();
        let part = &self.parts[part];
        match part.skin {
            None => into.push(pose.worlds[part.node as usize]),
            Some(skin) => {
                let skin = &self.skins[skin as usize];
                let pairs = skin.joints.iter().zip(&skin.inverse_binds);
                into.extend(pairs.map(|(joint, bind)| pose.worlds[*joint as usize] * *bind));
            }
        }
    }
}
