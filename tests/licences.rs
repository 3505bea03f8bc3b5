//! Every dependency's licence is on the list in `deny.toml`.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

/// The strings of `allow = [ … ]`.
fn allowed() -> BTreeSet<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("deny.toml")).unwrap();
    let list = text.split_once("allow = [").unwrap().1.split_once(']').unwrap().0;
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether an SPDX expression can be met: `OR` is a choice, `AND` a sum; the old `/` means `OR`.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = expression.split_whitespace().collect();
    let mut at = 0;
    let met = any(&words, &mut at, allowed);
    assert_eq!(at, words.len(), "cannot read the licence {expression:?}");
    met
}

fn any(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all(words, at, allowed);
    }
    met
}

fn all(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    if words[*at] == "(" {
        *at += 1;
        let met = any(words, at, allowed);
        *at += 1;
        return met;
    }
    let mut name = words[*at].to_owned();
    *at += 1;
    if words.get(*at) == Some(&"WITH") {
        name = format!("{name} WITH {}", words[*at + 1]);
        *at += 2;
    }
    allowed.contains(&name)
}

#[test]
fn expressions_are_read_as_spdx_means_them() {
    let allowed: BTreeSet<String> =
        ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(GPL-3.0 OR Zlib) AND MIT", true),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
        ("MIT AND (GPL-2.0 OR GPL-3.0)", false),
    ] {
        assert_eq!(is_met(expression, &allowed), met, "{expression}");
    }
}

#[test]
fn every_dependency_has_a_licence_on_the_list() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--all-features"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let allowed = allowed();
    assert!(allowed.contains("MIT") && allowed.len() > 5);
    // With a platform given, the graph holds only what is built there; the package list holds all.
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let built: BTreeSet<&str> = nodes.iter().map(|node| node["id"].as_str().unwrap()).collect();
    let packages = metadata["packages"].as_array().unwrap();
    let packages: Vec<_> = packages.iter().filter(|p| built.contains(p["id"].as_str().unwrap())).collect();
    assert!(packages.len() > 100, "{}", packages.len());
    let mut wrong = Vec::new();
    for package in &packages {
        let (name, licence) = (package["name"].as_str().unwrap(), package["license"].as_str());
        if !licence.is_some_and(|licence| is_met(licence, &allowed)) {
            wrong.push(format!("{name}: {licence:?}"));
        }
    }
    println!("{} dependencies", packages.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
