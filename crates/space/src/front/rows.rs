//! The rows that a sweep looks at, as separate coordinates.

use std::ops::Range;

use citrange_lanes::{Isa, LANES, kernel};

use super::block::BLOCK;
use super::support::{Depths, REACH};
use citrange_cloud::Points;

/// NaN to the left and to the right of a row, so that neighbours need no care at the edges.
const MARGIN: usize = LANES;

/// The last few strips, as separate coordinates between margins of NaN.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    numbers: Vec<f32>,
    nothing: Vec<f32>,
    length: usize,
    ring: usize,
}

impl Rows {
    /// Room for `ring` rows of `length` points.
    pub(super) fn shape(&mut self, length: usize, ring: usize) {
        if (length, ring) != (self.length, self.ring) {
            (self.length, self.ring) = (length, ring);
            let stride = self.stride();
            self.numbers.clear();
            self.numbers.resize(3 * ring * stride, f32::NAN);
            self.nothing.clear();
            self.nothing.resize(stride, f32::NAN);
        }
    }

    /// Numbers from one coordinate of a row to the next; a block at the end may reach beyond it.
    fn stride(&self) -> usize {
        self.length.next_multiple_of(BLOCK) + 2 * MARGIN
    }

    fn axis(&self, row: usize, axis: usize) -> &[f32] {
        let stride = self.stride();
        &self.numbers[((row % self.ring) * 3 + axis) * stride..][..stride]
    }

    /// Reads a row of points.
    pub(super) fn fill<P: Points>(
        &mut self,
        points: &P,
        range: Range<usize>,
        row: usize,
        isa: Isa,
    ) {
        let stride = self.stride();
        let numbers = &mut self.numbers[(row % self.ring) * 3 * stride..][..3 * stride];
        let (x, rest) = numbers.split_at_mut(stride);
        let (y, z) = rest.split_at_mut(stride);
        let [x, y, z] = [x, y, z].map(|axis| &mut axis[MARGIN..]);
        let length = range.len();
        points.fill(range.start, &mut x[..length], &mut y[..length], &mut z[..length]);
        zeros_unseen(isa, &x[..length], &y[..length], &mut z[..length]);
        // A short last strip must not show points of the one before.
        if length < self.length {
            x[length..].fill(f32::NAN);
        }
    }

    /// x of a row, from a point on.
    pub(super) fn x_mut(&mut self, row: usize, from: usize) -> &mut [f32] {
        let stride = self.stride();
        &mut self.numbers[(row % self.ring) * 3 * stride..][MARGIN + from..stride]
    }

    /// Coordinates of some points of a row.
    pub(super) fn block(&self, row: usize, from: usize, points: usize) -> [&[f32]; 3] {
        [0, 1, 2].map(|axis| &self.axis(row, axis)[MARGIN + from..][..points])
    }

    /// Depths of the rows around one, each with [`MARGIN`] columns more on both sides.
    pub(super) fn around(&self, row: usize, rows: usize, from: usize, points: usize) -> Depths<'_> {
        let points = points.next_multiple_of(LANES) + 2 * MARGIN;
        std::array::from_fn(|i| match (row + i).checked_sub(REACH).filter(|r| *r < rows) {
            Some(row) => &self.axis(row, 2)[from..][..points],
            None => &self.nothing[from..][..points],
        })
    }
}

kernel! {
    /// Some drivers write zeros where nothing was seen. NaN in z says so to the front, which then
    /// drops the point, and to its neighbours, which look at depths alone.
    fn zeros_unseen(_simd, x: &[f32], y: &[f32], z: &mut [f32]) {
        for ((x, y), z) in x.iter().zip(y).zip(z) {
            // Shifting takes the sign away: -0 is zero too.
            let unseen = (x.to_bits() | y.to_bits() | z.to_bits()) << 1 == 0;
            *z = if unseen { f32::NAN } else { *z };
        }
    }
}
