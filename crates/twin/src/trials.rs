//! Trials of the guard in the simulated cell: what comes into the arm's way, what goes wrong, and
//! what must follow. The truth is the simulator's.

mod coming;
mod faults;

pub use coming::{Coming, scene_with_comers};
pub use faults::{FaultTrial, fault_trials};

use std::sync::PoisonError;

use citrange_core::rng::Rng;
use citrange_plan::PlanGoal;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cell::{CellOptions, CellScene, SimCell};
use crate::error::TwinError;
use crate::goals::Goal;
use crate::report::TwinReport;
use crate::results::quantile;
use crate::run::{RunOptions, run_cell};
use crate::settings::TwinSettings;

/// One run of a trial.
#[derive(Clone, Debug, Serialize)]
pub struct TrialRun {
    /// Its number.
    pub number: u64,
    /// Whether the goal was reached in the end.
    pub reached: bool,
    /// How often the arm came to touch anything.
    pub touches: usize,
    /// Those while the arm moved itself.
    pub touches_moving: usize,
    /// Speed of the arm at its fastest touch.
    pub touch_m_s: f64,
    /// What was touched.
    pub touched: Vec<String>,
    /// From the time of the frame that was it to the first slower command.
    pub reactions_s: Vec<f64>,
    /// From when the thing came to the first slower command.
    pub answered_s: Option<f64>,
    /// Distance of the arm to everything, at least.
    pub least_m: Option<f64>,
    /// What stopped or slowed the arm, in order.
    pub causes: Vec<String>,
    /// State and cause that it ended in.
    pub ended: String,
    /// Time by the rig's clock.
    pub time_s: f64,
}

impl TrialRun {
    fn of(number: u64, report: &TwinReport, placed_ns: Option<u64>) -> Self {
        let slower = ["stopping", "slowing", "replanning"];
        let is_slower = |name: &str| slower.contains(&name);
        let answers = report.transitions.iter().filter(|t| is_slower(t.to.name()));
        let first = answers.clone().find(|t| placed_ns.is_some_and(|placed| t.at_ns >= placed));
        let touch_m_s = report.truth.list.iter().map(|touch| touch.robot_m_s).fold(0.0, f64::max);
        let reactions = report.goals.iter().flat_map(|goal| goal.reactions_s.iter().copied());
        let ended = report
            .transitions
            .last()
            .map_or(String::new(), |last| format!("{}: {}", last.to.name(), last.why.code()));
        Self {
            number,
            reached: !report.goals.is_empty() && report.reached() == report.goals.len(),
            touches: report.truth.touches,
            touches_moving: report.truth.touches_moving,
            touch_m_s,
            touched: report
                .truth
                .list
                .iter()
                .map(|t| {
                    format!(
                        "{} by {} at {:.2} against {:.2} m/s",
                        t.with, t.link, t.robot_m_s, t.thing_m_s
                    )
                })
                .collect(),
            reactions_s: reactions.collect(),
            answered_s: first.zip(placed_ns).map(|(t, placed)| (t.at_ns - placed) as f64 * 1e-9),
            least_m: report.truth.least_m,
            causes: answers.map(|t| t.why.code().to_owned()).collect(),
            ended,
            time_s: report.time_s,
        }
    }
}

/// Runs of one kind in numbers.
#[must_use]
pub fn summary(name: &str, runs: &[TrialRun]) -> Value {
    let reactions: Vec<f64> = runs.iter().flat_map(|run| run.reactions_s.clone()).collect();
    let answered: Vec<f64> = runs.iter().filter_map(|run| run.answered_s).collect();
    let ms = |values: &[f64], fraction| (1e3 * quantile(values, fraction)).round();
    json!({
        "trial": name,
        "runs": runs.len(),
        "reached": runs.iter().filter(|run| run.reached).count(),
        "touched": runs.iter().filter(|run| run.touches > 0).count(),
        "touched_moving": runs.iter().filter(|run| run.touches_moving > 0).count(),
        "touch_m_s": runs.iter().map(|run| run.touch_m_s).fold(0.0, f64::max),
        "answered": answered.len(),
        "reaction_ms": {"median": ms(&reactions, 0.5), "p99": ms(&reactions, 0.99)},
        "answered_ms": {"median": ms(&answered, 0.5), "p99": ms(&answered, 0.99)},
        "least_m": runs.iter().filter_map(|run| run.least_m).reduce(f64::min),
    })
}

/// Two places between which the arm goes to and fro in trials: over the table, from side to side.
fn sides(rng: &mut Rng) -> [Goal; 2] {
    let place = |rng: &mut Rng, side: f64| {
        let at_m = [rng.uniform(0.4, 0.6), side * rng.uniform(0.3, 0.45), rng.uniform(0.35, 0.5)];
        let [x, y, z] = at_m;
        Goal::to(format!("{x:.3} {y:.3} {z:.3}"), PlanGoal::Point { at_m })
    };
    [place(rng, -1.0), place(rng, 1.0)]
}

/// Runs of something that comes into the arm's way.
///
/// # Errors
/// When settings make no sense or the simulator fails.
pub fn run_coming(
    settings: &TwinSettings,
    coming: Coming,
    runs: u64,
    seed: u64,
) -> Result<Vec<TrialRun>, TwinError> {
    let built = CellScene::new("ur5_cell", settings, Some(scene_with_comers))?;
    (0..runs)
        .into_par_iter()
        .map(|number| {
            let options = CellOptions { seed, episode: number, ..CellOptions::default() };
            let mut cell = SimCell::of(&built, settings, options)?;
            let mut rng = Rng::for_episode(seed, number, "twin trial");
            let goals = sides(&mut rng).to_vec();
            let happenings = coming.happenings(&cell, &mut rng);
            cell.rig.set_happenings(happenings);
            let options = RunOptions { most_s: Some(60.0), ..RunOptions::default() };
            let report = run_cell(&mut cell, goals, &options)?;
            let truth = cell.rig.truth();
            let placed = truth.lock().unwrap_or_else(PoisonError::into_inner).placed_ns;
            Ok(TrialRun::of(number, &report, placed))
        })
        .collect()
}
