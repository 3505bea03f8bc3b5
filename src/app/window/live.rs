//! What a window has on the GPU: surface, stage, panel. All of it is made anew when the device is lost.

use std::sync::Arc;
use std::time::Instant;

use glam::UVec2;
use throng::asset::Asset;
use throng::bounds::Bounds;
use throng::crowd::Instance;
use throng::gpu::{Gpu, Timer};
use throng::render::{Attachments, Camera, Target};
use throng::scene::{Scene, Stage};
use wgpu::CurrentSurfaceTexture;
use winit::event::WindowEvent;
use winit::event_loop::ActiveEventLoop;
use winit::window::Window;

use crate::failure::Failure;
use crate::panel::{self, Controls, Readings, Wishes};

/// Four bytes are the least that can be written.
const PROBE_BYTES: wgpu::BufferSize = wgpu::BufferSize::new(4).expect("not zero");

/// What became of a picture.
pub(super) enum Shown {
    /// It is on the screen.
    Picture(Wishes),
    /// There was nothing to draw to: minimised, hidden, or just resized.
    Nothing(Wishes),
    /// Device or surface are gone.
    Lost,
}

pub(super) struct Live {
    // Fields are dropped in this order: surface before device, window last.
    surface: wgpu::Surface<'static>,
    configuration: wgpu::SurfaceConfiguration,
    attachments: Attachments,
    stage: Stage,
    timer: Option<Timer>,
    egui_renderer: egui_wgpu::Renderer,
    egui_state: egui_winit::State,
    /// The panel's textures that are to go.
    stale: Vec<egui::TextureId>,
    probe: wgpu::Buffer,
    gpu: Gpu,
    window: Arc<Window>,
    /// How the crowd's picture is written: sRGB, so that the hardware encodes.
    picture_format: wgpu::TextureFormat,
}

impl Live {
    pub(super) fn new(
        event_loop: &ActiveEventLoop,
        window: Arc<Window>,
        scene: Scene,
        assets: Vec<Asset>,
    ) -> Result<Self, Failure> {
        let display = Box::new(event_loop.owned_display_handle());
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle_from_env(display));
        let surface = instance
            .create_surface(Arc::clone(&window))
            .map_err(|error| Failure::Window(error.to_string()))?;
        let gpu = pollster::block_on(Gpu::for_surface(instance, Some(&surface)))?;
        let capabilities = surface.get_capabilities(&gpu.adapter);
        // egui blends in sRGB values and wants a format that does not convert; the crowd is drawn through a
        // view of the same texture that does.
        let plain = [wgpu::TextureFormat::Bgra8Unorm, wgpu::TextureFormat::Rgba8Unorm];
        let views = gpu
            .adapter
            .get_downlevel_capabilities()
            .flags
            .contains(wgpu::DownlevelFlags::SURFACE_VIEW_FORMATS);
        let format = plain.into_iter().find(|format| capabilities.formats.contains(format));
        let Some(format) = format.or_else(|| capabilities.formats.first().copied()) else {
            return Err(Failure::Window("the graphics adapter cannot draw to this display".to_owned()));
        };
        let picture_format = if views { format.add_srgb_suffix() } else { format };
        let size = window.inner_size();
        let size = UVec2::new(size.width, size.height).max(UVec2::ONE);
        let configuration = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            format,
            view_formats: if picture_format == format { Vec::new() } else { vec![picture_format] },
            width: size.x,
            height: size.y,
            present_mode: wgpu::PresentMode::Fifo,
            desired_maximum_frame_latency: 2,
            alpha_mode: wgpu::CompositeAlphaMode::Auto,
            color_space: wgpu::SurfaceColorSpace::default(),
        };
        surface.configure(&gpu.device, &configuration);
        let target = Target::new(picture_format);
        let stage = Stage::new(&gpu.device, &gpu.queue, target, scene, assets)?;
        let context = egui::Context::default();
        let side = usize::try_from(gpu.device.limits().max_texture_dimension_2d).ok();
        Ok(Self {
            attachments: Attachments::new(&gpu.device, target, size),
            timer: Timer::new(&gpu.device, &gpu.queue),
            egui_renderer: egui_wgpu::Renderer::new(
                &gpu.device,
                format,
                egui_wgpu::RendererOptions::default(),
            ),
            egui_state: egui_winit::State::new(context, egui::ViewportId::ROOT, &*window, None, None, side),
            stale: Vec::new(),
            probe: gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("window: probe"),
                size: PROBE_BYTES.get(),
                usage: wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
            surface,
            configuration,
            stage,
            gpu,
            window,
            picture_format,
        })
    }

    /// Lets go of everything but the window, after the device was lost.
    pub(super) fn into_window(self) -> Arc<Window> {
        let Self { surface, window, .. } = self;
        // wgpu 30 panics when a surface goes whose last picture was acquired and never presented, as is so
        // when the device was lost between; a surface that stays costs little.
        std::mem::forget(surface);
        window
    }

    pub(super) fn adapter(&self) -> &str {
        &self.gpu.info.name
    }

    pub(super) fn is_software(&self) -> bool {
        self.gpu.info.device_type == wgpu::DeviceType::Cpu
    }

    pub(super) fn max_count(&self) -> u32 {
        let room = self.gpu.device.limits().max_buffer_size / size_of::<Instance>() as u64;
        u32::try_from(room).unwrap_or(u32::MAX)
    }

    pub(super) fn size(&self) -> UVec2 {
        UVec2::new(self.configuration.width, self.configuration.height)
    }

    pub(super) fn aspect(&self) -> f32 {
        self.size().x as f32 / self.size().y as f32
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.stage.bounds()
    }

    pub(super) fn scene(&self) -> &Scene {
        self.stage.scene()
    }

    pub(super) fn request_redraw(&self) {
        self.window.request_redraw();
    }

    /// Whether the panel took the event.
    pub(super) fn on_event(&mut self, event: &WindowEvent) -> bool {
        let consumed = self.egui_state.on_window_event(&self.window, event).consumed;
        let context = self.egui_state.egui_ctx();
        consumed
            || match event {
                WindowEvent::MouseInput { .. } | WindowEvent::MouseWheel { .. } => {
                    context.egui_wants_pointer_input()
                }
                WindowEvent::KeyboardInput { .. } => context.egui_wants_keyboard_input(),
                _ => false,
            }
    }

    /// A minimised window has no size: nothing is configured until it has one again.
    pub(super) fn resize(&mut self, size: UVec2) {
        let limit = self.gpu.device.limits().max_texture_dimension_2d;
        if size.min_element() == 0 || size.max_element() > limit {
            return;
        }
        (self.configuration.width, self.configuration.height) = size.into();
        self.surface.configure(&self.gpu.device, &self.configuration);
        self.attachments = Attachments::new(&self.gpu.device, self.stage.renderer().target(), size);
    }

    /// Brings what the panel changed to the stage. What finds no room is put back, and said.
    pub(super) fn apply(&mut self, before: &Controls, controls: &mut Controls) -> Option<String> {
        if controls.settings != before.settings {
            let settings = controls.settings;
            if let Err(error) = self.stage.change(|scene| scene.settings = settings) {
                controls.settings = before.settings;
                return Some(error.to_string());
            }
        }
        if controls.crowd != before.crowd
            && !self.scene().crowds.is_empty()
            && let Err(error) = self.stage.set_crowd(0, controls.crowd.clone())
        {
            controls.crowd = before.crowd.clone();
            return Some(error.to_string());
        }
        match self.gpu.check() {
            Ok(()) => None,
            Err(error) => {
                // Memory that ran out is free again once the old crowd is back.
                controls.crowd = before.crowd.clone();
                self.stage.set_crowd(0, controls.crowd.clone()).ok();
                Some(error.to_string())
            }
        }
    }

    pub(super) fn draw(
        &mut self,
        camera: Camera,
        time_seconds: f64,
        controls: &mut Controls,
        readings: &mut Readings,
    ) -> Shown {
        let input = self.egui_state.take_egui_input(&self.window);
        let mut wishes = Wishes::default();
        let context = self.egui_state.egui_ctx().clone();
        let output = context.run_ui(input, |ui| {
            egui::Panel::right("panel").default_size(300.0).show(ui, |ui| {
                wishes = panel::show(ui, controls, readings);
            });
        });
        self.egui_state.handle_platform_output(&self.window, output.platform_output);
        // Before there may be nothing to draw to: egui sends each change of its textures once.
        self.change_textures(output.textures_delta);
        let texture = match self.surface.get_current_texture() {
            CurrentSurfaceTexture::Success(texture) | CurrentSurfaceTexture::Suboptimal(texture) => texture,
            CurrentSurfaceTexture::Outdated => {
                self.surface.configure(&self.gpu.device, &self.configuration);
                return Shown::Nothing(wishes);
            }
            CurrentSurfaceTexture::Timeout | CurrentSurfaceTexture::Occluded => {
                return Shown::Nothing(wishes);
            }
            CurrentSurfaceTexture::Lost | CurrentSurfaceTexture::Validation => return Shown::Lost,
        };
        let begun = Instant::now();
        let size = UVec2::new(texture.texture.width(), texture.texture.height());
        let mut view = self.stage.view(size, time_seconds);
        view.camera = camera;
        self.stage.renderer().prepare(&self.gpu.queue, &view);
        let picture = texture.texture.create_view(&wgpu::TextureViewDescriptor {
            format: Some(self.picture_format),
            ..Default::default()
        });
        let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let timestamps = self.timer.as_ref().map(Timer::writes);
            let mut pass = self.attachments.begin_pass(&mut encoder, &picture, timestamps);
            self.stage.renderer().draw(&mut pass);
        }
        if let Some(timer) = &self.timer {
            timer.resolve(&mut encoder);
        }
        let built = begun.elapsed();
        if !self.takes_writes() {
            return Shown::Lost;
        }
        let panel = self.paint_panel(&mut encoder, &texture, output.shapes, output.pixels_per_point);
        let submitting = Instant::now();
        self.gpu.queue.submit(panel.into_iter().chain([encoder.finish()]));
        readings.cpu_milliseconds = (built + submitting.elapsed()).as_secs_f64() * 1e3;
        if let Some(timer) = &self.timer {
            timer.fetch();
            readings.gpu_milliseconds = timer.milliseconds();
        }
        self.window.pre_present_notify();
        self.gpu.queue.present(texture);
        readings.stats = self.stage.renderer().stats();
        match self.gpu.check() {
            Err(throng::gpu::Error::Lost(_)) => Shown::Lost,
            Err(error) => {
                readings.trouble = Some(error.to_string());
                Shown::Picture(wishes)
            }
            Ok(()) => Shown::Picture(wishes),
        }
    }

    /// Whether the device still lives. The panel's renderer panics on one that does not, and the callback
    /// that tells of its loss may come frames later.
    fn takes_writes(&self) -> bool {
        self.gpu.queue.write_buffer_with(&self.probe, 0, PROBE_BYTES).is_some()
    }

    fn change_textures(&mut self, mut textures: egui::TexturesDelta) {
        for (id, deltas) in textures.set.drain() {
            for delta in deltas {
                self.egui_renderer.update_texture(&self.gpu.device, &self.gpu.queue, id, &delta);
            }
        }
        // What this picture still shows goes with the next.
        for id in std::mem::replace(&mut self.stale, textures.free.drain().collect()) {
            self.egui_renderer.free_texture(&id);
        }
    }

    fn paint_panel(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        texture: &wgpu::SurfaceTexture,
        shapes: Vec<egui::epaint::ClippedShape>,
        pixels_per_point: f32,
    ) -> Vec<wgpu::CommandBuffer> {
        let (device, queue) = (&self.gpu.device, &self.gpu.queue);
        let jobs = self.egui_state.egui_ctx().tessellate(shapes, pixels_per_point);
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: [texture.texture.width(), texture.texture.height()],
            pixels_per_point,
        };
        let commands = self.egui_renderer.update_buffers(device, queue, encoder, &jobs, &screen);
        let view = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
        {
            let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("window: panel"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
                })],
                depth_stencil_attachment: None,
                timestamp_writes: None,
                occlusion_query_set: None,
                multiview_mask: None,
            });
            self.egui_renderer.render(&mut pass.forget_lifetime(), &jobs, &screen);
        }
        commands
    }
}
