//! Which pixels lie at an edge, and where to put more samples in them.

use citrange_lanes::{Isa, Kernel, Simd};

use crate::packet::TILE;
use crate::settings::Antialias;

/// Change of surface slope, in the image, that counts as a crease.
const CREASE_SLOPE: f32 = 0.25;

/// Rotated grid of four, in pixels.
const FOUR: [[f64; 2]; 4] = [[0.375, 0.125], [0.875, 0.375], [0.125, 0.625], [0.625, 0.875]];
/// Eight rooks that do not attack each other.
const EIGHT: [[f64; 2]; 8] = [
    [0.5625, 0.3125],
    [0.4375, 0.6875],
    [0.8125, 0.5625],
    [0.3125, 0.1875],
    [0.1875, 0.8125],
    [0.0625, 0.4375],
    [0.6875, 0.9375],
    [0.9375, 0.0625],
];

pub(crate) fn samples(antialias: Antialias) -> &'static [[f64; 2]] {
    match antialias {
        Antialias::Off => &[],
        Antialias::Four => &FOUR,
        Antialias::Eight => &EIGHT,
    }
}

/// Per pixel of an image padded to whole tiles: owner, inverse depth, and whether it is an edge.
#[derive(Debug, Default)]
pub(crate) struct EdgeMap {
    stride: usize,
    size: [usize; 2],
    pub(crate) owner: Vec<u32>,
    pub(crate) inverse_depth: Vec<f32>,
    edge: Vec<u8>,
}

impl EdgeMap {
    pub(crate) fn resize(&mut self, width: usize, height: usize) {
        self.stride = width.next_multiple_of(TILE);
        self.size = [width, height];
        let len = self.stride * height.next_multiple_of(TILE);
        self.owner.resize(len, 0);
        self.inverse_depth.resize(len, 0.0);
        self.edge.resize(len, 0);
    }

    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Marks pixels with another owner beside them, or where the surface bends sharply: on a
    /// flat surface, inverse depth is a linear function of the pixel.
    pub(crate) fn find(&mut self, isa: Isa, focal: f64) {
        let [width, height] = self.size;
        let tolerance = CREASE_SLOPE / focal as f32;
        for y in 0..height {
            let row = |y: usize| y * self.stride..y * self.stride + width;
            let (up, here, down) = (row(y.saturating_sub(1)), row(y), row((y + 1).min(height - 1)));
            let owner =
                [&self.owner[up.clone()], &self.owner[here.clone()], &self.owner[down.clone()]];
            let depth = [
                &self.inverse_depth[up],
                &self.inverse_depth[here.clone()],
                &self.inverse_depth[down],
            ];
            let edge = &mut self.edge[here];
            let vertical = y > 0 && y + 1 < height;
            isa.run(MarkRow { owner, depth, edge, tolerance, vertical });
        }
    }

    /// Edge pixels of one row of a tile, as bits.
    pub(crate) fn bits(&self, x0: usize, y: usize) -> u32 {
        let from = y * self.stride + x0;
        let count = TILE.min(self.size[0].saturating_sub(x0));
        let row = &self.edge[from..from + count];
        row.iter().enumerate().fold(0, |bits, (i, e)| bits | u32::from(*e) << i)
    }
}

/// Marks the edges of one row; `owner` and `depth` are the rows above, here and below.
struct MarkRow<'a> {
    owner: [&'a [u32]; 3],
    depth: [&'a [f32]; 3],
    edge: &'a mut [u8],
    tolerance: f32,
    vertical: bool,
}

impl Kernel for MarkRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        mark_row(self);
    }
}

/// Whether three inverse depths in a row do not lie on a line.
#[inline(always)]
fn bends(a: f32, b: f32, c: f32, tolerance: f32) -> bool {
    (a + c - 2.0 * b).abs() > tolerance * b
}

#[inline(always)]
fn mark_row(MarkRow { owner, depth, edge, tolerance, vertical }: MarkRow) {
    let n = edge.len();
    let [up, here, down] = [&owner[0][..n], &owner[1][..n], &owner[2][..n]];
    let [up_w, w, down_w] = [&depth[0][..n], &depth[1][..n], &depth[2][..n]];
    for i in 0..n {
        let crease = vertical & bends(up_w[i], w[i], down_w[i], tolerance);
        edge[i] = u8::from((here[i] != up[i]) | (here[i] != down[i]) | crease);
    }
    if n < 2 {
        return;
    }
    edge[0] |= u8::from(here[0] != here[1]);
    edge[n - 1] |= u8::from(here[n - 1] != here[n - 2]);
    let (left, middle, right) = (&here[..n - 2], &here[1..n - 1], &here[2..]);
    let (left_w, middle_w, right_w) = (&w[..n - 2], &w[1..n - 1], &w[2..]);
    let edge = &mut edge[1..n - 1];
    for i in 0..n - 2 {
        let crease = bends(left_w[i], middle_w[i], right_w[i], tolerance);
        edge[i] |= u8::from((middle[i] != left[i]) | (middle[i] != right[i]) | crease);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_between_owners_and_creases_are_edges_and_planes_are_not() {
        let mut map = EdgeMap::default();
        map.resize(20, 5);
        map.find(Isa::best(), 600.0);
        let all = |map: &EdgeMap, y| map.bits(0, y) | map.bits(16, y) << 16;
        assert!((0..5).all(|y| all(&map, y) == 0));
        // A tilted plane: inverse depth linear in the column.
        for (i, w) in map.inverse_depth.iter_mut().enumerate() {
            *w = 1.0 + 0.01 * (i % 32) as f32;
        }
        map.find(Isa::best(), 600.0);
        assert!((0..5).all(|y| all(&map, y) == 0));
        // It bends down behind column 10.
        for (i, w) in map.inverse_depth.iter_mut().enumerate() {
            *w -= 0.02 * (i % 32).saturating_sub(10) as f32;
        }
        map.find(Isa::best(), 600.0);
        assert!((0..5).all(|y| all(&map, y) == 1 << 10));
        map.owner[2 * 32 + 3] = 7;
        map.find(Isa::best(), 600.0);
        assert_eq!(all(&map, 2), 1 << 10 | 0b11100);
        assert_eq!(all(&map, 1), 1 << 10 | 0b1000);
    }
}
