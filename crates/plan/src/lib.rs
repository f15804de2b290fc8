//! Motions that touch nothing: from here to a goal, proved free, with a time law that a robot
//! can follow.
//!
//! ```
//! use citrange_core::shape::PosedShape;
//! use citrange_plan::{
//!     Collider, ColliderSettings, JointLimit, Obstacles, PlanGoal, PlanOutcome, PlanRequest,
//!     PlannedArm, Planner, make_plan,
//! };
//!
//! // A UR5 with a gripper, as chain, shapes and spheres.
//! let text = std::fs::read_to_string("../../benches/plan/ur5_robotiq.json")?;
//! let limit = JointLimit { range: [-3.14, 3.14], velocity: 3.0, acceleration: 5.0, jerk: 50.0 };
//! let arm = PlannedArm::new(serde_json::from_str(&text)?, vec![limit; 6], &[0.0; 6])?;
//! // Something stands where the arm would sweep through.
//! let obstacles = Obstacles::of(vec![PosedShape::sphere([0.55, 0.1, 1.1], 0.1)]);
//! let mut collider = Collider::new(&arm, &obstacles, &ColliderSettings::default())?;
//!
//! let request = PlanRequest::default();
//! let mut planner = Planner::new(arm.limits(), request.search.clone())?;
//! let start = [-2.37, -1.2, 1.8, -2.1, -1.57, 0.0];
//! let goal = PlanGoal::Joints(vec![-0.77, -1.2, 1.8, -2.1, -1.57, 0.0]);
//! let made = make_plan(&arm, &mut collider, &mut planner, &start, &goal, &request)?;
//! assert!(matches!(made.outcome, PlanOutcome::Found(path) if path.length_rad > 1.6));
//! assert!(made.trajectory.is_some_and(|motion| motion.duration_s() > 0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | a joint vector as the planner sees it | `config.rs` |
//! | a robot and its limits | `arm.rs` |
//! | where a path should lead, and whether it can | `goal.rs` |
//! | what is in the way | `obstacles.rs`; as people write it `world.rs` |
//! | what is in the hand | `held.rs` |
//! | whether a motion touches anything | `collide/` |
//! | what a planner asks about motions | `motions.rs` |
//! | what a planner answers | `outcome.rs` |
//! | how a simulated or real arm follows it | `pilot.rs` |
//! | how a path becomes a motion over time | `timing.rs` |
//! | the tool along a straight line | `straight.rs` |
//! | the tool upright, or within a cone, all the way | `cone.rs`, its search `search/constrained.rs` |
//! | files of problems, for measurements | `problems.rs` |
//! | how a path is searched, shortened, mended | `search/` |
//! | where a plan begins, and with which opening of the gripper | `start.rs` |
//! | who may answer instead of the search | `finder.rs` |
//! | all of it, from a goal to a motion | `make.rs`; why there is none, in words `words.rs` |
//! | motions from goal to goal in a scene, in one call | `scene.rs`; what comes of it `legs.rs` |
//! | problems of our own making | `generate/` |
//! | how fast problems are solved | `measure.rs`; a file of them `measure_all.rs`; how long paths are for how much effort `measure_curve.rs` |
//!
//! `docs/plan.md` shows how it is used.

mod arm;
mod collide;
mod cone;
mod config;
mod error;
mod finder;
mod generate;
mod goal;
mod held;
mod legs;
mod make;
mod measure;
mod measure_all;
mod measure_curve;
mod motions;
mod obstacles;
mod outcome;
mod pilot;
mod problems;
mod scene;
mod search;
mod start;
mod straight;
mod timing;
mod tool;
mod words;
mod world;

pub use arm::{JointLimit, PlannedArm};
pub use collide::{Collider, ColliderSettings, Mount};
pub use cone::ToolCone;
pub use config::{Config, MAX_JOINTS};
pub use error::PlanError;
pub use finder::{BiRrt, FoundPath, PathFinder, PathQuestion};
pub use generate::{Family, GenerateSettings, generate};
pub use goal::{Contacts, GoalReport, GoalSettings, PlanGoal, check_goal};
pub use held::HeldThing;
pub use legs::{Leg, Legs};
pub use make::{MadePlan, PlanRequest, PlanTimes, make_plan, make_plan_with};
pub use measure::{Bench, BenchTally, ObstacleKind, Solved};
pub use measure_curve::{BudgetCurve, CurveSettings};
pub use motions::Motions;
pub use obstacles::{AllowedTouch, Obstacles};
pub use outcome::{Collision, Path, PathEnd, PlanOutcome, Touched};
pub use pilot::{Feedforward, PilotSettings, PlanPilot, ServoLoad};
pub use problems::{Problem, Problems};
pub use scene::{
    GoalText, PlanScene, SceneSettings, SceneSolid, plan_in_scene, plan_in_scene_with,
};
pub use search::{
    Effort, Improved, Planner, Reused, SearchResult, SearchSettings, SimplifySettings, Spent,
    path_length_rad,
};
pub use start::{GripperOpening, PlanStart};
pub use straight::{StraightFault, StraightMotion, StraightSettings, StraightStop};
pub use timing::{Joined, Moment, Remainder, TimingSettings, Tracking, Trajectory};
pub use words::{ObstacleNames, mount_in_words, reason_in_words};
pub use world::{MeshThing, WorldFile};
