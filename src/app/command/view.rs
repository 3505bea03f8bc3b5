use super::Talk;
use crate::cli::ViewArgs;
use crate::failure::Failure;
use crate::open;
use crate::window;

pub(crate) fn run(arguments: &ViewArgs, talk: Talk) -> Result<(), Failure> {
    let (mut scene, assets) = open::scene(&arguments.path, &arguments.reading.how())?;
    for asset in &assets {
        talk.remarks(asset);
    }
    if let Some(count) = arguments.count {
        for crowd in &mut scene.crowds {
            crowd.crowd.count = count;
        }
    }
    if !window::has_display() {
        let text =
            "found no display (DISPLAY and WAYLAND_DISPLAY are not set): `throng capture` draws without one";
        return Err(Failure::Window(text.to_owned()));
    }
    window::run(scene, assets, arguments.path.display().to_string())
}
