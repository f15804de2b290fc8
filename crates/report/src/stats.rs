//! The few statistics a report needs.

use serde::Serialize;

/// Standard normal quantile of a two-sided 95 % interval.
const Z_95: f64 = 1.959_963_984_540_054;

/// How often something went well.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Times it went well.
    pub good: usize,
    /// Times it was tried.
    pub of: usize,
    /// `good / of`.
    #[serde(rename = "share")]
    pub fraction: f64,
    /// Lower and upper end of the 95 % Wilson score interval.
    pub interval_95: [f64; 2],
}

impl Rate {
    /// A rate with its interval; `None` when nothing was tried.
    #[must_use]
    pub fn new(good: usize, of: usize) -> Option<Self> {
        if of == 0 || good > of {
            return None;
        }
        let (n, p) = (of as f64, good as f64 / of as f64);
        let z2 = Z_95 * Z_95;
        let center = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = Z_95 * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
        // At the ends the exact value is 0 or 1; rounding must not leave it.
        let low = if good == 0 { 0.0 } else { (center - half).max(0.0) };
        let high = if good == of { 1.0 } else { (center + half).min(1.0) };
        Some(Self { good, of, fraction: p, interval_95: [low, high] })
    }
}

/// How numbers are spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// How many numbers.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// 5 % are below.
    pub p5: f64,
    /// A quarter is below.
    pub q1: f64,
    /// Half are below.
    pub median: f64,
    /// A quarter is above.
    pub q3: f64,
    /// 5 % are above.
    pub p95: f64,
}

impl Spread {
    /// The spread of the finite numbers; `None` when there are none.
    #[must_use]
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = numbers.into_iter().filter(|x| x.is_finite()).collect();
        if sorted.is_empty() {
            return None;
        }
        sorted.sort_by(f64::total_cmp);
        let at = |fraction| quantile(&sorted, fraction);
        Some(Self {
            count: sorted.len(),
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            p5: at(0.05),
            q1: at(0.25),
            median: at(0.5),
            q3: at(0.75),
            p95: at(0.95),
        })
    }
}

/// A quantile of sorted numbers, linear between neighbours; 0 when there are none.
fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let at = fraction.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64;
    let number = |index: f64| sorted.get(index as usize).copied().unwrap_or_default();
    let (below, above) = (number(at.floor()), number(at.ceil()));
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-5
    }

    #[test]
    fn wilson_agrees_with_published_values() {
        // Newcombe 1998, table I, method 3 (score, without continuity correction).
        for (good, of, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let rate = Rate::new(good, of).unwrap();
            let [l, h] = rate.interval_95;
            assert!(near(l, low) && near(h, high), "{good}/{of}: {l} {h}");
        }
    }

    #[test]
    fn a_rate_of_nothing_is_none_and_the_ends_are_exact() {
        assert_eq!(Rate::new(0, 0), None);
        assert_eq!(Rate::new(3, 2), None);
        let all = Rate::new(29, 29).unwrap();
        assert_eq!((all.fraction, all.interval_95[1]), (1.0, 1.0));
        assert!(near(all.interval_95[0], 1.0 - 0.1170));
        assert_eq!(Rate::new(0, 1).unwrap().interval_95[0], 0.0);
    }

    #[test]
    fn quantiles_are_linear_between_neighbours() {
        let spread = Spread::of([4.0, 1.0, 3.0, 2.0, f64::NAN]).unwrap();
        assert_eq!((spread.count, spread.mean, spread.median), (4, 2.5, 2.5));
        assert_eq!((spread.q1, spread.q3), (1.75, 3.25));
        assert!(near(spread.p5, 1.15) && near(spread.p95, 3.85));
    }

    #[test]
    fn one_number_is_its_own_spread_and_none_has_none() {
        let one = Spread::of([7.0]).unwrap();
        assert_eq!([one.mean, one.p5, one.q1, one.median, one.q3, one.p95], [7.0; 6]);
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([f64::INFINITY]), None);
    }
}
