//! Many simulated worlds over MuJoCo: scenes, State, snapshots, cameras.
//!
//! A [`CompiledScene`] is a scene file turned into one immutable model. A [`World`] is N
//! environments of it, stepped on all cores; results do not depend on how many there are or on
//! how many threads. Everything read belongs to the same instant (see `world.rs`).
//!
//! ```
//! use std::sync::Arc;
//! use citrange_sim::{CameraQuery, CompiledScene, StateQuery, Threads, World, load_scene};
//!
//! let scene = Arc::new(CompiledScene::new(&load_scene("orange_plate")?)?);
//! let mut world = World::new(scene, 2, Threads::Auto)?;
//! world.reset(7, &[17, 18])?; // seed 7; environment 0 runs episode 17, environment 1 episode 18
//! world.set_joint_targets("robot0", &[0.0; 12])?; // two environments, six joints each
//! world.step(12)?; // physics steps
//!
//! let query = StateQuery {
//!     cameras: [("front".to_owned(), CameraQuery::ALL)].into(),
//!     extras: vec!["contact_force:orange_1,table".to_owned()],
//! };
//! let state = world.get_state(None, &query)?;
//! assert_eq!(state.objects["orange_1"].root_state.as_ref().map(|a| a.dim()), Some((2, 13)));
//!
//! let saved = world.snapshot(0)?.to_bytes(); // everything that decides the future
//! world.step(100)?;
//! world.restore(0, &citrange_core::Snapshot::from_bytes(&saved)?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | built-in scenes and robots | `catalog.rs`, `/scenes`, `/models` |
//! | how a scene becomes a model | `mjcf.rs` (world), `compile.rs` (robots, gains, cameras) |
//! | what a state holds | `layout.rs` (names), `row.rs`, `read.rs`, `write.rs`, `extras.rs` |
//! | stepping and threads | `world.rs` |
//! | exact continuation | `snapshot.rs`; poorer files: `restore.rs`; a recording's own model: `own.rs` |
//! | an arm to be driven | `rig.rs`; as numbers `chain.rs`, its solid shapes `shapes.rs`; with named actions `arm.rs`; what it sees and feels of objects `contact_sensor.rs`; the same of many environments `senses.rs` |
//! | what a robot touches, step by step | `touches.rs` |
//! | what a viewer is told | `show.rs`; what is in a scene `scene_facts.rs` |
//! | what a depth camera makes of the truth | `depth_sensor.rs`; a whole frame with its file `depth_shot.rs` |
//! | pictures | `camera.rs`, `picture.rs`; one of a scene `scene_picture.rs`; beside the loop `draw.rs`; with OpenGL `gl.rs` |

mod arm;
mod around;
mod attach;
mod camera_pool;
pub mod catalog;
mod chain;
mod compile;
mod contact_sensor;
mod depth_sensor;
mod depth_shot;
mod describe;
mod drive;
mod engine;
mod error;
mod extras;
mod foreign_scene;
mod free_root;
pub mod gl;
mod home;
mod inertia;
mod layout;
mod mesh_boxes;
mod mjcf;
mod model_file;
mod model_limits;
mod object_specs;
mod options;
mod picture;
pub mod priority;
mod read;
mod render_worker;
mod restore;
mod rig;
mod rig_spec;
mod robot;
mod row;
pub mod sanity;
mod scene_facts;
mod scene_picture;
mod senses;
mod servos;
mod shapes;
mod show;
mod snapshot;
mod touches;
mod try_robot;
mod urdf;
mod view;
mod world;
mod write;

pub use arm::{Arm, ArmObservation, Feature};
pub use around::SolidAround;
pub use camera_pool::CameraQuery;
pub use catalog::{SceneSource, load_scene};
pub use compile::CompiledScene;
pub use depth_sensor::DepthSensor;
pub use depth_shot::{DepthShot, FLYING, NOT_SEEN};
pub use describe::{Guess, describe};
pub use engine::{engine_messages, start_engine};
pub use error::SimError;
pub use extras::EXTRAS;
pub use foreign_scene::OwnModel;
pub use gl::{GlKind, GlRenderer, gl_probe};
pub use read::{StateQuery, TableField};
pub use rig::SimRig;
pub use robot::{compiled_robot, described_robot};
pub use scene_facts::{RobotFacts, SceneFacts};
pub use scene_picture::{PictureSettings, ScenePicture, draw_scene};
pub use senses::Senses;
pub use touches::{Touch, TouchTally, TouchWatch};
pub use try_robot::{RobotTrial, try_robot};
pub use world::{Threads, World};
pub use write::SetReport;
