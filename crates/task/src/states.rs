//! What the autopilot does in each state: one function per state, called at every tick.

use citrange_core::Observation;
use nalgebra::{Unit, Vector3};
use serde_json::json;

use crate::choice::{Take, beside, grasp_turn, release_turn};
use crate::goal::yaw;
use crate::judge::{
    Color, GraspDetector, GraspSample, HandView, NotPlaced, Placed, PlacementDetector, Region,
    assess,
};
use crate::memory::{Fetch, Grip, Memory};
use crate::moves::{Place, Swing};
use crate::pilot::Autopilot;
use crate::reason::{Reason, State};
use crate::spots;
use crate::table::Step;

/// How strongly a missed place is corrected, per second.
const CORRECT_PER_SEC: f64 = 4.0;
/// Frames for which the hand must stand right before it goes down.
const STEADY_FRAMES: u32 = 3;
/// Fastest joint of an arm that stands.
const STANDS_RAD_S: f64 = 0.08;
/// Frames that a verdict is waited for when the hand has arrived.
const PATIENCE_FRAMES: u32 = 15;
/// How near the hand must be to where it was sent to have arrived.
const ARRIVED_M: f64 = 0.012;
/// The hand goes this far above a place before it comes down on it.
const OVER_M: f64 = 0.03;
/// How far above a surface a thing is set down.
const SET_DOWN_GAP_M: f64 = 0.003;
/// Share of the gripper's range in which its grip goes from full to nothing.
const RELIEF: f64 = 0.02;
/// Time in which a swing of the joints gains its speed.
const SWING_RAMP_S: f64 = 0.25;

/// The step of a result: reasons fail the attempt.
macro_rules! or_fail {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(reason) => return Step::Fail(reason),
        }
    };
}

/// Chooses what to fetch next; when all is fetched, looks once more and ends.
pub(crate) fn idle(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    let most = pilot.settings.retries + 1;
    let next = m.fetches.iter().position(|f| !f.is_placed && f.attempts < most);
    let Some(next) = next else { return last_look(pilot, m, seen) };
    let object = pilot.targets[next];
    if m.current != Some(next) {
        m.target_ticks = 0;
        m.failed_turns = Default::default();
    }
    m.current = Some(next);
    m.failing = None;
    m.correction_m = Vector3::zeros();
    (m.grasp, m.grip, m.was_held) = (None, Grip::Unknown, false);
    m.fetches[next].attempts += 1;
    let half = pilot.half_width_m(object);
    pilot.body.hold(half);
    m.hand = pilot.body.place(&m.joints);
    let Some(thing) = pilot.target(m, seen) else { return Step::Fail(Reason::TargetNotSeen) };
    let at_m = Vector3::from(thing.pose.pos_m);
    if !at_m.iter().all(|n| n.is_finite()) {
        return Step::Fail(Reason::TargetNotSeen);
    }
    m.fetches[next].start_m.get_or_insert(thing.pose.pos_m);
    let at_goal = pilot.goal.rim(seen).is_some_and(|rim| {
        (at_m.x - rim.center_m[0]).hypot(at_m.y - rim.center_m[1]) < rim.radius_m
    });
    let around = pilot.around(seen, object, at_goal);
    let failed: Vec<f64> = m.failed_turns.iter().flatten().copied().collect();
    let take = Take { at_m, yaw_rad: yaw(thing), around: &around, failed: &failed };
    let Some(turn) = grasp_turn(&mut pilot.body, &pilot.settings, &take) else {
        return Step::Fail(Reason::IkUnreachable);
    };
    m.turn_rad = turn;
    let detail = json!({
        "target": pilot.name(next), "attempt": m.fetches[next].attempts,
        "object_m": thing.pose.pos_m, "jaw_turn_deg": turn.to_degrees(),
    });
    pilot.note("target", detail);
    if m.fetches[next].attempts > 1 {
        let detail = json!({
            "target": pilot.name(next), "attempt": m.fetches[next].attempts,
            "change": {"jaw_turn_deg": turn.to_degrees()},
        });
        pilot.note("retry", detail);
    }
    Step::To(State::Approach)
}

/// Whether everything still lies where it was put.
fn last_look(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    m.current = None;
    if !pilot.is_frame(seen) {
        return Step::Stay;
    }
    let region = pilot.goal.region(seen);
    let mut is_sure = true;
    for n in 0..m.fetches.len() {
        if m.fetches[n].is_placed {
            let mut watch = m.fetches[n].watch.clone();
            let placed = pilot.rests(&mut watch, pilot.targets[n], region.as_ref(), seen);
            m.fetches[n].watch = watch;
            is_sure &= placed == Placed::Yes;
        }
    }
    m.part += 1;
    if !is_sure && m.part < PATIENCE_FRAMES * 2 {
        return Step::Stay;
    }
    if !is_sure {
        for n in 0..m.fetches.len() {
            let mut watch = m.fetches[n].watch.clone();
            let placed = pilot.rests(&mut watch, pilot.targets[n], region.as_ref(), seen);
            if m.fetches[n].is_placed && placed != Placed::Yes {
                m.fetches[n].is_placed = false;
                m.fetches[n].reason = Some(Reason::OffPlate);
                let detail = json!({
                    "target": pilot.name(n), "attempt": m.fetches[n].attempts,
                    "state": State::Idle.name(), "reason": Reason::OffPlate.name(),
                    "object_m": seen.objects[pilot.targets[n]].map(|o| o.pose.pos_m),
                });
                pilot.note("failed", detail);
            }
        }
        m.part = 0;
        // Those may be fetched again.
        return Step::Stay;
    }
    Step::End(pilot.outcome(m, seen))
}

/// Over the thing, jaws open and turned.
pub(crate) fn approach(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    if m.ticks == 0 {
        let Some(over) = over_target(pilot, m, seen) else {
            return Step::Fail(Reason::TargetNotSeen);
        };
        pilot.send(m, over, pilot.settings.travel_horizontal_speed);
    }
    let (open, frames) = (pilot.settings.gripper_open, pilot.settings.grasp_duration_steps);
    let is_open = pilot.move_jaws(m, open, frames);
    let is_there = or_fail!(pilot.follow(m));
    if is_open && is_there { Step::To(State::PostureAdjust) } else { Step::Stay }
}

/// Where the hand should be over the thing as it is now.
fn over_target(pilot: &Autopilot, m: &Memory, seen: &Observation) -> Option<Place> {
    let at_m = Vector3::from(pilot.target(m, seen)?.pose.pos_m);
    let mut over = beside(&pilot.body, &pilot.settings, &at_m, m.turn_rad);
    over.at_m.z = pilot.body.height(pilot.settings.approach_height);
    at_m.iter().all(|n| n.is_finite()).then_some(over)
}

/// Measures what the hand misses, and corrects it: the arm hangs, the thing may have rolled.
pub(crate) fn posture_adjust(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    let Some(over) = over_target(pilot, m, seen) else {
        return Step::Fail(Reason::TargetNotSeen);
    };
    if m.line.is_none() && (over.at_m - m.hand.at_m).norm() > 0.0005 {
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
    let turned = citrange_control::wrapped(wanted - pilot.hand.jaw_yaw_rad()).abs();
    let fastest = seen.joint_vel.iter().map(|v| v.abs()).fold(0.0, f64::max);
    let is_right = away_m < pilot.settings.posture_tolerance_m
        && turned.to_degrees() < pilot.settings.posture_tolerance_deg
        && fastest < STANDS_RAD_S;
    m.part = if is_right { m.part + 1 } else { 0 };
    if m.part >= STEADY_FRAMES { Step::To(State::Descend) } else { Step::Stay }
}

/// Down around the thing, until the line between the jaws goes through it.
pub(crate) fn descend(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    let Some(thing) = pilot.target(m, seen) else { return Step::Fail(Reason::TargetNotSeen) };
    if m.ticks == 0 {
        if m.plate.is_none() {
            m.plate = pilot.goal.watch(seen);
        }
        if m.plate.is_none() {
            return Step::Fail(Reason::PlateNotSeen);
        }
        let z = thing.pose.pos_m[2] + pilot.settings.grasp_offset_m;
        let low = Place { at_m: Vector3::new(m.hand.at_m.x, m.hand.at_m.y, z), ..m.hand };
        pilot.send(m, low, pilot.settings.descend_step_size);
    }
    let is_down = or_fail!(pilot.follow(m));
    pilot.body.hand(&m.joints);
    let lowest = pilot.body.ik.kinematics().lowest_m() - m.correction_m.z;
    if lowest < pilot.body.floor_z_m + pilot.settings.floor_clearance_m - 1e-4 {
        return Step::Fail(Reason::Floor);
    }
    if !is_down || !pilot.is_frame(seen) {
        return Step::Stay;
    }
    let object = m.current.map_or(0, |n| pilot.targets[n]);
    let half = pilot.half_width_m(object);
    let view = HandView {
        grasp_m: pilot.hand.at_m,
        jaw_axis: Unit::new_normalize(pilot.hand.jaw_axis),
        tool_axis: Unit::new_normalize(pilot.hand.tool_axis),
        opening_m: 4.0 * half,
    };
    let box_m = &pilot.objects[object].box_m;
    let pickup = assess(&pilot.settings.pickup, &view, Some(thing), box_m);
    m.part += 1;
    match pickup.color {
        Color::Green => Step::To(State::Grasp),
        _ if m.part < PATIENCE_FRAMES => Step::Stay,
        _ => Step::Fail(Reason::NotGreen),
    }
}

/// Closes the jaws evenly.
pub(crate) fn grasp(pilot: &mut Autopilot, m: &mut Memory, _seen: &Observation) -> Step {
    let (closed, frames) = (pilot.settings.gripper_closed, pilot.settings.grasp_duration_steps);
    if pilot.move_jaws(m, closed, frames) { Step::To(State::GraspSettle) } else { Step::Stay }
}

/// Waits until the grasp has settled; jaws that closed on nothing end it here.
pub(crate) fn grasp_settle(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    let wait = pilot.settings.secs(pilot.settings.grasp_settle_duration_steps);
    if pilot.secs(m) < wait || !pilot.is_frame(seen) {
        return Step::Stay;
    }
    let jaw_gap = pilot.jaw_gap(m, seen);
    if jaw_gap < pilot.settings.grasp_detection.jaw_gap_min {
        return Step::Fail(Reason::GraspMissed);
    }
    let object = pilot.target(m, seen);
    let first = GraspSample { hand_m: pilot.hand.at_m, object, jaw_gap };
    m.grasp = Some(GraspDetector::begin(&first));
    Step::To(State::Lift)
}

/// Straight up; the detector is asked at every frame.
pub(crate) fn lift(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    let top_m = pilot.body.height(pilot.settings.lift_height);
    if m.ticks == 0 {
        let up = Place { at_m: Vector3::new(m.hand.at_m.x, m.hand.at_m.y, top_m), ..m.hand };
        pilot.send(m, up, pilot.settings.lift_step_size);
    }
    let is_up = or_fail!(pilot.follow(m));
    if !is_up || !pilot.is_frame(seen) || pilot.hand.at_m.z < top_m - ARRIVED_M {
        return Step::Stay;
    }
    m.part += 1;
    match m.grip {
        Grip::Yes => Step::To(State::Retreat),
        _ if m.part < PATIENCE_FRAMES => Step::Stay,
        // What is not known is not held.
        _ => Step::Fail(Reason::GraspUnknown),
    }
}

/// Back towards the base, where the arm has room; as far as it reaches.
pub(crate) fn retreat(pilot: &mut Autopilot, m: &mut Memory, _seen: &Observation) -> Step {
    if m.ticks == 0 {
        let z = pilot.body.height(pilot.settings.transport_height);
        let from = Vector3::new(m.hand.at_m.x, m.hand.at_m.y, z);
        let back = pilot.body.base(z) - from;
        let near = m.joints.clone();
        let tries = [1.0, 0.75, 0.5, 0.25, 0.0].map(|part| Place {
            at_m: from + back * (pilot.settings.retreat_fraction * part),
            turn_rad: m.hand.turn_rad,
        });
        let least = pilot.body.ring_m[0].min((pilot.body.base(z) - from).norm());
        let safe = tries.into_iter().find(|place| {
            (place.at_m - pilot.body.base(z)).norm() >= least
                && pilot.body.reach(place, &near).is_some()
        });
        let Some(safe) = safe else { return Step::Fail(Reason::IkFailed) };
        pilot.send(m, safe, pilot.settings.travel_horizontal_speed);
    }
    if or_fail!(pilot.follow(m)) { Step::To(State::Transport) } else { Step::Stay }
}

/// Over its place, if need be around the base, then down to it.
pub(crate) fn transport(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    const AROUND: u32 = 0;
    const OVER: u32 = 1;
    const DOWN: u32 = 2;
    let travel = pilot.settings.travel_horizontal_speed;
    if m.ticks == 0 {
        m.release = or_fail!(release_place(pilot, m, seen));
    }
    let z = pilot.body.height(pilot.settings.transport_height).max(m.release.at_m.z + OVER_M);
    let over = Place { at_m: Vector3::new(m.release.at_m.x, m.release.at_m.y, z), ..m.release };
    if m.ticks == 0 {
        match pilot.body.way_around(&m.hand.at_m, &over.at_m) {
            Some(at_m) => {
                let turn_rad = (m.hand.turn_rad + over.turn_rad) / 2.0;
                pilot.send(m, Place { at_m, turn_rad }, travel);
            }
            None => {
                m.part = OVER;
                pilot.send(m, over, travel);
            }
        }
    }
    if !or_fail!(pilot.follow(m)) {
        return Step::Stay;
    }
    match m.part {
        AROUND => pilot.send(m, over, travel),
        OVER => pilot.send(m, m.release, pilot.settings.descend_step_size),
        _ => {
            let has_arrived = (pilot.hand.at_m - m.hand.at_m).norm() < ARRIVED_M;
            let is_sure = m.grip == Grip::Yes && has_arrived;
            return if is_sure { Step::To(State::Release) } else { Step::Stay };
        }
    }
    m.part = (m.part + 1).min(DOWN);
    Step::Stay
}

/// Where the hand has to be so that the thing it holds comes to lie at a free place of the goal.
fn release_place(
    pilot: &mut Autopilot,
    m: &mut Memory,
    seen: &Observation,
) -> Result<Place, Reason> {
    let current = m.current.ok_or(Reason::TargetNotSeen)?;
    let object = pilot.targets[current];
    let thing = pilot.target(m, seen).ok_or(Reason::LostInTransport)?;
    let region = pilot.goal.region(seen).ok_or(Reason::PlateNotSeen)?;
    m.carried_m = Vector3::from(thing.pose.pos_m) - pilot.hand.at_m;
    let (Region::Disc { center_m, .. } | Region::Top { center_m, .. }) = &region;
    let z = center_m[2] + pilot.below_m(object) + pilot.settings.release_height - m.carried_m.z;
    let around = pilot.around(seen, object, true);
    let yaw_rad = pilot.goal.yaw(seen);
    let near = m.joints.clone();
    let carried_m = m.carried_m;
    // The thing turns with the jaws about the vertical; near the axis that moves it little.
    let hand_for = |xy: [f64; 2]| Vector3::new(xy[0] - carried_m.x, xy[1] - carried_m.y, z);
    let spot = match region {
        Region::Top { center_m, .. } => [center_m[0], center_m[1]],
        Region::Disc { center_m, radius_m } => {
            let lie_there = |n: usize, fetch: &Fetch| fetch.is_placed && n != current;
            let others: Vec<[f64; 2]> = around
                .obstacles
                .iter()
                .map(|o| o.at_m)
                .filter(|at| (at[0] - center_m[0]).hypot(at[1] - center_m[1]) < radius_m + 0.02)
                .collect();
            let placed = m.fetches.iter().enumerate().filter(|(n, f)| lie_there(*n, f)).count();
            let remaining = (m.fetches.len() - placed).max(1);
            let half = pilot.half_width_m(object);
            let center = [center_m[0], center_m[1]];
            let (body, settings) = (&mut pilot.body, &pilot.settings);
            let mut reachable = |xy: [f64; 2]| {
                release_turn(body, settings, &hand_for(xy), yaw_rad, &around, &near).is_some()
            };
            let mut fit = |remaining| {
                let spots = &settings.spots;
                spots::choose(spots, center, radius_m, half, &others, remaining, &mut reachable)
            };
            // If not all of those to come fit, at least this one may.
            fit(remaining).or_else(|| fit(1)).ok_or(Reason::NoSpot)?
        }
    };
    let mut place = Place { at_m: hand_for(spot), turn_rad: m.hand.turn_rad };
    let turn = release_turn(&mut pilot.body, &pilot.settings, &place.at_m, yaw_rad, &around, &near)
        .ok_or(Reason::NoSpot)?;
    // The thing turns with the jaws: where it is in the hand turns too.
    let before = pilot.body.yaw(&m.hand);
    place.turn_rad = turn;
    let by =
        nalgebra::Rotation3::from_axis_angle(&Vector3::z_axis(), pilot.body.yaw(&place) - before);
    let carried = by * carried_m;
    place.at_m = Vector3::new(spot[0] - carried.x, spot[1] - carried.y, z);
    let detail =
        json!({"target": pilot.name(current), "spot_m": spot, "jaw_turn_deg": turn.to_degrees()});
    pilot.note("spot", detail);
    Ok(place)
}

/// Opens the jaws, draws the hand up, and watches the thing come to rest.
pub(crate) fn release(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    if m.ticks == 0 {
        // From where they stand: what the servo pressed beyond that only held the thing.
        m.jaws_from = pilot.body.jaws(&seen.joint_pos).min(pilot.settings.gripper_release);
        m.grip = Grip::Unknown;
        if let Some(fetch) = m.fetch() {
            fetch.watch = PlacementDetector::default();
        }
    }
    if !ease_open(pilot, m) {
        return Step::Stay;
    }
    if m.part == 0 {
        m.part = 1;
        let z = pilot.body.height(pilot.settings.transport_height).max(m.hand.at_m.z + OVER_M);
        let up = Place { at_m: Vector3::new(m.hand.at_m.x, m.hand.at_m.y, z), ..m.hand };
        pilot.send(m, up, pilot.settings.lift_step_size);
    }
    let is_up = or_fail!(pilot.follow(m));
    if !pilot.is_frame(seen) {
        return Step::Stay;
    }
    let placed = watch_current(pilot, m, seen);
    if is_up && placed == Placed::Yes {
        return Step::To(State::ReturnHome);
    }
    if pilot.secs(m) > pilot.settings.secs(pilot.settings.release_duration_steps) {
        return Step::Fail(match placed {
            Placed::NotYet(NotPlaced::Moving | NotPlaced::Settling) => Reason::NotAtRest,
            _ => Reason::OffPlate,
        });
    }
    Step::Stay
}

/// Opens the jaws: slowly while they let go, so that the thing is not flicked away, then quickly.
fn ease_open(pilot: &Autopilot, m: &mut Memory) -> bool {
    let settings = &pilot.settings;
    let (slow, quick) =
        (settings.secs(settings.release_ease_steps), settings.secs(settings.release_open_steps));
    let secs = (m.ticks + 1) as f64 * pilot.tick_secs;
    let eased = m.jaws_from - RELIEF / 2.0 + RELIEF * (secs / slow.max(pilot.tick_secs)).min(1.0);
    let rest = ((secs - slow) / quick).clamp(0.0, 1.0);
    m.jaws = eased + rest * (settings.gripper_release - eased);
    pilot.body.set_jaws(m.jaws, &mut m.joints);
    rest >= 1.0
}

fn watch_current(pilot: &Autopilot, m: &mut Memory, seen: &Observation) -> Placed {
    let Some(n) = m.current else { return Placed::Unknown(NotPlaced::NotSeen) };
    let region = pilot.goal.region(seen);
    let watch = &mut m.fetches[n].watch;
    pilot.rests(watch, pilot.targets[n], region.as_ref(), seen)
}

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
            let (open, frames) = (pilot.settings.gripper_open, pilot.settings.release_open_steps);
            if pilot.move_jaws(m, open, frames) {
                m.part = RISE;
            }
        }
        RISE if is_done => {
            let z = pilot.body.height(pilot.settings.transport_height);
            let up = Place { at_m: Vector3::new(m.hand.at_m.x, m.hand.at_m.y, z), ..m.hand };
            let near = m.joints.clone();
            let is_low = m.hand.at_m.z < z - ARRIVED_M;
            if is_low && pilot.body.reach(&up, &near).is_some() {
                pilot.send(m, up, pilot.settings.lift_step_size);
            } else {
                (m.part, m.line) = (SWING, None);
            }
        }
        _ => {}
    }
    if m.part != SWING {
        return Step::Stay;
    }
    let arm = pilot.body.ik.arm_joints();
    let mut swing = m.swing.take().unwrap_or_else(|| {
        let mut home = m.joints.clone();
        home[..arm].copy_from_slice(&pilot.body.home[..arm]);
        Swing::new(&m.joints, &home, &pilot.body.speeds)
    });
    // The jaws move on their own.
    let is_home = swing.go(pilot.tick_secs, SWING_RAMP_S, &mut m.joints[..arm]);
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
                let detail = json!({
                    "target": m.current.map(|n| pilot.name(n).to_owned()),
                    "attempt": m.fetch().map_or(0, |f| f.attempts),
                    "state": State::ReturnHome.name(), "reason": Reason::OffPlate.name(),
                    "object_m": pilot.target(m, seen).map(|o| o.pose.pos_m),
                });
                pilot.note("failed", detail);
                Step::To(State::Failed)
            }
        },
        (true, None) => Step::Stay,
    }
}

/// Where a thing that is still held can be set down: right below, on the floor or on the goal.
fn set_down_place(pilot: &mut Autopilot, m: &Memory, seen: &Observation) -> Option<Place> {
    let thing = pilot.target(m, seen).filter(|_| m.grip == Grip::Yes)?;
    let object = pilot.targets[m.current?];
    let [x, y, z] = thing.pose.pos_m;
    let surface_m = match pilot.goal.region(seen)? {
        Region::Disc { center_m, radius_m }
            if (x - center_m[0]).hypot(y - center_m[1]) < radius_m + 0.03 =>
        {
            center_m[2]
        }
        _ => pilot.body.floor_z_m,
    };
    let down_m = z - pilot.below_m(object) - surface_m - SET_DOWN_GAP_M;
    let low = Place { at_m: m.hand.at_m - Vector3::z() * down_m, ..m.hand };
    let near = m.joints.clone();
    (down_m > 0.0 && pilot.body.reach(&low, &near).is_some()).then_some(low)
}

/// Remembers what was placed.
pub(crate) fn success(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    let object_m = pilot.target(m, seen).map(|o| o.pose.pos_m);
    let Some(n) = m.current else { return Step::To(State::Idle) };
    m.fetches[n].is_placed = true;
    m.fetches[n].reason = None;
    let spot = m.release.at_m + m.carried_m;
    let detail = json!({
        "target": pilot.name(n), "attempt": m.fetches[n].attempts,
        "object_m": object_m, "spot_m": [spot.x, spot.y],
    });
    pilot.note("placed", detail);
    Step::To(State::Idle)
}

/// Remembers what failed; a goal that was pushed ends everything.
pub(crate) fn failed(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    let reason = m.failing;
    let turn = m.turn_rad;
    m.failed_turns.rotate_right(1);
    m.failed_turns[0] = Some(turn);
    if let Some(fetch) = m.fetch() {
        fetch.is_placed = false;
        fetch.reason = reason;
    }
    if reason == Some(Reason::PlateMoved) {
        return Step::End(pilot.outcome(m, seen));
    }
    Step::To(State::Idle)
}
