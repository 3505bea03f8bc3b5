//! The rig that an asset was baked from, as ordinary glTF beside it: any viewer plays the clips, and vertex
//! skinning stays possible.

use std::collections::BTreeMap;

use glam::{Vec3, Vec4};

use super::document::{
    ARRAY_BUFFER, Accessor, ClipChannel, ClipSampler, ClipTarget, Document, ELEMENT_ARRAY_BUFFER, FLOAT,
    Node, RigAnimation, RigMesh, RigPrimitive, RigSkin, UNSIGNED_INT, UNSIGNED_SHORT,
};
use super::write::Binary;
use crate::bounds::Bounds;
use crate::mesh::Mesh;
use crate::skeleton::track::Interpolation;
use crate::skeleton::{Local, Part, Property, Rig, RigClip};

/// A rig to write beside an asset.
#[derive(Clone, Copy, Debug)]
pub struct KeptRig<'a> {
    /// The rig.
    pub rig: &'a Rig,
    /// Triangles, texture coordinates and materials of the rig's vertices.
    pub mesh: &'a Mesh,
    /// Vertices from here on have no normals of their own.
    pub flat_from: u32,
    /// Which vertex of the rig each vertex of the asset is.
    pub vertices: &'a [u32],
}

/// Adds `kept` to `document`, whose scene then shows it in place of the rest mesh. Gives the accessor that
/// says which vertex of the file's model each vertex of the asset is.
pub(super) fn add(kept: &KeptRig<'_>, document: &mut Document, binary: &mut Binary) -> u32 {
    let mut writer = Writer { kept, document, binary, triangles: kept.triangles(), places: Vec::new() };
    writer.add()
}

impl KeptRig<'_> {
    /// Triangles of each part, and their material. Mirrored parts are turned back: readers turn them again.
    fn triangles(&self) -> Vec<(Vec<u32>, Option<u32>)> {
        let parts = &self.rig.parts;
        let mut triangles = vec![(Vec::new(), None); parts.len()];
        let mirrors: Vec<bool> = (0..parts.len()).map(|part| self.rig.mirrors(part)).collect();
        for primitive in &self.mesh.primitives {
            let indices =
                &self.mesh.indices[primitive.indices.start as usize..primitive.indices.end as usize];
            for [a, b, c] in indices.as_chunks::<3>().0 {
                let part = parts.partition_point(|part| part.vertices.end <= *a as usize);
                let (of_part, material) = &mut triangles[part];
                let start = index(parts[part].vertices.start);
                let [b, c] = if mirrors[part] { [c, b] } else { [b, c] };
                of_part.extend([a, b, c].map(|vertex| vertex - start));
                *material = primitive.material;
            }
        }
        triangles
    }
}

struct Writer<'a, 'b> {
    kept: &'a KeptRig<'a>,
    document: &'b mut Document,
    binary: &'b mut Binary,
    triangles: Vec<(Vec<u32>, Option<u32>)>,
    /// First vertex of each part in the file's model.
    places: Vec<u32>,
}

impl Writer<'_, '_> {
    fn add(&mut self) -> u32 {
        let rig = self.kept.rig;
        let first_node = index(self.document.nodes.len());
        self.document.nodes.extend(rig.nodes.iter().map(|node| {
            let mut written = Node { name: node.name.clone(), ..Node::default() };
            match node.local {
                Local::Matrix(matrix) => written.matrix = Some(matrix.to_cols_array()),
                Local::Trs(trs) => {
                    written.translation = Some(trs.translation.to_array());
                    written.rotation = Some(trs.rotation.to_array());
                    written.scale = Some(trs.scale.to_array());
                }
            }
            written
        }));
        let mut roots = Vec::new();
        for (child, node) in (first_node..).zip(&rig.nodes) {
            match node.parent {
                Some(parent) => self.document.nodes[(first_node + parent) as usize].children.push(child),
                None => roots.push(child),
            }
        }
        self.document.scenes[0].nodes = roots;
        for skin in &rig.skins {
            let binds: Vec<f32> =
                skin.inverse_binds.iter().flat_map(|bind| bind.as_mat4().to_cols_array()).collect();
            let inverse_bind_matrices = self.floats(&binds, 16, "MAT4", None);
            let joints = skin.joints.iter().map(|joint| first_node + joint).collect();
            self.document.skins.push(RigSkin { joints, inverse_bind_matrices });
        }
        self.meshes(first_node);
        for clip in &rig.clips {
            let animation = self.animation(clip, first_node);
            // An animation without channels is none.
            if !animation.channels.is_empty() {
                self.document.animations.push(animation);
            }
        }
        let place = |vertex: &u32| {
            let part = rig.parts.partition_point(|part| part.vertices.end <= *vertex as usize);
            self.places[part] + vertex - index(rig.parts[part].vertices.start)
        };
        let vertices: Vec<u32> = self.kept.vertices.iter().map(place).collect();
        self.accessor(bytemuck::cast_slice(&vertices), UNSIGNED_INT, vertices.len(), "SCALAR", None)
    }

    /// One mesh per node that shows something; a reader meets their vertices in the order of nodes.
    fn meshes(&mut self, first_node: u32) {
        let mut of_nodes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, part) in self.kept.rig.parts.iter().enumerate() {
            of_nodes.entry(part.node).or_default().push(index);
        }
        self.places = vec![0; self.kept.rig.parts.len()];
        let mut next = 0;
        for (node, parts) in of_nodes {
            let first = &self.kept.rig.parts[parts[0]];
            let mut mesh = RigMesh { primitives: Vec::new(), weights: first.weights.clone() };
            for part in parts {
                self.places[part] = next;
                next += index(self.kept.rig.parts[part].vertices.len());
                let primitive = self.primitive(part);
                mesh.primitives.push(primitive);
            }
            self.document.meshes.rig.push(mesh);
            let written = &mut self.document.nodes[(first_node + node) as usize];
            // The asset's own mesh is the first.
            written.mesh = Some(index(self.document.meshes.rig.len()));
            written.skin = first.skin;
        }
    }

    fn primitive(&mut self, part_index: usize) -> RigPrimitive {
        let KeptRig { rig, mesh, flat_from, .. } = *self.kept;
        let part = &rig.parts[part_index];
        let range = part.vertices.clone();
        let mut attributes = BTreeMap::new();
        let positions = &rig.positions[range.clone()];
        attributes.insert("POSITION".to_owned(), self.vectors(positions, true));
        if range.start < flat_from as usize {
            attributes.insert("NORMAL".to_owned(), self.vectors(&rig.normals[range.clone()], false));
            if let Some(tangents) = rig.tangents.get(range.clone()) {
                let tangents: Vec<f32> = tangents.iter().flat_map(Vec4::to_array).collect();
                attributes
                    .insert("TANGENT".to_owned(), self.floats(&tangents, 4, "VEC4", Some(ARRAY_BUFFER)));
            }
        }
        if let Some(uvs) = &mesh.uvs {
            let uvs: Vec<f32> = uvs[range.clone()].iter().flat_map(|uv| uv.to_array()).collect();
            attributes.insert("TEXCOORD_0".to_owned(), self.floats(&uvs, 2, "VEC2", Some(ARRAY_BUFFER)));
        }
        if part.skin.is_some() {
            self.influences(part, &mut attributes);
        }
        let mut targets = Vec::new();
        for target in &part.targets {
            let mut streams = BTreeMap::new();
            // A target without positions is allowed, but one without anything is not.
            let still = vec![Vec3::ZERO; range.len()];
            let positions = if target.positions.is_empty() { &still } else { &target.positions };
            streams.insert("POSITION".to_owned(), self.vectors(positions, true));
            if !target.normals.is_empty() && attributes.contains_key("NORMAL") {
                streams.insert("NORMAL".to_owned(), self.vectors(&target.normals, false));
            }
            if !target.tangents.is_empty() && attributes.contains_key("TANGENT") {
                streams.insert("TANGENT".to_owned(), self.vectors(&target.tangents, false));
            }
            targets.push(streams);
        }
        let (triangles, material) = std::mem::take(&mut self.triangles[part_index]);
        let target = Some(ELEMENT_ARRAY_BUFFER);
        let bytes = bytemuck::cast_slice(&triangles);
        let indices = self.accessor(bytes, UNSIGNED_INT, triangles.len(), "SCALAR", target);
        RigPrimitive { attributes, indices, material, targets }
    }

    /// As many sets of four as the vertex with the most influences needs.
    fn influences(&mut self, part: &Part, attributes: &mut BTreeMap<String, u32>) {
        let rig = self.kept.rig;
        let runs: Vec<_> = part.vertices.clone().map(|vertex| rig.influences_of(vertex)).collect();
        let most = runs.iter().map(|run| run.len()).max().unwrap_or(0);
        for set in 0..most.div_ceil(4) {
            let (mut joints, mut weights) = (Vec::new(), Vec::new());
            for run in &runs {
                for slot in 4 * set..4 * set + 4 {
                    let (joint, weight) = run.get(slot).copied().unwrap_or_default();
                    // Skins have at most as many joints as nodes; more than a short counts are no character.
                    joints.push(u16::try_from(joint).unwrap_or(u16::MAX));
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "weights of files are single floats"
                    )]
                    weights.push(weight as f32);
                }
            }
            let bytes = bytemuck::cast_slice(&joints);
            let target = Some(ARRAY_BUFFER);
            let joints = self.accessor(bytes, UNSIGNED_SHORT, runs.len(), "VEC4", target);
            attributes.insert(format!("JOINTS_{set}"), joints);
            attributes.insert(format!("WEIGHTS_{set}"), self.floats(&weights, 4, "VEC4", target));
        }
    }

    fn animation(&mut self, clip: &RigClip, first_node: u32) -> RigAnimation {
        let mut animation = RigAnimation { name: clip.name.clone(), ..RigAnimation::default() };
        // Channels of a clip mostly share their times.
        let mut written: Vec<(&[f64], u32)> = Vec::new();
        for channel in &clip.channels {
            let times = channel.track.times();
            let input = match written.iter().find(|(other, _)| *other == times) {
                Some((_, input)) => *input,
                None => {
                    let input = self.floats(&singles(times), 1, "SCALAR", None);
                    let accessor = &mut self.document.accessors[input as usize];
                    (accessor.min, accessor.max) =
                        (vec![singles(times)[0]], vec![singles(times)[times.len() - 1]]);
                    written.push((times, input));
                    input
                }
            };
            let (width, kind, path) = match channel.property {
                Property::Translation => (3, "VEC3", "translation"),
                Property::Rotation => (4, "VEC4", "rotation"),
                Property::Scale => (3, "VEC3", "scale"),
                Property::Weights => (1, "SCALAR", "weights"),
            };
            let output = self.floats(&singles(channel.track.values()), width, kind, None);
            let interpolation = match channel.track.interpolation() {
                Interpolation::Step => "STEP",
                Interpolation::Linear => "LINEAR",
                Interpolation::CubicSpline => "CUBICSPLINE",
            };
            animation.channels.push(ClipChannel {
                sampler: index(animation.samplers.len()),
                target: ClipTarget { node: first_node + channel.node, path },
            });
            animation.samplers.push(ClipSampler { input, interpolation, output });
        }
        animation
    }

    fn vectors(&mut self, vectors: &[Vec3], with_bounds: bool) -> u32 {
        let accessor =
            self.accessor(bytemuck::cast_slice(vectors), FLOAT, vectors.len(), "VEC3", Some(ARRAY_BUFFER));
        if with_bounds {
            let bounds = Bounds::of_points(vectors.iter().copied());
            let written = &mut self.document.accessors[accessor as usize];
            (written.min, written.max) = (bounds.min.to_array().to_vec(), bounds.max.to_array().to_vec());
        }
        accessor
    }

    fn floats(&mut self, floats: &[f32], width: usize, kind: &str, target: Option<u32>) -> u32 {
        self.accessor(bytemuck::cast_slice(floats), FLOAT, floats.len() / width, kind, target)
    }

    fn accessor(
        &mut self,
        bytes: &[u8],
        component_type: u32,
        count: usize,
        kind: &str,
        target: Option<u32>,
    ) -> u32 {
        self.document.accessors.push(Accessor::new(
            self.binary.push(bytes, target),
            component_type,
            count,
            kind,
        ));
        index(self.document.accessors.len() - 1)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "keys of files are single floats")]
fn singles(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|number| *number as f32).collect()
}

fn index(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
