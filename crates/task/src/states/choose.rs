//! Between things: what to fetch next, what became of the last, and the end.

use citrange_core::event::{self, Retry, RetryChange, TargetChosen};
use citrange_core::{Event, Observation};
use nalgebra::Vector3;

use super::PATIENCE_FRAMES;
use crate::grasp_plan::{GraspPlan, GraspQuery};
use crate::judge::{Placed, PlacementDetector};
use crate::memory::{Fetch, GraspBelief, Memory};
use crate::pilot::Autopilot;
use crate::reason::{Reason, State};
use crate::search::{GRASPS_PER_TICK, Look, TakeSearch};
use crate::settings::HeightsOf;
use crate::table::Step;

/// A thing is lifted at least so far.
const LIFT_M: f64 = 0.03;
/// Frames for which a thing that failed is looked at before it is given up or tried again.
const LOOK_FRAMES: u32 = 15;

/// Chooses what to fetch next; when all is fetched, looks once more and ends.
pub(crate) fn idle(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    if let (Some(search), Some(n)) = (m.taking.take(), m.current) {
        return plan(pilot, m, n, search);
    }
    let most = pilot.settings.retries + 1;
    let placed = placed(m);
    let is_open = |f: &Fetch| !f.is_placed && f.attempts < most && f.refused_at != Some(placed);
    // A goal that was pushed ends the work; what lies on it all the same is seen at the last look.
    let is_pushed = m.fetches.iter().any(|f| f.reason == Some(Reason::PlateMoved));
    let next = m.fetches.iter().position(is_open).filter(|_| !is_pushed);
    let Some(next) = next else { return last_look(pilot, m, seen) };
    let object = pilot.targets[next];
    if !pilot.is_sure(m, object) {
        return Step::Stay;
    }
    // What failed may have come to lie where it should all the same.
    if m.fetches[next].attempts > 0 && m.part < LOOK_FRAMES {
        if m.part == 0 && m.ticks == 0 {
            m.fetches[next].watch = PlacementDetector::default();
        }
        if pilot.is_frame(seen) {
            m.part += 1;
            look_again(pilot, m, next, seen);
        }
        return Step::Stay;
    }
    if m.current != Some(next) {
        m.target_ticks = 0;
        m.failed_yaws = Default::default();
    }
    m.current = Some(next);
    m.failing = None;
    m.correction_m = Vector3::zeros();
    (m.grasp, m.grip, m.was_held) = (None, GraspBelief::Unknown, false);
    m.fetches[next].attempts += 1;
    let Some(target) = pilot.target(m, seen).filter(|_| pilot.thing(object, seen).is_some()) else {
        return Step::Fail(Reason::TargetNotSeen);
    };
    let pos_m = target.pose.pos_m;
    m.fetches[next].start_m.get_or_insert(pos_m);
    m.taking = Some(TakeSearch::new(seen));
    Step::Stay
}

/// Looks for a way to take the thing, some candidates at every tick; then for one to the goal.
fn plan(pilot: &mut Autopilot, m: &mut Memory, n: usize, search: TakeSearch) -> Step {
    let mut search = search;
    let seen = search.look.seen();
    let object = pilot.targets[n];
    let Some(thing) = pilot.thing(object, &seen) else { return Step::Fail(Reason::TargetNotSeen) };
    let around = pilot.around(&seen, object, None);
    let Some(plan) = search.plan else {
        let failed: Vec<f64> = m.failed_yaws.iter().flatten().copied().collect();
        // Heights of the wrist are meant as they are written, whatever comes of it.
        let least_m = match pilot.settings.heights_of {
            HeightsOf::Tool => thing.middle_m.z + LIFT_M,
            HeightsOf::Wrist => f64::NEG_INFINITY,
        };
        m.lift_z_m = pilot.body.height(pilot.settings.lift_height).max(least_m);
        let (thing, around, failed) = (&thing, &around, &failed);
        let take = GraspQuery { thing, around, failed, lift_z_m: m.lift_z_m };
        let grasp = &mut search.grasp;
        let found = grasp.advance(&mut pilot.body, &pilot.settings, &take, GRASPS_PER_TICK);
        pilot.body.hold(&m.plan.point_m);
        match found {
            Some(Err(refusal)) => return refuse(pilot, m, n, refusal.reason(), refusal.text()),
            Some(Ok(plan)) => search.plan = Some(plan),
            None => {}
        }
        m.taking = Some(search);
        return Step::Stay;
    };
    pilot.body.hold(&plan.point_m);
    let reached = pilot.goal_out_of_reach(&thing, &seen, &mut search.refused_poses);
    match reached {
        Some(Ok(())) => take(pilot, m, n, plan, &search.look),
        Some(Err(why)) => {
            pilot.body.hold(&m.plan.point_m);
            refuse(pilot, m, n, Reason::NoSpot, why)
        }
        None => {
            pilot.body.hold(&m.plan.point_m);
            m.taking = Some(search);
            Step::Stay
        }
    }
}

/// Not even tried: looked at again when others are placed.
fn refuse(pilot: &mut Autopilot, m: &mut Memory, n: usize, reason: Reason, why: String) -> Step {
    m.fetches[n].attempts -= 1;
    m.fetches[n].refused_at = Some(placed(m));
    pilot.because(why);
    Step::Refuse(reason)
}

/// How many things are placed.
fn placed(m: &Memory) -> u32 {
    m.fetches.iter().filter(|f| f.is_placed).count() as u32
}

/// On the way, as planned.
fn take(pilot: &mut Autopilot, m: &mut Memory, n: usize, plan: GraspPlan, look: &Look) -> Step {
    let (seen, object) = (look.seen(), pilot.targets[n]);
    let Some(thing) = pilot.thing(object, &seen) else { return Step::Fail(Reason::TargetNotSeen) };
    let around = pilot.around(&seen, object, None);
    let object_m = pilot.target(m, &seen).map(|target| target.pose.pos_m);
    m.plan = plan;
    m.middle_m = thing.middle_m;
    pilot.body.hold(&plan.point_m);
    m.hand = pilot.body.place(&m.joints);
    m.carry_z_m = pilot.carry_z_m(&thing, &around, &seen);
    pilot.body.measure_ring(m.carry_z_m);
    m.travel_z_m = pilot.travel_z_m(&thing, &around, m);
    let (target, attempt) = (pilot.target_name(n).to_owned(), Some(m.fetches[n].attempts.into()));
    let jaw_yaw_deg = Some(plan.relative_yaw_rad.to_degrees());
    let chosen = TargetChosen { target: target.clone(), attempt, object_m, jaw_yaw_deg };
    pilot.note(Event::Target(chosen));
    if m.fetches[n].attempts > 1 {
        let change = RetryChange { jaw_yaw_deg };
        pilot.note(Event::Retry(Retry { target, attempt, change }));
    }
    Step::To(State::Approach)
}

/// Whether a thing that failed lies where it should; then it is placed.
fn look_again(pilot: &mut Autopilot, m: &mut Memory, n: usize, seen: &Observation) {
    let region = pilot.goal.region(seen);
    let object = pilot.targets[n];
    let placed = pilot.rests(&mut m.fetches[n].watch, object, region.as_ref(), seen);
    if placed == Placed::Yes {
        m.fetches[n].is_placed = true;
        m.fetches[n].reason = None;
        let object_m = seen.objects.get(object).and_then(|o| o.map(|o| o.pose.pos_m));
        let target = pilot.target_name(n).to_owned();
        let attempt = Some(m.fetches[n].attempts.into());
        pilot.note(Event::Placed(event::Placed { target, attempt, object_m, spot_m: None }));
    }
}

/// Whether everything still lies where it was put.
fn last_look(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    m.current = None;
    if !pilot.is_frame(seen) {
        return Step::Stay;
    }
    let lost: Vec<usize> = (0..m.fetches.len()).filter(|n| !m.fetches[*n].is_placed).collect();
    if m.part == 0 {
        lost.iter().for_each(|n| m.fetches[*n].watch = PlacementDetector::default());
    }
    lost.iter().for_each(|n| look_again(pilot, m, *n, seen));
    let region = pilot.goal.region(seen);
    let mut doubtful = Vec::new();
    for (n, fetch) in m.fetches.iter_mut().enumerate().filter(|(_, fetch)| fetch.is_placed) {
        let placed = pilot.rests(&mut fetch.watch, pilot.targets[n], region.as_ref(), seen);
        if placed != Placed::Yes {
            doubtful.push(n);
        }
    }
    m.part += 1;
    if !doubtful.is_empty() {
        if m.part >= PATIENCE_FRAMES * 2 {
            for n in doubtful {
                m.fetches[n].is_placed = false;
                m.fetches[n].reason = Some(Reason::OffPlate);
                pilot.note_failure(m, Some(n), Reason::OffPlate, seen);
            }
            m.part = 0;
        }
        // What does not lie there may be fetched again.
        return Step::Stay;
    }
    if !lost.is_empty() && m.part < LOOK_FRAMES {
        return Step::Stay;
    }
    Step::End(pilot.outcome(m, seen))
}

/// Remembers what was placed.
pub(crate) fn success(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    let object_m = pilot.target(m, seen).map(|o| o.pose.pos_m);
    let Some(n) = m.current else { return Step::To(State::Idle) };
    m.fetches[n].is_placed = true;
    m.fetches[n].reason = None;
    let spot = m.release.at_m + m.carried_m;
    let (target, attempt) = (pilot.target_name(n).to_owned(), Some(m.fetches[n].attempts.into()));
    let spot_m = Some([spot.x, spot.y]);
    pilot.note(Event::Placed(event::Placed { target, attempt, object_m, spot_m }));
    Step::To(State::Idle)
}

/// Remembers what failed; a goal that was pushed ends everything.
pub(crate) fn failed(_pilot: &mut Autopilot, m: &mut Memory, _seen: &Observation) -> Step {
    let reason = m.failing;
    let failed = m.plan.relative_yaw_rad;
    m.failed_yaws.rotate_right(1);
    m.failed_yaws[0] = Some(failed);
    if let Some(fetch) = m.fetch() {
        fetch.is_placed = false;
        fetch.reason = reason;
    }
    Step::To(State::Idle)
}
