use std::io;
use std::path::PathBuf;

use throng::{asset, bake, gpu, import, output, scene, source};

/// Why a command ends, with the exit code that says so.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line asks for something that cannot be.
    #[error("{0}")]
    Usage(String),
    /// A bake is further off than was asked for.
    #[error("{0}")]
    Missed(String),
    /// Some of many failed; all of them were said.
    #[error("{failed} of {of} failed")]
    Batch { failed: usize, of: usize, first: Box<Self> },
    /// An input cannot be used.
    #[error(transparent)]
    Import(#[from] import::Error),
    #[error(transparent)]
    Asset(#[from] asset::Error),
    #[error(transparent)]
    Scene(#[from] scene::Error),
    #[error(transparent)]
    Bake(#[from] bake::Error),
    #[error(transparent)]
    Builtin(#[from] source::builtin::Error),
    #[error(transparent)]
    SceneSource(source::builtin::Error),
    #[error("cannot read the input: {source}: {}", path.display())]
    Input { source: io::Error, path: PathBuf },
    /// A file that is not ours is not replaced, whatever is asked.
    #[error("the output exists and is no asset: {}", path.display())]
    NotOurs { path: PathBuf },
    /// An output cannot be written.
    #[error(transparent)]
    Output(#[from] output::Error),
    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),
    #[error("cannot encode the picture: {0}")]
    Encode(#[from] image::ImageError),
    /// The GPU does not do its part.
    #[error(transparent)]
    Gpu(#[from] gpu::Error),
    /// The window does not do its part.
    #[error("cannot open a window: {0}")]
    Window(String),
}

impl Failure {
    /// The documented exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Missed(_) => 1,
            Self::Batch { first, .. } => first.code(),
            Self::Usage(_) | Self::Builtin(_) => 2,
            Self::Asset(asset::Error::Output(_))
            | Self::Output(_)
            | Self::NotOurs { .. }
            | Self::Stdout(_)
            | Self::Encode(_) => 4,
            Self::Import(_)
            | Self::Asset(_)
            | Self::Scene(_)
            | Self::SceneSource(_)
            | Self::Bake(_)
            | Self::Input { .. } => 3,
            Self::Gpu(gpu::Error::Lost(_) | gpu::Error::TimedOut(_) | gpu::Error::OutOfMemory) => 6,
            Self::Gpu(_) | Self::Window(_) => 5,
        }
    }

    /// What to do about it, where something general can be said.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Output(output::Error::Exists { .. })
            | Self::Asset(asset::Error::Output(output::Error::Exists { .. })) => {
                Some("--force overwrites it".to_owned())
            }
            Self::Gpu(gpu::Error::NoAdapter { .. }) => {
                Some(format!("`throng doctor` says more; {}", install_hint()))
            }
            Self::Asset(asset::Error::NoExtension { .. }) => {
                Some("an asset is made by `throng import` or `throng bake`".to_owned())
            }
            Self::Import(error) => error.hint(),
            _ => None,
        }
    }
}

/// The command that gets a software driver on this system.
pub(crate) fn install_hint() -> &'static str {
    if cfg!(target_os = "linux") {
        "a software driver: sudo apt-get install libvulkan1 mesa-vulkan-drivers"
    } else {
        "update the graphics driver"
    }
}
