//! Levels of detail: fewer triangles over the same vertices, so that they need no texels of their own.

use glam::Vec3;
use meshopt::{SimplifyOptions, SimplifyVertex};
use parry3d::query::PointQuery as _;
use parry3d::shape::TriMesh;
use rayon::prelude::*;
use serde::Serialize;

use super::report::Worst;
use crate::asset::Asset;
use crate::mesh::{Lod, Mesh, Primitive};
use crate::vat::FrameBlend;
use crate::vat::playback::encode_frames;

/// Most levels below the full mesh.
pub const MAX_LODS: u32 = 8;
/// Poses by which triangles are chosen: meshoptimizer takes at most 32 attributes, three for each but one.
const POSES: usize = 11;
/// A level with more than this part of the triangles of the one before is left out.
const WORTHWHILE: f64 = 0.85;
/// Distances beyond which only every so manieth frame is measured.
const MEASURED: usize = 3_000_000;

/// A level, and how far the full mesh is from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LodReport {
    /// Triangles that are left.
    pub triangle_count: usize,
    /// Frames at which it was measured.
    pub measured_frames: usize,
    /// Worst distance of a vertex of the full mesh from the level's surface in the same frame, metres.
    pub deviation_metres: Worst,
    /// Mean of those distances, metres.
    pub deviation_mean_metres: f64,
}

/// Up to `count` levels of `asset`, each with half of the triangles of the one before, by quadric error
/// (meshoptimizer) over poses from the whole animation.
pub(super) fn lods(asset: &Asset, count: u32) -> (Vec<Lod>, Vec<LodReport>) {
    let poses = poses(asset);
    let (mut lods, mut reports): (Vec<Lod>, Vec<LodReport>) = (Vec::new(), Vec::new());
    let mut last = asset.mesh.triangle_count();
    for level in 1..=count.min(MAX_LODS) {
        let target = asset.mesh.triangle_count() >> level;
        let small = |lod: &Lod| (lod.indices.len() / 3) as f64 <= last as f64 * WORTHWHILE;
        let mut lod = simplified(&asset.mesh, &poses, target, SimplifyOptions::None);
        if !small(&lod) {
            // Hard edges and seams everywhere: they may go too.
            lod = simplified(&asset.mesh, &poses, target, SimplifyOptions::Permissive);
        }
        let found = lod.indices.len() / 3;
        if found == 0 || !small(&lod) {
            break;
        }
        last = found;
        let report = measure(asset, &lod);
        #[expect(clippy::cast_possible_truncation, reason = "metres")]
        let metres = report.deviation_metres.error as f32;
        lod.deviation_metres = metres;
        lods.push(lod);
        reports.push(report);
    }
    (lods, reports)
}

/// The mesh at moments spread over all frames.
fn poses(asset: &Asset) -> Vec<Vec<Vec3>> {
    let all = moments(asset);
    let step = all.len().div_ceil(POSES).max(1);
    all.into_iter().step_by(step).map(|(clip, frame)| positions(asset, clip, frame)).collect()
}

fn moments(asset: &Asset) -> Vec<(usize, u32)> {
    let clips = asset.clips.iter().enumerate();
    clips.flat_map(|(index, clip)| (0..clip.frame_count).map(move |frame| (index, frame))).collect()
}

fn positions(asset: &Asset, clip: usize, frame: u32) -> Vec<Vec3> {
    asset.positions(encode_frames(&asset.clips[clip], f64::from(frame)), FrameBlend::Step)
}

fn simplified(mesh: &Mesh, poses: &[Vec<Vec3>], target: usize, options: SimplifyOptions) -> Lod {
    // Positions after the first pose are attributes: their error counts as much as that of the first.
    let (first, others) = poses.split_first().map_or((&mesh.positions[..], &[][..]), |(a, b)| (&a[..], b));
    let bounds = crate::bounds::Bounds::of_points(first.iter().copied());
    let extent = bounds.size().max_element().max(1e-9);
    let width = 3 * others.len();
    let mut attributes = Vec::with_capacity(width * mesh.vertex_count());
    for vertex in 0..mesh.vertex_count() {
        attributes.extend(others.iter().flat_map(|pose| (pose[vertex] / extent).to_array()));
    }
    #[expect(clippy::cast_precision_loss, reason = "a few poses")]
    let weights = vec![1.0 / (others.len().max(1) as f32).sqrt(); width];
    // One for each vertex: the crate reads them unchecked.
    let free = vec![SimplifyVertex::None; mesh.vertex_count()];
    let simplify = |indices: &[u32], target: usize, options| {
        let bytes = bytemuck::cast_slice(first);
        let Ok(vertices) = meshopt::VertexDataAdapter::new(bytes, size_of::<Vec3>(), 0) else {
            return indices.to_vec();
        };
        // However large the error: it is measured afterwards.
        meshopt::simplify_with_attributes_and_locks(
            indices,
            &vertices,
            &attributes,
            &weights,
            width * size_of::<f32>(),
            &free,
            target * 3,
            f32::MAX,
            options,
            None,
        )
    };
    let mut lod = Lod::default();
    let add = |lod: &mut Lod, run: &[u32], material| {
        let start = to_u32(lod.indices.len());
        lod.indices.extend(meshopt::optimize_vertex_cache(run, mesh.vertex_count()));
        let indices = start..to_u32(lod.indices.len());
        if !indices.is_empty() {
            lod.primitives.push(Primitive { indices, material });
        }
    };
    match owners(mesh) {
        Some(owners) => {
            let kept = simplify(&mesh.indices, target, options);
            for (index, primitive) in mesh.primitives.iter().enumerate() {
                let triangles = kept.as_chunks::<3>().0.iter();
                let own = triangles.filter(|triangle| owners[triangle[0] as usize] == index);
                let run: Vec<u32> = own.flatten().copied().collect();
                add(&mut lod, &run, primitive.material);
            }
        }
        // Each on its own; what they share stays where it is, so that no cracks open.
        None => {
            for primitive in &mesh.primitives {
                let run = &mesh.indices[primitive.indices.start as usize..primitive.indices.end as usize];
                let part = run.len() as f64 / mesh.indices.len() as f64;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of it")]
                let target = (target as f64 * part) as usize;
                add(
                    &mut lod,
                    &simplify(run, target, options | SimplifyOptions::LockBorder),
                    primitive.material,
                );
            }
        }
    }
    lod
}

/// Which primitive each vertex belongs to; `None` where two share one.
fn owners(mesh: &Mesh) -> Option<Vec<usize>> {
    let mut owners = vec![usize::MAX; mesh.vertex_count()];
    for (index, primitive) in mesh.primitives.iter().enumerate() {
        for vertex in &mesh.indices[primitive.indices.start as usize..primitive.indices.end as usize] {
            let owner = &mut owners[*vertex as usize];
            if *owner != usize::MAX && *owner != index {
                return None;
            }
            *owner = index;
        }
    }
    Some(owners)
}

/// One of the frames at which a level is measured.
struct Moment {
    clip: usize,
    frame: u32,
    worst: f64,
    vertex: usize,
    sum: f64,
}

fn measure(asset: &Asset, lod: &Lod) -> LodReport {
    let mesh = &asset.mesh;
    // Vertices of one element are at one place.
    let mut seen = vec![false; asset.animation.element_count as usize];
    let first = |element: &u32| !std::mem::replace(&mut seen[*element as usize], true);
    let places = mesh.elements.iter().map(first).collect::<Vec<_>>();
    let vertices: Vec<usize> = (0..mesh.vertex_count()).filter(|vertex| places[*vertex]).collect();
    let triangles = lod.indices.as_chunks::<3>().0;
    let all = moments(asset);
    let stride = (all.len() * vertices.len()).div_ceil(MEASURED).max(1);
    let all: Vec<_> = all.into_iter().step_by(stride).collect();
    let found: Vec<Moment> = all
        .par_iter()
        .map(|(clip, frame)| {
            let pose = positions(asset, *clip, *frame);
            let corners = pose.iter().map(|p| p.to_array().into()).collect();
            let mut moment = Moment { clip: *clip, frame: *frame, worst: 0.0, vertex: 0, sum: 0.0 };
            // It refuses a mesh without triangles only.
            let Ok(surface) = TriMesh::new(corners, triangles.to_vec()) else { return moment };
            for vertex in &vertices {
                let place = pose[*vertex].to_array().into();
                let distance = f64::from(surface.distance_to_local_point(place, false));
                moment.sum += distance;
                if distance > moment.worst {
                    (moment.worst, moment.vertex) = (distance, *vertex);
                }
            }
            moment
        })
        .collect();
    let mut report = LodReport {
        triangle_count: triangles.len(),
        measured_frames: found.len(),
        deviation_metres: Worst::default(),
        deviation_mean_metres: 0.0,
    };
    for Moment { clip, frame, worst, vertex, sum } in &found {
        report.deviation_mean_metres += sum / (found.len() * vertices.len()).max(1) as f64;
        if *worst > report.deviation_metres.error {
            let clip = asset.clips[*clip].name.clone();
            report.deviation_metres =
                Worst { error: *worst, vertex: *vertex, clip, frame: f64::from(*frame) };
        }
    }
    report
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
