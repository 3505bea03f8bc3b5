use std::io;
use std::path::PathBuf;

use super::{Invalid, ktx2};
use crate::output;

/// Why a `.vat.glb` file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or mapped.
    #[error("cannot read the asset: {source}: {}", path.display())]
    Read {
        /// The cause.
        source: io::Error,
        /// The file.
        path: PathBuf,
    },
    /// The file does not begin as a binary glTF does.
    #[error("found {found}, expected a binary glTF file (magic \"glTF\"): {}", path.display())]
    NotGlb {
        /// What the file begins with.
        found: String,
        /// The file.
        path: PathBuf,
    },
    /// A version of the container, of glTF or of the extension that this reader does not know.
    #[error("{what} is version {found}, this reader knows version {known}: {}", path.display())]
    Version {
        /// What has the version.
        what: &'static str,
        /// The version found.
        found: String,
        /// The version that is read.
        known: u32,
        /// The file.
        path: PathBuf,
    },
    /// A length in the container that points past the end of the file.
    #[error("{what}: found {found} bytes, expected {expected}: {}", path.display())]
    Length {
        /// What has the length.
        what: &'static str,
        /// Bytes that are there, or said to be.
        found: u64,
        /// Bytes that would fit.
        expected: u64,
        /// The file.
        path: PathBuf,
    },
    /// The JSON chunk is not JSON, or lacks what the format needs.
    #[error("{source}: {}", path.display())]
    Json {
        /// What was found, with line and column of the JSON chunk.
        source: serde_json::Error,
        /// The file.
        path: PathBuf,
    },
    /// A binary glTF file, but not an asset of this program.
    #[error("found a glTF file without the extension THRONG_vertex_animation: {}", path.display())]
    NoExtension {
        /// The file.
        path: PathBuf,
    },
    /// A value that the format does not allow.
    #[error("{pointer}: found {found}, expected {expected}: {}", path.display())]
    Value {
        /// JSON pointer into the JSON chunk.
        pointer: String,
        /// What was found.
        found: String,
        /// What the format allows.
        expected: String,
        /// The file.
        path: PathBuf,
    },
    /// A texel blob is not the KTX2 image that the asset needs.
    #[error("{pointer}: {source}: {}", path.display())]
    Texels {
        /// JSON pointer of the blob's description.
        pointer: &'static str,
        /// What is wrong with it.
        source: ktx2::Error,
        /// The file.
        path: PathBuf,
    },
    /// All parts can be read, but do not fit together.
    #[error("{source}: {}", path.display())]
    Invalid {
        /// Which part, what was found and what was expected.
        source: Invalid,
        /// The file.
        path: PathBuf,
    },
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] output::Error),
}
