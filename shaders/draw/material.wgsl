// What a surface looks like before light falls on it (glTF 2.0, section 3.9).

const TEXTURE_BASE_COLOR: u32 = 1u;
const TEXTURE_METALLIC_ROUGHNESS: u32 = 2u;
const TEXTURE_NORMAL: u32 = 4u;
const TEXTURE_EMISSIVE: u32 = 8u;

// The textures that the material has.
override TEXTURES: u32 = 0u;

struct Material {
    base_color: vec4f,
    metallic: f32,
    roughness: f32,
    normal_scale: f32,
    pad: u32,
    emissive: vec3f,
    pad_emissive: u32,
}

@group(1) @binding(0) var<uniform> material: Material;
@group(1) @binding(1) var color_sampler: sampler;
@group(1) @binding(2) var base_color_texture: texture_2d<f32>;
@group(1) @binding(3) var metallic_roughness_texture: texture_2d<f32>;
@group(1) @binding(4) var normal_map: texture_2d<f32>;
@group(1) @binding(5) var emissive_texture: texture_2d<f32>;

fn base_color(uv: vec2f) -> vec3f {
    if (TEXTURES & TEXTURE_BASE_COLOR) == 0u {
        return material.base_color.rgb;
    }
    return textureSample(base_color_texture, color_sampler, uv).rgb * material.base_color.rgb;
}

// Metalness and roughness.
fn metallic_roughness(uv: vec2f) -> vec2f {
    let factors = vec2f(material.metallic, material.roughness);
    if (TEXTURES & TEXTURE_METALLIC_ROUGHNESS) == 0u {
        return factors;
    }
    return textureSample(metallic_roughness_texture, color_sampler, uv).bg * factors;
}

fn emissive(uv: vec2f) -> vec3f {
    if (TEXTURES & TEXTURE_EMISSIVE) == 0u {
        return material.emissive;
    }
    return textureSample(emissive_texture, color_sampler, uv).rgb * material.emissive;
}

// The normal map's normal in the frame of `normal` and `tangent`, which are interpolated and not made unit
// length, as MikkTSpace wants it; w of the tangent is the sign of the bitangent.
fn mapped_normal(uv: vec2f, normal: vec3f, tangent: vec4f) -> vec3f {
    let texel = textureSample(normal_map, color_sampler, uv).xyz * 2.0 - 1.0;
    let bitangent = cross(normal, tangent.xyz) * tangent.w;
    return tangent.xyz * (texel.x * material.normal_scale) + bitangent * (texel.y * material.normal_scale) + normal * texel.z;
}
