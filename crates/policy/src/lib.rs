//! Arms that learn to reach.
mod bytes;
mod disturb;
mod env;
mod error;
mod evaluate;
mod file;
mod network;
mod ppo;

pub use env::{
    Aabb, Disturbance, Family, Obstacle, REFERENCE_REACH_M, ReachArm, ReachSettings, Rung,
    WorldSettings, boxes_around, input_names,
};
pub use error::PolicyError;
pub use evaluate::{Attempt, AttemptEnd, Episode, EpisodeSet};
pub use file::{PolicyAbout, PolicyFile, Record};
pub use network::{Activation, Layer, Mlp, MlpScratch};
pub use ppo::{Progress, TrainSettings, Trainer};
