//! Splices `#import` lines: each file once, in the order of first use. Nothing else is added to WGSL.

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../shaders/", $name, ".wgsl")))),*];
    };
}

embedded![
    "decode",
    "draw/ground",
    "draw/material",
    "draw/plane",
    "draw/shade",
    "draw/vat",
    "test/parity",
    "vat/encoding",
    "vat/grid",
    "vat/normals",
    "vat/playback",
    "vat/rotation",
    "vat/soft",
    "view",
];

/// Files with entry points.
pub const ENTRY_FILES: &[&str] = &["decode", "draw/ground", "draw/vat", "test/parity"];

/// WGSL of `shaders/<name>.wgsl` with its imports spliced in.
///
/// # Panics
/// If there is no such file: names are written in this crate only.
pub fn source(name: &str) -> String {
    let mut wgsl = String::new();
    splice(name, &mut Vec::new(), &mut wgsl);
    wgsl
}

fn splice<'a>(name: &'a str, seen: &mut Vec<&'a str>, wgsl: &mut String) {
    if seen.contains(&name) {
        return;
    }
    seen.push(name);
    let Some((_, text)) = FILES.iter().find(|(known, _)| *known == name) else {
        panic!("there is no shader {name}");
    };
    for line in text.lines() {
        match line.strip_prefix("#import ") {
            Some(import) => splice(import.trim(), seen, wgsl),
            None => {
                wgsl.push_str(line);
                wgsl.push('\n');
            }
        }
    }
}

/// The shader module of `shaders/<name>.wgsl`.
pub fn module(device: &wgpu::Device, name: &str) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(name),
        source: wgpu::ShaderSource::Wgsl(source(name).into()),
    })
}
