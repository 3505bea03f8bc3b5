use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// GPU time of a pass, by timestamps at its ends. Results come a few frames late and are never waited for.
pub struct Timer {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    staging: wgpu::Buffer,
    period_ns: f32,
    /// Nanoseconds of the last pass that is known; [`IDLE`] and [`BUSY`] tell the state of `staging`.
    nanoseconds: Arc<AtomicU64>,
    busy: Arc<AtomicU64>,
}

const IDLE: u64 = 0;
const BUSY: u64 = 1;

impl Timer {
    /// `None` where the device has no timestamps.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Option<Self> {
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let buffer = |label, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: 16,
                usage,
                mapped_at_creation: false,
            })
        };
        Some(Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timer: pass"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: buffer(
                "timer: resolved",
                wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            ),
            staging: buffer("timer: staging", wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
            period_ns: queue.get_timestamp_period(),
            nanoseconds: Arc::default(),
            busy: Arc::default(),
        })
    }

    /// What the pass descriptor takes.
    pub fn writes(&self) -> wgpu::RenderPassTimestampWrites<'_> {
        wgpu::RenderPassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    /// After the pass, before the encoder is finished.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        if self.busy.load(Ordering::Acquire) == IDLE {
            encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.staging, 0, 16);
        }
    }

    /// After the encoder was submitted.
    pub fn fetch(&self) {
        if self.busy.swap(BUSY, Ordering::AcqRel) == BUSY {
            return;
        }
        let (staging, period) = (self.staging.clone(), self.period_ns);
        let (nanoseconds, busy) = (Arc::clone(&self.nanoseconds), Arc::clone(&self.busy));
        self.staging.map_async(wgpu::MapMode::Read, .., move |result| {
            if result.is_ok() {
                if let Ok(mapped) = staging.get_mapped_range(..) {
                    let stamps: &[[u8; 8]] = mapped.as_chunks().0;
                    let [begin, end] = [0, 1].map(|at| u64::from_le_bytes(stamps[at]));
                    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
                    nanoseconds.store((end.saturating_sub(begin) as f32 * period) as u64, Ordering::Release);
                }
                staging.unmap();
            }
            busy.store(IDLE, Ordering::Release);
        });
    }

    /// Milliseconds of the last pass that is known, `None` before the first.
    pub fn milliseconds(&self) -> Option<f64> {
        match self.nanoseconds.load(Ordering::Acquire) {
            0 => None,
            nanoseconds => Some(nanoseconds as f64 / 1e6),
        }
    }
}
