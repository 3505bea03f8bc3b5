// Sky, and the plane that the crowd stands on: one triangle over the whole picture.
#import draw/plane

struct Background {
    @builtin(position) clip: vec4f,
    @location(0) ray: vec3f,
}

@vertex
fn vs_background(@builtin(vertex_index) vertex: u32) -> Background {
    let corner = vec2f(f32((vertex << 1u) & 2u), f32(vertex & 2u)) * 2.0 - 1.0;
    let near = view.world_from_clip * vec4f(corner, 1.0, 1.0);
    return Background(vec4f(corner, 0.0, 1.0), near.xyz / near.w - view.eye);
}

struct Painted {
    @location(0) color: vec4f,
    @builtin(frag_depth) depth: f32,
}

@fragment
fn fs_background(in: Background) -> Painted {
    let ray = normalize(in.ray);
    let fall = select(ray.y, -1e-5, abs(ray.y) < 1e-5);
    let along = (view.ground_height - view.eye.y) / fall;
    let hit = view.eye + ray * along;
    // Derivatives need every pixel to come this way.
    let plane = plane_color(hit, 1.0);
    let clip = view.clip_from_world * vec4f(hit, 1.0);
    let depth = clip.z / clip.w;
    // One depth serves all samples of the pixel: it is that of the farthest, so that no shadow on the
    // plane sinks into it.
    let farthest = max(depth - fwidth(depth), 0.0);
    if view.ground_visible == 0u || along <= 0.0 || along > 1e5 {
        return Painted(finish(sky_light(ray)), 0.0);
    }
    return Painted(finish(plane), farthest);
}
