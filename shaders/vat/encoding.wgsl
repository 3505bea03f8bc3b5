// Texel -> value. Twin of src/vat/encoding.rs, which has the table.

const ENCODING_UNORM8: u32 = 0u;
const ENCODING_UNORM16: u32 = 1u;
const ENCODING_FLOAT16: u32 = 2u;
const ENCODING_FLOAT16_BOUNDED: u32 = 3u;
const ENCODING_FLOAT32: u32 = 4u;
const ENCODING_SPLIT256: u32 = 5u;
const ENCODING_SPLIT255: u32 = 6u;
const ENCODING_BC6H: u32 = 7u;

struct Remap {
    lo: vec3f,
    pad_lo: u32,
    hi: vec3f,
    pad_hi: u32,
}

fn decode_texel(texel: vec4u, encoding: u32) -> vec4f {
    if encoding == ENCODING_UNORM8 || encoding == ENCODING_SPLIT256 || encoding == ENCODING_SPLIT255 {
        return vec4f(texel) / 255.0;
    }
    if encoding == ENCODING_UNORM16 {
        return vec4f(texel) / 65535.0;
    }
    if encoding == ENCODING_BC6H {
        return vec4f(texel) / 31743.0;
    }
    if encoding == ENCODING_FLOAT32 {
        return bitcast<vec4f>(texel);
    }
    return vec4f(
        unpack2x16float(texel.x | (texel.y << 16u)),
        unpack2x16float(texel.z | (texel.w << 16u)),
    );
}

fn decode_position(texel: vec4u, encoding: u32, remap: Remap) -> vec3f {
    let value = decode_texel(texel, encoding).xyz;
    if encoding != ENCODING_FLOAT16 && encoding != ENCODING_FLOAT32 {
        return remap.lo + value * (remap.hi - remap.lo);
    }
    return value;
}

fn decode_split(high: vec4u, low: vec4u, encoding: u32, remap: Remap) -> vec3f {
    var value = vec3f(high.xyz * 255u + low.xyz) / 65025.0;
    if encoding == ENCODING_SPLIT256 {
        value = vec3f(high.xyz * 256u + low.xyz) / 65535.0;
    }
    return remap.lo + value * (remap.hi - remap.lo);
}
