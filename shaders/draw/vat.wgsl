// Draws a crowd: the vertex stage decodes the animation, the fragment stage shades.
#import view
#import vat/soft
#import vat/normals
#import vat/rotation
#import draw/material
#import draw/plane

override ENCODING: u32 = 1u;
override NORMALS: u32 = 2u;
override FRAME_BLEND: u32 = 1u;
override POSITION_SPACE: u32 = 0u;

@group(0) @binding(1) var<storage, read> clips: array<ClipCursor>;

struct SoftTexels {
    grid: Grid,
    remap: Remap,
    first_clip: u32,
    pad_x: u32,
    pad_y: u32,
    pad_z: u32,
}

@group(2) @binding(0) var<uniform> soft: SoftTexels;
@group(2) @binding(1) var position_texture: texture_2d<u32>;
@group(2) @binding(2) var normal_texture: texture_2d<u32>;

@group(3) @binding(0) var position_filtered: texture_2d<f32>;
@group(3) @binding(1) var position_sampler: sampler;

struct Vertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) uv: vec2f,
    @location(3) element: u32,
}

struct Instance {
    // Position and scale.
    @location(4) placement: vec4f,
    // Cosine and sine.
    @location(5) heading: vec2f,
    @location(6) tint: vec4f,
    @location(7) clip: u32,
    @location(8) phase: u32,
    @location(9) speed: i32,
}

struct Shaded {
    @builtin(position) clip: vec4f,
    @location(0) world_position: vec3f,
    @location(1) normal: vec3f,
    @location(2) uv: vec2f,
    @location(3) tint: vec3f,
}

// What is shaded with a normal map.
struct Mapped {
    @builtin(position) clip: vec4f,
    @location(0) world_position: vec3f,
    @location(1) normal: vec3f,
    @location(2) uv: vec2f,
    @location(3) tint: vec3f,
    @location(4) tangent: vec4f,
}

fn turned(v: vec3f, heading: vec2f) -> vec3f {
    return vec3f(heading.x * v.x + heading.y * v.z, v.y, heading.x * v.z - heading.y * v.x);
}

fn instance_frames(instance: Instance) -> Frames {
    return clip_frames(clips[soft.first_clip + instance.clip], instance.phase & view.phase_mask, instance.speed);
}

fn moving_normal(vertex: Vertex, frames: Frames) -> vec3f {
    if NORMALS == NORMALS_TEXTURE8 || NORMALS == NORMALS_TEXTURE16 || NORMALS == NORMALS_ROTATION {
        return blended_normal(normal_texture, soft.grid, NORMALS, ENCODING, vertex.element, frames, FRAME_BLEND);
    }
    if NORMALS == NORMALS_ALPHA {
        return blended_normal(position_texture, soft.grid, NORMALS, ENCODING, vertex.element, frames, FRAME_BLEND);
    }
    return vertex.normal;
}

// `v` turned as `normal` was turned from `rest`, the shortest way.
fn carried(v: vec3f, rest: vec3f, normal: vec3f) -> vec3f {
    let axis = cross(rest, normal);
    return v + cross(axis, v) + cross(axis, cross(axis, v)) / max(1.0 + dot(rest, normal), 1e-3);
}

// The tangent that goes with `normal`. Only rotations store it; the others know how the normal turned, and
// not how the surface turned about it.
fn moving_tangent(vertex: Vertex, tangent: vec3f, normal: vec3f, frames: Frames) -> vec3f {
    if NORMALS == NORMALS_ROTATION {
        return rotate(blended_rotation(normal_texture, soft.grid, vertex.element, frames, FRAME_BLEND), vec3f(1.0, 0.0, 0.0));
    }
    return carried(tangent, vertex.normal, normal);
}

fn placed(local: vec3f, instance: Instance) -> vec3f {
    return turned(local * instance.placement.w, instance.heading) + instance.placement.xyz;
}

fn shaded(vertex: Vertex, instance: Instance, stored: vec3f, moved_normal: vec3f) -> Shaded {
    let world_position = placed(soft_position(vertex.position, stored, POSITION_SPACE), instance);
    let clip = view.clip_from_world * vec4f(world_position, 1.0);
    let normal = turned(moved_normal, instance.heading);
    return Shaded(clip, world_position, normal, vertex.uv, instance.tint.rgb);
}

fn mapped(vertex: Vertex, instance: Instance, tangent: vec4f, stored: vec3f, frames: Frames) -> Mapped {
    let normal = moving_normal(vertex, frames);
    let plain = shaded(vertex, instance, stored, normal);
    let moved = moving_tangent(vertex, tangent.xyz, normal, frames);
    let turned_tangent = vec4f(turned(moved, instance.heading), tangent.w);
    return Mapped(plain.clip, plain.world_position, plain.normal, plain.uv, plain.tint, turned_tangent);
}

fn stored_by_texel(vertex: Vertex, frames: Frames) -> vec3f {
    return soft_blended(position_texture, soft.grid, ENCODING, soft.remap, vertex.element, frames, FRAME_BLEND);
}

// Linear blend by the sampler: rows are frames, so between two rows lies the blend of two frames. At
// the seam of a loop and on the way back the rows are not neighbours, and two exact rows are mixed.
fn stored_by_sampler(vertex: Vertex, frames: Frames) -> vec3f {
    let size = vec2f(textureDimensions(position_filtered));
    let u = (f32(vertex.element) + 0.5) / size.x;
    let row = f32(frames.a) + 0.5;
    var texel: vec4f;
    if frames.b == frames.a + 1u {
        texel = textureSampleLevel(position_filtered, position_sampler, vec2f(u, (row + frames.weight) / size.y), 0.0);
    } else {
        let a = textureSampleLevel(position_filtered, position_sampler, vec2f(u, row / size.y), 0.0);
        let b = textureSampleLevel(position_filtered, position_sampler, vec2f(u, (f32(frames.b) + 0.5) / size.y), 0.0);
        texel = mix(a, b, frames.weight);
    }
    if ENCODING != ENCODING_FLOAT16 && ENCODING != ENCODING_FLOAT32 {
        return soft.remap.lo + texel.xyz * (soft.remap.hi - soft.remap.lo);
    }
    return texel.xyz;
}

// The bits of the halfs that a block decodes to are the texel.
fn block_stored(vertex: Vertex, frame: u32) -> vec3f {
    let halfs = textureLoad(position_filtered, texel_address(soft.grid, vertex.element, frame), 0);
    let xy = pack2x16float(halfs.xy);
    let texel = vec4u(xy & 0xffffu, xy >> 16u, pack2x16float(vec2f(halfs.z, 0.0)), 0u);
    return decode_position(texel, ENCODING, soft.remap);
}

fn stored_by_block(vertex: Vertex, frames: Frames) -> vec3f {
    let a = block_stored(vertex, frames.a);
    if FRAME_BLEND == FRAME_BLEND_STEP {
        return a;
    }
    let b = block_stored(vertex, frames.b);
    if FRAME_BLEND == FRAME_BLEND_LINEAR {
        return blend_position(a, a, b, b, frames.weight, FRAME_BLEND);
    }
    let before = block_stored(vertex, frames.before);
    let after = block_stored(vertex, frames.after);
    return blend_position(before, a, b, after, frames.weight, FRAME_BLEND);
}

@vertex
fn vs_soft(vertex: Vertex, instance: Instance) -> Shaded {
    let frames = instance_frames(instance);
    return shaded(vertex, instance, stored_by_texel(vertex, frames), moving_normal(vertex, frames));
}

@vertex
fn vs_soft_sampled(vertex: Vertex, instance: Instance) -> Shaded {
    let frames = instance_frames(instance);
    return shaded(vertex, instance, stored_by_sampler(vertex, frames), moving_normal(vertex, frames));
}

@vertex
fn vs_soft_mapped(vertex: Vertex, instance: Instance, @location(10) tangent: vec4f) -> Mapped {
    let frames = instance_frames(instance);
    return mapped(vertex, instance, tangent, stored_by_texel(vertex, frames), frames);
}

@vertex
fn vs_soft_sampled_mapped(vertex: Vertex, instance: Instance, @location(10) tangent: vec4f) -> Mapped {
    let frames = instance_frames(instance);
    return mapped(vertex, instance, tangent, stored_by_sampler(vertex, frames), frames);
}

@vertex
fn vs_soft_blocks(vertex: Vertex, instance: Instance) -> Shaded {
    let frames = instance_frames(instance);
    return shaded(vertex, instance, stored_by_block(vertex, frames), moving_normal(vertex, frames));
}

@vertex
fn vs_soft_blocks_mapped(vertex: Vertex, instance: Instance, @location(10) tangent: vec4f) -> Mapped {
    let frames = instance_frames(instance);
    return mapped(vertex, instance, tangent, stored_by_block(vertex, frames), frames);
}

struct Cast {
    @builtin(position) clip: vec4f,
    @location(0) world_position: vec3f,
}

// The shadow on the ground: each vertex slides along the light onto the plane.
fn shadow_of(vertex: Vertex, instance: Instance, stored: vec3f) -> Cast {
    let world_position = placed(soft_position(vertex.position, stored, POSITION_SPACE), instance);
    let fall = max(world_position.y - view.ground_height, 0.0) / view.to_sun.y;
    let fallen = vec3f(world_position.x - view.to_sun.x * fall, view.ground_height, world_position.z - view.to_sun.z * fall);
    var clip = view.clip_from_world * vec4f(fallen, 1.0);
    // Nearer by a thousandth, so that it lies on the plane; depth is reversed.
    clip.z *= 1.001;
    return Cast(clip, fallen);
}

@vertex
fn vs_soft_shadow(vertex: Vertex, instance: Instance) -> Cast {
    return shadow_of(vertex, instance, stored_by_texel(vertex, instance_frames(instance)));
}

@vertex
fn vs_soft_blocks_shadow(vertex: Vertex, instance: Instance) -> Cast {
    return shadow_of(vertex, instance, stored_by_block(vertex, instance_frames(instance)));
}

@fragment
fn fs_shadow(in: Cast) -> @location(0) vec4f {
    return finish(plane_color(in.world_position, 0.0));
}

// The normal on the side that is seen, unit length.
fn facing(normal: vec3f, front: bool) -> vec3f {
    let seen = select(-normal, normal, front);
    return seen * inverseSqrt(max(dot(seen, seen), 1e-20));
}

fn lit(in: Shaded, normal: vec3f) -> vec4f {
    let factors = metallic_roughness(in.uv);
    let light = shade(base_color(in.uv) * in.tint, factors.x, factors.y, normal, in.world_position);
    return finish(haze(light + emissive(in.uv), in.world_position));
}

@fragment
fn fs_shaded(in: Shaded, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let across = cross(dpdx(in.world_position), dpdy(in.world_position));
    if NORMALS == NORMALS_FLAT {
        let to_eye = view.eye - in.world_position;
        return lit(in, facing(across, dot(across, to_eye) >= 0.0));
    }
    return lit(in, facing(in.normal, front));
}

@fragment
fn fs_mapped(in: Mapped, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let normal = mapped_normal(in.uv, in.normal, in.tangent);
    return lit(Shaded(in.clip, in.world_position, in.normal, in.uv, in.tint), facing(normal, front));
}
