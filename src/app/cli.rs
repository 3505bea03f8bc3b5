//! What can be written on the command line.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand, ValueEnum};
use throng::clip::LoopMode;
use throng::import::{MeshFrame, PointOptions};
use throng::vat::{Encoding, FrameBlend, Normals, PositionSpace};

const AFTER_HELP: &str = "\
Examples:
  throng                                       the demo: a crowd in a window
  throng view wave_vat/                        play a folder that OpenVAT exported
  throng import wave_vat/ -o wave.vat.glb      convert it
  throng inspect wave.vat.glb                  what is in it
  throng capture wave_vat/ --count 400 -o crowd.png

Exit codes: 0 ok, 1 a check or comparison failed, 2 usage, 3 input rejected, 4 output not written,
5 no suitable graphics adapter, 6 device lost or timed out, 70 internal error, 130/143 on signals.";

/// Bake, read, check and draw vertex animation textures.
#[derive(Debug, Parser)]
#[command(name = "throng", version = version(), after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Cli {
    /// Say less: errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Say more; twice for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Colour on stderr
    #[arg(long, global = true, value_enum, default_value = "auto")]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Convert a foreign export into a .vat.glb file
    Import(Import),
    /// Bake a source into a .vat.glb file
    Bake(Bake),
    /// Say what is in an asset
    Inspect(Inspect),
    /// Print the mesh at one moment
    Sample(Sample),
    /// Draw a scene or an asset into a picture
    Capture(Capture),
    /// Open a scene or an asset in a window
    View(ViewArgs),
    /// Say what graphics this machine has, and what is missing
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions(Completions),
}

/// Motions that are stored point by point.
#[derive(Args, Clone, Debug)]
pub(crate) struct PointArgs {
    /// A PC2 or MDD point cache that moves the mesh (.obj, .ply, .glb, .gltf)
    #[arg(long, value_name = "FILE")]
    pub(crate) cache: Option<PathBuf>,
    /// The mesh (.obj, .ply) is the first of numbered files, one for each frame; a folder of such and a
    /// quoted pattern ('cloth_*.obj') mean the same
    #[arg(long, conflicts_with = "cache")]
    pub(crate) sequence: bool,
}

impl PointArgs {
    pub(crate) fn options(&self) -> PointOptions {
        PointOptions { cache: self.cache.clone(), sequence: self.sequence, loop_mode: None }
    }
}

/// How an input is read.
#[derive(Args, Clone, Debug)]
pub(crate) struct Reading {
    #[command(flatten)]
    pub(crate) points: PointArgs,
    /// Which frame a foreign mesh is stored at: auto, basis (it is the rest pose), or a frame number
    #[arg(long, allow_negative_numbers = true, default_value = "auto", value_name = "auto|basis|N")]
    pub(crate) mesh_frame: MeshFrame,
    /// Frames per second, for files that do not say, and for built-in sources
    #[arg(long, allow_negative_numbers = true, value_parser = fps)]
    pub(crate) fps: Option<f64>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct Writing {
    /// Where to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompressionName {
    /// Mapped and uploaded without a copy
    None,
    /// A smaller file
    Zstd,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  throng import walker_vat/ -o walker.vat.glb")]
pub(crate) struct Import {
    /// Folder of the export, or a file in it
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// How texels lie in the file
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) compression: CompressionName,
}

/// An encoding as it is named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    Plain(Encoding),
    /// One texel of 8 bytes holds position and normal: unorm16 with normals in the alpha.
    Packed16,
}

impl Stored {
    const ALL: &'static [Self] = &[
        Self::Plain(Encoding::Bc6h),
        Self::Plain(Encoding::Unorm8),
        Self::Plain(Encoding::Unorm16),
        Self::Packed16,
        Self::Plain(Encoding::Split256),
        Self::Plain(Encoding::Split255),
        Self::Plain(Encoding::Float16),
        Self::Plain(Encoding::Float16Bounded),
        Self::Plain(Encoding::Float32),
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain(encoding) => encoding.name(),
            Self::Packed16 => "packed16",
        }
    }

    pub(crate) fn encoding(self) -> Encoding {
        match self {
            Self::Plain(encoding) => encoding,
            Self::Packed16 => Encoding::Unorm16,
        }
    }

    /// Where normals are stored when nothing else is said.
    pub(crate) fn normals(self) -> Normals {
        match self {
            Self::Plain(_) => Normals::Texture16,
            Self::Packed16 => Normals::Alpha,
        }
    }
}

/// A frame rate as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rate {
    Fixed(f64),
    Auto,
}

impl Rate {
    pub(crate) fn fixed(self) -> Option<f64> {
        match self {
            Self::Fixed(fps) => Some(fps),
            Self::Auto => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RootName {
    Keep,
    Strip,
    Extract,
}

/// A length as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Length {
    Metres(f64),
    /// A part of the model's size.
    OfSize(f64),
}

/// When a clip's frames are, and what happens at its end.
#[derive(Args, Clone, Debug)]
pub(crate) struct Timing {
    /// Only these clips; may be given several times
    #[arg(long, value_name = "NAME|GLOB|INDEX")]
    pub(crate) clip: Vec<String>,
    /// Frames per second, or auto: the lowest rate that keeps to --max-error. Without it the rate of the
    /// model's keys, else 30
    #[arg(long, allow_negative_numbers = true, value_name = "N|auto", value_parser = rate)]
    pub(crate) fps: Option<Rate>,
    /// What happens at a clip's end; without it a clip that ends in its first pose is a loop
    #[arg(long = "loop", value_name = "loop|once|ping-pong", value_parser = parser::<LoopMode>(&LoopMode::ALL, LoopMode::name))]
    pub(crate) loop_mode: Option<LoopMode>,
    /// Begin each clip at its first key instead of at time 0
    #[arg(long)]
    pub(crate) trim: bool,
    /// What becomes of the way over the ground: baked, taken out, or taken out and said in the asset
    #[arg(long, value_enum, default_value = "keep")]
    pub(crate) root: RootName,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  throng bake fox.glb -o fox.vat.glb\n  throng bake knight.glb -o knight.vat.glb --clip 'Walk*' --clip Idle --encoding float16\n  throng bake models/*.glb --out-dir baked --jobs 2 --changed\n  throng bake builtin:flag -o flag.vat.glb"
)]
pub(crate) struct Bake {
    /// What to bake: animated models (.glb, .gltf, .fbx), meshes with a point cache, sequences of meshes
    /// (.obj, .ply), builtin:NAME
    #[arg(required = true, value_name = "MODEL")]
    pub(crate) sources: Vec<String>,
    /// Where to write
    #[arg(short, long, value_name = "FILE", required_unless_present = "out_dir", conflicts_with = "out_dir")]
    pub(crate) output: Option<PathBuf>,
    /// Folder for the outputs, each named as its model with .vat.glb
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out_dir: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
    /// Leave out what was baked already, from the same files with the same options; overwrites the rest
    #[arg(long)]
    pub(crate) changed: bool,
    /// Models that are baked at the same time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) jobs: u32,
    #[command(flatten)]
    pub(crate) points: PointArgs,
    #[command(flatten)]
    pub(crate) timing: Timing,
    /// How positions are stored
    #[arg(long, default_value = "unorm16", value_parser = parser::<Stored>(Stored::ALL, Stored::name))]
    pub(crate) encoding: Stored,
    /// Choose the smallest encoding whose worst vertex is no further off, at baked frames and between:
    /// 0.5mm, 1cm, 0.001m, or 0.1% of the model's size
    #[arg(long, value_name = "LENGTH", value_parser = length, conflicts_with = "encoding")]
    pub(crate) max_error: Option<Length>,
    /// How the player will blend between frames, for --max-error
    #[arg(long, default_value = "linear", value_parser = parser::<FrameBlend>(FrameBlend::ALL, FrameBlend::name))]
    pub(crate) blend: FrameBlend,
    /// Where normals come from; default texture16, or alpha with packed16
    #[arg(long, value_parser = parser::<Normals>(Normals::ALL, Normals::name))]
    pub(crate) normals: Option<Normals>,
    /// What positions are measured from
    #[arg(long, default_value = "absolute", value_parser = parser::<PositionSpace>(PositionSpace::ALL, PositionSpace::name))]
    pub(crate) space: PositionSpace,
    /// Largest side of a texture, texels
    #[arg(long, default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) max_texture_size: u32,
    /// Levels of detail: each has half the triangles of the one before, over the same vertices
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=8))]
    pub(crate) lods: u32,
    /// How texels lie in the file
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) compression: CompressionName,
    /// Keep skeleton, weights and clips as ordinary glTF in the same file, so that any viewer plays it;
    /// done for skinned models where nothing is said
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) keep_rig: Option<bool>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Inspect {
    /// An asset: a .vat.glb file, a foreign folder, builtin:NAME
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    Cpu,
    Gpu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeshFormat {
    Json,
    Obj,
    Ply,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  throng sample wave_vat/ --frame 12 --format obj > wave.obj\n  throng sample flag.vat.glb --time 0.55 --clip fly --blend catmull-rom",
    group(clap::ArgGroup::new("moment").required(true).args(["frame", "time"]))
)]
pub(crate) struct Sample {
    /// An asset: a .vat.glb file, a foreign folder, builtin:NAME
    pub(crate) path: PathBuf,
    /// Frame of the clip, from 0; may lie between two
    #[arg(long, allow_negative_numbers = true, value_parser = finite)]
    pub(crate) frame: Option<f64>,
    /// Seconds from the clip's beginning; goes on as the clip's loop mode says
    #[arg(long, allow_hyphen_values = true, value_parser = finite)]
    pub(crate) time: Option<f64>,
    /// The clip, by name, index or glob; the first without it
    #[arg(long, value_name = "NAME|GLOB|INDEX")]
    pub(crate) clip: Option<String>,
    /// How the picture between two frames is made
    #[arg(long, default_value = "linear", value_parser = parser::<FrameBlend>(FrameBlend::ALL, FrameBlend::name))]
    pub(crate) blend: FrameBlend,
    /// Who decodes
    #[arg(long, value_enum, default_value = "cpu")]
    pub(crate) device: Device,
    /// How the mesh is printed
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: MeshFormat,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  throng capture assets/scenes/demo.json -o demo.png\n  throng capture flag.vat.glb --count 100 --frames 48 --fps 12 -o flags.gif"
)]
pub(crate) struct Capture {
    /// A scene (.json) or an asset
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) writing: Writing,
    /// Size of the picture, WIDTHxHEIGHT
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub(crate) size: Option<[u32; 2]>,
    /// Time of the picture, seconds
    #[arg(long, allow_hyphen_values = true, value_parser = finite)]
    pub(crate) time: Option<f64>,
    /// Size of each crowd
    #[arg(long, value_parser = clap::value_parser!(u32).range(..=10_000_000))]
    pub(crate) count: Option<u32>,
    /// Number of pictures: numbered files, or one animation when the output ends in .gif
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) frames: Option<u32>,
    /// Pictures per second of a sequence; default 30
    #[arg(long, allow_negative_numbers = true, value_parser = fps)]
    pub(crate) fps: Option<f64>,
    /// The clips that are played: a name, index or glob
    #[arg(long, value_name = "NAME|GLOB|INDEX")]
    pub(crate) clip: Option<String>,
    /// How the picture between two frames is made
    #[arg(long, value_parser = parser::<FrameBlend>(FrameBlend::ALL, FrameBlend::name))]
    pub(crate) blend: Option<FrameBlend>,
    #[command(flatten)]
    pub(crate) points: PointArgs,
    /// Level of detail that is drawn; 0 is the full mesh
    #[arg(long, value_name = "LEVEL")]
    pub(crate) lod: Option<u32>,
    /// Which frame a foreign mesh is stored at
    #[arg(long, allow_negative_numbers = true, default_value = "auto", value_name = "auto|basis|N")]
    pub(crate) mesh_frame: MeshFrame,
    /// Print what was drawn as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ViewArgs {
    /// A scene (.json) or an asset
    pub(crate) path: PathBuf,
    /// Size of each crowd
    #[arg(long, value_parser = clap::value_parser!(u32).range(..=10_000_000))]
    pub(crate) count: Option<u32>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        format!(
            "{} (asset format {}, wgpu {})",
            env!("CARGO_PKG_VERSION"),
            throng::asset::glb::FORMAT_VERSION,
            throng::gpu::WGPU_VERSION
        )
    });
    &VERSION
}

/// A parser that knows an axis' names, so that help lists them and mistakes are answered with them.
fn parser<T: Copy + Clone + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl clap::builder::TypedValueParser<Value = T> {
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(all.iter().map(|value| name(*value))).map(move |found| {
        let same = all.iter().find(|value| name(**value) == found);
        *same.unwrap_or(&all[0])
    })
}

fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("expected a finite number".to_owned()),
    }
}

fn fps(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1000.0 => Ok(number),
        _ => Err("expected a number above 0, at most 1000".to_owned()),
    }
}

fn rate(text: &str) -> Result<Rate, String> {
    if text == "auto" {
        return Ok(Rate::Auto);
    }
    fps(text).map(Rate::Fixed).map_err(|error| format!("{error}, or auto"))
}

fn length(text: &str) -> Result<Length, String> {
    // Long units first: millimetres end in an m too.
    let units = [("mm", 1e-3), ("cm", 1e-2), ("um", 1e-6), ("µm", 1e-6), ("m", 1.0), ("%", 1e-2)];
    for (unit, factor) in units {
        let Some(number) = text.strip_suffix(unit) else { continue };
        return match number.trim().parse::<f64>() {
            Ok(number) if number > 0.0 && number.is_finite() => {
                let value = number * factor;
                Ok(if unit == "%" { Length::OfSize(value) } else { Length::Metres(value) })
            }
            _ => Err("expected a number above 0 before the unit".to_owned()),
        };
    }
    Err("expected a length with its unit: mm, cm, m, um, or % of the model's size".to_owned())
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once(['x', 'X', '×']).and_then(|(width, height)| {
        let sides = [width.parse::<u32>().ok()?, height.parse::<u32>().ok()?];
        sides.iter().all(|side| (1..=throng::scene::MAX_PICTURE_SIZE).contains(side)).then_some(sides)
    });
    sides.ok_or_else(|| "expected WIDTHxHEIGHT, each 1 to 16384".to_owned())
}
