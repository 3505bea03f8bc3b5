use serde::{Deserialize, Serialize};

use crate::vat::FrameBlend;

/// How a view is drawn; the command line, the panel and scene files share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How the picture between two animation frames is made.
    pub frame_blend: FrameBlend,
    /// How texels are read.
    pub fetch: Fetch,
    /// Whose normals shade the mesh.
    pub shading: Shading,
    /// Off: every instance plays at phase 0, all in step.
    pub instance_offsets: bool,
    /// The sun casts shadows on the ground: one more draw per mesh primitive.
    pub shadows: bool,
    /// Level of detail: 0 is the full mesh; the coarsest of an asset that has fewer.
    pub lod: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            frame_blend: FrameBlend::Linear,
            fetch: Fetch::Texel,
            shading: Shading::Stored,
            instance_offsets: true,
            shadows: true,
            lod: 0,
        }
    }
}

/// How texels are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fetch {
    /// By integer address; frames are blended in the shader. Exact on every format.
    #[default]
    Texel,
    /// By a bilinear sampler, half a texel in, between the rows of two frames. Positions only, linear
    /// blend only, and only where the format is filterable and each row is a frame; elsewhere the
    /// renderer reads texels and says so once.
    Sampler,
}

/// Whose normals shade the mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shading {
    /// Those that the asset says.
    #[default]
    Stored,
    /// The rest normals, which do not follow the motion.
    Rest,
    /// Face normals from screen-space derivatives.
    Flat,
}
