//! Distances to the nearest for every point of a field, tile by tile, whatever its points are.

use super::distribute::distribute;
use super::field::{PointTiles, TILE_COLUMNS, TILE_POINTS};
use super::kernels::box_distance2;
use super::picture::Worker;
use super::search::{Known, Search, mean_of_roots, nearest};

/// Writes the mean distance to the nearest points of every point, in the order of tiles.
pub(super) fn measure(field: &PointTiles, workers: &mut [Worker], values: &mut Vec<f32>) {
    values.clear();
    values.resize(field.tiles_across() * TILE_POINTS, -1.0);
    distribute(workers, values, TILE_POINTS, &|worker, first, values| {
        let mut before = None;
        for (i, values) in values.chunks_exact_mut(TILE_POINTS).enumerate() {
            before = measure_tile(field, &mut worker.search, first + i, before, values).or(before);
        }
    });
}

/// A tile's values; says what is known of its last point. What is known of the point `before` keeps
/// the search small.
fn measure_tile(
    field: &PointTiles,
    search: &mut Search,
    tile: usize,
    mut before: Option<Known>,
    values: &mut [f32],
) -> Option<Known> {
    let mut near_tiles = search.take_near_tiles();
    near_tiles.clear();
    let mut listed = false;
    for (i, value) in values.iter_mut().enumerate() {
        let (column, row) = (tile * TILE_COLUMNS + i % TILE_COLUMNS, i / TILE_COLUMNS);
        let p = field.point(column, row);
        if p[0] == f32::INFINITY {
            continue;
        }
        let sorted2 = if let Some(known) = before {
            if !listed {
                list_near(
                    field,
                    tile,
                    known.bound2(farthest(field, tile, known.p)),
                    &mut near_tiles,
                );
                listed = true;
            }
            search.start(known.bound2(p));
            for &near in &near_tiles {
                if box_distance2(field, near as usize, p) <= search.bound2() {
                    search.offer_tile(field, near as usize, &(0..field.rows), p);
                }
            }
            search.finish()
        } else {
            nearest(field, None, search, (column, row), f32::INFINITY)
        };
        *value = mean_of_roots(sorted2);
        before = Some(Known::of(p, sorted2));
    }
    search.give_near_tiles(near_tiles);
    before
}

/// The corner of a tile's box that is farthest from a point.
fn farthest(field: &PointTiles, tile: usize, p: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|a| {
        let (low, high) = (field.low[a][tile], field.high[a][tile]);
        if p[a] - low > high - p[a] { low } else { high }
    })
}

/// Lists the tiles whose boxes are within a squared distance of a tile's box.
fn list_near(field: &PointTiles, tile: usize, bound2: f32, near: &mut Vec<u32>) {
    let low: [f32; 3] = std::array::from_fn(|a| field.low[a][tile]);
    let high: [f32; 3] = std::array::from_fn(|a| field.high[a][tile]);
    for other in 0..field.low[0].len() {
        let mut d2 = 0.0;
        for axis in 0..3 {
            let under = field.low[axis][other] - high[axis];
            let over = low[axis] - field.high[axis][other];
            let apart = under.max(over).max(0.0);
            d2 += apart * apart;
        }
        if d2 <= bound2 {
            near.push(other as u32);
        }
    }
}
