//! Where a texel is: element and frame to column and row.
//!
//! ```text
//!              band 0                  band 1
//!         e0 e1 … e(c-1)          e0 e1 … e(c-1)
//! frame 0 ec …            frame k …                 rows_per_frame = ceil(elements / columns)
//! frame 1 e0 e1 …         frame k+1                 k = frames_per_band
//! ```
//!
//! An element keeps its column in every frame of a band. Where one row holds all elements,
//! neighbouring rows are neighbouring frames, which the sampler path needs. Bands are only used
//! where one column of frames is taller than a texture may be.
//!
//! Twin: `shaders/vat/grid.wgsl`.

use glam::{UVec2, uvec2};

/// The arrangement of texels in a texture.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Grid {
    /// Elements per row.
    pub columns: u32,
    /// Rows that one frame takes: more than one where the elements wrap.
    pub rows_per_frame: u32,
    /// Frames stacked in one band.
    pub frames_per_band: u32,
    /// Frames in all.
    pub frame_count: u32,
}

/// Texel address of `element` in `frame`.
#[inline]
pub fn texel_address(grid: Grid, element: u32, frame: u32) -> UVec2 {
    let band = frame / grid.frames_per_band;
    let frame_in_band = frame % grid.frames_per_band;
    uvec2(
        band * grid.columns + element % grid.columns,
        frame_in_band * grid.rows_per_frame + element / grid.columns,
    )
}

/// Elements and frames for which no arrangement fits a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{elements} elements × {frames} frames do not fit a texture of {max_size}×{max_size} texels: \
     use fewer frames (fewer clips, a lower rate), fewer vertices or a larger texture limit"
)]
pub struct DoesNotFit {
    /// Elements asked for.
    pub elements: u32,
    /// Frames asked for.
    pub frames: u32,
    /// Largest width and height.
    pub max_size: u32,
}

impl Grid {
    /// The arrangement for `elements` and `frames` (each at least 1) with neither side above
    /// `max_size`: as few rows per frame as possible, then as few bands as possible.
    ///
    /// # Errors
    /// [`DoesNotFit`] when no arrangement has room, or when either count is 0.
    pub fn new(elements: u32, frames: u32, max_size: u32) -> Result<Self, DoesNotFit> {
        let refusal = DoesNotFit { elements, frames, max_size };
        if elements == 0 || frames == 0 || max_size == 0 {
            return Err(refusal);
        }
        for rows_per_frame in elements.div_ceil(max_size)..=max_size {
            let columns = elements.div_ceil(rows_per_frame);
            let bands = frames.div_ceil(max_size / rows_per_frame);
            if u64::from(columns) * u64::from(bands) <= u64::from(max_size) {
                return Ok(Self {
                    columns,
                    rows_per_frame: elements.div_ceil(columns),
                    frames_per_band: frames.div_ceil(bands),
                    frame_count: frames,
                });
            }
        }
        Err(refusal)
    }

    /// Side by side stacks of frames.
    pub fn bands(self) -> u32 {
        self.frame_count.div_ceil(self.frames_per_band)
    }

    /// Width and height of the texture, `None` where they overflow or a count is 0.
    pub fn size(self) -> Option<UVec2> {
        if self.frames_per_band == 0 {
            return None;
        }
        let size = uvec2(
            self.columns.checked_mul(self.bands())?,
            self.rows_per_frame.checked_mul(self.frames_per_band)?,
        );
        (size.x > 0 && size.y > 0).then_some(size)
    }

    /// Elements that have a texel of their own in each frame.
    pub fn element_capacity(self) -> u64 {
        u64::from(self.columns) * u64::from(self.rows_per_frame)
    }

    /// The texture row below a frame's row is the next frame, for every frame.
    pub fn rows_are_frames(self) -> bool {
        self.rows_per_frame == 1 && self.bands() == 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_texel_is_distinct_and_inside_around_the_wrap() {
        for max_size in [256, 1024] {
            for elements in [1, 2, 255, 256, 257, 1023, 1024, 1025, 4095, 4097] {
                for frames in [1, 2, 31, 300] {
                    let Ok(grid) = Grid::new(elements, frames, max_size) else {
                        assert!(
                            u64::from(elements) * u64::from(frames)
                                > u64::from(max_size) * u64::from(max_size) / 2
                        );
                        continue;
                    };
                    let size = grid.size().unwrap();
                    assert!(size.max_element() <= max_size, "{grid:?}");
                    assert!(grid.element_capacity() >= u64::from(elements));
                    let mut seen = HashSet::new();
                    for frame in 0..frames {
                        for element in 0..elements {
                            let at = texel_address(grid, element, frame);
                            assert!(at.cmplt(size).all(), "{grid:?} {element} {frame}");
                            assert!(seen.insert(at), "{grid:?} {element} {frame}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn counts_that_do_not_fit_are_refused_with_the_numbers() {
        let refusal = Grid::new(70_000, 5_000, 8192).unwrap_err();
        assert_eq!(refusal, DoesNotFit { elements: 70_000, frames: 5_000, max_size: 8192 });
        assert!(Grid::new(65_700, 31, 2048).is_ok());
        assert!(Grid::new(10, 100_000, 8192).is_ok(), "more frames than rows go into bands");
        assert!(Grid::new(0, 1, 8192).is_err());
    }
}
