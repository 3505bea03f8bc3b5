// Time, clip and phase -> frames and weight. Twin of src/vat/playback.rs, which explains the fixed point.

const LOOP_MODE_LOOP: u32 = 0u;
const LOOP_MODE_ONCE: u32 = 1u;
const LOOP_MODE_PING_PONG: u32 = 2u;

const FRAME_BLEND_STEP: u32 = 0u;
const FRAME_BLEND_LINEAR: u32 = 1u;
const FRAME_BLEND_CATMULL_ROM: u32 = 2u;

struct ClipCursor {
    first_frame: u32,
    frame_count: u32,
    loop_mode: u32,
    pad: u32,
    cycles_low: u32,
    cycles_high: u32,
}

struct Frames {
    before: u32,
    a: u32,
    b: u32,
    after: u32,
    weight: f32,
}

fn multiply_wide(a: u32, b: u32) -> vec2u {
    let low_low = (a & 0xffffu) * (b & 0xffffu);
    let low_high = (a & 0xffffu) * (b >> 16u);
    let high_low = (a >> 16u) * (b & 0xffffu);
    let high_high = (a >> 16u) * (b >> 16u);
    let middle = (low_low >> 16u) + (low_high & 0xffffu) + (high_low & 0xffffu);
    return vec2u(
        (low_low & 0xffffu) | (middle << 16u),
        high_high + (low_high >> 16u) + (high_low >> 16u) + (middle >> 16u),
    );
}

fn wrapped_cycle(clip: ClipCursor, phase: u32, speed: i32) -> u32 {
    // Two's complement: the low 64 bits of the product are right for negative speeds too.
    let low = multiply_wide(clip.cycles_low, u32(speed));
    let borrow = select(0u, clip.cycles_low, speed < 0);
    let high = low[1] + clip.cycles_high * u32(speed) - borrow;
    return ((high << 8u) | (low[0] >> 24u)) + phase;
}

fn clamped_cycle(clip: ClipCursor, phase: u32, speed: i32) -> vec2u {
    // abs() keeps the smallest integer, whose bits are its magnitude.
    let rate = u32(abs(speed));
    let low = multiply_wide(clip.cycles_low, rate);
    let high = multiply_wide(clip.cycles_high, rate);
    let middle = low[1] + high[0];
    let carry = u32(middle < low[1]);
    let played = (middle << 8u) | (low[0] >> 24u);
    let cycle = played + phase;
    let over = high[1] + carry > 0u || (middle >> 24u) > 0u || cycle < phase;
    return vec2u(cycle, u32(over));
}

fn clip_frame(clip: ClipCursor, step: i32) -> u32 {
    let count = i32(clip.frame_count);
    if clip.loop_mode == LOOP_MODE_ONCE {
        return clip.first_frame + u32(clamp(step, 0, count - 1));
    }
    if clip.loop_mode == LOOP_MODE_PING_PONG {
        let period = max(2 * (count - 1), 1);
        let folded = (step % period + period) % period;
        return clip.first_frame + u32(min(folded, period - folded));
    }
    return clip.first_frame + u32((step % count + count) % count);
}

fn frames_at(clip: ClipCursor, step: i32, weight: f32) -> Frames {
    return Frames(
        clip_frame(clip, step - 1),
        clip_frame(clip, step),
        clip_frame(clip, step + 1),
        clip_frame(clip, step + 2),
        weight,
    );
}

fn clip_frames(clip: ClipCursor, phase: u32, speed: i32) -> Frames {
    let last = clip.frame_count - 1u;
    if last == 0u {
        return frames_at(clip, 0, 0.0);
    }
    if clip.loop_mode == LOOP_MODE_ONCE {
        let cycle = clamped_cycle(clip, phase, speed);
        if cycle[1] == 1u {
            return frames_at(clip, select(i32(last), 0, speed < 0), 0.0);
        }
        let played = select(cycle[0], ~cycle[0], speed < 0);
        return clip_interval(clip, played, last);
    }
    let intervals = select(clip.frame_count, 2u * last, clip.loop_mode == LOOP_MODE_PING_PONG);
    return clip_interval(clip, wrapped_cycle(clip, phase, speed), intervals);
}

fn clip_interval(clip: ClipCursor, cycle: u32, intervals: u32) -> Frames {
    // One unit more than `cycle`: a time that is meant to be a frame's own never falls just short of it.
    let position = multiply_wide(cycle, intervals);
    let low = position[0] + intervals;
    let step = position[1] + u32(low < position[0]);
    // What rounding of cycle and phase can have added is no blend. 24 bits are exact in f32.
    let weight = select(f32(low >> 8u) / 16777216.0, 0.0, low < 2u * intervals);
    return frames_at(clip, i32(step), weight);
}

fn blend_position(before: vec3f, a: vec3f, b: vec3f, after: vec3f, weight: f32, frame_blend: u32) -> vec3f {
    if frame_blend == FRAME_BLEND_STEP {
        return a;
    }
    if frame_blend == FRAME_BLEND_LINEAR {
        return a + (b - a) * weight;
    }
    // Uniform Catmull-Rom spline (Catmull and Rom 1974), tangents from the neighbours' chord.
    let c1 = (b - before) * 0.5;
    let c2 = before - a * 2.5 + b * 2.0 - after * 0.5;
    let c3 = (after - before) * 0.5 + (a - b) * 1.5;
    return a + (c1 + (c2 + c3 * weight) * weight) * weight;
}
