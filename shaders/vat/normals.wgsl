// Normals of moving vertices. Twin of src/vat/normals.rs.
#import vat/encoding
#import vat/grid
#import vat/playback
#import vat/rotation

const NORMALS_REST: u32 = 0u;
const NORMALS_TEXTURE8: u32 = 1u;
const NORMALS_TEXTURE16: u32 = 2u;
const NORMALS_FLAT: u32 = 3u;
const NORMALS_ALPHA: u32 = 4u;
const NORMALS_ROTATION: u32 = 5u;

fn decode_octahedral(coordinates: vec2f) -> vec3f {
    var n = vec3f(coordinates, 1.0 - abs(coordinates.x) - abs(coordinates.y));
    let fold = max(-n.z, 0.0);
    n.x += select(fold, -fold, n.x >= 0.0);
    n.y += select(fold, -fold, n.y >= 0.0);
    return normalize(n);
}

fn decode_normal(texel: vec4u, normals: u32) -> vec3f {
    let half = select(32767.0, 127.0, normals == NORMALS_TEXTURE8);
    let coordinates = (vec2f(texel.xy) - half) / half;
    return decode_octahedral(coordinates);
}

fn decode_alpha(alpha: u32, encoding: u32) -> vec3f {
    let bits = alpha_bits(encoding);
    let half = f32((1u << (bits - 1u)) - 1u);
    let coordinates = vec2f(vec2u(alpha & ((1u << bits) - 1u), alpha >> bits));
    return decode_octahedral((coordinates - half) / half);
}

fn alpha_bits(encoding: u32) -> u32 {
    if encoding == ENCODING_UNORM8 {
        return 4u;
    }
    if encoding == ENCODING_FLOAT32 {
        return 16u;
    }
    return 8u;
}

fn stored_normal(
    normal: texture_2d<u32>,
    grid: Grid,
    normals: u32,
    encoding: u32,
    element: u32,
    frame: u32,
) -> vec3f {
    if normals == NORMALS_ROTATION {
        return rotate(stored_rotation(normal, grid, element, frame), vec3f(0.0, 0.0, 1.0));
    }
    let at = texel_address(grid, element, frame);
    if normals != NORMALS_ALPHA {
        return decode_normal(textureLoad(normal, at, 0), normals);
    }
    if encoding == ENCODING_SPLIT256 || encoding == ENCODING_SPLIT255 {
        let high = textureLoad(normal, vec2u(at.x * 2u, at.y), 0);
        let low = textureLoad(normal, vec2u(at.x * 2u + 1u, at.y), 0);
        return decode_alpha(high.w | (low.w << 8u), encoding);
    }
    return decode_alpha(textureLoad(normal, at, 0).w, encoding);
}

fn blended_normal(
    normal: texture_2d<u32>,
    grid: Grid,
    normals: u32,
    encoding: u32,
    element: u32,
    frames: Frames,
    frame_blend: u32,
) -> vec3f {
    if normals == NORMALS_ROTATION {
        return rotate(blended_rotation(normal, grid, element, frames, frame_blend), vec3f(0.0, 0.0, 1.0));
    }
    let a = stored_normal(normal, grid, normals, encoding, element, frames.a);
    if frame_blend == FRAME_BLEND_STEP {
        return a;
    }
    let b = stored_normal(normal, grid, normals, encoding, element, frames.b);
    let sum = a + (b - a) * frames.weight;
    let square = dot(sum, sum);
    if square < 1e-12 {
        return a;
    }
    return sum / sqrt(square);
}
