//! From the air to its place, and until it lies there.

use citrange_core::event::SpotChosen;
use citrange_core::{Event, Observation};
use nalgebra::{Rotation3, Vector3};

use super::{ARRIVED_M, OVER_M, watch_current};
use crate::choice::release_yaw;
use crate::judge::{NotPlaced, Placed, PlacementDetector, Region};
use crate::memory::{GraspBelief, Memory};
use crate::moves::HandTarget;
use crate::pilot::Autopilot;
use crate::reason::{Reason, State};
use crate::spots;
use crate::table::Step;

/// Fraction of the gripper's range in which its grip goes from full to nothing.
const RELIEF: f64 = 0.02;

/// Back towards the base, where the arm has room; as far as it reaches.
pub(crate) fn retreat(pilot: &mut Autopilot, m: &mut Memory, _seen: &Observation) -> Step {
    if m.ticks == 0 {
        let z = pilot.body.height(pilot.settings.transport_height);
        let from = Vector3::new(m.hand.at_m.x, m.hand.at_m.y, z);
        let back = pilot.body.base(z) - from;
        let near = m.joints.clone();
        let tries = [1.0, 0.75, 0.5, 0.25, 0.0].map(|part| HandTarget {
            at_m: from + back * (pilot.settings.retreat_fraction * part),
            relative_yaw_rad: m.hand.relative_yaw_rad,
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
    let over =
        HandTarget { at_m: Vector3::new(m.release.at_m.x, m.release.at_m.y, z), ..m.release };
    if m.ticks == 0 {
        match pilot.body.way_around(&m.hand.at_m, &over.at_m) {
            Some(at_m) => {
                let relative_yaw_rad = (m.hand.relative_yaw_rad + over.relative_yaw_rad) / 2.0;
                pilot.send(m, HandTarget { at_m, relative_yaw_rad }, travel);
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
            let is_sure = m.grip == GraspBelief::Yes && has_arrived;
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
) -> Result<HandTarget, Reason> {
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
    // The thing rotates with the jaws about the vertical; near the axis that moves it little.
    let hand_for = |xy: [f64; 2]| Vector3::new(xy[0] - carried_m.x, xy[1] - carried_m.y, z);
    let spot = match region {
        Region::Top { center_m, .. } => [center_m[0], center_m[1]],
        Region::Disc { center_m, radius_m } => {
            let others: Vec<[f64; 2]> = around
                .obstacles
                .iter()
                .map(|o| o.at_m)
                .filter(|at| (at[0] - center_m[0]).hypot(at[1] - center_m[1]) < radius_m + 0.02)
                .collect();
            let placed = m.fetches.iter().enumerate().filter(|(n, f)| f.is_placed && *n != current);
            let placed = placed.count();
            let remaining = (m.fetches.len() - placed).max(1);
            let half = pilot.half_width_m(object);
            let center = [center_m[0], center_m[1]];
            let (body, settings) = (&mut pilot.body, &pilot.settings);
            let mut reachable = |xy: [f64; 2]| {
                release_yaw(body, settings, &hand_for(xy), yaw_rad, &around, &near).is_some()
            };
            let mut fit = |remaining| {
                let spots = &settings.spots;
                spots::choose(spots, center, radius_m, half, &others, remaining, &mut reachable)
            };
            // If not all of those to come fit, at least this one may.
            fit(remaining).or_else(|| fit(1)).ok_or(Reason::NoSpot)?
        }
    };
    let mut place = HandTarget { at_m: hand_for(spot), relative_yaw_rad: m.hand.relative_yaw_rad };
    let relative_yaw_rad =
        release_yaw(&mut pilot.body, &pilot.settings, &place.at_m, yaw_rad, &around, &near)
            .ok_or(Reason::NoSpot)?;
    // The thing rotates with the jaws: where it is in the hand rotates too.
    let before = pilot.body.yaw(&m.hand);
    place.relative_yaw_rad = relative_yaw_rad;
    let by = Rotation3::from_axis_angle(&Vector3::z_axis(), pilot.body.yaw(&place) - before);
    let carried = by * carried_m;
    place.at_m = Vector3::new(spot[0] - carried.x, spot[1] - carried.y, z);
    let (target, jaw_yaw_deg) =
        (pilot.target_name(current).to_owned(), Some(relative_yaw_rad.to_degrees()));
    pilot.note(Event::Spot(SpotChosen { target, spot_m: spot, jaw_yaw_deg }));
    Ok(place)
}

/// Opens the jaws, draws the hand up, and watches the thing come to rest.
pub(crate) fn release(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    if m.ticks == 0 {
        // From where they stand: what the servo pressed beyond that only held the thing.
        m.jaws_from = pilot.body.jaws(&seen.joint_pos).min(pilot.settings.gripper_release);
        m.grip = GraspBelief::Unknown;
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
        let up = HandTarget { at_m: Vector3::new(m.hand.at_m.x, m.hand.at_m.y, z), ..m.hand };
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
    if pilot.in_state_s(m) > pilot.settings.frames_s(pilot.settings.release_duration_steps) {
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
    let (slow, quick) = (
        settings.frames_s(settings.release_ease_steps),
        settings.frames_s(settings.release_open_steps),
    );
    let time_s = (m.ticks + 1) as f64 * pilot.tick_s;
    let eased = m.jaws_from - RELIEF / 2.0 + RELIEF * (time_s / slow.max(pilot.tick_s)).min(1.0);
    let rest = ((time_s - slow) / quick).clamp(0.0, 1.0);
    m.jaws = eased + rest * (settings.gripper_release - eased);
    pilot.body.set_jaws(m.jaws, &mut m.joints);
    rest >= 1.0
}
