//! Animated models: the nodes, skins, morph targets and animations of one scene.

use std::path::Path;

use glam::{DMat4, DQuat, DVec3, Vec2, Vec3, Vec4};
use gltf::Semantic;
use gltf::accessor::Dimensions;
use gltf::animation::{Interpolation as GltfInterpolation, Property as GltfProperty};
use gltf::mesh::Mode;

use super::accessor::Numbers;
use super::{File, to_u32};
use crate::import::mesh::check_vertices;
use crate::import::{Error, Options};
use crate::skeleton::track::{Interpolation, Track};
use crate::skeleton::{Channel, Local, Node, Part, Property, RigClip, Skin, Target, Trs};
use crate::source::{Model, Surface};

/// Sets of four joints that are looked for.
const MAX_JOINT_SETS: u32 = 64;

/// Reads the model of a glTF file.
pub(in crate::import) fn read(
    bytes: &[u8],
    folder: &Path,
    path: &Path,
    options: &Options,
) -> Result<Model, Error> {
    let file = File::open(bytes, folder, path, options)?;
    let mut reader =
        Reader { file: &file, places: Vec::new(), model: Model::default(), mended: 0, orphans: 0 };
    reader.model.warnings = file.warnings.clone();
    reader.nodes()?;
    reader.skins()?;
    let shown = reader.shown_nodes();
    for node in file.document.nodes().filter(|node| shown[node.index()]) {
        reader.node_parts(&node)?;
    }
    reader.clips()?;
    let Reader { mut model, mended, orphans, .. } = reader;
    if mended > 0 {
        model.warnings.push(format!("{mended} vertices had weights that did not sum to 1: rescaled"));
    }
    if orphans > 0 {
        model
            .warnings
            .push(format!("{orphans} vertices had no usable weight: they follow their first joint"));
    }
    let mut looks = file.looks()?;
    model.warnings.append(&mut looks.warnings);
    (model.materials, model.images) = (looks.materials, looks.images);
    model.producer = file.generator();
    let parts = file.buffers.iter().map(|buffer| &buffer[..]);
    let parts = parts.chain(model.images.iter().map(|image| &image.data[..]));
    model.digest = crate::import::digest(std::iter::once(bytes).chain(parts));
    if model.indices.is_empty() {
        return Err(Error::Mesh { message: "found no triangles".to_owned(), path: path.to_owned() });
    }
    model.rig.check().map_err(|error| Error::Mesh { message: error.to_string(), path: path.to_owned() })?;
    Ok(model)
}

struct Reader<'a> {
    file: &'a File<'a>,
    /// Index of each node of the file in the rig.
    places: Vec<u32>,
    model: Model,
    mended: usize,
    orphans: usize,
}

impl Reader<'_> {
    /// All nodes, parents first. A tree: no node has two parents, and none is its own ancestor.
    fn nodes(&mut self) -> Result<(), Error> {
        let document = &self.file.document;
        let count = document.nodes().count();
        let mut parents = vec![None; count];
        for node in document.nodes() {
            for child in node.children() {
                if parents[child.index()].replace(node.index()).is_some() {
                    let pointer = format!("/nodes/{}", child.index());
                    return Err(self.file.value(&pointer, "a second parent", "a tree of nodes"));
                }
            }
        }
        let animated = self.animated_nodes();
        let nodes: Vec<_> = document.nodes().collect();
        self.places = vec![u32::MAX; count];
        let mut waiting: Vec<usize> = (0..count).filter(|node| parents[*node].is_none()).rev().collect();
        while let Some(index) = waiting.pop() {
            let node = &nodes[index];
            self.places[index] = to_u32(self.model.rig.nodes.len());
            self.model.rig.nodes.push(Node {
                name: node.name().unwrap_or_default().to_owned(),
                parent: parents[index].map(|parent: usize| self.places[parent]),
                local: local(node, animated[index]),
            });
            waiting.extend(node.children().map(|child| child.index()));
        }
        match self.places.iter().position(|place| *place == u32::MAX) {
            None => Ok(()),
            Some(node) => {
                Err(self.file.value(&format!("/nodes/{node}"), "a circle of children", "a tree of nodes"))
            }
        }
    }

    fn animated_nodes(&self) -> Vec<bool> {
        let mut animated = vec![false; self.file.document.nodes().count()];
        for animation in self.file.document.animations() {
            for channel in animation.channels() {
                if channel.target().property() != GltfProperty::MorphTargetWeights {
                    animated[channel.target().node().index()] = true;
                }
            }
        }
        animated
    }

    /// Nodes of the scene that is shown first; all of them where the file has no scenes.
    fn shown_nodes(&self) -> Vec<bool> {
        let document = &self.file.document;
        let Some(scene) = document.default_scene().or_else(|| document.scenes().next()) else {
            return vec![true; self.places.len()];
        };
        let mut shown = vec![false; self.places.len()];
        let mut waiting: Vec<_> = scene.nodes().collect();
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut shown[node.index()], true) {
                waiting.extend(node.children());
            }
        }
        shown
    }

    fn skins(&mut self) -> Result<(), Error> {
        for skin in self.file.document.skins() {
            let joints: Vec<u32> = skin.joints().map(|joint| self.places[joint.index()]).collect();
            let mut inverse_binds = vec![DMat4::IDENTITY; joints.len()];
            if let Some(accessor) = skin.inverse_bind_matrices() {
                let numbers = self.file.floats(&accessor, Dimensions::Mat4, Numbers::Fractions)?;
                if numbers.len() < 16 * joints.len() {
                    let pointer = format!("/skins/{}/inverseBindMatrices", skin.index());
                    let expected = format!("{}, one for each joint", joints.len());
                    return Err(self.file.value(&pointer, numbers.len() / 16, expected));
                }
                for (bind, matrix) in inverse_binds.iter_mut().zip(numbers.as_chunks::<16>().0) {
                    *bind = DMat4::from_cols_array(&matrix.map(f64::from));
                }
            }
            self.model.rig.skins.push(Skin { joints, inverse_binds });
        }
        Ok(())
    }

    fn node_parts(&mut self, node: &gltf::Node<'_>) -> Result<(), Error> {
        let Some(mesh) = node.mesh() else { return Ok(()) };
        for primitive in mesh.primitives() {
            let at = format!("/meshes/{}/primitives/{}", mesh.index(), primitive.index());
            if matches!(primitive.mode(), Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip) {
                self.model.warnings.push(format!("{at}: points and lines are left out"));
                continue;
            }
            self.part(node, &mesh, &primitive, &at)?;
        }
        Ok(())
    }

    fn part(
        &mut self,
        node: &gltf::Node<'_>,
        mesh: &gltf::Mesh<'_>,
        primitive: &gltf::Primitive<'_>,
        at: &str,
    ) -> Result<(), Error> {
        let file = self.file;
        if primitive.extension_value("KHR_draco_mesh_compression").is_some()
            && primitive.get(&Semantic::Positions).is_none_or(|accessor| accessor.view().is_none())
        {
            let extension = "KHR_draco_mesh_compression".to_owned();
            return Err(Error::Extension { extension, path: file.path.to_owned() });
        }
        let Some(positions) = primitive.get(&Semantic::Positions) else {
            return Err(file.value(&format!("{at}/attributes"), "no POSITION", "positions"));
        };
        let count = positions.count();
        for (semantic, accessor) in primitive.attributes() {
            if accessor.count() != count {
                let pointer = format!("{at}/attributes/{}", semantic.to_string());
                return Err(file.value(&pointer, accessor.count(), format!("{count}, as many as positions")));
            }
        }
        let first = self.model.rig.positions.len();
        check_vertices(first as u64 + count as u64, file.path, file.options)?;
        self.model.rig.positions.extend(self.vectors(&positions)?);
        let normals = primitive.get(&Semantic::Normals);
        match &normals {
            Some(accessor) => {
                let vectors = self.vectors(accessor)?;
                self.model.rig.normals.extend(vectors.iter().map(|v| v.try_normalize().unwrap_or(Vec3::Y)));
            }
            None => self.model.rig.normals.resize(first + count, Vec3::Y),
        }
        // Without normals the file's tangents do not count (glTF 2.0, section 3.7.2.1).
        let tangents = primitive.get(&Semantic::Tangents).filter(|_| normals.is_some());
        if let Some(accessor) = &tangents {
            let numbers = file.floats(accessor, Dimensions::Vec4, Numbers::Quantized)?;
            self.model.rig.tangents.resize(first, Vec4::new(1.0, 0.0, 0.0, 1.0));
            self.model.rig.tangents.extend(numbers.as_chunks::<4>().0.iter().map(|t| tangent(*t)));
        } else if !self.model.rig.tangents.is_empty() {
            self.model.rig.tangents.resize(first + count, Vec4::new(1.0, 0.0, 0.0, 1.0));
        }
        let uvs = primitive.get(&Semantic::TexCoords(0));
        match &uvs {
            Some(accessor) => {
                let numbers = file.floats(accessor, Dimensions::Vec2, Numbers::Quantized)?;
                let placed = uv_transform(primitive);
                self.model
                    .uvs
                    .extend(numbers.as_chunks::<2>().0.iter().map(|uv| placed(Vec2::from_array(*uv))));
            }
            None => self.model.uvs.resize(first + count, Vec2::ZERO),
        }
        let skin = node.skin().map(|skin| to_u32(skin.index()));
        let skin = self.influences(primitive, skin, count, at)?;
        let (targets, weights) = self.targets(node, mesh, primitive, count, at)?;
        let start = self.model.indices.len();
        self.triangles(primitive, first, count, at)?;
        self.model.surfaces.push(Surface {
            indices: start..self.model.indices.len(),
            material: primitive.material().index().map(to_u32),
            has_normals: normals.is_some(),
            has_uvs: uvs.is_some(),
            has_tangents: tangents.is_some(),
        });
        let vertices = first..first + count;
        let node = self.places[node.index()];
        self.model.rig.parts.push(Part { node, vertices, skin, targets, weights });
        Ok(())
    }

    fn vectors(&self, accessor: &gltf::Accessor<'_>) -> Result<Vec<Vec3>, Error> {
        let numbers = self.file.floats(accessor, Dimensions::Vec3, Numbers::Quantized)?;
        Ok(numbers.as_chunks::<3>().0.iter().map(|xyz| Vec3::from_array(*xyz)).collect())
    }

    /// Appends the influences of a primitive. Weights are made to sum to 1; gives the skin if it is used.
    fn influences(
        &mut self,
        primitive: &gltf::Primitive<'_>,
        skin: Option<u32>,
        count: usize,
        at: &str,
    ) -> Result<Option<u32>, Error> {
        let rig = &mut self.model.rig;
        if rig.influence_starts.is_empty() {
            rig.influence_starts.push(0);
        }
        let (mut joints, mut weights) = (Vec::new(), Vec::new());
        for set in 0..MAX_JOINT_SETS {
            let pair = (primitive.get(&Semantic::Joints(set)), primitive.get(&Semantic::Weights(set)));
            let (some_joints, some_weights) = match pair {
                (Some(joints), Some(weights)) => (joints, weights),
                (None, None) => break,
                (joints, _) => {
                    let found =
                        if joints.is_some() { "joints without weights" } else { "weights without joints" };
                    return Err(self.file.value(&format!("{at}/attributes"), found, "both, or neither"));
                }
            };
            joints.push(self.file.integers(&some_joints, Dimensions::Vec4)?);
            weights.push(self.file.raw_weights(&some_weights)?);
        }
        let Some(skin) = skin.filter(|_| !joints.is_empty()) else {
            if skin.is_some() {
                self.model
                    .warnings
                    .push(format!("{at}: a skin but no joints and weights: the node moves it"));
            }
            let end = to_u32(rig.influences.len());
            rig.influence_starts.extend(std::iter::repeat_n(end, count));
            return Ok(None);
        };
        let joint_count = to_u32(rig.skins[skin as usize].joints.len());
        for vertex in 0..count {
            let pairs = (0..4 * joints.len()).map(|slot| {
                let (set, within) = (slot / 4, vertex * 4 + slot % 4);
                (joints[set][within], f64::from(weights[set][within]))
            });
            let start = rig.influences.len();
            let mut broken = false;
            for (joint, weight) in pairs {
                if !(weight.is_finite() && weight >= 0.0) {
                    broken = true;
                    continue;
                }
                if weight == 0.0 {
                    continue;
                }
                if joint >= joint_count {
                    let pointer = format!("{at}/attributes/JOINTS_0, vertex {vertex}");
                    return Err(self.file.value(&pointer, joint, format!("a joint below {joint_count}")));
                }
                rig.influences.push((joint, weight));
            }
            let sum: f64 = rig.influences[start..].iter().map(|(_, weight)| weight).sum();
            if sum > 0.0 {
                for (_, weight) in &mut rig.influences[start..] {
                    *weight /= sum;
                }
                // Normalised bytes and shorts miss 1 by half a step for each weight.
                self.mended += usize::from(broken || (sum - 1.0).abs() > 0.01);
            } else {
                let joint = joints[0][vertex * 4].min(joint_count - 1);
                rig.influences.push((joint, 1.0));
                self.orphans += 1;
            }
            rig.influence_starts.push(to_u32(rig.influences.len()));
        }
        Ok(Some(skin))
    }

    fn targets(
        &self,
        node: &gltf::Node<'_>,
        mesh: &gltf::Mesh<'_>,
        primitive: &gltf::Primitive<'_>,
        count: usize,
        at: &str,
    ) -> Result<(Vec<Target>, Vec<f64>), Error> {
        let mut targets = Vec::new();
        for (index, target) in primitive.morph_targets().enumerate() {
            let stream = |accessor: Option<gltf::Accessor<'_>>| match accessor {
                None => Ok(Vec::new()),
                Some(accessor) if accessor.count() == count => self.vectors(&accessor),
                Some(accessor) => {
                    let pointer = format!("{at}/targets/{index}");
                    Err(self.file.value(&pointer, accessor.count(), format!("{count} vertices")))
                }
            };
            targets.push(Target {
                positions: stream(target.positions())?,
                normals: stream(target.normals())?,
                tangents: stream(target.tangents())?,
            });
        }
        let given = node.weights().or(mesh.weights()).unwrap_or_default();
        let mut weights: Vec<f64> = given.iter().map(|weight| f64::from(*weight)).collect();
        weights.resize(targets.len(), 0.0);
        if let Some(weight) = weights.iter().find(|weight| !weight.is_finite()) {
            return Err(self.file.value(&format!("{at}: weights"), weight, "finite numbers"));
        }
        Ok((targets, weights))
    }

    fn triangles(
        &mut self,
        primitive: &gltf::Primitive<'_>,
        first: usize,
        count: usize,
        at: &str,
    ) -> Result<(), Error> {
        let corners = match primitive.indices() {
            Some(accessor) => self.file.indices(&accessor, count)?,
            None => (0..to_u32(count)).collect(),
        };
        let mut push = |triangle: [u32; 3]| {
            self.model.indices.extend(triangle.map(|corner| corner + to_u32(first)));
        };
        match primitive.mode() {
            Mode::TriangleStrip => {
                for (index, strip) in corners.windows(3).enumerate() {
                    let [a, b, c] = [strip[0], strip[1], strip[2]];
                    push(if index % 2 == 0 { [a, b, c] } else { [b, a, c] });
                }
            }
            Mode::TriangleFan => {
                for pair in corners.get(1..).unwrap_or_default().windows(2) {
                    push([pair[0], pair[1], corners[0]]);
                }
            }
            _ => {
                if !corners.len().is_multiple_of(3) {
                    let expected = "three per triangle";
                    return Err(self.file.value(&format!("{at}/indices"), corners.len(), expected));
                }
                corners.as_chunks::<3>().0.iter().for_each(|triangle| push(*triangle));
            }
        }
        Ok(())
    }

    fn clips(&mut self) -> Result<(), Error> {
        for animation in self.file.document.animations() {
            let mut channels = Vec::new();
            for (index, channel) in animation.channels().enumerate() {
                let at = format!("/animations/{}/channels/{index}", animation.index());
                let target = channel.target();
                let node = self.places[target.node().index()];
                let (property, width) = match target.property() {
                    GltfProperty::Translation => (Property::Translation, 3),
                    GltfProperty::Rotation => (Property::Rotation, 4),
                    GltfProperty::Scale => (Property::Scale, 3),
                    GltfProperty::MorphTargetWeights => {
                        let mut parts = self.model.rig.parts.iter().filter(|part| part.node == node);
                        let Some(part) = parts.find(|part| !part.targets.is_empty()) else {
                            // A mesh outside the scene, or without targets.
                            continue;
                        };
                        (Property::Weights, part.targets.len())
                    }
                };
                let track = self.track(&channel, property, width, &at)?;
                channels.push(Channel { node, property, track });
            }
            let name = animation.name().unwrap_or_default().to_owned();
            self.model.rig.clips.push(RigClip { name, channels, fps: None });
        }
        Ok(())
    }

    fn track(
        &self,
        channel: &gltf::animation::Channel<'_>,
        property: Property,
        width: usize,
        at: &str,
    ) -> Result<Track, Error> {
        let sampler = channel.sampler();
        let interpolation = match sampler.interpolation() {
            GltfInterpolation::Step => Interpolation::Step,
            GltfInterpolation::Linear => Interpolation::Linear,
            GltfInterpolation::CubicSpline => Interpolation::CubicSpline,
        };
        let dimensions = match property {
            Property::Translation | Property::Scale => Dimensions::Vec3,
            Property::Rotation => Dimensions::Vec4,
            Property::Weights => Dimensions::Scalar,
        };
        let times = self.file.floats(&sampler.input(), Dimensions::Scalar, Numbers::Fractions)?;
        let values = self.file.floats(&sampler.output(), dimensions, Numbers::Fractions)?;
        let wide = |numbers: Vec<f32>| numbers.into_iter().map(f64::from).collect();
        Track::new(wide(times), wide(values), width, interpolation)
            .map_err(|error| self.file.value(&format!("{at}/sampler"), error.to_string(), "a track of keys"))
    }
}

fn local(node: &gltf::Node<'_>, animated: bool) -> Local {
    let trs = |translation: [f32; 3], rotation: [f32; 4], scale: [f32; 3]| {
        let rotation = DQuat::from_array(rotation.map(f64::from));
        let length = rotation.length();
        Local::Trs(Trs {
            translation: DVec3::from_array(translation.map(f64::from)),
            rotation: if length > 0.0 { rotation / length } else { DQuat::IDENTITY },
            scale: DVec3::from_array(scale.map(f64::from)),
        })
    };
    match node.transform() {
        gltf::scene::Transform::Decomposed { translation, rotation, scale } => {
            trs(translation, rotation, scale)
        }
        gltf::scene::Transform::Matrix { matrix } => {
            let matrix = DMat4::from_cols_array_2d(&matrix.map(|column| column.map(f64::from)));
            if animated && matrix.determinant() != 0.0 {
                let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
                return Local::Trs(Trs { translation, rotation, scale });
            }
            Local::Matrix(matrix)
        }
    }
}

fn tangent(numbers: [f32; 4]) -> Vec4 {
    let [x, y, z, w] = numbers;
    let along = Vec3::new(x, y, z).try_normalize().unwrap_or(Vec3::X);
    along.extend(if w < 0.0 { -1.0 } else { 1.0 })
}

/// The place that `KHR_texture_transform` gives a material's texture; one serves all its textures.
fn uv_transform(primitive: &gltf::Primitive<'_>) -> impl Fn(Vec2) -> Vec2 {
    let material = primitive.material();
    let transform = material
        .pbr_metallic_roughness()
        .base_color_texture()
        .and_then(|info| info.texture_transform().map(|t| (t.offset(), t.rotation(), t.scale())));
    let (offset, rotation, scale) = transform.unwrap_or(([0.0; 2], 0.0, [1.0; 2]));
    let (sine, cosine) = (libm::sinf(rotation), libm::cosf(rotation));
    move |uv| {
        let scaled = uv * Vec2::from_array(scale);
        let turned = Vec2::new(cosine * scaled.x + sine * scaled.y, -sine * scaled.x + cosine * scaled.y);
        turned + Vec2::from_array(offset)
    }
}
