//! What is in the way: a map of voxels, and solids that are known exactly. In the world, metres.

use std::sync::Arc;

use citrange_space::Snapshot;
use serde::{Deserialize, Serialize};

/// A box.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cuboid {
    /// Its middle.
    pub centre_m: [f64; 3],
    /// How it is turned: w, x, y, z.
    pub quat_wxyz: [f64; 4],
    /// Half of its edges.
    pub half_m: [f64; 3],
}

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Its middle.
    pub centre_m: [f64; 3],
    /// Its radius.
    pub radius_m: f64,
}

/// All points that are within a radius of a line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// One end of the line.
    pub a_m: [f64; 3],
    /// The other.
    pub b_m: [f64; 3],
    /// The radius.
    pub radius_m: f64,
}

/// Everything that a robot must not touch, but itself.
#[derive(Clone, Debug, Default)]
pub struct Obstacles {
    /// Boxes.
    pub boxes: Vec<Cuboid>,
    /// Balls.
    pub balls: Vec<Ball>,
    /// Capsules.
    pub capsules: Vec<Capsule>,
    /// Voxels, as cubes.
    pub map: Option<Arc<Snapshot>>,
}
