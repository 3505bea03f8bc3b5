use std::fmt::Write as _;

use serde::Serialize;
use throng::gpu;

use super::{SCHEMA_VERSION, print, print_json};
use crate::cli::Doctor;
use crate::failure::{Failure, install_hint};
use crate::window;

#[derive(Serialize)]
struct Printed {
    schema_version: u32,
    throng: &'static str,
    wgpu: &'static str,
    display: bool,
    adapters: Vec<Adapter>,
    problems: Vec<Problem>,
}

#[derive(Serialize)]
struct Adapter {
    name: String,
    backend: String,
    kind: String,
    driver: String,
    driver_info: String,
    /// The one that is used where nothing else is asked for.
    chosen: bool,
    usable: bool,
    limits: Limits,
    features: Vec<Feature>,
}

#[derive(Serialize)]
struct Limits {
    max_texture_dimension_2d: u32,
    max_buffer_size: u64,
    max_storage_buffer_binding_size: u64,
    largest_crowd: u64,
}

#[derive(Serialize)]
struct Feature {
    name: &'static str,
    present: bool,
    needed: bool,
    used_for: &'static str,
}

#[derive(Serialize)]
struct Problem {
    what: String,
    cure: String,
}

pub(crate) fn run(arguments: &Doctor) -> Result<(), Failure> {
    let found = pollster::block_on(adapters());
    let chosen = pollster::block_on(gpu::Gpu::headless()).map(|gpu| gpu.info);
    let adapters: Vec<Adapter> = found
        .iter()
        .map(|adapter| describe(adapter, chosen.as_ref().is_ok_and(|info| *info == adapter.get_info())))
        .collect();
    let mut problems = Vec::new();
    if let Err(error) = &chosen {
        problems.push(Problem { what: error.to_string(), cure: install_hint().to_owned() });
    }
    let display = window::has_display();
    if !display {
        problems.push(Problem {
            what: "no display: windows cannot be opened".to_owned(),
            cure: "`throng capture` draws without one; over ssh, set DISPLAY or use xvfb-run".to_owned(),
        });
    }
    let printed = Printed {
        schema_version: SCHEMA_VERSION,
        throng: env!("CARGO_PKG_VERSION"),
        wgpu: gpu::WGPU_VERSION,
        display,
        adapters,
        problems,
    };
    if arguments.json {
        print_json(&printed)?;
    } else {
        print(text(&printed).as_bytes())?;
    }
    chosen.map(|_| ()).map_err(Failure::from)
}

async fn adapters() -> Vec<wgpu::Adapter> {
    let asked = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    let instance = wgpu::Instance::new(gpu::descriptor(asked));
    let found = instance.enumerate_adapters(wgpu::Backends::all()).await;
    if !found.is_empty() {
        return found;
    }
    let everything = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    wgpu::Instance::new(everything).enumerate_adapters(wgpu::Backends::all()).await
}

fn describe(adapter: &wgpu::Adapter, chosen: bool) -> Adapter {
    let (info, limits, features) = (adapter.get_info(), adapter.limits(), adapter.features());
    let flags = adapter.get_downlevel_capabilities().flags;
    let vertex_storage = flags.contains(wgpu::DownlevelFlags::VERTEX_STORAGE);
    let color = adapter.get_texture_format_features(wgpu::TextureFormat::Rgba8UnormSrgb).flags;
    let optional = |name, feature, used_for| Feature {
        name,
        present: features.contains(feature),
        needed: false,
        used_for,
    };
    Adapter {
        name: info.name,
        backend: info.backend.to_string(),
        kind: format!("{:?}", info.device_type),
        driver: info.driver,
        driver_info: info.driver_info,
        chosen,
        usable: vertex_storage,
        limits: Limits {
            max_texture_dimension_2d: limits.max_texture_dimension_2d,
            max_buffer_size: limits.max_buffer_size,
            max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
            largest_crowd: (limits.max_buffer_size / size_of::<throng::crowd::Instance>() as u64)
                .min(u64::from(throng::scene::MAX_COUNT)),
        },
        features: vec![
            Feature {
                name: "vertex storage buffers",
                present: vertex_storage,
                needed: true,
                used_for: "clips of the crowd",
            },
            Feature {
                name: "4x multisampling",
                present: color.contains(wgpu::TextureFormatFeatureFlags::MULTISAMPLE_X4),
                needed: true,
                used_for: "smooth edges",
            },
            optional("timestamp queries", wgpu::Features::TIMESTAMP_QUERY, "GPU time in the panel"),
            optional(
                "float32 filtering",
                wgpu::Features::FLOAT32_FILTERABLE,
                "the sampler path of float32 assets",
            ),
            optional(
                "16-bit normalised formats",
                wgpu::Features::TEXTURE_FORMAT_16BIT_NORM,
                "the sampler path of unorm16 assets",
            ),
        ],
    }
}

/// Writing to a `String` cannot fail.
fn text(printed: &Printed) -> String {
    let mut text = format!("throng {}, wgpu {}\n", printed.throng, printed.wgpu);
    for adapter in &printed.adapters {
        let mark = if adapter.chosen { "  <- used" } else { "" };
        writeln!(text, "\n{} ({}, {}){mark}", adapter.name, adapter.backend, adapter.kind)
            .unwrap_or_default();
        writeln!(text, "  driver           {} {}", adapter.driver, adapter.driver_info).unwrap_or_default();
        let limits = &adapter.limits;
        writeln!(text, "  largest texture  {} × {0}", limits.max_texture_dimension_2d).unwrap_or_default();
        writeln!(
            text,
            "  largest buffer   {} bytes: crowds of {}",
            limits.max_buffer_size, limits.largest_crowd
        )
        .unwrap_or_default();
        for feature in &adapter.features {
            let state = match (feature.present, feature.needed) {
                (true, _) => "yes",
                (false, true) => "MISSING",
                (false, false) => "no",
            };
            writeln!(text, "  {:<26} {state:<8} {}", feature.name, feature.used_for).unwrap_or_default();
        }
    }
    for problem in &printed.problems {
        writeln!(text, "\nproblem: {}\n  {}", problem.what, problem.cure).unwrap_or_default();
    }
    if printed.problems.is_empty() {
        text.push_str("\nnothing is missing\n");
    }
    text
}
