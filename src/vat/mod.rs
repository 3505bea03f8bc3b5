//! What a texel means: encode and decode of every axis, Rust beside WGSL.
//!
//! Four things vary independently, and each is owned by one file here and its twin of the same stem
//! in `shaders/vat/`: the **mode** ([`soft`]), the **encoding** ([`encoding`]), the **normals**
//! ([`normals`]) and the **frame blend** ([`playback`]). [`grid`] says where a texel is.
//!
//! Free functions without the prefix `encode_` have a WGSL twin with the same parameters; a test
//! holds both sides together, and another runs both on the same data.

pub mod encoding;
pub mod grid;
pub mod normals;
pub mod playback;
pub mod rotation;
pub mod soft;
mod texels;

pub use texels::{TexelFormat, Texels, blocks};

/// Declares an axis: an enum whose numbers the shaders share and whose names files and the command
/// line share.
macro_rules! axis {
    ($(#[$doc:meta])* $axis:ident { $($(#[doc = $text:literal])+ $variant:ident = $number:literal, $name:literal;)+ }) => {
        $(#[$doc])*
        #[repr(u32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $axis { $($(#[doc = $text])+ #[serde(rename = $name)] $variant = $number,)+ }

        impl $axis {
            /// Every variant, in the order of the numbers that shaders use.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name used in files, on the command line and in the panel.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// One sentence for people.
            pub fn doc(self) -> &'static str {
                match self { $(Self::$variant => concat!($($text,)+).trim_ascii(),)+ }
            }
        }

        impl std::fmt::Display for $axis {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $axis {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, UnknownName> {
                Self::ALL.iter().copied().find(|variant| variant.name() == text).ok_or_else(|| UnknownName {
                    found: text.to_owned(),
                    known: Self::ALL.iter().map(|variant| variant.name()).collect::<Vec<_>>().join(", "),
                })
            }
        }
    };
}

axis! {
    /// What owns a column of texels, and what its texels do to the mesh.
    Mode {
        /// One element per moving vertex; its texel is that vertex's position.
        Soft = 0, "soft";
    }
}

axis! {
    /// How a position is stored in a texel of four channels.
    Encoding {
        /// 8-bit fixed point across the bounds: 4 bytes a texel, error at most 1/510 of the bounds.
        Unorm8 = 0, "unorm8";
        /// 16-bit fixed point across the bounds: 8 bytes a texel, error at most 1/131070 of the bounds.
        Unorm16 = 1, "unorm16";
        /// Half floats in metres: 8 bytes a texel, error at most 1/2048 of the value.
        Float16 = 2, "float16";
        /// Half floats across the bounds: 8 bytes a texel, error at most 1/4096 of the bounds.
        Float16Bounded = 3, "float16-bounded";
        /// Single floats in metres: 16 bytes a texel, exact.
        Float32 = 4, "float32";
        /// 16-bit fixed point in two texels of 8 bits, base 256: 8 bytes, error at most 1/131070 of the bounds.
        Split256 = 5, "split256";
        /// Fixed point in two texels of 8 bits, base 255: 8 bytes, error at most 1/130050 of the bounds.
        Split255 = 6, "split255";
        /// Blocks of 4 x 4 texels (BC6H): 1 byte a texel, an error that only measuring can tell.
        Bc6h = 7, "bc6h";
    }
}

axis! {
    /// Where the normals of a moving vertex come from.
    Normals {
        /// The rest normals, unchanged.
        Rest = 0, "none";
        /// A texture of octahedral normals, 8 bits a coordinate: 2 bytes a texel.
        Texture8 = 1, "texture8";
        /// A texture of octahedral normals, 16 bits a coordinate: 4 bytes a texel.
        Texture16 = 2, "texture16";
        /// Face normals from screen-space derivatives, nothing stored.
        Flat = 3, "flat";
        /// Octahedral normals in the positions' alpha, half of its bits a coordinate: nothing more is stored.
        Alpha = 4, "alpha";
        /// A texture of quaternions that carry normal and tangent, for normal maps: 8 bytes a texel.
        Rotation = 5, "rotation";
    }
}

axis! {
    /// How the picture between two animation frames is made.
    FrameBlend {
        /// Holds each frame until the next.
        Step = 0, "step";
        /// Straight line between two frames.
        Linear = 1, "linear";
        /// Uniform Catmull-Rom spline through four frames; normals are blended linearly.
        CatmullRom = 2, "catmull-rom";
    }
}

axis! {
    /// What a decoded position is measured from.
    PositionSpace {
        /// The position itself.
        Absolute = 0, "absolute";
        /// A displacement, added to the rest position.
        Offset = 1, "offset";
    }
}

/// A name that no variant of an axis has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown name {found:?}, expected one of: {known}")]
pub struct UnknownName {
    /// What was given.
    pub found: String,
    /// The names that exist.
    pub known: String,
}
