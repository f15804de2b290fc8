//! The nearest points of one point, tile by tile.

use super::field::{PointTiles, TILE_COLUMNS, TILE_ROWS};
use super::kernels::{self, Near};
use super::lens::Lens;
use citrange_lanes::Isa;

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
    pub(super) fn all(field: &PointTiles) -> Self {
        Self { across: 0..field.tiles_across(), down: 0..field.tiles_down(), rows: 0..field.rows }
    }

    /// The tiles that hold these columns and rows, cut to the field.
    pub(super) fn of(
        field: &PointTiles,
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

    /// How many tiles it has.
    fn tile_count(&self) -> usize {
        self.across.len() * self.down.len()
    }

    /// Numbers of its tiles.
    pub(super) fn tiles(&self, field: &PointTiles) -> impl Iterator<Item = usize> + use<> {
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
            isa: Isa::SCALAR,
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
    pub(super) fn set_up(&mut self, field: &PointTiles, k: usize, isa: Isa) {
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

    /// Whether nothing can be nearer: as many as asked for are in the very place.
    pub(super) fn is_done(&self) -> bool {
        self.bound2 == 0.0 && self.len >= self.k
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
    pub(super) fn offer_region(&mut self, field: &PointTiles, region: &Region, p: [f32; 3]) {
        let mut tiles = std::mem::take(&mut self.tiles);
        for down in region.down.clone() {
            let first = down * field.tiles_across();
            let run = first + region.across.start..first + region.across.end;
            tiles.clear();
            let near = Near { p, bound2: self.bound2 };
            kernels::tiles_within(self.isa, field, run, near, &mut tiles);
            for &tile in &tiles {
                self.offer_tile(field, tile as usize, &region.rows, p);
            }
        }
        self.tiles = tiles;
    }

    /// Looks at the points of a tile that are in these rows.
    pub(super) fn offer_tile(
        &mut self,
        field: &PointTiles,
        tile: usize,
        rows: &std::ops::Range<usize>,
        p: [f32; 3],
    ) {
        let (column, row) = field.corner(tile);
        let rows = rows.start.max(row)..rows.end.min(row + TILE_ROWS);
        let from = kernels::Candidates { field, column, rows };
        let near = Near { p, bound2: self.bound2 };
        self.len = kernels::gather(self.isa, &from, near, &mut self.found, self.len);
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
    field: &PointTiles,
    lens: Option<&Lens>,
    search: &'s mut Search,
    (column, row): (usize, usize),
    mut bound2: f32,
) -> &'s [f32] {
    let p = field.point(column, row);
    let within = |bound2: f32| match lens {
        Some(lens) if bound2 < f32::INFINITY => lens.region(field, p, bound2),
        _ => Region::all(field),
    };
    let mut region = within(bound2);
    let mut half = FIRST_HALF_WINDOW;
    // Where there is much to look at, a look close by makes it less.
    while half < field.columns.max(field.rows) {
        let columns = column.saturating_sub(half)..column + half + 1;
        let rows = row.saturating_sub(half)..row + half + 1;
        let close_by = Region::of(field, columns, rows);
        let enough = bound2 < f32::INFINITY && lens.is_none();
        if enough || region.tile_count() <= 2 * close_by.tile_count() {
            break;
        }
        search.start(bound2);
        search.offer_region(field, &close_by, p);
        search.cut();
        if search.bound2 < bound2 {
            bound2 = search.bound2;
            region = within(bound2);
        }
        half *= 2;
    }
    search.start(bound2);
    search.offer_region(field, &region, p);
    search.finish()
}

/// A point, and the distance that holds its nearest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) p: [f32; 3],
    pub(super) reach_m: f32,
}

impl Known {
    /// What a search around a point has found.
    pub(super) fn of(p: [f32; 3], sorted2: &[f32]) -> Self {
        Self { p, reach_m: sorted2.last().map_or(f32::INFINITY, |d2| d2.sqrt()) }
    }

    /// Squared distance that holds the nearest of another point: no point's nearest reach farther
    /// than those of this one and the way there. A little more, for rounding.
    pub(super) fn bound2(&self, other: [f32; 3]) -> f32 {
        let away2: f32 = (0..3).map(|a| (self.p[a] - other[a]) * (self.p[a] - other[a])).sum();
        let bound_m = self.reach_m + away2.sqrt();
        bound_m * bound_m * (1.0 + 1e-5)
    }
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
