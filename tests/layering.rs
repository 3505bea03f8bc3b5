//! Modules name only the modules below them.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

/// Module, and what it may name. A new edge is a decision: add it here and to ARCHITECTURE.md.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("bounds", &[]),
    ("clip", &[]),
    ("material", &[]),
    ("mesh", &[]),
    ("output", &[]),
    ("random", &[]),
    ("skeleton", &["mesh"]),
    ("vat", &["bounds", "clip"]),
    ("asset", &["bounds", "clip", "material", "mesh", "output", "skeleton", "vat"]),
    ("source", &["bounds", "clip", "material", "mesh", "random", "skeleton"]),
    ("import", &["asset", "bounds", "clip", "material", "mesh", "skeleton", "source", "vat"]),
    ("bake", &["asset", "bounds", "clip", "material", "mesh", "source", "vat"]),
    ("crowd", &["clip", "random", "vat"]),
    ("gpu", &["vat"]),
    ("render", &["asset", "bounds", "clip", "crowd", "gpu", "material", "mesh", "vat"]),
    ("scene", &["asset", "bounds", "crowd", "gpu", "render"]),
    ("capture", &["asset", "bounds", "gpu", "output", "render", "scene"]),
];

fn rust_files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_file() {
        found.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).unwrap().flatten() {
        rust_files(&entry.path(), found);
    }
}

/// The modules that a file of `module` names, `crate::NAME` in the library's own words.
fn named_modules(text: &str) -> impl Iterator<Item = &str> {
    text.split("crate::")
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap())
        .filter(|name| !name.is_empty())
}

#[test]
fn modules_name_only_the_modules_below_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for entry in fs::read_dir(&src).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        if module == "lib" || module == "app" {
            continue;
        }
        let Some((_, allowed)) = MAY_NAME.iter().find(|(known, _)| *known == module) else {
            panic!("src/{name} is not in the table");
        };
        let mut files = Vec::new();
        rust_files(&entry.path(), &mut files);
        for file in files {
            seen += 1;
            let text = fs::read_to_string(&file).unwrap();
            for used in named_modules(&text) {
                if used != module && !allowed.contains(&used) {
                    wrong.push(format!("{}: {module} must not name {used}", file.display()));
                }
            }
        }
    }
    assert!(seen > 10, "the sources were not found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn imports_of_several_modules_at_once_are_not_used() {
    // `use crate::{a, b}` would hide from the test above what it names.
    let mut files = Vec::new();
    rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("crate::{"), "{}: name one module per `use`", file.display());
    }
}

#[test]
fn files_stay_under_the_line_limit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["src", "tests", "benches", "examples", "shaders"] {
        let mut files = Vec::new();
        if root.join(folder).exists() {
            rust_files(&root.join(folder), &mut files);
        }
        for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "rs" || e == "wgsl")) {
            let lines = fs::read_to_string(file).unwrap().lines().count();
            assert!(lines <= 600, "{}: {lines} lines", file.display());
        }
    }
}
