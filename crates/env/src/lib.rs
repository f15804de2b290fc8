//! Jobs for those who learn: N environments of a scene, stepped at once, with what is seen, what it
//! is worth, and when an episode is over and the next begins.
//!
//! ```
//! use citrange_env::{Batch, EnvSettings, Seeding};
//! use citrange_sim::load_scene;
//!
//! let settings = EnvSettings::default();
//! let mut envs = Batch::new(load_scene("reach")?, 2, settings)?;
//! envs.reset(&Seeding::Run(7))?; // environment 0 begins with episode 0 of seed 7, 1 with 1
//! let hold: Vec<f32> = envs.targets().iter().map(|target| *target as f32).collect();
//! envs.step(&hold)?;
//! assert_eq!(envs.observations().len(), 2 * envs.observation_names().len());
//! assert_eq!((envs.rewards(), envs.terminated()), (&[0.0, 0.0][..], &[false, false][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where an episode begins is a function of (seed, episode index), as in a collection: the same
//! pair is the same start.
//!
//! | to change | look in |
//! |---|---|
//! | what can be chosen | `settings.rs` |
//! | what is seen, what may be done: names, units, limits | `spaces.rs` |
//! | what it is worth | `reward.rs` |
//! | stepping, ends, beginnings | `batch.rs` |
//! | pictures | `pictures.rs` |

mod batch;
mod error;
mod pictures;
mod reward;
mod settings;
mod spaces;

pub use batch::{Batch, Seeding};
pub use error::EnvError;
pub use pictures::CameraPictures;
pub use settings::{Actions, Autoreset, EnvSettings, Hold, Reward};
pub use spaces::{Entry, Limit};
