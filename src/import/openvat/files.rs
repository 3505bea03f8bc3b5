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

/// What files of an export end in, before the extension.
const NORMAL_ENDS: [&str; 5] = ["_vnrm", "-vnrm", "_nrm", "_normal", "_normals"];
const POSITION_ENDS: [&str; 3] = ["_vat", "-vat", "_pos"];
const REMAP_ENDS: [&str; 2] = ["-remap_info", "_remap_info"];

/// Whether the folder at `path`, one in it, or the folder of the file at `path` is an export.
pub(in super::super) fn sniff(path: &Path) -> bool {
    if path.is_dir() {
        return is_export(path) || !exports_below(path).is_empty();
    }
    let part = has_extension(path, &["png", "exr", "glb", "gltf", "fbx"]) || speaks_of_vat(path);
    part && is_export(&folder_of(path))
}

/// A folder with the JSON file of an export, or with a picture and a mesh as exports name them.
fn is_export(folder: &Path) -> bool {
    if !remaps(folder).is_empty() {
        return true;
    }
    let files = entries(folder);
    let picture = |path: &PathBuf| {
        has_extension(path, &["png", "exr"]) && ["_vat", "-vat"].iter().any(|end| stem(path).ends_with(end))
    };
    files.iter().any(picture) && files.iter().any(|path| is_mesh(path))
}

/// A mesh, not an asset that this program wrote beside it.
fn is_mesh(path: &Path) -> bool {
    has_extension(path, &["glb", "gltf", "fbx"]) && !stem(path).ends_with(".vat")
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

/// A file's name without its extension, in small letters.
fn stem(path: &Path) -> String {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("").to_lowercase()
}

/// The name that all files of one export share.
fn base(path: &Path) -> String {
    let stem = stem(path);
    let mut ends = NORMAL_ENDS.iter().chain(&POSITION_ENDS).chain(&REMAP_ENDS);
    ends.find_map(|end| stem.strip_suffix(end)).unwrap_or(&stem).to_owned()
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

/// A JSON file that speaks of a VAT, by name or by content.
fn speaks_of_vat(path: &Path) -> bool {
    let limits = Limits { file_bytes: MAX_JSON_BYTES, ..Limits::default() };
    has_extension(path, &["json"])
        && (stem(path).contains("remap_info")
            || resolve::file(&folder_of(path), path, &limits)
                .is_ok_and(|text| text.windows(8).any(|window| window == b"os-remap")))
}

fn remaps(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| speaks_of_vat(path)).collect()
}

/// Folders in a folder that are exports.
fn exports_below(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir() && is_export(path)).collect()
}

fn names(paths: &[PathBuf]) -> String {
    let names = paths.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned());
    names.collect::<Vec<_>>().join(", ")
}

/// Takes stock of the export at `path`. A file that `path` names is taken, whatever else there is.
pub(super) fn find(path: &Path, limits: &Limits) -> Result<Files, Error> {
    let mut folder = folder_of(path);
    let mut assumptions = Vec::new();
    if path.is_dir() && !is_export(&folder) {
        let below = exports_below(&folder);
        match &below[..] {
            [] => {}
            [only] => {
                assumptions.push(format!("the export is in the folder {}", names(&below)));
                folder = only.clone();
            }
            _ => return Err(ambiguous("export folder", &below, &folder)),
        }
    }
    let mut files = entries(&folder);
    let named = files.iter().find(|file| file.file_name() == path.file_name() && path.is_file()).cloned();
    let named = named.as_deref();
    let mut jsons = remaps(&folder);
    if jsons.len() > 1
        && let Some(named) = named
    {
        // Several exports in one folder: the one that the named file is of.
        jsons.retain(|json| json == named || (!speaks_of_vat(named) && base(json) == base(named)));
        if let [json] = &jsons[..] {
            files.retain(|file| file == named || base(file) == base(json));
        }
    }
    let remap_path = one("remap_info JSON file", jsons, &folder)?;
    let small = Limits { file_bytes: MAX_JSON_BYTES.min(limits.file_bytes), ..*limits };
    let remap = json::read(&resolve::file(&folder, &remap_path, &small)?, &remap_path)?;
    let pictures: Vec<PathBuf> =
        files.iter().filter(|path| has_extension(path, &["png", "exr"])).cloned().collect();
    let lossy = files.iter().find(|path| has_extension(path, &["jpg", "jpeg", "tga", "bmp", "webp"]));
    if let (true, Some(lossy)) = (pictures.is_empty(), lossy) {
        let message = "expected PNG or EXR: other formats do not keep positions".to_owned();
        return Err(Error::Picture { message, path: lossy.clone() });
    }
    let is_normals = |path: &PathBuf| NORMAL_ENDS.iter().any(|end| stem(path).ends_with(end));
    let (mut normals, mut positions): (Vec<_>, Vec<_>) = pictures.into_iter().partition(is_normals);
    let shared = base(&remap_path);
    let of_export = |path: &PathBuf| base(path) == shared;
    let of_positions = |path: &PathBuf| POSITION_ENDS.iter().any(|end| stem(path).ends_with(end));
    let all = positions.clone();
    narrow(&mut positions, &|path| named == Some(path.as_path()));
    narrow(&mut positions, &|path| of_export(path) && of_positions(path));
    narrow(&mut positions, &of_positions);
    if let ([chosen], true) = (&positions[..], all.len() > 1) {
        assumptions.push(format!(
            "the positions are in {}, not in another picture of the folder ({})",
            names(std::slice::from_ref(chosen)),
            names(&all)
        ));
    }
    narrow(&mut normals, &of_export);
    let mut meshes: Vec<PathBuf> = files.into_iter().filter(|path| is_mesh(path)).collect();
    let all = meshes.clone();
    narrow(&mut meshes, &|path| named == Some(path.as_path()));
    if meshes.len() > 1 {
        let same: Vec<_> = meshes.iter().filter(|path| of_export(path)).cloned().collect();
        meshes = if same.is_empty() { meshes } else { same };
        // The FBX is stored at the basis; the GLB often is not.
        narrow(&mut meshes, &|path| has_extension(path, &["fbx"]));
    }
    if let ([chosen], true) = (&meshes[..], all.len() > 1) {
        let chosen = names(std::slice::from_ref(chosen));
        assumptions.push(format!("the mesh is {chosen}, one of {}", names(&all)));
    }
    Ok(Files {
        positions: one("position picture (PNG or EXR)", positions, &folder)?,
        normals: if normals.is_empty() { None } else { Some(one("normal picture", normals, &folder)?) },
        mesh: one("mesh (GLB, glTF or FBX)", meshes, &folder)?,
        remap_path,
        remap,
        folder,
        assumptions,
    })
}

/// Of several candidates the one that `holds`, if it is one.
fn narrow(candidates: &mut Vec<PathBuf>, holds: &dyn Fn(&PathBuf) -> bool) {
    if candidates.iter().filter(|path| holds(path)).count() == 1 {
        candidates.retain(|path| holds(path));
    }
}

fn one(what: &'static str, found: Vec<PathBuf>, folder: &Path) -> Result<PathBuf, Error> {
    match &found[..] {
        [] => Err(Error::Missing { what, path: folder.to_owned() }),
        [only] => Ok(only.clone()),
        _ => Err(ambiguous(what, &found, folder)),
    }
}

fn ambiguous(what: &'static str, found: &[PathBuf], folder: &Path) -> Error {
    Error::Ambiguous { what, found: names(found), path: folder.to_owned() }
}
