//! Output files that are whole or absent: written under a temporary name, then renamed.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, PersistError};

/// Temporary files that are not renamed yet.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of writes that are under way, for a program that ends at once, as on a
/// signal. Writes that have not renamed their file wait for ever after.
pub fn abandon() {
    let pending = pending();
    for path in pending.iter() {
        // What is gone already is what is wanted.
        std::fs::remove_file(path).ok();
    }
    std::mem::forget(pending);
}

/// Why an output is not there. An older file of that name is untouched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is such a file and overwriting was not asked for.
    #[error("the output exists already: {}", path.display())]
    Exists {
        /// The output.
        path: PathBuf,
    },
    /// The folder to write to does not exist.
    #[error("the folder of the output does not exist: {}", path.display())]
    NoFolder {
        /// The output.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot write the output: {source}: {}", path.display())]
    Io {
        /// The cause.
        source: io::Error,
        /// The output.
        path: PathBuf,
    },
}

/// Refuses what [`write()`] would refuse, before the work is done.
///
/// # Errors
/// [`Error::Exists`], [`Error::NoFolder`].
pub fn check(path: &Path, overwrite: bool) -> Result<(), Error> {
    if !folder(path).is_dir() {
        return Err(Error::NoFolder { path: path.to_owned() });
    }
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(Error::Exists { path: path.to_owned() });
    }
    Ok(())
}

/// Writes `bytes` to `path`.
///
/// # Errors
/// [`Error`]; nothing is left behind.
pub fn write(path: &Path, overwrite: bool, bytes: &[u8]) -> Result<(), Error> {
    write_pieces(path, overwrite, &[bytes])
}

/// Writes `pieces` one after another to `path`, without putting them together in memory.
///
/// # Errors
/// [`Error`]; nothing is left behind.
pub fn write_pieces(path: &Path, overwrite: bool, pieces: &[impl AsRef<[u8]>]) -> Result<(), Error> {
    check(path, overwrite)?;
    let io = |source| Error::Io { source, path: path.to_owned() };
    let mut builder = Builder::new();
    builder.prefix(".throng-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As for any new file: the umask takes from it what it takes.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder(path)).map_err(io)?;
    let temporary = file.path().to_owned();
    pending().push(temporary.clone());
    let written = pieces
        .iter()
        .try_for_each(|piece| file.write_all(piece.as_ref()))
        .and_then(|()| file.as_file().sync_all());
    let mut pending = pending();
    pending.retain(|path| *path != temporary);
    written.map_err(io)?;
    let renamed = if overwrite { file.persist(path) } else { file.persist_noclobber(path) };
    match renamed {
        Ok(_) => Ok(()),
        Err(PersistError { error, .. }) if !overwrite && error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Error::Exists { path: path.to_owned() })
        }
        Err(PersistError { error, .. }) => Err(io(error)),
    }
}

fn pending() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_existing_file_is_kept_unless_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write(&path, false, b"old").unwrap();
        assert!(matches!(write(&path, false, b"new"), Err(Error::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write(&path, true, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn a_folder_that_is_missing_or_in_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/such/a");
        assert!(matches!(write(&missing, true, b""), Err(Error::NoFolder { path }) if path == missing));
        let in_the_way = folder.path().join("folder");
        fs::create_dir(&in_the_way).unwrap();
        assert!(matches!(write(&in_the_way, true, b""), Err(Error::Io { .. })));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn the_file_has_ordinary_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (ours, ordinary) = (folder.path().join("a"), folder.path().join("b"));
        write(&ours, false, b"").unwrap();
        fs::write(&ordinary, b"").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&ordinary));
    }
}
