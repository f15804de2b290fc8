//! From above the thing until it is in the air.

use citrange_core::Observation;
use nalgebra::{Unit, Vector3};

use super::{ARRIVED_M, PATIENCE_FRAMES};
use crate::grasp_plan::{beside, over_z_m};
use crate::judge::{GraspDetector, GraspSample, HandView, PickupColour, assess};
use crate::memory::{GraspBelief, Memory};
use crate::moves::HandTarget;
use crate::pilot::Autopilot;
use crate::reason::{Reason, State};
use crate::table::Step;

/// How strongly a missed place is corrected, per second.
const CORRECT_PER_SEC: f64 = 4.0;
/// Frames for which the hand must stand right before it goes down.
const STEADY_FRAMES: u32 = 3;
/// Fastest joint of an arm that stands.
const STANDS_RAD_S: f64 = 0.08;
/// Weight of a new look at a thing against those before.
const NEW_LOOK: f64 = 0.06;
/// What moved farther than this is somewhere else.
const JUMP_M: f64 = 0.02;
/// The hand is sent anew when the thing is this far from where it was sent for.
const RESEND_M: f64 = 0.001;

/// Over the thing, jaws open and rotated.
pub(crate) fn approach(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    const UP: u32 = 0;
    const ACROSS: u32 = 1;
    const DOWN: u32 = 2;
    let Some(over) = over_target(pilot, m, seen) else {
        return Step::Fail(Reason::TargetNotSeen);
    };
    let z = m.travel_z_m;
    if m.line.is_none() && m.part <= DOWN {
        // First up, where the way across would be too low; then across, then down.
        let up = HandTarget { at_m: Vector3::new(m.hand.at_m.x, m.hand.at_m.y, z), ..m.hand };
        if m.part == UP && m.hand.at_m.z < z - 1e-3 && pilot.joints_for(m, &up).is_ok() {
            pilot.send(m, up, pilot.settings.travel_horizontal_speed);
            m.part = ACROSS;
        } else if m.part <= ACROSS {
            let across = HandTarget { at_m: Vector3::new(over.at_m.x, over.at_m.y, z), ..over };
            // From high up straight to the thing, when its own height is all that counts.
            let to = if z > over.at_m.z + 1e-3 { across } else { over };
            pilot.send(m, to, pilot.settings.travel_horizontal_speed);
            m.part = DOWN;
        } else {
            pilot.send(m, over, pilot.settings.travel_horizontal_speed);
            m.part = DOWN + 1;
        }
    }
    let open = m.plan.open.min(pilot.settings.gripper_open);
    let frames = pilot.settings.grasp_duration_steps;
    let is_open = pilot.move_jaws(m, open, frames);
    let is_there = or_fail!(pilot.follow(m));
    let is_last = m.part > DOWN || (m.part == DOWN && z <= over.at_m.z + 1e-3);
    if is_open && is_there && is_last { Step::To(State::PostureAdjust) } else { Step::Stay }
}

/// Where the hand should be over the thing as it is now; looks that differ a little are averaged.
fn over_target(pilot: &Autopilot, m: &mut Memory, seen: &Observation) -> Option<HandTarget> {
    let thing = pilot.current_thing(m, seen)?;
    let off = thing.middle_m - m.middle_m;
    if off.norm() > JUMP_M {
        m.middle_m = thing.middle_m;
    } else if pilot.is_frame(seen) {
        m.middle_m += off * NEW_LOOK;
    }
    let mut over = beside(&pilot.body, &m.plan, &m.middle_m);
    over.at_m.z = over_z_m(&pilot.body, &pilot.settings, &thing, &m.plan).min(m.travel_z_m);
    Some(over)
}

/// Measures what the hand misses, and corrects it: the arm hangs, the thing may have rolled.
pub(crate) fn posture_adjust(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    if !pilot.settings.enable_posture_correction {
        return Step::To(State::Descend);
    }
    let Some(over) = over_target(pilot, m, seen) else {
        return Step::Fail(Reason::TargetNotSeen);
    };
    if m.line.is_none() && (over.at_m - m.hand.at_m).xy().norm() > RESEND_M {
        pilot.send(m, over, pilot.settings.descend_step_size);
    }
    or_fail!(pilot.follow(m));
    let miss_m = m.hand.at_m - pilot.hand.at_m;
    pilot.correct(m, &miss_m, CORRECT_PER_SEC);
    // The correction moves the hand also where there is no line to follow.
    let joints = or_fail!(pilot.joints_for(m, &m.hand.clone()));
    let arm = pilot.body.ik.arm_joints();
    m.joints[..arm].copy_from_slice(&joints[..arm]);
    if !pilot.is_frame(seen) {
        return Step::Stay;
    }
    let away_m = (over.at_m - pilot.hand.at_m).xy().norm();
    let wanted = pilot.body.goal(&over).jaw_yaw_rad;
    let off_rad = citrange_robot::wrapped(wanted - pilot.hand.jaw_yaw_rad()).abs();
    let fastest = seen.joint_vel.iter().map(|v| v.abs()).fold(0.0, f64::max);
    let is_right = away_m < pilot.settings.posture_tolerance_m
        && off_rad.to_degrees() < pilot.settings.posture_tolerance_deg
        && fastest < STANDS_RAD_S;
    m.part = if is_right { m.part + 1 } else { 0 };
    if !is_right {
        let (mm, turn) = ((away_m * 1e4).round() / 10.0, off_rad.to_degrees().round());
        pilot.because(format!("the hand is {mm} mm aside, its jaws {turn} degrees off"));
    }
    if m.part >= STEADY_FRAMES { Step::To(State::Descend) } else { Step::Stay }
}

/// Down around the thing, until the line between the jaws goes through it.
pub(crate) fn descend(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    if pilot.target(m, seen).is_none() {
        return Step::Fail(Reason::TargetNotSeen);
    }
    if m.ticks == 0 {
        if m.plate.is_none() {
            m.plate = pilot.goal.watch(seen);
        }
        if m.plate.is_none() {
            return Step::Fail(Reason::PlateNotSeen);
        }
        let z = m.middle_m.z + pilot.settings.grasp_offset_m;
        let low = HandTarget { at_m: Vector3::new(m.hand.at_m.x, m.hand.at_m.y, z), ..m.hand };
        pilot.send(m, low, pilot.settings.descend_step_size);
    }
    let is_down = or_fail!(pilot.follow(m));
    pilot.body.hand(&m.joints);
    let lowest = pilot.body.ik.kinematics().lowest_m() - m.correction_m.z;
    if lowest < pilot.body.floor_z_m + pilot.settings.floor_clearance_m - 1e-4 {
        let mm = ((pilot.body.floor_z_m - lowest) * 1e4).round() / 10.0;
        pilot.because(format!("the jaw tips would be {mm} mm below the table"));
        return Step::Fail(Reason::Floor);
    }
    if !is_down || !pilot.is_frame(seen) {
        return Step::Stay;
    }
    let object = m.current.map_or(0, |n| pilot.targets[n]);
    let thing = pilot.thing(object, seen);
    let half = thing.map_or(0.0, |thing| thing.radius_m());
    let view = HandView {
        grasp_m: pilot.hand.at_m,
        jaw_axis: Unit::new_normalize(pilot.hand.jaw_axis),
        tool_axis: Unit::new_normalize(pilot.hand.tool_axis),
        opening_m: 4.0 * half,
    };
    let box_m = &pilot.objects[object].box_m;
    let target = pilot.target(m, seen);
    let pickup = assess(&pilot.settings.pickup, &view, target, box_m);
    m.part += 1;
    match pickup.color {
        PickupColour::Green => Step::To(State::Grasp),
        _ if m.part < PATIENCE_FRAMES => Step::Stay,
        color => {
            let mm = |at: Option<f64>| at.map_or(f64::NAN, |at| (at * 1e4).round() / 10.0);
            let (offset, along) = (mm(pickup.offset_m), mm(pickup.along_m));
            pilot
                .because(format!("{color:?}: {offset} mm beside the jaws' line, {along} along it"));
            Step::Fail(Reason::NotGreen)
        }
    }
}

/// Closes the jaws evenly.
pub(crate) fn grasp(pilot: &mut Autopilot, m: &mut Memory, _seen: &Observation) -> Step {
    let (closed, frames) = (pilot.closed(m), pilot.settings.grasp_duration_steps);
    if pilot.move_jaws(m, closed, frames) { Step::To(State::GraspSettle) } else { Step::Stay }
}

/// Waits until the grasp has settled; jaws that closed on nothing end it here.
pub(crate) fn grasp_settle(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    const CLOSED: u32 = 0;
    const CATCHING_UP: u32 = 1;
    const CAUGHT_UP: u32 = 2;
    let wait_s = pilot.settings.frames_s(pilot.settings.grasp_settle_duration_steps);
    let is_there = or_fail!(pilot.follow(m));
    if m.part == CATCHING_UP && is_there {
        m.part = CAUGHT_UP;
    }
    let wait_s = if m.part == CLOSED { wait_s } else { 2.0 * wait_s };
    if pilot.in_state_s(m) < wait_s || !is_there || !pilot.is_frame(seen) {
        return Step::Stay;
    }
    if m.part == CLOSED && catch_up(pilot, m, seen) {
        m.part = CATCHING_UP;
        return Step::Stay;
    }
    let jaw_gap = pilot.jaw_gap(m, seen);
    if jaw_gap < pilot.grasp_limits(m).jaw_gap_min {
        pilot.because("the jaws closed on nothing".to_owned());
        return Step::Fail(Reason::GraspMissed);
    }
    let object = pilot.target_middle(m, seen);
    let object = object.as_ref();
    let first = GraspSample { hand_m: pilot.hand.at_m, object, jaw_gap };
    m.grasp = Some(GraspDetector::begin(&first));
    Step::To(State::Lift)
}

/// Sends the hand across to a thing that only the moving jaw has reached: pressed from above onto
/// its far edge, it could not be drawn to the jaw that stands.
fn catch_up(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> bool {
    let touch_n = pilot.target(m, seen).and_then(|object| object.touch_n);
    let least_n = pilot.settings.grasp_detection.contact_force_threshold_n;
    let is_aside = touch_n.is_some_and(|[stands, moves]| stands < least_n && moves >= least_n);
    if !is_aside || m.plan.aside_m <= 0.0 {
        return false;
    }
    let (sin, cos) = pilot.body.yaw(&m.hand).sin_cos();
    let by_m = Vector3::new(cos, sin, 0.0) * m.plan.aside_m;
    let across = HandTarget { at_m: m.hand.at_m + by_m, ..m.hand };
    let is_possible = pilot.joints_for(m, &across).is_ok();
    if is_possible {
        pilot.send(m, across, pilot.settings.descend_step_size);
    }
    is_possible
}

/// Straight up; the detector is asked at every frame.
pub(crate) fn lift(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    let top_m = m.lift_z_m;
    if m.ticks == 0 {
        let up = HandTarget { at_m: Vector3::new(m.hand.at_m.x, m.hand.at_m.y, top_m), ..m.hand };
        pilot.send(m, up, pilot.settings.lift_step_size);
    }
    let is_up = or_fail!(pilot.follow(m));
    if !is_up || !pilot.is_frame(seen) || pilot.hand.at_m.z < top_m - ARRIVED_M {
        return Step::Stay;
    }
    m.part += 1;
    match m.grip {
        GraspBelief::Yes => Step::To(State::Retreat),
        _ if m.part < PATIENCE_FRAMES => Step::Stay,
        // What is not known is not held.
        _ => Step::Fail(Reason::GraspUnknown),
    }
}
