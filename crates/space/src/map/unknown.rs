//! Cells that nobody has seen, as obstacles: for motions that must not go where nothing is known.

use citrange_core::shape::PosedLinkShape;

use crate::error::SpaceError;
use crate::front::nearer_than;
use crate::map::snapshot::{CellState, MapSnapshot};

/// How a planner takes cells that no camera has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownCells {
    /// As free.
    #[default]
    Free,
    /// As occupied, but for the robot's own place.
    Blocked,
}

impl MapSnapshot {
    /// How many cells are unknown, free and occupied.
    #[must_use]
    pub fn state_counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for key in 0..self.grid.cells() as u32 {
            counts[self.state(key) as usize] += 1;
        }
        counts
    }

    /// The same map with unknown cells as occupied ones. Those whose cube is within `padding_m` of
    /// the robot's own parts stay as they are: no camera sees through the robot, and it is there.
    ///
    /// # Errors
    /// When the map itself makes no sense.
    pub fn with_unknown_blocked(
        &self,
        own: &[PosedLinkShape],
        padding_m: f64,
    ) -> Result<Self, SpaceError> {
        let half_m = 0.5 * self.grid.voxel_m();
        let is_own = |key: u32| {
            let centre_m = self.grid.centre_m(self.grid.cell_of(key));
            own.iter().any(|part| nearer_than(centre_m, half_m, part, padding_m))
        };
        let blocks = |key: &u32| match self.state(*key) {
            CellState::Occupied => true,
            CellState::Free => false,
            CellState::Unknown => !is_own(*key),
        };
        let keys: Vec<u32> = (0..self.grid.cells() as u32).filter(blocks).collect();
        let mut blocked = Self::from_voxels_within(&self.grid, &keys, self.reach_m())?;
        // What was seen keeps its colour and its age.
        for voxel in &mut blocked.voxels {
            if let Ok(at) = self.voxels.binary_search_by_key(&voxel.key, |known| known.key) {
                *voxel = self.voxels[at];
            }
        }
        blocked.tracks.clone_from(&self.tracks);
        (blocked.epoch_ns, blocked.stamp_ns) = (self.epoch_ns, self.stamp_ns);
        blocked.sequence = self.sequence;
        Ok(blocked)
    }
}
