//! The environment `reach`: kinematic copies of an arm among boxes, sixteen in a block.
//!
//! | to change | look in |
//! |---|---|
//! | every number, the rungs of the ladder | `settings.rs` |
//! | what follows from a robot's description | `arm.rs` |
//! | what is in the way, how far spheres are from it | `boxes.rs`, `sense.rs` |
//! | random worlds | `world.rs`; starts and goals in them `draw.rs` |
//! | what a policy sees, what a step does and earns | `copies.rs`, `observe.rs` |
//!
//! Everything in the way is a box along the axes of the map: a voxel is one, and so is a box cut
//! into voxels. The distance to the nearest is exact, and is what [`citrange_space::MapSnapshot`]
//! answers for the same cubes (a test compares them).

mod arm;
mod boxes;
mod copies;
mod draw;
mod observe;
mod sense;
mod settings;
mod world;

pub use arm::{REFERENCE_REACH_M, ReachArm};
pub use boxes::{Aabb, boxes_around};
pub(crate) use copies::{Copies, Ends};
pub(crate) use draw::{Drawer, Drawn};
pub use observe::input_names;
pub use settings::{Disturbance, Family, ReachSettings, Rung, WorldSettings};
pub use world::Obstacle;
