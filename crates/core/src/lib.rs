//! The words every Citrange crate speaks.
//!
//! - [`state`], [`dict`]: **State**, what the world is: vectorised [`TensorState`] for N
//!   environments, readable [`DictState`] for one; both convert into each other without loss.
//! - [`pilot`], [`rig`], [`tape`]: who decides, who acts, who keeps; [`mod@run`] is the one loop, to be
//!   run or to be stepped ([`Loop`]); [`batch`]: pilots for many environments at once.
//! - [`observation`], [`command`], [`event`]: what goes between them.
//! - [`snapshot`]: everything that decides the future, as named f64 fields and as bytes.
//! - [`restore`]: what a file knows about the start of an episode, and how well it was restored.
//! - [`scene`], [`shape`], [`robot`]: what people write in YAML; [`yaml`] reads it with errors
//!   that name file, line, key and the nearest known key.
//!   [`schema`] describes the same for editors, [`origin`] says who set each value.
//! - [`placement`]: where objects start, a function of (seed, episode index) alone.
//! - [`randomise`]: how an episode's looks, masses and frictions differ from the scene's, likewise.
//! - [`rates`], [`pose`], [`rng`], [`names`]: exact clocks, poses, repeatable chance, names.
//!
//! World frame, metres, radians, seconds, quaternions w,x,y,z, f64, unless a name says otherwise.
//!
//! ```
//! use citrange_core::{DictState, TensorState};
//! let dict: DictState = serde_json::from_str(
//!     r#"{"objects": {"ball": {"pos": [0, 0, 1], "rot": [1, 0, 0, 0],
//!                              "vel": [0, 0, 0], "ang_vel": [0, 0, 0]}}}"#)?;
//! let tensor = TensorState::from_dicts(&[dict.clone(), dict])?;
//! assert_eq!(tensor.objects["ball"].root_state.as_ref().map(|a| a[[1, 2]]), Some(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod batch;
pub mod camera;
pub mod command;
pub mod dict;
pub mod error_kind;
pub mod event;
pub mod names;
mod object_spec;
pub mod observation;
pub mod one_arm;
pub mod origin;
mod pace;
pub mod picture;
pub mod pilot;
pub mod placement;
pub mod png;
pub mod pose;
pub mod randomise;
pub mod rates;
pub mod restore;
pub mod rig;
pub mod rng;
pub mod robot;
pub mod run;
pub mod scene;
pub mod schema;
pub mod script;
pub mod shape;
pub mod snapshot;
pub mod state;
pub mod tape;
pub mod time;
pub mod yaml;

pub use batch::BatchPilot;
pub use command::{Command, Commanded};
pub use dict::{DictObjectState, DictRobotState, DictState};
pub use error_kind::{Classified, ErrorKind};
pub use event::Event;
pub use observation::{CameraImage, Mode, ObjectSeen, Observation, Want};
pub use pace::{Late, Pace, Pacer};
pub use picture::{DepthPicture, Picture, PictureError, PicturePool, Undrawn};
pub use pilot::{Memory, Notes, Outcome, Pilot, Start, Verdict};
pub use pose::Pose;
pub use randomise::Randomise;
pub use rates::Rates;
pub use restore::{Level, RestoreReport, StartData};
pub use rig::{BoxError, CameraKind, Halt, Intrinsics, ObjectSpec, Rig, RigSpec};
pub use robot::RobotDescription;
pub use run::{Clock, Loop, RunReport, RunSettings, Ticked, run};
pub use scene::Scene;
pub use snapshot::Snapshot;
pub use state::{CameraState, Contact, Extra, ObjectState, RobotState, TensorState};
pub use tape::Tape;
