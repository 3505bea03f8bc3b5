//! GPU → CPU.

use super::{Error, Gpu};

/// The bytes of `buffer`, which was made with `COPY_SRC`.
///
/// # Errors
/// [`Error::Lost`], [`Error::TimedOut`], or the first fault there was.
pub async fn buffer(gpu: &Gpu, buffer: &wgpu::Buffer) -> Result<Vec<u8>, Error> {
    let staging = staging(gpu, buffer.size());
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
    gpu.queue.submit([encoder.finish()]);
    read(gpu, &staging).await
}

/// Pixels of `texture`, four bytes each, top row first, without padding. It was made with `COPY_SRC`.
///
/// # Errors
/// [`Error::Lost`], [`Error::TimedOut`], or the first fault there was.
pub async fn rgba(gpu: &Gpu, texture: &wgpu::Texture) -> Result<Vec<u8>, Error> {
    let row_bytes = texture.width() * 4;
    let padded = row_bytes.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let staging = staging(gpu, u64::from(padded) * u64::from(texture.height()));
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &staging,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(padded),
                rows_per_image: None,
            },
        },
        texture.size(),
    );
    gpu.queue.submit([encoder.finish()]);
    let bytes = read(gpu, &staging).await?;
    let rows = bytes.chunks_exact(padded as usize);
    Ok(rows.flat_map(|row| &row[..row_bytes as usize]).copied().collect())
}

fn staging(gpu: &Gpu, size: u64) -> wgpu::Buffer {
    gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("readback: staging"),
        size,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    })
}

async fn read(gpu: &Gpu, staging: &wgpu::Buffer) -> Result<Vec<u8>, Error> {
    let (sender, receiver) = std::sync::mpsc::channel();
    staging.map_async(wgpu::MapMode::Read, .., move |result| {
        // The receiver is gone only after a fault, which is reported already.
        sender.send(result).ok();
    });
    gpu.wait()?;
    match receiver.try_recv() {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(Error::Lost(error.to_string())),
        Err(error) => return Err(Error::Lost(error.to_string())),
    }
    let mapped = staging.get_mapped_range(..).map_err(|error| Error::Device(error.to_string()))?;
    Ok(mapped.to_vec())
}
