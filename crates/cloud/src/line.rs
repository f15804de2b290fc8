//! Straight lines through points.

/// Sums for the line of least squares.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineFit {
    n: f64,
    a: f64,
    b: f64,
    aa: f64,
    ab: f64,
}

impl LineFit {
    /// Takes a point in.
    pub fn add(&mut self, a: f64, b: f64) {
        self.n += 1.0;
        self.a += a;
        self.b += b;
        self.aa += a * a;
        self.ab += a * b;
    }

    /// Slope, and value at 0; none if it does not rise.
    #[must_use]
    pub fn rising(&self) -> Option<(f64, f64)> {
        let slope = (self.n * self.ab - self.a * self.b) / (self.n * self.aa - self.a * self.a);
        let start = (self.b - slope * self.a) / self.n;
        (slope.is_finite() && slope > 0.0).then_some((slope, start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(points: &[(f64, f64)]) -> Option<(f64, f64)> {
        let mut line = LineFit::default();
        points.iter().for_each(|(a, b)| line.add(*a, *b));
        line.rising()
    }

    #[test]
    fn lines_rise_or_are_none() {
        let (slope, start) = through(&[(0.0, 1.0), (1.0, 3.5), (2.0, 4.5), (3.0, 7.0)]).unwrap();
        assert!((slope - 1.9).abs() < 1e-12 && (start - 1.15).abs() < 1e-12);
        assert_eq!(through(&[(0.0, 1.0), (1.0, 0.0)]), None);
        assert_eq!(through(&[(2.0, 1.0), (2.0, 3.0)]), None);
        assert_eq!(through(&[]), None);
    }
}
