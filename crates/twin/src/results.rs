//! What became of every goal, and where the time went.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cause::Cause;
use crate::goals::Goal;

/// A goal that is being gone to.
#[derive(Clone, Debug)]
pub(crate) struct GoalTally {
    /// The goal.
    pub goal: Goal,
    /// When it was taken up.
    pub begun_ns: u64,
    /// Way of the tool so far.
    pub tool_m: f64,
    /// Where the tool was last.
    pub tool_at_m: Option<[f64; 3]>,
    /// Way of the joints so far: sum of all.
    pub joints_rad: f64,
    /// Where they were last.
    pub joints_at: Vec<f64>,
    /// Stops and slow-downs, by their causes.
    pub causes: BTreeMap<&'static str, u32>,
    /// Motions that took the place of others in flight.
    pub replans: u32,
    /// Stops along the path.
    pub stops: u32,
    /// How often it was taken up again.
    pub resumes: u32,
    /// Time in motion, and of it time below the asked speed.
    pub moving_s: f64,
    /// See `moving_s`.
    pub slowed_s: f64,
    /// Time of planning, on the wall's clock.
    pub plan_s: f64,
    /// From a frame's time to the first moment at which the arm is told otherwise.
    pub reactions_s: Vec<f64>,
}

/// What became of a goal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoalResult {
    /// Its number, from 0.
    pub number: usize,
    /// As people see it.
    pub goal: String,
    /// Whether the arm came there.
    pub reached: bool,
    /// Why it ended: a code.
    pub reason: String,
    /// In words.
    pub words: String,
    /// From when it was taken up to its end.
    pub time_s: f64,
    /// Time in motion.
    pub moving_s: f64,
    /// Time in motion below the asked speed.
    pub slowed_s: f64,
    /// Way of the tool.
    pub tool_m: f64,
    /// Way of the joints.
    pub joints_rad: f64,
    /// Time of planning, on the wall's clock.
    pub plan_s: f64,
    /// Stops along the path.
    pub stops: u32,
    /// Motions that took the place of others in flight.
    pub replans: u32,
    /// How often it was taken up again.
    pub resumes: u32,
    /// Stops and slow-downs, by their causes.
    pub causes: BTreeMap<&'static str, u32>,
    /// From a frame's time to the first moment at which the arm is told otherwise.
    pub reactions_s: Vec<f64>,
    /// When it began and ended, by the rig's clock.
    pub span_ns: [u64; 2],
    /// Joints at its end.
    pub ended_at: Vec<f64>,
}

/// Where the time went, on the wall's clock.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    /// Of every frame: picture to map.
    pub map_s: Vec<f64>,
    /// Of every map: what was sent proved again.
    pub guard_s: Vec<f64>,
    /// Of every plan.
    pub plan_s: Vec<f64>,
    /// From the taking of the newest frame to its arrival, by the rig's clock.
    pub frame_delay_s: f64,
    /// Stalls of the loop.
    pub stalls: u64,
}

impl GoalTally {
    /// Begins now.
    #[must_use]
    pub(crate) fn new(goal: Goal, now_ns: u64) -> Self {
        Self {
            goal,
            begun_ns: now_ns,
            tool_m: 0.0,
            tool_at_m: None,
            joints_rad: 0.0,
            joints_at: Vec::new(),
            causes: BTreeMap::new(),
            replans: 0,
            stops: 0,
            resumes: 0,
            moving_s: 0.0,
            slowed_s: 0.0,
            plan_s: 0.0,
            reactions_s: Vec::new(),
        }
    }

    /// It is over.
    #[must_use]
    pub(crate) fn ended(
        self,
        number: usize,
        why: &Cause,
        reached: bool,
        now_ns: u64,
        ended_at: &[f64],
    ) -> GoalResult {
        let reason = match why {
            Cause::NoPlan { outcome, .. } => outcome.clone(),
            why => why.code().to_owned(),
        };
        GoalResult {
            number,
            goal: self.goal.text,
            reached,
            reason,
            words: why.words(),
            time_s: now_ns.saturating_sub(self.begun_ns) as f64 * 1e-9,
            moving_s: self.moving_s,
            slowed_s: self.slowed_s,
            tool_m: self.tool_m,
            joints_rad: self.joints_rad,
            plan_s: self.plan_s,
            stops: self.stops,
            replans: self.replans,
            resumes: self.resumes,
            causes: self.causes,
            reactions_s: self.reactions_s,
            span_ns: [self.begun_ns, now_ns],
            ended_at: ended_at.to_vec(),
        }
    }
}

/// The value below which a fraction of them is; 0 where there is none.
#[must_use]
pub fn quantile(values: &[f64], fraction: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((fraction * last as f64).round() as usize).copied().unwrap_or(0.0)
}
