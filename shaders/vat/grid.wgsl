// Where a texel is: element and frame to column and row. Twin of src/vat/grid.rs, which has the picture.

struct Grid {
    columns: u32,
    rows_per_frame: u32,
    frames_per_band: u32,
    frame_count: u32,
}

fn texel_address(grid: Grid, element: u32, frame: u32) -> vec2u {
    let band = frame / grid.frames_per_band;
    let frame_in_band = frame % grid.frames_per_band;
    return vec2u(
        band * grid.columns + element % grid.columns,
        frame_in_band * grid.rows_per_frame + element / grid.columns,
    );
}
