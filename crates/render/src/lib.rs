//! Software cameras: rgb, depth in metres and instance ids in one pass, on the CPU.

mod batch;
mod camera;
mod edges;
mod error;
mod geom;
mod glass;
mod hit;
mod lanes;
mod lights;
mod math;
mod packet;
mod render;
mod scene;
mod settings;
mod shade;
mod shadow;
mod shape;
mod surface;
mod texture;
mod view;

pub use batch::{Job, RenderPool};
pub use camera::{Camera, Intrinsics};
pub use error::RenderError;
pub use render::Renderer;
pub use scene::{Headlight, Instance, Light, LightKind, Material, Placement, SceneModel, Sky};
pub use settings::{Antialias, Frame, Settings};
pub use shape::{MAX_SIZE_M, MIN_SIZE_M, Mesh, Shape};
pub use texture::Texture;
