//! One file per subcommand.

use std::io::{self, Write as _};

use serde::Serialize;

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

/// How much is said on stderr.
#[derive(Clone, Copy)]
pub(crate) struct Talk {
    pub(crate) quiet: bool,
}

impl Talk {
    /// A word for people, on stderr.
    pub(crate) fn say(self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
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
