//! What the map knew at one moment: readers keep it while the map goes on.

use crate::error::SpaceError;
use crate::grid::Grid;
use crate::map::bits::{Bits, Filled};
use crate::map::field::{GapField, MAX_REACH_CELLS};
use crate::map::tracks::Track;
use citrange_lanes::Isa;

/// How far questions reach where nobody says otherwise.
pub(crate) const DEFAULT_REACH_M: f64 = 0.5;

/// What is known of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellState {
    /// No camera has seen it, or what was there has been forgotten.
    Unknown,
    /// A camera has seen through it.
    Free,
    /// Something is in it.
    Occupied,
}

/// An occupied cube of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapVoxel {
    /// Number of its cell.
    pub key: u32,
    /// Frames that had points in it, since it was free last; stops at 255.
    pub hits: u8,
    /// Mean colour in the newest of these frames.
    pub rgb: [u8; 3],
    /// Stamp of the newest of these frames, to the millisecond.
    pub stamp_ns: u64,
}

/// Occupied cubes and how far everything is from them, at one moment.
///
/// Questions to it are in `query/`. All are exact with respect to the cubes, and points outside
/// of the grid are as good as points inside.
#[derive(Clone, Debug)]
pub struct MapSnapshot {
    pub(crate) grid: Grid,
    pub(crate) reach_cells: usize,
    pub(crate) isa: Isa,
    pub(crate) occupied: Bits,
    pub(crate) filled: Filled,
    /// One value more than there are cells: kernels read two at once.
    pub(crate) gap2: Vec<u16>,
    pub(crate) voxels: Vec<MapVoxel>,
    pub(crate) tracks: Vec<Track>,
    pub(crate) seen: Vec<Sight>,
    pub(crate) epoch_ns: u64,
    pub(crate) stamp_ns: u64,
    pub(crate) sequence: u64,
}

/// When a cell was seen last: milliseconds since the map's first frame plus one; 0 is never.
pub(crate) type Sight = u32;

impl MapSnapshot {
    /// Nothing is known yet.
    pub(crate) fn empty(grid: &Grid, reach_cells: usize) -> Self {
        let far = (reach_cells * reach_cells) as u16;
        Self {
            grid: *grid,
            reach_cells,
            isa: Isa::best(),
            occupied: Bits::new(grid),
            filled: Filled::new(grid),
            gap2: vec![far; grid.cells() + 1],
            voxels: Vec::new(),
            tracks: Vec::new(),
            seen: vec![0; grid.cells()],
            epoch_ns: 0,
            stamp_ns: 0,
            sequence: 0,
        }
    }

    /// A map that is not from a camera: these cells are occupied, all others free.
    ///
    /// # Errors
    /// When a key is not one of the grid's.
    pub fn from_voxels(grid: &Grid, keys: &[u32]) -> Result<Self, SpaceError> {
        Self::from_voxels_within(grid, keys, DEFAULT_REACH_M)
    }

    /// The same, with questions that reach `reach_m` (at most 255 cells).
    ///
    /// # Errors
    /// When a key is not one of the grid's, or the reach is not a length above 0.
    pub fn from_voxels_within(grid: &Grid, keys: &[u32], reach_m: f64) -> Result<Self, SpaceError> {
        if !(reach_m.is_finite() && reach_m > 0.0) {
            let reason = format!("{reach_m} is not a length above 0, such as 0.5");
            return Err(SpaceError::setting("reach_m", reason));
        }
        let reach_cells = reach_cells(grid, reach_m).min(MAX_REACH_CELLS);
        let mut snapshot = Self::empty(grid, reach_cells);
        snapshot.seen.fill(1);
        for key in keys {
            if *key as usize >= grid.cells() {
                let reason = format!("key {key}: the grid has cells 0 to {}", grid.cells() - 1);
                return Err(SpaceError::bad("voxels", reason));
            }
            snapshot.occupied.set(grid.cell_of(*key));
        }
        let voxel = |cell| MapVoxel { key: grid.key(cell), hits: 1, rgb: [0; 3], stamp_ns: 0 };
        snapshot.voxels = snapshot.occupied.cells().map(voxel).collect();
        snapshot.filled.update(&snapshot.occupied);
        let mut field = GapField::new(grid, reach_cells, snapshot.isa);
        field.update(&snapshot.occupied);
        snapshot.gap2[..grid.cells()].copy_from_slice(field.gap2());
        Ok(snapshot)
    }

    /// Where the cells are.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Beyond this distance questions are answered with "at least".
    #[must_use]
    pub fn reach_m(&self) -> f64 {
        self.reach_cells as f64 * self.grid.voxel_m()
    }

    /// Stamp of the newest frame in it.
    #[must_use]
    pub fn stamp_ns(&self) -> u64 {
        self.stamp_ns
    }

    /// How many frames the map had taken in.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The occupied cubes, in the order of their keys.
    #[must_use]
    pub fn voxels(&self) -> &[MapVoxel] {
        &self.voxels
    }

    /// Things that the map follows from frame to frame.
    #[must_use]
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// What is known of a cell of the grid; `Unknown` for a key that is none of its.
    #[must_use]
    pub fn state(&self, key: u32) -> CellState {
        match self.seen.get(key as usize) {
            None | Some(0) => CellState::Unknown,
            Some(_) if self.occupied.get(self.grid.cell_of(key)) => CellState::Occupied,
            Some(_) => CellState::Free,
        }
    }

    /// When a cell was last seen to be what [`MapSnapshot::state`] says, to the millisecond; `None`
    /// for unknown cells.
    #[must_use]
    pub fn seen_ns(&self, key: u32) -> Option<u64> {
        let sight = self.seen.get(key as usize).copied().filter(|s| *s > 0)?;
        Some(stamp_of(self.epoch_ns, sight))
    }

    /// Squared gap of every cell by its key, in cells: the distance of its cube to the nearest
    /// occupied cube. `reach` squared, in cells, where it is that or more. No point of the cell,
    /// and no point outside of the grid whose nearest cell it is, is nearer to anything.
    #[must_use]
    pub fn gap2(&self) -> &[u16] {
        &self.gap2[..self.grid.cells()]
    }

    /// Occupied cells as bits: cell `(x, y, z)` is bit `x % 64` of word
    /// `(z * size_y + y) * row_words + x / 64`.
    #[must_use]
    pub fn occupied_words(&self) -> &[u64] {
        self.occupied.words()
    }

    /// Words of one row of [`MapSnapshot::occupied_words`].
    #[must_use]
    pub fn row_words(&self) -> usize {
        self.occupied.row_words()
    }

    /// Lower corner and one over the voxel's edge, for kernels that look up gaps themselves:
    /// cell = `floor((point - lower) * inverse)`, clamped into the grid. Rounding can pick the
    /// neighbour of a cell whose edge the point is on; take a little off the gap for it.
    #[must_use]
    pub fn lookup_f32(&self) -> ([f32; 3], f32) {
        (self.grid.lower_m().map(|v| v as f32), (1.0 / self.grid.voxel_m()) as f32)
    }
}

/// Cells that a reach is, rounded up.
pub(crate) fn reach_cells(grid: &Grid, reach_m: f64) -> usize {
    ((reach_m / grid.voxel_m()) - 1e-9).ceil().max(1.0) as usize
}

/// The stamp that a sight stands for.
pub(crate) fn stamp_of(epoch_ns: u64, sight: Sight) -> u64 {
    epoch_ns.saturating_add(u64::from(sight.saturating_sub(1)) * 1_000_000)
}

/// The sight of a frame; stamps before the map's first count as its first.
pub(crate) fn sight_of(epoch_ns: u64, stamp_ns: u64) -> Sight {
    let millis = stamp_ns.saturating_sub(epoch_ns) / 1_000_000;
    Sight::try_from(millis).unwrap_or(Sight::MAX - 1).saturating_add(1)
}
