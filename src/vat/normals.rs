//! Normals of moving vertices: octahedral coordinates in a texture of two channels.
//!
//! ```text
//! texture8    R8  G8     coordinate = (texel - 127) / 127        0 ..= 254
//! texture16   R16 G16    coordinate = (texel - 32767) / 32767    0 ..= 65534
//! rotation    R16 G16 B16 A16    a quaternion that turns +Z into the normal ([`super::rotation`])
//! alpha       of 8 bits 4 + 4, of 16 bits 8 + 8, of 32 bits 16 + 16, x in the low half
//! ```
//!
//! The alpha of a split position is 16 bits: the low half in the high texel.
//!
//! The step is symmetric round 0, so that the axes themselves are stored exactly. The octahedral map
//! is that of Cigolle et al., "A Survey of Efficient Representations for Independent Unit Vectors",
//! JCGT 3(2), 2014; its coordinates must not be filtered, because the map folds.
//!
//! Twin: `shaders/vat/normals.wgsl`.

use glam::{UVec2, UVec4, Vec2, Vec3, Vec3Swizzles};

use super::grid::{Grid, texel_address};
use super::playback::Frames;
use super::rotation::{blended_rotation, encode_rotations, encode_tangent_frame, rotate, stored_rotation};
use super::{Encoding, FrameBlend, Normals, TexelFormat, Texels};

/// Unit vector of octahedral coordinates, each in -1..=1; +Z is the middle.
#[inline]
pub fn decode_octahedral(coordinates: Vec2) -> Vec3 {
    let mut n = coordinates.extend(1.0 - coordinates.x.abs() - coordinates.y.abs());
    let fold = (-n.z).max(0.0);
    n.x += if n.x >= 0.0 { -fold } else { fold };
    n.y += if n.y >= 0.0 { -fold } else { fold };
    n.normalize()
}

/// Unit vector of a texel of a normal texture.
#[inline]
pub fn decode_normal(texel: UVec4, normals: Normals) -> Vec3 {
    let half = if normals == Normals::Texture8 { 127.0 } else { 32767.0 };
    let coordinates = (glam::uvec2(texel.x, texel.y).as_vec2() - half) / half;
    decode_octahedral(coordinates)
}

/// Unit vector of a position's alpha.
pub fn decode_alpha(alpha: u32, encoding: Encoding) -> Vec3 {
    let bits = alpha_bits(encoding);
    let half = ((1 << (bits - 1)) - 1) as f32;
    let coordinates = glam::uvec2(alpha & ((1 << bits) - 1), alpha >> bits).as_vec2();
    decode_octahedral((coordinates - half) / half)
}

/// Bits of one coordinate in a position's alpha.
pub fn alpha_bits(encoding: Encoding) -> u32 {
    if encoding == Encoding::Unorm8 {
        return 4;
    }
    if encoding == Encoding::Float32 {
        return 16;
    }
    8
}

/// Normal of `element` in one frame: of a normal texture, or of positions in `encoding`.
#[inline]
pub fn stored_normal(
    normal: &Texels,
    grid: Grid,
    normals: Normals,
    encoding: Encoding,
    element: u32,
    frame: u32,
) -> Vec3 {
    if normals == Normals::Rotation {
        return rotate(stored_rotation(normal, grid, element, frame), Vec3::Z);
    }
    let at = texel_address(grid, element, frame);
    if normals != Normals::Alpha {
        return decode_normal(normal.load(at), normals);
    }
    if encoding == Encoding::Split256 || encoding == Encoding::Split255 {
        let high = normal.load(UVec2::new(at.x * 2, at.y));
        let low = normal.load(UVec2::new(at.x * 2 + 1, at.y));
        return decode_alpha(high.w | (low.w << 8), encoding);
    }
    decode_alpha(normal.load(at).w, encoding)
}

/// Normal of `element` between frames: straight blend of two, made unit length; opposite normals
/// that cancel give the first. Catmull-Rom blends normals linearly too: the difference is far below
/// what shading shows, and it saves two fetches.
#[inline]
pub fn blended_normal(
    normal: &Texels,
    grid: Grid,
    normals: Normals,
    encoding: Encoding,
    element: u32,
    frames: Frames,
    frame_blend: FrameBlend,
) -> Vec3 {
    if normals == Normals::Rotation {
        return rotate(blended_rotation(normal, grid, element, frames, frame_blend), Vec3::Z);
    }
    let a = stored_normal(normal, grid, normals, encoding, element, frames.a);
    if frame_blend == FrameBlend::Step {
        return a;
    }
    let b = stored_normal(normal, grid, normals, encoding, element, frames.b);
    let sum = a + (b - a) * frames.weight;
    let square = sum.dot(sum);
    if square < 1e-12 { a } else { sum / square.sqrt() }
}

/// Octahedral coordinates of a unit vector.
#[inline]
pub fn encode_octahedral(n: Vec3) -> Vec2 {
    let n = n / (n.x.abs() + n.y.abs() + n.z.abs());
    if n.z >= 0.0 {
        return n.xy();
    }
    let fold = Vec2::ONE - n.yx().abs();
    Vec2::new(fold.x.copysign(n.x), fold.y.copysign(n.y))
}

/// Appends the texel of unit vector `n` to `bytes`.
///
/// # Panics
/// If `normals` stores no texture.
pub fn encode_normal(n: Vec3, normals: Normals, bytes: &mut Vec<u8>) {
    encode_normals(&[n], normals, bytes);
}

/// Appends the texels of many unit vectors: with 8 bits those of the four around the exact coordinates
/// whose decoded normals are nearest; with 16 bits the coordinates are rounded, which is as good. Rotations
/// get any tangent.
///
/// # Panics
/// If `normals` stores no texture.
pub fn encode_normals(values: &[Vec3], normals: Normals, bytes: &mut Vec<u8>) {
    let format = normals.texel_format().expect("only normals with a texture are encoded");
    if normals == Normals::Rotation {
        let rotation = |n: &Vec3| encode_tangent_frame(*n, n.any_orthonormal_vector());
        return encode_rotations(&values.iter().map(rotation).collect::<Vec<_>>(), bytes);
    }
    let start = bytes.len();
    bytes.resize(start + values.len() * format.bytes() as usize, 0);
    let texels = &mut bytes[start..];
    if format == TexelFormat::Rg8 {
        for (texel, n) in texels.as_chunks_mut::<2>().0.iter_mut().zip(values) {
            let UVec2 { x, y } = encode_nearest(*n, 127.0);
            *texel = [x.to_le_bytes()[0], y.to_le_bytes()[0]];
        }
        return;
    }
    for (texel, n) in texels.as_chunks_mut::<4>().0.iter_mut().zip(values) {
        let UVec2 { x, y } = (encode_octahedral(*n) * 32767.0 + 32767.5).as_uvec2();
        *texel = (x | y << 16).to_le_bytes();
    }
}

/// The alpha of unit vector `n` beside a position in `encoding`.
pub fn encode_alpha(n: Vec3, encoding: Encoding) -> u32 {
    let bits = alpha_bits(encoding);
    let texel = encode_nearest(n, ((1 << (bits - 1)) - 1) as f32);
    texel.x | texel.y << bits
}

/// Of the four whole coordinates around the exact ones, those that are nearest once decoded.
fn encode_nearest(n: Vec3, half: f32) -> UVec2 {
    let corner = (encode_octahedral(n) * half).floor();
    let mut best = (f32::INFINITY, UVec2::ZERO);
    for step in [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE] {
        let coordinates = (corner + step).clamp(Vec2::splat(-half), Vec2::splat(half));
        // The distance, not the cosine: cosines of small angles are all 1 in single floats.
        let distance = decode_octahedral(coordinates / half).distance_squared(n);
        if distance < best.0 {
            best = (distance, (coordinates + half).as_uvec2());
        }
    }
    best.1
}

impl Normals {
    /// Layout of the normal texture's texels, `None` where there is no texture.
    pub fn texel_format(self) -> Option<TexelFormat> {
        match self {
            Self::Texture8 => Some(TexelFormat::Rg8),
            Self::Texture16 => Some(TexelFormat::Rg16),
            Self::Rotation => Some(TexelFormat::Rgba16),
            Self::Rest | Self::Flat | Self::Alpha => None,
        }
    }

    /// Whether normals of every frame are stored.
    pub fn is_stored(self) -> bool {
        match self {
            Self::Texture8 | Self::Texture16 | Self::Alpha | Self::Rotation => true,
            Self::Rest | Self::Flat => false,
        }
    }

    /// Largest angle between a normal and its decoded texel, degrees (measured over the sphere).
    /// `encoding` is that of the positions.
    pub fn max_error_degrees(self, encoding: Encoding) -> f32 {
        match (self, encoding) {
            (Self::Rest | Self::Flat, _) => 0.0,
            (Self::Texture16 | Self::Rotation, _) | (Self::Alpha, Encoding::Float32) => 0.004,
            (Self::Alpha, Encoding::Unorm8) => 14.0,
            (Self::Texture8 | Self::Alpha, _) => 0.75,
        }
    }
}

#[cfg(test)]
mod tests {
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
            let stated = f64::from(normals.max_error_degrees(Encoding::Unorm16));
            println!("{normals}: worst {worst:.5} degrees, stated {stated}");
            assert!(worst <= stated);
            assert!(worst > 0.5 * stated, "stated too loosely");
        }
    }

    #[test]
    fn alpha_stays_within_the_stated_angle() {
        for encoding in Encoding::ALL {
            let mut worst = 0.0_f64;
            for i in 0..50_000 {
                let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / 50_000.0;
                let turn = f64::from(i) * 2.399_963_229_728_653;
                let r = (1.0 - z * z).sqrt();
                let n = glam::dvec3(r * turn.cos(), r * turn.sin(), z).as_vec3().normalize();
                worst = worst.max(angle_degrees(n, decode_alpha(encode_alpha(n, *encoding), *encoding)));
            }
            let stated = f64::from(Normals::Alpha.max_error_degrees(*encoding));
            println!("alpha of {encoding}: worst {worst:.5} degrees, stated {stated}");
            assert!(worst <= stated, "{encoding}: {worst}");
            assert!(worst > 0.5 * stated, "{encoding}: stated too loosely, {worst}");
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
