//! The passes of the distance transform: along a row of bits, and along columns of blocks.

use citrange_lanes::{Isa, kernel};

/// Cells side by side that a pass handles at once.
pub(crate) const LANES: usize = 32;

/// Squared distances of [`LANES`] cells along x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Block(pub(crate) [u16; LANES]);

/// Squared distance of every cell of a row to the nearest set bit of the row, at most `reach`
/// squared.
pub(crate) fn squares_along_row(bits: &[u64], reach: usize, out: &mut [u16]) {
    let far = (reach * reach) as u16;
    let square = |cells: usize| if cells < reach { (cells * cells) as u16 } else { far };
    let mut done = 0;
    let mut last: Option<usize> = None;
    let set = bits.iter().enumerate();
    let set = set.flat_map(|(at, word)| crate::map::bits::ones(*word).map(move |b| at * 64 + b));
    for bit in set {
        for x in done..bit {
            let right = bit - x;
            out[x] = square(last.map_or(right, |l| right.min(x - l)));
        }
        out[bit] = 0;
        (done, last) = (bit + 1, Some(bit));
    }
    for x in done..out.len() {
        out[x] = last.map_or(far, |l| square(x - l));
    }
}

/// Runs `out[i] = min over j of column[i + j] + j^2` for |j| up to the reach.
#[derive(Clone, Debug)]
pub(crate) struct MinPlus {
    reach: usize,
    isa: Isa,
    column: Vec<Block>,
    out: Vec<Block>,
}

impl MinPlus {
    /// For columns of at most `length` blocks.
    pub(crate) fn new(length: usize, reach: usize, isa: Isa) -> Self {
        let empty = vec![Block([0; LANES]); length];
        Self { reach, isa, column: empty.clone(), out: empty }
    }

    /// Takes what is needed for the results `first..=last` of a column of `length`.
    #[inline]
    pub(crate) fn load(
        &mut self,
        first: usize,
        last: usize,
        length: usize,
        at: impl Fn(usize) -> Block,
    ) {
        for i in first.saturating_sub(self.reach)..=(last + self.reach).min(length - 1) {
            self.column[i] = at(i);
        }
    }

    /// Results `first..=last` with their places.
    #[inline]
    pub(crate) fn run(
        &mut self,
        first: usize,
        last: usize,
        length: usize,
    ) -> impl Iterator<Item = (usize, &Block)> {
        let (column, out) = (&self.column[..length], &mut self.out[first..=last]);
        min_plus(self.isa, column, first, self.reach, out);
        (first..).zip(self.out[first..=last].iter())
    }
}

kernel! {
    fn min_plus(simd, column: &[Block], first: usize, reach: usize, out: &mut [Block]) {
        min_plus_plain(column, first, reach, out);
    }
}

/// The loops are written so that the compiler turns a block into vectors of whatever width the
/// caller has.
#[inline(always)]
fn min_plus_plain(column: &[Block], first: usize, reach: usize, out: &mut [Block]) {
    for (at, out) in (first..).zip(out) {
        let (below, from) = column.split_at(at);
        let Some((centre, above)) = from.split_first() else { continue };
        let mut best = *centre;
        // Nothing `j` cells away can improve what is `j` squared or less.
        let mut done = 1;
        while done <= reach && best.0.iter().any(|b| usize::from(*b) > done * done) {
            for j in done..(done + 4).min(reach + 1) {
                let square = (j * j) as u16;
                if let Some(block) = below.len().checked_sub(j).and_then(|i| below.get(i)) {
                    lower(&mut best, block, square);
                }
                if let Some(block) = above.get(j - 1) {
                    lower(&mut best, block, square);
                }
            }
            done += 4;
        }
        *out = best;
    }
}

#[inline(always)]
fn lower(best: &mut Block, block: &Block, square: u16) {
    for lane in 0..LANES {
        best.0[lane] = best.0[lane].min(block.0[lane].saturating_add(square));
    }
}
