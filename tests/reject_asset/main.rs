//! Bad asset files: each fault has its own error, and none costs memory or a panic.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test may panic")]

mod container;
mod document;
mod sweep;
mod texels;
#[path = "../vat_glb/mod.rs"]
mod vat_glb;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::path::Path;

use bytes::Bytes;
use throng::asset::{Asset, Compression, Error, Ktx2Error, glb};
use vat_glb::{Chunks, Shape};

const FILE: &str = "bad.vat.glb";
const EXTENSION: &str = "/extensions/THRONG_vertex_animation";

/// Counts what each thread asks for.
struct Counting;

thread_local! {
    static ASKED_FOR: Cell<usize> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator is unsafe by its nature")]
// SAFETY: passes everything to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED_FOR.set(ASKED_FOR.get().saturating_add(layout.size()));
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Decodes, and holds every outcome to the same rules: little memory, a message that ends with the
/// file, and an asset that can be drawn and written.
fn decode(file: impl Into<Bytes>) -> Result<Asset, Error> {
    let file = file.into();
    ASKED_FOR.set(0);
    let result = glb::decode(&file, Path::new(FILE));
    let asked_for = ASKED_FOR.get();
    let allowed = (1 << 20) + 8 * file.len();
    assert!(asked_for < allowed, "{} bytes made it ask for {asked_for}", file.len());
    match &result {
        Err(error) => {
            let message = error.to_string();
            assert!(message.ends_with(FILE), "{message}");
            assert!(message.len() < 600, "{message}");
        }
        Ok(asset) => {
            asset.measure_clip_bounds();
            let again = Bytes::from(glb::encode(asset, Compression::None));
            assert_eq!(glb::decode(&again, Path::new(FILE)).unwrap(), *asset);
        }
    }
    result
}

fn error(file: impl Into<Bytes>) -> Error {
    decode(file).expect_err("this file is bad")
}

fn good() -> Chunks {
    Chunks::of(&Shape::default().asset(), Compression::None)
}

fn good_zstd() -> Chunks {
    Chunks::of(&Shape::default().asset(), Compression::Zstd)
}

#[track_caller]
fn refused_at(chunks: &Chunks, expected: &str) {
    match error(chunks.file()) {
        Error::Value { pointer, .. } => assert_eq!(pointer, expected),
        other => panic!("{other}"),
    }
}

#[track_caller]
fn field_of_texels(chunks: &Chunks, expected: &str) {
    match error(chunks.file()) {
        Error::Texels { source: Ktx2Error::Field { what, .. }, .. } => assert_eq!(what, expected),
        other => panic!("{other}"),
    }
}

/// Writes numbers over a KTX2 header.
fn patch(mut chunks: Chunks, at: usize, bytes: &[u8]) -> Chunks {
    let start = chunks.ktx2("positions").start + at;
    chunks.binary[start..start + bytes.len()].copy_from_slice(bytes);
    chunks
}

fn patch_words(chunks: Chunks, at: usize, words: &[u32]) -> Chunks {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    patch(chunks, at, &bytes)
}

#[test]
fn what_is_no_file_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.vat.glb");
    let result = glb::read(&missing);
    assert!(matches!(&result, Err(Error::Read { path, .. }) if *path == missing), "{result:?}");
    assert!(matches!(glb::read(folder.path()), Err(Error::Read { .. })));
    let empty = folder.path().join("empty.vat.glb");
    fs::write(&empty, b"").unwrap();
    assert!(matches!(glb::read(&empty), Err(Error::NotGlb { .. })));
}

#[cfg(unix)]
#[test]
fn a_pipe_does_not_hang() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.vat.glb");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mkfifo");
        return;
    }
    assert!(matches!(glb::read(&pipe), Err(Error::Read { .. })));
}

#[test]
fn a_refused_output_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vat.glb");
    let asset = Shape::default().asset();
    fs::write(&path, b"old").unwrap();
    let result = glb::write(&asset, &path, Compression::None, false);
    assert!(matches!(result, Err(Error::Output(throng::output::Error::Exists { .. }))), "{result:?}");
    // More JSON than a reader takes: nothing unreadable is written.
    let mut parts = Shape::default().parts();
    parts.warnings = vec!["x".repeat(33 << 20)];
    let result = glb::write(&Asset::new(parts).unwrap(), &path, Compression::None, true);
    assert!(matches!(result, Err(Error::Length { what: "JSON chunk", .. })), "{result:?}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
