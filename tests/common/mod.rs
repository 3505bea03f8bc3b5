//! What several tests share.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "each test uses its own part"
)]

use std::path::{Path, PathBuf};

use glam::Vec3;

pub mod assets;
pub mod export;
pub mod npz;
pub mod openvat;

/// Real files with ground truth, kept outside the repository. `None`, said, where they are not.
pub fn fixtures(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("THRONG_FIXTURES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    let path = root.join(name);
    if !path.exists() {
        eprintln!("skipped: there are no fixtures at {}", path.display());
        return None;
    }
    Some(path)
}

/// A GPU, or `None`, said, where there is none and none is required.
#[cfg(feature = "render")]
pub fn gpu() -> Option<throng::gpu::Gpu> {
    match pollster::block_on(throng::gpu::Gpu::headless()) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            assert!(std::env::var_os("THRONG_REQUIRE_GPU").is_none(), "{error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// Angle between unit vectors, exact for small angles too.
pub fn angle_degrees(a: Vec3, b: Vec3) -> f64 {
    let (a, b) = (a.as_dvec3().normalize(), b.as_dvec3().normalize());
    a.cross(b).length().atan2(a.dot(b)).to_degrees()
}
