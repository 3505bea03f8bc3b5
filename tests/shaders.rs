//! Every shader composes, validates and translates; layouts, constants and signatures are those of Rust.
#![cfg(feature = "render")]
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use naga::back::{self, PipelineConstants, pipeline_constants::process_overrides};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Module, TypeInner};
use throng::clip::LoopMode;
use throng::gpu::shader;
use throng::render::uniforms::LAYOUTS;
use throng::vat::{Encoding, FrameBlend, Mode, Normals, PositionSpace};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn module(name: &str) -> (Module, ModuleInfo) {
    let source = shader::source(name);
    let module =
        naga::front::wgsl::parse_str(&source).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&source)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(&source)));
    (module, info)
}

#[test]
fn layouts_are_those_of_rust() {
    let mut unseen: BTreeSet<_> = LAYOUTS.iter().map(|(name, ..)| *name).collect();
    for entry in shader::ENTRY_FILES {
        let (module, _) = module(entry);
        for (_, ty) in module.types.iter() {
            let (Some(name), TypeInner::Struct { members, span }) = (&ty.name, &ty.inner) else {
                continue;
            };
            let Some((_, size, fields)) = LAYOUTS.iter().find(|(known, ..)| known == name) else {
                continue;
            };
            let wgsl: Vec<_> =
                members.iter().map(|m| (m.name.as_deref().unwrap(), m.offset as usize)).collect();
            assert_eq!(&wgsl[..], *fields, "{entry}: {name}");
            assert_eq!(*span as usize, *size, "{entry}: {name}");
            unseen.remove(name.as_str());
        }
    }
    assert!(unseen.is_empty(), "no shader has {unseen:?}");
    assert!(LAYOUTS.len() >= 5);
}

#[test]
fn structs_in_buffers_are_all_in_the_table() {
    for entry in shader::ENTRY_FILES {
        let (module, _) = module(entry);
        for (_, variable) in module.global_variables.iter() {
            let mut ty = &module.types[variable.ty];
            if let TypeInner::Array { base, .. } = ty.inner {
                ty = &module.types[base];
            }
            let TypeInner::Struct { .. } = ty.inner else {
                continue;
            };
            let name = ty.name.as_deref().unwrap();
            assert!(
                LAYOUTS.iter().any(|(known, ..)| *known == name),
                "{entry}: {name} has no Rust twin in LAYOUTS"
            );
        }
    }
}

#[test]
fn entry_points_use_only_their_own_bindings() {
    let (module, info) = module("draw/vat");
    let mut used = BTreeMap::new();
    for (index, entry) in module.entry_points.iter().enumerate() {
        let names: BTreeSet<String> = module
            .global_variables
            .iter()
            .filter(|(handle, variable)| {
                variable.binding.is_some() && !info.get_entry_point(index)[*handle].is_empty()
            })
            .map(|(_, variable)| variable.name.clone().unwrap())
            .collect();
        used.insert(entry.name.as_str(), names);
    }
    println!("{used:#?}");
    let sampled = |name: &str| used[name].iter().any(|n| n.contains("sampler") && n.contains("position"));
    assert!(!sampled("vs_soft"), "texel fetches need no sampler");
    assert!(sampled("vs_soft_sampled"));
    for (name, bindings) in &used {
        if name.starts_with("fs_") {
            assert!(!bindings.iter().any(|n| n.contains("position")), "{name} reads positions");
        }
        if name.starts_with("vs_soft") {
            assert!(!bindings.iter().any(|n| n.contains("base_color")), "{name} reads colours");
        }
    }
}

fn constants_of(module: &Module) -> PipelineConstants {
    let mut constants = HashMap::new();
    for (_, entry) in module.overrides.iter() {
        if entry.init.is_none() {
            constants.insert(entry.name.clone().unwrap(), 0.0);
        }
    }
    constants.into_iter().collect()
}

#[test]
fn every_entry_point_translates_to_every_language() {
    let mut translated = 0;
    for name in shader::ENTRY_FILES {
        let (module, info) = module(name);
        assert!(!module.entry_points.is_empty(), "{name} has no entry point");
        for entry in &module.entry_points {
            let at = format!("{name}: {}", entry.name);
            let chosen = (entry.stage, entry.name.clone());
            let constants = constants_of(&module);
            let (module, info) =
                process_overrides(&module, &info, Some((entry.stage, &entry.name)), &constants)
                    .unwrap_or_else(|e| panic!("{at}: {e}"));

            let options = back::spv::Options::default();
            let pipeline =
                back::spv::PipelineOptions { shader_stage: chosen.0, entry_point: chosen.1.clone() };
            let words = back::spv::write_vec(&module, &info, &options, Some(&pipeline))
                .unwrap_or_else(|e| panic!("{at}: SPIR-V: {e}"));
            assert_eq!(words[0], 0x0723_0203, "{at}: SPIR-V magic");

            let mut hlsl = String::new();
            let options =
                back::hlsl::Options { shader_model: back::hlsl::ShaderModel::V6_0, ..Default::default() };
            let pipeline = back::hlsl::PipelineOptions { entry_point: Some(chosen.clone()) };
            back::hlsl::Writer::new(&mut hlsl, &options, &pipeline)
                .write(&module, &info, None)
                .unwrap_or_else(|e| panic!("{at}: HLSL: {e}"));
            assert!(hlsl.contains(&entry.name), "{at}: HLSL lost the entry point");

            let options = back::msl::Options {
                lang_version: (2, 1),
                fake_missing_bindings: true,
                ..Default::default()
            };
            let pipeline =
                back::msl::PipelineOptions { entry_point: Some(chosen.clone()), ..Default::default() };
            let (msl, _) = back::msl::write_string(&module, &info, &options, &pipeline)
                .unwrap_or_else(|e| panic!("{at}: MSL: {e}"));
            assert!(msl.contains(&entry.name), "{at}: MSL lost the entry point");

            // Storage buffers need 4.30; that is what desktop OpenGL has.
            let mut glsl = String::new();
            let options =
                back::glsl::Options { version: back::glsl::Version::Desktop(430), ..Default::default() };
            let pipeline = back::glsl::PipelineOptions {
                shader_stage: chosen.0,
                entry_point: chosen.1.clone(),
                multiview: None,
            };
            back::glsl::Writer::new(&mut glsl, &module, &info, &options, &pipeline, Default::default())
                .and_then(|mut writer| writer.write())
                .unwrap_or_else(|e| panic!("{at}: GLSL: {e}"));
            assert!(glsl.contains("void main()"), "{at}: GLSL has no main");
            translated += 1;
        }
    }
    println!("{translated} entry points in four languages");
    assert!(translated >= 5);
}

/// `(file stem, function, parameter names)` of every function at column 0; both languages write
/// `fn name(a: T, …)`.
fn signatures(folder: &str, extension: &str) -> BTreeSet<(String, String, Vec<String>)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(Path::new(ROOT).join(folder)).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|found| found != extension) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        // Tests have no twin.
        let text = text.split("#[cfg(test)]").next().unwrap();
        for item in text.split("\nfn ").skip(1).chain(text.split("\npub fn ").skip(1)) {
            let (name, rest) = item.split_once('(').unwrap();
            let parameters = rest.split_once(')').unwrap().0;
            let names =
                parameters.split(',').filter_map(|p| p.split_once(':')).map(|(n, _)| n.trim().to_owned());
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            found.insert((stem, name.to_owned(), names.collect()));
        }
    }
    found
}

#[test]
fn twins_have_equal_signatures() {
    let rust: BTreeSet<_> =
        signatures("src/vat", "rs").into_iter().filter(|(_, name, _)| !name.starts_with("encode_")).collect();
    let wgsl = signatures("shaders/vat", "wgsl");
    assert!(rust.len() > 15, "the sources were not found");
    let only_rust: Vec<_> = rust.difference(&wgsl).collect();
    let only_wgsl: Vec<_> = wgsl.difference(&rust).collect();
    assert!(
        only_rust.is_empty() && only_wgsl.is_empty(),
        "only in Rust: {only_rust:#?}\nonly in WGSL: {only_wgsl:#?}"
    );
}

/// Variants of an axis by WGSL name, `PREFIX_VARIANT`.
fn axis(prefix: &str, variants: impl IntoIterator<Item = (String, u32)>) -> BTreeMap<String, u32> {
    let name = |variant: String| format!("{prefix}_{}", variant.to_uppercase().replace('-', "_"));
    variants.into_iter().map(|(variant, number)| (name(variant), number)).collect()
}

#[test]
fn constants_are_those_of_rust() {
    let mut rust = BTreeMap::new();
    rust.append(&mut axis("ENCODING", Encoding::ALL.iter().map(|v| (v.to_string(), *v as u32))));
    rust.append(&mut axis("FRAME_BLEND", FrameBlend::ALL.iter().map(|v| (v.to_string(), *v as u32))));
    rust.append(&mut axis("POSITION_SPACE", PositionSpace::ALL.iter().map(|v| (v.to_string(), *v as u32))));
    rust.append(&mut axis("LOOP_MODE", LoopMode::ALL.iter().map(|v| (v.name().to_owned(), *v as u32))));
    rust.append(&mut axis("NORMALS", Normals::ALL.iter().map(|v| (format!("{v:?}"), *v as u32))));
    let mut wgsl = BTreeMap::new();
    for entry in fs::read_dir(Path::new(ROOT).join("shaders/vat")).unwrap().flatten() {
        for line in fs::read_to_string(entry.path()).unwrap().lines() {
            let Some((name, number)) =
                line.strip_prefix("const ").and_then(|rest| rest.split_once(": u32 = "))
            else {
                continue;
            };
            wgsl.insert(name.to_owned(), number.trim_end_matches("u;").parse::<u32>().unwrap());
        }
    }
    assert_eq!(wgsl, rust);
    assert_eq!(Mode::ALL.len(), 1, "a new mode needs an entry point here");
}

#[test]
fn embedded_shaders_are_the_files() {
    let mut pending = vec![Path::new(ROOT).join("shaders")];
    let mut seen = 0;
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
            continue;
        }
        let name = path.strip_prefix(Path::new(ROOT).join("shaders")).unwrap().with_extension("");
        let name = name.to_str().unwrap().replace('\\', "/");
        let composed = shader::source(&name);
        let last = fs::read_to_string(&path).unwrap().lines().last().unwrap().to_owned();
        assert!(composed.contains(&last), "{name} is not embedded");
        seen += 1;
    }
    assert!(seen >= 8);
}
