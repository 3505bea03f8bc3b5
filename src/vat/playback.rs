//! Time, clip and phase → frames and weight.
//!
//! Time is fixed point, so that a clock of 10⁷ seconds is as exact as one of 0:
//!
//! ```text
//! cycles     clip cycles since the clock's zero   32.32 bits, wrapped (loop) or clamped (once)
//! speed      of one instance                       8.24 bits, signed: -128 ..< 128
//! phase      of one instance, part of a cycle      0.32 bits
//!
//! cycle      = (cycles · speed + phase) mod 1      0.32 bits, integer arithmetic
//! position   = cycle · intervals                   32.32 bits: frame and weight
//! ```
//!
//! The CPU turns its `f64` clock into `cycles` once per clip and view; everything per instance is
//! integer arithmetic on the GPU. Frames wrap inside their clip, so clips never bleed into each other.
//!
//! Twin: `shaders/vat/playback.wgsl`.

use glam::Vec3;

use super::FrameBlend;
use crate::clip::{Clip, LoopMode};

/// A clip as shaders see it, with the view's time.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ClipCursor {
    /// First frame, counted over the whole asset.
    pub first_frame: u32,
    /// Number of frames, at least 1.
    pub frame_count: u32,
    /// A [`LoopMode`].
    pub loop_mode: u32,
    /// Makes the layout that of WGSL; 0.
    pub pad: u32,
    /// Fraction of a cycle, in units of 2⁻³².
    pub cycles_low: u32,
    /// Whole cycles.
    pub cycles_high: u32,
}

/// The frames that a moment lies between, counted over the whole asset.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Frames {
    /// The frame before `a`.
    pub before: u32,
    /// The frame shown when `weight` is 0.
    pub a: u32,
    /// The frame shown when `weight` would reach 1.
    pub b: u32,
    /// The frame after `b`.
    pub after: u32,
    /// 0 ..< 1, from `a` to `b`.
    pub weight: f32,
}

/// `a · b` as (low, high) words.
pub fn multiply_wide(a: u32, b: u32) -> [u32; 2] {
    let low_low = (a & 0xffff) * (b & 0xffff);
    let low_high = (a & 0xffff) * (b >> 16);
    let high_low = (a >> 16) * (b & 0xffff);
    let high_high = (a >> 16) * (b >> 16);
    let middle = (low_low >> 16) + (low_high & 0xffff) + (high_low & 0xffff);
    [(low_low & 0xffff) | (middle << 16), high_high + (low_high >> 16) + (high_low >> 16) + (middle >> 16)]
}

/// Where in its cycle a repeating clip stands, in units of 2⁻³² cycles.
pub fn wrapped_cycle(clip: ClipCursor, phase: u32, speed: i32) -> u32 {
    // Two's complement: the low 64 bits of the product are right for negative speeds too.
    let low = multiply_wide(clip.cycles_low, speed as u32);
    let borrow = if speed < 0 { clip.cycles_low } else { 0 };
    let high = low[1].wrapping_add(clip.cycles_high.wrapping_mul(speed as u32)).wrapping_sub(borrow);
    ((high << 8) | (low[0] >> 24)).wrapping_add(phase)
}

/// Where a clip that plays once stands, in units of 2⁻³² cycles, and 1 if it is over, else 0.
pub fn clamped_cycle(clip: ClipCursor, phase: u32, speed: i32) -> [u32; 2] {
    let rate = speed.unsigned_abs();
    let low = multiply_wide(clip.cycles_low, rate);
    let high = multiply_wide(clip.cycles_high, rate);
    let middle = low[1].wrapping_add(high[0]);
    let carry = u32::from(middle < low[1]);
    let played = (middle << 8) | (low[0] >> 24);
    let cycle = played.wrapping_add(phase);
    let over = high[1] + carry > 0 || (middle >> 24) > 0 || cycle < phase;
    [cycle, u32::from(over)]
}

/// Frame `step` of a clip (any integer), brought into the clip as its loop mode says.
pub fn clip_frame(clip: ClipCursor, step: i32) -> u32 {
    let count = clip.frame_count as i32;
    if clip.loop_mode == LoopMode::Once as u32 {
        return clip.first_frame + step.clamp(0, count - 1) as u32;
    }
    if clip.loop_mode == LoopMode::PingPong as u32 {
        let period = (2 * (count - 1)).max(1);
        let folded = (step % period + period) % period;
        return clip.first_frame + folded.min(period - folded) as u32;
    }
    clip.first_frame + ((step % count + count) % count) as u32
}

/// The four frames round `step`, which is `weight` past its frame.
pub fn frames_at(clip: ClipCursor, step: i32, weight: f32) -> Frames {
    Frames {
        before: clip_frame(clip, step - 1),
        a: clip_frame(clip, step),
        b: clip_frame(clip, step + 1),
        after: clip_frame(clip, step + 2),
        weight,
    }
}

/// The frames that an instance shows. `phase` is in units of 2⁻³² cycles, `speed` of 2⁻²⁴.
///
/// A negative speed plays backwards; a clip that plays once then starts at its last frame.
pub fn clip_frames(clip: ClipCursor, phase: u32, speed: i32) -> Frames {
    let last = clip.frame_count - 1;
    if last == 0 {
        return frames_at(clip, 0, 0.0);
    }
    if clip.loop_mode == LoopMode::Once as u32 {
        let cycle = clamped_cycle(clip, phase, speed);
        if cycle[1] == 1 {
            return frames_at(clip, if speed < 0 { 0 } else { last as i32 }, 0.0);
        }
        let played = if speed < 0 { !cycle[0] } else { cycle[0] };
        return clip_interval(clip, played, last);
    }
    let intervals = if clip.loop_mode == LoopMode::PingPong as u32 { 2 * last } else { clip.frame_count };
    clip_interval(clip, wrapped_cycle(clip, phase, speed), intervals)
}

/// Part `cycle` of `intervals` steps between frames.
pub fn clip_interval(clip: ClipCursor, cycle: u32, intervals: u32) -> Frames {
    // One unit more than `cycle`: a time that is meant to be a frame's own never falls just short of it.
    let position = multiply_wide(cycle, intervals);
    let low = position[0].wrapping_add(intervals);
    let step = position[1] + u32::from(low < position[0]);
    // What rounding of cycle and phase can have added is no blend. 24 bits are exact in f32.
    let weight = if low < 2 * intervals { 0.0 } else { (low >> 8) as f32 / 16_777_216.0 };
    frames_at(clip, step as i32, weight)
}

/// Position between frames: `before` and `after` are read by Catmull-Rom only.
#[inline]
pub fn blend_position(
    before: Vec3,
    a: Vec3,
    b: Vec3,
    after: Vec3,
    weight: f32,
    frame_blend: FrameBlend,
) -> Vec3 {
    if frame_blend == FrameBlend::Step {
        return a;
    }
    if frame_blend == FrameBlend::Linear {
        return a + (b - a) * weight;
    }
    // Uniform Catmull-Rom spline (Catmull and Rom 1974), tangents from the neighbours' chord.
    let c1 = (b - before) * 0.5;
    let c2 = before - a * 2.5 + b * 2.0 - after * 0.5;
    let c3 = (after - before) * 0.5 + (a - b) * 1.5;
    a + (c1 + (c2 + c3 * weight) * weight) * weight
}

/// The cursor of `clip` at `time_seconds` on the view's clock. A clip that stands still (fps 0, one
/// frame) or a time that is not finite gives cycle 0.
pub fn encode_cursor(clip: &Clip, time_seconds: f64) -> ClipCursor {
    const ONE: f64 = 4_294_967_296.0;
    let cycles = clip.cycle_seconds().map_or(0.0, |seconds| time_seconds / seconds);
    let cycles = if cycles.is_finite() { cycles } else { 0.0 };
    let cycles = match clip.loop_mode {
        LoopMode::Once => cycles.clamp(0.0, ONE - 1.0),
        LoopMode::Loop | LoopMode::PingPong => cycles.rem_euclid(ONE),
    };
    // In two steps: whole cycles and fraction each have all their bits.
    let fraction = ((cycles - cycles.floor()) * ONE).round();
    let carry = f64::from(u8::from(fraction >= ONE));
    #[expect(clippy::cast_possible_truncation, reason = "wrapped to 32 bits on purpose")]
    ClipCursor {
        first_frame: clip.first_frame,
        frame_count: clip.frame_count,
        loop_mode: clip.loop_mode as u32,
        pad: 0,
        cycles_low: (fraction - carry * ONE) as u32,
        cycles_high: ((cycles.floor() + carry) as u64) as u32,
    }
}

/// `speed` in units of 2⁻²⁴, clamped to -128 ..< 128; what is not a number stands still.
pub fn encode_speed(speed: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "float to integer casts saturate, NaN is 0")]
    let speed = (speed * 16_777_216.0).round() as i32;
    speed
}

/// `phase`, a part of a cycle (any number, wrapped to 0 ..< 1), in units of 2⁻³².
pub fn encode_phase(phase: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "2³² wraps to 0, NaN is 0")]
    let phase = ((phase.rem_euclid(1.0) * 4_294_967_296.0).round() as u64) as u32;
    phase
}

/// The frames round `frame`, a number of frames from the clip's first that may lie between two.
pub fn encode_frames(clip: &Clip, frame: f64) -> Frames {
    #[expect(clippy::cast_possible_truncation, reason = "float to integer casts saturate, NaN is 0")]
    let step = frame.floor().clamp(f64::from(i32::MIN / 4), f64::from(i32::MAX / 4)) as i32;
    #[expect(clippy::cast_possible_truncation, reason = "0..1")]
    let weight = (frame - frame.floor()) as f32;
    frames_at(encode_cursor(clip, 0.0), step, weight)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clip(frame_count: u32, fps: f64, loop_mode: LoopMode) -> Clip {
        Clip { name: "clip".into(), first_frame: 100, frame_count, fps, loop_mode, root_motion: None }
    }

    fn frames(clip: &Clip, time: f64, phase: f64, speed: f64) -> Frames {
        clip_frames(encode_cursor(clip, time), encode_phase(phase), encode_speed(speed))
    }

    /// Position in frames from the clip's first.
    fn position(clip: &Clip, time: f64, phase: f64, speed: f64) -> f64 {
        let frames = frames(clip, time, phase, speed);
        let (a, b) = (f64::from(frames.a), f64::from(frames.b));
        // At the loop seam b is before a; count on instead.
        let b = if b < a && clip.loop_mode == LoopMode::Loop { a + 1.0 } else { b };
        a + (b - a) * f64::from(frames.weight) - f64::from(clip.first_frame)
    }

    #[test]
    fn frame_times_give_their_own_frame_without_a_blend() {
        for fps in [12.5, 24.0, 30000.0 / 1001.0, 30.0, 59.94, 60.0] {
            for count in [2, 3, 24, 30, 121, 4001] {
                let looped = clip(count, fps, LoopMode::Loop);
                for turn in [0, 1, 7, 1000] {
                    for frame in [0, 1, count / 2, count - 1] {
                        let time = f64::from(turn * count + frame) / fps;
                        let frames = frames(&looped, time, 0.0, 1.0);
                        assert_eq!(
                            (frames.a, frames.weight),
                            (100 + frame, 0.0),
                            "{fps} fps, {count} frames, turn {turn}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn seam_of_a_loop_blends_last_to_first() {
        let looped = clip(10, 10.0, LoopMode::Loop);
        let seam = frames(&looped, 0.95, 0.0, 1.0);
        assert_eq!((seam.before, seam.a, seam.b, seam.after), (108, 109, 100, 101));
        assert!((seam.weight - 0.5).abs() < 1e-6);
        assert_eq!(frames(&looped, 1.0, 0.0, 1.0), frames(&looped, 0.0, 0.0, 1.0));
        assert_eq!(frames(&looped, -0.05, 0.0, 1.0).a, 109);
    }

    #[test]
    fn once_holds_its_ends() {
        let once = clip(11, 10.0, LoopMode::Once);
        for time in [1.0, 1.0001, 5.0, 1e7, 1e300] {
            assert_eq!(frames(&once, time, 0.0, 1.0).a, 110, "{time}");
            assert_eq!(frames(&once, time, 0.0, 1.0).weight, 0.0);
            assert_eq!(frames(&once, time, 0.0, -1.0).a, 100, "backwards ends at the first frame");
        }
        assert_eq!(frames(&once, -3.0, 0.0, 1.0).a, 100);
        assert!((position(&once, 0.25, 0.0, 1.0) - 2.5).abs() < 1e-5);
        assert!((position(&once, 0.25, 0.0, -1.0) - 7.5).abs() < 1e-5);
        assert!((position(&once, 0.25, 0.5, 1.0) - 7.5).abs() < 1e-5);
        assert_eq!(frames(&once, 0.75, 0.5, 1.0).a, 110);
        assert_eq!(frames(&once, 1e9, 0.0, 127.0).a, 110);
    }

    #[test]
    fn ping_pong_shows_each_end_once() {
        let clip = clip(4, 1.0, LoopMode::PingPong);
        let shown: Vec<u32> =
            (0..13).map(|second| frames(&clip, f64::from(second), 0.0, 1.0).a - 100).collect();
        assert_eq!(shown, [0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0]);
        let turn = frames(&clip, 3.5, 0.0, 1.0);
        assert_eq!((turn.before, turn.a, turn.b, turn.after), (102, 103, 102, 101));
    }

    #[test]
    fn clips_that_stand_still() {
        for loop_mode in LoopMode::ALL {
            for still in [clip(1, 30.0, loop_mode), clip(1, 0.0, loop_mode)] {
                let frames = frames(&still, 123.4, 0.7, 1.0);
                assert_eq!(
                    (frames.before, frames.a, frames.b, frames.after, frames.weight),
                    (100, 100, 100, 100, 0.0)
                );
            }
        }
        let frozen = clip(10, 0.0, LoopMode::Loop);
        assert_eq!(frames(&frozen, 123.4, 0.5, 1.0).a, 105, "fps 0 stays at its phase");
        for time in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(frames(&clip(10, 30.0, LoopMode::Loop), time, 0.0, 1.0).a, 100);
        }
    }

    #[test]
    fn clock_of_ten_million_seconds_is_exact() {
        let looped = clip(48, 24.0, LoopMode::Loop);
        for start in [86_400.0, 1e7] {
            for step in 0..1000 {
                let time = f64::from(step) / 240.0;
                let early = position(&looped, time, 0.0, 1.0);
                let late = position(&looped, start + time, 0.0, 1.0);
                // `start` is a whole number of cycles.
                assert!((early - late).abs() < 1e-3, "{time}: {early} {late}");
            }
        }
    }

    proptest! {
        #[test]
        fn matches_arithmetic_in_f64(
            count in 2u32..500, fps in 0.1f64..240.0, time in -1e5f64..1e5,
            phase in 0f64..1.0, speed in -4f64..4.0, mode in 0usize..3,
        ) {
            let clip = clip(count, fps, LoopMode::ALL[mode]);
            // The speed that the instance really has.
            let speed = f64::from(encode_speed(speed)) / 16_777_216.0;
            let intervals = f64::from(clip.intervals());
            let cycles = time * fps / intervals;
            let expected = match clip.loop_mode {
                LoopMode::Loop => (cycles * speed + phase).rem_euclid(1.0) * intervals,
                LoopMode::Once => {
                    let played = (cycles.max(0.0) * speed.abs() + phase).min(1.0);
                    (if speed < 0.0 { 1.0 - played } else { played }) * intervals
                }
                LoopMode::PingPong => {
                    let step = (cycles * speed + phase).rem_euclid(1.0) * intervals;
                    step.min(intervals - step)
                }
            };
            let found = position(&clip, time, phase, speed);
            let mut error = (found - expected).abs();
            if clip.loop_mode == LoopMode::Loop { error = error.min((error - intervals).abs()); }
            prop_assert!(error < 1e-3, "found {found}, expected {expected}");
        }

        #[test]
        fn never_leaves_the_clip(count in 1u32..300, time: f64, phase: u32, speed: i32, mode in 0usize..3) {
            let clip = clip(count, 30.0, LoopMode::ALL[mode]);
            let frames = clip_frames(encode_cursor(&clip, time), phase, speed);
            for frame in [frames.before, frames.a, frames.b, frames.after] {
                prop_assert!((100..100 + count).contains(&frame), "{frames:?}");
            }
            prop_assert!((0.0..1.0).contains(&frames.weight));
        }
    }

    #[test]
    fn catmull_rom_passes_through_frames_and_keeps_lines_straight() {
        let p = [0.0, 1.0, 2.0, 3.0].map(|x| Vec3::new(x, 2.0 * x, 5.0));
        for weight in [0.0, 0.25, 0.5, 0.75] {
            let found = blend_position(p[0], p[1], p[2], p[3], weight, FrameBlend::CatmullRom);
            assert!(found.distance(p[1].lerp(p[2], weight)) < 1e-6);
        }
        let curve = [Vec3::ZERO, Vec3::Y, Vec3::X, Vec3::ZERO];
        assert_eq!(
            blend_position(curve[0], curve[1], curve[2], curve[3], 0.0, FrameBlend::CatmullRom),
            Vec3::Y
        );
        assert!(
            blend_position(curve[0], curve[1], curve[2], curve[3], 1.0, FrameBlend::CatmullRom)
                .distance(Vec3::X)
                < 1e-6
        );
    }
}
