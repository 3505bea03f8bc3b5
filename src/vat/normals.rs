//! Normals of moving vertices: octahedral coordinates in a texture of two channels.
//!
//! ```text
//! texture8    R8  G8     coordinate = (texel - 127) / 127        0 ..= 254
//! texture16   R16 G16    coordinate = (texel - 32767) / 32767    0 ..= 65534
//! ```
//!
//! The step is symmetric round 0, so that the axes themselves are stored exactly. The octahedral map
//! is that of Cigolle et al., "A Survey of Efficient Representations for Independent Unit Vectors",
//! JCGT 3(2), 2014; its coordinates must not be filtered, because the map folds.
//!
//! Twin: `shaders/vat/normals.wgsl`.

use glam::{UVec4, Vec2, Vec3, Vec3Swizzles};

use super::grid::{Grid, texel_address};
use super::playback::Frames;
use super::{FrameBlend, Normals, TexelFormat, Texels};

/// Unit vector of octahedral coordinates, each in -1..=1; +Z is the middle.
pub fn decode_octahedral(coordinates: Vec2) -> Vec3 {
    let mut n = coordinates.extend(1.0 - coordinates.x.abs() - coordinates.y.abs());
    let fold = (-n.z).max(0.0);
    n.x += if n.x >= 0.0 { -fold } else { fold };
    n.y += if n.y >= 0.0 { -fold } else { fold };
    n.normalize()
}

/// Unit vector of a texel of a normal texture.
pub fn decode_normal(texel: UVec4, normals: Normals) -> Vec3 {
    let half = if normals == Normals::Texture8 { 127.0 } else { 32767.0 };
    let coordinates = (glam::uvec2(texel.x, texel.y).as_vec2() - half) / half;
    decode_octahedral(coordinates)
}

/// Normal of `element` in one frame.
pub fn stored_normal(normal: &Texels, grid: Grid, normals: Normals, element: u32, frame: u32) -> Vec3 {
    decode_normal(normal.load(texel_address(grid, element, frame)), normals)
}

/// Normal of `element` between frames: straight blend of two, made unit length; opposite normals
/// that cancel give the first. Catmull-Rom blends normals linearly too: the difference is far below
/// what shading shows, and it saves two fetches.
pub fn blended_normal(
    normal: &Texels,
    grid: Grid,
    normals: Normals,
    element: u32,
    frames: Frames,
    frame_blend: FrameBlend,
) -> Vec3 {
    let a = stored_normal(normal, grid, normals, element, frames.a);
    if frame_blend == FrameBlend::Step {
        return a;
    }
    let b = stored_normal(normal, grid, normals, element, frames.b);
    let sum = a + (b - a) * frames.weight;
    let square = sum.dot(sum);
    if square < 1e-12 { a } else { sum / square.sqrt() }
}

/// Octahedral coordinates of a unit vector.
pub fn encode_octahedral(n: Vec3) -> Vec2 {
    let n = n / (n.x.abs() + n.y.abs() + n.z.abs());
    if n.z >= 0.0 {
        return n.xy();
    }
    let fold = Vec2::ONE - n.yx().abs();
    Vec2::new(fold.x.copysign(n.x), fold.y.copysign(n.y))
}

/// Appends the texel of unit vector `n` to `bytes`: of the four texels around the exact
/// coordinates the one whose decoded normal is nearest.
///
/// # Panics
/// If `normals` stores no texture.
pub fn encode_normal(n: Vec3, normals: Normals, bytes: &mut Vec<u8>) {
    let format = normals.texel_format().expect("only normals with a texture are encoded");
    let half = if format == TexelFormat::Rg8 { 127.0 } else { 32767.0 };
    let corner = (encode_octahedral(n) * half).floor();
    let mut best = (f32::NEG_INFINITY, UVec4::ZERO);
    for step in [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE] {
        let texel = ((corner + step).clamp(Vec2::splat(-half), Vec2::splat(half)) + half).as_uvec2();
        let texel = UVec4::new(texel.x, texel.y, 0, 1);
        // The distance, not the cosine: cosines of small angles are all 1 in single floats.
        let nearness = -decode_normal(texel, normals).distance_squared(n);
        if nearness > best.0 {
            best = (nearness, texel);
        }
    }
    for channel in [best.1.x, best.1.y] {
        let channel = channel.to_le_bytes();
        bytes.extend_from_slice(&channel[..format.channel_bytes() as usize]);
    }
}

/// Appends the texels of many unit vectors: the same bytes as [`encode_normal`] for each.
///
/// # Panics
/// If `normals` stores no texture.
pub fn encode_normals(values: &[Vec3], normals: Normals, bytes: &mut Vec<u8>) {
    for value in values {
        encode_normal(*value, normals, bytes);
    }
}

impl Normals {
    /// Layout of the normal texture's texels, `None` where there is no texture.
    pub fn texel_format(self) -> Option<TexelFormat> {
        match self {
            Self::Texture8 => Some(TexelFormat::Rg8),
            Self::Texture16 => Some(TexelFormat::Rg16),
            Self::Rest | Self::Flat => None,
        }
    }

    /// Whether normals of every frame are stored.
    pub fn is_stored(self) -> bool {
        match self {
            Self::Texture8 | Self::Texture16 => true,
            Self::Rest | Self::Flat => false,
        }
    }

    /// Largest angle between a normal and its decoded texel, degrees (measured over the sphere).
    pub fn max_error_degrees(self) -> f32 {
        match self {
            Self::Texture8 => 0.75,
            Self::Texture16 => 0.004,
            Self::Rest | Self::Flat => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::UVec2;

    use super::*;

    fn round_trip(n: Vec3, normals: Normals) -> Vec3 {
        let mut bytes = Vec::new();
        encode_normal(n, normals, &mut bytes);
        let texels = Texels::new(normals.texel_format().unwrap(), UVec2::ONE, bytes).unwrap();
        decode_normal(texels.load(UVec2::ZERO), normals)
    }

    fn angle_degrees(a: Vec3, b: Vec3) -> f64 {
        let (a, b) = (a.as_dvec3().normalize(), b.as_dvec3().normalize());
        a.cross(b).length().atan2(a.dot(b)).to_degrees()
    }

    #[test]
    fn round_trip_stays_within_the_stated_angle() {
        for normals in [Normals::Texture8, Normals::Texture16] {
            let mut worst = 0.0_f64;
            // A Fibonacci sphere: even cover, no special directions.
            for i in 0..200_000 {
                let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / 200_000.0;
                let turn = f64::from(i) * 2.399_963_229_728_653;
                let r = (1.0 - z * z).sqrt();
                let n = glam::dvec3(r * turn.cos(), r * turn.sin(), z).as_vec3().normalize();
                worst = worst.max(angle_degrees(n, round_trip(n, normals)));
            }
            println!("{normals}: worst {worst:.5} degrees, stated {}", normals.max_error_degrees());
            assert!(worst <= f64::from(normals.max_error_degrees()));
            assert!(worst > 0.5 * f64::from(normals.max_error_degrees()), "stated too loosely");
        }
    }

    #[test]
    fn axes_are_exact() {
        for normals in [Normals::Texture8, Normals::Texture16] {
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                assert_eq!(round_trip(axis, normals), axis);
                assert_eq!(round_trip(-axis, normals), -axis);
            }
        }
    }
}
