//! Many simulated worlds over MuJoCo.
mod camera;
pub mod catalog;
mod compile;
mod engine;
mod error;
mod extras;
mod free_root;
mod layout;
mod mjcf;
mod picture;
mod read;
mod snapshot;
mod world;
mod write;

pub use camera::CameraQuery;
pub use catalog::{SceneSource, load_scene};
pub use compile::CompiledScene;
pub use engine::{engine_messages, start_engine};
pub use error::SimError;
pub use extras::EXTRAS;
pub use read::StateQuery;
pub use world::{Threads, World};
pub use write::SetReport;
