//! The same as `block.rs`, 16 points at a time, for sets that compress and gather.

use citrange_lanes::{I32x8, I32x16, LANES, Mask, Simd, U64x8};

use super::block::{BLOCK, Block};
use super::transform::CellTransform;

/// Sorts points; see [`Block::sort`].
#[inline(always)]
pub(super) fn sort<S: Simd>(
    simd: S,
    block: &mut Block,
    to_cell: &CellTransform,
    [x, y, z]: [&[f32]; 3],
) {
    let mut rows = [[simd.splat(0.0); 4]; 3];
    for a in 0..3 {
        for i in 0..4 {
            rows[a][i] = simd.splat(to_cell.rows[a][i]);
        }
    }
    let (high, sure_high) = (simd.splat3(&to_cell.high), simd.splat3(&to_cell.sure_high));
    let (low, doubt) = (simd.splat(to_cell.low), simd.splat(to_cell.doubt));
    let mut at = I32x16::count_up(simd);
    let (mut inside, mut doubts, mut seen) = (0, 0, 0);
    block.wanted = 0;
    let points = x.as_chunks().0.iter().zip(y.as_chunks().0).zip(z.as_chunks().0);
    for (v, ((x, y), z)) in points.take(BLOCK / LANES).enumerate() {
        let (px, py, pz) = (simd.load(x), simd.load(y), simd.load(z));
        let mut candidate = px.is_finite() & py.is_finite() & pz.is_finite();
        seen += candidate.bits().count_ones() as usize;
        let mut cell = [px; 3];
        for a in 0..3 {
            let sum = rows[a][2].mul_add_relaxed(pz, rows[a][3]);
            let sum = rows[a][1].mul_add_relaxed(py, sum);
            cell[a] = rows[a][0].mul_add_relaxed(px, sum);
            candidate = candidate & cell[a].gt(low) & cell[a].lt(high[a]);
        }
        if candidate.any() {
            block.wanted |= 1 << v;
            let near = cell[0].past_whole().smaller_magnitude(cell[1].past_whole());
            let near = near.smaller_magnitude(cell[2].past_whole());
            let mut doubtful = near.lt(doubt);
            for a in 0..3 {
                doubtful = doubtful | cell[a].ge(sure_high[a]);
            }
            let [row, layer] = [to_cell.stride[1], to_cell.stride[2]];
            let key = cell[1].truncate() * row + cell[2].truncate() * layer + cell[0].truncate();
            let (sure, unsure) = (candidate & !doubtful, candidate & doubtful);
            // There is room for one vector behind the last point, and fewer points than BLOCK
            // come before a vector: the remainder is the number itself, and needs no check.
            key.compress(sure).store_u32_at(&mut block.keys, inside % BLOCK);
            at.compress(sure).store_u32_at(&mut block.at, inside % BLOCK);
            if unsure.any() {
                at.compress(unsure).store_u32_at(&mut block.doubtful, doubts % BLOCK);
            }
            inside += sure.bits().count_ones() as usize;
            doubts += unsure.bits().count_ones() as usize;
        }
        at = at + LANES as i32;
    }
    (block.inside, block.doubts, block.seen) = (inside, doubts, seen);
    find_runs(simd, block);
}

/// Finds where keys change.
#[inline(always)]
fn find_runs<S: Simd>(simd: S, block: &mut Block) {
    // The key behind the last one differs from it, so that the last run ends.
    block.keys[block.inside] = u32::MAX;
    let mut ends = I32x16::count_up(simd) + 1;
    let mut runs = 0;
    for from in (0..block.inside).step_by(LANES) {
        let left = block.inside - from;
        let here = if left < LANES { (1_u16 << left) - 1 } else { u16::MAX };
        let key = I32x16::load_u32_at(simd, &block.keys, from % BLOCK);
        let next = I32x16::load_u32_at(simd, &block.keys, from % BLOCK + 1);
        let changes = !key.equal(next) & Mask::of_bits(simd, here);
        ends.compress(changes).store_u32_at(&mut block.ends, runs % BLOCK);
        runs += changes.bits().count_ones() as usize;
        ends = ends + LANES as i32;
    }
    block.runs = runs;
}

/// Sums colours, eight points at a time; see [`Block::sum_colours`].
#[inline(always)]
pub(super) fn sum_colours<S: Simd>(simd: S, block: &mut Block) {
    const EIGHT: usize = 8;
    let mut before = U64x8::splat(simd, 0);
    block.before[0] = 0;
    for from in (0..block.inside).step_by(EIGHT) {
        let here = 0xff_u8 >> EIGHT.saturating_sub(block.inside - from);
        let Some(at) = block.at[from % BLOCK..].first_chunk::<EIGHT>() else { return };
        let first = at[0] as usize;
        let in_a_row = here == 0xff && at[EIGHT - 1] as usize == first + EIGHT - 1;
        let colours = match block.colours.get(first..).and_then(<[u32]>::first_chunk::<EIGHT>) {
            Some(colours) if in_a_row => I32x8::load_u32(simd, colours),
            _ => I32x8::load_u32(simd, at).look_up_u32(&block.colours, here),
        };
        let sums = colours.bytes_apart().running_sums() + before;
        if let Some(room) = block.before[from % BLOCK + 1..].first_chunk_mut::<EIGHT>() {
            sums.store(room);
        }
        before = sums.last();
    }
}
