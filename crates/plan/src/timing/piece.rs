//! A piece of a motion: one polynomial in time for all joints, its derivatives, and boxes around
//! any part of it (a polynomial lies in the hull of its Bernstein coefficients).

use super::Joints;
use crate::config::MAX_JOINTS;

/// Highest degree of a piece: a cubic curve passed by a cubic law of time.
pub(super) const MOST_DEGREE: usize = 9;

/// A polynomial in the time since it began, the same degree for all joints.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) begin_s: f64,
    /// The constant one first; at least one, at most [`MOST_DEGREE`] and one.
    pub(super) coefficients: Vec<Joints>,
}

impl Piece {
    /// The value at a time since it began, or of a derivative.
    pub(super) fn value(&self, joint: usize, derivative: usize, t: f64) -> f64 {
        let c = &self.coefficients;
        let factor = |k: usize| (k + 1 - derivative..=k).map(|n| n as f64).product::<f64>();
        let Some(top) = c.len().checked_sub(1).filter(|top| *top >= derivative) else {
            return 0.0;
        };
        if top == derivative {
            return factor(top) * c[top][joint];
        }
        let mut sum = t * factor(top) * c[top][joint];
        for k in (derivative + 1..top).rev() {
            sum = t * (factor(k) * c[k][joint] + sum);
        }
        factor(derivative) * c[derivative][joint] + sum
    }

    /// Bernstein coefficients of a derivative between two times, one row for each.
    pub(super) fn bernstein(&self, derivative: usize, from: f64, to: f64) -> Vec<Joints> {
        let count = self.coefficients.len();
        let degree = (count - 1).saturating_sub(derivative);
        let mut rows = vec![[0.0; MAX_JOINTS]; degree + 1];
        if count <= derivative {
            return rows;
        }
        let width = to - from;
        let factors: Vec<f64> = (derivative..count)
            .map(|k| (k + 1 - derivative..=k).map(|n| n as f64).product())
            .collect();
        // From powers to Bernstein polynomials, and to a variable that goes from 0 to 1.
        let weights = bernstein_weights(degree, width);
        for joint in 0..MAX_JOINTS {
            // The derivative's coefficients about `from`.
            let mut c = [0.0; MOST_DEGREE + 1];
            for (k, factor) in factors.iter().enumerate() {
                c[k] = factor * self.coefficients[k + derivative][joint];
            }
            if from != 0.0 {
                for low in 0..degree {
                    for k in (low..degree).rev() {
                        c[k] += from * c[k + 1];
                    }
                }
            }
            for (row, weights) in rows.iter_mut().zip(&weights) {
                row[joint] = weights.iter().zip(&c).map(|(weight, c)| weight * c).sum();
            }
        }
        rows
    }

    /// The range of a joint's derivative between two times.
    pub(super) fn range(rows: &[Joints], joint: usize) -> [f64; 2] {
        let ends =
            |[low, high]: [f64; 2], row: &Joints| [low.min(row[joint]), high.max(row[joint])];
        rows.iter().fold([f64::INFINITY, f64::NEG_INFINITY], ends)
    }

    /// The same piece passed at a fraction of its speed.
    pub(super) fn slow_down(&mut self, fraction: f64) {
        self.begin_s /= fraction;
        let mut power = 1.0;
        for coefficient in &mut self.coefficients {
            *coefficient = coefficient.map(|c| c * power);
            power *= fraction;
        }
    }
}

/// What each coefficient of powers counts in each of Bernstein.
fn bernstein_weights(degree: usize, width: f64) -> Vec<Vec<f64>> {
    let row = |i: usize| {
        let weight = |k: usize| binomial(i, k) / binomial(degree, k) * width.powi(k as i32);
        (0..=i).map(weight).collect()
    };
    (0..=degree).map(row).collect()
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// Coefficients of a polynomial of another: `outer` in `inner`, the constant one first.
pub(super) fn composed(outer: &[Joints], inner: &[f64]) -> Vec<Joints> {
    let degree = (outer.len() - 1) * (inner.len() - 1);
    let mut sum = vec![[0.0; MAX_JOINTS]; degree + 1];
    let mut power = vec![1.0];
    for row in outer {
        for (k, p) in power.iter().enumerate() {
            for joint in 0..MAX_JOINTS {
                sum[k][joint] += row[joint] * p;
            }
        }
        let mut next = vec![0.0; power.len() + inner.len() - 1];
        for (i, p) in power.iter().enumerate() {
            for (k, c) in inner.iter().enumerate() {
                next[i + k] += p * c;
            }
        }
        power = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use citrange_core::rng::Rng;

    use super::*;

    fn piece(rng: &mut Rng, degree: usize) -> Piece {
        let row = |rng: &mut Rng| std::array::from_fn(|_| rng.uniform(-1.0, 1.0));
        Piece { begin_s: 0.0, coefficients: (0..=degree).map(|_| row(rng)).collect() }
    }

    #[test]
    fn bernstein_coefficients_hold_the_piece_and_meet_its_ends() {
        let mut rng = Rng::new(5);
        for degree in 0..=MOST_DEGREE {
            let piece = piece(&mut rng, degree);
            let (from, to) = (rng.uniform(0.0, 0.5), rng.uniform(0.5, 1.2));
            for derivative in 0..4 {
                let rows = piece.bernstein(derivative, from, to);
                for joint in 0..MAX_JOINTS {
                    let [low, high] = Piece::range(&rows, joint);
                    for step in 0..=50 {
                        let t = from + (to - from) * f64::from(step) / 50.0;
                        let value = piece.value(joint, derivative, t);
                        assert!(low - 1e-6 <= value && value <= high + 1e-6, "{degree}");
                    }
                    let first = piece.value(joint, derivative, from);
                    assert!((rows[0][joint] - first).abs() < 1e-8 * (1.0 + first.abs()));
                }
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        let piece = piece(&mut Rng::new(6), 6);
        for derivative in 0..3 {
            let (t, h) = (0.7, 1e-5);
            let ends = [t - h, t + h].map(|t| piece.value(2, derivative, t));
            let slope = (ends[1] - ends[0]) / (2.0 * h);
            let exact = piece.value(2, derivative + 1, t);
            assert!((slope - exact).abs() < 1e-6 * (1.0 + exact.abs()), "{slope} {exact}");
        }
    }

    #[test]
    fn a_composed_polynomial_is_the_outer_one_at_the_inner_one() {
        let mut rng = Rng::new(7);
        let outer = piece(&mut rng, 3);
        let inner = [0.1, 0.8, -0.3, 0.2];
        let made = Piece { begin_s: 0.0, coefficients: composed(&outer.coefficients, &inner) };
        for t in [0.0, 0.3, 1.1] {
            let u = inner[0] + t * (inner[1] + t * (inner[2] + t * inner[3]));
            assert!((made.value(4, 0, t) - outer.value(4, 0, u)).abs() < 1e-12);
        }
    }
}
