//! Episodes: record, collect, replay, verify, drive, import, export, film; for every Rig.
//!
//! A verb of the command line is one call here; so is a button of a page or a function of Python.
//! What all of them are given is a [`RunContext`]: a [`Reporter`] that is told what happens, in
//! JSON and in words, and a flag that asks to stop. What a rig must be able to do beyond carrying
//! commands out is [`EpisodeRig`]; the simulator's is [`simulated`].
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use citrange_episodes::collect::{CollectOptions, Goal, Order, Plan, collect};
//! use citrange_episodes::replay::{ReplayOptions, replay};
//! use citrange_episodes::{RunContext, Silent};
//!
//! let stop = AtomicBool::new(false);
//! let ctx = RunContext { reporter: &Silent, stop: &stop };
//! // Two episodes of an arm that works by itself, then both once more, every step compared.
//! let plan = Plan::new(Some("orange_plate"), &CollectOptions::default(), ctx)?;
//! let goal = Goal::episodes(2, None);
//! let out = std::path::PathBuf::from("oranges");
//! collect(&plan, &Order { out: out.clone(), goal, first: None, workers: 1 }, ctx)?;
//! let options = ReplayOptions { path: out, verify: true, threads: 1, ..ReplayOptions::default() };
//! replay(&options, None, ctx)?.verdict()?;
//! # Ok::<(), citrange_episodes::EpisodesError>(())
//! ```

mod answer;
mod cell;
pub mod collect;
mod context;
pub mod demo;
pub mod doctor;
pub mod drive;
pub mod edit;
mod error;
pub mod export;
pub mod film;
pub mod fly;
pub mod import;
mod job_hint;
mod linked;
pub mod look;
mod objects;
mod pilots;
pub mod planning;
mod recording;
pub mod replay;
pub mod rig_check;
mod rig_check_ros;
pub mod rig_setup;
pub mod selection;
mod session;
mod simulated;
mod timeline;

pub use answer::Answer;
pub use cell::{ArmDescription, DepthChoice, EpisodeRig, RigChoice, RigIdentity, RigSource, Shown};
pub use context::{Progress, Reporter, RunContext, Silent};
pub use error::{EpisodesError, Result};
pub use linked::{LeaderChoice, LinkChoice};
pub use objects::{ObjectReport, Worst};
pub use pilots::{PilotOptions, PilotPlan};
pub use recording::{Lost, Origin, RecordOptions, Take, check_new, repaired_json, tell_repaired};
pub use session::Choice;
pub use simulated::{compiled, rig_in, rig_of, simulated};
