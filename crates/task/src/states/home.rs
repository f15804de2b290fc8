//! The way home, also after a failure.

use citrange_core::Observation;
use nalgebra::Vector3;

use super::around::OnRoute;
use super::{ARRIVED_M, watch_current};
use crate::judge::{Placed, Region};
use crate::memory::{GraspBelief, Memory};
use crate::moves::{HandTarget, Swing};
use crate::pilot::Autopilot;
use crate::reason::{Reason, State};
use crate::table::Step;

/// How far above a surface a thing is set down.
const SET_DOWN_GAP_M: f64 = 0.003;
/// What is this near to the goal is set down on it.
const NEAR_GOAL_M: f64 = 0.03;
/// Time in which a swing of the joints gains its speed.
pub(crate) const SWING_RAMP_S: f64 = 0.25;

/// Home: what is still held is set down first, then up, then with all joints together.
pub(crate) fn return_home(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    const SET_DOWN: u32 = 0;
    const LET_GO: u32 = 1;
    const RISE: u32 = 2;
    const SWING: u32 = 3;
    if m.ticks == 0 {
        m.part = RISE;
        if m.failing.is_some() {
            m.part = LET_GO;
            if let Some(low) = set_down_place(pilot, m, seen) {
                m.part = SET_DOWN;
                pilot.send(m, low, pilot.settings.descend_step_size);
            }
        }
        m.jaws_from = pilot.body.jaws(&seen.joint_pos).max(m.jaws);
    }
    if m.failing.is_none() && pilot.is_frame(seen) {
        watch_current(pilot, m, seen);
    }
    // On the way home nothing may stop it: a line that cannot be followed is left out.
    let is_done = m.part == SWING || pilot.follow(m).unwrap_or(true);
    match m.part {
        SET_DOWN if is_done => {
            // The jaws open from here on.
            (m.part, m.ticks, m.line) = (LET_GO, 0, None);
        }
        LET_GO => {
            let open = m.plan.open.max(m.plan.release).min(pilot.settings.gripper_open);
            let frames = pilot.settings.release_open_steps;
            if pilot.move_jaws(m, open, frames) {
                m.part = RISE;
            }
        }
        RISE if is_done => {
            let z = pilot.body.height(pilot.settings.transport_height);
            let up = HandTarget { at_m: Vector3::new(m.hand.at_m.x, m.hand.at_m.y, z), ..m.hand };
            let near = m.joints.clone();
            let is_low = m.hand.at_m.z < z - ARRIVED_M;
            if is_low && pilot.body.reach(&up, &near).is_some() {
                pilot.send(m, up, pilot.settings.lift_step_size);
            } else {
                (m.part, m.line) = (SWING, None);
                pilot.look_ahead_home(m, seen);
            }
        }
        _ => {}
    }
    if m.part != SWING || matches!(pilot.go_around(m), OnRoute::Yes) {
        return Step::Stay;
    }
    let arm = pilot.body.ik.arm_joints();
    let mut swing = m.swing.take().unwrap_or_else(|| {
        let mut home = m.joints.clone();
        home[..arm].copy_from_slice(&pilot.body.home[..arm]);
        Swing::new(&m.joints, &home, &pilot.body.speeds)
    });
    // The jaws move on their own.
    let is_home = swing.go(pilot.tick_s, SWING_RAMP_S, &mut m.joints[..arm]);
    m.swing = Some(swing);
    m.hand = pilot.body.place(&m.joints);
    m.correction_m = Vector3::zeros();
    match (is_home, m.failing) {
        (false, _) => Step::Stay,
        (true, Some(_)) => Step::To(State::Failed),
        (true, None) if pilot.is_frame(seen) => match watch_current(pilot, m, seen) {
            Placed::Yes => Step::To(State::Success),
            // It rolled away behind the hand's back.
            _ => {
                m.failing = Some(Reason::OffPlate);
                pilot.note_failure(m, m.current, Reason::OffPlate, seen);
                Step::To(State::Failed)
            }
        },
        (true, None) => Step::Stay,
    }
}

/// Where a thing that is still held can be set down: right below, on the floor or on the goal.
fn set_down_place(pilot: &mut Autopilot, m: &Memory, seen: &Observation) -> Option<HandTarget> {
    if m.grip != GraspBelief::Yes {
        return None;
    }
    let thing = pilot.current_thing(m, seen)?;
    let [x, y] = [thing.middle_m.x, thing.middle_m.y];
    let region = pilot.goal.region(seen)?;
    let [center_x, center_y, surface_m] = region.center_m();
    let reach_m = match region {
        Region::Disc { radius_m, .. } => radius_m,
        Region::Top { half_m, .. } | Region::Inside { half_m, .. } => half_m[0].hypot(half_m[1]),
    };
    let is_at_goal = (x - center_x).hypot(y - center_y) < reach_m + NEAR_GOAL_M;
    let surface_m = if is_at_goal { surface_m } else { pilot.body.floor_z_m };
    let down_m = thing.lowest_m - surface_m - SET_DOWN_GAP_M;
    let low = HandTarget { at_m: m.hand.at_m - Vector3::z() * down_m, ..m.hand };
    let near = m.joints.clone();
    (down_m > 0.0 && pilot.body.reach(&low, &near).is_some()).then_some(low)
}
