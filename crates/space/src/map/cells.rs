//! What happened to the cells over time: hits, looks through them, age.

use crate::frame::Voxel;
use crate::grid::Grid;
use crate::map::bits::{Bits, ones};
use crate::map::carve::CellBox;
use crate::map::settings::MapSettings;
use crate::map::snapshot::{MapVoxel, Sight, stamp_of};

/// So many looks in a row that see a surface beside a cell, and no point in it, are no chance.
const TOUCHES_TO_FORGET: u8 = 10;

/// All cells of the map.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    grid: Grid,
    min_hits: u8,
    clear_frames: u8,
    left_out: Option<[[usize; 3]; 2]>,
    pub(crate) occupied: Bits,
    /// When they were last seen to be what they are; 0 is never.
    pub(crate) seen: Vec<Sight>,
    hits: Vec<u8>,
    /// Looks through them that it takes to free those with hits.
    looks_left: Vec<u8>,
    /// Looks since the last hit that saw a surface beside them and no point in them.
    touches: Vec<u8>,
    /// Whether a look went through in the present frame, for those in question.
    looked: Bits,
    rgb: Vec<[u8; 3]>,
    /// Cells with points in the present frame.
    pub(crate) hit_now: Bits,
}

impl Cells {
    pub(crate) fn new(grid: &Grid, settings: &MapSettings) -> Self {
        let (bits, cells) = (Bits::new(grid), grid.cells());
        Self {
            grid: *grid,
            min_hits: settings.min_hits,
            clear_frames: settings.clear_frames,
            left_out: settings.left_out_cells(grid),
            occupied: bits.clone(),
            seen: vec![0; cells],
            hits: vec![0; cells],
            looks_left: vec![0; cells],
            touches: vec![0; cells],
            looked: bits.clone(),
            rgb: vec![[0; 3]; cells],
            hit_now: bits,
        }
    }

    /// Points were in these voxels; says how many became occupied.
    pub(crate) fn hit(&mut self, voxels: &[Voxel], sight: Sight) -> usize {
        let mut appeared = 0;
        self.hit_now.clear();
        for voxel in voxels {
            let cell = self.grid.cell_of(voxel.key);
            self.hit_now.set(cell);
            let left_out = |[first, last]: [[usize; 3]; 2]| {
                (0..3).all(|a| (first[a]..=last[a]).contains(&cell[a]))
            };
            if self.left_out.is_some_and(left_out) {
                continue;
            }
            let key = voxel.key as usize;
            self.hits[key] = self.hits[key].saturating_add(1);
            self.looks_left[key] = self.clear_frames;
            self.touches[key] = 0;
            if self.hits[key] >= self.min_hits {
                appeared += usize::from(!self.occupied.get(cell));
                self.occupied.set(cell);
                self.seen[key] = sight;
                self.rgb[key] = voxel.rgb;
            }
        }
        appeared
    }

    /// A camera looked through these cells; says how many were occupied and are free now.
    pub(crate) fn look_through(&mut self, cells: CellBox, sight: Sight) -> usize {
        let mut cleared = 0;
        let CellBox { first, size } = cells;
        for z in first[2]..first[2] + size[2] {
            for y in first[1]..first[1] + size[1] {
                let start = self.grid.key([first[0], y, z]) as usize;
                let row = start..start + size[0];
                if self.hits[row.clone()].iter().all(|hits| *hits == 0) {
                    self.seen[row].fill(sight);
                    continue;
                }
                for x in first[0]..first[0] + size[0] {
                    cleared += usize::from(self.look_through_one([x, y, z], sight));
                }
            }
        }
        cleared
    }

    /// The same for one cell: whether it was occupied and is free now.
    pub(crate) fn look_through_one(&mut self, cell: [usize; 3], sight: Sight) -> bool {
        if self.hit_now.get(cell) {
            return false;
        }
        let key = self.grid.key(cell) as usize;
        self.looked.set(cell);
        self.looks_left[key] = self.looks_left[key].saturating_sub(1);
        let was_occupied = self.occupied.get(cell);
        if self.looks_left[key] == 0 {
            self.hits[key] = 0;
            self.occupied.unset(cell);
        }
        if !(was_occupied && self.looks_left[key] > 0) {
            self.seen[key] = sight;
        }
        was_occupied && self.looks_left[key] == 0
    }

    /// Occupied cells without points in the present frame.
    pub(crate) fn list_unseen(&mut self, keys: &mut Vec<u32>) {
        self.looked.clear();
        keys.clear();
        let words = self.occupied.words().iter().zip(self.hit_now.words());
        let row_words = self.occupied.row_words();
        let nx = self.occupied.size()[0];
        for (at, (occupied, hit)) in words.enumerate() {
            let (row, x) = (at / row_words, at % row_words * 64);
            let first = (row * nx + x) as u32;
            keys.extend(ones(occupied & !hit).map(|bit| first + bit as u32));
        }
    }

    /// Whether the present frame looked through a cell.
    pub(crate) fn is_looked_through(&self, key: u32) -> bool {
        self.looked.get(self.grid.cell_of(key))
    }

    /// A surface is seen beside a cell and nothing in it; whether it was forgotten for that. Noise
    /// puts points behind a surface, where nobody ever looks through.
    pub(crate) fn touch(&mut self, cell: [usize; 3]) -> bool {
        let key = self.grid.key(cell) as usize;
        self.touches[key] = self.touches[key].saturating_add(1);
        if self.touches[key] < TOUCHES_TO_FORGET {
            return false;
        }
        self.occupied.unset(cell);
        (self.hits[key], self.looks_left[key], self.seen[key], self.touches[key]) = (0, 0, 0, 0);
        true
    }

    /// Forgets what was confirmed last before `oldest`; says how many voxels.
    pub(crate) fn forget_before(&mut self, oldest: Sight, keys: &mut Vec<u32>) -> usize {
        keys.clear();
        let all = self.occupied.cells().map(|cell| self.grid.key(cell));
        keys.extend(all.filter(|key| self.seen[*key as usize] < oldest));
        for key in keys.iter() {
            self.occupied.unset(self.grid.cell_of(*key));
            self.hits[*key as usize] = 0;
            self.looks_left[*key as usize] = 0;
            self.seen[*key as usize] = 0;
        }
        keys.len()
    }

    /// The occupied cells.
    pub(crate) fn voxels(&self, epoch_ns: u64) -> impl Iterator<Item = MapVoxel> {
        self.occupied.cells().map(move |cell| {
            let key = self.grid.key(cell);
            let at = key as usize;
            MapVoxel {
                key,
                hits: self.hits[at],
                rgb: self.rgb[at],
                stamp_ns: stamp_of(epoch_ns, self.seen[at]),
            }
        })
    }
}
