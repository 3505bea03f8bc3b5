//! wgpu, ignorant of animation: device, shaders, textures, read-back, timing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

mod error;
pub mod readback;
pub mod shader;
pub mod texture;
mod timer;

pub use error::Error;
pub use timer::Timer;

/// The version of wgpu that this crate's types are of.
pub const WGPU_VERSION: &str = "30";

/// How long a wait for the GPU may take before it counts as hung.
const DEADLINE: Duration = Duration::from_secs(300);

/// An adapter and the device made from it, for programs that have none of their own.
pub struct Gpu {
    /// Where surfaces come from.
    pub instance: wgpu::Instance,
    /// The adapter.
    pub adapter: wgpu::Adapter,
    /// The device, with the adapter's own limits and the optional features that help.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// Name, driver and backend.
    pub info: wgpu::AdapterInfo,
    fault: Arc<Mutex<Option<Error>>>,
}

/// Features that are used where they are there.
pub fn wanted_features() -> wgpu::Features {
    wgpu::Features::TIMESTAMP_QUERY
        | wgpu::Features::FLOAT32_FILTERABLE
        | wgpu::Features::TEXTURE_COMPRESSION_BC
        | wgpu::Features::TEXTURE_FORMAT_16BIT_NORM
}

/// `asked`, without OpenGL unless `WGPU_BACKEND` asks for it.
pub fn descriptor(asked: wgpu::InstanceDescriptor) -> wgpu::InstanceDescriptor {
    match wgpu::Backends::from_env() {
        Some(_) => asked,
        None => wgpu::InstanceDescriptor { backends: asked.backends & wgpu::Backends::PRIMARY, ..asked },
    }
}

impl Gpu {
    /// A device that draws into textures. `WGPU_BACKEND`, `WGPU_ADAPTER_NAME` and wgpu's other variables
    /// are heeded.
    ///
    /// # Errors
    /// [`Error::NoAdapter`], [`Error::TooWeak`], [`Error::Device`].
    pub async fn headless() -> Result<Self, Error> {
        let instance =
            wgpu::Instance::new(descriptor(wgpu::InstanceDescriptor::new_without_display_handle_from_env()));
        match Self::for_surface(instance, None).await {
            // OpenGL is the last resort: its drivers complain loudly on machines without a display.
            Err(Error::NoAdapter { .. }) => {
                let everything = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
                Self::for_surface(wgpu::Instance::new(everything), None).await
            }
            found => found,
        }
    }

    /// A device that can draw to `surface`, which belongs to `instance`.
    ///
    /// # Errors
    /// As [`Gpu::headless`].
    pub async fn for_surface(
        instance: wgpu::Instance,
        surface: Option<&wgpu::Surface<'static>>,
    ) -> Result<Self, Error> {
        let adapter = match wgpu::util::initialize_adapter_from_env(&instance, surface).await {
            Ok(adapter) => adapter,
            Err(_) => {
                let options = wgpu::RequestAdapterOptions {
                    power_preference: wgpu::PowerPreference::HighPerformance,
                    compatible_surface: surface,
                    ..Default::default()
                };
                let found = instance.request_adapter(&options).await;
                found.map_err(|error| Error::NoAdapter { tried: error.to_string() })?
            }
        };
        let info = adapter.get_info();
        if !adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::VERTEX_STORAGE) {
            let what = "storage buffers in the vertex stage";
            return Err(Error::TooWeak { what, adapter: info.name });
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("throng"),
            required_features: adapter.features() & wanted_features(),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let made = adapter.request_device(&descriptor).await;
        let (device, queue) = made.map_err(|error| Error::Device(error.to_string()))?;
        let fault = Arc::new(Mutex::new(None));
        let first = Arc::clone(&fault);
        let keep = move |error: Error| {
            log::debug!("{error}");
            first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        };
        let lost = keep.clone();
        device.set_device_lost_callback(move |_, message| lost(Error::Lost(message)));
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            keep(match error {
                wgpu::Error::OutOfMemory { .. } => Error::OutOfMemory,
                other => Error::Device(other.to_string()),
            });
        }));
        Ok(Self { instance, adapter, device, queue, info, fault })
    }

    /// The first fault since the last call.
    ///
    /// # Errors
    /// That fault.
    pub fn check(&self) -> Result<(), Error> {
        match self.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }

    /// Waits until everything submitted is done.
    ///
    /// # Errors
    /// [`Error::TimedOut`] after five minutes; the first fault there was.
    pub fn wait(&self) -> Result<(), Error> {
        let waited =
            self.device.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(DEADLINE) });
        self.check()?;
        match waited {
            Ok(_) => Ok(()),
            Err(wgpu::PollError::Timeout) => Err(Error::TimedOut(DEADLINE)),
            Err(other) => Err(Error::Lost(other.to_string())),
        }
    }
}
