//! Sources that are made here, so that there is something to bake, draw and test without any file.

use super::Source;

mod cloth;
mod flag;
mod ribbon;

/// Name and description of each built-in source.
pub const ALL: &[(&str, &str)] = &[
    ("flag", "a cloth flag in gusting wind, on a pole: one looping clip of 4 seconds"),
    ("ribbon", "a studded ribbon that bows and twists, with a normal map: one looping clip of 2 seconds"),
];

/// Frame rate where none is asked for.
pub const DEFAULT_FPS: f64 = 30.0;

/// Frame rates that the built-in sources can be sampled at.
pub const FPS: std::ops::RangeInclusive<f64> = 1.0..=240.0;

/// Why there is no such source.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No source of that name.
    #[error("unknown built-in source {found:?}, expected one of: {known}")]
    Unknown {
        /// What was asked for.
        found: String,
        /// What there is.
        known: String,
    },
    /// A frame rate that sources are not sampled at.
    #[error("found a frame rate of {found}, expected 1 to 240 frames per second")]
    Fps {
        /// What was asked for.
        found: f64,
    },
}

/// Makes the source `name`, sampled at `fps` frames a second, as near as a whole number of frames in
/// its loop allows. The same name and rate give the same bits on x86-64.
///
/// # Errors
/// [`Error`].
pub fn make(name: &str, fps: Option<f64>) -> Result<Source, Error> {
    let fps = fps.unwrap_or(DEFAULT_FPS);
    if !FPS.contains(&fps) {
        return Err(Error::Fps { found: fps });
    }
    match name {
        "flag" => Ok(flag::flag(fps)),
        "ribbon" => Ok(ribbon::ribbon(fps)),
        _ => Err(Error::Unknown {
            found: name.to_owned(),
            known: ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
        }),
    }
}
