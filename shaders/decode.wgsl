// Decodes the mesh at one moment, one vertex per invocation: the functions that draw, for reading back.
#import vat/soft
#import vat/normals

override ENCODING: u32 = 1u;
override NORMALS: u32 = 2u;
override FRAME_BLEND: u32 = 1u;
override POSITION_SPACE: u32 = 0u;

struct SoftTexels {
    grid: Grid,
    remap: Remap,
    first_clip: u32,
    pad_x: u32,
    pad_y: u32,
    pad_z: u32,
}

struct RestVertex {
    position: vec3f,
    element: u32,
    normal: vec3f,
    pad: u32,
}

struct DecodedVertex {
    position: vec3f,
    pad_position: u32,
    normal: vec3f,
    pad_normal: u32,
    tangent: vec3f,
    pad_tangent: u32,
}

@group(0) @binding(0) var<uniform> soft: SoftTexels;
@group(0) @binding(1) var<storage, read> moment: Frames;
@group(0) @binding(2) var position_texture: texture_2d<u32>;
@group(0) @binding(3) var normal_texture: texture_2d<u32>;
@group(0) @binding(4) var<storage, read> rest: array<RestVertex>;
@group(0) @binding(5) var<storage, read_write> decoded: array<DecodedVertex>;

@compute @workgroup_size(64)
fn decode_soft(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let index = id.y * groups.x * 64u + id.x;
    if index >= arrayLength(&rest) {
        return;
    }
    let vertex = rest[index];
    let stored = soft_blended(position_texture, soft.grid, ENCODING, soft.remap, vertex.element, moment, FRAME_BLEND);
    var normal = vertex.normal;
    var tangent = vec3f(0.0);
    if NORMALS == NORMALS_ROTATION {
        tangent = rotate(blended_rotation(normal_texture, soft.grid, vertex.element, moment, FRAME_BLEND), vec3f(1.0, 0.0, 0.0));
    }
    if NORMALS == NORMALS_TEXTURE8 || NORMALS == NORMALS_TEXTURE16 || NORMALS == NORMALS_ROTATION {
        normal = blended_normal(normal_texture, soft.grid, NORMALS, ENCODING, vertex.element, moment, FRAME_BLEND);
    } else if NORMALS == NORMALS_ALPHA {
        normal = blended_normal(position_texture, soft.grid, NORMALS, ENCODING, vertex.element, moment, FRAME_BLEND);
    }
    let position = soft_position(vertex.position, stored, POSITION_SPACE);
    decoded[index] = DecodedVertex(position, 0u, normal, 0u, tangent, 0u);
}
