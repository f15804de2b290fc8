//! Points in tiles of 16 by 8, each with the box around it: what a neighbour search can skip.

/// Columns of a tile: one vector of the widest instruction set.
pub(super) const TILE_COLUMNS: usize = 16;
/// Rows of a tile.
pub(super) const TILE_ROWS: usize = 8;
/// Places of a tile.
pub(super) const TILE_POINTS: usize = TILE_COLUMNS * TILE_ROWS;
/// Places around the field where nothing is, so that windows may hang over its edge.
const MARGIN_COLUMNS: usize = 16;
const MARGIN_ROWS: usize = 4;
/// Coordinates beyond do not take part: their squares would overflow.
const FARTHEST_M: f32 = 1e18;

/// Whether a point takes part in the neighbour search.
#[inline(always)]
pub(super) fn takes_part(x: f32, y: f32, z: f32) -> bool {
    x.abs() < FARTHEST_M && y.abs() < FARTHEST_M && z.abs() < FARTHEST_M
}

/// A rectangle of points with margins. Where no point is, x is infinite and y and z are 0, so
/// that every distance from there is infinite.
#[derive(Debug, Default)]
pub(super) struct PointTiles {
    pub(super) x: Vec<f32>,
    pub(super) y: Vec<f32>,
    pub(super) z: Vec<f32>,
    /// Places from one row to the next.
    pub(super) stride: usize,
    /// Columns and rows without margins, whole tiles.
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Points that take part.
    pub(super) points: usize,
    /// Lower and upper corner of every tile's box; infinite and inside out for an empty tile.
    pub(super) low: [Vec<f32>; 3],
    pub(super) high: [Vec<f32>; 3],
}

impl PointTiles {
    /// Place of a column and row.
    #[inline(always)]
    pub(super) fn place(&self, column: usize, row: usize) -> usize {
        (row + MARGIN_ROWS) * self.stride + column + MARGIN_COLUMNS
    }

    /// The point there; infinite if there is none.
    #[inline(always)]
    pub(super) fn point(&self, column: usize, row: usize) -> [f32; 3] {
        let place = self.place(column, row);
        [self.x[place], self.y[place], self.z[place]]
    }

    /// Tiles in a row of tiles.
    pub(super) fn tiles_across(&self) -> usize {
        self.columns / TILE_COLUMNS
    }

    /// Rows of tiles.
    pub(super) fn tiles_down(&self) -> usize {
        self.rows / TILE_ROWS
    }

    /// First column and row of a tile.
    #[inline(always)]
    pub(super) fn corner(&self, tile: usize) -> (usize, usize) {
        let across = self.tiles_across();
        (tile % across * TILE_COLUMNS, tile / across * TILE_ROWS)
    }

    /// Makes room for so many columns and rows. Contents of the places are left as they are when
    /// the size stays, else they are empty.
    pub(super) fn resize(&mut self, columns: usize, rows: usize) {
        let columns = columns.next_multiple_of(TILE_COLUMNS);
        let rows = rows.next_multiple_of(TILE_ROWS);
        self.points = 0;
        if (columns, rows) == (self.columns, self.rows) {
            return;
        }
        (self.columns, self.rows) = (columns, rows);
        self.stride = columns + 2 * MARGIN_COLUMNS;
        let places = self.stride * (rows + 2 * MARGIN_ROWS);
        for (axis, empty) in [(&mut self.x, f32::INFINITY), (&mut self.y, 0.0), (&mut self.z, 0.0)]
        {
            axis.clear();
            axis.resize(places, empty);
        }
        let tiles = self.tiles_across() * self.tiles_down();
        for corner in self.low.iter_mut().chain(&mut self.high) {
            corner.clear();
            corner.resize(tiles, 0.0);
        }
    }

    /// Writes a run of points from a column and row on, and says how many take part.
    #[inline(always)]
    pub(super) fn write(
        &mut self,
        column: usize,
        row: usize,
        x: &[f32],
        y: &[f32],
        z: &[f32],
    ) -> u32 {
        let start = self.place(column, row);
        let to = start..start + x.len();
        let (to_x, to_y, to_z) =
            (&mut self.x[to.clone()], &mut self.y[to.clone()], &mut self.z[to]);
        let mut points = 0;
        for i in 0..x.len().min(y.len()).min(z.len()) {
            let here = takes_part(x[i], y[i], z[i]);
            to_x[i] = if here { x[i] } else { f32::INFINITY };
            to_y[i] = if here { y[i] } else { 0.0 };
            to_z[i] = if here { z[i] } else { 0.0 };
            points += u32::from(here);
        }
        self.points += points as usize;
        points
    }

    /// Takes the points of a row away from a column on.
    pub(super) fn clear_row(&mut self, column: usize, row: usize) {
        let (start, end) = (self.place(column, row), self.place(self.columns, row));
        self.x[start..end].fill(f32::INFINITY);
        self.y[start..end].fill(0.0);
        self.z[start..end].fill(0.0);
    }

    /// Boxes of all tiles, once the points are written.
    #[inline(always)]
    pub(super) fn measure_tiles(&mut self) {
        for tile in 0..self.low[0].len() {
            let (column, row) = self.corner(tile);
            let mut low = [[f32::INFINITY; TILE_COLUMNS]; 3];
            let mut high = [[f32::NEG_INFINITY; TILE_COLUMNS]; 3];
            for r in row..row + TILE_ROWS {
                let start = self.place(column, r);
                let run = start..start + TILE_COLUMNS;
                let (x, y, z) = (&self.x[run.clone()], &self.y[run.clone()], &self.z[run]);
                for i in 0..TILE_COLUMNS {
                    let here = x[i] < f32::INFINITY;
                    for (axis, value) in [x[i], y[i], z[i]].into_iter().enumerate() {
                        let (under, over) =
                            if here { (value, value) } else { (f32::INFINITY, f32::NEG_INFINITY) };
                        low[axis][i] = if under < low[axis][i] { under } else { low[axis][i] };
                        high[axis][i] = if over > high[axis][i] { over } else { high[axis][i] };
                    }
                }
            }
            for axis in 0..3 {
                self.low[axis][tile] = low[axis].iter().copied().fold(f32::INFINITY, f32::min);
                self.high[axis][tile] =
                    high[axis].iter().copied().fold(f32::NEG_INFINITY, f32::max);
            }
        }
    }
}
