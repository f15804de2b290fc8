//! A depth picture and its nearest and furthest depths over ever larger squares of pixels.

use crate::map::windows::{Windows, lesser};

/// One level: texels of `2^level` by `2^level` pixels.
#[derive(Clone, Debug, Default)]
struct Level {
    width: usize,
    height: usize,
    /// Nearest depth; infinite where nothing was seen.
    nearest_m: Vec<f32>,
    /// Furthest depth; minus infinite where nothing was seen.
    furthest_m: Vec<f32>,
    /// Some patch of pixels saw nothing at all.
    blind: Vec<bool>,
}

/// What a rectangle of pixels sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    /// Nearest depth; infinite where nothing was seen.
    pub(crate) nearest_m: f32,
    /// Furthest depth; minus infinite where nothing was seen.
    pub(crate) furthest_m: f32,
    /// Some patch of pixels saw nothing at all.
    pub(crate) blind: bool,
}

/// A depth picture with its levels, level 0 first.
#[derive(Clone, Debug, Default)]
pub(crate) struct DepthPicture {
    width: usize,
    height: usize,
    /// Depth of each pixel; infinite where nothing was seen.
    depths_m: Vec<f32>,
    /// Levels 1, 2 and so on.
    levels: Vec<Level>,
    /// Levels that larger pictures had.
    spare: Vec<Level>,
    /// Level whose texels are the patches; 0 for single pixels.
    patch: usize,
    /// Nearest depths of level 1 over squares.
    windows: Windows,
}

/// Gives a vector so many values. Pictures of points that are no picture change their size from
/// frame to frame, so more room than is asked is taken.
pub(super) fn refit<T: Copy>(values: &mut Vec<T>, count: usize, value: T) {
    values.clear();
    if values.capacity() < count {
        values.reserve_exact(count + count / 4);
    }
    values.resize(count, value);
}

impl DepthPicture {
    /// Prepares for a picture of this size; allocates only when it is larger than those before,
    /// and then a quarter more.
    pub(crate) fn resize(&mut self, width: usize, height: usize) {
        if (self.width, self.height) == (width, height) {
            return;
        }
        (self.width, self.height) = (width, height);
        refit(&mut self.depths_m, width * height, f32::INFINITY);
        let (mut width, mut height) = (width, height);
        let mut count = 0;
        while width > 1 || height > 1 {
            (width, height) = (width.div_ceil(2), height.div_ceil(2));
            if self.levels.len() == count {
                self.levels.push(self.spare.pop().unwrap_or_default());
            }
            let level = &mut self.levels[count];
            (level.width, level.height) = (width, height);
            refit(&mut level.nearest_m, width * height, 0.0);
            refit(&mut level.furthest_m, width * height, 0.0);
            refit(&mut level.blind, width * height, false);
            count += 1;
        }
        self.spare.extend(self.levels.drain(count..).rev());
        if let Some(level) = self.levels.first() {
            self.windows.resize(level.width, level.height);
        }
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Takes in depths of pixels from `start` on. What is not in front of the camera is not
    /// seen.
    pub(crate) fn set(&mut self, start: usize, depths_m: &[f32]) {
        for (pixel, depth_m) in self.depths_m[start..].iter_mut().zip(depths_m) {
            let seen = *depth_m > 0.0 && *depth_m < f32::INFINITY;
            *pixel = if seen { *depth_m } else { f32::INFINITY };
        }
    }

    /// Depth of a pixel; infinite where nothing was seen.
    pub(super) fn depth_m(&self, column: usize, row: usize) -> f32 {
        self.depths_m[row * self.width + column]
    }

    /// Forgets all depths, for points that come in any order.
    pub(crate) fn clear(&mut self) {
        self.depths_m.fill(f32::INFINITY);
    }

    /// Something is in front of a pixel; what is nearer counts.
    pub(crate) fn see(&mut self, pixel: usize, depth_m: f32) {
        if depth_m > 0.0
            && let Some(nearest_m) = self.depths_m.get_mut(pixel)
        {
            *nearest_m = lesser(*nearest_m, depth_m);
        }
    }

    /// Nearest depths of squares of two by two pixels, over larger squares.
    pub(super) fn windows(&self) -> &Windows {
        &self.windows
    }

    /// Whether a pixel or those next to it see something at `depth_m` or before, or its patch
    /// sees nothing at all.
    #[inline(always)]
    pub(crate) fn is_hidden(&self, column: usize, row: usize, depth_m: f32) -> bool {
        let nearest_m = self.windows.at(column / 2, row / 2);
        nearest_m <= depth_m || (nearest_m == f32::INFINITY && self.is_blind(column, row))
    }

    /// Whether a pixel's patch saw nothing at all.
    pub(super) fn is_blind(&self, column: usize, row: usize) -> bool {
        match self.patch.checked_sub(1).and_then(|above| self.levels.get(above)) {
            Some(level) => level.blind[(row >> self.patch) * level.width + (column >> self.patch)],
            None => self.depths_m[row * self.width + column] == f32::INFINITY,
        }
    }

    /// Makes the levels, once all depths are in. Patches are squares of at most `patch_px`.
    pub(crate) fn finish(&mut self, patch_px: f64) {
        self.patch = patch_px.clamp(1.0, 1024.0).log2() as usize;
        self.patch = self.patch.min(self.levels.len());
        let Some((first, _)) = self.levels.split_first_mut() else { return };
        let depths_m = &self.depths_m;
        for row in 0..first.height {
            let [upper, lower] = [2 * row, (2 * row + 1).min(self.height - 1)]
                .map(|r| &depths_m[r * self.width..(r + 1) * self.width]);
            let texels = row * first.width..(row + 1) * first.width;
            let nearest_m = &mut first.nearest_m[texels.clone()];
            let furthest_m = &mut first.furthest_m[texels.clone()];
            let blind = &mut first.blind[texels];
            for column in 0..first.width {
                let right = (2 * column + 1).min(self.width - 1);
                let four = [upper[2 * column], upper[right], lower[2 * column], lower[right]];
                let nearest = lesser(lesser(four[0], four[1]), lesser(four[2], four[3]));
                let seen = four.map(|d| if d == f32::INFINITY { f32::NEG_INFINITY } else { d });
                let furthest = greater(greater(seen[0], seen[1]), greater(seen[2], seen[3]));
                nearest_m[column] = nearest;
                furthest_m[column] = furthest;
                blind[column] = if self.patch == 0 {
                    seen.contains(&f32::NEG_INFINITY)
                } else {
                    nearest == f32::INFINITY
                };
            }
        }
        for level in 1..self.levels.len() {
            let (finer, coarser) = self.levels.split_at_mut(level);
            if let (Some(finer), Some(coarser)) = (finer.last(), coarser.first_mut()) {
                coarser.gather(finer, level < self.patch);
            }
        }
        if let Some(level) = self.levels.first() {
            self.windows.fill(&level.nearest_m);
        }
    }

    /// The nearest depth that a rectangle of pixels sees, as [`DepthPicture::look`] but faster
    /// and with fewer pixels around.
    #[inline(always)]
    pub(crate) fn nearest_m(&self, first: [usize; 2], last: [usize; 2]) -> f32 {
        let windows = self.windows.nearest_m(first.map(|at| at / 2), last.map(|at| at / 2));
        windows.unwrap_or_else(|| self.look(first, last).nearest_m)
    }

    /// What the pixels of a rectangle see; corners included and inside of the picture. Pixels
    /// around it may be counted in, up to two thirds of its larger side.
    pub(crate) fn look(&self, first: [usize; 2], last: [usize; 2]) -> Seen {
        let span = (last[0] - first[0]).max(last[1] - first[1]);
        let shift = (span / 3).checked_ilog2().map_or(0, |log| log as usize + 1);
        let mut seen =
            Seen { nearest_m: f32::INFINITY, furthest_m: f32::NEG_INFINITY, blind: false };
        if let Some(level) = shift.checked_sub(1).and_then(|l| self.levels.get(l)) {
            for row in first[1] >> shift..=last[1] >> shift {
                let texels = row * level.width;
                let texels = texels + (first[0] >> shift)..=texels + (last[0] >> shift);
                for texel in texels {
                    seen.nearest_m = seen.nearest_m.min(level.nearest_m[texel]);
                    seen.furthest_m = seen.furthest_m.max(level.furthest_m[texel]);
                    seen.blind |= level.blind[texel];
                }
            }
            return seen;
        }
        for row in first[1]..=last[1] {
            for depth_m in &self.depths_m[row * self.width..][first[0]..=last[0]] {
                if *depth_m == f32::INFINITY {
                    seen.blind = true;
                } else {
                    seen.nearest_m = seen.nearest_m.min(*depth_m);
                    seen.furthest_m = seen.furthest_m.max(*depth_m);
                }
            }
        }
        seen
    }
}

/// The greater of two numbers that are not NaN, in one instruction.
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

impl Level {
    /// Makes a level of the one before; `patch` for levels up to that of the patches.
    fn gather(&mut self, finer: &Self, patch: bool) {
        for row in 0..self.height {
            let rows = [2 * row, (2 * row + 1).min(finer.height - 1)].map(|r| r * finer.width);
            for column in 0..self.width {
                let columns = [2 * column, (2 * column + 1).min(finer.width - 1)];
                let four = [
                    rows[0] + columns[0],
                    rows[0] + columns[1],
                    rows[1] + columns[0],
                    rows[1] + columns[1],
                ];
                let texel = row * self.width + column;
                let [a, b, c, d] = four.map(|i| finer.nearest_m[i]);
                self.nearest_m[texel] = lesser(lesser(a, b), lesser(c, d));
                let [a, b, c, d] = four.map(|i| finer.furthest_m[i]);
                self.furthest_m[texel] = greater(greater(a, b), greater(c, d));
                self.blind[texel] = if patch {
                    four.iter().all(|i| finer.blind[*i])
                } else {
                    four.iter().any(|i| finer.blind[*i])
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever rectangle: everything in it is counted, and nothing far outside.
    #[test]
    fn a_look_counts_every_pixel_of_its_rectangle() {
        let (width, height) = (53, 31);
        let mut picture = DepthPicture::default();
        picture.resize(width, height);
        let depth = |i: usize| match i * 7919 % 101 {
            0..20 => f32::NAN,
            d => d as f32,
        };
        let depths_m: Vec<f32> = (0..width * height).map(depth).collect();
        picture.set(0, &depths_m);
        picture.finish(1.0);
        for seed in 0..4000_usize {
            let pick = |salt: usize, below: usize| seed * 7 * salt % 1009 % below;
            let first = [pick(1, width), pick(3, height)];
            let last =
                [first[0] + pick(5, width - first[0]), first[1] + pick(11, height - first[1])];
            let seen = picture.look(first, last);
            let around = (last[0] - first[0]).max(last[1] - first[1]) * 2 / 3;
            let within = |grow: usize| {
                let (depths_m, grown) = (&depths_m, |at: usize| at.saturating_sub(grow));
                let columns = grown(first[0])..=(last[0] + grow).min(width - 1);
                let rows = grown(first[1])..=(last[1] + grow).min(height - 1);
                rows.flat_map(move |r| columns.clone().map(move |c| depths_m[r * width + c]))
            };
            let nearest = |grow| within(grow).fold(f32::INFINITY, f32::min);
            let furthest = |grow| within(grow).fold(f32::NEG_INFINITY, f32::max);
            let hole = |grow| within(grow).any(f32::is_nan);
            assert!(nearest(around) <= seen.nearest_m && seen.nearest_m <= nearest(0));
            assert!(furthest(0) <= seen.furthest_m && seen.furthest_m <= furthest(around));
            assert!(!hole(0) || seen.blind);
            assert!(!seen.blind || hole(around));
        }
    }
}
