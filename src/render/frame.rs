use std::ops::Range;

use super::model::entry;
use super::uniforms::{self, ClipCursor};

/// Where cursors begin: behind the view, at an offset that every device can bind.
const CURSORS_AT: usize = size_of::<uniforms::View>().next_multiple_of(256);

/// What the CPU writes for a view: the view and a cursor for each clip of each model, in one buffer, so
/// that it takes one write.
pub(super) struct FrameBuffer {
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
    bytes: Vec<u8>,
}

impl FrameBuffer {
    pub(super) fn new(device: &wgpu::Device, layout: &wgpu::BindGroupLayout) -> Self {
        Self::with_room(device, layout, 1)
    }

    fn with_room(device: &wgpu::Device, layout: &wgpu::BindGroupLayout, cursors: usize) -> Self {
        let size = CURSORS_AT + cursors * size_of::<ClipCursor>();
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("render: frame"),
            size: size as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let part = |offset: usize, size: usize| {
            wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &buffer,
                offset: offset as u64,
                size: std::num::NonZeroU64::new(size as u64),
            })
        };
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("render: view"),
            layout,
            entries: &[
                entry(0, part(0, size_of::<uniforms::View>())),
                entry(1, part(CURSORS_AT, size - CURSORS_AT)),
            ],
        });
        Self { buffer, group, bytes: vec![0; size] }
    }

    /// Makes room for cursors up to `end`; what was written before is gone.
    pub(super) fn reserve(&mut self, device: &wgpu::Device, layout: &wgpu::BindGroupLayout, end: u32) {
        if CURSORS_AT + end as usize * size_of::<ClipCursor>() > self.bytes.len() {
            *self = Self::with_room(device, layout, (end as usize).next_power_of_two());
        }
    }

    pub(super) fn set_view(&mut self, view: &uniforms::View) {
        let bytes = bytemuck::bytes_of(view);
        self.bytes[..bytes.len()].copy_from_slice(bytes);
    }

    pub(super) fn set_cursor(&mut self, index: u32, cursor: &ClipCursor) {
        let at = CURSORS_AT + index as usize * size_of::<ClipCursor>();
        self.bytes[at..at + size_of::<ClipCursor>()].copy_from_slice(bytemuck::bytes_of(cursor));
    }

    /// Writes the view and the cursors up to `end`; gives the number of bytes.
    pub(super) fn write(&self, queue: &wgpu::Queue, end: u32) -> u64 {
        let bytes = &self.bytes[..CURSORS_AT + end as usize * size_of::<ClipCursor>()];
        queue.write_buffer(&self.buffer, 0, bytes);
        bytes.len() as u64
    }

    pub(super) fn group(&self) -> &wgpu::BindGroup {
        &self.group
    }
}

/// The first place for `count` cursors between those that are `taken`, which are in any order.
pub(super) fn free_place(mut taken: Vec<Range<u32>>, count: u32) -> u32 {
    taken.sort_by_key(|range| range.start);
    let mut place = 0;
    for range in taken {
        if range.start >= place + count {
            break;
        }
        place = place.max(range.end);
    }
    place
}

#[cfg(test)]
mod tests {
    use super::free_place;

    #[test]
    fn places_do_not_overlap() {
        assert_eq!(free_place(vec![], 3), 0);
        assert_eq!(free_place(vec![0..3, 3..5], 1), 5);
        assert_eq!(free_place(vec![4..5, 0..2], 2), 2);
        assert_eq!(free_place(vec![4..5, 0..2], 3), 5);
    }
}
