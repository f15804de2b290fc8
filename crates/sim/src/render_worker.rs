//! A thread that draws beside the control loop: the loop says where everything is and goes on,
//! the pictures it handed out fill up behind it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use citrange_render::{Frame, Placement, Renderer, Settings};

use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::picture::Picture;
use crate::priority;
use crate::view::View;

/// Frames that may wait to be drawn. When there are more, the loop waits: a simulation in a hurry
/// must not outrun its drawer without bound.
const QUEUE_FRAMES: usize = 2;

/// One frame to draw: where everything is, and the pictures to fill.
#[derive(Default)]
pub(crate) struct RenderJob {
    /// Physics step, for messages.
    pub(crate) step: u64,
    pub(crate) settings: Settings,
    /// Positions of all geoms.
    pub(crate) geom_pos_m: Vec<[f64; 3]>,
    /// Rotation matrices of all geoms, row by row.
    pub(crate) geom_rot: Vec<[f64; 9]>,
    /// In the order of the drawer's cameras.
    pub(crate) views: Vec<View>,
}

/// The loop's end of the drawing thread. Dropped, it waits until all that was asked for is drawn.
pub(crate) struct Drawer {
    queue: Option<SyncSender<RenderJob>>,
    /// Jobs handed over and not begun.
    waiting: Arc<AtomicUsize>,
    /// Jobs that were drawn, to be used again.
    used: Receiver<RenderJob>,
    failure: Failure,
    thread: Option<JoinHandle<()>>,
}

/// The first picture that could not be drawn, and why.
type Failure = Arc<Mutex<Option<String>>>;

impl Drawer {
    /// `cameras` are names, for messages.
    pub(crate) fn start(scene: Arc<CompiledScene>, cameras: Vec<String>) -> Result<Self, SimError> {
        let (queue, jobs) = sync_channel::<RenderJob>(QUEUE_FRAMES);
        // One is in the drawer's hands, one in the loop's.
        let (give_back, used) = sync_channel(QUEUE_FRAMES + 2);
        let failure = Failure::default();
        let waiting = Arc::new(AtomicUsize::new(0));
        let begun = Arc::clone(&waiting);
        let told = Arc::clone(&failure);
        let thread = std::thread::Builder::new()
            .name("draw".into())
            .spawn(move || {
                priority::stand_back();
                // Made here: meshes and textures take longer than a tick.
                let mut worker = RenderWorker::new(&scene);
                while let Ok(mut job) = jobs.recv() {
                    begun.fetch_sub(1, Ordering::AcqRel);
                    for (mut view, name) in job.views.drain(..).zip(&cameras) {
                        let place = (&job.geom_pos_m[..], &job.geom_rot[..]);
                        let _span = tracing::trace_span!("draw", camera = name).entered();
                        let drawn = match &mut worker {
                            Ok(worker) => worker.draw(place, &mut view, &job.settings),
                            Err(error) => Err(error.to_string()),
                        };
                        match drawn {
                            Ok(()) => view.finish(),
                            Err(reason) => {
                                let reason =
                                    format!("camera {name} at step {}: {reason}", job.step);
                                view.fail(&reason);
                                lock(&told).get_or_insert(reason);
                            }
                        }
                    }
                    let _kept_if_there_is_room = give_back.try_send(job);
                }
            })
            .map_err(|e| SimError::Drawing(format!("no thread to draw with: {e}")))?;
        Ok(Self { queue: Some(queue), waiting, used, failure, thread: Some(thread) })
    }

    /// Whether a job handed over now would have to wait.
    pub(crate) fn is_behind(&self) -> bool {
        self.waiting.load(Ordering::Acquire) >= QUEUE_FRAMES
    }

    /// An empty job.
    ///
    /// # Errors
    /// When an earlier one could not be drawn: whoever drives learns of it, even if nobody looks
    /// at the pictures.
    pub(crate) fn blank(&self) -> Result<RenderJob, SimError> {
        if let Some(reason) = lock(&self.failure).take() {
            return Err(SimError::Drawing(reason));
        }
        let mut job = self.used.try_recv().unwrap_or_default();
        job.geom_pos_m.clear();
        job.geom_rot.clear();
        job.views.clear();
        Ok(job)
    }

    /// Hands a job over; waits while the drawer is too far behind.
    pub(crate) fn draw(&self, job: RenderJob) -> Result<(), SimError> {
        let crashed = || SimError::Drawing("the drawing thread crashed".into());
        let queue = self.queue.as_ref().ok_or_else(crashed)?;
        self.waiting.fetch_add(1, Ordering::AcqRel);
        queue.send(job).map_err(|_| crashed())
    }

    /// Another episode does not answer for the failures of the last.
    pub(crate) fn forget_failure(&self) {
        lock(&self.failure).take();
    }
}

impl Drop for Drawer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // If it crashed, its pictures have said so.
            let _crashed = thread.join();
        }
    }
}

fn lock(failure: &Failure) -> std::sync::MutexGuard<'_, Option<String>> {
    failure.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What it takes to draw, kept from frame to frame.
struct RenderWorker {
    picture: Picture,
    renderer: Renderer,
    frame: Frame,
    placements: Vec<Placement>,
}

impl RenderWorker {
    fn new(scene: &CompiledScene) -> Result<Self, SimError> {
        Ok(Self {
            picture: Picture::new(&scene.model)?,
            renderer: Renderer::new(),
            frame: Frame::new(),
            placements: Vec::new(),
        })
    }

    /// Draws one view into its pictures.
    fn draw(
        &mut self,
        (geom_pos_m, geom_rot): (&[[f64; 3]], &[[f64; 9]]),
        view: &mut View,
        settings: &Settings,
    ) -> Result<(), String> {
        self.picture.place(geom_pos_m, geom_rot, &mut self.placements);
        let Self { picture, renderer, frame, placements } = self;
        let drawn = view.draw(frame, |camera, frame| {
            renderer.render(&picture.model, placements, camera, settings, frame)
        });
        drawn.map_err(|error| error.to_string())
    }
}
