//! Between things: what to fetch next, what became of the last, and the end.

use citrange_core::event::{self, Retry, RetryChange, TargetChosen};
use citrange_core::{Event, Observation};
use nalgebra::Vector3;

use super::PATIENCE_FRAMES;
use crate::choice::{GraspQuery, grasp_yaw};
use crate::goal::yaw;
use crate::judge::Placed;
use crate::memory::{GraspBelief, Memory};
use crate::pilot::Autopilot;
use crate::reason::{Reason, State};
use crate::table::Step;

/// Chooses what to fetch next; when all is fetched, looks once more and ends.
pub(crate) fn idle(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    let most = pilot.settings.retries + 1;
    let next = m.fetches.iter().position(|f| !f.is_placed && f.attempts < most);
    let Some(next) = next else { return last_look(pilot, m, seen) };
    let object = pilot.targets[next];
    if m.current != Some(next) {
        m.target_ticks = 0;
        m.failed_yaws = Default::default();
    }
    m.current = Some(next);
    m.failing = None;
    m.correction_m = Vector3::zeros();
    (m.grasp, m.grip, m.was_held) = (None, GraspBelief::Unknown, false);
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
    let failed: Vec<f64> = m.failed_yaws.iter().flatten().copied().collect();
    let take = GraspQuery { at_m, yaw_rad: yaw(thing), around: &around, failed: &failed };
    let Some(relative_yaw_rad) = grasp_yaw(&mut pilot.body, &pilot.settings, &take) else {
        return Step::Fail(Reason::IkUnreachable);
    };
    m.relative_yaw_rad = relative_yaw_rad;
    let (target, attempt) =
        (pilot.target_name(next).to_owned(), Some(m.fetches[next].attempts.into()));
    let (object_m, jaw_yaw_deg) = (Some(thing.pose.pos_m), Some(relative_yaw_rad.to_degrees()));
    let chosen = TargetChosen { target: target.clone(), attempt, object_m, jaw_yaw_deg };
    pilot.note(Event::Target(chosen));
    if m.fetches[next].attempts > 1 {
        let change = RetryChange { jaw_yaw_deg };
        pilot.note(Event::Retry(Retry { target, attempt, change }));
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
pub(crate) fn failed(pilot: &mut Autopilot, m: &mut Memory, seen: &Observation) -> Step {
    let reason = m.failing;
    let failed = m.relative_yaw_rad;
    m.failed_yaws.rotate_right(1);
    m.failed_yaws[0] = Some(failed);
    if let Some(fetch) = m.fetch() {
        fetch.is_placed = false;
        fetch.reason = reason;
    }
    if reason == Some(Reason::PlateMoved) {
        return Step::End(pilot.outcome(m, seen));
    }
    Step::To(State::Idle)
}
