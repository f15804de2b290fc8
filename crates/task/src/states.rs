//! What the autopilot does in each state: one function per state, called at every tick.

use citrange_core::Observation;

use crate::judge::{NotPlaced, Placed};
use crate::memory::Memory;
use crate::pilot::Autopilot;

/// Frames that a verdict is waited for when the hand has arrived.
const PATIENCE_FRAMES: u32 = 15;
/// How near the hand must be to where it was sent to have arrived.
const ARRIVED_M: f64 = 0.012;
/// The hand goes this far above a place before it comes down on it.
const OVER_M: f64 = 0.03;

/// The step of a result: reasons fail the attempt.
macro_rules! or_fail {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(reason) => return Step::Fail(reason),
        }
    };
}

pub(crate) mod around;
mod carry;
mod choose;
mod home;
mod pick;

pub(crate) use carry::{release, retreat, transport};
pub(crate) use choose::{failed, idle, success};
pub(crate) use home::return_home;
pub(crate) use pick::{approach, descend, grasp, grasp_settle, lift, posture_adjust};

/// One more look at the thing that was let go.
fn watch_current(pilot: &Autopilot, m: &mut Memory, seen: &Observation) -> Placed {
    let Some(n) = m.current else { return Placed::Unknown(NotPlaced::NotSeen) };
    let region = pilot.goal.region(seen);
    let watch = &mut m.fetches[n].watch;
    pilot.rests(watch, pilot.targets[n], region.as_ref(), seen)
}
