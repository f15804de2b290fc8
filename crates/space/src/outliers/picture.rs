//! Distances to the nearest for every point of a picture that a pinhole camera took.

use super::PictureXyz;
use super::distribute::distribute;
use super::field::PointTiles;
use super::lens::Lens;
use super::search::{Known, Search, mean_of_roots, nearest};
use super::window::{self, Doubtful, Row, Windows};
use crate::settings::OutlierMode;

/// Writes a picture to the field and counts the points of its rows.
pub(super) fn lay_out(picture: &PictureXyz<'_>, field: &mut PointTiles, row_points: &mut Vec<u32>) {
    let width = picture.width;
    field.resize(width, picture.x.len() / width);
    row_points.clear();
    let rows = picture.x.chunks(width).zip(picture.y.chunks(width)).zip(picture.z.chunks(width));
    for (row, ((x, y), z)) in rows.enumerate() {
        row_points.push(field.write(0, row, x, y, z));
        field.clear_row(width, row);
    }
    for row in picture.x.len() / width..field.rows {
        field.clear_row(0, row);
    }
}

/// A picture in a field, ready to be measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picture<'a> {
    pub(super) field: &'a PointTiles,
    pub(super) lens: &'a Lens,
    pub(super) windows: &'a Windows,
    pub(super) row_points: &'a [u32],
    pub(super) width: usize,
    pub(super) mode: OutlierMode,
}

/// What a thread needs to measure rows.
#[derive(Debug, Default)]
pub(super) struct Worker {
    pub(super) search: Search,
    doubtful: Vec<Doubtful>,
}

impl Picture<'_> {
    /// Writes the mean distance to the nearest points of every point, row by row.
    pub(super) fn measure(&self, workers: &mut [Worker], values: &mut Vec<f32>) {
        values.clear();
        values.resize(self.row_points.len() * self.width, -1.0);
        distribute(workers, values, self.width, &|worker, first, values| {
            worker.doubtful.reserve(self.width);
            for (i, values) in values.chunks_exact_mut(self.width).enumerate() {
                if self.row_points[first + i] > 0 {
                    self.measure_row(worker, first + i, values);
                }
            }
        });
    }

    fn measure_row(&self, worker: &mut Worker, row: usize, values: &mut [f32]) {
        let Worker { search, doubtful } = worker;
        doubtful.clear();
        if search.k() <= window::MOST {
            let exact = self.mode == OutlierMode::Exact;
            let Self { field, windows, .. } = *self;
            let row = Row { field, windows, row, k: search.k(), exact };
            window::measure_row(search.isa(), &row, values, doubtful);
        } else {
            let seen = (0..self.width).filter(|c| self.field.point(*c, row)[0] < f32::INFINITY);
            doubtful.extend(seen.map(|column| (column as u32, f32::INFINITY)));
        }
        let mut before: Option<Known> = None;
        for &(column, bound2) in doubtful.iter() {
            let column = column as usize;
            let p = self.field.point(column, row);
            let bound2 = before.map_or(bound2, |known| known.bound2(p).min(bound2));
            let sorted2 = nearest(self.field, Some(self.lens), search, (column, row), bound2);
            values[column] = mean_of_roots(sorted2);
            before = Some(Known::of(p, sorted2));
        }
    }
}
