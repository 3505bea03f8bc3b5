// Colour of the ground plane.
#import draw/shade

// Cover of grid lines `width` wide, `spacing` apart, at `at`: exact over the pixel's footprint.
fn line_cover(at: vec2f, spacing: f32, width: f32) -> f32 {
    let cell = at / spacing;
    let footprint = max(fwidth(cell), vec2f(1e-6));
    let near = abs(fract(cell - 0.5) - 0.5);
    let reach = width / spacing * 0.5;
    let cover = clamp((reach - near) / footprint + 0.5, vec2f(0.0), vec2f(1.0));
    // Where a pixel spans cells, the lines' share of the area is what is left of them.
    let blurred = mix(cover, vec2f(2.0 * reach), clamp(footprint * 2.0 - 0.5, vec2f(0.0), vec2f(1.0)));
    return 1.0 - (1.0 - blurred.x) * (1.0 - blurred.y);
}

// `sunlit` is 1 in the sun and 0 in the shade.
fn plane_color(at: vec3f, sunlit: f32) -> vec3f {
    let fine = line_cover(at.xz, view.line_metres, view.line_metres * 0.025);
    let strong = line_cover(at.xz, view.line_metres * 10.0, view.line_metres * 0.06);
    let albedo = mix(view.ground, view.ground_line, clamp(fine * 0.7 + strong, 0.0, 1.0));
    let up = vec3f(0.0, 1.0, 0.0);
    let light = view.sun * max(view.to_sun.y, 0.0) * sunlit + ambient(up);
    return haze(albedo * light, at);
}
