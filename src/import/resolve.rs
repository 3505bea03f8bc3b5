//! The one way to a file: nothing outside the asset's folder is opened, and nothing that is no file.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use percent_encoding::percent_decode_str;

use super::{Error, Limits};

/// The bytes that `uri` names, seen from `file` in `folder`: `data:`, or a relative path that stays inside.
pub(super) fn uri(folder: &Path, file: &Path, uri: &str, limits: &Limits) -> Result<Vec<u8>, Error> {
    let refused = |reason| Error::Uri { uri: shortened(uri), reason, path: file.to_owned() };
    if let Some(data) = uri.strip_prefix("data:") {
        let Some((_, data)) = data.split_once(";base64,") else {
            return Err(refused("only base64 data is read"));
        };
        return STANDARD.decode(data).map_err(|_| refused("its base64 data is corrupt"));
    }
    let bytes = uri.as_bytes();
    let broken = bytes.iter().enumerate().any(|(at, byte)| {
        let digits = bytes.get(at + 1..at + 3);
        *byte == b'%' && !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    });
    if broken {
        return Err(refused("a percent sign without two digits"));
    }
    let Ok(path) = percent_decode_str(uri).decode_utf8() else {
        return Err(refused("its percent encoding is not UTF-8"));
    };
    if path.contains('\0') {
        return Err(refused("it contains a NUL character"));
    }
    if path.contains('\\') {
        return Err(refused("it contains a backslash; paths use /"));
    }
    // Anything before a colon is a scheme or a drive.
    if path.split('/').next().is_some_and(|first| first.contains(':')) {
        return Err(refused("only files in the asset's folder are opened, no scheme or drive"));
    }
    let path = Path::new(&*path);
    if !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(refused("it leaves the asset's folder"));
    }
    self::file(folder, &folder.join(path), limits)
}

/// The bytes of `path`, which must be a regular file inside `folder`, links followed.
pub(super) fn file(folder: &Path, path: &Path, limits: &Limits) -> Result<Vec<u8>, Error> {
    let read = |source| Error::Read { source, path: path.to_owned() };
    let mut bytes = Vec::new();
    // A file that grows while it is read is cut at the limit.
    inside(folder, path, limits)?.take(limits.file_bytes).read_to_end(&mut bytes).map_err(read)?;
    Ok(bytes)
}

/// `path` opened, which must be a regular file inside `folder`, links followed.
pub(super) fn inside(folder: &Path, path: &Path, limits: &Limits) -> Result<File, Error> {
    let read = |source| Error::Read { source, path: path.to_owned() };
    let inside = canonical(folder).map_err(read)?;
    let real = canonical(path).map_err(read)?;
    let refused = |reason| Error::Uri { uri: path.display().to_string(), reason, path: folder.to_owned() };
    if !real.starts_with(&inside) {
        return Err(refused("it leads out of the asset's folder"));
    }
    // Before it is opened: opening a pipe would wait for its other end.
    if !real.metadata().map_err(read)?.is_file() {
        return Err(refused("it is not a regular file"));
    }
    let file = File::open(&real).map_err(read)?;
    let metadata = file.metadata().map_err(read)?;
    if !metadata.is_file() {
        return Err(refused("it is not a regular file"));
    }
    let (found, limit) = (metadata.len(), limits.file_bytes);
    if found > limit {
        return Err(Error::TooLarge { what: "bytes of the file", found, limit, path: path.to_owned() });
    }
    Ok(file)
}

/// The bytes of a regular file that the user named, mapped: it may be larger than memory.
pub(super) fn map(path: &Path, limits: &Limits) -> Result<Bytes, Error> {
    let read = |source| Error::Read { source, path: path.to_owned() };
    // Before it is opened: opening a pipe would wait for its other end.
    if !path.metadata().map_err(read)?.is_file() {
        return Err(read(std::io::Error::other("not a regular file")));
    }
    let file = File::open(path).map_err(read)?;
    let found = file.metadata().map_err(read)?.len();
    if found == 0 {
        return Ok(Bytes::new());
    }
    let limit = limits.cache_bytes;
    if found > limit {
        return Err(Error::TooLarge { what: "bytes of the cache", found, limit, path: path.to_owned() });
    }
    #[expect(unsafe_code, reason = "mapping a file is unsafe because another process could change it")]
    // SAFETY: the map is only read, as bytes, so a change by another process can spoil a motion but break
    // no rule of the language. One that cuts the file while it is baked ends the program, as it would any
    // that maps files.
    let map = unsafe { memmap2::Mmap::map(&file) }.map_err(read)?;
    Ok(Bytes::from_owner(map))
}

fn canonical(path: &Path) -> std::io::Result<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    path.canonicalize()
}

fn shortened(uri: &str) -> String {
    let mut short: String = uri.chars().take(80).collect();
    if short.len() < uri.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_regular_files_inside_the_folder_are_opened() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("asset");
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(outer.path().join("secret"), "secret").unwrap();
        fs::write(folder.join("A..B.bin"), "fine").unwrap();
        fs::write(folder.join("sub/with space"), "fine").unwrap();
        let gltf = folder.join("a.gltf");
        let open = |text: &str| uri(&folder, &gltf, text, &Limits::default());
        for fine in [
            "A..B.bin",
            "./A..B.bin",
            "sub/with%20space",
            "data:;base64,ZmluZQ==",
            "data:a/b;base64,ZmluZQ==",
        ] {
            assert_eq!(open(fine).unwrap(), b"fine", "{fine}");
        }
        for refused in [
            "../secret",
            "sub/../../secret",
            "%2e%2e/secret",
            "/etc/passwd",
            "file:///etc/passwd",
            "http://a/b",
            "C:/a",
            "C:a",
            "..\\secret",
            "a%zz",
            "a%",
            "a%00b",
            "%ff",
            "data:text/plain,fine",
            "data:;base64,%%",
        ] {
            assert!(matches!(open(refused), Err(Error::Uri { .. })), "{refused}: {:?}", open(refused));
        }
        assert!(matches!(open("nothing"), Err(Error::Read { .. })));
        assert!(matches!(open("sub"), Err(Error::Uri { .. })), "a folder");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outer.path().join("secret"), folder.join("link")).unwrap();
            assert!(matches!(open("link"), Err(Error::Uri { .. })));
            std::os::unix::fs::symlink("A..B.bin", folder.join("inner")).unwrap();
            assert_eq!(open("inner").unwrap(), b"fine");
            std::os::unix::fs::symlink("/dev/zero", folder.join("device")).unwrap();
            assert!(matches!(open("device"), Err(Error::Uri { .. })));
            let made = std::process::Command::new("mkfifo").arg(folder.join("pipe")).status();
            if made.is_ok_and(|status| status.success()) {
                assert!(matches!(open("pipe"), Err(Error::Uri { .. })));
            }
        }
        let small = Limits { file_bytes: 3, ..Limits::default() };
        assert!(matches!(
            uri(&folder, &gltf, "A..B.bin", &small),
            Err(Error::TooLarge { found: 4, limit: 3, .. })
        ));
    }
}
