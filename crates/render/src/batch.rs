//! Many frames over the threads of rayon.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::camera::Camera;
use crate::error::RenderError;
use crate::render::Renderer;
use crate::scene::{Placement, SceneModel};
use crate::settings::{Frame, Settings};

/// One frame to draw: one camera in one environment.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Shapes, looks and lights; environments may share it.
    pub model: &'a SceneModel,
    /// Pose of each instance in this environment.
    pub placements: &'a [Placement],
    /// Where to look from.
    pub camera: Camera,
}

/// Renderers that wait for work; keep it between batches to keep their memory.
#[derive(Debug, Default)]
pub struct RenderPool {
    idle: Mutex<Vec<Renderer>>,
}

impl RenderPool {
    /// An empty pool; it grows to one renderer per thread that works at a time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Draws `jobs[i]` into `frames[i]`, on the current rayon pool.
    ///
    /// The frames are the same bits as from [`Renderer::render`], for any number of threads.
    /// When jobs fail, the others are still drawn and the error of the first is returned.
    pub fn render_batch(
        &self,
        jobs: &[Job<'_>],
        settings: &Settings,
        frames: &mut [Frame],
    ) -> Result<(), RenderError> {
        if jobs.len() != frames.len() {
            return Err(RenderError::BatchCount { jobs: jobs.len(), frames: frames.len() });
        }
        let failed = jobs
            .par_iter()
            .zip(frames)
            .enumerate()
            .filter_map(|(index, (job, frame))| {
                let mut renderer = self.take();
                let outcome =
                    renderer.render(job.model, job.placements, &job.camera, settings, frame);
                self.give(renderer);
                outcome.err().map(|error| (index, error))
            })
            .min_by_key(|(index, _)| *index);
        match failed {
            None => Ok(()),
            Some((job, error)) => Err(RenderError::InJob { job, source: Box::new(error) }),
        }
    }

    fn take(&self) -> Renderer {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop().unwrap_or_default()
    }

    fn give(&self, renderer: Renderer) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(renderer);
    }
}
