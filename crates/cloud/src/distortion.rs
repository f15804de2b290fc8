//! How a lens bends rays: the radial-tangential model of Brown and Conrady with a rational
//! radial part, as ROS names it `plumb_bob` (5 numbers) and `rational_polynomial` (8).

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::error::CloudError;

/// Steps of the inverse; lenses of cameras need fewer than ten.
const INVERSE_STEPS: usize = 40;
/// A ray found again this closely is found.
const INVERSE_TOLERANCE: f64 = 1e-10;

/// Coefficients k1, k2, p1, p2, k3, k4, k5, k6, in the order of `camera_info`. All 0: a pinhole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct Distortion([f64; 8]);

impl Distortion {
    /// From none, 4, 5 or 8 numbers.
    ///
    /// # Errors
    /// When they are of another count or not finite.
    pub fn new(coefficients: &[f64]) -> Result<Self, CloudError> {
        let known = matches!(coefficients.len(), 0 | 4 | 5 | 8);
        // Some drivers write 12 or 14 numbers, the last ones 0.
        let padded = coefficients.len() > 8 && coefficients[8..].iter().all(|k| *k == 0.0);
        if !(known || padded) || coefficients.iter().any(|k| !k.is_finite()) {
            let reason = format!(
                "{coefficients:?} must be 0, 4, 5 (plumb_bob) or 8 (rational_polynomial) finite \
                 numbers k1 k2 p1 p2 k3 k4 k5 k6"
            );
            return Err(CloudError::bad("distortion", reason));
        }
        let mut all = [0.0; 8];
        all.iter_mut().zip(coefficients).for_each(|(to, from)| *to = *from);
        Ok(Self(all))
    }

    /// Whether rays go straight.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0 == [0.0; 8]
    }

    /// Where a ray of slopes `x / z` and `y / z` meets the picture of a camera with focal length 1.
    #[must_use]
    pub fn bend(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [k1, k2, p1, p2, k3, k4, k5, k6] = self.0;
        let r2 = x * x + y * y;
        let radial =
            (1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1.0 + r2 * (k4 + r2 * (k5 + r2 * k6)));
        [
            x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x),
            y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y,
        ]
    }

    /// The slopes of the ray that meets the picture there; none beyond where the model turns
    /// back on itself.
    #[must_use]
    pub fn straighten(&self, bent: [f64; 2]) -> Option<[f64; 2]> {
        if self.is_none() {
            return Some(bent);
        }
        // Newton's method with the slope of differences: fixed-point iteration fails on wide
        // lenses.
        let mut ray = bent;
        for _ in 0..INVERSE_STEPS {
            let at = self.bend(ray);
            let off = [at[0] - bent[0], at[1] - bent[1]];
            if off[0].abs().max(off[1].abs()) < INVERSE_TOLERANCE {
                return Some(ray);
            }
            let h = 1e-6;
            let right = self.bend([ray[0] + h, ray[1]]);
            let down = self.bend([ray[0], ray[1] + h]);
            let [a, c] = [(right[0] - at[0]) / h, (right[1] - at[1]) / h];
            let [b, d] = [(down[0] - at[0]) / h, (down[1] - at[1]) / h];
            let determinant = a * d - b * c;
            // Beyond the edge of the model pictures are mirrored.
            if determinant.is_nan() || determinant <= 1e-9 {
                return None;
            }
            ray[0] -= (d * off[0] - b * off[1]) / determinant;
            ray[1] -= (a * off[1] - c * off[0]) / determinant;
        }
        None
    }
}

impl JsonSchema for Distortion {
    fn schema_name() -> Cow<'static, str> {
        "Distortion".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array",
            "items": {"type": "number", "format": "double"},
            "minItems": 4,
            "maxItems": 8
        })
    }
}

impl TryFrom<Vec<f64>> for Distortion {
    type Error = CloudError;

    fn try_from(coefficients: Vec<f64>) -> Result<Self, CloudError> {
        Self::new(&coefficients)
    }
}

impl From<Distortion> for Vec<f64> {
    fn from(Distortion(all): Distortion) -> Self {
        let used = all.iter().rposition(|k| *k != 0.0).map_or(0, |last| last + 1);
        let count = [0, 4, 5, 8].into_iter().find(|count| *count >= used).unwrap_or(8);
        all[..count].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bent_rays_are_straightened_again() {
        let plumb_bob = [0.12, -0.2, 0.001, -0.0007, 0.05];
        let rational = [5.1, 3.2, 1e-4, -2e-4, 0.17, 5.4, 4.9, 0.9];
        for coefficients in [&plumb_bob[..], &rational[..]] {
            let lens = Distortion::new(coefficients).unwrap();
            for i in 0..121 {
                let ray = [(i % 11) as f64 * 0.12 - 0.6, (i / 11) as f64 * 0.09 - 0.45];
                let bent = lens.bend(ray);
                let back = lens.straighten(bent).unwrap();
                assert!((0..2).all(|a| (back[a] - ray[a]).abs() < 1e-8), "{ray:?} {back:?}");
            }
        }
        // Barrel distortion so strong that nothing is seen at that slope.
        assert_eq!(Distortion::new(&[-0.5, 0.0, 0.0, 0.0]).unwrap().straighten([1.5, 0.0]), None);
    }

    #[test]
    fn other_counts_are_refused() {
        assert!(Distortion::new(&[0.1, 0.2]).is_err());
        assert!(Distortion::new(&[0.1, 0.2, f64::NAN, 0.0]).is_err());
        assert!(Distortion::new(&[]).unwrap().is_none());
        let fourteen = [0.1, 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.];
        assert_eq!(Vec::from(Distortion::new(&fourteen).unwrap()), [0.1, 0.0, 0.0, 0.0]);
    }
}
