//! The panel: what can be changed while the crowd runs, and what it costs.

use egui::{Slider, Ui};
use throng::crowd::{Crowd, Layout};
use throng::render::{Fetch, Settings, Shading, Stats};
use throng::vat::FrameBlend;

/// What the panel changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Controls {
    /// The scene's first crowd.
    pub(crate) crowd: Crowd,
    /// The largest crowd that the device has room for.
    pub(crate) max_count: u32,
    /// Most levels of detail below the full mesh of any asset.
    pub(crate) lod_count: u32,
    pub(crate) settings: Settings,
    pub(crate) playing: bool,
    /// Rate of the clock.
    pub(crate) speed: f64,
}

/// What the panel shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Readings {
    pub(crate) frames_per_second: f64,
    /// CPU time to build and submit a frame, milliseconds.
    pub(crate) cpu_milliseconds: f64,
    /// GPU time of the crowd's pass, milliseconds; none where the device has no timestamps.
    pub(crate) gpu_milliseconds: Option<f64>,
    pub(crate) time_seconds: f64,
    pub(crate) stats: Stats,
    pub(crate) adapter: String,
    /// The adapter is a CPU.
    pub(crate) software: bool,
    /// The last thing that did not work.
    pub(crate) trouble: Option<String>,
}

/// What was asked for by a button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    pub(crate) frame_all: bool,
    /// Animation frames forwards.
    pub(crate) step: i32,
}

/// Draws the panel into `ui`.
pub(crate) fn show(ui: &mut Ui, controls: &mut Controls, readings: &Readings) -> Wishes {
    let mut wishes = Wishes::default();
    egui::ScrollArea::vertical().show(ui, |ui| {
        ui.spacing_mut().slider_width = 150.0;
        ui.heading("Crowd");
        crowd(ui, controls);
        ui.separator();
        ui.heading("Animation");
        animation(ui, controls, &mut wishes);
        ui.separator();
        ui.heading("View");
        view(ui, controls, &mut wishes);
        ui.separator();
        ui.heading("Statistics");
        statistics(ui, readings);
        if let Some(trouble) = &readings.trouble {
            ui.separator();
            ui.colored_label(ui.visuals().error_fg_color, trouble);
        }
    });
    wishes
}

fn crowd(ui: &mut Ui, controls: &mut Controls) {
    let count = Slider::new(&mut controls.crowd.count, 1..=controls.max_count).logarithmic(true).text("size");
    ui.add(count).on_hover_text("Characters, all drawn by one instanced draw per mesh primitive");
    choice(ui, "layout", &mut controls.crowd.layout, &Layout::ALL, Layout::name);
    ui.add(
        Slider::new(&mut controls.crowd.spacing, 0.1..=20.0).logarithmic(true).suffix(" m").text("spacing"),
    );
}

fn animation(ui: &mut Ui, controls: &mut Controls, wishes: &mut Wishes) {
    choice(ui, "frame blend", &mut controls.settings.frame_blend, FrameBlend::ALL, FrameBlend::name);
    ui.add(Slider::new(&mut controls.speed, -2.0..=4.0).text("speed")).on_hover_text("Rate of the clock");
    ui.checkbox(&mut controls.settings.instance_offsets, "per-instance offset")
        .on_hover_text("Off: all play in step");
    ui.horizontal(|ui| {
        if ui.button(if controls.playing { "Pause" } else { "Play" }).on_hover_text("Space").clicked() {
            controls.playing = !controls.playing;
        }
        if ui.button("<").on_hover_text("One frame back: ,").clicked() {
            wishes.step -= 1;
        }
        if ui.button(">").on_hover_text("One frame on: .").clicked() {
            wishes.step += 1;
        }
    });
}

fn view(ui: &mut Ui, controls: &mut Controls, wishes: &mut Wishes) {
    let settings = &mut controls.settings;
    choice(
        ui,
        "normals",
        &mut settings.shading,
        &[Shading::Stored, Shading::Rest, Shading::Flat],
        |shading| match shading {
            Shading::Stored => "stored",
            Shading::Rest => "rest",
            Shading::Flat => "flat",
        },
    );
    choice(ui, "texels", &mut settings.fetch, &[Fetch::Texel, Fetch::Sampler], |fetch| match fetch {
        Fetch::Texel => "by address",
        Fetch::Sampler => "by sampler",
    });
    ui.checkbox(&mut settings.shadows, "shadows");
    if controls.lod_count > 0 {
        ui.add(Slider::new(&mut settings.lod, 0..=controls.lod_count).text("level of detail"));
    }
    if ui.button("Frame all").on_hover_text("F").clicked() {
        wishes.frame_all = true;
    }
    ui.small("drag: orbit   Shift or middle drag: pan   wheel: zoom\nright drag and W A S D Q E: fly");
}

fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    label: &str,
    value: &mut T,
    all: &[T],
    name: fn(T) -> &'static str,
) {
    egui::ComboBox::from_label(label).selected_text(name(*value)).show_ui(ui, |ui| {
        for one in all {
            ui.selectable_value(value, *one, name(*one));
        }
    });
}

fn statistics(ui: &mut Ui, readings: &Readings) {
    let stats = &readings.stats;
    let gpu = match readings.gpu_milliseconds {
        None => "not available".to_owned(),
        Some(milliseconds) if readings.software => format!("{milliseconds:.2} ms (a CPU draws)"),
        Some(milliseconds) => format!("{milliseconds:.2} ms"),
    };
    let rows = [
        ("frames per second", format!("{:.1}", readings.frames_per_second)),
        ("CPU, build a frame", format!("{:.3} ms", readings.cpu_milliseconds)),
        ("GPU, draw it", gpu),
        ("characters", grouped(stats.instances)),
        ("vertices", grouped(stats.vertices)),
        ("triangles", grouped(stats.triangles)),
        ("draw calls", stats.draws.to_string()),
        ("asset", format!("{} bytes", grouped(stats.asset_bytes))),
        ("instances", format!("{} bytes", grouped(stats.instance_bytes))),
        ("written per frame", format!("{} bytes", grouped(stats.written_bytes))),
        ("time", format!("{:.2} s", readings.time_seconds)),
        ("adapter", readings.adapter.clone()),
    ];
    egui::Grid::new("statistics").num_columns(2).striped(true).show(ui, |ui| {
        for (label, value) in rows {
            ui.label(label);
            ui.label(value);
            ui.end_row();
        }
    });
}

/// 1234567 → 1 234 567, with narrow spaces.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;

    fn controls() -> Controls {
        Controls {
            lod_count: 0,
            crowd: Crowd { count: 100, ..Crowd::default() },
            max_count: 1_000_000,
            settings: Settings::default(),
            playing: true,
            speed: 1.0,
        }
    }

    type State = (Controls, Readings, Wishes);

    fn harness(readings: Readings) -> Harness<'static, State> {
        let state = (controls(), readings, Wishes::default());
        let mut harness = Harness::builder().with_size(egui::vec2(320.0, 900.0)).build_ui_state(
            |ui, (controls, readings, wishes): &mut State| {
                let new = show(ui, controls, readings);
                wishes.frame_all |= new.frame_all;
                wishes.step += new.step;
            },
            state,
        );
        harness.run();
        harness
    }

    #[test]
    fn buttons_and_boxes_do_what_they_say() {
        let mut harness = harness(Readings::default());
        for label in ["Pause", ">", ">", "<", "Frame all", "per-instance offset", "shadows"] {
            harness.get_by_label(label).click();
            harness.run();
        }
        let (controls, _, wishes) = harness.state();
        assert!(!controls.playing && !controls.settings.instance_offsets && !controls.settings.shadows);
        assert_eq!(*wishes, Wishes { frame_all: true, step: 1 });
        harness.get_by_label("Play");
    }

    #[test]
    fn frame_blend_is_chosen_from_the_list() {
        let mut harness = harness(Readings::default());
        harness.get_by_label("frame blend").click();
        harness.run();
        harness.get_by_label("catmull-rom").click();
        harness.run();
        assert_eq!(harness.state().0.settings.frame_blend, FrameBlend::CatmullRom);
    }

    #[test]
    fn numbers_and_trouble_are_shown() {
        let readings = Readings {
            stats: Stats { instances: 1_234_567, ..Stats::default() },
            trouble: Some("no room for 1000000".to_owned()),
            ..Readings::default()
        };
        let harness = harness(readings);
        harness.get_by_label("1\u{2009}234\u{2009}567");
        harness.get_by_label("no room for 1000000");
        harness.get_by_label("not available");
    }
}
