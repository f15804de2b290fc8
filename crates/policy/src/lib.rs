//! Arms that learn to reach: the environment, the training, policies at work, networks of others.
//!
//! ```
//! use std::sync::Arc;
//!
//! use citrange_policy::{PolicyFile, ReachArm, Rung, TrainFile, Trainer};
//!
//! # let folder = std::env::temp_dir().join(format!("policy_doc_{}", std::process::id()));
//! let arm = Arc::new(ReachArm::load("ur5e")?);
//! let mut file = TrainFile::of(Rung::A);
//! file.train.total_steps = 8192; // five million take two minutes and reach 99 %
//! # file.train.evaluation_episodes = 16;
//! let settings = (file.reach, file.train, Some(Rung::A));
//! let mut trainer = Trainer::begin(&folder, arm, settings, 0)?;
//! while !trainer.is_done() {
//!     trainer.iterate()?;
//!     trainer.save()?; // a kill loses no more than this; Trainer::resume goes on bit for bit
//! }
//! let policy = PolicyFile::load(&folder)?; // the best by evaluation
//! assert_eq!(policy.about.actions[0], "shoulder_pan_joint");
//! # std::fs::remove_dir_all(folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | worlds, arms, what is seen, what is earned | `env/` |
//! | networks: products, layers, Adam | `network/` |
//! | the training and its checkpoint | `ppo/`; what is not as it should be `disturb.rs` |
//! | held-out episodes, figures, proofs, the page | `evaluate/` |
//! | a policy as a planner and as a pilot | `reach/` |
//! | a policy's file | `file.rs`, `bytes.rs` |
//! | networks of others | `import/`; their mappings `mappings/` |
//!
//! No engine is needed: arms are chains and spheres ([`citrange_robot`]), everything in the way is
//! boxes. `docs/policy.md` shows how it is used, and how good it is.

mod bytes;
mod disturb;
mod env;
mod error;
mod evaluate;
mod file;
mod import;
mod network;
mod ppo;
mod reach;

pub use env::{
    Aabb, Disturbance, Family, Obstacle, REFERENCE_REACH_M, ReachArm, ReachSettings, Rung,
    WorldSettings, boxes_around, input_names,
};
pub use error::PolicyError;
pub use evaluate::{
    Attempt, AttemptEnd, BestOf, Ended, Episode, EpisodeSet, EvaluateSettings, FamilyFigures,
    Figures, PlannerFigures, ProofFigures, RungFigures, Share, Spread, evaluate, touching_postures,
};
pub use file::{PolicyAbout, PolicyFile, Record, training_curve};
pub use import::{Asked, ForeignPolicy, MappedInput, Mapping, Outputs, Place, Quantity, to_onnx};
pub use network::{Activation, Layer, Mlp, MlpScratch};
pub use ppo::{Progress, TrainFile, TrainSettings, Trainer};
pub use reach::{ReachFinder, ReachPilot};
