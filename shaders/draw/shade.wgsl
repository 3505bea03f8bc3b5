// Light and colour, shared by everything that is drawn. All light is linear.
#import view

// The target stores what it is given; 0 where the hardware turns linear light into sRGB.
override ENCODE_SRGB: u32 = 0u;

fn sky_light(direction: vec3f) -> vec3f {
    let up = clamp(direction.y, 0.0, 1.0);
    let glow = pow(max(dot(direction, view.to_sun), 0.0), 24.0);
    return mix(view.horizon, view.sky, sqrt(up)) + view.sun * glow * 0.08;
}

// Light that comes from all around onto a surface that faces `normal`.
fn ambient(normal: vec3f) -> vec3f {
    let up = normal.y * 0.5 + 0.5;
    let above = mix(view.horizon, view.sky, 0.5) * 0.52;
    let below = view.ground * (view.sun * max(view.to_sun.y, 0.0) * 0.5 + above * 0.5);
    return mix(below, above, up);
}

// Lambert and GGX (Walter et al. 2007; the geometry term of Hammon 2017), one sun and the sky.
fn shade(albedo: vec3f, metallic: f32, roughness: f32, normal: vec3f, world_position: vec3f) -> vec3f {
    let to_eye = normalize(view.eye - world_position);
    let half_way = normalize(to_eye + view.to_sun);
    let n_l = max(dot(normal, view.to_sun), 0.0);
    let n_v = max(dot(normal, to_eye), 1e-3);
    let n_h = max(dot(normal, half_way), 0.0);
    let l_h = max(dot(view.to_sun, half_way), 0.0);
    let alpha = max(roughness * roughness, 0.02);
    let alpha2 = alpha * alpha;
    let spread = n_h * n_h * (alpha2 - 1.0) + 1.0;
    let distribution = alpha2 / (3.14159265 * spread * spread);
    let visibility = 0.5 / max(mix(2.0 * n_l * n_v, n_l + n_v, alpha), 1e-4);
    let reflectance = mix(vec3f(0.04), albedo, metallic);
    let fresnel = reflectance + (1.0 - reflectance) * pow(1.0 - l_h, 5.0);
    let diffuse = albedo * (1.0 - metallic);
    // The sun's strength is per white surface lit head on, so Lambert's 1/pi is in it already.
    let from_sun = (diffuse + fresnel * (distribution * visibility * 3.14159265)) * view.sun * n_l;
    let mirrored = sky_light(reflect(-to_eye, normal)) * reflectance * (1.0 - 0.7 * roughness);
    return from_sun + diffuse * ambient(normal) + mirrored;
}

fn haze(color: vec3f, world_position: vec3f) -> vec3f {
    if view.haze_metres <= 0.0 {
        return color;
    }
    let through = exp(-distance(view.eye, world_position) / view.haze_metres);
    return mix(view.horizon, color, through);
}

// Highlights roll off instead of clipping; up to 0.7 light stays as it is.
fn tone(color: vec3f) -> vec3f {
    let over = max(color - 0.7, vec3f(0.0));
    return min(color, vec3f(0.7)) + 0.3 * over / (over + 0.3);
}

fn finish(color: vec3f) -> vec4f {
    let toned = tone(color);
    if ENCODE_SRGB == 0u {
        return vec4f(toned, 1.0);
    }
    let low = toned * 12.92;
    let high = 1.055 * pow(toned, vec3f(1.0 / 2.4)) - 0.055;
    return vec4f(select(high, low, toned <= vec3f(0.0031308)), 1.0);
}
