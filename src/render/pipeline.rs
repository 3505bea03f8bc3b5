use std::collections::HashMap;

use super::Target;
use super::uniforms::TEXTURE_NORMAL;
use crate::gpu::shader;
use crate::vat::{Encoding, FrameBlend, Normals, PositionSpace};

/// Everything that makes another pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Background,
    Soft {
        pass: Pass,
        reading: Reading,
        encoding: Encoding,
        normals: Normals,
        frame_blend: FrameBlend,
        space: PositionSpace,
        double_sided: bool,
        /// Bits of the material's textures, `TEXTURE_…` of [`super::uniforms`].
        textures: u32,
    },
}

impl Key {
    /// Whether the draw needs tangents.
    pub(super) fn is_mapped(self) -> bool {
        matches!(self, Self::Soft { textures, .. } if textures & TEXTURE_NORMAL != 0)
    }
}

/// What a draw is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pass {
    Shaded,
    Shadow,
}

/// How positions are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reading {
    /// Integer texels by address.
    Texels,
    /// Two frames at once, by a sampler.
    Sampler,
    /// Blocks by address.
    Blocks,
}

/// Layouts of the bind groups, by group.
pub(super) struct Layouts {
    pub(super) view: wgpu::BindGroupLayout,
    pub(super) material: wgpu::BindGroupLayout,
    pub(super) animation: wgpu::BindGroupLayout,
    pub(super) sampler: wgpu::BindGroupLayout,
}

/// Pipelines, made on first use.
pub(super) struct Pipelines {
    device: wgpu::Device,
    target: Target,
    vat: wgpu::ShaderModule,
    ground: wgpu::ShaderModule,
    layout_of_background: wgpu::PipelineLayout,
    layout: wgpu::PipelineLayout,
    layout_with_sampler: wgpu::PipelineLayout,
    made: HashMap<Key, wgpu::RenderPipeline>,
}

/// One mesh vertex in its buffer: 36 bytes.
pub(super) const VERTEX_ATTRIBUTES: [wgpu::VertexAttribute; 4] =
    wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x2, 3 => Uint32];
/// One tangent of a mesh, in a buffer of their own: only normal maps need them.
pub(super) const TANGENT_ATTRIBUTES: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![10 => Float32x4];
/// One [`crate::crowd::Instance`].
pub(super) const INSTANCE_ATTRIBUTES: [wgpu::VertexAttribute; 6] = wgpu::vertex_attr_array![
    4 => Float32x4, 5 => Float32x2, 6 => Unorm8x4, 7 => Uint32, 8 => Uint32, 9 => Sint32
];

impl Layouts {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let both = wgpu::ShaderStages::VERTEX_FRAGMENT;
        let vertex = wgpu::ShaderStages::VERTEX;
        let fragment = wgpu::ShaderStages::FRAGMENT;
        let uniform = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let storage = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let texture = |sample_type| wgpu::BindingType::Texture {
            sample_type,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let filterable = texture(wgpu::TextureSampleType::Float { filterable: true });
        let integer = texture(wgpu::TextureSampleType::Uint);
        let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        let group = |label, entries: &[(wgpu::ShaderStages, wgpu::BindingType)]| {
            let entries: Vec<_> = (0..)
                .zip(entries)
                .map(|(binding, (visibility, ty))| wgpu::BindGroupLayoutEntry {
                    binding,
                    visibility: *visibility,
                    ty: *ty,
                    count: None,
                })
                .collect();
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries: &entries,
            })
        };
        Self {
            view: group("render: view", &[(both, uniform), (vertex, storage)]),
            material: group(
                "render: material",
                &[
                    (fragment, uniform),
                    (fragment, sampler),
                    (fragment, filterable),
                    (fragment, filterable),
                    (fragment, filterable),
                    (fragment, filterable),
                ],
            ),
            animation: group("render: animation", &[(vertex, uniform), (vertex, integer), (vertex, integer)]),
            sampler: group("render: position sampler", &[(vertex, filterable), (vertex, sampler)]),
        }
    }
}

impl Pipelines {
    pub(super) fn new(device: &wgpu::Device, target: Target, layouts: &Layouts) -> Self {
        let layout = |label, groups: &[Option<&wgpu::BindGroupLayout>]| {
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(label),
                bind_group_layouts: groups,
                immediate_size: 0,
            })
        };
        let groups =
            [Some(&layouts.view), Some(&layouts.material), Some(&layouts.animation), Some(&layouts.sampler)];
        Self {
            device: device.clone(),
            target,
            vat: shader::module(device, "draw/vat"),
            ground: shader::module(device, "draw/ground"),
            layout_of_background: layout("render: background", &groups[..1]),
            layout: layout("render: soft", &groups[..3]),
            layout_with_sampler: layout("render: soft by sampler", &groups),
            made: HashMap::new(),
        }
    }

    pub(super) fn make(&mut self, key: Key) {
        if !self.made.contains_key(&key) {
            let pipeline = match key {
                Key::Background => self.background(),
                Key::Soft { .. } => self.soft(key),
            };
            self.made.insert(key, pipeline);
        }
    }

    /// A pipeline that [`Pipelines::make`] made.
    pub(super) fn get(&self, key: Key) -> Option<&wgpu::RenderPipeline> {
        self.made.get(&key)
    }

    fn encode_srgb(&self) -> (&'static str, f64) {
        ("ENCODE_SRGB", if self.target.format.is_srgb() { 0.0 } else { 1.0 })
    }

    fn multisample(&self) -> wgpu::MultisampleState {
        wgpu::MultisampleState { count: self.target.samples, ..Default::default() }
    }

    fn depth(&self, depth_write_enabled: bool) -> wgpu::DepthStencilState {
        wgpu::DepthStencilState {
            format: self.target.depth_format,
            depth_write_enabled: Some(depth_write_enabled),
            depth_compare: Some(wgpu::CompareFunction::Greater),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }
    }

    fn color(&self, blend: Option<wgpu::BlendState>) -> [Option<wgpu::ColorTargetState>; 1] {
        [Some(wgpu::ColorTargetState {
            format: self.target.format,
            blend,
            write_mask: wgpu::ColorWrites::ALL,
        })]
    }

    fn background(&self) -> wgpu::RenderPipeline {
        let constants = [self.encode_srgb()];
        let compilation_options =
            wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("render: background"),
            layout: Some(&self.layout_of_background),
            vertex: wgpu::VertexState {
                module: &self.ground,
                entry_point: Some("vs_background"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                depth_compare: Some(wgpu::CompareFunction::Always),
                ..self.depth(true)
            }),
            multisample: self.multisample(),
            fragment: Some(wgpu::FragmentState {
                module: &self.ground,
                entry_point: Some("fs_background"),
                compilation_options,
                targets: &self.color(None),
            }),
            multiview_mask: None,
            cache: None,
        })
    }

    fn soft(&self, key: Key) -> wgpu::RenderPipeline {
        let Key::Soft { pass, reading, encoding, normals, frame_blend, space, double_sided, textures } = key
        else {
            unreachable!("called for soft keys only");
        };
        let options = [
            ("ENCODING", f64::from(encoding as u32)),
            ("NORMALS", f64::from(normals as u32)),
            ("FRAME_BLEND", f64::from(frame_blend as u32)),
            ("POSITION_SPACE", f64::from(space as u32)),
        ];
        let fragment_options = [options[1], self.encode_srgb(), ("TEXTURES", f64::from(textures))];
        let is_mapped = key.is_mapped();
        let (vertex, fragment) = match (pass, reading, is_mapped) {
            (Pass::Shaded, Reading::Texels, false) => ("vs_soft", "fs_shaded"),
            (Pass::Shaded, Reading::Texels, true) => ("vs_soft_mapped", "fs_mapped"),
            (Pass::Shaded, Reading::Sampler, false) => ("vs_soft_sampled", "fs_shaded"),
            (Pass::Shaded, Reading::Sampler, true) => ("vs_soft_sampled_mapped", "fs_mapped"),
            (Pass::Shaded, Reading::Blocks, false) => ("vs_soft_blocks", "fs_shaded"),
            (Pass::Shaded, Reading::Blocks, true) => ("vs_soft_blocks_mapped", "fs_mapped"),
            (Pass::Shadow, Reading::Blocks, _) => ("vs_soft_blocks_shadow", "fs_shadow"),
            (Pass::Shadow, ..) => ("vs_soft_shadow", "fs_shadow"),
        };
        let vertex_buffer = |array_stride, attributes| {
            let step_mode = wgpu::VertexStepMode::Vertex;
            Some(wgpu::VertexBufferLayout { array_stride, step_mode, attributes })
        };
        let instance_buffer = Some(wgpu::VertexBufferLayout {
            array_stride: size_of::<crate::crowd::Instance>() as u64,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &INSTANCE_ATTRIBUTES,
        });
        let buffers =
            [vertex_buffer(36, &VERTEX_ATTRIBUTES), instance_buffer, vertex_buffer(16, &TANGENT_ATTRIBUTES)];
        // Where shadows lie over each other the ground stays as dark as under one.
        let darker = wgpu::BlendComponent {
            src_factor: wgpu::BlendFactor::One,
            dst_factor: wgpu::BlendFactor::One,
            operation: wgpu::BlendOperation::Min,
        };
        let shadow = pass == Pass::Shadow;
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(vertex),
            layout: Some(if reading != Reading::Texels { &self.layout_with_sampler } else { &self.layout }),
            vertex: wgpu::VertexState {
                module: &self.vat,
                entry_point: Some(vertex),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &options,
                    ..Default::default()
                },
                buffers: if is_mapped { &buffers } else { &buffers[..2] },
            },
            primitive: wgpu::PrimitiveState {
                cull_mode: (!double_sided && !shadow).then_some(wgpu::Face::Back),
                ..Default::default()
            },
            depth_stencil: Some(self.depth(!shadow)),
            multisample: self.multisample(),
            fragment: Some(wgpu::FragmentState {
                module: &self.vat,
                entry_point: Some(fragment),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: if shadow { &fragment_options[1..2] } else { &fragment_options },
                    ..Default::default()
                },
                targets: &self.color(shadow.then_some(wgpu::BlendState { color: darker, alpha: darker })),
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}
