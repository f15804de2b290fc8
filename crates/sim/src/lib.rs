//! Many simulated worlds over MuJoCo.
pub mod catalog;
mod camera;
mod compile;
mod engine;
mod error;
mod extras;
mod free_root;
pub mod gl;
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
pub use gl::{GlKind, GlRenderer, gl_probe};
pub use read::StateQuery;
pub use world::{Threads, World};
pub use write::SetReport;
