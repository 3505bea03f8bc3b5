use std::time::Duration;

/// Why the GPU cannot do what was asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No adapter answers.
    #[error("found no graphics adapter: {tried}")]
    NoAdapter {
        /// What was tried, and what each answered.
        tried: String,
    },
    /// The adapter lacks something that drawing needs.
    #[error("the graphics adapter {adapter} lacks {what}")]
    TooWeak {
        /// What is missing.
        what: &'static str,
        /// The adapter's name.
        adapter: String,
    },
    /// A texture is larger than the device allows, however it is arranged.
    #[error("a texture of {width}×{height} is needed, the device allows {limit}×{limit}")]
    TextureTooLarge {
        /// Width needed.
        width: u32,
        /// Height needed.
        height: u32,
        /// Largest side.
        limit: u32,
    },
    /// Texels for which no arrangement fits the device.
    #[error(transparent)]
    DoesNotFit(#[from] crate::vat::grid::DoesNotFit),
    /// A buffer is larger than the device allows.
    #[error("{what} need {needed} bytes, the device allows {limit} in a buffer")]
    BufferTooLarge {
        /// What is in the buffer.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Largest buffer.
        limit: u64,
    },
    /// The device has no memory left.
    #[error("the graphics device is out of memory: try a smaller crowd or picture")]
    OutOfMemory,
    /// The device refused.
    #[error("the graphics device refused: {0}")]
    Device(String),
    /// The device is gone: a driver reset, sleep, an unplugged adapter.
    #[error("the graphics device was lost: {0}")]
    Lost(String),
    /// The device does not answer.
    #[error("the graphics device did not answer within {0:?}")]
    TimedOut(Duration),
}
