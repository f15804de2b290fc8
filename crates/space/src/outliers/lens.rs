//! Which pixels can be near to a point: a pinhole camera sees a point's neighbours close to it.
//!
//! Pixels from a column on lie beyond the plane through the camera and that column, so nothing
//! there is nearer to a point than that plane; likewise to the left, above and below.

use std::ops::Range;

use super::field::PointTiles;
use super::search::Region;
use citrange_cloud::LineFit;

/// Pixels may be this far from where the camera should see them.
const MOST_OFF_PX: f64 = 0.5;
/// Tangents in f32 are less exact than this, per unit.
const ROUNDING: f64 = 2e-6;
/// Every so manieth column and row is used to fit the camera.
const FIT_STEP: usize = 7;

/// Tangents of viewing angles along one axis of the picture: `first + number * step`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tangents {
    pub(super) first: f64,
    pub(super) step: f64,
    /// No point is farther from its tangent than this.
    pub(super) slack: f64,
}

/// How the pixels of a picture look, checked for every point of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lens {
    pub(super) across: Tangents,
    pub(super) down: Tangents,
}

impl Lens {
    /// The camera of a field that is a picture; none if the points are not where a pinhole camera
    /// sees them.
    pub(super) fn of(field: &PointTiles) -> Option<Self> {
        let (mut across, mut down) = (LineFit::default(), LineFit::default());
        for row in (0..field.rows).step_by(FIT_STEP) {
            for column in (0..field.columns).step_by(FIT_STEP) {
                let [x, y, z] = field.point(column, row).map(f64::from);
                if x < f64::INFINITY && z > 0.0 {
                    across.add(column as f64, x / z);
                    down.add(row as f64, y / z);
                }
            }
        }
        let tangents =
            |line: LineFit| line.rising().map(|(step, first)| Tangents { first, step, slack: 0.0 });
        let (mut across, mut down) = (tangents(across)?, tangents(down)?);
        let (off_x, off_y) = farthest_off(field, across, down)?;
        across.slack = f64::from(off_x) + across.rounding(field.columns);
        down.slack = f64::from(off_y) + down.rounding(field.rows);
        let fits = |t: &Tangents| t.slack < MOST_OFF_PX * t.step;
        (fits(&across) && fits(&down)).then_some(Self { across, down })
    }

    /// Tiles that can hold points within a squared distance of a point.
    pub(super) fn region(&self, field: &PointTiles, p: [f32; 3], bound2: f32) -> Region {
        let [x, y, z] = p.map(f64::from);
        let reach_m = f64::from(bound2).sqrt() * (1.0 + ROUNDING);
        let columns = self.across.numbers(x, z, reach_m, field.columns);
        let rows = self.down.numbers(y, z, reach_m, field.rows);
        Region::of(field, columns, rows)
    }
}

impl Tangents {
    /// What rounding can make of a tangent.
    fn rounding(&self, numbers: usize) -> f64 {
        let last = self.first + self.step * numbers as f64;
        ROUNDING * (1.0 + self.first.abs().max(last.abs()))
    }

    /// Columns (or rows) that can see something within a distance of a point at `x` and `z`: the
    /// angle at the camera between the tangents of a circle around the point.
    fn numbers(&self, x: f64, z: f64, reach_m: f64, all: usize) -> Range<usize> {
        let length2 = x * x + z * z - reach_m * reach_m;
        if length2 <= 0.0 {
            return 0..all;
        }
        let (here, half) = (x / z, reach_m / length2.sqrt());
        // Tangents of sums of angles; beyond a right angle everything can be seen.
        let (under, over) = (1.0 + here * half, 1.0 - here * half);
        let number = |tangent: f64| (tangent - self.first) / self.step;
        let low = if under > 0.0 { number((here - half) / under - self.slack).ceil() } else { 0.0 };
        let high = if over > 0.0 {
            number((here + half) / over + self.slack).floor() + 1.0
        } else {
            all as f64
        };
        let most = all as f64;
        let low = low.clamp(0.0, most) as usize;
        low..(high.clamp(0.0, most) as usize).max(low)
    }
}

/// How far points are off the lines at most, in tangents; none if one is not before the camera.
fn farthest_off(field: &PointTiles, across: Tangents, down: Tangents) -> Option<(f32, f32)> {
    const LANES: usize = 16;
    let (mut off_x, mut off_y) = ([0.0_f32; LANES], [0.0_f32; LANES]);
    let mut nearest_z = [f32::INFINITY; LANES];
    for row in 0..field.rows {
        let tangent_y = (down.first + down.step * row as f64) as f32;
        for column in (0..field.columns).step_by(LANES) {
            let start = field.place(column, row);
            let run = start..start + LANES;
            let (x, y, z) = (&field.x[run.clone()], &field.y[run.clone()], &field.z[run]);
            let tangent_x = (across.first + across.step * column as f64) as f32;
            for i in 0..LANES {
                let here = x[i] < f32::INFINITY;
                let one_by_z = 1.0 / z[i];
                let ideal = tangent_x + across.step as f32 * i as f32;
                let dx = if here { (x[i] * one_by_z - ideal).abs() } else { 0.0 };
                let dy = if here { (y[i] * one_by_z - tangent_y).abs() } else { 0.0 };
                let ahead = if here { z[i] } else { f32::INFINITY };
                off_x[i] = if dx > off_x[i] { dx } else { off_x[i] };
                off_y[i] = if dy > off_y[i] { dy } else { off_y[i] };
                nearest_z[i] = if ahead < nearest_z[i] { ahead } else { nearest_z[i] };
            }
        }
    }
    let most = |lanes: [f32; LANES]| lanes.into_iter().fold(0.0, f32::max);
    // Smaller ones have no reciprocal.
    let ahead = nearest_z.iter().all(|&z| z >= f32::MIN_POSITIVE);
    ahead.then(|| (most(off_x), most(off_y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOCAL_PX: f32 = 300.0;

    /// A picture of a slanted wall, with points moved to the right by `moved_px`.
    fn field(moved_px: impl Fn(usize) -> f32) -> PointTiles {
        let mut field = PointTiles::default();
        field.resize(64, 40);
        for row in 0..40 {
            let z: Vec<f32> = (0..64).map(|c| 1.0 + 0.01 * c as f32).collect();
            let x: Vec<f32> =
                (0..64).map(|c| (c as f32 + moved_px(c) - 30.0) / FOCAL_PX * z[c]).collect();
            let y: Vec<f32> = z.iter().map(|z| (row as f32 - 22.0) / FOCAL_PX * z).collect();
            field.write(0, row, &x, &y, &z);
        }
        field.measure_tiles();
        field
    }

    #[test]
    fn the_camera_of_a_picture_is_found() {
        let lens = Lens::of(&field(|_| 0.0)).unwrap();
        assert!((lens.across.step * f64::from(FOCAL_PX) - 1.0).abs() < 1e-5);
        assert!((lens.across.first + 30.0 / f64::from(FOCAL_PX)).abs() < 1e-6);
        assert!((lens.down.first + 22.0 / f64::from(FOCAL_PX)).abs() < 1e-6);
        assert!(lens.across.slack < 1e-2 * lens.across.step);
        let bent = Lens::of(&field(|c| 0.2 * (c as f32).sin())).unwrap();
        assert!(bent.across.slack > 0.15 * bent.across.step);
    }

    #[test]
    fn other_pictures_have_no_lens() {
        assert_eq!(Lens::of(&field(|c| if c == 33 { 0.9 } else { 0.0 })), None);
        assert_eq!(Lens::of(&field(|c| -2.0 * c as f32)), None);
        let mut behind = field(|_| 0.0);
        let place = behind.place(20, 20);
        behind.z[place] = -behind.z[place];
        (behind.x[place], behind.y[place]) = (-behind.x[place], -behind.y[place]);
        assert_eq!(Lens::of(&behind), None);
    }

    #[test]
    fn a_region_holds_all_points_within_its_distance() {
        let field = field(|c| 0.2 * (c as f32 * 0.7).sin());
        let lens = Lens::of(&field).unwrap();
        for (column, row, reach_m) in [(0, 0, 0.02), (31, 20, 0.01), (63, 39, 0.1), (5, 30, 1.2)] {
            let p = field.point(column, row);
            let columns = lens.across.numbers(p[0].into(), p[2].into(), reach_m, 64);
            let rows = lens.down.numbers(p[1].into(), p[2].into(), reach_m, 40);
            for i in 0..64 * 40 {
                let q = field.point(i % 64, i / 64);
                let d2: f64 = (0..3).map(|a| f64::from(p[a] - q[a]).powi(2)).sum();
                if d2.sqrt() <= reach_m {
                    assert!(columns.contains(&(i % 64)) && rows.contains(&(i / 64)));
                }
            }
            assert!(reach_m > 0.05 || columns.len() * rows.len() < 400);
        }
    }
}
