//! Pictures that materials of FBX and OBJ files name.

use std::path::Path;

use super::{Error, Options, resolve};
use crate::material::Image;

/// The picture `name`, seen from the file `path` in `folder`. Paths of another machine are of no use, but the
/// file often lies beside.
pub(super) fn open(name: &str, folder: &Path, path: &Path, options: &Options) -> Result<Image, Error> {
    let name = name.replace('\\', "/");
    let beside = folder.join(Path::new(&name).file_name().unwrap_or_default());
    let read = |path: &Path| resolve::file(folder, path, &options.limits);
    let data = read(&folder.join(&name)).or_else(|error| read(&beside).map_err(|_| error))?;
    of_bytes(data, path)
}

/// The picture in `data`, which `path` holds or names.
pub(super) fn of_bytes(data: Vec<u8>, path: &Path) -> Result<Image, Error> {
    Image::new(data.into())
        .ok_or_else(|| Error::Picture { message: "expected PNG or JPEG".to_owned(), path: path.to_owned() })
}

/// Place of `image` among `images`, where it is put unless it is there.
pub(super) fn place(image: Image, images: &mut Vec<Image>) -> Option<u32> {
    let found = images.iter().position(|known| *known == image);
    let place = found.unwrap_or_else(|| {
        images.push(image);
        images.len() - 1
    });
    u32::try_from(place).ok()
}
