//! Throng bakes, reads, checks and draws **vertex animation textures**: an animation stored in the
//! texels of a texture, so that a vertex shader replays it and one instanced draw call animates a
//! whole crowd.
//!
//! The modules stand in the order in which a frame of animation travels:
//!
//! ```text
//! source ──► bake ──► asset ──► render ──► capture
//! import ───────────────┘ │        ▲
//!                         │      scene (assets, crowd, camera, light, time)
//!        vat: what a texel means, Rust beside WGSL
//! ```
//!
//! Without default features the crate is the offline half: [`vat`], [`asset`], [`source`],
//! [`import`] and [`bake`], without a graphics library. The feature `render` adds `gpu`, `crowd`,
//! `render`, `scene` and `capture`; the feature `app` adds the program.

pub mod bounds;
pub mod clip;
pub mod material;
pub mod mesh;
pub mod output;
pub mod random;
pub mod skeleton;
pub mod vat;

pub mod asset;
pub mod bake;
pub mod import;
pub mod source;

pub mod crowd;
#[cfg(feature = "render")]
pub mod gpu;
#[cfg(feature = "render")]
pub mod render;
#[cfg(feature = "render")]
pub mod scene;

#[cfg(feature = "render")]
pub mod capture;
