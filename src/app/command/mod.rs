//! One file per subcommand.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde::Serialize;
use throng::asset::glb;
use throng::output;

use crate::failure::Failure;

pub(crate) mod bake;
pub(crate) mod capture;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod sample;
pub(crate) mod view;

/// Version of every JSON document that the program prints.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// A line on stderr; that nobody reads it is no reason to stop.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// How much is said on stderr.
#[derive(Clone, Copy)]
pub(crate) struct Talk {
    pub(crate) quiet: bool,
}

impl Talk {
    /// A word for people, on stderr.
    pub(crate) fn say(self, text: &str) {
        if !self.quiet {
            complain(text);
        }
    }

    /// What an asset's importer concluded, and what was wrong.
    pub(crate) fn remarks(self, asset: &throng::asset::Asset) {
        for assumption in &asset.assumptions {
            self.say(&format!("assumed: {assumption}"));
        }
        for warning in &asset.warnings {
            self.say(&format!("warning: {warning}"));
        }
    }
}

/// Refuses an output for an asset before the work is done: one that exists, unless `overwrite`; one that is
/// not called like a glTF binary; and one that is somebody else's file, such as the input's own mesh.
pub(crate) fn check_asset_output(path: &Path, overwrite: bool) -> Result<(), Failure> {
    if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("glb")) {
        let text = format!("an asset is a glTF binary: name it .vat.glb, not {}", path.display());
        return Err(Failure::Usage(text));
    }
    output::check(path, overwrite)?;
    if path.is_file() {
        let mut head = Vec::new();
        let opened = File::open(path).map(|file| file.take(256));
        let read = opened.and_then(|mut file| file.read_to_end(&mut head));
        // An empty file is nobody's.
        if read.is_ok() && !head.is_empty() && !glb::sniff(&head) {
            return Err(Failure::NotOurs { path: path.to_owned() });
        }
    }
    Ok(())
}

/// Prints the result on stdout.
pub(crate) fn print(text: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text).and_then(|()| stdout.flush()).map_err(Failure::Stdout)
}

/// Prints one JSON document on stdout.
pub(crate) fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_vec_pretty(document).unwrap_or_default();
    text.push(b'\n');
    print(&text)
}
