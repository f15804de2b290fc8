//! The gap field: how far every cell is at least from everything that is occupied.
//!
//! The gap of two cells is the distance of their cubes, in cells: the square root of the sum
//! over the axes of `max(|difference| - 1, 0)^2`. The smallest gap to an occupied cell is the
//! ordinary distance to the occupied cells *dilated by one cell*: so rows are dilated as bits,
//! then transformed along x, y and z in turn. Each pass keeps its result; after a change only
//! what differs from before is passed on to the next.

use crate::grid::Grid;
use crate::map::bits::Bits;
use crate::map::passes::{Block, LANES, MinPlus, squares_along_row};
use citrange_lanes::Isa;

/// More cells of reach would not fit into 16 bits when squared.
pub(crate) const MAX_REACH_CELLS: usize = 255;

/// First and last dirty place of a line; none where first is above last.
#[derive(Clone, Copy, Debug)]
struct Dirty {
    first: u32,
    last: u32,
}

impl Dirty {
    const NONE: Self = Self { first: u32::MAX, last: 0 };

    fn add(&mut self, at: usize) {
        self.first = self.first.min(at as u32);
        self.last = self.last.max(at as u32);
    }

    /// What must be computed again in a line of `length`, and that is clean now.
    fn take(&mut self, reach: usize, length: usize) -> Option<(usize, usize)> {
        let Self { first, last } = std::mem::replace(self, Self::NONE);
        (first <= last).then(|| {
            ((first as usize).saturating_sub(reach), (last as usize + reach).min(length - 1))
        })
    }
}

/// Squared gaps of all cells, and what is needed to keep them up to date.
#[derive(Clone, Debug)]
pub(crate) struct GapField {
    size: [usize; 3],
    reach: usize,
    /// Blocks of a row.
    blocks: usize,
    occupied: Bits,
    dilated: Bits,
    /// Squared distance to the dilated cells of the same row, `(z, y, block)`.
    along_x: Vec<Block>,
    /// The same, of the same plane of x and y.
    along_xy: Vec<Block>,
    gap2: Vec<u16>,
    /// Rows whose dilation may have changed.
    dirty_rows: Vec<bool>,
    /// Rows that changed in `along_x`, per `(z, block)`.
    dirty_y: Vec<Dirty>,
    /// Planes that changed in `along_xy`, per `(y, block)`.
    dirty_z: Vec<Dirty>,
    row: Vec<u16>,
    row_bits: Vec<u64>,
    min_plus: MinPlus,
}

impl GapField {
    /// The field of an empty grid: everything is `reach` cells away or more.
    pub(crate) fn new(grid: &Grid, reach: usize, isa: Isa) -> Self {
        let reach = reach.clamp(1, MAX_REACH_CELLS);
        let size = grid.size();
        let far = (reach * reach) as u16;
        let blocks = size[0].div_ceil(LANES);
        let (rows, bits) = (size[1] * size[2], Bits::new(grid));
        Self {
            size,
            reach,
            blocks,
            dilated: bits.clone(),
            row_bits: vec![0; bits.row_words()],
            occupied: bits,
            along_x: vec![Block([far; LANES]); rows * blocks],
            along_xy: vec![Block([far; LANES]); rows * blocks],
            gap2: vec![far; grid.cells()],
            dirty_rows: vec![false; rows],
            dirty_y: vec![Dirty::NONE; size[2] * blocks],
            dirty_z: vec![Dirty::NONE; size[1] * blocks],
            row: vec![far; blocks * LANES],
            min_plus: MinPlus::new(size[1].max(size[2]), reach, isa),
        }
    }

    /// Squared gap of every cell, by its key; `reach` squared where it is that or more.
    pub(crate) fn gap2(&self) -> &[u16] {
        &self.gap2
    }

    /// Brings the field up to date with what is occupied now.
    pub(crate) fn update(&mut self, occupied: &Bits) {
        self.find_dirty_rows(occupied);
        self.pass_x();
        self.pass_y();
        self.pass_z();
    }

    /// Rows next to one that differs from the last update.
    fn find_dirty_rows(&mut self, occupied: &Bits) {
        let [_, ny, nz] = self.size;
        for z in 0..nz {
            for y in 0..ny {
                if self.occupied.row(y, z) == occupied.row(y, z) {
                    continue;
                }
                for near_z in z.saturating_sub(1)..=(z + 1).min(nz - 1) {
                    for near_y in y.saturating_sub(1)..=(y + 1).min(ny - 1) {
                        self.dirty_rows[near_z * ny + near_y] = true;
                    }
                }
            }
        }
        self.occupied.copy_from(occupied);
    }

    fn pass_x(&mut self) {
        let [nx, ny, nz] = self.size;
        for z in 0..nz {
            for y in 0..ny {
                let index = z * ny + y;
                if !std::mem::take(&mut self.dirty_rows[index]) {
                    continue;
                }
                self.dilate_row(y, z);
                if self.row_bits == self.dilated.row(y, z) {
                    continue;
                }
                self.dilated.row_mut(y, z).copy_from_slice(&self.row_bits);
                squares_along_row(&self.row_bits, self.reach, &mut self.row[..nx]);
                let old = &mut self.along_x[index * self.blocks..][..self.blocks];
                let new = self.row.chunks_exact(LANES);
                for (block, (old, new)) in old.iter_mut().zip(new).enumerate() {
                    if old.0 != *new {
                        old.0.copy_from_slice(new);
                        self.dirty_y[z * self.blocks + block].add(y);
                    }
                }
            }
        }
    }

    /// Row `(y, z)` of the occupied cells, dilated by one cell along all axes.
    fn dilate_row(&mut self, y: usize, z: usize) {
        let [nx, ny, nz] = self.size;
        self.row_bits.fill(0);
        for near_z in z.saturating_sub(1)..=(z + 1).min(nz - 1) {
            for near_y in y.saturating_sub(1)..=(y + 1).min(ny - 1) {
                for (sum, word) in self.row_bits.iter_mut().zip(self.occupied.row(near_y, near_z)) {
                    *sum |= word;
                }
            }
        }
        let mut below = 0;
        for at in 0..self.row_bits.len() {
            let word = self.row_bits[at];
            let above = self.row_bits.get(at + 1).copied().unwrap_or(0);
            self.row_bits[at] = word | word << 1 | word >> 1 | below >> 63 | above << 63;
            below = word;
        }
        if let Some(last) = self.row_bits.last_mut().filter(|_| !nx.is_multiple_of(64)) {
            *last &= (1 << (nx % 64)) - 1;
        }
    }

    fn pass_y(&mut self) {
        let [_, ny, nz] = self.size;
        for z in 0..nz {
            for block in 0..self.blocks {
                let dirty = &mut self.dirty_y[z * self.blocks + block];
                let Some((first, last)) = dirty.take(self.reach, ny) else { continue };
                let at = |y: usize| (z * ny + y) * self.blocks + block;
                self.min_plus.load(first, last, ny, |y| self.along_x[at(y)]);
                for (y, new) in self.min_plus.run(first, last, ny) {
                    let old = &mut self.along_xy[at(y)];
                    if *old != *new {
                        *old = *new;
                        self.dirty_z[y * self.blocks + block].add(z);
                    }
                }
            }
        }
    }

    fn pass_z(&mut self) {
        let [nx, ny, nz] = self.size;
        for y in 0..ny {
            for block in 0..self.blocks {
                let dirty = &mut self.dirty_z[y * self.blocks + block];
                let Some((first, last)) = dirty.take(self.reach, nz) else { continue };
                let at = |z: usize| (z * ny + y) * self.blocks + block;
                self.min_plus.load(first, last, nz, |z| self.along_xy[at(z)]);
                let start = block * LANES;
                for (z, new) in self.min_plus.run(first, last, nz) {
                    let row = &mut self.gap2[(z * ny + y) * nx..][..nx];
                    // The length is known for all but the last block: a plain store.
                    if let Some(full) = row[start..].first_chunk_mut::<LANES>() {
                        *full = new.0;
                    } else {
                        row[start..].copy_from_slice(&new.0[..nx - start]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(size: [usize; 3]) -> Grid {
        Grid::new([0.0; 3], size.map(|n| n as f64 * 0.05), 0.05).unwrap()
    }

    /// The definition, cell by cell.
    fn brute_force(bits: &Bits, reach: usize) -> Vec<u16> {
        let [nx, ny, nz] = bits.size();
        let occupied: Vec<_> = bits.cells().collect();
        let mut gaps = Vec::new();
        for cell in (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
        {
            let gap = |o: &[usize; 3]| {
                (0..3).map(|a| cell[a].abs_diff(o[a]).saturating_sub(1).pow(2)).sum::<usize>()
            };
            let nearest = occupied.iter().map(gap).min().unwrap_or(usize::MAX);
            gaps.push(nearest.min(reach * reach) as u16);
        }
        gaps
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Whatever is set and cleared in whatever order, on every instruction set.
        #[test]
        fn an_updated_field_is_the_definition(
            size in [1_usize..70, 1_usize..20, 1_usize..20],
            reach in 1_usize..14,
            rounds in prop::collection::vec(
                prop::collection::vec((any::<u32>(), any::<bool>()), 1..12), 1..5),
        ) {
            let grid = grid(size);
            for isa in Isa::available() {
                let mut field = GapField::new(&grid, reach, isa);
                let mut bits = Bits::new(&grid);
                for round in &rounds {
                    for (pick, set) in round {
                        let cell = grid.cell_of(pick % grid.cells() as u32);
                        if *set { bits.set(cell) } else { bits.unset(cell) }
                    }
                    field.update(&bits);
                    prop_assert_eq!(field.gap2(), &brute_force(&bits, reach)[..], "{:?}", isa);
                }
            }
        }
    }

    #[test]
    fn clearing_everything_leads_back_to_the_empty_field() {
        let grid = grid([130, 9, 7]);
        let mut field = GapField::new(&grid, 255, Isa::best());
        let empty = field.gap2().to_vec();
        let mut bits = Bits::new(&grid);
        bits.set([129, 8, 6]);
        bits.set([0, 0, 0]);
        field.update(&bits);
        assert_eq!(field.gap2(), &brute_force(&bits, 255)[..]);
        bits.clear();
        field.update(&bits);
        assert_eq!(field.gap2(), &empty[..]);
    }
}
