//! The state machine's watchdog: what must hold whatever the state does: time, the way of the arm,
//! the goal, the grasp.

use citrange_core::event::GraspJudged;
use citrange_core::{Event, Observation};
use serde_json::json;

use crate::judge::{GraspSample, GraspVerdict, PlateState};
use crate::memory::{GraspBelief, Memory};
use crate::pilot::Autopilot;
use crate::reason::{Reason, State};
use crate::table::Row;

impl Autopilot {
    /// What must hold whatever the state does.
    pub(crate) fn checks(
        &mut self,
        row: &Row,
        m: &mut Memory,
        seen: &Observation,
    ) -> Option<Reason> {
        let limits = &self.settings;
        if let Some((limit, reason)) = &row.limit
            && self.in_state_s(m) > limits.frames_s(limit(limits))
        {
            return Some(*reason);
        }
        if m.failing.is_some() || m.state == State::Idle || m.state == State::ReturnHome {
            return None;
        }
        if m.target_ticks as f64 * self.tick_s > limits.frames_s(limits.target_duration_steps) {
            return Some(Reason::TargetTimeout);
        }
        let away = (self.hand.at_m - m.hand.at_m).norm();
        // Damped servos lag behind in proportion to their speed: that is no obstacle.
        let lag_m = m.line.as_ref().map_or(0.0, |line| self.body.lag_s * line.speed_m_s);
        if away > limits.blocked_m + lag_m {
            let down = m.hand.at_m.z - self.hand.at_m.z;
            let is_load = row.holds.is_some() && down > 0.4 * away;
            let mm = (away * 1e3).round();
            self.because(if is_load {
                format!("the hand hangs {mm} mm below where it was sent: too heavy, or held fast")
            } else {
                format!("the hand is {mm} mm from where it was sent")
            });
            return Some(if is_load { Reason::TooHeavy } else { Reason::ArmBlocked });
        }
        if !self.is_frame(seen) {
            return None;
        }
        if row.watches_goal
            && let Some(watch) = &mut m.plate
        {
            match watch.check(&self.settings.plate, self.goal.seen(seen)) {
                PlateState::Still => {}
                PlateState::Moved { moved_m, speed_m_s, tilt_deg } => {
                    let (mm, tilt) = ((moved_m * 1e3).round(), tilt_deg.round());
                    self.because(format!(
                        "the goal moved {mm} mm, at {speed_m_s:.2} m/s, and leans {tilt} degrees"
                    ));
                    return Some(Reason::PlateMoved);
                }
                PlateState::Unknown => return Some(Reason::PlateNotSeen),
            }
        }
        let [missed, lost] = row.holds?;
        self.feel(m, seen);
        match m.grip {
            GraspBelief::No if m.was_held => Some(lost),
            GraspBelief::No => Some(missed),
            _ => {
                self.why = None;
                None
            }
        }
    }

    /// Asks the detector whether the thing is held.
    fn feel(&mut self, m: &mut Memory, seen: &Observation) {
        let Some(mut detector) = m.grasp.take() else { return };
        let object = self.target_middle(m, seen);
        let object = object.as_ref();
        let sample = GraspSample { hand_m: self.hand.at_m, object, jaw_gap: self.jaw_gap(m, seen) };
        let held = detector.sample(&self.grasp_limits(m), &sample);
        if let GraspVerdict::No(doubt) | GraspVerdict::Unknown(doubt) = held {
            self.why = Some(format!("{}: {}", doubt.as_str(), json!(detector.evidence())));
        }
        let grip = GraspBelief::from(held);
        if grip != m.grip {
            let (word, doubt) = match held {
                GraspVerdict::Yes => (Some(true), None),
                GraspVerdict::No(doubt) => (Some(false), Some(doubt.as_str())),
                GraspVerdict::Unknown(doubt) => (None, Some(doubt.as_str())),
            };
            let target = m.current.map(|n| self.target_name(n).to_owned());
            let evidence = json!(detector.evidence());
            let doubt = doubt.map(str::to_owned);
            self.note(Event::Grasp(GraspJudged { target, held: word, doubt, evidence }));
        }
        m.grip = grip;
        m.was_held |= grip == GraspBelief::Yes;
        m.grasp = Some(detector);
    }
}
