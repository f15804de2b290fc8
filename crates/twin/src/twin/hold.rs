//! What is watched in every state, and standing still for a reason.

use citrange_core::Notes;

use super::Twin;
use crate::cause::Cause;
use crate::error::TwinError;
use crate::state::State;

/// How often it is looked whether what holds the arm is gone.
const LOOK_S: f64 = 0.25;

impl Twin {
    /// What must never be, whatever the state does.
    pub(super) fn watch(&mut self, notes: &mut Notes) -> Result<(), TwinError> {
        let state = self.state();
        if !state.moves() || matches!(state, State::Stopping) {
            return Ok(());
        }
        let joints_s = self.mirror.age_s(self.now_ns);
        if joints_s > self.settings.guard.joints_stop_s {
            let wrong = self.mirror.wrong().cloned();
            return self.stop(wrong.unwrap_or(Cause::JointsOld { age_s: joints_s }), notes);
        }
        if let Some(moved) = self.eyes.moved() {
            return self.stop(moved, notes);
        }
        let (age_s, camera) = self.eyes.age_s(self.now_ns);
        if age_s > self.settings.guard.map_stop_s {
            let camera = camera.to_owned();
            let why = self.eyes.blind().unwrap_or(Cause::MapOld { age_s, camera });
            return self.stop(why, notes);
        }
        Ok(())
    }

    pub(super) fn holding(&mut self, notes: &mut Notes) -> Result<(), TwinError> {
        let why = self.machine.why().clone();
        if matches!(why, Cause::PersonStop) {
            self.land(&why, false);
            self.go(State::Ready, why, notes);
            return Ok(());
        }
        if !(why.resumes_by_itself() && self.settings.auto_resume) {
            return Ok(());
        }
        let limits = &self.settings.limits;
        let resumes = self.goal.as_ref().map_or(u32::MAX, |tally| tally.resumes);
        if self.machine.age_s(self.now_ns) > limits.hold_s || resumes >= limits.resumes {
            self.land(&why, false);
            self.go(State::Ready, why, notes);
            return Ok(());
        }
        if (self.now_ns.saturating_sub(self.looked_ns) as f64) * 1e-9 < LOOK_S {
            return Ok(());
        }
        self.looked_ns = self.now_ns;
        if self.missing().is_some() || !self.is_gone(&why)? {
            return Ok(());
        }
        // A plan is the proof that the way is free again.
        let start = self.start();
        let Some(way) = self.find(&start)?.filter(|way| way.trajectory.is_some()) else {
            return Ok(());
        };
        let ready_ns = self.now_ns + (self.settings.embedded.plan_latency_s * 1e9) as u64;
        self.way = Some((way, ready_ns));
        let mut times = 0;
        if let Some(tally) = &mut self.goal {
            tally.resumes += 1;
            times = tally.resumes;
        }
        self.go(State::Planning, Cause::Resumed { times }, notes);
        Ok(())
    }

    /// Whether what held the arm is gone, as far as that can be seen without a plan.
    fn is_gone(&mut self, why: &Cause) -> Result<bool, TwinError> {
        let (age_s, _) = self.eyes.age_s(self.now_ns);
        if age_s > self.settings.guard.map_slow_s {
            return Ok(false);
        }
        if matches!(why, Cause::MovingThing { .. } | Cause::Blocked { .. }) {
            self.show_guard_the_map()?;
            let stops = self.settings.guard.separation.iter().filter(|row| row.share <= 0.0);
            let stop_m = stops.map(|row| row.nearer_m).fold(0.0, f64::max);
            let nearest = self.guard.nearest_moving(self.mirror.pos())?;
            return Ok(nearest.is_none_or(|[distance_m, _]| distance_m > stop_m));
        }
        Ok(true)
    }
}
