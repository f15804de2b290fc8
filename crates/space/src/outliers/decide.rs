//! The threshold, and which points are beyond it.

use super::MOST_NEIGHBOURS;
use super::field::{PointTiles, TILE_COLUMNS, TILE_POINTS, TILE_ROWS};
use super::kernels::box_distance2;
use super::lens::Lens;
use super::search::{Search, nearest};
use super::tree_order::TreeOrder;
use crate::settings::Outliers;

/// A mean distance that was computed in f32 is wrong by no more than this part of it.
const VALUE_ERROR: f64 = 6e-7;
/// Errors of this many points are taken as if they were all to the same side.
const POINTS_OF_ONE_MIND: f64 = 1024.0;
/// Points this near to the threshold (a part of it) are decided again in f64.
const CLOSE: f64 = 1e-5;
/// Squared distances in f32 and in f64 differ by less than this part.
const STRETCH: f32 = 1.0 + 1e-5;
/// Running sums side by side.
const LANES: usize = 8;

/// Where the values of points are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order<'a> {
    /// Row by row of a picture with so many columns.
    Rows(usize),
    /// Tile by tile in the order of a tree.
    Tiles(&'a TreeOrder),
}

impl Order<'_> {
    /// Column and row in the field of the point with a value.
    fn column_row(&self, place: usize) -> (usize, usize) {
        match self {
            Self::Rows(width) => (place % width, place / width),
            Self::Tiles(_) => {
                let (tile, i) = (place / TILE_POINTS, place % TILE_POINTS);
                (tile * TILE_COLUMNS + i % TILE_COLUMNS, i / TILE_COLUMNS)
            }
        }
    }

    /// Number in the cloud of the point with a value.
    fn number(&self, place: usize) -> usize {
        match self {
            Self::Rows(_) => place,
            Self::Tiles(tree) => tree.number(place),
        }
    }
}

/// Mean distances to the nearest of all points of a field, below 0 where there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured<'a> {
    pub(super) field: &'a PointTiles,
    pub(super) lens: Option<&'a Lens>,
    pub(super) order: Order<'a>,
    pub(super) values: &'a [f32],
}

/// Says for each point whether it is an outlier.
///
/// If `exact_values` is given, points near to the threshold are measured in f64, and all points if
/// one is so near that the threshold itself has to be known in f64.
pub(super) fn decide(
    measured: &Measured<'_>,
    settings: &Outliers,
    search: &mut Search,
    exact_values: Option<&mut Vec<f64>>,
    outliers: &mut [bool],
) {
    let statistics = Statistics::of(measured.values, measured.field.points);
    let threshold = statistics.threshold(settings.std_ratio);
    let doubt = statistics.doubt(settings.std_ratio);
    let close = if exact_values.is_some() { CLOSE * threshold + doubt } else { -1.0 };
    let mut in_doubt = false;
    for (place, &value) in measured.values.iter().enumerate() {
        let mut value = f64::from(value);
        if value < 0.0 {
            continue;
        }
        if (value - threshold).abs() <= close {
            value = exact_value(measured, search, place);
            in_doubt |= (value - threshold).abs() <= doubt;
        }
        outliers[measured.order.number(place)] = is_beyond(value, threshold);
    }
    if let Some(values) = exact_values.filter(|_| in_doubt) {
        decide_in_f64(measured, settings, search, values, outliers);
    }
}

/// As [`decide`], with everything in f64 and added up in the order of the cloud, as Open3D does.
fn decide_in_f64(
    measured: &Measured<'_>,
    settings: &Outliers,
    search: &mut Search,
    values: &mut Vec<f64>,
    outliers: &mut [bool],
) {
    values.clear();
    values.resize(outliers.len(), -1.0);
    for (place, &value) in measured.values.iter().enumerate() {
        if value >= 0.0 {
            values[measured.order.number(place)] = exact_value(measured, search, place);
        }
    }
    let above = |value: &&f64| **value > 0.0;
    let points = measured.field.points as f64;
    let mean = values.iter().filter(above).sum::<f64>() / points;
    let squares = values.iter().filter(above).map(|v| (v - mean) * (v - mean)).sum::<f64>();
    let threshold = mean + settings.std_ratio * (squares / (points - 1.0)).sqrt();
    for (outlier, &value) in outliers.iter_mut().zip(values.iter()) {
        *outlier = value >= 0.0 && is_beyond(value, threshold);
    }
}

/// Open3D keeps what is above 0 and below the threshold.
fn is_beyond(value: f64, threshold: f64) -> bool {
    !(value > 0.0 && value < threshold)
}

/// A point's mean distance to its nearest, in f64.
fn exact_value(measured: &Measured<'_>, search: &mut Search, place: usize) -> f64 {
    let Measured { field, lens, order, .. } = *measured;
    let (column, row) = order.column_row(place);
    let p = field.point(column, row);
    let value = measured.values[place];
    // As many as asked for in the very place: there may be thousands more.
    if value == 0.0 {
        return 0.0;
    }
    let mut tiles = search.take_near_tiles();
    tiles.clear();
    let sorted2 = match order {
        Order::Rows(_) => nearest(field, lens, search, (column, row), f32::INFINITY),
        Order::Tiles(tree) => {
            // No distance is above the sum of all.
            let sum_m = value * search.k() as f32;
            let bound2 = sum_m * sum_m * STRETCH;
            tree.near(&[p, p], bound2, &mut tiles);
            search.start(bound2);
            for &tile in &tiles {
                if box_distance2(field, tile as usize, p) <= search.bound2() {
                    search.offer_tile(field, tile as usize, &(0..field.rows), p);
                }
            }
            search.finish()
        }
    };
    let (count, farthest2) = (sorted2.len(), sorted2.last().copied().unwrap_or(0.0));
    let bound2 = farthest2 * STRETCH;
    let mut best = [f64::INFINITY; MOST_NEIGHBOURS];
    let best = &mut best[..count];
    if let Some(lens) = lens {
        tiles.extend(lens.region(field, p, bound2).tiles(field).map(|tile| tile as u32));
    }
    for &tile in &tiles {
        let tile = tile as usize;
        if box_distance2(field, tile, p) > bound2 {
            continue;
        }
        let (column, row) = field.corner(tile);
        for i in 0..TILE_COLUMNS * TILE_ROWS {
            let q = field.point(column + i % TILE_COLUMNS, row + i / TILE_COLUMNS);
            let d2: f64 = (0..3).map(|a| (f64::from(p[a]) - f64::from(q[a])).powi(2)).sum();
            if best.last().is_some_and(|&last| d2 < last) {
                let at = best.partition_point(|&b| b <= d2);
                best[at..].rotate_right(1);
                best[at] = d2;
            }
        }
    }
    search.give_near_tiles(tiles);
    best.iter().map(|d2| d2.sqrt()).sum::<f64>() / count as f64
}

/// Of the values of all points.
struct Statistics {
    points: f64,
    mean: f64,
    deviation: f64,
}

impl Statistics {
    /// As Open3D has them: points with value 0 count, but add nothing to the deviation. The order
    /// of additions is fixed.
    fn of(values: &[f32], points: usize) -> Self {
        let points = points as f64;
        let mean = add_up(values, |value| value) / points;
        let squares = add_up(values, |value| (value - mean) * (value - mean));
        Self { points, mean, deviation: (squares / (points - 1.0)).sqrt() }
    }

    fn threshold(&self, ratio: f64) -> f64 {
        self.mean + ratio * self.deviation
    }

    /// How wrong the threshold can be: errors of many points are to both sides and cancel.
    fn doubt(&self, ratio: f64) -> f64 {
        let together = (POINTS_OF_ONE_MIND / self.points).min(1.0).sqrt();
        let size = self.mean + ratio * self.mean.hypot(self.deviation);
        VALUE_ERROR * size * together
    }
}

/// Sum of the terms of values above 0.
fn add_up(values: &[f32], term: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let mut chunks = values.chunks_exact(LANES);
    for chunk in &mut chunks {
        for i in 0..LANES {
            lanes[i] += if chunk[i] > 0.0 { term(f64::from(chunk[i])) } else { 0.0 };
        }
    }
    let rest = chunks.remainder().iter().filter(|v| **v > 0.0).map(|&v| term(f64::from(v)));
    lanes.into_iter().chain(rest).sum()
}
