use serde::Serialize;
use throng::asset::glb;
use throng::bake::{self, Report, Settings};
use throng::output;
use throng::source::builtin;

use super::{SCHEMA_VERSION, Talk, print, print_json};
use crate::cli::Bake;
use crate::failure::Failure;

#[derive(Serialize)]
struct Printed<'a> {
    schema_version: u32,
    output: String,
    #[serde(flatten)]
    report: &'a Report,
}

pub(crate) fn run(arguments: &Bake, talk: Talk) -> Result<(), Failure> {
    let output = &arguments.writing.output;
    output::check(output, arguments.writing.force)?;
    let Some(name) = arguments.source.strip_prefix("builtin:") else {
        let text = format!(
            "{:?} is no source that can be baked; there is: {}. An export of another tool is read by `throng import`",
            arguments.source,
            builtin::ALL
                .iter()
                .map(|(name, doc)| format!("builtin:{name} ({doc})"))
                .collect::<Vec<_>>()
                .join(", ")
        );
        return Err(Failure::Usage(text));
    };
    let source = builtin::make(name, arguments.fps)?;
    let settings = Settings {
        encoding: arguments.encoding,
        normals: arguments.normals,
        space: arguments.space,
        max_texture_size: arguments.max_texture_size,
    };
    let baked = bake::bake(&source, &settings)?;
    glb::write(&baked.asset, output, arguments.compression.into(), arguments.writing.force)?;
    talk.say(&format!("wrote {}", output.display()));
    if arguments.json {
        let output = output.display().to_string();
        return print_json(&Printed { schema_version: SCHEMA_VERSION, output, report: &baked.report });
    }
    print(format!("{}\n", baked.report).as_bytes())
}
