//! Unordered points in the order of a k-d tree, so that a tile of them lies together.
//!
//! Halves are equal in number, not in space: whatever the points are (all in one place, one of them
//! a kilometre away), the tree has the same depth, and a search looks at few tiles.

use super::PictureXyz;
use super::field::{PointTiles, TILE_COLUMNS, TILE_POINTS, TILE_ROWS, takes_part};

/// The order of the points of a cloud, and boxes around ever larger parts of it.
#[derive(Debug, Default)]
pub(super) struct TreeOrder {
    /// Points and their numbers in the cloud, tile after tile.
    order: Vec<([f32; 3], u32)>,
    /// Lower and upper corner of every node. A node with `n` tiles has its first `n / 2` in the
    /// next node, the others in the one after that one's nodes.
    nodes: Vec<[[f32; 3]; 2]>,
    tiles: usize,
}

impl TreeOrder {
    /// Sorts the points that take part and writes them to the field, tile after tile.
    pub(super) fn lay_out(&mut self, cloud: &PictureXyz<'_>, field: &mut PointTiles) {
        self.order.clear();
        let points = cloud.x.iter().zip(cloud.y).zip(cloud.z).map(|((&x, &y), &z)| [x, y, z]);
        let taking_part = points.zip(0..).filter(|(p, _)| takes_part(p[0], p[1], p[2]));
        self.order.extend(taking_part);
        let tiles = self.order.len().div_ceil(TILE_POINTS).max(1);
        self.tiles = tiles;
        split(&mut self.order, tiles);
        field.resize(tiles * TILE_COLUMNS, TILE_ROWS);
        for tile in 0..tiles {
            for row in 0..TILE_ROWS {
                let column = tile * TILE_COLUMNS;
                let at = |i: usize| self.order.get(tile * TILE_POINTS + row * TILE_COLUMNS + i);
                let run: [[f32; 3]; TILE_COLUMNS] =
                    std::array::from_fn(|i| at(i).map_or([f32::NAN; 3], |(p, _)| *p));
                let [x, y, z] = [0, 1, 2].map(|axis| run.map(|p| p[axis]));
                field.write(column, row, &x, &y, &z);
            }
        }
    }

    /// Boxes of all nodes, once those of the tiles are known.
    pub(super) fn measure(&mut self, field: &PointTiles) {
        self.nodes.clear();
        self.nodes.resize(2 * self.tiles - 1, [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]]);
        measure_node(&mut self.nodes, field, 0, self.tiles);
    }

    /// Number in the cloud of a point of the field, counted in the order of tiles.
    pub(super) fn number(&self, place: usize) -> usize {
        self.order[place].1 as usize
    }

    /// Adds the tiles whose boxes are within a squared distance of a box.
    pub(super) fn near(&self, to: &[[f32; 3]; 2], bound2: f32, near: &mut Vec<u32>) {
        self.near_node(0, 0, self.tiles, to, bound2, near);
    }

    fn near_node(
        &self,
        node: usize,
        first: usize,
        tiles: usize,
        to: &[[f32; 3]; 2],
        bound2: f32,
        near: &mut Vec<u32>,
    ) {
        let Some([low, high]) = self.nodes.get(node) else { return };
        let mut d2 = 0.0;
        for axis in 0..3 {
            let (under, over) = (low[axis] - to[1][axis], to[0][axis] - high[axis]);
            let apart = under.max(over).max(0.0);
            d2 += apart * apart;
        }
        // Not so for NaN, which comes of an empty node.
        let is_near = d2 <= bound2;
        if !is_near {
            return;
        }
        if tiles == 1 {
            near.push(first as u32);
            return;
        }
        let left = tiles / 2;
        self.near_node(node + 1, first, left, to, bound2, near);
        self.near_node(node + 2 * left, first + left, tiles - left, to, bound2, near);
    }
}

/// Sorts points into halves of whole tiles along the longest side, and the halves again.
fn split(points: &mut [([f32; 3], u32)], tiles: usize) {
    if tiles < 2 {
        return;
    }
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for (p, _) in points.iter() {
        for axis in 0..3 {
            low[axis] = low[axis].min(p[axis]);
            high[axis] = high[axis].max(p[axis]);
        }
    }
    let span = |axis: usize| high[axis] - low[axis];
    let axis = if span(0) >= span(1).max(span(2)) {
        0
    } else if span(1) >= span(2) {
        1
    } else {
        2
    };
    // All in one place: every order is as good.
    if span(axis) == 0.0 {
        return;
    }
    let left = tiles / 2;
    let middle = left * TILE_POINTS;
    points.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]));
    let (before, after) = points.split_at_mut(middle);
    split(before, left);
    split(after, tiles - left);
}

fn measure_node(nodes: &mut [[[f32; 3]; 2]], field: &PointTiles, first: usize, tiles: usize) {
    let Some((node, below)) = nodes.split_first_mut() else { return };
    if tiles == 1 {
        let corner = |of: &[Vec<f32>; 3]| std::array::from_fn(|axis| of[axis][first]);
        *node = [corner(&field.low), corner(&field.high)];
        return;
    }
    let left = tiles / 2;
    let (lefts, rights) = below.split_at_mut(2 * left - 1);
    measure_node(lefts, field, first, left);
    measure_node(rights, field, first + left, tiles - left);
    let (Some(a), Some(b)) = (lefts.first(), rights.first()) else { return };
    *node = [
        std::array::from_fn(|axis| a[0][axis].min(b[0][axis])),
        std::array::from_fn(|axis| a[1][axis].max(b[1][axis])),
    ];
}
