//! Paths of the command line → assets and scenes.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use throng::asset::{Asset, glb};
use throng::bake;
use throng::clip::{Clip, LoopMode};
use throng::import;
use throng::scene::Scene;
use throng::source::timeline::{self, Cut, Wanted};
use throng::source::{Model, Source, builtin};

use crate::failure::Failure;

/// The demo's flag, so that the program needs no files beside it.
const FLAG: &[u8] = include_bytes!("../../assets/baked/flag.vat.glb");
/// The demo's scene.
const DEMO: &[u8] = include_bytes!("../../assets/scenes/demo.json");
/// Its smaller sister, which a software driver can draw many times and whose flags all keep time, so
/// that the last picture of a loop meets the first.
const DEMO_LOOP: &[u8] = include_bytes!("../../assets/scenes/demo_loop.json");

/// How a path is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct How {
    pub(crate) options: import::Options,
    pub(crate) points: import::PointOptions,
}

/// What a path leads to.
pub(crate) enum Input {
    /// A baked asset, of ours or of another tool.
    Asset(Box<Asset>),
    /// A model that was not baked.
    Model(Box<Model>),
    /// A source that is made here.
    Source(Box<Source>),
}

/// What is at `path`: a `.vat.glb` file, a foreign folder or a file in it, an animated model, a mesh with a
/// point cache, a sequence of meshes, or `builtin:NAME`.
pub(crate) fn input(path: &Path, how: &How) -> Result<Input, Failure> {
    if let Some(name) = path.to_str().and_then(|text| text.strip_prefix("builtin:")) {
        return Ok(Input::Source(Box::new(builtin::make(name, how.options.fps)?)));
    }
    if path.is_file() && starts_like_glb(path)? {
        match glb::read(path) {
            // A plain model, which may be part of a foreign export.
            Err(throng::asset::Error::NoExtension { .. }) => {}
            read => return Ok(Input::Asset(Box::new(read?))),
        }
    }
    let is_points = || import::is_points(path) && !import::finds(path);
    if how.points.cache.is_some() || how.points.sequence || is_points() || is_pattern(path) {
        return Ok(Input::Source(Box::new(import::points(path, &how.points, &how.options)?)));
    }
    if !import::finds(path) && import::is_model(path) {
        return Ok(Input::Model(Box::new(import::model(path, &how.options)?)));
    }
    Ok(Input::Asset(Box::new(import::load(path, &how.options)?)))
}

/// The asset at `path`; what is not baked is baked here with the default settings.
pub(crate) fn asset(path: &Path, how: &How) -> Result<Asset, Failure> {
    let source = match input(path, how)? {
        Input::Asset(asset) => return Ok(*asset),
        Input::Source(source) => *source,
        Input::Model(model) => {
            let wanted = Wanted { fps: how.options.fps, ..Wanted::default() };
            let mut source = model.source(None, &wanted).map_err(bake::Error::from)?;
            let said = "the model is not baked: it was baked in memory with the default settings";
            source.assumptions.insert(0, said.to_owned());
            source
        }
    };
    Ok(bake::encode(&source, &bake::Settings::default())?.0)
}

/// A pattern that the shell left alone.
fn is_pattern(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !path.exists() && name.contains(['*', '?', '#'])
}

fn starts_like_glb(path: &Path) -> Result<bool, Failure> {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read(&mut magic));
    read.map_err(|source| Failure::Input { source, path: path.to_owned() })?;
    Ok(magic == *b"glTF")
}

/// The scene at `path`, or a scene made for the asset there; and its assets, one per crowd.
pub(crate) fn scene(path: &Path, how: &How) -> Result<(Scene, Vec<Asset>), Failure> {
    if !is_scene(path) {
        let asset = asset(path, how)?;
        let scene = Scene::of_asset(path.display().to_string(), asset.bounds(), 1);
        return Ok((scene, vec![asset]));
    }
    let scene = Scene::read(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let assets = scene.crowds.iter().map(|crowd| {
        let path = if crowd.asset.starts_with("builtin:") {
            PathBuf::from(&crowd.asset)
        } else {
            folder.join(&crowd.asset)
        };
        asset(&path, &How { points: Default::default(), ..how.clone() })
    });
    let assets: Vec<Asset> = assets.collect::<Result<_, Failure>>().map_err(|failure| match failure {
        // The scene is the input, whatever it names.
        Failure::Builtin(error) => Failure::SceneSource(error),
        other => other,
    })?;
    for (index, (crowd, asset)) in scene.crowds.iter().zip(&assets).enumerate() {
        let missing =
            crowd.crowd.clips.iter().find(|name| !asset.clips.iter().any(|clip| clip.name == **name));
        if let Some(name) = missing {
            return Err(Failure::Scene(throng::scene::Error::Value {
                pointer: format!("/crowds/{index}/crowd/clips"),
                found: format!("{name:?}"),
                expected: format!("clips of {}: {}", crowd.asset, listed(&asset.clips)),
                path: path.to_owned(),
            }));
        }
    }
    Ok((scene, assets))
}

/// The demo scene, from inside the program.
pub(crate) fn demo() -> Result<(Scene, Vec<Asset>), Failure> {
    embedded(DEMO, "demo.json")
}

/// The scene of the demo's animation, from inside the program.
pub(crate) fn demo_loop() -> Result<(Scene, Vec<Asset>), Failure> {
    embedded(DEMO_LOOP, "demo_loop.json")
}

fn embedded(scene: &[u8], name: &str) -> Result<(Scene, Vec<Asset>), Failure> {
    let scene = Scene::parse(scene, Path::new(name))?;
    let mut assets = Vec::new();
    for _ in &scene.crowds {
        assets.push(glb::decode(&bytes::Bytes::from_static(FLAG), Path::new("flag.vat.glb"))?);
    }
    Ok((scene, assets))
}

/// A scene is a JSON file with crowds; the JSON files of foreign exports have none.
fn is_scene(path: &Path) -> bool {
    let json = path.extension().is_some_and(|extension| extension == "json");
    if !json || !path.is_file() {
        return false;
    }
    let Ok(text) = fs::read(path) else {
        return true;
    };
    match serde_json::from_slice::<serde_json::Value>(&text) {
        Ok(value) => value.get("crowds").is_some() || value.get("os-remap").is_none(),
        Err(_) => !import::finds(path),
    }
}

/// A model's clips as they are cut without further wishes; one of rest without any.
pub(crate) fn clips_of_model(model: &Model, wanted: &Wanted) -> Result<Vec<(Clip, Cut)>, Failure> {
    let clip = |name: String, cut: Cut| {
        let Cut { fps, frame_count, loop_mode, .. } = cut;
        (Clip { name, first_frame: 0, frame_count, fps, loop_mode, root_motion: None }, cut)
    };
    if model.rig.clips.is_empty() {
        let (fps, loop_mode) = (0.0, LoopMode::Once);
        let cut = Cut { start_seconds: 0.0, fps, frame_count: 1, loop_mode, is_cycle: false, root: None };
        return Ok(vec![clip("rest".to_owned(), cut)]);
    }
    let clips = model.rig.clips.iter().enumerate();
    clips
        .map(|(index, of)| {
            let cut = timeline::cut(&model.rig, index, wanted).map_err(bake::Error::from)?;
            Ok(clip(of.name.clone(), cut))
        })
        .collect()
}

/// Indices of the clips that `wanted` names: a name, else an index, else a glob.
pub(crate) fn clips(clips: &[Clip], wanted: &str) -> Result<Vec<usize>, Failure> {
    let by = |holds: &dyn Fn(&Clip) -> bool| -> Vec<usize> {
        clips.iter().enumerate().filter(|(_, clip)| holds(clip)).map(|(index, _)| index).collect()
    };
    let mut found = by(&|clip| clip.name == wanted);
    if found.is_empty() {
        found = wanted.parse().ok().filter(|index: &usize| *index < clips.len()).into_iter().collect();
    }
    if found.is_empty() {
        found = by(&|clip| glob_matches(wanted, &clip.name));
    }
    if found.is_empty() {
        return Err(Failure::Usage(format!("no clip is called {wanted:?}; there are: {}", listed(clips))));
    }
    Ok(found)
}

/// The one clip that `wanted` names; the first without it.
pub(crate) fn clip<'a>(all: &'a [Clip], wanted: Option<&str>) -> Result<&'a Clip, Failure> {
    let Some(wanted) = wanted else {
        return Ok(&all[0]);
    };
    let found = clips(all, wanted)?;
    // Clips of one name can only be told apart by their index.
    if found.len() > 1 {
        let some: Vec<Clip> = found.iter().map(|index| all[*index].clone()).collect();
        let text =
            format!("{wanted:?} is more than one clip: {}; use an index of: {}", listed(&some), listed(all));
        return Err(Failure::Usage(text));
    }
    Ok(&all[found[0]])
}

fn listed(clips: &[Clip]) -> String {
    let names = clips.iter().enumerate().map(|(index, clip)| format!("{index} {:?}", clip.name));
    names.collect::<Vec<_>>().join(", ")
}

/// `*` is any text, `?` any character; everything else is itself.
fn glob_matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[from] => {
                at += 1;
                from += 1;
            }
            // The last star takes one more character.
            _ => match star {
                None => return false,
                Some((star_at, star_from)) => {
                    star = Some((star_at, star_from + 1));
                    at = star_at + 1;
                    from = star_from + 1;
                }
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, text, matches) in [
            ("*", "", true),
            ("walk*", "walk_fast", true),
            ("*fast", "walk_fast", true),
            ("w?lk", "walk", true),
            ("w?lk", "wlk", false),
            ("a*b*c", "aXbXbc", true),
            ("a*b*c", "aXbXb", false),
            ("Armature|*", "Armature|run", true),
            ("**", "x", true),
        ] {
            assert_eq!(glob_matches(pattern, text), matches, "{pattern} {text}");
        }
    }
}
