// Soft deformation: one texel per moving vertex and frame. Twin of src/vat/soft.rs.
#import vat/grid
#import vat/encoding
#import vat/playback

const POSITION_SPACE_ABSOLUTE: u32 = 0u;
const POSITION_SPACE_OFFSET: u32 = 1u;

fn soft_stored(position: texture_2d<u32>, grid: Grid, encoding: u32, remap: Remap, element: u32, frame: u32) -> vec3f {
    let at = texel_address(grid, element, frame);
    if encoding == ENCODING_SPLIT256 || encoding == ENCODING_SPLIT255 {
        let high = textureLoad(position, vec2u(at.x * 2u, at.y), 0);
        let low = textureLoad(position, vec2u(at.x * 2u + 1u, at.y), 0);
        return decode_split(high, low, encoding, remap);
    }
    return decode_position(textureLoad(position, at, 0), encoding, remap);
}

fn soft_blended(
    position: texture_2d<u32>,
    grid: Grid,
    encoding: u32,
    remap: Remap,
    element: u32,
    frames: Frames,
    frame_blend: u32,
) -> vec3f {
    let a = soft_stored(position, grid, encoding, remap, element, frames.a);
    if frame_blend == FRAME_BLEND_STEP {
        return a;
    }
    let b = soft_stored(position, grid, encoding, remap, element, frames.b);
    if frame_blend == FRAME_BLEND_LINEAR {
        return blend_position(a, a, b, b, frames.weight, frame_blend);
    }
    let before = soft_stored(position, grid, encoding, remap, element, frames.before);
    let after = soft_stored(position, grid, encoding, remap, element, frames.after);
    return blend_position(before, a, b, after, frames.weight, frame_blend);
}

fn soft_position(rest: vec3f, stored: vec3f, space: u32) -> vec3f {
    if space == POSITION_SPACE_OFFSET {
        return rest + stored;
    }
    return stored;
}
