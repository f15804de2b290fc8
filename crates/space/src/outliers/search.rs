//! The nearest points of one point, tile by tile.

use super::field::{Field, TILE_COLUMNS, TILE_ROWS};
use super::kernels;
use super::lens::Lens;
use crate::simd::Isa;

/// More candidates than this are cut down to the nearest.
const ENOUGH: usize = 256;
/// Room for those, one more tile, and one vector that is written beyond the end.
const ROOM: usize = ENOUGH + TILE_COLUMNS * TILE_ROWS + TILE_COLUMNS;

/// Columns and rows to each side that are looked at first where nothing is known.
const FIRST_HALF_WINDOW: usize = 8;

/// Tiles to look at: a rectangle of them, and the rows of the field that matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) across: std::ops::Range<usize>,
    pub(super) down: std::ops::Range<usize>,
    pub(super) rows: std::ops::Range<usize>,
}

impl Region {
    /// Everything.
    pub(super) fn all(field: &Field) -> Self {
        Self { across: 0..field.tiles_across(), down: 0..field.tiles_down(), rows: 0..field.rows }
    }

    /// The tiles that hold these columns and rows, cut to the field.
    pub(super) fn of(
        field: &Field,
        columns: std::ops::Range<usize>,
        rows: std::ops::Range<usize>,
    ) -> Self {
        let (right, bottom) = (columns.end.min(field.columns), rows.end.min(field.rows));
        Self {
            across: columns.start / TILE_COLUMNS..right.div_ceil(TILE_COLUMNS),
            down: rows.start / TILE_ROWS..bottom.div_ceil(TILE_ROWS),
            rows: rows.start..bottom,
        }
    }

    /// Numbers of its tiles.
    pub(super) fn tiles(&self, field: &Field) -> impl Iterator<Item = usize> + use<> {
        let (tiles_across, across) = (field.tiles_across(), self.across.clone());
        self.down.clone().flat_map(move |down| across.clone().map(move |a| down * tiles_across + a))
    }
}

/// A search for the `k` nearest points.
#[derive(Debug)]
pub(super) struct Search {
    isa: Isa,
    k: usize,
    /// Squared distances of candidates; the first `len` count.
    found: Vec<f32>,
    len: usize,
    /// No point beyond this squared distance is among the nearest.
    bound2: f32,
    /// Tiles that may hold one of the nearest.
    tiles: Vec<u32>,
    /// Tiles near to a tile.
    near_tiles: Vec<u32>,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            isa: Isa::Portable,
            k: 0,
            found: vec![0.0; ROOM],
            len: 0,
            bound2: f32::INFINITY,
            tiles: Vec::new(),
            near_tiles: Vec::new(),
        }
    }
}

impl Search {
    /// Prepares for searches in a field.
    pub(super) fn set_up(&mut self, field: &Field, k: usize, isa: Isa) {
        (self.isa, self.k) = (isa, k);
        for list in [&mut self.tiles, &mut self.near_tiles] {
            list.clear();
            list.reserve(field.low[0].len() + TILE_COLUMNS);
        }
    }

    /// Neighbours to find, the point itself included.
    pub(super) fn k(&self) -> usize {
        self.k
    }

    /// Instructions to use.
    pub(super) fn isa(&self) -> Isa {
        self.isa
    }

    /// Starts over. At least `k` points are known to be within `bound2`, or it is infinite.
    pub(super) fn start(&mut self, bound2: f32) {
        self.len = 0;
        self.bound2 = bound2;
    }

    /// No point beyond this squared distance is among the nearest.
    pub(super) fn bound2(&self) -> f32 {
        self.bound2
    }

    /// Lends the list of tiles near to a tile.
    pub(super) fn take_near_tiles(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.near_tiles)
    }

    /// Takes that list back.
    pub(super) fn give_near_tiles(&mut self, list: Vec<u32>) {
        self.near_tiles = list;
    }

    /// Looks at the points of a region.
    pub(super) fn offer_region(&mut self, field: &Field, region: &Region, p: [f32; 3]) {
        let mut tiles = std::mem::take(&mut self.tiles);
        for down in region.down.clone() {
            let first = down * field.tiles_across();
            let run = first + region.across.start..first + region.across.end;
            tiles.clear();
            kernels::tiles_within(self.isa, field, run, p, self.bound2, &mut tiles);
            for &tile in &tiles {
                self.offer_tile(field, tile as usize, &region.rows, p);
            }
        }
        self.tiles = tiles;
    }

    /// Looks at the points of a tile that are in these rows.
    pub(super) fn offer_tile(
        &mut self,
        field: &Field,
        tile: usize,
        rows: &std::ops::Range<usize>,
        p: [f32; 3],
    ) {
        let (column, row) = field.corner(tile);
        let rows = rows.start.max(row)..rows.end.min(row + TILE_ROWS);
        let from = kernels::Candidates { field, column, rows };
        self.len = kernels::gather(self.isa, &from, p, self.bound2, &mut self.found, self.len);
        if self.len > ENOUGH {
            self.cut();
        }
    }

    /// Keeps the `k` nearest only, in order.
    fn cut(&mut self) {
        kernels::sort_smallest(self.isa, &mut self.found, self.len, self.k);
        if self.len >= self.k {
            self.len = self.k;
            self.bound2 = self.found[self.k - 1];
        }
    }

    /// Squared distances of the `k` nearest (fewer if there are fewer points), in order.
    pub(super) fn finish(&mut self) -> &[f32] {
        self.cut();
        &self.found[..self.len]
    }
}

/// Squared distances of the nearest points of the point at a column and row, in order. At least
/// `k` points are known to be within `bound2`, or it is infinite.
pub(super) fn nearest<'s>(
    field: &Field,
    lens: Option<&Lens>,
    search: &'s mut Search,
    (column, row): (usize, usize),
    mut bound2: f32,
) -> &'s [f32] {
    let p = field.point(column, row);
    let mut half = FIRST_HALF_WINDOW;
    let longest = field.columns.max(field.rows);
    while bound2 == f32::INFINITY && half < longest {
        let columns = column.saturating_sub(half)..column + half + 1;
        let rows = row.saturating_sub(half)..row + half + 1;
        search.start(f32::INFINITY);
        search.offer_region(field, &Region::of(field, columns, rows), p);
        search.cut();
        bound2 = search.bound2;
        half *= 2;
    }
    search.start(bound2);
    let region = lens.map_or_else(|| Region::all(field), |lens| lens.region(field, p, bound2));
    search.offer_region(field, &region, p);
    search.finish()
}

/// Mean of the roots of sorted squared distances. One order of additions everywhere, so that every
/// way to find the same distances gives the same bits.
pub(super) fn mean_of_roots(sorted2: &[f32]) -> f32 {
    let mut parts = [0.0_f32; 4];
    for (i, d2) in sorted2.iter().enumerate() {
        parts[i % 4] += d2.sqrt();
    }
    ((parts[0] + parts[1]) + (parts[2] + parts[3])) / sorted2.len() as f32
}
