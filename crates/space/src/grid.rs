//! Where voxels are: a box of the world cut into cubes.

use crate::error::SpaceError;

/// More cells than this would not fit into sensible memory.
const MAX_CELLS: usize = 1 << 27;

/// A box of the world, cut into cubes. Cell (0, 0, 0) begins at `lower_m`; a point belongs to
/// the cell `floor((point - lower) / voxel)`, computed in f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    lower_m: [f64; 3],
    upper_m: [f64; 3],
    voxel_m: f64,
    size: [usize; 3],
}

impl Grid {
    /// Cuts the box from `lower_m` to `upper_m` into cubes with edges of `voxel_m`. The last
    /// cubes may reach beyond the box.
    ///
    /// # Errors
    /// When the box is empty or not finite, the voxels are not above 0, or there are too many.
    pub fn new(lower_m: [f64; 3], upper_m: [f64; 3], voxel_m: f64) -> Result<Self, SpaceError> {
        if !(voxel_m.is_finite() && voxel_m > 0.0) {
            let reason = format!("{voxel_m} is not a length above 0, such as 0.05");
            return Err(SpaceError::setting("voxel_size_m", reason));
        }
        let mut size = [0; 3];
        let mut cells = 1_usize;
        for axis in 0..3 {
            let (low, high) = (lower_m[axis], upper_m[axis]);
            if !(low.is_finite() && high.is_finite() && low < high) {
                let reason = format!("lower {low} must be below upper {high} on axis {axis}");
                return Err(SpaceError::setting("workspace", reason));
            }
            // The last cell that a point below `upper` can fall into.
            let count = ((high - low) / voxel_m).ceil();
            if count >= MAX_CELLS as f64 {
                return Err(too_fine(voxel_m));
            }
            size[axis] = count.max(1.0) as usize;
            cells = cells.saturating_mul(size[axis]);
        }
        if cells > MAX_CELLS {
            return Err(too_fine(voxel_m));
        }
        Ok(Self { lower_m, upper_m, voxel_m, size })
    }

    /// Lower corner of the box.
    #[must_use]
    pub fn lower_m(&self) -> [f64; 3] {
        self.lower_m
    }

    /// Upper corner of the box; points on it are outside.
    #[must_use]
    pub fn upper_m(&self) -> [f64; 3] {
        self.upper_m
    }

    /// Edge of a voxel.
    #[must_use]
    pub fn voxel_m(&self) -> f64 {
        self.voxel_m
    }

    /// Cells along x, y, z.
    #[must_use]
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Number of cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.size[0] * self.size[1] * self.size[2]
    }

    /// Whether a point is inside the box: `lower <= point < upper`. NaN is outside.
    #[must_use]
    pub fn contains(&self, point_m: [f64; 3]) -> bool {
        (0..3).all(|a| self.lower_m[a] <= point_m[a] && point_m[a] < self.upper_m[a])
    }

    /// The cell of a point inside the box; `None` outside.
    #[must_use]
    pub fn cell(&self, point_m: [f64; 3]) -> Option<[usize; 3]> {
        if !self.contains(point_m) {
            return None;
        }
        let mut cell = [0; 3];
        for axis in 0..3 {
            let at = ((point_m[axis] - self.lower_m[axis]) / self.voxel_m).floor() as usize;
            cell[axis] = at.min(self.size[axis] - 1);
        }
        Some(cell)
    }

    /// Number of a cell: x fastest, then y, then z.
    #[must_use]
    pub fn key(&self, cell: [usize; 3]) -> u32 {
        ((cell[2] * self.size[1] + cell[1]) * self.size[0] + cell[0]) as u32
    }

    /// The cell of a number.
    #[must_use]
    pub fn cell_of(&self, key: u32) -> [usize; 3] {
        let key = key as usize;
        let row = key / self.size[0];
        [key % self.size[0], row % self.size[1], row / self.size[1]]
    }

    /// Centre of a cell in the world.
    #[must_use]
    pub fn centre_m(&self, cell: [usize; 3]) -> [f64; 3] {
        std::array::from_fn(|a| self.lower_m[a] + (cell[a] as f64 + 0.5) * self.voxel_m)
    }
}

fn too_fine(voxel_m: f64) -> SpaceError {
    let reason = format!("{voxel_m} cuts the workspace into more than {MAX_CELLS} cells");
    SpaceError::setting("voxel_size_m", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_cells_are_inverse_and_centres_are_centres() {
        let grid = Grid::new([-0.5, -1.0, -0.1], [1.2, 1.25, 1.5], 0.05).unwrap();
        assert_eq!(grid.size(), [34, 45, 32]);
        for key in 0..grid.cells() as u32 {
            let cell = grid.cell_of(key);
            assert_eq!(grid.key(cell), key);
            assert_eq!(grid.cell(grid.centre_m(cell)), Some(cell));
        }
    }

    #[test]
    fn bad_boxes_are_refused() {
        assert!(Grid::new([0.0; 3], [0.0, 1.0, 1.0], 0.1).is_err());
        assert!(Grid::new([0.0; 3], [f64::NAN, 1.0, 1.0], 0.1).is_err());
        assert!(Grid::new([0.0; 3], [1.0; 3], 0.0).is_err());
        assert!(Grid::new([0.0; 3], [1.0; 3], 1e-9).is_err());
        assert!(Grid::new([0.0; 3], [1e300; 3], 1.0).is_err());
    }
}
