// Draws a crowd: the vertex stage decodes the animation, the fragment stage shades.
#import view
#import vat/soft
#import vat/normals
#import draw/plane

override ENCODING: u32 = 1u;
override NORMALS: u32 = 2u;
override FRAME_BLEND: u32 = 1u;
override POSITION_SPACE: u32 = 0u;

@group(0) @binding(1) var<storage, read> clips: array<ClipCursor>;

struct Material {
    base_color: vec4f,
    metallic: f32,
    roughness: f32,
    pad_x: u32,
    pad_y: u32,
}

@group(1) @binding(0) var<uniform> material: Material;
@group(1) @binding(1) var base_color_texture: texture_2d<f32>;
@group(1) @binding(2) var base_color_sampler: sampler;

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

fn turned(v: vec3f, heading: vec2f) -> vec3f {
    return vec3f(heading.x * v.x + heading.y * v.z, v.y, heading.x * v.z - heading.y * v.x);
}

fn instance_frames(instance: Instance) -> Frames {
    return clip_frames(clips[soft.first_clip + instance.clip], instance.phase & view.phase_mask, instance.speed);
}

fn moving_normal(vertex: Vertex, frames: Frames) -> vec3f {
    if NORMALS == NORMALS_TEXTURE8 || NORMALS == NORMALS_TEXTURE16 {
        return blended_normal(normal_texture, soft.grid, NORMALS, ENCODING, vertex.element, frames, FRAME_BLEND);
    }
    if NORMALS == NORMALS_ALPHA {
        return blended_normal(position_texture, soft.grid, NORMALS, ENCODING, vertex.element, frames, FRAME_BLEND);
    }
    return vertex.normal;
}

fn placed(local: vec3f, instance: Instance) -> vec3f {
    return turned(local * instance.placement.w, instance.heading) + instance.placement.xyz;
}

fn shaded(vertex: Vertex, instance: Instance, stored: vec3f, frames: Frames) -> Shaded {
    let world_position = placed(soft_position(vertex.position, stored, POSITION_SPACE), instance);
    let clip = view.clip_from_world * vec4f(world_position, 1.0);
    let normal = turned(moving_normal(vertex, frames), instance.heading);
    return Shaded(clip, world_position, normal, vertex.uv, instance.tint.rgb);
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

@vertex
fn vs_soft(vertex: Vertex, instance: Instance) -> Shaded {
    let frames = instance_frames(instance);
    return shaded(vertex, instance, stored_by_texel(vertex, frames), frames);
}

@vertex
fn vs_soft_sampled(vertex: Vertex, instance: Instance) -> Shaded {
    let frames = instance_frames(instance);
    return shaded(vertex, instance, stored_by_sampler(vertex, frames), frames);
}

struct Cast {
    @builtin(position) clip: vec4f,
    @location(0) world_position: vec3f,
}

// The shadow on the ground: each vertex slides along the light onto the plane.
@vertex
fn vs_soft_shadow(vertex: Vertex, instance: Instance) -> Cast {
    let frames = instance_frames(instance);
    let stored = stored_by_texel(vertex, frames);
    let world_position = placed(soft_position(vertex.position, stored, POSITION_SPACE), instance);
    let fall = max(world_position.y - view.ground_height, 0.0) / view.to_sun.y;
    let fallen = vec3f(world_position.x - view.to_sun.x * fall, view.ground_height, world_position.z - view.to_sun.z * fall);
    var clip = view.clip_from_world * vec4f(fallen, 1.0);
    // Nearer by a thousandth, so that it lies on the plane; depth is reversed.
    clip.z *= 1.001;
    return Cast(clip, fallen);
}

@fragment
fn fs_shadow(in: Cast) -> @location(0) vec4f {
    return finish(plane_color(in.world_position, 0.0));
}

@fragment
fn fs_shaded(in: Shaded, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let albedo = textureSample(base_color_texture, base_color_sampler, in.uv).rgb * material.base_color.rgb * in.tint;
    let across = cross(dpdx(in.world_position), dpdy(in.world_position));
    var normal = in.normal;
    if NORMALS == NORMALS_FLAT {
        let to_eye = view.eye - in.world_position;
        normal = select(across, -across, dot(across, to_eye) < 0.0);
    } else if !front {
        normal = -normal;
    }
    normal = normal * inverseSqrt(max(dot(normal, normal), 1e-20));
    let lit = shade(albedo, material.metallic, material.roughness, normal, in.world_position);
    return finish(haze(lit, in.world_position));
}
