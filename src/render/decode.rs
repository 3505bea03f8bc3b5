//! Decodes a pose on the GPU and reads it back: the twin of [`Asset::pose`], by the functions that draw.

use super::model::{buffer, entry, fitted};
use super::uniforms::{DecodedVertex, RestVertex, SoftTexels};
use crate::asset::{Asset, Pose};
use crate::gpu;
use crate::gpu::texture;
use crate::gpu::{Gpu, readback, shader};
use crate::vat::playback::Frames;
use crate::vat::{FrameBlend, Normals};

/// The mesh at `frames`, decoded by a compute shader. See [`Asset::pose`] for flat normals.
///
/// # Errors
/// [`gpu::Error`] when the asset does not fit the device, or the device is lost or hangs.
pub async fn pose(gpu: &Gpu, asset: &Asset, frames: Frames, blend: FrameBlend) -> Result<Pose, gpu::Error> {
    let (device, queue) = (&gpu.device, &gpu.queue);
    let animation = fitted(&asset.animation, device.limits().max_texture_dimension_2d)?;
    let mesh = &asset.mesh;
    let rest: Vec<RestVertex> = (0..mesh.vertex_count())
        .map(|index| RestVertex {
            position: mesh.positions[index],
            element: mesh.elements[index],
            normal: mesh.normals[index],
            pad: 0,
        })
        .collect();
    let count = rest.len();
    let rest = buffer(device, "decode: rest mesh", bytemuck::cast_slice(&rest), wgpu::BufferUsages::STORAGE)?;
    let limit = device.limits().max_storage_buffer_binding_size;
    if rest.size() > limit {
        return Err(gpu::Error::BufferTooLarge { what: "decode: rest mesh", needed: rest.size(), limit });
    }
    let decoded = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("decode: pose"),
        size: (count * size_of::<DecodedVertex>()) as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    let soft = SoftTexels::new(&animation, 0);
    let soft = buffer(device, "decode: texels", bytemuck::bytes_of(&soft), wgpu::BufferUsages::UNIFORM)?;
    let moment = buffer(device, "decode: moment", bytemuck::bytes_of(&frames), wgpu::BufferUsages::STORAGE)?;
    let upload = |label, texels: &crate::vat::Texels| {
        texture::upload(device, queue, label, texels, texture::integer_format(texels.format()))
    };
    let positions = upload("decode: positions", &animation.positions)?;
    // Where there are no normals the shader does not read them, but the binding wants a texture.
    let normals =
        upload("decode: normals", animation.normal_texels.as_ref().unwrap_or(&animation.positions))?;
    let constants = [
        ("ENCODING", f64::from(animation.encoding as u32)),
        ("NORMALS", f64::from(animation.normals as u32)),
        ("FRAME_BLEND", f64::from(blend as u32)),
        ("POSITION_SPACE", f64::from(animation.space as u32)),
    ];
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("decode: soft"),
        layout: None,
        module: &shader::module(device, "decode"),
        entry_point: Some("decode_soft"),
        compilation_options: wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() },
        cache: None,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("decode: soft"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            entry(0, soft.as_entire_binding()),
            entry(1, moment.as_entire_binding()),
            entry(2, wgpu::BindingResource::TextureView(&positions)),
            entry(3, wgpu::BindingResource::TextureView(&normals)),
            entry(4, rest.as_entire_binding()),
            entry(5, decoded.as_entire_binding()),
        ],
    });
    let mut encoder =
        device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("decode") });
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        let groups = u32::try_from(count.div_ceil(64)).unwrap_or(u32::MAX);
        let across = groups.min(device.limits().max_compute_workgroups_per_dimension);
        pass.dispatch_workgroups(across, groups.div_ceil(across), 1);
    }
    queue.submit([encoder.finish()]);
    let bytes = readback::buffer(gpu, &decoded).await?;
    let vertices: Vec<DecodedVertex> = bytemuck::pod_collect_to_vec(&bytes);
    let positions: Vec<_> = vertices.iter().map(|vertex| vertex.position).collect();
    let normals = match animation.normals {
        Normals::Flat => mesh.angle_weighted_normals(&positions),
        _ => vertices.iter().map(|vertex| vertex.normal).collect(),
    };
    let has_tangents = animation.normals == Normals::Rotation;
    let tangents = vertices.iter().filter(|_| has_tangents).map(|vertex| vertex.tangent).collect();
    Ok(Pose { positions, normals, tangents })
}
