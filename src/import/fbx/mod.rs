//! FBX, through ufbx: static meshes of exports for vertex animation, and animated models.

use std::path::Path;

use super::{Error, Options, resolve};

mod clips;
mod looks;
mod model;
mod static_mesh;

pub(super) use model::read as model;
pub(super) use static_mesh::{finish, read};

/// Bounds of the memory that ufbx takes.
fn allocator(options: &Options) -> ufbx::AllocatorOpts {
    let memory_limit = usize::try_from(options.limits.file_bytes).unwrap_or(usize::MAX);
    ufbx::AllocatorOpts { memory_limit, ..Default::default() }
}

fn refused(error: &ufbx::Error, path: &Path) -> Error {
    let info = error.info();
    let about = if info.is_empty() { String::new() } else { format!(" ({info})") };
    Error::Mesh { message: format!("{}{about}", error.description), path: path.to_owned() }
}

/// Opens a file that an FBX file names: only regular files inside its folder.
fn open(folder: &Path, name: &str, options: &Options) -> Option<ufbx::Stream> {
    let path = folder.join(name);
    match resolve::inside(folder, &path, &options.limits) {
        Ok(file) => Some(ufbx::Stream::File(file)),
        Err(error) => {
            log::debug!("{error}");
            None
        }
    }
}
