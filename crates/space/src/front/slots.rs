//! Sums per occupied cell.

use super::keyset::KeySet;
use crate::frame::Fate;

/// What is known of an occupied cell.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Slot {
    /// Sums of red, green and blue, and of points that their neighbours confirm.
    pub(crate) sums: [u32; 4],
    /// Points.
    pub(crate) points: u32,
    /// Number of its cell.
    pub(crate) key: u32,
    /// Parts of the robot that points of this cell may belong to; see `own.rs`.
    pub(crate) near: u32,
    /// What became of the voxel and so of its points.
    pub(crate) fate: Fate,
}

/// Occupied cells, found by key in one step and forgotten in as many steps as there are.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// Per cell: number of its slot + 1, or 0.
    cells: Vec<u32>,
    list: Vec<Slot>,
    keys: KeySet,
}

impl Slots {
    /// None of `cells` cells is occupied.
    pub(crate) fn new(cells: usize) -> Self {
        Self { cells: vec![0; cells], list: Vec::new(), keys: KeySet::new(cells) }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.keys.drain(|key| self.cells[key as usize] = 0);
        self.list.clear();
    }

    /// The slot of a cell; a new one is asked for what is near.
    #[inline]
    pub(crate) fn at(&mut self, key: u32, near: impl FnOnce() -> u32) -> &mut Slot {
        let cell = &mut self.cells[key as usize];
        if *cell == 0 {
            self.list.push(Slot { sums: [0; 4], points: 0, key, near: near(), fate: Fate::Kept });
            *cell = self.list.len() as u32;
            self.keys.insert(key);
        }
        &mut self.list[*cell as usize - 1]
    }

    /// Notes what became of a voxel.
    pub(crate) fn set_fate(&mut self, key: u32, fate: Fate) {
        let cell = self.cells.get(key as usize).copied().unwrap_or(0);
        if let Some(slot) = self.list.get_mut((cell as usize).wrapping_sub(1)) {
            slot.fate = fate;
        }
    }

    /// The slot of a cell, if it is occupied.
    pub(crate) fn get(&self, key: u32) -> Option<&Slot> {
        let cell = *self.cells.get(key as usize)?;
        self.list.get((cell as usize).wrapping_sub(1))
    }

    /// Adds the sums of other slots over the same cells.
    pub(crate) fn merge(&mut self, other: &Self) {
        for slot in &other.list {
            let mine = self.at(slot.key, || slot.near);
            mine.points += slot.points;
            for (sum, more) in mine.sums.iter_mut().zip(slot.sums) {
                *sum += more;
            }
        }
    }

    /// Calls `visit` with each slot in the order of keys.
    pub(crate) fn for_each_in_order(&mut self, mut visit: impl FnMut(&mut Slot)) {
        let (cells, list) = (&self.cells, &mut self.list);
        self.keys.for_each(|key| visit(&mut list[cells[key as usize] as usize - 1]));
    }
}

/// Sums of a run of at most 257 points: red, green, blue and confirmed, 16 bits each.
pub(crate) type RunSums = u64;

impl Slot {
    /// Adds a run of points.
    #[inline]
    pub(crate) fn add(&mut self, points: u32, sums: RunSums) {
        self.points += points;
        for (i, sum) in self.sums.iter_mut().enumerate() {
            *sum += (sums >> (16 * i)) as u32 & 0xffff;
        }
    }

    /// Points that their neighbours in the picture confirm.
    pub(crate) fn confirmed(&self) -> u32 {
        self.sums[3]
    }

    /// Mean colour, rounded.
    pub(crate) fn rgb(&self) -> [u8; 3] {
        let points = self.points.max(1);
        std::array::from_fn(|i| ((self.sums[i] + points / 2) / points) as u8)
    }
}
