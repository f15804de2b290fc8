//! A thread that draws beside the control loop: the loop says where everything is and goes on,
//! the pictures it handed out fill up behind it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use citrange_core::Undrawn;
use citrange_render::{Camera, Frame, Placement, Renderer, Settings};

use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::picture::Picture;
use crate::priority;

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
    pub(crate) views: Vec<(Camera, Undrawn)>,
}

/// The loop's end of the drawing thread. Dropped, it waits until all that was asked for is drawn.
pub(crate) struct Drawer {
    queue: Option<SyncSender<RenderJob>>,
    /// Shots handed over and not begun.
    waiting: Arc<AtomicUsize>,
    /// Shots that were drawn, to be used again.
    used: Receiver<RenderJob>,
    failure: Failure,
    thread: Option<JoinHandle<()>>,
}

/// The first picture that could not be drawn, and why.
type Failure = Arc<Mutex<Option<String>>>;

impl Drawer {
    /// `cameras` are names, for messages.
    pub(crate) fn start(scene: Arc<CompiledScene>, cameras: Vec<String>) -> Result<Self, SimError> {
        let (queue, shots) = sync_channel::<RenderJob>(QUEUE_FRAMES);
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
                let mut easel = RenderWorker::new(&scene);
                while let Ok(mut shot) = shots.recv() {
                    begun.fetch_sub(1, Ordering::AcqRel);
                    for ((view, undrawn), name) in shot.views.drain(..).zip(&cameras) {
                        let place = (&shot.geom_pos_m[..], &shot.geom_rot[..]);
                        let _span = tracing::trace_span!("draw", camera = name).entered();
                        let drawn = match &mut easel {
                            Ok(easel) => easel.draw(place, &view, &shot.settings, undrawn),
                            Err(error) => Err((undrawn, error.to_string())),
                        };
                        if let Err((undrawn, reason)) = drawn {
                            let reason = format!("camera {name} at step {}: {reason}", shot.step);
                            lock(&told).get_or_insert_with(|| reason.clone());
                            undrawn.fail(reason);
                        }
                    }
                    let _kept_if_there_is_room = give_back.try_send(shot);
                }
            })
            .map_err(|e| SimError::Drawing(format!("no thread to draw with: {e}")))?;
        Ok(Self { queue: Some(queue), waiting, used, failure, thread: Some(thread) })
    }

    /// Whether a shot handed over now would have to wait.
    pub(crate) fn is_behind(&self) -> bool {
        self.waiting.load(Ordering::Acquire) >= QUEUE_FRAMES
    }

    /// An empty shot.
    ///
    /// # Errors
    /// When an earlier one could not be drawn: whoever drives learns of it, even if nobody looks
    /// at the pictures.
    pub(crate) fn blank(&self) -> Result<RenderJob, SimError> {
        if let Some(reason) = lock(&self.failure).take() {
            return Err(SimError::Drawing(reason));
        }
        let mut shot = self.used.try_recv().unwrap_or_default();
        shot.geom_pos_m.clear();
        shot.geom_rot.clear();
        shot.views.clear();
        Ok(shot)
    }

    /// Hands a shot over; waits while the drawer is too far behind.
    pub(crate) fn draw(&self, shot: RenderJob) -> Result<(), SimError> {
        let crashed = || SimError::Drawing("the drawing thread crashed".into());
        let queue = self.queue.as_ref().ok_or_else(crashed)?;
        self.waiting.fetch_add(1, Ordering::AcqRel);
        queue.send(shot).map_err(|_| crashed())
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

    /// Draws one view into its picture; gives the picture back when it cannot.
    fn draw(
        &mut self,
        (geom_pos_m, geom_rot): (&[[f64; 3]], &[[f64; 9]]),
        view: &Camera,
        settings: &Settings,
        mut undrawn: Undrawn,
    ) -> Result<(), (Undrawn, String)> {
        self.picture.place(geom_pos_m, geom_rot, &mut self.placements);
        // Drawn in place: the picture lends its memory to the frame.
        std::mem::swap(&mut self.frame.rgb, undrawn.rgb_mut());
        let drawn = self.renderer.render(
            &self.picture.model,
            &self.placements,
            view,
            settings,
            &mut self.frame,
        );
        std::mem::swap(&mut self.frame.rgb, undrawn.rgb_mut());
        match drawn {
            Ok(()) => {
                undrawn.finish();
                Ok(())
            }
            Err(error) => Err((undrawn, error.to_string())),
        }
    }
}
