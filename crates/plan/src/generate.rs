//! Planning problems of our own making, for any robot: families of worlds in the robot's size,
//! starts and goals that are free and worth a search.
//!
//! | to change | look in |
//! |---|---|
//! | the worlds of a family, and where its ends are | `families.rs` |
//! | how large a robot is | `size.rs` |
//! | joints for the ends | `ends.rs` |

mod ends;
mod families;
mod size;

use citrange_core::rng::Rng;
use serde::{Deserialize, Serialize};

use crate::arm::PlannedArm;
use crate::collide::{Collider, ColliderSettings};
use crate::config::Config;
use crate::error::PlanError;
use crate::motions::Motions;
use crate::obstacles::Obstacles;
use crate::problems::{Problem, Problems};
use crate::search::{Planner, SearchResult, SearchSettings};
use ends::Ends;
use families::World;
use size::RobotSize;

pub use families::Family;

/// Worlds that are drawn for one problem before it is given up.
const MOST_WORLDS: u64 = 400;
/// Starts and goals are at least so far from everything: other checkers round otherwise.
const CLEAR_M: f64 = 0.003;
/// Of the problems whose straight way is free so many are kept.
const EASY_SHARE: f64 = 0.15;
/// Of the problems that were not solved here so many are kept, for others to try.
const UNSOLVED_SHARE: f64 = 0.1;
/// Searches that show whether a problem can be solved.
const SOLVERS: u64 = 2;
/// Collision checks of each.
const SOLVER_CHECKS: u64 = 400_000;
/// What problems that have no voxels say of theirs.
const VOXEL_SIZE_M: f64 = 0.05;

/// What is to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GenerateSettings {
    /// Decides all problems. The problem with a number is the same, however many are made.
    pub seed: u64,
    /// Problems of each family.
    pub each: usize,
    /// Families, in this order.
    pub families: Vec<Family>,
}

impl Default for GenerateSettings {
    fn default() -> Self {
        Self { seed: 0, each: 50, families: Family::ALL.to_vec() }
    }
}

/// Makes problems for an arm. `model`: its name or file, for those who read them. `told` hears of
/// every problem.
///
/// # Errors
/// When the arm cannot be planned for, or no free starts and goals were found for it.
pub fn generate(
    arm: &PlannedArm,
    model: &str,
    settings: &GenerateSettings,
    mut told: impl FnMut(&Problem),
) -> Result<Problems, PlanError> {
    let size = RobotSize::of(arm)?;
    let clear = ColliderSettings { margin_m: CLEAR_M, ..ColliderSettings::default() };
    let mut maker = Maker {
        arm,
        size,
        clear: Collider::new(arm, &Obstacles::default(), &clear)?,
        collider: Collider::new(arm, &Obstacles::default(), &ColliderSettings::default())?,
        ends: Ends::new(arm)?,
    };
    let mut problems = Vec::new();
    for family in &settings.families {
        for number in 0..settings.each {
            let problem = maker.problem(*family, settings.seed, number as u64)?;
            told(&problem);
            problems.push(problem);
        }
    }
    let chain = arm.body().chain();
    Ok(Problems::of(
        model,
        chain.joint_names().take(arm.joints()).map(str::to_owned).collect(),
        arm.limits().iter().map(|limit| limit.range).collect(),
        VOXEL_SIZE_M,
        problems,
    ))
}

struct Maker<'a> {
    arm: &'a PlannedArm,
    size: RobotSize,
    /// Keeps a distance, for ends.
    clear: Collider,
    collider: Collider,
    ends: Ends<'a>,
}

impl Maker<'_> {
    fn problem(&mut self, family: Family, seed: u64, number: u64) -> Result<Problem, PlanError> {
        for world in 0..MOST_WORLDS {
            let draw = number.wrapping_mul(MOST_WORLDS).wrapping_add(world);
            let mut rng = Rng::for_episode(seed, draw, family.name());
            let difficulty = rng.unit();
            let world = World::draw(family, &self.size, difficulty, &mut rng);
            let obstacles = Obstacles::of(world.solids.clone());
            self.clear.set_obstacles(&obstacles)?;
            // A robot that its surroundings carry is another matter than finding a way.
            if !self.clear.mounts().is_empty() {
                continue;
            }
            let Some([start, goal]) = self.ends.pair(&mut self.clear, &world, &mut rng) else {
                continue;
            };
            self.collider.set_obstacles(&obstacles)?;
            let is_easy = self.collider.is_motion_free(&start, &goal);
            if is_easy && rng.unit() >= EASY_SHARE {
                continue;
            }
            let name = format!("{}_{number:04}", family.name());
            let joints = self.arm.joints();
            let (from, to) = (start.positions(joints), goal.positions(joints));
            let solvable = is_easy || self.is_solved(&start, &goal)?;
            if !solvable && rng.unit() >= UNSOLVED_SHARE {
                continue;
            }
            return Problem::among(name, family.name(), [from, to], &world.solids)
                .map(|problem| problem.labelled(difficulty, solvable));
        }
        let reason = format!(
            "no free start and goal in {MOST_WORLDS} worlds of family {}: is it a robot whose \
             hand reaches away from its base?",
            family.name()
        );
        Err(PlanError::Bad {
            what: format!("problems for {}", self.arm.body().chain().robot),
            reason,
        })
    }

    fn is_solved(&mut self, start: &Config, goal: &Config) -> Result<bool, PlanError> {
        for seed in 0..SOLVERS {
            let settings = SearchSettings {
                seed,
                max_checks: Some(SOLVER_CHECKS),
                ..SearchSettings::default()
            };
            let mut planner = Planner::new(self.arm.limits(), settings)?;
            let result = planner.plan(&mut self.collider, start, &[*goal]);
            if matches!(result, SearchResult::Found { .. }) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
