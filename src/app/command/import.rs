use throng::asset::glb;

use super::{Talk, check_asset_output};
use crate::cli::{CompressionName, Import, Reading};
use crate::failure::Failure;
use crate::open::{self, How};

impl Reading {
    pub(crate) fn how(&self) -> How {
        let options =
            throng::import::Options { mesh_frame: self.mesh_frame, fps: self.fps, ..Default::default() };
        How { options, points: self.points.options() }
    }
}

impl From<CompressionName> for throng::asset::Compression {
    fn from(name: CompressionName) -> Self {
        match name {
            CompressionName::None => Self::None,
            CompressionName::Zstd => Self::Zstd,
        }
    }
}

pub(crate) fn run(arguments: &Import, talk: Talk) -> Result<(), Failure> {
    let output = &arguments.writing.output;
    check_asset_output(output, arguments.writing.force)?;
    let asset = open::asset(&arguments.path, &arguments.reading.how())?;
    talk.remarks(&asset);
    glb::write(&asset, output, arguments.compression.into(), arguments.writing.force)?;
    let frames = asset.animation.grid.frame_count;
    let vertices = asset.mesh.vertex_count();
    talk.say(&format!("wrote {} ({vertices} vertices, {frames} frames)", output.display()));
    Ok(())
}
