//! The pinhole of points without order: their slopes `x / z` and `y / z` come in equal steps, one
//! per column and row, so the steps are the focal lengths.

use crate::cloud::Pinhole;

/// Points that are looked at.
const SAMPLES: usize = 40_000;
/// Fewer points or columns say nothing.
const FEWEST: usize = 64;
/// Slopes of one column differ by rounding: less than this part of a step.
const SAME: f64 = 0.1;
/// So many of the points must lie on the lattice.
const MIN_FITTING: f64 = 0.98;
/// Focal lengths of cameras, in pixels.
const FOCAL_PX: std::ops::Range<f64> = 20.0..20_000.0;

/// The focal lengths of points that a pinhole camera took, and a centre that is right but for
/// whole pixels: slope 0 may be any column. None where no lattice is found.
pub(crate) fn pinhole_of(
    slopes: impl Fn(usize) -> Option<[f64; 2]>,
    len: usize,
) -> Option<Pinhole> {
    let step = (len / SAMPLES).max(1) | 1;
    let seen: Vec<[f64; 2]> = (0..len).step_by(step).filter_map(slopes).collect();
    let [across, down] = [0, 1].map(|axis| Lattice::of(seen.iter().map(|s| s[axis]).collect()));
    let (across, down) = (across?, down?);
    Some(Pinhole { fx: across.focal_px, fy: down.focal_px, cx: across.centre, cy: down.centre })
}

/// Numbers `(k - centre) / focal_px` for whole k.
#[derive(Debug)]
struct Lattice {
    focal_px: f64,
    centre: f64,
}

impl Lattice {
    fn of(mut slopes: Vec<f64>) -> Option<Self> {
        slopes.sort_by(f64::total_cmp);
        let (first, last) = (*slopes.first()?, *slopes.last()?);
        if slopes.len() < FEWEST || !(last - first).is_finite() {
            return None;
        }
        // Columns: runs of equal slopes. Single precision leaves differences of a few parts in
        // 10^7, columns of cameras are 100 times as far apart.
        let same = 2e-6 * first.abs().max(last.abs()).max(0.1);
        let mut columns: Vec<(f64, usize)> = Vec::new();
        for slope in &slopes {
            match columns.last_mut() {
                Some((sum, count)) if slope - *sum / *count as f64 <= same => {
                    *sum += slope;
                    *count += 1;
                }
                _ => columns.push((*slope, 1)),
            }
        }
        let columns: Vec<f64> = columns.iter().map(|(sum, count)| sum / *count as f64).collect();
        if columns.len() < FEWEST.min(slopes.len() / 8) || columns.len() < 16 {
            return None;
        }
        let mut gaps: Vec<f64> = columns.windows(2).map(|w| w[1] - w[0]).collect();
        gaps.sort_by(f64::total_cmp);
        let mut step = gaps[gaps.len() / 4];
        if !FOCAL_PX.contains(&step.recip()) {
            return None;
        }
        // From near columns to ever farther ones: numbers stay sure, the step gets exact.
        let mut span = 8.0 * step;
        let origin = columns[0];
        while span < 4.0 * (last - first) {
            let near = columns.iter().map(|c| c - origin).take_while(|c| *c <= span);
            let (kk, ks) = near.fold((0.0, 0.0), |(kk, ks), s| {
                let k = (s / step).round();
                (kk + k * k, ks + k * s)
            });
            if kk > 0.0 {
                step = ks / kk;
            }
            span *= 2.0;
        }
        // The origin is a column like all others: its rounding is taken out of the mean.
        let number = |slope: f64| (slope - origin) / step;
        let off: f64 = columns.iter().map(|c| number(*c) - number(*c).round()).sum();
        let shift = off / columns.len() as f64;
        let on = |slope: &&f64| {
            let n = number(**slope) - shift;
            (n - n.round()).abs() < SAME
        };
        let fitting = slopes.iter().filter(on).count();
        let focal_px = step.recip();
        let fits = fitting as f64 >= MIN_FITTING * slopes.len() as f64;
        // Slope 0 stands at column `centre`; the origin at column 0.
        let centre = -(origin + shift * step) / step;
        (fits && FOCAL_PX.contains(&focal_px)).then_some(Self { focal_px, centre })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slopes as single precision leaves them, of every pixel that is seen.
    fn slopes(pinhole: &Pinhole, seen: impl Fn(usize) -> bool) -> Vec<[f64; 2]> {
        let pixels = (0..640 * 480).filter(|i| seen(*i));
        let slope = |i: usize| {
            let z = 0.5 + (i * 7919 % 1000) as f32 * 1e-3;
            let x = ((i % 640) as f64 - pinhole.cx) as f32 / pinhole.fx as f32 * z;
            let y = ((i / 640) as f64 - pinhole.cy) as f32 / pinhole.fy as f32 * z;
            [f64::from(x / z), f64::from(y / z)]
        };
        pixels.map(slope).collect()
    }

    #[test]
    fn focal_lengths_are_found_without_order() {
        let camera = Pinhole { fx: 613.37, fy: 611.9, cx: 318.4, cy: 243.7 };
        let mut all = slopes(&camera, |i| i * 104_729 % 7 > 2 && i % 640 > 100);
        let mid = all.len() / 3;
        all.rotate_left(mid);
        let found = pinhole_of(|i| all.get(i).copied(), all.len()).unwrap();
        assert!((found.fx / camera.fx - 1.0).abs() < 1e-5, "{found:?}");
        assert!((found.fy / camera.fy - 1.0).abs() < 1e-5, "{found:?}");
        let whole = |off: f64| (off - off.round()).abs();
        assert!(whole(found.cx - camera.cx) < 0.02 && whole(found.cy - camera.cy) < 0.02);
    }

    #[test]
    fn clouds_of_no_pinhole_have_none() {
        let bent = |i: usize| {
            let [x, y] = [(i % 640) as f64 / 600.0 - 0.5, (i / 640) as f64 / 600.0 - 0.4];
            let r = 1.0 + 0.1 * (x * x + y * y);
            Some([x * r, y * r])
        };
        assert_eq!(pinhole_of(bent, 640 * 480), None);
        let random =
            |i: usize| Some([(i * 7919 % 65_537) as f64 / 65_537.0, (i * 31 % 1009) as f64]);
        assert_eq!(pinhole_of(random, 200_000), None);
        assert_eq!(pinhole_of(|_| Some([0.1, 0.2]), 1000), None);
        assert_eq!(pinhole_of(|_| None, 1000), None);
    }
}
