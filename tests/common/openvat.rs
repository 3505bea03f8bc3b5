//! Real OpenVAT exports, what they should decode to, and how far off they may be.

use std::path::{Path, PathBuf};

use glam::{DMat4, DVec3, Vec3};
use throng::asset::{Asset, Pose};

use super::{angle_degrees, npz};

/// One export with its published error: largest position error in millimetres, largest normal error in
/// degrees (`None`: the files have no usable normals).
pub struct Variant {
    pub name: &'static str,
    pub position_mm: f64,
    pub normal_degrees: Option<f64>,
}

const fn variant(name: &'static str, position_mm: f64, normal_degrees: f64) -> Variant {
    let normal_degrees = if normal_degrees == 0.0 { None } else { Some(normal_degrees) };
    Variant { name, position_mm, normal_degrees }
}

/// The table of errors that was measured when the exports were made.
pub const VARIANTS: [Variant; 37] = [
    variant("blob/exr16_none", 2.455, 0.0),
    variant("blob/exr16_packed", 2.455, 0.075),
    variant("blob/exr16_packed_object", 0.948, 0.077),
    variant("blob/exr16_packed_wrapped", 2.463, 0.075),
    variant("blob/exr16_separate", 2.455, 0.075),
    variant("blob/exr16_separate_wrapped", 2.463, 0.075),
    variant("blob/exr32_absolute_separate", 2.497, 0.0),
    variant("blob/exr32_packed", 2.455, 0.075),
    variant("blob/exr32_separate", 2.455, 0.075),
    variant("blob/png16_packed", 2.492, 0.076),
    variant("blob/png16_separate_fbx", 2.499, 0.076),
    variant("blob/png8_packed", 11.520, 0.410),
    variant("blob/png8_separate", 11.520, 0.410),
    variant("walker/exr16_none", 0.902, 0.0),
    variant("walker/exr16_packed", 0.902, 0.077),
    variant("walker/exr16_packed_wrapped", 0.902, 0.077),
    variant("walker/exr16_separate", 0.902, 0.077),
    variant("walker/exr16_separate_wrapped", 0.902, 0.077),
    variant("walker/exr32_absolute_separate", 0.902, 0.0),
    variant("walker/exr32_packed", 0.902, 0.077),
    variant("walker/exr32_separate", 0.902, 0.077),
    variant("walker/png16_packed", 0.909, 0.079),
    variant("walker/png16_separate_fbx", 0.909, 0.079),
    variant("walker/png8_packed", 4.315, 0.415),
    variant("walker/png8_separate", 4.315, 0.415),
    variant("wave/exr16_none", 1.184, 0.0),
    variant("wave/exr16_packed", 1.184, 0.076),
    variant("wave/exr16_packed_wrapped", 1.184, 0.076),
    variant("wave/exr16_separate", 1.184, 0.076),
    variant("wave/exr16_separate_wrapped", 1.184, 0.076),
    variant("wave/exr32_absolute_separate", 1.184, 0.0),
    variant("wave/exr32_packed", 1.184, 0.076),
    variant("wave/exr32_separate", 1.184, 0.076),
    variant("wave/png16_packed", 1.197, 0.077),
    variant("wave/png16_separate_fbx", 1.197, 0.077),
    variant("wave/png8_packed", 5.422, 0.393),
    variant("wave/png8_separate", 5.422, 0.393),
];

/// What the exporting program's own evaluation says, for every frame and source vertex; glTF axes.
pub struct Truth {
    pub positions: Vec<Vec<Vec3>>,
    pub normals: Vec<Vec<Vec3>>,
}

fn y_up(v: DVec3) -> Vec3 {
    DVec3::new(v.x, v.z, -v.y).as_vec3()
}

impl Truth {
    /// Reads `ground_truth.npz` of an asset's folder; in object space the object's own matrix is undone.
    pub fn read(folder: &Path, object_space: bool) -> Self {
        let arrays = npz::read(&folder.join("ground_truth.npz"));
        let world = &arrays["pos_world"];
        let (frames, vertices) = (world.shape[0], world.shape[1]);
        let normals = if object_space { &arrays["nrm_object_snorm16"] } else { &arrays["nrm_world_snorm16"] };
        let matrices = &arrays["matrix_world"].values;
        let vector = |values: &[f64], frame: usize, vertex: usize| {
            DVec3::from_slice(&values[(frame * vertices + vertex) * 3..][..3])
        };
        let mut truth = Self { positions: Vec::new(), normals: Vec::new() };
        for frame in 0..frames {
            // NumPy's rows are glam's columns of the transpose.
            let world_from_object = DMat4::from_cols_slice(&matrices[frame * 16..][..16]).transpose();
            let undo = if object_space { world_from_object.inverse() } else { DMat4::IDENTITY };
            let of = |vertex| y_up(undo.transform_point3(vector(&world.values, frame, vertex)));
            truth.positions.push((0..vertices).map(of).collect());
            let of = |vertex| y_up(vector(&normals.values, frame, vertex)).normalize();
            truth.normals.push((0..vertices).map(of).collect());
        }
        truth
    }
}

/// Errors of a variant over all frames and vertices.
#[derive(Debug, Default)]
pub struct Errors {
    /// Of the rest pose, which is the first frame in all exports.
    pub rest_max_mm: f64,
    pub position_max_mm: f64,
    pub position_mean_mm: f64,
    pub normal_max_degrees: f64,
    pub normal_mean_degrees: f64,
}

/// Largest and mean error of `poses` (one per frame) of `asset`. Texel slot `s` is source vertex `N-1-s`.
pub fn errors(asset: &Asset, truth: &Truth, poses: impl Iterator<Item = Pose>) -> Errors {
    let mut errors = Errors::default();
    let count = truth.positions[0].len();
    assert_eq!(asset.animation.element_count as usize, count);
    let mut samples = 0.0;
    for (frame, pose) in poses.enumerate() {
        for (vertex, element) in asset.mesh.elements.iter().enumerate() {
            let source = count - 1 - *element as usize;
            let off = 1e3 * f64::from(pose.positions[vertex].distance(truth.positions[frame][source]));
            let turned = angle_degrees(pose.normals[vertex], truth.normals[frame][source]);
            errors.position_max_mm = errors.position_max_mm.max(off);
            errors.normal_max_degrees = errors.normal_max_degrees.max(turned);
            errors.position_mean_mm += off;
            errors.normal_mean_degrees += turned;
            samples += 1.0;
        }
    }
    let rest = asset.mesh.positions.iter().zip(&asset.mesh.elements);
    errors.rest_max_mm = rest
        .map(|(rest, element)| f64::from(rest.distance(truth.positions[0][count - 1 - *element as usize])))
        .fold(0.0, |worst, off| f64::max(worst, 1e3 * off));
    errors.position_mean_mm /= samples;
    errors.normal_mean_degrees /= samples;
    errors
}

/// Our own part of the error: single floats, and octahedral normals of 16 bits.
pub const OWN_POSITION_MM: f64 = 0.01;
pub const OWN_NORMAL_DEGREES: f64 = 0.01;
/// Largest error of a rest pose that was found, mm: what the exporter's own sampling adds to the mesh; three
/// times that where it maps metres once more.
pub const REST_MM: f64 = 0.1;
pub const REST_ABSOLUTE_MM: f64 = 0.4;

impl Variant {
    pub fn path(&self, root: &Path) -> PathBuf {
        root.join(self.name)
    }

    /// Largest mean error of normals that are made from the triangles: that of the same computation on the
    /// true positions, and a tenth of a degree for the texels' steps.
    fn computed_normal_degrees(&self) -> f64 {
        match self.name.split('/').next() {
            Some("blob") => 0.001 + 0.15,
            Some("walker") => 1.593 + 0.1,
            _ => 0.803 + 0.1,
        }
    }

    pub fn object_space(&self) -> bool {
        self.name.ends_with("_object")
    }

    /// Holds `errors` against the table.
    pub fn check(&self, errors: &Errors) {
        let name = self.name;
        assert!(errors.position_max_mm <= self.position_mm + OWN_POSITION_MM, "{name}: {errors:?}");
        let rest = if name.contains("absolute") { REST_ABSOLUTE_MM } else { REST_MM };
        assert!(errors.rest_max_mm <= rest, "{name}: {errors:?}");
        if let Some(degrees) = self.normal_degrees {
            assert!(errors.normal_max_degrees <= degrees + OWN_NORMAL_DEGREES, "{name}: {errors:?}");
        } else {
            // Made from triangles, where the truth is of quads: alike in the mean, not at every corner.
            assert!(errors.normal_mean_degrees <= self.computed_normal_degrees(), "{name}: {errors:?}");
        }
    }
}
