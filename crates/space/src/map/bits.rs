//! One bit per cell, in rows along x.

use crate::grid::Grid;

/// One bit per cell of a grid. Row `(y, z)` is [`Bits::row_words`] words long and begins at word
/// `(z * size_y + y) * row_words`; bits beyond the end of a row are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    size: [usize; 3],
    row_words: usize,
    words: Vec<u64>,
}

impl Bits {
    /// No bit is set.
    pub(crate) fn new(grid: &Grid) -> Self {
        let size = grid.size();
        let row_words = size[0].div_ceil(64);
        Self { size, row_words, words: vec![0; row_words * size[1] * size[2]] }
    }

    /// Cells along x, y, z.
    pub(crate) fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Words of one row.
    pub(crate) fn row_words(&self) -> usize {
        self.row_words
    }

    /// All words.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The row of cells `(0.., y, z)`.
    pub(crate) fn row(&self, y: usize, z: usize) -> &[u64] {
        let start = (z * self.size[1] + y) * self.row_words;
        &self.words[start..start + self.row_words]
    }

    /// The same row, to be written.
    pub(crate) fn row_mut(&mut self, y: usize, z: usize) -> &mut [u64] {
        let start = (z * self.size[1] + y) * self.row_words;
        &mut self.words[start..start + self.row_words]
    }

    /// Whether a cell's bit is set.
    pub(crate) fn get(&self, cell: [usize; 3]) -> bool {
        self.row(cell[1], cell[2])[cell[0] / 64] >> (cell[0] % 64) & 1 == 1
    }

    /// Sets a cell's bit.
    pub(crate) fn set(&mut self, cell: [usize; 3]) {
        self.row_mut(cell[1], cell[2])[cell[0] / 64] |= 1 << (cell[0] % 64);
    }

    /// Clears a cell's bit.
    pub(crate) fn unset(&mut self, cell: [usize; 3]) {
        self.row_mut(cell[1], cell[2])[cell[0] / 64] &= !(1 << (cell[0] % 64));
    }

    /// Clears all.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Takes over the bits of a set with the same size, without allocating.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.words.copy_from_slice(&other.words);
    }

    /// Cells whose bits are set, in the order of their keys.
    pub(crate) fn cells(&self) -> impl Iterator<Item = [usize; 3]> {
        let rows = self.words.chunks_exact(self.row_words).enumerate();
        rows.flat_map(move |(row, words)| {
            words.iter().enumerate().flat_map(move |(at, word)| {
                ones(*word).map(move |bit| [at * 64 + bit, row % self.size[1], row / self.size[1]])
            })
        })
    }
}

/// Places of the set bits of a word, lowest first.
pub(crate) fn ones(word: u64) -> impl Iterator<Item = usize> {
    let mut left = word;
    std::iter::from_fn(move || {
        let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(bit)
    })
}

/// Which rows and planes have a set bit at all: searches pass over the others.
#[derive(Clone, Debug)]
pub(crate) struct Filled {
    plane_words: usize,
    /// Bits of the rows of plane 0, of plane 1 and so on.
    rows: Vec<u64>,
    planes: Vec<u64>,
}

impl Filled {
    /// For a grid where nothing is set.
    pub(crate) fn new(grid: &Grid) -> Self {
        let [_, ny, nz] = grid.size();
        let plane_words = ny.div_ceil(64);
        Self { plane_words, rows: vec![0; plane_words * nz], planes: vec![0; nz.div_ceil(64)] }
    }

    /// Brings it up to date.
    pub(crate) fn update(&mut self, bits: &Bits) {
        let [_, ny, nz] = bits.size();
        self.rows.fill(0);
        self.planes.fill(0);
        for z in 0..nz {
            for y in (0..ny).filter(|y| bits.row(*y, z).iter().any(|word| *word != 0)) {
                self.rows[z * self.plane_words + y / 64] |= 1 << (y % 64);
                self.planes[z / 64] |= 1 << (z % 64);
            }
        }
    }

    /// Bits of the rows of a plane.
    pub(crate) fn rows(&self, z: usize) -> &[u64] {
        &self.rows[z * self.plane_words..(z + 1) * self.plane_words]
    }

    /// Bits of the planes.
    pub(crate) fn planes(&self) -> &[u64] {
        &self.planes
    }
}

/// The last set bit at or before a place.
pub(crate) fn at_or_before(words: &[u64], at: usize) -> Option<usize> {
    let mut word = at / 64;
    let mut left = words.get(word)? & (u64::MAX >> (63 - at % 64));
    while left == 0 {
        word = word.checked_sub(1)?;
        left = words[word];
    }
    Some(word * 64 + 63 - left.leading_zeros() as usize)
}

/// The first set bit at or after a place.
pub(crate) fn at_or_after(words: &[u64], at: usize) -> Option<usize> {
    let mut word = at / 64;
    let mut left = words.get(word)? & (u64::MAX << (at % 64));
    while left == 0 {
        word += 1;
        left = *words.get(word)?;
    }
    Some(word * 64 + left.trailing_zeros() as usize)
}
