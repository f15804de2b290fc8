//! Episodes on disk: recorded while they happen, never lost, repeated exactly.
//!
//! A [`Dataset`] is a LeRobotDataset v3.0 folder with our tapes beside it. A [`Recorder`] is the
//! Tape of `citrange_core::run`: it appends everything to a checksummed log ([`Episode`] reads it
//! back) and codes pictures on threads of their own. [`ExactReplay`] repeats a tape as a pilot,
//! [`Verifier`] says whether the repetition is bitwise equal.
//!
//! ```
//! use citrange_core::Rates;
//! use citrange_core::rig::{JointSpec, RigSpec};
//! use citrange_tape::{Dataset, Unit};
//!
//! let joint = JointSpec {
//!     name: "axis".into(),
//!     is_slide: false,
//!     range: Some([-1.0, 1.0]),
//!     gripper: None,
//! };
//! let rates = Rates { physics_hz: 100, control_hz: 100, frame_hz: 20 };
//! let spec = RigSpec::new("motor", vec![joint], rates);
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path().join("set");
//! // A new dataset for episodes of this rig; an old one would be opened, and repaired if a crash
//! // had left something.
//! let (dataset, repaired) = Dataset::record(&root, &spec, Unit::Degrees, &Default::default())?;
//! assert!(repaired.is_empty() && dataset.index.episodes.is_empty());
//! // Rows hold degrees, tapes hold what was commanded, in radians.
//! assert_eq!(Unit::Degrees.of(&spec)?[0].show(std::f64::consts::PI).round(), 180.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | bytes of the log | `log.rs` (records), `record.rs` (frames, ticks), `header.rs` |
//! | what happens while recording | `recorder.rs`, what of a camera is kept and how it is coded `stream.rs`, pictures `camera.rs`, `coded.rs` |
//! | depths read back | `depth.rs` |
//! | saving | `dataset.rs`, `index.rs` |
//! | whose tape a tape is | `tapes.rs`; tied again: `rebuild.rs` |
//! | repair after a crash | `recover.rs` (one recording), `repair.rs`, what edits left `leftovers.rs` |
//! | deleting, trimming, merging, … | `edit.rs` |
//! | units of joint values | `units.rs`; what a row holds `features.rs`; rows of others `rows.rs` |
//! | replay and its verification | `replay.rs`, `verify.rs` |
//! | HDF5 files | out `demo.rs`, `pictures.rs`; in `demo_in.rs`, `demo_rows.rs`, `order.rs`, `joint_names.rs`, `motion.rs`, `grippers.rs`; which column is which joint `arm_columns.rs` |

mod arm_columns;
mod camera;
mod coded;
mod dataset;
mod demo;
mod demo_in;
mod demo_rows;
mod depth;
mod edit;
mod episode;
mod error;
mod features;
mod grippers;
mod header;
mod index;
mod joint_names;
mod leftovers;
mod log;
mod motion;
mod order;
mod pictures;
mod rebuild;
mod record;
mod recorder;
mod recording;
mod recover;
mod repair;
mod replay;
mod rows;
mod run_name;
mod stream;
mod tapes;
mod units;
mod verify;

pub use citrange_lerobot::{Leftover, Staging, staging_name};

pub use camera::WhenFull;
pub use dataset::Dataset;
pub use demo::{DemoExtras, arm_and_gripper, export_demo, flattened};
pub use demo_in::{ALOHA_HZ, DemoEpisode, SO101_HZ};
pub use depth::DepthFrames;
pub use edit::Progress;
pub use episode::{End, Episode};
pub use error::TapeError;
pub use features::{SeenState, StateFeatures};
pub use header::{IMPORT, Imported, Parent, Play, TapeHeader, new_uid, utc_now};
pub use index::{Entry, Index};
pub use log::{Damage, file_sha256};
pub use motion::{Motion, StateRow};
pub use rebuild::Rebuilt;
pub use record::{SensorTimes, TapedFrame, TapedTick};
pub use recorder::{RecordSettings, Recorder};
pub use recording::Recording;
pub use repair::Repaired;
pub use replay::{ExactReplay, FrameReplay};
pub use rows::{JointRows, Reading};
pub use run_name::RunName;
pub use stream::{DepthFormat, all_depths};
pub use units::{JointUnit, Unit};
pub use verify::{Difference, Extent, Verifier, VerifyReport};
