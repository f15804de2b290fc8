//! An arm that works by itself: picks things up, puts them where they belong, and judges whether
//! it did. [`Autopilot`] is the Pilot; a scene's `job` says what to do, [`AutopilotSettings`] how.
//!
//! ```
//! use citrange_task::AutopilotSettings;
//!
//! // The numbers of a profile, some of them changed.
//! let text = "profile: panda\nretries: 0\nplacement: {}\n";
//! let settings = AutopilotSettings::parse(text, "mine.yaml")?;
//! assert_eq!(settings.retries, 0);
//! assert_eq!(settings.lift_height, AutopilotSettings::load("panda")?.lift_height);
//! // Durations are counted in frames.
//! assert_eq!(settings.frames_s(settings.frames_per_second), 1.0);
//! # Ok::<(), citrange_task::TaskError>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | which states there are, their limits, what must hold in them | `table.rs`; names `reason.rs` |
//! | what happens in a state | `states/`, with what is in `work.rs` |
//! | what must hold in every state | `watch.rs` |
//! | numbers, profiles | `settings.rs`, `/crates/task/profiles` |
//! | how a thing is taken: yaw, depth, opening | `grasp_plan.rs`, `stand.rs`, `grip.rs`; what stands against it `refusal.rs` |
//! | how much is planned in one tick | `search.rs` |
//! | errors of what it sees, and what it makes of them | `noise.rs`, `sight.rs` |
//! | shapes: of the thing, the hand, distances | `thing.rs`, `hand.rs`, `hull.rs` |
//! | with which yaw it is let go, what is around | `choice.rs` |
//! | how the hand moves | `moves.rs`; its arm `body.rs`; around what stands in the way `route.rs` |
//! | whether something is held, graspable, placed, moved | `judge/` |
//! | where things go on the plate | `spots.rs`; what the goal is `goal.rs` |
//! | what a snapshot keeps of it | `memory.rs` |

mod body;
mod choice;
mod error;
mod goal;
mod grasp_plan;
mod grip;
mod hand;
mod hull;
pub mod judge;
mod memory;
mod moves;
mod noise;
mod pilot;
mod reason;
mod refusal;
mod route;
mod search;
mod settings;
mod sight;
pub mod spots;
mod stand;
mod states;
mod table;
mod thing;
mod watch;
mod work;

pub use error::TaskError;
pub use memory::WorkAtFrame;
pub use noise::PoseNoise;
pub use pilot::{Autopilot, AutopilotProgress, Setup};
pub use reason::{Reason, State};
pub use settings::{AutopilotSettings, GraspYaw, HeightsOf};
