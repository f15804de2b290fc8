//! Many random goals among random things that the twin sees only by its cameras: how many are
//! reached, how fast, how near to anything, and why not.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use citrange_core::rng::Rng;
use citrange_plan::{Collider, ColliderSettings, GoalSettings, Obstacles, PlanGoal, check_goal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cell::{CellOptions, CellScene, SimCell};
use crate::error::TwinError;
use crate::goals::Goal;
use crate::report::TwinReport;
use crate::results::quantile;
use crate::run::{RunOptions, run_cell};
use crate::settings::TwinSettings;

/// What is tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experiment {
    /// Scene by name or file.
    pub scene: String,
    /// Goals in all.
    pub goals: usize,
    /// Goals among the same things.
    pub goals_of_scene: usize,
    /// Decides things and goals.
    pub seed: u64,
    /// Goals are drawn from this box: lowest and highest corner.
    pub box_m: [[f64; 3]; 2],
    /// Only goals at which the arm can truly stand with this distance to everything.
    pub clearance_m: f64,
    /// Longest time of a goal, by the rig's clock.
    pub most_s: f64,
}

impl Default for Experiment {
    fn default() -> Self {
        Self {
            scene: "ur5_cell".to_owned(),
            goals: 500,
            goals_of_scene: 10,
            seed: 0,
            box_m: [[0.25, -0.55, 0.08], [0.85, 0.55, 0.6]],
            clearance_m: 0.05,
            most_s: 60.0,
        }
    }
}

/// A goal of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Which things, and which goal among them.
    pub scene: u64,
    /// See `scene`.
    pub number: usize,
    /// Whether it was reached.
    pub reached: bool,
    /// A code.
    pub reason: String,
    /// In words.
    pub words: String,
    /// From when it was taken up to its end.
    pub time_s: f64,
    /// Way of the tool.
    pub tool_m: f64,
    /// Stops, ways around in flight, times taken up again.
    pub stops: u32,
    /// See `stops`.
    pub replans: u32,
    /// Time below the asked speed.
    pub slowed_s: f64,
    /// True distance of the arm to everything, at least.
    pub least_m: Option<f64>,
    /// What stopped or slowed the arm.
    pub causes: BTreeMap<String, u32>,
}

/// All goals among the same things.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TriedScene {
    /// Which things.
    pub scene: u64,
    /// How often the arm touched anything.
    pub touches: usize,
    /// What, in words.
    pub touched: Vec<String>,
    /// Transitions that the table does not have.
    pub refused_transitions: u64,
    /// The goals.
    pub goals: Vec<Tried>,
}

impl Experiment {
    /// How many scenes there are.
    #[must_use]
    pub fn scenes(&self) -> u64 {
        self.goals.div_ceil(self.goals_of_scene.max(1)) as u64
    }

    /// Tries all goals on all cores. What stands in `out` already (a line of JSON for every scene)
    /// is not tried again, what is new is added to it.
    ///
    /// # Errors
    /// When settings make no sense, the file cannot be read or written, or the simulator fails.
    pub fn run(
        &self,
        settings: &TwinSettings,
        out: Option<&Path>,
        stop: &AtomicBool,
        told: &(dyn Fn(&TriedScene) + Sync),
    ) -> Result<Vec<TriedScene>, TwinError> {
        let known = out.map(read_lines).transpose()?.unwrap_or_default();
        let file = out.map(open_end).transpose()?.map(Mutex::new);
        let built = CellScene::new(&self.scene, settings, None)?;
        let wanted: Vec<u64> = (0..self.scenes()).collect();
        let made: Result<Vec<Option<TriedScene>>, TwinError> = wanted
            .par_iter()
            .map(|scene| {
                if let Some(known) = known.iter().find(|known| known.scene == *scene) {
                    return Ok(Some(known.clone()));
                }
                if stop.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let tried = self.scene(&built, settings, *scene)?;
                if let (Some(file), Some(path)) = (&file, out) {
                    let line = serde_json::to_string(&tried).unwrap_or_default();
                    let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    writeln!(file, "{line}").map_err(TwinError::file("write", path))?;
                }
                told(&tried);
                Ok(Some(tried))
            })
            .collect();
        Ok(made?.into_iter().flatten().collect())
    }

    /// Goals among the things of one scene.
    ///
    /// # Errors
    /// When settings make no sense or the simulator fails.
    pub fn scene(
        &self,
        built: &CellScene,
        settings: &TwinSettings,
        scene: u64,
    ) -> Result<TriedScene, TwinError> {
        let options = CellOptions { seed: self.seed, episode: scene, ..CellOptions::default() };
        let mut cell = SimCell::of(built, settings, options)?;
        let first = scene as usize * self.goals_of_scene;
        let count = self.goals_of_scene.min(self.goals.saturating_sub(first));
        let goals = self.draw(&cell, scene, count)?;
        let most_s = Some(self.most_s * count as f64);
        let report = run_cell(&mut cell, goals, &RunOptions { most_s, ..RunOptions::default() })?;
        Ok(TriedScene::of(scene, &report))
    }

    /// Random goals at which the arm can truly stand.
    fn draw(&self, cell: &SimCell, scene: u64, count: usize) -> Result<Vec<Goal>, TwinError> {
        let solids = cell.scene.solids.iter().map(|solid| solid.solid.clone()).collect();
        let settings =
            ColliderSettings { margin_m: self.clearance_m, ..ColliderSettings::default() };
        let mut collider = Collider::new(&cell.arm, &Obstacles::of(solids), &settings)?;
        // Stretched upwards, far from all things.
        let up = crate::goals::named("up", &cell.arm, &cell.scene.description);
        let start = match up {
            Ok(PlanGoal::Joints(joints)) => joints,
            _ => cell.scene.joints[..cell.arm.joints()].to_vec(),
        };
        let mut rng = Rng::for_episode(self.seed, scene, "twin goals");
        let mut goals = Vec::new();
        for _ in 0..count * 1000 {
            if goals.len() == count {
                break;
            }
            let [low, high] = self.box_m;
            let at_m: [f64; 3] = std::array::from_fn(|a| rng.uniform(low[a], high[a]));
            let goal = PlanGoal::Point { at_m };
            let check = GoalSettings::default();
            let report = check_goal(&cell.arm, &mut collider, &start, &goal, &check)?;
            if report.outcome.is_none() && !report.candidates.is_empty() {
                let [x, y, z] = at_m;
                goals.push(Goal::to(format!("{x:.3} {y:.3} {z:.3}"), goal));
            }
        }
        Ok(goals)
    }

    /// All of it in numbers.
    #[must_use]
    pub fn summary(&self, scenes: &[TriedScene]) -> Value {
        let goals: Vec<&Tried> = scenes.iter().flat_map(|scene| &scene.goals).collect();
        let reached = || goals.iter().filter(|goal| goal.reached);
        let of = |value: &dyn Fn(&Tried) -> f64| reached().map(|g| value(g)).collect::<Vec<f64>>();
        let times = of(&|goal| goal.time_s);
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for goal in goals.iter().filter(|goal| !goal.reached) {
            *reasons.entry(goal.reason.as_str()).or_default() += 1;
        }
        let mut causes: BTreeMap<&str, u32> = BTreeMap::new();
        for (code, count) in goals.iter().flat_map(|goal| &goal.causes) {
            *causes.entry(code.as_str()).or_default() += count;
        }
        let least = goals.iter().filter_map(|goal| goal.least_m).collect::<Vec<f64>>();
        json!({
            "goals": goals.len(),
            "reached": reached().count(),
            "reached_share": reached().count() as f64 / goals.len().max(1) as f64,
            "not_reached": reasons,
            "touches": scenes.iter().map(|scene| scene.touches).sum::<usize>(),
            "touched": scenes.iter().flat_map(|scene| &scene.touched).collect::<Vec<_>>(),
            "time_s": {"median": quantile(&times, 0.5), "p95": quantile(&times, 0.95),
                       "most": quantile(&times, 1.0)},
            "tool_m": {"median": quantile(&of(&|goal| goal.tool_m), 0.5)},
            "least_m": {"median": quantile(&least, 0.5), "least": quantile(&least, 0.0)},
            "slowed_s": {"median": quantile(&of(&|goal| goal.slowed_s), 0.5)},
            "stops": goals.iter().map(|goal| goal.stops).sum::<u32>(),
            "replans": goals.iter().map(|goal| goal.replans).sum::<u32>(),
            "causes": causes,
            "refused_transitions":
                scenes.iter().map(|scene| scene.refused_transitions).sum::<u64>(),
        })
    }
}

impl TriedScene {
    fn of(scene: u64, report: &TwinReport) -> Self {
        let touched = report.truth.list.iter().map(|touch| {
            format!(
                "{} touched {} at {:.2} m/s, {:.1} mm deep, step {}",
                touch.link,
                touch.with,
                touch.robot_m_s,
                1e3 * touch.depth_m,
                touch.step
            )
        });
        let goals =
            report.goals.iter().zip(&report.truth.least_of_goals_m).map(|(goal, least)| Tried {
                scene,
                number: goal.number,
                reached: goal.reached,
                reason: goal.reason.clone(),
                words: goal.words.clone(),
                time_s: goal.time_s,
                tool_m: goal.tool_m,
                stops: goal.stops,
                replans: goal.replans,
                slowed_s: goal.slowed_s,
                least_m: *least,
                causes: goal.causes.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect(),
            });
        Self {
            scene,
            touches: report.truth.touches,
            touched: touched.collect(),
            refused_transitions: report.refused_transitions,
            goals: goals.collect(),
        }
    }
}

/// What stands in a file already; a line that was cut off does not count.
fn read_lines(path: &Path) -> Result<Vec<TriedScene>, TwinError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path).map_err(TwinError::file("read", path))?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn open_end(path: &Path) -> Result<std::fs::File, TwinError> {
    let open = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let mut file = open.map_err(TwinError::file("open", path))?;
    // A line that was cut off must not eat the next one.
    let text = std::fs::read_to_string(path).map_err(TwinError::file("read", path))?;
    if !text.is_empty() && !text.ends_with('\n') {
        writeln!(file).map_err(TwinError::file("write", path))?;
    }
    Ok(file)
}
