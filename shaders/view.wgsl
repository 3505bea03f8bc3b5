// Group 0: what all draws of one view share. Struct twin in src/render/uniforms.rs.

struct View {
    clip_from_world: mat4x4f,
    world_from_clip: mat4x4f,
    eye: vec3f,
    phase_mask: u32,
    to_sun: vec3f,
    haze_metres: f32,
    sun: vec3f,
    ground_height: f32,
    sky: vec3f,
    line_metres: f32,
    horizon: vec3f,
    ground_visible: u32,
    ground: vec3f,
    pad_ground: u32,
    ground_line: vec3f,
    pad_line: u32,
}

@group(0) @binding(0) var<uniform> view: View;
