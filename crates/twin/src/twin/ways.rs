//! From a goal to a motion that may be sent: checked, planned, looked at once more.

use std::sync::Arc;
use std::time::Instant;

use citrange_core::Notes;
use citrange_plan::{Obstacles, PlanGoal, PlanOutcome, Trajectory, reason_in_words};

use super::Twin;
use super::flight::Flight;
use crate::cause::Cause;
use crate::error::TwinError;
use crate::finder::{Ask, Way};
use crate::goals::GoalKind;
use crate::settings::Unknown;
use crate::state::State;
use crate::surroundings::{map_with, thought_ahead};

/// The arm must be this near to where a plan begins, rad.
const START_RAD: f64 = 1_f64 * std::f64::consts::PI / 180.0;
/// Moments a second at which the tool's way is measured.
const WAY_HZ: f64 = 50.0;

impl Twin {
    /// The goal that the arm is to go to.
    fn plan_goal(&self) -> Option<(PlanGoal, f64, bool)> {
        let goal = &self.goal.as_ref()?.goal;
        match &goal.kind {
            GoalKind::Go(to) => Some((to.clone(), goal.speed * self.settings.speed, goal.nearest)),
            GoalKind::Wait(_) => None,
        }
    }

    /// Looks for a way from somewhere to the goal, around everything that is known now.
    pub(super) fn find(&mut self, start: &[f64]) -> Result<Option<Way>, TwinError> {
        let Some((goal, speed, nearest)) = self.plan_goal() else { return Ok(None) };
        let began = Instant::now();
        let map = self.eyes.map();
        let guard = &self.settings.guard;
        let ahead_s = guard.t_react_s + self.settings.horizon.time_s;
        let more_m_s = guard.speed_error_m_s;
        let ahead =
            thought_ahead(&map, ahead_s, more_m_s)?.map_or_else(|| Arc::clone(&map), Arc::new);
        self.plans += 1;
        let seed = self.seed.wrapping_add(self.plans);
        let blocked = |twin: &Self| -> Result<Obstacles, TwinError> {
            let known = twin.surroundings.with_unknown(&map, &twin.arm, start)?;
            let Some(all) = known.map.clone() else { return Ok(known) };
            // What moves is thought ahead over unknown cells, too.
            let ahead = map_with(&all, &ahead)?;
            Ok(Obstacles { map: Some(Arc::new(ahead)), ..known })
        };
        let ways = match self.settings.unknown {
            Unknown::Free => vec![self.surroundings.with(Arc::clone(&ahead))],
            Unknown::Blocked => vec![blocked(self)?],
            Unknown::Slow => vec![blocked(self)?, self.surroundings.with(Arc::clone(&ahead))],
        };
        let mut found = None;
        for obstacles in &ways {
            let ask = Ask { start, goal: &goal, obstacles, speed, nearest, seed };
            let way = self.finder.find(&ask)?;
            let is_found = way.trajectory.is_some();
            found = Some(way);
            if is_found {
                break;
            }
        }
        let spent_s = began.elapsed().as_secs_f64();
        self.timings.plan_s.push(spent_s);
        if let Some(tally) = &mut self.goal {
            tally.plan_s += spent_s;
        }
        Ok(found)
    }

    /// Why there is no way.
    fn no_way(&self, outcome: &PlanOutcome) -> Cause {
        // The planner's own name for it.
        let code = serde_json::to_value(outcome).unwrap_or_default();
        let code = code["outcome"].as_str().unwrap_or("no_plan").to_owned();
        let margin_m = self.settings.guard.margin_m;
        let reason = reason_in_words(outcome, self.surroundings.names(), margin_m);
        Cause::NoPlan { outcome: code, reason: reason.unwrap_or_default() }
    }

    pub(super) fn checking(&mut self, notes: &mut Notes) -> Result<(), TwinError> {
        let (map_s, _) = self.eyes.age_s(self.now_ns);
        if !self.is_at_rest() || map_s > self.settings.guard.map_slow_s {
            return Ok(());
        }
        let start = self.start();
        let Some(way) = self.find(&start)? else { return Ok(()) };
        match &way.outcome {
            PlanOutcome::Found(_) | PlanOutcome::NoPath { .. } => {
                self.way = Some((way, self.plan_ready_ns()));
                self.go(State::Planning, Cause::GoalPossible { ways: 1 }, notes);
            }
            outcome => {
                let why = self.no_way(outcome);
                self.land(&why, false);
                self.go(State::Ready, why, notes);
            }
        }
        Ok(())
    }

    /// Where a plan begins: where the arm is measured to be, within its ranges.
    pub(super) fn start(&self) -> Vec<f64> {
        let joints = self.mirror.pos().iter().zip(self.arm.limits());
        joints.map(|(at, limit)| at.clamp(limit.range[0], limit.range[1])).collect()
    }

    fn plan_ready_ns(&self) -> u64 {
        self.now_ns + (self.settings.embedded.plan_latency_s * 1e9) as u64
    }

    pub(super) fn planning(&mut self, notes: &mut Notes) -> Result<(), TwinError> {
        if self.way.is_none() {
            let start = self.start();
            let Some(way) = self.find(&start)? else { return Ok(()) };
            self.way = Some((way, self.plan_ready_ns()));
        }
        let Some((way, _)) = self.way.as_ref().filter(|(_, ready)| self.now_ns >= *ready) else {
            return Ok(());
        };
        match &way.trajectory {
            Some(motion) => {
                let duration_s = motion.duration_s();
                let tool_m = self.way_of_tool_m(motion)?;
                self.go(State::Arming, Cause::PlanFound { duration_s, tool_m }, notes);
            }
            None => {
                let why = self.no_way(&way.outcome);
                self.way = None;
                self.land(&why, false);
                self.go(State::Ready, why, notes);
            }
        }
        Ok(())
    }

    /// How far a motion brings the tool.
    fn way_of_tool_m(&self, motion: &Trajectory) -> Result<f64, TwinError> {
        let (mut way_m, mut last) = (0.0, None);
        for moment in motion.moments(WAY_HZ) {
            let at = self.tool_at(&moment.positions)?;
            way_m += last.map_or(0.0, |last| distance(last, at));
            last = Some(at);
        }
        Ok(way_m)
    }

    /// Where the tool is with the arm's joints there.
    pub(super) fn tool_at(&self, joints: &[f64]) -> Result<[f64; 3], TwinError> {
        let mut all = self.arm.held().to_vec();
        all.iter_mut().zip(joints).for_each(|(joint, at)| *joint = *at);
        Ok(self.arm.body().tool_at(&all)?)
    }

    pub(super) fn arming(&mut self, notes: &mut Notes) -> Result<(), TwinError> {
        let Some((way, _)) = &self.way else { return Ok(()) };
        let Some(motion) = way.trajectory.clone() else { return Ok(()) };
        if self.mode.shadow {
            let off_rad = 0.0;
            self.way = None;
            self.land(&Cause::Reached { off_rad }, true);
            self.go(State::Ready, Cause::Reached { off_rad }, notes);
            return Ok(());
        }
        if self.settings.confirm && !self.confirmed {
            return Ok(());
        }
        let (map_s, _) = self.eyes.age_s(self.now_ns);
        if map_s > self.settings.guard.map_slow_s {
            return Ok(());
        }
        let begin = motion.sample(0.0).positions;
        let off = begin.iter().zip(self.mirror.pos()).map(|(a, b)| (a - b).abs());
        if off.fold(0.0, f64::max) > START_RAD {
            return self.plan_again("the arm has been moved", notes);
        }
        self.show_guard_the_map()?;
        let measured = self.mirror.pos().to_vec();
        if let Some(blocked) = self.guard.prove(&motion, 0.0, &measured, 0.0)? {
            // What stands where the arm begins is for the planner to back out of, slowly.
            if blocked.in_s > 0.0 {
                return self.plan_again(&blocked.what, notes);
            }
        }
        let id = self.next_id;
        self.next_id += 1;
        self.driver.send(id, &motion);
        self.flight = Some(Flight::new(id, motion));
        self.lost_since_ns = None;
        self.go(State::Sent, Cause::MotionSent, notes);
        self.way = None;
        Ok(())
    }

    fn plan_again(&mut self, what: &str, notes: &mut Notes) -> Result<(), TwinError> {
        self.way = None;
        let age_s = self
            .goal
            .as_ref()
            .map_or(0.0, |tally| self.now_ns.saturating_sub(tally.begun_ns) as f64 * 1e-9);
        if age_s > self.settings.limits.hold_s {
            let why = Cause::NoPlan {
                outcome: "map_changes".to_owned(),
                reason: format!("no plan stayed free until it could be sent: {what}"),
            };
            self.land(&why, false);
            self.go(State::Ready, why, notes);
            return Ok(());
        }
        self.go(State::Planning, Cause::PlanOutdated { what: what.to_owned() }, notes);
        Ok(())
    }

    /// The guard looks at the newest map from now on.
    pub(super) fn show_guard_the_map(&mut self) -> Result<(), TwinError> {
        let map = self.eyes.map();
        let guard = &self.settings.guard;
        let ahead = thought_ahead(&map, guard.t_react_s, guard.speed_error_m_s)?.map(Arc::new);
        self.guard.set_map(map, ahead)
    }
}

pub(super) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}
