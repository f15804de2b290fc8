//! Many simulated worlds over MuJoCo.
pub mod catalog;
mod compile;
mod engine;
mod error;
mod layout;
mod mjcf;
mod world;

pub use catalog::{load_scene, SceneSource};
pub use compile::CompiledScene;
pub use engine::{engine_messages, start_engine};
pub use error::SimError;
pub use world::{Threads, World};
