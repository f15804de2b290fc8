//! Cubes of a map put together to boxes: a wall of a thousand cubes is one brick.

use citrange_space::MapSnapshot;

/// Orders in which a brick grows along the axes; the largest brick is taken.
const ORDERS: [[usize; 3]; 3] = [[0, 1, 2], [1, 2, 0], [2, 0, 1]];

/// A box of cells that are all occupied: the first cell, and the first beyond it, of each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Brick {
    pub(super) low: [usize; 3],
    pub(super) high: [usize; 3],
}

impl Brick {
    fn cells(&self) -> usize {
        (0..3).map(|axis| self.high[axis] - self.low[axis]).product()
    }
}

/// Bricks that fill exactly the occupied cells. They may overlap: larger ones say more.
pub(super) fn bricks(snapshot: &MapSnapshot) -> Vec<Brick> {
    let size = snapshot.grid().size();
    let row_words = snapshot.row_words();
    let occupied = Rows { words: snapshot.occupied_words().to_vec(), row_words, size };
    let mut missing = occupied.clone();
    let mut found = Vec::new();
    for voxel in snapshot.voxels() {
        let low = snapshot.grid().cell_of(voxel.key);
        let seed = Brick { low, high: low.map(|at| at + 1) };
        if missing.is_full(&seed) {
            let grown = ORDERS.map(|order| occupied.grown(seed, order));
            let largest = grown.into_iter().max_by_key(Brick::cells).unwrap_or(seed);
            missing.clear(&largest);
            found.push(largest);
        }
    }
    found
}

/// One bit for each cell, rows of cells along x in whole words.
#[derive(Clone, Debug)]
struct Rows {
    words: Vec<u64>,
    row_words: usize,
    size: [usize; 3],
}

impl Rows {
    /// The words that a brick has bits in, and these bits.
    fn parts(&self, brick: &Brick) -> impl Iterator<Item = (usize, u64)> + use<> {
        let Brick { low, high } = *brick;
        let (rows_y, row_words) = (self.size[1], self.row_words);
        let rows = (low[2]..high[2]).flat_map(move |z| (low[1]..high[1]).map(move |y| (y, z)));
        rows.flat_map(move |(y, z)| {
            (low[0] / 64..high[0].div_ceil(64)).map(move |word| {
                let from = low[0].saturating_sub(word * 64);
                let to = (high[0] - word * 64).min(64);
                let bits = (u64::MAX >> (64 - (to - from))) << from;
                ((z * rows_y + y) * row_words + word, bits)
            })
        })
    }

    fn is_full(&self, brick: &Brick) -> bool {
        self.parts(brick).all(|(word, bits)| self.words[word] & bits == bits)
    }

    fn clear(&mut self, brick: &Brick) {
        for (word, bits) in self.parts(brick) {
            self.words[word] &= !bits;
        }
    }

    /// A brick, made as long as it can be along one axis after the other.
    fn grown(&self, mut brick: Brick, order: [usize; 3]) -> Brick {
        for axis in order {
            while brick.high[axis] < self.size[axis] {
                let mut next = brick;
                next.low[axis] = brick.high[axis];
                next.high[axis] += 1;
                if !self.is_full(&next) {
                    break;
                }
                brick.high[axis] += 1;
            }
            while brick.low[axis] > 0 {
                let mut next = brick;
                next.high[axis] = brick.low[axis];
                next.low[axis] -= 1;
                if !self.is_full(&next) {
                    break;
                }
                brick.low[axis] -= 1;
            }
        }
        brick
    }
}

#[cfg(test)]
mod tests {
    use citrange_core::rng::Rng;
    use citrange_space::Grid;

    use super::*;

    #[test]
    fn bricks_fill_what_is_occupied_and_nothing_else() {
        let mut rng = Rng::new(11);
        // Rows of more than one word.
        let grid = Grid::new([0.0; 3], [7.0, 0.6, 0.5], 0.05).unwrap();
        for fraction in [0.02, 0.5, 0.95, 1.0] {
            let keys: Vec<u32> =
                (0..grid.cells() as u32).filter(|_| rng.unit() < fraction).collect();
            let snapshot = MapSnapshot::from_voxels(&grid, &keys).unwrap();
            let mut filled = vec![false; grid.cells()];
            let bricks = bricks(&snapshot);
            for Brick { low, high } in &bricks {
                for z in low[2]..high[2] {
                    for y in low[1]..high[1] {
                        for x in low[0]..high[0] {
                            filled[grid.key([x, y, z]) as usize] = true;
                        }
                    }
                }
            }
            let found: Vec<u32> = (0..).zip(&filled).filter(|(_, f)| **f).map(|(k, _)| k).collect();
            assert_eq!(found, keys);
            assert!(bricks.len() <= keys.len() && (fraction < 1.0 || bricks.len() == 1));
        }
    }
}
