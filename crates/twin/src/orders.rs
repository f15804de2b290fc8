//! What people ask of a running twin, from the page, the terminal or a file.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::goals::Goal;

/// Something that a person asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Go there, after what was asked for before.
    Go(Goal),
    /// Come to rest along the path, and forget the goal.
    Stop,
    /// The motion that is shown may be carried out.
    Confirm,
    /// What stopped the arm is dealt with.
    Clear,
    /// Fraction of full speed from the next motion on.
    Speed(f64),
    /// A camera stands here.
    Camera {
        /// Which.
        name: String,
        /// Position in the world.
        xyz_m: [f64; 3],
        /// Rotations about the world's x, then y, then z.
        rpy_deg: [f64; 3],
    },
    /// The map begins anew with these voxels, while the arm stands.
    Voxels {
        /// Edge of a voxel.
        size_m: f64,
        /// Points this near to a link are its own; as before where it is not said.
        self_filter_m: Option<f64>,
        /// Groups with fewer voxels are taken away; as before where it is not said.
        cluster_voxels: Option<usize>,
    },
    /// The run ends when the arm is at rest.
    End,
}

/// Where orders are put, and taken from by the twin at its next tick.
#[derive(Clone, Debug, Default)]
pub struct Orders(Arc<Mutex<VecDeque<Order>>>);

/// More orders than this wait for nobody: the oldest are dropped.
const MOST: usize = 256;

impl Orders {
    /// Puts an order in; a stop goes before all others.
    pub fn give(&self, order: Order) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if order == Order::Stop {
            all.clear();
        }
        if all.len() < MOST {
            all.push_back(order);
        }
    }

    /// Takes the oldest out.
    pub fn take(&self) -> Option<Order> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}
