//! Nearest depths over squares of pixels at any place, for rectangles in four looks.

use crate::map::depth::refit;

/// Sizes of squares: edges of 1, 2, 4 … 64 texels.
pub(super) const SIZES: usize = 7;

/// For each size and place the nearest depth in the square that begins there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Windows {
    width: usize,
    texels: usize,
    /// One picture for each size, smallest squares first.
    nearest_m: Vec<f32>,
}

impl Windows {
    /// Prepares for pictures of this many texels; allocates only when they are larger than before.
    pub(crate) fn resize(&mut self, width: usize, height: usize) {
        if (self.width, self.texels) != (width, width * height) {
            (self.width, self.texels) = (width, width * height);
            refit(&mut self.nearest_m, SIZES * self.texels, 0.0);
        }
    }

    /// Takes in a picture of the right size. Squares end where the picture ends.
    pub(crate) fn fill(&mut self, nearest_m: &[f32]) {
        let (width, texels) = (self.width, self.texels);
        self.nearest_m[..texels].copy_from_slice(nearest_m);
        for size in 1..SIZES {
            let half = 1 << (size - 1);
            let (smaller, larger) = self.nearest_m.split_at_mut(size * texels);
            let (from, to) = (&smaller[(size - 1) * texels..], &mut larger[..texels]);
            for (row, to) in to.chunks_exact_mut(width).enumerate() {
                let upper = &from[row * width..(row + 1) * width];
                let below = (row + half) * width;
                let lower = if below < texels { &from[below..below + width] } else { upper };
                // Up to here the right half of the square is in the picture.
                let both = width.saturating_sub(half);
                for column in 0..both {
                    let left = lesser(upper[column], lower[column]);
                    let right = lesser(upper[column + half], lower[column + half]);
                    to[column] = lesser(left, right);
                }
                for column in both..width {
                    to[column] = lesser(upper[column], lower[column]);
                }
            }
        }
    }

    /// Texels of a row, texels of the picture, and the pictures of all sizes.
    pub(super) fn tables(&self) -> (usize, usize, &[f32]) {
        (self.width, self.texels, &self.nearest_m)
    }

    /// Nearest depth of one texel.
    #[inline(always)]
    pub(crate) fn at(&self, column: usize, row: usize) -> f32 {
        self.nearest_m[row * self.width + column]
    }

    /// The nearest depth in a rectangle of texels, corners included and in the picture; `None`
    /// if it is too large. Texels around it count in where it is not as wide as it is high.
    #[inline(always)]
    pub(crate) fn nearest_m(&self, first: [usize; 2], last: [usize; 2]) -> Option<f32> {
        let longest = (last[0] - first[0]).max(last[1] - first[1]) + 1;
        let size = longest.ilog2() as usize;
        let table = self.nearest_m.get(size * self.texels..(size + 1) * self.texels)?;
        let end = |a: usize| (last[a] + 1).saturating_sub(1 << size).max(first[a]);
        let (upper, lower) = (first[1] * self.width, end(1) * self.width);
        let above = lesser(table[upper + first[0]], table[upper + end(0)]);
        let below = lesser(table[lower + first[0]], table[lower + end(0)]);
        Some(lesser(above, below))
    }
}

/// The lesser of two numbers that are not NaN, in one instruction.
#[inline(always)]
pub(super) fn lesser(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_find_their_nearest_texel_and_nothing_far_away() {
        let (width, height) = (71, 43);
        let mut windows = Windows::default();
        windows.resize(width, height);
        let depths_m: Vec<f32> = (0..width * height).map(|i| (i * 7919 % 3001) as f32).collect();
        windows.fill(&depths_m);
        for seed in 0..5000_usize {
            let pick = |salt: usize, below: usize| seed * 7 * salt % 1009 % below;
            let first = [pick(1, width), pick(3, height)];
            let last = [0, 1].map(|a| first[a] + pick(5 + a, [width, height][a] - first[a]));
            let longest = (last[0] - first[0]).max(last[1] - first[1]) + 1;
            let within = |edge: [usize; 2]| {
                let ends = [0, 1].map(|a| last[a].max(first[a] + edge[a]));
                let rows = first[1]..=ends[1].min(height - 1);
                let cells = rows
                    .flat_map(|r| (first[0]..=ends[0].min(width - 1)).map(move |c| r * width + c));
                cells.map(|i| depths_m[i]).fold(f32::INFINITY, f32::min)
            };
            let found = windows.nearest_m(first, last).unwrap();
            assert!(within([longest; 2]) <= found && found <= within([0; 2]));
            if last[0] - first[0] == last[1] - first[1] {
                assert_eq!(found, within([0; 2]));
            }
        }
        assert_eq!(windows.nearest_m([0, 0], [70, 42]), Some(0.0));
    }
}
