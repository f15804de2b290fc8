//! Parts of things: shapes with mass, colour and contact properties.

use serde::{Deserialize, Serialize};

use super::Shape;

/// One piece of a fixture or object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Shape and size.
    pub shape: Shape,
    /// Centre in the thing's frame.
    #[serde(default)]
    pub pos_m: [f64; 3],
    /// Orientation in the thing's frame, w,x,y,z.
    #[serde(default = "unturned")]
    pub quat_wxyz: [f64; 4],
    /// Mass; 0 is decoration.
    #[serde(default)]
    pub mass_kg: f64,
    /// Red, green, blue, alpha from 0 to 1.
    #[serde(default = "grey")]
    pub rgba: [f32; 4],
    /// Shininess from 0 (dull) to 1 (polished).
    #[serde(default = "default_gloss")]
    pub gloss: f32,
    /// Whether it can be touched.
    #[serde(default = "yes")]
    pub collides: bool,
    /// Whether it can be seen.
    #[serde(default = "yes")]
    pub visible: bool,
    /// Sliding, turning and rolling friction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<[f64; 3]>,
    /// Contact dimension: 1, 3, 4 or 6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condim: Option<u8>,
    /// Contact stiffness (time constant, damping ratio).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solref: Option<[f64; 2]>,
    /// Contact impedance (lowest, highest, width).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solimp: Option<[f64; 3]>,
    /// Distance at which contacts become active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin_m: Option<f64>,
}

fn unturned() -> [f64; 4] {
    [1.0, 0.0, 0.0, 0.0]
}
fn grey() -> [f32; 4] {
    [0.7, 0.7, 0.7, 1.0]
}
fn default_gloss() -> f32 {
    0.3
}
fn yes() -> bool {
    true
}

impl Part {
    /// Checks sizes and ranges.
    ///
    /// # Errors
    /// Names what is out of range.
    pub fn check(&self) -> Result<(), String> {
        if self.shape.sizes_m().any(|s| s <= 0.0) {
            return Err("every size must be above 0".into());
        }
        if self.mass_kg < 0.0 {
            return Err("mass_kg must not be negative".into());
        }
        if self.quat_wxyz.iter().all(|c| *c == 0.0) {
            return Err("quat_wxyz must not be all zero".into());
        }
        if self.condim.is_some_and(|c| ![1, 3, 4, 6].contains(&c)) {
            return Err("condim must be 1, 3, 4 or 6".into());
        }
        Ok(())
    }

    /// Half extents of an upright box around the part, turned as the part is.
    fn turned_half_extents(&self) -> [f64; 3] {
        let (_, half) = self.shape.bounds_m().unwrap_or_default();
        if let Shape::Sphere { .. } = self.shape {
            return half;
        }
        let m = crate::pose::matrix_from_quat(self.quat_wxyz);
        std::array::from_fn(|row| (0..3).map(|col| m[3 * row + col].abs() * half[col]).sum())
    }
}

/// How far a thing reaches sideways from its origin, and how far below it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Footprint {
    /// Radius of a circle around the origin that holds the thing, seen from above.
    pub radius_m: f64,
    /// Distance from the origin down to the lowest point.
    pub below_m: f64,
}

impl Footprint {
    /// The footprint of things that can be touched among `parts`.
    #[must_use]
    pub fn of(parts: &[Part]) -> Self {
        let mut footprint = Self { radius_m: 0.0, below_m: 0.0 };
        for part in parts.iter().filter(|p| p.collides) {
            let half = part.turned_half_extents();
            let round = matches!(
                part.shape,
                Shape::Sphere { .. }
                    | Shape::Cylinder { .. }
                    | Shape::Capsule { .. }
                    | Shape::Frustum { .. }
                    | Shape::Ring { .. }
            );
            let offset = part.pos_m[0].hypot(part.pos_m[1]);
            let upright = part.quat_wxyz[1] == 0.0 && part.quat_wxyz[2] == 0.0;
            let reach = if round && upright { half[0] } else { half[0].hypot(half[1]) };
            footprint.radius_m = footprint.radius_m.max(offset + reach);
            footprint.below_m = footprint.below_m.max(half[2] - part.pos_m[2]);
        }
        footprint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::from_yaml;

    #[test]
    fn footprints_hold_the_parts() {
        let parts: Vec<Part> = from_yaml(
            "[{shape: {sphere: {radius_m: 0.025}}, mass_kg: 0.1}, \
              {shape: {box: {half_m: [0.03, 0.04, 0.01]}}, pos_m: [0.1, 0, -0.05]}]",
            "parts",
        )
        .unwrap();
        let foot = Footprint::of(&parts);
        assert!((foot.radius_m - 0.15).abs() < 1e-12, "{foot:?}");
        assert!((foot.below_m - 0.06).abs() < 1e-12, "{foot:?}");
        assert!(parts.iter().all(|p| p.check().is_ok()));
    }

    #[test]
    fn bad_sizes_are_refused() {
        let part: Part = from_yaml("{shape: {sphere: {radius_m: -1}}}", "p").unwrap();
        assert!(part.check().unwrap_err().contains("above 0"));
        let wrong: Result<Part, _> = from_yaml("{shape: {spere: {radius_m: 1}}}", "p");
        assert!(wrong.unwrap_err().to_string().contains("did you mean \"sphere\""));
    }
}
