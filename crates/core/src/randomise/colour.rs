//! Colours that change as people see them: hue, saturation, brightness.

use serde::{Deserialize, Serialize};

use super::{Factor, SAME, check_factor, draw, to_either_side};
use crate::rng::Rng;

/// How colours change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Colours {
    /// Largest rotation of the hue to either side.
    pub hue_deg: f64,
    /// Saturation.
    pub saturation: Factor,
    /// Brightness.
    pub value: Factor,
}

impl Default for Colours {
    fn default() -> Self {
        Self { hue_deg: 0.0, saturation: SAME, value: SAME }
    }
}

impl Colours {
    pub(super) fn check(&self) -> Result<(), String> {
        check_factor(self.saturation).map_err(|e| format!("saturation: {e}"))?;
        check_factor(self.value).map_err(|e| format!("value: {e}"))?;
        if self.hue_deg.is_finite() && self.hue_deg >= 0.0 {
            return Ok(());
        }
        Err(format!("hue_deg: {} must be 0 or more", self.hue_deg))
    }

    pub(super) fn draw(&self, rng: &mut Rng) -> Change {
        Change {
            nothing: *self == Self::default(),
            hue_deg: to_either_side(self.hue_deg, rng),
            saturation: draw(self.saturation, rng),
            value: draw(self.value, rng),
        }
    }
}

/// One change, for all colours of a thing.
pub(super) struct Change {
    nothing: bool,
    hue_deg: f64,
    saturation: f64,
    value: f64,
}

impl Change {
    /// The changed colour.
    pub(super) fn of(&self, rgb: [f32; 3]) -> [f32; 3] {
        if self.nothing {
            return rgb;
        }
        let [hue_deg, saturation, value] = hsv(rgb.map(f64::from));
        let saturation = (saturation * self.saturation).clamp(0.0, 1.0);
        let value = (value * self.value).clamp(0.0, 1.0);
        from_hsv([hue_deg + self.hue_deg, saturation, value]).map(|c| c.clamp(0.0, 1.0) as f32)
    }
}

/// Hue in degrees, saturation, value.
fn hsv([r, g, b]: [f64; 3]) -> [f64; 3] {
    let value = r.max(g).max(b);
    let spread = value - r.min(g).min(b);
    if value <= 0.0 || spread <= 0.0 {
        return [0.0, 0.0, value];
    }
    let sixths = if value == r {
        (g - b) / spread
    } else if value == g {
        2.0 + (b - r) / spread
    } else {
        4.0 + (r - g) / spread
    };
    [60.0 * sixths, spread / value, value]
}

fn from_hsv([hue_deg, saturation, value]: [f64; 3]) -> [f64; 3] {
    // Every channel falls off with the distance of the hue from its own.
    let channel = |offset: f64| {
        let k = (offset + hue_deg / 60.0).rem_euclid(6.0);
        value - value * saturation * k.min(4.0 - k).clamp(0.0, 1.0)
    };
    [channel(5.0), channel(3.0), channel(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_come_back_and_hues_turn() {
        for rgb in [[0.98, 0.52, 0.07], [0.1, 0.9, 0.3], [0.2, 0.1, 0.8], [0.5; 3], [0.0; 3]] {
            let back = from_hsv(hsv(rgb));
            assert!(rgb.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-12), "{rgb:?} {back:?}");
        }
        let turned = from_hsv([hsv([1.0, 0.0, 0.0])[0] + 120.0, 1.0, 1.0]);
        assert!(turned[1] > 0.999 && turned[0] < 1e-9 && turned[2] < 1e-9, "{turned:?}");
    }
}
