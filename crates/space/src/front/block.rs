//! A block of points, sorted into runs of neighbours that fall into one cell.

use citrange_lanes::{Isa, LANES, kernel};

use super::block_wide;
use super::slots::RunSums;
use super::transform::CellTransform;

/// Points per block. Colour sums of a run fit into 16 bits because of it.
pub(crate) const BLOCK: usize = 256;

/// Room for one vector store behind the last point.
const ROOM: usize = BLOCK + LANES;

/// Adding this to a small number rounds it to a whole one, which is then in the low bits.
const WHOLE: f32 = 12_582_912.0;

/// What a block of points comes to.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Points surely inside: the key of their cell...
    pub(crate) keys: [u32; ROOM],
    /// ...and their number in the block.
    pub(crate) at: [u32; ROOM],
    /// How many they are.
    pub(crate) inside: usize,
    /// Numbers of points too near to a border for f32.
    pub(crate) doubtful: [u32; ROOM],
    /// How many they are.
    pub(crate) doubts: usize,
    /// Which sixteens of points have one that is, or may be, inside.
    pub(crate) wanted: u16,
    /// Points with three finite coordinates.
    pub(crate) seen: usize,
    /// For each run of points in the same cell: where in `keys` it ends.
    pub(crate) ends: [u32; ROOM],
    /// How many runs there are.
    pub(crate) runs: usize,
    /// Colour of every point: red, green, blue from the lowest byte; the top byte is 1 for a
    /// point that its neighbours confirm.
    pub(crate) colours: [u32; BLOCK],
    /// Sums of colours of all points surely inside before this one.
    pub(super) before: [RunSums; ROOM],
}

impl Default for Block {
    fn default() -> Self {
        Self {
            keys: [0; ROOM],
            at: [0; ROOM],
            inside: 0,
            doubtful: [0; ROOM],
            doubts: 0,
            wanted: 0,
            seen: 0,
            ends: [0; ROOM],
            runs: 0,
            colours: [0; BLOCK],
            before: [0; ROOM],
        }
    }
}

impl Block {
    /// Sorts points. At most [`BLOCK`] of them, a multiple of [`LANES`], filled up with NaN.
    pub(crate) fn sort(&mut self, to_cell: &CellTransform, xyz: [&[f32]; 3], isa: Isa) {
        sort(isa, self, to_cell, xyz);
    }

    /// Sums colours, so that [`Self::sums`] can answer.
    pub(crate) fn sum_colours(&mut self, isa: Isa) {
        sum_colours(isa, self);
    }

    /// Sums of points `from..to` of those surely inside.
    #[inline]
    pub(crate) fn sums(&self, from: usize, to: usize) -> RunSums {
        self.before[to].wrapping_sub(self.before[from])
    }
}

/// Four bytes to four fields of 16 bits.
#[inline]
pub(crate) fn spread(colour: u32) -> RunSums {
    let wide = u64::from(colour);
    let wide = (wide | wide << 16) & 0x0000_ffff_0000_ffff;
    (wide | wide << 8) & 0x00ff_00ff_00ff_00ff
}

kernel! {
    fn sort(simd, block: &mut Block, to_cell: &CellTransform, xyz: [&[f32]; 3]) {
        if S::IS_WIDE {
            block_wide::sort(simd, block, to_cell, xyz);
        } else {
            sort_points(block, to_cell, xyz);
        }
    }
}

kernel! {
    fn sum_colours(simd, block: &mut Block) {
        if S::IS_WIDE {
            return block_wide::sum_colours(simd, block);
        }
        let mut sum = 0;
        for (before, at) in block.before.iter_mut().zip(&block.at[..block.inside]) {
            *before = sum;
            sum += spread(block.colours[*at as usize % BLOCK]);
        }
        block.before[block.inside] = sum;
    }
}

/// In plain Rust, in two steps: keys of all points, which compilers turn into vector code, then
/// the lists.
#[inline(always)]
fn sort_points(block: &mut Block, to_cell: &CellTransform, [x, y, z]: [&[f32]; 3]) {
    let mut keys = [0_u32; BLOCK];
    let mut kinds = [0_u8; BLOCK];
    let points = x.len().min(BLOCK);
    let (xs, ys, zs) = (&x[..points], &y[..points], &z[..points]);
    for i in 0..points {
        (keys[i], kinds[i]) = classify(to_cell, xs[i], ys[i], zs[i]);
    }
    let (mut inside, mut doubts, mut seen) = (0, 0, 0);
    block.wanted = 0;
    for i in 0..points {
        block.wanted |= u16::from(kinds[i] & (INSIDE | DOUBTFUL) != 0) << (i / LANES);
        block.keys[inside] = keys[i];
        block.at[inside] = i as u32;
        inside += usize::from(kinds[i] & INSIDE);
        block.doubtful[doubts] = i as u32;
        doubts += usize::from(kinds[i] >> 1 & 1);
        seen += usize::from(kinds[i] >> 2 & 1);
    }
    (block.inside, block.doubts, block.seen) = (inside, doubts, seen);
    // The key behind the last one differs from it, so that the last run ends.
    block.keys[inside] = u32::MAX;
    block.runs = 0;
    for i in 0..inside {
        block.ends[block.runs] = i as u32 + 1;
        block.runs += usize::from(block.keys[i] != block.keys[i + 1]);
    }
}

const INSIDE: u8 = 1;
const DOUBTFUL: u8 = 2;
const SEEN: u8 = 4;

/// Key and kind of a point. The key means something for points that are surely inside only.
#[inline(always)]
fn classify(to_cell: &CellTransform, x: f32, y: f32, z: f32) -> (u32, u8) {
    let (mut key, mut near, mut candidate, mut doubtful) = (0_i32, f32::MAX, true, false);
    for a in 0..3 {
        let row = to_cell.rows[a];
        let cell = row[0] * x + row[1] * y + row[2] * z + row[3];
        candidate &= (cell > to_cell.low) & (cell < to_cell.high[a]);
        doubtful |= cell >= to_cell.sure_high[a];
        let shifted = cell + WHOLE;
        let past = cell - (shifted - WHOLE);
        near = near.min(past.abs());
        let whole = shifted.to_bits().wrapping_sub(WHOLE.to_bits()) as i32;
        let floor = whole.wrapping_sub(i32::from(past < 0.0));
        key = key.wrapping_add(floor.wrapping_mul(to_cell.stride[a]));
    }
    doubtful |= near < to_cell.doubt;
    let seen = (x * 0.0 + y * 0.0 + z * 0.0) == 0.0;
    let kind = (u8::from(candidate & !doubtful) * INSIDE)
        | (u8::from(candidate & doubtful) * DOUBTFUL)
        | (u8::from(seen) * SEEN);
    (key as u32, kind)
}
