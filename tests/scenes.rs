//! Scene files: the schema and the reader agree, and bad files are refused with what and where.
#![cfg(feature = "render")]
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};
use throng::bounds::Bounds;
use throng::scene::{Error, Scene};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes")
}

fn schema() -> (Schemas, SchemaIndex) {
    let mut schemas = Schemas::new();
    let text = fs::read_to_string(folder().join("scene.schema.json")).unwrap();
    let mut compiler = Compiler::new();
    compiler.add_resource("scene", serde_json::from_str(&text).unwrap()).unwrap();
    let index = compiler.compile("scene", &mut schemas).unwrap();
    (schemas, index)
}

fn scene_files() -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder()).unwrap().flatten().map(|entry| entry.path()).collect();
    files
        .retain(|path| path.extension().is_some_and(|e| e == "json") && !path.ends_with("scene.schema.json"));
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    files
}

#[test]
fn every_scene_follows_the_schema_and_reads_back_the_same() {
    let (schemas, index) = schema();
    for path in scene_files() {
        let value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        schemas.validate(&value, index).unwrap_or_else(|e| panic!("{}: {e:#}", path.display()));
        let scene = Scene::read(&path).unwrap();
        let written = serde_json::to_value(&scene).unwrap();
        schemas.validate(&written, index).unwrap_or_else(|e| panic!("{}: written: {e:#}", path.display()));
        assert_eq!(Scene::parse(written.to_string().as_bytes(), &path).unwrap(), scene);
    }
}

#[test]
fn scene_of_an_asset_follows_the_schema() {
    let (schemas, index) = schema();
    let bounds = Bounds { min: glam::Vec3::splat(-0.5), max: glam::Vec3::new(0.5, 1.8, 0.5) };
    let value = serde_json::to_value(Scene::of_asset("builtin:flag", bounds, 100)).unwrap();
    schemas.validate(&value, index).unwrap_or_else(|e| panic!("{e:#}"));
}

/// Wrong scenes: where the fault is. The schema must refuse what the reader refuses.
#[test]
fn wrong_values_are_refused_by_reader_and_schema() {
    let (schemas, index) = schema();
    let good = || json!({"schema_version": 1, "crowds": [{"asset": "builtin:flag", "crowd": {"count": 2}}]});
    let mut checked = 0;
    for (pointer, wrong) in [
        ("/schema_version", json!(2)),
        ("/size", json!([0, 10])),
        ("/size", json!([20000, 10])),
        ("/crowds/0/crowd/count", json!(10_000_001)),
        ("/crowds/0/crowd/spacing", json!(0)),
        ("/crowds/0/crowd/spacing", json!(-1.0)),
        ("/crowds/0/crowd/scale", json!(0)),
        ("/crowds/0/crowd/speed", json!(200)),
        ("/camera/fov_y_degrees", json!(180)),
        ("/camera/near", json!(0)),
        ("/ground/line_metres", json!(0)),
    ] {
        let mut value = good();
        let mut at = &mut value;
        for part in pointer[1..].split('/') {
            at = match part.parse::<usize>() {
                Ok(index) => &mut at[index],
                Err(_) => &mut at[part],
            };
        }
        *at = wrong.clone();
        assert!(schemas.validate(&value, index).is_err(), "the schema takes {pointer} = {wrong}");
        match Scene::parse(value.to_string().as_bytes(), Path::new("wrong.json")) {
            Err(Error::Value { pointer: found, .. }) => assert_eq!(found, pointer),
            other => panic!("{pointer} = {wrong}: {other:?}"),
        }
        checked += 1;
    }
    assert_eq!(checked, 11);
    schemas.validate(&good(), index).unwrap_or_else(|e| panic!("{e:#}"));
}

#[test]
fn misspelt_fields_and_broken_text_are_refused() {
    for text in [
        r#"{"schema_version": 1, "crowds": [], "sice": [1, 2]}"#,
        r#"{"schema_version": 1, "crowds": [{"asset": "a", "crowd": {"cuont": 1}}]}"#,
        r#"{"schema_version": 1, "crowds": [{"asset": "a", "crowd": {"tints": ["red"]}}]}"#,
        r#"{"schema_version": 1, "crowds": [{"asset": "a", "crowd": {"layout": "spiral"}}]}"#,
        r#"{"schema_version": 1, "crowds": ["#,
        "",
        "\u{feff}",
        r#"{"schema_version": 1, "crowds": [], "time_seconds": 1e400}"#,
    ] {
        let found = Scene::parse(text.as_bytes(), Path::new("wrong.json"));
        assert!(matches!(found, Err(Error::Json { .. })), "{text}: {found:?}");
    }
    assert!(matches!(Scene::read(Path::new("no-such-scene.json")), Err(Error::Read { .. })));
}
