//! Damped least squares (Levenberg-Marquardt, as in singularity-robust inverses) with bounds: joint
//! speeds for a wanted speed of the hand. Bounds are met by an active set: a joint at its bound is
//! taken out and the rest is solved again.

use nalgebra::{Matrix3, Matrix6, SMatrix, SVector};

/// The damping grows from nothing at this many times itself to its full value at 0.
pub(crate) const FADE: f64 = 3.0;
/// Keeps the square matrix invertible where there is no damping.
const TINY: f64 = 1e-14;

/// A square matrix whose smallest eigenvalue can be told.
pub(crate) trait Square {
    fn smallest(&self) -> f64;
}

impl Square for Matrix3<f64> {
    fn smallest(&self) -> f64 {
        self.symmetric_eigenvalues().min()
    }
}

impl Square for Matrix6<f64> {
    fn smallest(&self) -> f64 {
        self.symmetric_eigenvalues().min()
    }
}

/// Smallest singular value of the matrix with these columns.
pub(crate) fn sigma_min<const R: usize>(columns: impl Iterator<Item = SVector<f64, R>>) -> f64
where
    SMatrix<f64, R, R>: Square,
{
    let square = columns.fold(SMatrix::zeros(), |sum, c| sum + c * c.transpose());
    square.smallest().max(0.0).sqrt()
}

/// Variable damping by the smallest singular value (Nakamura and Hanafusa): 0 away from singular poses, so that the hand does exactly what is asked, and
/// rises smoothly to `lambda` where it cannot.
pub(crate) fn damping(lambda: f64, sigma_min: f64) -> f64 {
    let near = 1.0 - (sigma_min / (FADE * lambda)).powi(2);
    lambda * near.max(0.0).sqrt()
}

/// Whether the damping is at work.
pub(crate) fn is_singular(lambda: f64, sigma_min: f64) -> bool {
    sigma_min < FADE * lambda
}

/// Joint speeds of least squares: `columns * speeds` near `wanted`.
pub(crate) fn damped<const R: usize>(
    columns: &[SVector<f64, R>],
    wanted: &SVector<f64, R>,
    lambda: f64,
    speeds: &mut [f64],
) {
    let bounds = [f64::NEG_INFINITY, f64::INFINITY];
    bounded(columns, wanted, [lambda, lambda], |_| bounds, speeds);
}

/// The same with bounds on each speed: what a bounded joint cannot do the others take over, as
/// far as they can. `lambda` is for all joints free and for some at their bounds. Answers one
/// bit per joint at its bound.
pub(crate) fn bounded<const R: usize>(
    columns: &[SVector<f64, R>],
    wanted: &SVector<f64, R>,
    lambda: [f64; 2],
    bounds: impl Fn(usize) -> [f64; 2],
    speeds: &mut [f64],
) -> u32 {
    let mut fixed = 0_u32;
    for _ in 0..=columns.len() {
        let lambda = lambda[usize::from(fixed != 0)];
        let mut square = SMatrix::<f64, R, R>::identity() * (lambda * lambda + TINY);
        let mut rest = *wanted;
        for (j, column) in columns.iter().enumerate() {
            if fixed >> j & 1 == 1 {
                rest -= column * speeds[j];
            } else {
                square += column * column.transpose();
            }
        }
        let pull = match square.cholesky() {
            Some(factors) => factors.solve(&rest),
            None => SVector::zeros(),
        };
        let mut worst = (0.0, None);
        for (j, column) in columns.iter().enumerate() {
            if fixed >> j & 1 == 1 {
                continue;
            }
            speeds[j] = column.dot(&pull);
            let [low, high] = bounds(j);
            let over = (speeds[j] - high).max(low - speeds[j]);
            if over > worst.0 {
                worst = (over, Some((j, speeds[j].clamp(low, high))));
            }
        }
        let Some((j, bound)) = worst.1 else { break };
        speeds[j] = bound;
        fixed |= 1 << j;
    }
    fixed
}
