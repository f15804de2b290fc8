//! Distances to the nearest for every point of a picture that a pinhole camera took.

use super::PictureXyz;
use super::field::Field;
use super::lens::Lens;
use super::search::{Search, mean_of_roots, nearest};
use super::share::share;

/// Writes a picture to the field and counts the points of its rows.
pub(super) fn lay_out(picture: &PictureXyz<'_>, field: &mut Field, row_points: &mut Vec<u32>) {
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

/// Writes the mean distance to the nearest points of every point, row by row.
pub(super) fn measure(
    field: &Field,
    lens: &Lens,
    workers: &mut [Search],
    row_points: &[u32],
    width: usize,
    values: &mut Vec<f32>,
) {
    values.clear();
    values.resize(row_points.len() * width, -1.0);
    share(workers, values, width, row_points, &|search, first, values| {
        for (i, values) in values.chunks_exact_mut(width).enumerate() {
            for (column, value) in values.iter_mut().enumerate() {
                let at = (column, first + i);
                if field.point(column, first + i)[0] < f32::INFINITY {
                    let sorted2 = nearest(field, Some(lens), search, at, f32::INFINITY);
                    *value = mean_of_roots(sorted2);
                }
            }
        }
    });
}
