//! What a stand-in shows of its scene beside its servos: pictures, and where its things are. The arm's
//! thread fills it in, those who ask take from it; nobody waits for the other.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use citrange_core::rig::CameraSpec;
use citrange_core::{CameraImage, ObjectSeen, ObjectSpec, Picture};
use citrange_link::emulated::{ThingSeen, ThingsSeen, monotonic_ns};

/// Pictures that may wait to be sent.
const QUEUE: usize = 2;

/// What is wrong with a camera.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CameraFault {
    /// Nothing.
    #[default]
    Well,
    /// The same picture, again and again.
    Freeze,
    /// No pictures.
    Hang,
    /// Black pictures.
    Black,
    /// Every third picture.
    Slow,
    /// Unplugged.
    Gone,
}

impl CameraFault {
    /// By its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "well" => Self::Well,
            "freeze" => Self::Freeze,
            "hang" => Self::Hang,
            "black" => Self::Black,
            "slow" => Self::Slow,
            "gone" => Self::Gone,
            _ => return None,
        })
    }
}

/// Somebody who wants pictures.
struct Viewer {
    camera: usize,
    period: Duration,
    due: Instant,
    send: SyncSender<(Picture, u64)>,
}

struct State {
    things: ThingsSeen,
    /// Seed and episode that the things are to be laid out for.
    order: Option<(u64, u64)>,
    viewers: Vec<Viewer>,
    faults: BTreeMap<String, CameraFault>,
}

/// The scene of a stand-in, as seen from outside.
pub(crate) struct Stage {
    cameras: Vec<CameraSpec>,
    state: Mutex<State>,
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").finish_non_exhaustive()
    }
}

impl Stage {
    pub(crate) fn new(cameras: Vec<CameraSpec>) -> Self {
        let things = ThingsSeen { at_ns: 0, laid_out: 0, problem: None, things: BTreeMap::new() };
        let (viewers, faults) = (Vec::new(), BTreeMap::new());
        Self { cameras, state: Mutex::new(State { things, order: None, viewers, faults }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn cameras(&self) -> &[CameraSpec] {
        &self.cameras
    }

    /// Pictures of a camera from now on, so many a second, each with when it was taken.
    pub(crate) fn watch(&self, camera: usize, hz: f64) -> Receiver<(Picture, u64)> {
        let (send, pictures) = sync_channel(QUEUE);
        let (period, due) = (Duration::from_secs_f64(1.0 / hz.max(0.1)), Instant::now());
        self.state().viewers.push(Viewer { camera, period, due, send });
        pictures
    }

    /// Whether somebody wants a picture now.
    pub(crate) fn is_due(&self) -> bool {
        let now = Instant::now();
        self.state().viewers.iter().any(|viewer| viewer.due <= now)
    }

    /// Gives pictures to those whose time has come; forgets who is gone.
    pub(crate) fn give(&self, images: &[CameraImage]) {
        let (now, at_ns) = (Instant::now(), monotonic_ns());
        self.state().viewers.retain_mut(|viewer| {
            if viewer.due > now {
                return true;
            }
            // What was missed is not made up for.
            viewer.due = (viewer.due + viewer.period).max(now);
            let image = images.get(viewer.camera).filter(|image| !image.is_left_out());
            let Some(picture) = image.and_then(|image| image.rgb.clone()) else { return true };
            use std::sync::mpsc::TrySendError;
            !matches!(viewer.send.try_send((picture, at_ns)), Err(TrySendError::Disconnected(_)))
        });
    }

    /// Where the things are now.
    pub(crate) fn see(&self, specs: &[ObjectSpec], seen: &[Option<ObjectSeen>]) {
        let mut state = self.state();
        state.things.at_ns = monotonic_ns();
        for (spec, seen) in specs.iter().zip(seen) {
            let Some(seen) = seen else { continue };
            let ObjectSeen { pose, lin_vel_m_s, .. } = seen;
            let thing = ThingSeen {
                pos_m: pose.pos_m,
                quat_wxyz: pose.quat_wxyz,
                lin_vel_m_s: *lin_vel_m_s,
            };
            match state.things.things.get_mut(&spec.name) {
                Some(place) => *place = thing,
                None => drop(state.things.things.insert(spec.name.clone(), thing)),
            }
        }
    }

    pub(crate) fn things(&self) -> ThingsSeen {
        self.state().things.clone()
    }

    /// Has the things laid out as an episode of a run begins.
    pub(crate) fn order(&self, seed: u64, episode: u64) {
        self.state().order = Some((seed, episode));
    }

    pub(crate) fn take_order(&self) -> Option<(u64, u64)> {
        self.state().order.take()
    }

    /// They were, or could not be.
    pub(crate) fn laid_out(&self, problem: Option<String>) {
        let mut state = self.state();
        state.things.laid_out += 1;
        state.things.problem = problem;
    }

    pub(crate) fn fault(&self, camera: &str) -> CameraFault {
        self.state().faults.get(camera).copied().unwrap_or_default()
    }

    /// Switches a fault on.
    pub(crate) fn set_fault(&self, camera: &str, fault: CameraFault) -> Result<(), String> {
        if !self.cameras.iter().any(|known| known.name == camera) {
            let names: Vec<&str> = self.cameras.iter().map(|known| known.name.as_str()).collect();
            return Err(format!("there is no camera {camera}; there are: {}", names.join(", ")));
        }
        self.state().faults.insert(camera.to_owned(), fault);
        Ok(())
    }
}
