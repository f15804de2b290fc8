//! Distances to the nearest for every point of a field, tile by tile, whatever its points are.

use super::distribute::distribute;
use super::field::{PointTiles, TILE_COLUMNS, TILE_POINTS};
use super::kernels::box_distance2;
use super::picture::Worker;
use super::search::{Known, Search, mean_of_roots, nearest};
use super::tree_order::TreeOrder;

/// Writes the mean distance to the nearest points of every point, in the order of tiles.
pub(super) fn measure(
    field: &PointTiles,
    tree: &TreeOrder,
    workers: &mut [Worker],
    values: &mut Vec<f32>,
) {
    values.clear();
    values.resize(field.tiles_across() * TILE_POINTS, -1.0);
    distribute(workers, values, TILE_POINTS, &|worker, first, values| {
        let mut before = None;
        for (i, values) in values.chunks_exact_mut(TILE_POINTS).enumerate() {
            let search = &mut worker.search;
            before = measure_tile((field, tree), search, first + i, before, values).or(before);
        }
    });
}

/// A tile's values; says what is known of its last point. What is known of the point `before` keeps
/// the search small.
fn measure_tile(
    (field, tree): (&PointTiles, &TreeOrder),
    search: &mut Search,
    tile: usize,
    mut before: Option<Known>,
    values: &mut [f32],
) -> Option<Known> {
    let corners = [&field.low, &field.high].map(|of| std::array::from_fn(|a| of[a][tile]));
    let inside = |i: usize| {
        field.point(tile * TILE_COLUMNS + i % TILE_COLUMNS, i / TILE_COLUMNS)[0] < f32::INFINITY
    };
    // All in one place, and enough of them: nothing can be nearer.
    if corners[0] == corners[1] && (0..TILE_POINTS).filter(|i| inside(*i)).count() >= search.k() {
        let here = values.iter_mut().enumerate().filter(|(i, _)| inside(*i));
        here.for_each(|(_, value)| *value = 0.0);
        return Some(Known { p: corners[0], reach_m: 0.0 });
    }
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
                // The tile itself first: most of the nearest are in it.
                near_tiles.push(tile as u32);
                let bound2 = known.bound2(farthest(field, tile, known.p));
                tree.near(&corners, bound2, &mut near_tiles);
                let again = near_tiles[1..].iter().position(|near| *near == tile as u32);
                again.map(|at| near_tiles.swap_remove(at + 1));
                listed = true;
            }
            search.start(known.bound2(p));
            for &near in &near_tiles {
                if box_distance2(field, near as usize, p) <= search.bound2() {
                    search.offer_tile(field, near as usize, &(0..field.rows), p);
                    if search.is_done() {
                        break;
                    }
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
