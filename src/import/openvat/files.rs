//! Which file of an export is which.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{Error, Limits, resolve};
use super::json::{self, Remap};

/// The files of one export.
pub(super) struct Files {
    pub(super) folder: PathBuf,
    pub(super) remap_path: PathBuf,
    pub(super) remap: Remap,
    pub(super) positions: PathBuf,
    pub(super) normals: Option<PathBuf>,
    pub(super) mesh: PathBuf,
    pub(super) assumptions: Vec<String>,
}

/// The JSON files of an export are small.
const MAX_JSON_BYTES: u64 = 4 << 20;

/// Whether the folder at `path`, of the file at `path`, or the only one in it, is an export.
pub(in super::super) fn sniff(path: &Path) -> bool {
    !remaps(&folder_of(path)).is_empty() || !remaps_below(&folder_of(path)).is_empty()
}

fn folder_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.to_owned();
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Entries of a folder, by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    entries.sort();
    entries
}

fn has_extension(path: &Path, wanted: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    wanted.iter().any(|wanted| extension.eq_ignore_ascii_case(wanted))
}

/// JSON files of a folder that speak of a VAT, by name or by content.
fn remaps(folder: &Path) -> Vec<PathBuf> {
    let limits = Limits { file_bytes: MAX_JSON_BYTES, ..Limits::default() };
    let speaks = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        name.contains("remap_info")
            || resolve::file(folder, path, &limits)
                .is_ok_and(|text| text.windows(8).any(|window| window == b"os-remap"))
    };
    entries(folder).into_iter().filter(|path| has_extension(path, &["json"])).filter(speaks).collect()
}

/// Folders in a folder that are exports.
fn remaps_below(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir() && !remaps(path).is_empty()).collect()
}

fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned());
    names.collect::<Vec<_>>().join(", ")
}

/// Takes stock of the export at `path`.
pub(super) fn find(path: &Path, limits: &Limits) -> Result<Files, Error> {
    let mut folder = folder_of(path);
    let mut assumptions = Vec::new();
    if remaps(&folder).is_empty() {
        let below = remaps_below(&folder);
        match &below[..] {
            [] => {
                return Err(Error::Missing { what: "remap_info JSON file", path: folder });
            }
            [only] => {
                assumptions.push(format!("the export is in the folder {}", names(&below)));
                folder = only.clone();
            }
            _ => {
                return Err(Error::Ambiguous { what: "export folder", found: names(&below), path: folder });
            }
        }
    }
    let jsons = remaps(&folder);
    let [remap_path] = &jsons[..] else {
        return Err(Error::Ambiguous { what: "remap_info JSON file", found: names(&jsons), path: folder });
    };
    let small = Limits { file_bytes: MAX_JSON_BYTES.min(limits.file_bytes), ..*limits };
    let remap = json::read(&resolve::file(&folder, remap_path, &small)?, remap_path)?;
    let all = entries(&folder);
    let lossy: Vec<_> =
        all.iter().filter(|path| has_extension(path, &["jpg", "jpeg", "tga", "bmp", "webp"])).collect();
    let pictures: Vec<PathBuf> =
        all.iter().filter(|path| has_extension(path, &["png", "exr"])).cloned().collect();
    if let (true, Some(lossy)) = (pictures.is_empty(), lossy.first()) {
        let message = "expected PNG or EXR: other formats do not keep positions".to_owned();
        return Err(Error::Picture { message, path: (*lossy).clone() });
    }
    let stem = |path: &Path| path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("").to_lowercase();
    let is_normals = |path: &PathBuf| {
        let stem = stem(path);
        ["_vnrm", "-vnrm", "_nrm", "_normal", "_normals"].iter().any(|end| stem.ends_with(end))
    };
    let (normals, mut positions): (Vec<_>, Vec<_>) = pictures.into_iter().partition(is_normals);
    if positions.len() > 1 {
        let named = |path: &PathBuf| ["_vat", "-vat", "_pos"].iter().any(|end| stem(path).ends_with(end));
        let chosen: Vec<_> = positions.iter().filter(|path| named(path)).cloned().collect();
        if chosen.len() == 1 {
            assumptions.push(format!(
                "the positions are in {}, not in another picture of the folder",
                names(&chosen)
            ));
            positions = chosen;
        }
    }
    let one = |what, found: Vec<PathBuf>| match &found[..] {
        [] => Err(Error::Missing { what, path: folder.clone() }),
        [only] => Ok(only.clone()),
        _ => Err(Error::Ambiguous { what, found: names(&found), path: folder.clone() }),
    };
    let mut meshes: Vec<PathBuf> =
        all.into_iter().filter(|path| has_extension(path, &["glb", "gltf", "fbx"])).collect();
    if meshes.len() > 1 {
        let base = stem(remap_path).replace("-remap_info", "").replace("_remap_info", "");
        let same: Vec<_> = meshes.iter().filter(|path| stem(path) == base).cloned().collect();
        let candidates = if same.is_empty() { meshes.clone() } else { same };
        let fbx: Vec<_> = candidates.iter().filter(|path| has_extension(path, &["fbx"])).cloned().collect();
        // The FBX is stored at the basis; the GLB often is not.
        let chosen = if fbx.len() == 1 { fbx } else { candidates };
        if chosen.len() == 1 {
            assumptions.push(format!("the mesh is {}, one of {}", names(&chosen), names(&meshes)));
        }
        meshes = chosen;
    }
    Ok(Files {
        positions: one("position picture (PNG or EXR)", positions)?,
        normals: match normals.len() {
            0 => None,
            _ => Some(one("normal picture", normals)?),
        },
        mesh: one("mesh (GLB, glTF or FBX)", meshes)?,
        remap_path: remap_path.clone(),
        remap,
        folder,
        assumptions,
    })
}
