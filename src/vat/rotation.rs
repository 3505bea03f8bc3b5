//! Rotations as unit quaternions in texels of four channels.
//!
//! ```text
//! R16 G16 B16 A16    component = (texel - 32767) / 32767    0 ..= 65534, x y z w
//! ```
//!
//! As the normal of a moving vertex a quaternion carries its whole tangent frame: it turns +Z into the
//! normal and +X into the tangent. Both signs of a quaternion are one rotation; frames that follow each
//! other are stored in one hemisphere, and where a loop closes in the other one the blend turns it round.
//!
//! Twin: `shaders/vat/rotation.wgsl`.

use glam::{Mat3, Quat, UVec4, Vec3, Vec4};

use super::grid::{Grid, texel_address};
use super::playback::Frames;
use super::{FrameBlend, Texels};

/// Texel of component 0.
const HALF: f32 = 32767.0;

/// Unit quaternion of a texel; no rotation where all components are 0.
#[inline]
pub fn decode_rotation(texel: UVec4) -> Vec4 {
    let rotation = (texel.as_vec4() - 32767.0) / 32767.0;
    let square = rotation.dot(rotation);
    if square < 1e-12 { Vec4::W } else { rotation / square.sqrt() }
}

/// `v` turned by a unit quaternion.
#[inline]
pub fn rotate(rotation: Vec4, v: Vec3) -> Vec3 {
    let axis = rotation.truncate();
    v + axis.cross(axis.cross(v) + v * rotation.w) * 2.0
}

/// Rotation of `element` in one frame.
#[inline]
pub fn stored_rotation(rotation: &Texels, grid: Grid, element: u32, frame: u32) -> Vec4 {
    decode_rotation(rotation.load(texel_address(grid, element, frame)))
}

/// Rotation of `element` between frames: straight blend of two on the shorter way, made unit length.
#[inline]
pub fn blended_rotation(
    rotation: &Texels,
    grid: Grid,
    element: u32,
    frames: Frames,
    frame_blend: FrameBlend,
) -> Vec4 {
    let a = stored_rotation(rotation, grid, element, frames.a);
    if frame_blend == FrameBlend::Step {
        return a;
    }
    let b = stored_rotation(rotation, grid, element, frames.b);
    let near = if a.dot(b) < 0.0 { -b } else { b };
    let sum = a + (near - a) * frames.weight;
    sum / sum.dot(sum).sqrt()
}

/// The quaternion of a tangent frame: `normal` of unit length, and the part of `tangent` across it. Where
/// there is none, any tangent will do.
pub fn encode_tangent_frame(normal: Vec3, tangent: Vec3) -> Vec4 {
    // Twice, because what is left of a tangent that is nearly the normal is mostly rounding.
    let across = |v: Vec3| (v - normal * normal.dot(v)).try_normalize();
    let tangent = across(tangent).and_then(across).unwrap_or_else(|| normal.any_orthonormal_vector());
    Quat::from_mat3(&Mat3::from_cols(tangent, normal.cross(tangent), normal)).into()
}

/// Appends the texels of unit quaternions, rounded to nearest.
pub fn encode_rotations(values: &[Vec4], bytes: &mut Vec<u8>) {
    for value in values {
        let texel = (value.clamp(Vec4::NEG_ONE, Vec4::ONE) * HALF + (HALF + 0.5)).as_uvec4();
        let [x, y, z, w] = texel.to_array().map(u64::from);
        bytes.extend((x | y << 16 | z << 32 | w << 48).to_le_bytes());
    }
}

/// Turns the sign of `texel` where it is in the other hemisphere than the one of the frame before: both
/// texels stand for the same rotation.
pub fn encode_same_hemisphere(texel: &mut [u8; 8], before: &[u8; 8]) {
    let channels = |texel: &[u8; 8]| [0, 2, 4, 6].map(|at| u16::from_le_bytes([texel[at], texel[at + 1]]));
    let centred = |texel: &[u8; 8]| channels(texel).map(|channel| i64::from(channel) - 32767);
    let dot: i64 = centred(texel).iter().zip(centred(before)).map(|(a, b)| a * b).sum();
    if dot < 0 {
        let turned = channels(texel).map(|channel| u64::from(65534 - channel));
        let [x, y, z, w] = turned;
        *texel = (x | y << 16 | z << 32 | w << 48).to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Encoding, Normals};
    use super::*;

    /// Even cover of the sphere, no special directions.
    fn fibonacci(index: u32, count: u32) -> Vec3 {
        let z = 1.0 - 2.0 * (f64::from(index) + 0.5) / f64::from(count);
        let turn = f64::from(index) * 2.399_963_229_728_653;
        let r = (1.0 - z * z).sqrt();
        glam::dvec3(r * turn.cos(), r * turn.sin(), z).normalize().as_vec3()
    }

    fn pairs(count: u32) -> impl Iterator<Item = (Vec3, Vec3)> {
        (0..count).map(move |index| (fibonacci(index, count), fibonacci(index * 7919 % count, count)))
    }

    fn decoded(texel: &[u8]) -> Vec4 {
        let texel = texel.as_chunks::<2>().0.iter().map(|channel| u32::from(u16::from_le_bytes(*channel)));
        decode_rotation(UVec4::from_slice(&texel.collect::<Vec<_>>()))
    }

    #[test]
    fn a_tangent_frame_comes_back_within_the_stated_angle() {
        let mut worst = 0.0_f32;
        for (normal, along) in pairs(100_003) {
            let Some(tangent) = (along - normal * normal.dot(along)).try_normalize() else { continue };
            let mut bytes = Vec::new();
            encode_rotations(&[encode_tangent_frame(normal, along)], &mut bytes);
            let rotation = decoded(&bytes);
            worst = worst.max(rotate(rotation, Vec3::Z).distance(normal).to_degrees());
            worst = worst.max(rotate(rotation, Vec3::X).distance(tangent).to_degrees());
        }
        let stated = Normals::Rotation.max_error_degrees(Encoding::Unorm16);
        println!("rotation: worst {worst:.5} degrees, stated {stated}");
        assert!(worst <= stated && worst > 0.5 * stated, "{worst}");
    }

    #[test]
    fn degenerate_frames_have_a_rotation_all_the_same() {
        for normal in [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Z] {
            let rotation = encode_tangent_frame(normal, normal);
            assert!((rotation.length() - 1.0).abs() < 1e-6);
            assert!(rotate(rotation, Vec3::Z).distance(normal) < 1e-6);
        }
        assert_eq!(decode_rotation(UVec4::splat(32767)), Vec4::W);
    }

    #[test]
    fn signs_follow_the_frame_before_and_rotations_stay() {
        let mut turned = 0;
        for (a, b) in pairs(1009) {
            let (first, second) = (encode_tangent_frame(a, b), encode_tangent_frame(b, Vec3::Y));
            let mut bytes = Vec::new();
            encode_rotations(&[first, second, -second], &mut bytes);
            let [before, plus, minus] = bytes.as_chunks::<8>().0 else { unreachable!() };
            let [mut from_plus, mut from_minus] = [*plus, *minus];
            encode_same_hemisphere(&mut from_plus, before);
            encode_same_hemisphere(&mut from_minus, before);
            assert!(decoded(&from_plus).distance(decoded(&from_minus)) < 5e-5);
            assert!(decoded(&from_plus).dot(decoded(before)) >= -1e-4);
            assert!(decoded(&from_plus).dot(second).abs() > 0.999_999);
            turned += usize::from(from_plus != *plus);
        }
        assert!(turned > 100, "{turned}");
    }
}
