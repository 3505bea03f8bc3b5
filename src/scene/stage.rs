use glam::UVec2;

use super::Scene;
use crate::asset::Asset;
use crate::bounds::Bounds;
use crate::crowd::Crowd;
use crate::gpu;
use crate::render::{Fetch, Model, Renderer, Target, UploadOptions, View};

/// A scene on the GPU: its assets uploaded, its crowds placed.
pub struct Stage {
    scene: Scene,
    assets: Vec<Asset>,
    renderer: Renderer,
    models: Vec<Model>,
    bounds: Bounds,
    sampler: bool,
}

impl Stage {
    /// Uploads `assets`, one per crowd of `scene` in the same order, and places the crowds.
    ///
    /// # Errors
    /// [`gpu::Error`] when a texture or a crowd is too large for the device.
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        target: Target,
        scene: Scene,
        assets: Vec<Asset>,
    ) -> Result<Self, gpu::Error> {
        let mut stage = Self {
            scene,
            assets,
            renderer: Renderer::new(device, queue, target),
            models: Vec::new(),
            bounds: Bounds::EMPTY,
            sampler: false,
        };
        stage.upload()?;
        stage.place()?;
        Ok(stage)
    }

    fn upload(&mut self) -> Result<(), gpu::Error> {
        self.sampler = self.scene.settings.fetch == Fetch::Sampler;
        for model in self.models.drain(..) {
            self.renderer.remove(model);
        }
        let options = UploadOptions { sampler: self.sampler };
        for asset in &self.assets {
            self.models.push(self.renderer.upload_with(asset, options)?);
        }
        Ok(())
    }

    fn place(&mut self) -> Result<(), gpu::Error> {
        let (crowds, bounds) = self.scene.instances(&self.assets);
        for (model, instances) in self.models.iter().zip(&crowds) {
            self.renderer.set_instances(*model, instances)?;
        }
        self.bounds = bounds;
        Ok(())
    }

    /// The scene as it stands.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Assets, one per crowd.
    pub fn assets(&self) -> &[Asset] {
        &self.assets
    }

    /// The box of all instances, whatever they play.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The renderer, to prepare and draw a view.
    pub fn renderer(&mut self) -> &mut Renderer {
        &mut self.renderer
    }

    /// Changes everything but the crowds: light, ground, settings, camera.
    ///
    /// # Errors
    /// [`gpu::Error`] when the sampler path is asked for and its textures find no room.
    pub fn change(&mut self, change: impl FnOnce(&mut Scene)) -> Result<(), gpu::Error> {
        let crowds = self.scene.crowds.clone();
        change(&mut self.scene);
        self.scene.crowds = crowds;
        if self.scene.settings.fetch == Fetch::Sampler && !self.sampler {
            self.upload()?;
            self.place()?;
        }
        Ok(())
    }

    /// Makes up one crowd anew.
    ///
    /// # Errors
    /// [`gpu::Error`] when it is too large for the device; the old crowd stays.
    pub fn set_crowd(&mut self, index: usize, crowd: Crowd) -> Result<(), gpu::Error> {
        let old = std::mem::replace(&mut self.scene.crowds[index].crowd, crowd);
        let placed = self.place();
        if placed.is_err() {
            self.scene.crowds[index].crowd = old;
        }
        placed
    }

    /// The view at `time_seconds` for a picture of `size` pixels.
    pub fn view(&self, size: UVec2, time_seconds: f64) -> View {
        self.scene.view(self.bounds, size, time_seconds)
    }
}
