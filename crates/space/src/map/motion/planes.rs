//! Planes that carry things: tables, floors, walls. Found by random triples of points (RANSAC) and
//! fitted to all points near them.

use citrange_core::rng::Rng;
use nalgebra::{Matrix3, Vector3};

use super::{Kind, Sample, tolerance_m};

/// No more planes than this in a cell.
const MOST_PLANES: usize = 4;
/// Points that are looked at.
const POINTS: usize = 1500;
/// Triples that are tried for one plane: one in 13 of three quarters of the points is enough.
const TRIES: usize = 120;
/// A plane has so large a part of the points, and so much area; smaller ones are sides of things.
const MIN_PART: f64 = 0.06;
const MIN_AREA_M2: f64 = 0.12;
/// Points within so much of a plane are of it, for fitting.
const FIT_M: f64 = 0.012;

/// Planes of one camera's scene: normal and distance from the world's origin.
#[derive(Clone, Debug, Default)]
pub(super) struct Planes {
    planes: Vec<(Vector3<f64>, f64)>,
    points: Vec<(Vector3<f64>, f64)>,
}

impl Planes {
    /// Looks for them in the samples that stand still; `pixel_m` is the size of a sample at a
    /// depth of 1 m.
    pub(super) fn find(&mut self, samples: &[Sample], pixel_m: f32) {
        self.planes.clear();
        self.points.clear();
        let is_still = |s: &&Sample| s.kind == Kind::Still;
        let step = (samples.iter().filter(is_still).count() / POINTS).max(1);
        let still = samples.iter().filter(is_still).step_by(step);
        self.points.extend(still.map(|s| {
            let side = f64::from(pixel_m * s.depth_m);
            (Vector3::from(s.place_m.map(f64::from)), side * side * step as f64)
        }));
        // The same planes every time that the same is seen.
        let mut rng = Rng::new(7);
        let whole = self.points.len();
        while self.planes.len() < MOST_PLANES && self.points.len() >= 30 {
            let best = (0..TRIES).filter_map(|_| self.guess(&mut rng)).max_by_key(|found| found.0);
            let Some((inliers, normal, offset)) = best else { break };
            if (inliers as f64) < MIN_PART * whole as f64 {
                break;
            }
            let (normal, offset) = self.fitted(normal, offset);
            let near = |point: &Vector3<f64>| (normal.dot(point) - offset).abs() < FIT_M;
            let area_m2: f64 = self.points.iter().filter(|(p, _)| near(p)).map(|(_, a)| a).sum();
            if area_m2 < MIN_AREA_M2 {
                break;
            }
            self.planes.push((normal, offset));
            // Twice as far out: what the fit leaves must not become a plane of its own.
            self.points.retain(|(p, _)| (normal.dot(p) - offset).abs() > 2.0 * FIT_M);
        }
    }

    /// A plane through three points, and how many are near it.
    fn guess(&self, rng: &mut Rng) -> Option<(usize, Vector3<f64>, f64)> {
        let [a, b, c] = std::array::from_fn(|_| self.points[rng.below(self.points.len())].0);
        let normal = (b - a).cross(&(c - a)).try_normalize(1e-6)?;
        let offset = normal.dot(&a);
        let near = |(p, _): &&(Vector3<f64>, f64)| (normal.dot(p) - offset).abs() < FIT_M;
        Some((self.points.iter().filter(near).count(), normal, offset))
    }

    /// The plane of least squares of the points near one, twice.
    fn fitted(&self, mut normal: Vector3<f64>, mut offset: f64) -> (Vector3<f64>, f64) {
        for _ in 0..2 {
            let near = |p: &Vector3<f64>| (normal.dot(p) - offset).abs() < FIT_M;
            let (mut sum, mut count) = (Vector3::zeros(), 0.0);
            for (p, _) in self.points.iter().filter(|(p, _)| near(p)) {
                sum += p;
                count += 1.0;
            }
            if count < 3.0 {
                break;
            }
            let mean = sum / count;
            let mut spread = Matrix3::zeros();
            for (p, _) in self.points.iter().filter(|(p, _)| near(p)) {
                spread += (p - mean) * (p - mean).transpose();
            }
            let eigen = spread.symmetric_eigen();
            let least = eigen.eigenvalues.imin();
            normal = eigen.eigenvectors.column(least).into_owned();
            offset = normal.dot(&mean);
        }
        (normal, offset)
    }

    /// Samples of planes become `Nothing`.
    pub(super) fn take_away(&self, samples: &mut [Sample]) {
        for (normal, offset) in &self.planes {
            let (normal, offset) = (normal.cast::<f32>(), *offset as f32);
            for sample in samples.iter_mut().filter(|s| s.kind != Kind::Nothing) {
                let [x, y, z] = sample.place_m;
                let off = normal.x * x + normal.y * y + normal.z * z - offset;
                if off.abs() < tolerance_m(sample.depth_m) {
                    sample.kind = Kind::Nothing;
                }
            }
        }
    }
}
