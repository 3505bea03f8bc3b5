use super::{Local, Property, Rig};

/// A rig that does not hold together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} {index}: found {found}, expected {expected}")]
pub struct Invalid {
    /// Which kind of thing.
    pub what: &'static str,
    /// Which one of its kind.
    pub index: usize,
    /// What it says.
    pub found: String,
    /// What would fit.
    pub expected: String,
}

impl Rig {
    /// Checks that every index and count fits, so that evaluation cannot fail.
    ///
    /// # Errors
    /// [`Invalid`] for the first that does not.
    pub fn check(&self) -> Result<(), Invalid> {
        let wrong =
            |what, index, found: String, expected: String| Err(Invalid { what, index, found, expected });
        for (index, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent.filter(|parent| *parent as usize >= index) {
                return wrong("node", index, format!("parent {parent}"), "a node before it".to_owned());
            }
            if !node.local.matrix().is_finite() {
                return wrong("node", index, "a place that is not finite".to_owned(), "numbers".to_owned());
            }
        }
        for (index, skin) in self.skins.iter().enumerate() {
            if skin.joints.is_empty() || skin.joints.len() != skin.inverse_binds.len() {
                let found = format!("{} joints and {} binds", skin.joints.len(), skin.inverse_binds.len());
                return wrong("skin", index, found, "as many of both, at least one".to_owned());
            }
            if let Some(joint) = skin.joints.iter().find(|joint| **joint as usize >= self.nodes.len()) {
                return wrong("skin", index, format!("joint node {joint}"), self.below_nodes());
            }
            if !skin.inverse_binds.iter().all(|bind| bind.is_finite()) {
                return wrong("skin", index, "a bind that is not finite".to_owned(), "numbers".to_owned());
            }
        }
        self.check_vertices()?;
        self.check_parts()?;
        for (index, clip) in self.clips.iter().enumerate() {
            for channel in &clip.channels {
                let Some(node) = self.nodes.get(channel.node as usize) else {
                    return wrong("clip", index, format!("node {}", channel.node), self.below_nodes());
                };
                let width = match channel.property {
                    Property::Translation | Property::Scale => 3,
                    Property::Rotation => 4,
                    Property::Weights => {
                        let parts = self.parts.iter().filter(|part| part.node == channel.node);
                        parts.map(|part| part.targets.len()).find(|count| *count > 0).unwrap_or(0)
                    }
                };
                if channel.track.width() != width {
                    let found = format!("{:?} of {} numbers", channel.property, channel.track.width());
                    return wrong("clip", index, found, format!("{width}"));
                }
                if channel.property != Property::Weights && matches!(node.local, Local::Matrix(_)) {
                    let found = format!("a channel of node {}, which has a matrix", channel.node);
                    return wrong("clip", index, found, "one with translation, rotation, scale".to_owned());
                }
            }
        }
        Ok(())
    }

    fn below_nodes(&self) -> String {
        format!("below {}", self.nodes.len())
    }

    fn check_vertices(&self) -> Result<(), Invalid> {
        let wrong =
            |what, index, found: String, expected: String| Err(Invalid { what, index, found, expected });
        let count = self.positions.len();
        if self.normals.len() != count || !(self.tangents.is_empty() || self.tangents.len() == count) {
            let found = format!("{} normals, {} tangents", self.normals.len(), self.tangents.len());
            return wrong("vertices", count, found, "as many as positions".to_owned());
        }
        let starts = &self.influence_starts;
        let ascending = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        let end = starts.last().map_or(0, |end| *end as usize);
        if starts.len() != count + 1 || !ascending || end != self.influences.len() {
            let found = format!("{} starts of {} influences", starts.len(), self.influences.len());
            return wrong("vertices", count, found, "one run for each".to_owned());
        }
        let finite = |index: &usize| !self.positions[*index].is_finite() || !self.normals[*index].is_finite();
        if let Some(index) = (0..count).find(finite) {
            let found = format!("{} and {}", self.positions[index], self.normals[index]);
            return wrong("vertex", index, found, "finite numbers".to_owned());
        }
        Ok(())
    }

    fn check_parts(&self) -> Result<(), Invalid> {
        let wrong =
            |what, index, found: String, expected: String| Err(Invalid { what, index, found, expected });
        let mut covered = 0;
        for (index, part) in self.parts.iter().enumerate() {
            if part.node as usize >= self.nodes.len() {
                return wrong("part", index, format!("node {}", part.node), self.below_nodes());
            }
            let range = &part.vertices;
            if range.start != covered || range.end < range.start || range.end > self.positions.len() {
                return wrong("part", index, format!("vertices {range:?}"), format!("from {covered} on"));
            }
            covered = range.end;
            let joints = match part.skin {
                None => u32::MAX as usize,
                Some(skin) => match self.skins.get(skin as usize) {
                    Some(skin) => skin.joints.len(),
                    None => return wrong("part", index, format!("skin {skin}"), "a skin".to_owned()),
                },
            };
            for vertex in range.clone() {
                let influences = self.influences_of(vertex);
                if part.skin.is_some() && influences.is_empty() {
                    return wrong("vertex", vertex, "no influence".to_owned(), "at least one".to_owned());
                }
                let outside =
                    |(joint, weight): &&(u32, f64)| *joint as usize >= joints || !weight.is_finite();
                if let Some(influence) = influences.iter().find(outside) {
                    return wrong(
                        "vertex",
                        vertex,
                        format!("{influence:?}"),
                        format!("joint below {joints}"),
                    );
                }
            }
            if part.targets.len() != part.weights.len() {
                let found = format!("{} weights", part.weights.len());
                return wrong("part", index, found, format!("{}", part.targets.len()));
            }
            let count = range.len();
            for target in &part.targets {
                for stream in [&target.positions, &target.normals, &target.tangents] {
                    let fits = stream.is_empty() || stream.len() == count;
                    if !fits || !stream.iter().all(|delta| delta.is_finite()) {
                        let found = format!("a target of {} vertices", stream.len());
                        return wrong("part", index, found, format!("{count} finite ones"));
                    }
                }
            }
        }
        if covered != self.positions.len() {
            return wrong("parts", self.parts.len(), format!("{covered} vertices"), "all of them".to_owned());
        }
        Ok(())
    }
}
