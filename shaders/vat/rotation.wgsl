// Rotations as unit quaternions. Twin of src/vat/rotation.rs.
#import vat/grid
#import vat/playback

fn decode_rotation(texel: vec4u) -> vec4f {
    let rotation = (vec4f(texel) - 32767.0) / 32767.0;
    let square = dot(rotation, rotation);
    if square < 1e-12 {
        return vec4f(0.0, 0.0, 0.0, 1.0);
    }
    return rotation / sqrt(square);
}

fn rotate(rotation: vec4f, v: vec3f) -> vec3f {
    let axis = rotation.xyz;
    return v + cross(axis, cross(axis, v) + v * rotation.w) * 2.0;
}

fn stored_rotation(rotation: texture_2d<u32>, grid: Grid, element: u32, frame: u32) -> vec4f {
    return decode_rotation(textureLoad(rotation, texel_address(grid, element, frame), 0));
}

fn blended_rotation(
    rotation: texture_2d<u32>,
    grid: Grid,
    element: u32,
    frames: Frames,
    frame_blend: u32,
) -> vec4f {
    let a = stored_rotation(rotation, grid, element, frames.a);
    if frame_blend == FRAME_BLEND_STEP {
        return a;
    }
    let b = stored_rotation(rotation, grid, element, frames.b);
    let near = select(b, -b, dot(a, b) < 0.0);
    let sum = a + (near - a) * frames.weight;
    return sum / sqrt(dot(sum, sum));
}
