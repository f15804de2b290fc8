//! Arms that learn to reach.
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
