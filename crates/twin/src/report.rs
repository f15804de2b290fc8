//! A run in numbers: every goal, the truth of the simulator, rates and times.

use std::sync::PoisonError;

use citrange_sim::Touch;
use serde::Serialize;
use serde_json::{Value, json};

use crate::log::Log;
use crate::machine::Transition;
use crate::results::{GoalResult, Timings, quantile};
use crate::rig::SharedTruth;
use crate::twin::Twin;

/// What a run gave.
#[derive(Clone, Debug, Serialize)]
pub struct TwinReport {
    /// Every goal, in order.
    pub goals: Vec<GoalResult>,
    /// How it ended: a code.
    pub outcome: String,
    /// Time by the rig's clock.
    pub time_s: f64,
    /// What really happened.
    pub truth: TruthReport,
    /// Every transition of the state machine.
    pub transitions: Vec<Transition>,
    /// Transitions that the table does not have: 0, or there is a defect.
    pub refused_transitions: u64,
    /// Where the time went.
    pub times: TimesReport,
    /// Moments of the arm on its way, for [`crate::write_csv`].
    #[serde(skip)]
    pub log: Log,
}

/// What the simulator says.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TruthReport {
    /// How often the arm came to touch anything but what it stands on.
    pub touches: usize,
    /// Those while it moved itself: faster than 5 cm/s at the place.
    pub touches_moving: usize,
    /// Every touch.
    pub list: Vec<Touch>,
    /// How near it came to anything at all; `None` where that was not measured.
    pub least_m: Option<f64>,
    /// The same of every goal.
    pub least_of_goals_m: Vec<Option<f64>>,
}

/// Where the time went, on the wall's clock.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TimesReport {
    /// Frames taken in.
    pub frames: usize,
    /// Picture to map: median, and below which 95 % are.
    pub map_ms: [f64; 2],
    /// What was sent proved again: the same.
    pub guard_ms: [f64; 2],
    /// A plan: the same.
    pub plan_ms: [f64; 2],
    /// Stalls of the loop.
    pub stalls: u64,
}

/// An arm that is slower than this at a touch does not count as moving.
const MOVING_M_S: f64 = 0.05;

impl TwinReport {
    /// Of a twin that has run.
    #[must_use]
    pub fn of(twin: &Twin, truth: &SharedTruth, outcome: &str, time_s: f64) -> Self {
        Self {
            goals: twin.results().to_vec(),
            outcome: outcome.to_owned(),
            time_s,
            truth: TruthReport::of(truth, twin.results()),
            transitions: twin.machine().log().to_vec(),
            refused_transitions: twin.machine().refused(),
            times: TimesReport::of(twin.timings()),
            log: Log::default(),
        }
    }

    /// How many goals were reached.
    #[must_use]
    pub fn reached(&self) -> usize {
        self.goals.iter().filter(|goal| goal.reached).count()
    }

    /// In numbers, for all goals together.
    #[must_use]
    pub fn summary(&self) -> Value {
        let reached = || self.goals.iter().filter(|goal| goal.reached);
        let times: Vec<f64> = reached().map(|goal| goal.time_s).collect();
        let tools: Vec<f64> = reached().map(|goal| goal.tool_m).collect();
        let reactions: Vec<f64> =
            self.goals.iter().flat_map(|goal| goal.reactions_s.iter().copied()).collect();
        json!({
            "goals": self.goals.len(),
            "reached": self.reached(),
            "outcome": self.outcome,
            "time_s": self.time_s,
            "goal_time_s": {"median": quantile(&times, 0.5), "p95": quantile(&times, 0.95),
                            "most": quantile(&times, 1.0)},
            "tool_m": {"median": quantile(&tools, 0.5)},
            "touches": self.truth.touches,
            "touches_moving": self.truth.touches_moving,
            "least_m": self.truth.least_m,
            "reaction_s": {"median": quantile(&reactions, 0.5), "p99": quantile(&reactions, 0.99),
                           "count": reactions.len()},
            "times": self.times,
        })
    }

    /// In words, a line per goal and one for all.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .goals
            .iter()
            .map(|goal| {
                let sign = if goal.reached { "reached" } else { "NOT REACHED" };
                let why = if goal.reached { String::new() } else { format!(": {}", goal.words) };
                let causes: Vec<String> =
                    goal.causes.iter().map(|(code, count)| format!("{code} {count}")).collect();
                let causes = if causes.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", causes.join(", "))
                };
                format!(
                    "{sign} {} after {:.2} s, {:.2} m of the tool's way{causes}{why}",
                    goal.goal, goal.time_s, goal.tool_m
                )
            })
            .collect();
        let least = self.truth.least_m.map_or(String::new(), |m| {
            format!(", never nearer than {:.1} mm to anything", 1e3 * m)
        });
        lines.push(format!(
            "{} of {} goals reached in {:.1} s; touched {} times{least}",
            self.reached(),
            self.goals.len(),
            self.time_s,
            self.truth.touches
        ));
        lines
    }
}

impl TruthReport {
    fn of(truth: &SharedTruth, goals: &[GoalResult]) -> Self {
        let truth = truth.lock().unwrap_or_else(PoisonError::into_inner);
        let least = |from_ns: u64, to_ns: u64| {
            let within = truth.distances_m.iter().filter(|(at, _)| (from_ns..=to_ns).contains(at));
            within.map(|(_, m)| *m).reduce(f64::min)
        };
        let list = truth.touches.touches.clone();
        Self {
            touches: list.len(),
            touches_moving: list.iter().filter(|touch| touch.robot_m_s > MOVING_M_S).count(),
            list,
            least_m: least(0, u64::MAX),
            least_of_goals_m: goals
                .iter()
                .map(|goal| least(goal.span_ns[0], goal.span_ns[1]))
                .collect(),
        }
    }
}

impl TimesReport {
    fn of(timings: &Timings) -> Self {
        let of = |seconds: &[f64]| [0.5, 0.95].map(|f| 1e3 * quantile(seconds, f));
        Self {
            frames: timings.map_s.len(),
            map_ms: of(&timings.map_s),
            guard_ms: of(&timings.guard_s),
            plan_ms: of(&timings.plan_s),
            stalls: timings.stalls,
        }
    }
}
