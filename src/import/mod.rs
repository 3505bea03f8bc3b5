//! Files made by others → assets.
//!
//! Each producer is one row of [`IMPORTERS`]. What an importer concluded where the file did not say is in
//! the asset's `assumptions`; what was wrong but could be used is in its `warnings`.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::asset::Asset;

mod error;
mod fbx;
mod gltf;
mod image;
mod mesh;
mod openvat;
mod picture;
mod points;
mod resolve;

pub use error::Error;
pub use points::{PointOptions, is_points, points};

/// What an importer may be told, and how much it may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Which frame the exported mesh is stored at.
    pub mesh_frame: MeshFrame,
    /// Frames per second where the files do not say.
    pub fps: Option<f64>,
    /// What stands in for normals that the files do not have.
    pub missing_normals: MissingNormals,
    /// Largest side of a texture, texels.
    pub max_texture_size: u32,
    /// How much is taken before a file is refused.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mesh_frame: MeshFrame::Auto,
            fps: None,
            missing_normals: MissingNormals::Computed,
            max_texture_size: 8192,
            limits: Limits::default(),
        }
    }
}

/// Which frame an exported mesh is stored at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeshFrame {
    /// Found by comparing normals; said in the assumptions.
    #[default]
    Auto,
    /// The mesh is the rest pose that the texels are measured from.
    Basis,
    /// The mesh is the rest pose plus the offsets of this frame.
    Frame(u32),
}

impl std::str::FromStr for MeshFrame {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "basis" => Ok(Self::Basis),
            number => number
                .parse()
                .map(Self::Frame)
                .map_err(|_| "expected auto, basis or a frame number".to_owned()),
        }
    }
}

/// What stands in for normals that the files do not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingNormals {
    /// Vertex normals of the decoded triangles, for every frame.
    #[default]
    Computed,
    /// The rest pose's, which do not follow the motion.
    Rest,
    /// Face normals, made when drawing.
    Flat,
}

/// How much is taken before a file is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of a point cache, which is mapped.
    pub cache_bytes: u64,
    /// Pixels of one image.
    pub image_pixels: u64,
    /// Vertices of a mesh.
    pub vertices: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cache_bytes: 1 << 40,
            file_bytes: 2 << 30, // Positions and normals of as many texels as the largest texture has.
            image_pixels: 1 << 27,
            vertices: 1 << 24,
        }
    }
}

/// A producer whose files are understood.
pub struct Importer {
    /// Name for people.
    pub name: &'static str,
    /// Whether the files at a path are of this producer.
    pub sniff: fn(&Path) -> bool,
    /// Reads them.
    pub load: fn(&Path, &Options) -> Result<Asset, Error>,
}

/// Every producer, in the order in which they are asked.
pub const IMPORTERS: &[Importer] =
    &[Importer { name: "OpenVAT", sniff: openvat::sniff, load: openvat::load }];

/// Whether some importer understands the files at `path`.
pub fn finds(path: &Path) -> bool {
    IMPORTERS.iter().any(|importer| (importer.sniff)(path))
}

/// Reads the asset at `path`: a folder, or a file in it.
///
/// # Errors
/// [`Error`] names what was found, what was expected and the file.
pub fn load(path: &Path, options: &Options) -> Result<Asset, Error> {
    if let Err(source) = path.metadata() {
        return Err(Error::Read { source, path: path.to_owned() });
    }
    match IMPORTERS.iter().find(|importer| (importer.sniff)(path)) {
        Some(importer) => (importer.load)(path, options),
        None => Err(Error::Unknown {
            known: IMPORTERS.iter().map(|importer| importer.name).collect::<Vec<_>>().join(", "),
            path: path.to_owned(),
        }),
    }
}

/// Whether `path` is named like a model that [`model`] reads.
pub fn is_model(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
    path.is_file()
        && extension.is_some_and(|extension| extension == "glb" || extension == "gltf" || extension == "fbx")
}

/// Reads an animated model that was not baked: a glTF, GLB or FBX file.
///
/// # Errors
/// [`Error`] names what was found, what was expected and the file.
pub fn model(path: &Path, options: &Options) -> Result<crate::source::Model, Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let bytes = resolve::file(folder, path, &options.limits)?;
    let fbx = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fbx"));
    let read = if fbx { fbx::model } else { gltf::model };
    let mut model = read(&bytes, folder, path, options)?;
    model.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(model)
}

/// SHA-256 of the contents of files, hexadecimal.
fn digest<'a>(files: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for bytes in files {
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The mesh of a glTF or FBX file, for tests of the readers themselves.
#[doc(hidden)]
pub fn read_mesh(path: &Path, options: &Options) -> Result<crate::mesh::Mesh, Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    Ok(mesh::read(folder, path, options)?.mesh)
}
