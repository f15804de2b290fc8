//! Parts of a robot in the world.

pub use citrange_core::solid::{Form, Solid};
