//! A robot and its twin: sees, decides, moves, stops.
//!
//! A [`Twin`] is a Pilot: cameras make a map, a [`Finder`] finds a way around what is in it, a
//! [`Driver`] carries the motion out, and a guard proves what was sent again against every new map.
//! Where it is, and what may follow, is one table: [`state::TABLE`]. Every wait has a limit.
//!
//! ```no_run
//! use citrange_twin::{GoalFile, SimCell, CellOptions, TwinSettings, run_goals};
//!
//! let settings = TwinSettings { confirm: false, ..TwinSettings::default() };
//! let goals = GoalFile::load("goals.yaml".as_ref())?;
//! let report = run_goals(&settings, CellOptions::default(), &goals, &Default::default())?;
//! for goal in &report.goals {
//!     println!("{}: {} after {:.2} s", goal.goal, goal.reason, goal.time_s);
//! }
//! assert_eq!(report.truth.touches, 0);
//! # Ok::<(), citrange_twin::TwinError>(())
//! ```
//!
//! **The guard is no safety function.** It runs on a computer that may stall, and it knows what
//! cameras show. People are kept apart from robots by what is certified for that.
//!
//! | to change | look in |
//! |---|---|
//! | numbers, their units and defaults | `settings.rs`, times of states `limits.rs` |
//! | states, and which may follow which | `state.rs`; why `cause.rs`; what is kept of it `machine.rs` |
//! | what a state does | `twin/`: at rest `rest.rs`, plans `ways.rs`, in motion `flight.rs`, held `hold.rs` |
//! | joints: ages, jumps | `mirror.rs` |
//! | pictures: map, ages, blind and moved cameras | `eyes.rs` |
//! | what is in the way, what moves thought ahead | `surroundings.rs` |
//! | proofs of what was sent, unknown cells, distances | `guard.rs` |
//! | who finds ways | `finder.rs` |
//! | the port to whatever moves the arm | `driver.rs`; the simulated one `controller.rs` |
//! | goals as people write them | `goals.rs`; what they ask while it runs `orders.rs` |
//! | the simulated cell | `cell.rs`, `rig.rs`; what goes wrong `faults.rs`, what happens `happenings.rs` |
//! | logs as CSV | `log.rs` |
//! | words of the terminal | `console.rs` |
//! | many random goals | `experiment.rs` |
//! | trials of the guard: what comes, what goes wrong | `trials/` |
//! | what became of goals | `results.rs`, `report.rs` |

mod cause;
mod cell;
pub mod console;
mod controller;
mod driver;
mod error;
mod experiment;
mod eyes;
mod faults;
mod finder;
mod goals;
mod guard;
mod happenings;
mod limits;
mod log;
mod machine;
mod mirror;
mod orders;
mod report;
mod results;
mod rig;
mod run;
mod settings;
pub mod state;
mod surroundings;
pub mod trials;
mod twin;

pub use cause::Cause;
pub use cell::{CellOptions, CellScene, SimCell};
pub use controller::{Controller, DriverFault, SimDriver};
pub use driver::{Driver, DriverEvent};
pub use error::TwinError;
pub use experiment::{Experiment, Tried, TriedScene};
pub use eyes::Eyes;
pub use faults::{FaultKind, Faults, RigFault};
pub use finder::{Ask, Birrt, Finder, Way};
pub use goals::{Goal, GoalEntry, GoalFile, GoalKind, GoalPose, named};
pub use guard::{Blocked, Guard};
pub use happenings::{Happenings, Moment, Placed, Quiet};
pub use limits::Limits;
pub use log::{Log, write_csv};
pub use machine::{Machine, TRANSITION, Transition};
pub use mirror::Mirror;
pub use orders::{Order, Orders};
pub use report::{TimesReport, TruthReport, TwinReport};
pub use results::{GoalResult, Timings, quantile};
pub use rig::{SharedTruth, Truth, TwinRig, TwinRigParts};
pub use run::{RunOptions, run_cell, run_goals};
pub use settings::{
    CameraPlace, Corner, Embedded, FinderKind, GuardSettings, Horizon, Separation, TwinSettings,
    Unknown,
};
pub use state::State;
pub use surroundings::Surroundings;
pub use twin::{Twin, TwinMode, TwinParts};
