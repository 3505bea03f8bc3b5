//! Animated models: nodes, skins, blend shapes and geometry caches.

use std::collections::HashMap;
use std::path::Path;

use glam::{DMat4, DQuat, DVec3, DVec4, Vec2, Vec3, Vec4};

use super::{allocator, clips, looks, open, refused};
use crate::import::mesh::check_vertices;
use crate::import::{Error, Options, digest};
use crate::mesh::Mesh;
use crate::skeleton::{Local, Node, Part, Skin, Target, Trs};
use crate::source::{Model, Surface};

/// More frames of a geometry cache are refused: each is a shape.
const MAX_CACHE_FRAMES: usize = 4096;

/// Reads the model of an FBX file: metres, Y up.
pub(in crate::import) fn read(
    bytes: &[u8],
    folder: &Path,
    path: &Path,
    options: &Options,
) -> Result<Model, Error> {
    let name = path.to_string_lossy();
    let opener = |name: &str, _: &ufbx::OpenFileInfo| open(folder, name, options);
    let load = ufbx::LoadOpts {
        temp_allocator: allocator(options),
        result_allocator: allocator(options),
        filename: ufbx::StringOpt::Ref(&name),
        load_external_files: true,
        ignore_missing_external_files: true,
        open_file_cb: ufbx::OpenFileCb::Ref(&opener),
        generate_missing_normals: true,
        normalize_normals: true,
        geometry_transform_handling: ufbx::GeometryTransformHandling::HelperNodes,
        inherit_mode_handling: ufbx::InheritModeHandling::HelperNodes,
        target_axes: ufbx::CoordinateAxes {
            right: ufbx::CoordinateAxis::PositiveX,
            up: ufbx::CoordinateAxis::PositiveY,
            front: ufbx::CoordinateAxis::PositiveZ,
        },
        target_unit_meters: 1.0,
        ..Default::default()
    };
    let scene = ufbx::load_memory(bytes, load).map_err(|error| refused(&error, path))?;
    let mut reader =
        Reader { scene: &scene, folder, path, options, model: Model::default(), caches: Vec::new() };
    reader.model.rig.influence_starts.push(0);
    reader.nodes();
    for node in scene.nodes.iter().filter(|node| node.visible) {
        if let Some(mesh) = &node.mesh {
            reader.mesh(node, mesh)?;
        }
    }
    let Reader { mut model, caches, .. } = reader;
    clips::read(&scene, &caches, &mut model, path)?;
    let found = looks::read(&scene, folder, path, options);
    (model.materials, model.images) = (found.materials, found.images);
    model.warnings.extend(found.warnings);
    model.producer = scene.metadata.creator.to_string();
    let images = model.images.iter().map(|image| &image.data[..]);
    // What was read of caches, which are files of their own.
    let cached = model.rig.parts.iter().filter(|part| caches.iter().any(|cached| cached.node == part.node));
    let shapes = cached.flat_map(|part| &part.targets);
    let shapes = shapes.map(|target| bytemuck::cast_slice::<Vec3, u8>(&target.positions));
    model.digest = digest(std::iter::once(bytes).chain(images).chain(shapes));
    if model.indices.is_empty() {
        return Err(Error::Mesh { message: "found no triangles".to_owned(), path: path.to_owned() });
    }
    model.rig.check().map_err(|error| Error::Mesh { message: error.to_string(), path: path.to_owned() })?;
    Ok(model)
}

/// A node whose mesh plays a geometry cache: its shapes, and the time of each.
pub(super) struct Cached {
    pub(super) node: u32,
    pub(super) seconds: Vec<f64>,
}

struct Reader<'a> {
    scene: &'a ufbx::Scene,
    folder: &'a Path,
    path: &'a Path,
    options: &'a Options,
    model: Model,
    caches: Vec<Cached>,
}

impl Reader<'_> {
    /// ufbx has parents before children, and names nodes by their place.
    fn nodes(&mut self) {
        let nodes = self.scene.nodes.iter().map(|node| {
            let transform = &node.local_transform;
            Node {
                name: node.element.name.to_string(),
                parent: node.parent.as_ref().map(|parent| parent.element.typed_id),
                local: Local::Trs(Trs {
                    translation: vector(&transform.translation),
                    rotation: quaternion(&transform.rotation),
                    scale: vector(&transform.scale),
                }),
            }
        });
        self.model.rig.nodes = nodes.collect();
    }

    fn mesh(&mut self, node: &ufbx::Node, mesh: &ufbx::Mesh) -> Result<(), Error> {
        let total = self.model.rig.positions.len() as u64 + mesh.num_indices as u64;
        check_vertices(total, self.path, self.options)?;
        let shapes = self.shapes(node, mesh)?;
        let cached = matches!(shapes, Shapes::Cached(_));
        let skin = mesh.skin_deformers.iter().next().filter(|_| !cached);
        let skin = skin.map(|skin| self.skin(node, skin));
        if mesh.skin_deformers.len() > 1 {
            self.warn(node, "has more than one skin: the first is used");
        }
        let mut of_materials: Vec<Vec<u32>> = vec![Vec::new(); mesh.materials.len().max(1)];
        let mut triangles = Vec::new();
        for (number, face) in mesh.faces.iter().enumerate() {
            let count = ufbx::triangulate_face_vec(&mut triangles, mesh, *face) as usize;
            let material = mesh.face_material.get(number).map_or(0, |material| *material as usize);
            let bucket = material.min(of_materials.len() - 1);
            of_materials[bucket].extend(&triangles[..3 * count]);
        }
        for (material, corners) in of_materials.iter().enumerate() {
            if !corners.is_empty() {
                let material = node.materials.get(material).or_else(|| mesh.materials.get(material));
                let material = material.map(|material| material.element.typed_id);
                self.part(node, mesh, corners, material, skin, &shapes)?;
            }
        }
        Ok(())
    }

    /// One vertex per point, normal and texture coordinate of a material's corners.
    fn part(
        &mut self,
        node: &ufbx::Node,
        mesh: &ufbx::Mesh,
        corners: &[u32],
        material: Option<u32>,
        skin: Option<u32>,
        shapes: &Shapes,
    ) -> Result<(), Error> {
        let first = self.model.rig.positions.len();
        let first_index = self.model.indices.len();
        let mut places: HashMap<(u32, [u32; 3], [u32; 2]), u32> = HashMap::new();
        let mut points = Vec::new();
        for corner in corners {
            let corner = *corner as usize;
            let point = mesh.vertex_indices[corner];
            if point as usize >= mesh.num_vertices {
                return Err(Error::Mesh {
                    message: format!("found vertex {point}, there are {}", mesh.num_vertices),
                    path: self.path.to_owned(),
                });
            }
            let normal = single(&mesh.vertex_normal[corner]).try_normalize().unwrap_or(Vec3::Y);
            let uv = match mesh.vertex_uv.exists {
                #[expect(clippy::cast_possible_truncation, reason = "UVs are single floats")]
                true => {
                    let uv = mesh.vertex_uv[corner];
                    Vec2::new(uv.x as f32, 1.0 - uv.y as f32)
                }
                false => Vec2::ZERO,
            };
            let key = (point, normal.to_array().map(f32::to_bits), uv.to_array().map(f32::to_bits));
            let next = to_u32(first + points.len());
            let place = *places.entry(key).or_insert(next);
            if place == next {
                points.push(point as usize);
                self.model.rig.positions.push(single(&mesh.vertices[point as usize]));
                self.model.rig.normals.push(normal);
                self.model.uvs.push(uv);
            }
            self.model.indices.push(place);
        }
        for point in &points {
            if let (Some(skin), Some(deformer)) = (skin, mesh.skin_deformers.iter().next()) {
                let fallback = to_u32(self.model.rig.skins[skin as usize].joints.len() - 1);
                let influences = influences(deformer, *point, fallback);
                self.model.rig.influences.extend(influences);
            }
            self.model.rig.influence_starts.push(to_u32(self.model.rig.influences.len()));
        }
        let (targets, weights) = shapes.of(&points, &self.model.rig.positions[first..]);
        self.model.surfaces.push(Surface {
            indices: first_index..self.model.indices.len(),
            material,
            has_normals: true,
            has_uvs: mesh.vertex_uv.exists,
            has_tangents: false,
        });
        let vertices = first..self.model.rig.positions.len();
        self.model.rig.parts.push(Part { node: node.element.typed_id, vertices, skin, targets, weights });
        Ok(())
    }

    /// A skin whose last joint is the node itself, for points that no bone holds.
    fn skin(&mut self, node: &ufbx::Node, deformer: &ufbx::SkinDeformer) -> u32 {
        if deformer.skinning_method != ufbx::SkinningMethod::Linear
            && deformer.skinning_method != ufbx::SkinningMethod::Rigid
        {
            self.warn(node, "is skinned by dual quaternions, which is baked as linear skinning");
        }
        let mut skin = Skin::default();
        for cluster in &deformer.clusters {
            let bone = cluster.bone_node.as_ref();
            skin.joints.push(bone.map_or(node.element.typed_id, |bone| bone.element.typed_id));
            skin.inverse_binds.push(bone.map_or(DMat4::IDENTITY, |_| matrix(&cluster.geometry_to_bone)));
        }
        skin.joints.push(node.element.typed_id);
        skin.inverse_binds.push(DMat4::IDENTITY);
        self.model.rig.skins.push(skin);
        to_u32(self.model.rig.skins.len() - 1)
    }

    /// What changes the mesh before it is skinned.
    fn shapes(&mut self, node: &ufbx::Node, mesh: &ufbx::Mesh) -> Result<Shapes, Error> {
        if let Some(deformer) = mesh.cache_deformers.iter().next() {
            match &deformer.external_channel {
                Some(channel) => return self.cache(node, mesh, channel),
                None => self
                    .warn(node, "has a geometry cache that cannot be opened beside the file: it is left out"),
            }
        }
        let channels = mesh.blend_deformers.iter().flat_map(|deformer| deformer.channels.iter());
        let mut shapes = Vec::new();
        for channel in channels {
            for keyframe in &channel.keyframes {
                let shape = &keyframe.shape;
                let mut moved = vec![[Vec3::ZERO; 2]; mesh.num_vertices];
                let offsets = shape.offset_vertices.iter().zip(&shape.position_offsets);
                for (index, (point, offset)) in offsets.enumerate() {
                    if let Some(moved) = moved.get_mut(*point as usize) {
                        let normal = shape.normal_offsets.get(index).map_or(Vec3::ZERO, single);
                        *moved = [single(offset), normal];
                    }
                }
                shapes.push((moved, keyframe.effective_weight));
            }
        }
        Ok(Shapes::Blended(shapes))
    }

    /// Every frame of a cache as a shape; they take turns.
    fn cache(
        &mut self,
        node: &ufbx::Node,
        mesh: &ufbx::Mesh,
        channel: &ufbx::CacheChannel,
    ) -> Result<Shapes, Error> {
        let wrong = |found: String, expected: String| Error::Value {
            pointer: format!("geometry cache {:?}", channel.name.to_string()),
            found,
            expected,
            path: self.path.to_owned(),
        };
        let count = channel.frames.len();
        if count == 0 || count > MAX_CACHE_FRAMES {
            return Err(wrong(format!("{count} frames"), format!("1 to {MAX_CACHE_FRAMES} frames")));
        }
        if channel.interpretation == ufbx::CacheInterpretation::VertexNormal {
            return Err(wrong("a channel of normals".to_owned(), "positions".to_owned()));
        }
        let memory = count as u64 * mesh.num_vertices as u64 * 24;
        if memory > self.options.limits.file_bytes {
            let (found, limit) = (memory, self.options.limits.file_bytes);
            return Err(Error::TooLarge {
                what: "bytes of the geometry cache",
                found,
                limit,
                path: self.path.to_owned(),
            });
        }
        let opener = |name: &str, _: &ufbx::OpenFileInfo| open(self.folder, name, self.options);
        let zero = ufbx::Vec3 { x: 0.0, y: 0.0, z: 0.0 };
        let mut frames = Vec::new();
        for frame in &channel.frames {
            let mut positions = vec![zero; mesh.num_vertices];
            let options = ufbx::GeometryCacheDataOpts {
                open_file_cb: ufbx::OpenFileCb::Ref(&opener),
                ..Default::default()
            };
            let read = ufbx::read_geometry_cache_vec3(frame, &mut positions, options);
            if read != mesh.num_vertices || frame.data_count as usize != mesh.num_vertices {
                let found = format!("{} points at {} s", frame.data_count, frame.time);
                return Err(wrong(found, format!("{}, as many as the mesh has", mesh.num_vertices)));
            }
            let positions: Vec<Vec3> = positions.iter().map(single).collect();
            if let Some(point) = positions.iter().position(|position| !position.is_finite()) {
                return Err(wrong(
                    format!("{} at point {point}", positions[point]),
                    "finite numbers".to_owned(),
                ));
            }
            frames.push(positions);
        }
        let seconds = channel.frames.iter().map(|frame| frame.time).collect();
        self.caches.push(Cached { node: node.element.typed_id, seconds });
        let points: Vec<Vec3> = mesh.vertices.iter().map(single).collect();
        let surface = surface(mesh);
        let rest = surface.angle_weighted_normals(&points);
        let normals = frames.iter().map(|frame| {
            let moved = surface.angle_weighted_normals(frame);
            moved.iter().zip(&rest).map(|(a, b)| *a - *b).collect()
        });
        let normals: Vec<Vec<Vec3>> = normals.collect();
        Ok(Shapes::Cached(frames.into_iter().zip(normals).collect()))
    }

    fn warn(&mut self, node: &ufbx::Node, what: &str) {
        self.model.warnings.push(format!("{:?} {what}", node.element.name.to_string()));
    }
}

/// The mesh's triangles between its points.
fn surface(mesh: &ufbx::Mesh) -> Mesh {
    let mut surface = Mesh { elements: (0..to_u32(mesh.num_vertices)).collect(), ..Mesh::default() };
    let mut triangles = Vec::new();
    for face in &mesh.faces {
        let count = ufbx::triangulate_face_vec(&mut triangles, mesh, *face) as usize;
        for triangle in triangles[..3 * count].as_chunks::<3>().0 {
            let points = triangle.map(|corner| mesh.vertex_indices[corner as usize]);
            if points.iter().all(|point| (*point as usize) < mesh.num_vertices) {
                surface.indices.extend(points);
            }
        }
    }
    surface
}

/// What changes a mesh point by point.
enum Shapes {
    /// Offsets of positions and normals, and how much of each shows at rest.
    Blended(Vec<(Vec<[Vec3; 2]>, f64)>),
    /// Positions, and differences of normals; one shows at a time.
    Cached(Vec<(Vec<Vec3>, Vec<Vec3>)>),
}

impl Shapes {
    /// Targets of a part's vertices, and their weights at rest.
    fn of(&self, points: &[usize], positions: &[Vec3]) -> (Vec<Target>, Vec<f64>) {
        match self {
            Self::Blended(shapes) => shapes
                .iter()
                .map(|(moved, weight)| {
                    let stream = |which: usize| points.iter().map(|point| moved[*point][which]).collect();
                    (Target { positions: stream(0), normals: stream(1), tangents: Vec::new() }, *weight)
                })
                .unzip(),
            Self::Cached(frames) => frames
                .iter()
                .map(|(moved, turned)| {
                    let offsets = points.iter().zip(positions).map(|(point, rest)| moved[*point] - *rest);
                    let target = Target {
                        positions: offsets.collect(),
                        normals: points.iter().map(|point| turned[*point]).collect(),
                        tangents: Vec::new(),
                    };
                    (target, 0.0)
                })
                .unzip(),
        }
    }
}

/// Joints of a point with weights that sum to 1; what no bone holds follows `fallback`.
fn influences(skin: &ufbx::SkinDeformer, point: usize, fallback: u32) -> Vec<(u32, f64)> {
    let none = vec![(fallback, 1.0)];
    let Some(vertex) = skin.vertices.get(point) else { return none };
    let from = vertex.weight_begin as usize;
    let Some(weights) = skin.weights.get(from..from + vertex.num_weights as usize) else { return none };
    let weights = weights.iter().map(|weight| (weight.cluster_index, weight.weight));
    let weights: Vec<(u32, f64)> = weights
        .filter(|(cluster, weight)| *weight > 0.0 && weight.is_finite() && *cluster < fallback)
        .collect();
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    if sum <= 0.0 {
        return none;
    }
    weights.into_iter().map(|(cluster, weight)| (cluster, weight / sum)).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "vertices are single floats")]
fn single(v: &ufbx::Vec3) -> Vec3 {
    Vec3::new(v.x as f32, v.y as f32, v.z as f32)
}

pub(super) fn vector(v: &ufbx::Vec3) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

pub(super) fn quaternion(q: &ufbx::Quat) -> DQuat {
    DQuat::from_vec4(DVec4::new(q.x, q.y, q.z, q.w))
}

fn matrix(m: &ufbx::Matrix) -> DMat4 {
    DMat4::from_cols(
        DVec4::new(m.m00, m.m10, m.m20, 0.0),
        DVec4::new(m.m01, m.m11, m.m21, 0.0),
        DVec4::new(m.m02, m.m12, m.m22, 0.0),
        DVec4::new(m.m03, m.m13, m.m23, 1.0),
    )
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Keeps the name of colours in one place.
pub(super) fn color(v: &ufbx::Vec4) -> Vec4 {
    #[expect(clippy::cast_possible_truncation, reason = "colours are single floats")]
    Vec4::new(v.x as f32, v.y as f32, v.z as f32, v.w as f32)
}
