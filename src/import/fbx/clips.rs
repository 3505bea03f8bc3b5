//! Animation stacks → clips: keys that ufbx resampled where curves are no straight lines.

use std::path::Path;

use super::model::{Cached, quaternion, vector};
use super::refused;
use crate::import::Error;
use crate::skeleton::Local;
use crate::skeleton::track::{Interpolation, Track};
use crate::skeleton::{Channel, Property, RigClip, Trs};
use crate::source::Model;

/// Keys of one clip that are asked for at most.
const MAX_KEYS: f64 = 1e6;

/// Adds the clips of a scene; caches play in all of them, or alone where there are none.
pub(super) fn read(
    scene: &ufbx::Scene,
    caches: &[Cached],
    model: &mut Model,
    path: &Path,
) -> Result<(), Error> {
    for stack in &scene.anim_stacks {
        let name = stack.element.name.to_string();
        let (begin, end) = (stack.time_begin, stack.time_end);
        let rate = rate(scene);
        let check = |seconds: f64| {
            if seconds.is_finite() && seconds * rate <= MAX_KEYS {
                return Ok(());
            }
            Err(Error::Value {
                pointer: format!("animation stack {name:?}"),
                found: format!("{seconds} s"),
                expected: format!("at most {MAX_KEYS} frames at {rate} a second"),
                path: path.to_owned(),
            })
        };
        let seconds = end - begin;
        check(seconds)?;
        let options = ufbx::BakeOpts { resample_rate: rate, ..Default::default() };
        let baked = ufbx::bake_anim(scene, &stack.anim, options).map_err(|error| refused(&error, path))?;
        let (begin, end) = if seconds > 0.0 {
            (begin, end)
        } else {
            (baked.key_time_min, baked.key_time_max.max(baked.key_time_min))
        };
        check(end - begin)?;
        let mut clip = RigClip { name, channels: Vec::new(), fps: Some(rate) };
        let span = Span { begin, end };
        for node in &baked.nodes {
            let Some(Local::Trs(rest)) = model.rig.nodes.get(node.typed_id as usize).map(|node| node.local)
            else {
                continue;
            };
            span.node(node, &rest, &mut clip.channels);
        }
        blends(scene, &stack.anim, &span, rate, &mut clip.channels);
        for cached in caches {
            clip.channels.extend(turns(cached, begin));
        }
        clip.channels.retain(|channel| channel.track.end() >= 0.0);
        if !clip.channels.is_empty() {
            model.rig.clips.push(clip);
        }
    }
    if model.rig.clips.is_empty() && !caches.is_empty() {
        let begin = caches.iter().flat_map(|cached| &cached.seconds).copied().fold(f64::INFINITY, f64::min);
        let channels: Vec<Channel> = caches.iter().filter_map(|cached| turns(cached, begin)).collect();
        if !channels.is_empty() {
            model.rig.clips.push(RigClip { name: "cache".to_owned(), channels, fps: Some(rate(scene)) });
        }
    }
    Ok(())
}

fn rate(scene: &ufbx::Scene) -> f64 {
    let rate = scene.settings.frames_per_second;
    if rate.is_finite() && (1.0..=240.0).contains(&rate) { rate } else { 30.0 }
}

/// The part of the clock that a clip plays.
struct Span {
    begin: f64,
    end: f64,
}

impl Span {
    fn node(&self, node: &ufbx::BakedNode, rest: &Trs, channels: &mut Vec<Channel>) {
        let moves = |keys: &[ufbx::BakedVec3], at_rest: glam::DVec3| {
            keys.iter().any(|key| vector(&key.value) != at_rest)
        };
        let mut add = |property, width, times: Vec<f64>, values: Vec<f64>| {
            if let Ok(track) = Track::new(times, values, width, Interpolation::Linear) {
                channels.push(Channel { node: node.typed_id, property, track });
            }
        };
        for (property, keys, at_rest) in [
            (Property::Translation, &node.translation_keys, rest.translation),
            (Property::Scale, &node.scale_keys, rest.scale),
        ] {
            if moves(keys, at_rest) {
                let times = self.times(keys.iter().map(|key| key.time));
                let values = times
                    .iter()
                    .flat_map(|time| vector(&ufbx::evaluate_baked_vec3(keys, self.begin + time)).to_array());
                let values = values.collect();
                add(property, 3, times, values);
            }
        }
        let keys = &node.rotation_keys;
        if keys.iter().any(|key| quaternion(&key.value) != rest.rotation) {
            let times = self.times(keys.iter().map(|key| key.time));
            let values = times.iter().flat_map(|time| {
                quaternion(&ufbx::evaluate_baked_quat(keys, self.begin + time)).normalize().to_array()
            });
            let values = values.collect();
            add(Property::Rotation, 4, times, values);
        }
    }

    /// Times of keys inside of the span, with both of its ends.
    fn times(&self, keys: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut times: Vec<f64> = keys.filter(|time| (self.begin..=self.end).contains(time)).collect();
        times.extend([self.begin, self.end]);
        times.sort_by(f64::total_cmp);
        times.dedup();
        times.iter().map(|time| time - self.begin).collect()
    }
}

/// How much of each blend shape shows, frame by frame.
fn blends(scene: &ufbx::Scene, anim: &ufbx::Anim, span: &Span, rate: f64, channels: &mut Vec<Channel>) {
    for node in scene.nodes.iter().filter(|node| node.visible) {
        let Some(mesh) = &node.mesh else { continue };
        let all: Vec<&ufbx::BlendChannel> = mesh
            .blend_deformers
            .iter()
            .flat_map(|deformer| deformer.channels.iter())
            .map(|channel| &**channel)
            .collect();
        let width: usize = all.iter().map(|channel| channel.keyframes.len()).sum();
        // A cache that was opened stands in for the shapes.
        let cached = mesh.cache_deformers.iter().any(|deformer| deformer.external_channel.is_some());
        if width == 0 || cached {
            continue;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MAX_KEYS")]
        let steps = ((span.end - span.begin) * rate).ceil() as usize;
        let times = (0..=steps).map(|step| (span.begin + step as f64 / rate).min(span.end));
        let times = span.times(times);
        let mut values = Vec::with_capacity(times.len() * width);
        for time in &times {
            for channel in &all {
                let weight = ufbx::evaluate_blend_weight(anim, channel, span.begin + time);
                values.extend(effective(channel, weight));
            }
        }
        if let Ok(track) = Track::new(times, values, width, Interpolation::Linear) {
            channels.push(Channel { node: node.element.typed_id, property: Property::Weights, track });
        }
    }
}

/// Weights of a channel's shapes: the two on both sides show, of which one may be no shape at 0; beyond the
/// last it goes on along the same line, as ufbx does.
fn effective(channel: &ufbx::BlendChannel, weight: f64) -> Vec<f64> {
    let mut weights = vec![0.0; channel.keyframes.len()];
    let shapes = channel.keyframes.iter().enumerate();
    let mut anchors: Vec<(f64, Option<usize>)> =
        shapes.map(|(shape, keyframe)| (keyframe.target_weight, Some(shape))).collect();
    anchors.push((0.0, None));
    anchors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let above = anchors.partition_point(|(target, _)| *target <= weight).clamp(1, anchors.len() - 1);
    let [(from, before), (to, after)] = [anchors[above - 1], anchors[above]];
    let part = if to > from { (weight - from) / (to - from) } else { 0.0 };
    for (shape, share) in [(before, 1.0 - part), (after, part)] {
        if let Some(shape) = shape {
            weights[shape] = share;
        }
    }
    weights
}

/// The shapes of a cache one after the other; nothing where its times are no numbers.
fn turns(cached: &Cached, begin: f64) -> Option<Channel> {
    let width = cached.seconds.len();
    let mut times: Vec<f64> = Vec::new();
    let mut values = Vec::new();
    for (shape, time) in cached.seconds.iter().enumerate() {
        let time = time - begin;
        // Times that do not ascend are left out.
        if times.last().is_none_or(|last| time > *last) {
            times.push(time);
            values.extend((0..width).map(|other| if other == shape { 1.0 } else { 0.0 }));
        }
    }
    let track = Track::new(times, values, width, Interpolation::Linear).ok()?;
    Some(Channel { node: cached.node, property: Property::Weights, track })
}
