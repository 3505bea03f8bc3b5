use std::io;
use std::path::PathBuf;

use crate::asset::Invalid;
use crate::vat::grid::DoesNotFit;

/// Why files of another producer cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be read.
    #[error("cannot read: {source}: {}", path.display())]
    Read {
        /// The cause.
        source: io::Error,
        /// The file.
        path: PathBuf,
    },
    /// No importer knows these files.
    #[error("found no files of a known producer ({known}): {}", path.display())]
    Unknown {
        /// The producers that are known.
        known: String,
        /// Where was looked.
        path: PathBuf,
    },
    /// A file that belongs to the export is not there.
    #[error("the export has no {what}: {}", path.display())]
    Missing {
        /// What is missing.
        what: &'static str,
        /// The folder.
        path: PathBuf,
    },
    /// Several files could be meant.
    #[error("the export has more than one {what} ({found}): {}", path.display())]
    Ambiguous {
        /// What there is too much of.
        what: &'static str,
        /// The files' names.
        found: String,
        /// The folder.
        path: PathBuf,
    },
    /// More than the limits allow; refused before memory is taken.
    #[error("{what}: found {found}, expected at most {limit}: {}", path.display())]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large.
        found: u64,
        /// The limit.
        limit: u64,
        /// The file.
        path: PathBuf,
    },
    /// A reference that is not followed: only files inside the asset's folder are opened.
    #[error("refused to open {uri:?}: {reason}: {}", path.display())]
    Uri {
        /// The reference.
        uri: String,
        /// Why.
        reason: &'static str,
        /// The file that refers.
        path: PathBuf,
    },
    /// JSON that even the tolerant reader cannot make out.
    #[error("{source}: {}", path.display())]
    Json {
        /// What was found, with line and column.
        source: serde_json::Error,
        /// The file.
        path: PathBuf,
    },
    /// An extension without which the file means something else.
    #[error("needs the glTF extension {extension}, which is not read: {}", path.display())]
    Extension {
        /// Its name.
        extension: String,
        /// The file.
        path: PathBuf,
    },
    /// A value that the format does not allow.
    #[error("{pointer}: found {found}, expected {expected}: {}", path.display())]
    Value {
        /// JSON pointer, or the name of the part.
        pointer: String,
        /// What was found.
        found: String,
        /// What is allowed.
        expected: String,
        /// The file.
        path: PathBuf,
    },
    /// A glTF or FBX file that its reader refuses.
    #[error("cannot read the mesh: {message}: {}", path.display())]
    Mesh {
        /// The reader's words.
        message: String,
        /// The file.
        path: PathBuf,
    },
    /// A picture that its decoder refuses.
    #[error("cannot read the picture: {message}: {}", path.display())]
    Picture {
        /// The decoder's words.
        message: String,
        /// The file.
        path: PathBuf,
    },
    /// A picture whose size does not go with the frames and vertices.
    #[error("the picture is {width}×{height}, {expected}: {}", path.display())]
    PictureSize {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
        /// What would fit.
        expected: String,
        /// The file.
        path: PathBuf,
    },
    /// A texel in use that is NaN or infinite.
    #[error("texel ({column}, {row}) is not finite: {}", path.display())]
    NotFinite {
        /// Column of the texel.
        column: u32,
        /// Row of the texel.
        row: u32,
        /// The file.
        path: PathBuf,
    },
    /// No texture coordinates that point at texels.
    #[error("the mesh has no texture coordinates that point at texel centres ({found}): {}", path.display())]
    NoLookup {
        /// What each set does instead.
        found: String,
        /// The file.
        path: PathBuf,
    },
    /// The texels do not fit a texture.
    #[error(transparent)]
    DoesNotFit(#[from] DoesNotFit),
    /// All parts can be read, but do not fit together.
    #[error("{source}: {}", path.display())]
    Invalid {
        /// Which part.
        source: Invalid,
        /// The folder.
        path: PathBuf,
    },
}

impl Error {
    /// What to do about it, where something general can be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoLookup { .. } => Some(
                "export the mesh with all its UV maps; after a resize or re-import of the picture, export both again"
                    .to_owned(),
            ),
            Self::PictureSize { .. } => {
                Some("export without resizing, mipmaps or compression, and keep the files of one export together".to_owned())
            }
            Self::Extension { extension, .. } if extension == "KHR_draco_mesh_compression" => Some(
                "write it without Draco compression: `gltf-transform copy in.glb out.glb`, or export again with compression off"
                    .to_owned(),
            ),
            Self::Extension { .. } => Some("export again without this extension".to_owned()),
            Self::Ambiguous { .. } => Some("give each export its own folder".to_owned()),
            _ => None,
        }
    }
}
