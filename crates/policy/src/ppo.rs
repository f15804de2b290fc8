//! Proximal policy optimisation (Schulman and others, 2017), by hand.
//!
//! The same seed gives the same weights on any number of threads: every environment has its own
//! stream of random numbers, sixteen of them are one task, gradients are summed in blocks of fixed
//! size and in a fixed order.
//!
//! | to change | look in |
//! |---|---|
//! | every number | `settings.rs` |
//! | sixteen environments that gather experience | `actors.rs` |
//! | advantages, gradients, steps of Adam | `update.rs` |
//! | policy and value | `actor_critic.rs` |
//! | what is kept on disk | `checkpoint.rs` |
//! | all of it, iteration by iteration | `trainer.rs` |

mod actor_critic;
mod actors;
mod checkpoint;
mod settings;
mod trainer;
mod update;

pub use settings::{TrainFile, TrainSettings};
pub(crate) use trainer::cpu_s;
pub use trainer::{Progress, Trainer};
