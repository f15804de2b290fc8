//! A thing as it is seen: its bodies in the world, and what follows from them.

use citrange_core::{ObjectSeen, ObjectSpec};
use nalgebra::Vector3;

use crate::hull::{Body3, Form, hull_2d};

/// Directions in which the width from above is measured, over half a turn.
const DIRECTIONS: usize = 60;
/// A thing whose widths differ by less than this fraction is round.
const ROUND: f64 = 0.06;

/// What of a thing can be touched.
pub(crate) fn forms(spec: &ObjectSpec) -> Vec<Form> {
    spec.touchable().iter().map(Form::of).collect()
}

/// A thing at a place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thing {
    pub(crate) bodies: Vec<Body3>,
    /// Middle of the upright box around it.
    pub(crate) middle_m: Vector3<f64>,
    pub(crate) lowest_m: f64,
    pub(crate) top_m: f64,
    /// What it covers, seen from above.
    outline: Vec<[f64; 2]>,
    /// How much of that is rounding.
    rounding_m: f64,
}

impl Thing {
    pub(crate) fn new(forms: &[Form], seen: &ObjectSeen) -> Self {
        let at = seen.pose.isometry();
        let (rot, by) = (at.rotation.to_rotation_matrix(), at.translation.vector);
        let bodies: Vec<Body3> = forms.iter().map(|form| form.at(rot.matrix(), &by)).collect();
        let extent = |axis: &Vector3<f64>| {
            let ends = bodies.iter().map(|body| body.extent(axis));
            ends.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]).unwrap_or_default()
        };
        let ends = [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| extent(&axis));
        let middle_m = Vector3::from_fn(|a, _| (ends[a][0] + ends[a][1]) / 2.0);
        // Things of several parts are rounded as their roundest part: close enough for a width.
        let rounding_m = bodies.iter().map(|b| b.radius_m).fold(0.0, f64::max);
        let points = bodies.iter().flat_map(|b| b.points.iter().map(|p| [p.x, p.y]));
        let outline = hull_2d(points.collect());
        Self { bodies, middle_m, lowest_m: ends[2][0], top_m: ends[2][1], outline, rounding_m }
    }

    /// Radius of a circle around its middle that holds it, seen from above.
    pub(crate) fn radius_m(&self) -> f64 {
        let away = |p: &[f64; 2]| (p[0] - self.middle_m.x).hypot(p[1] - self.middle_m.y);
        self.outline.iter().map(away).fold(0.0, f64::max) + self.rounding_m
    }

    /// Its width from above in a direction.
    pub(crate) fn width_m(&self, yaw_rad: f64) -> f64 {
        let (sin, cos) = yaw_rad.sin_cos();
        let along = self.outline.iter().map(|p| p[0] * cos + p[1] * sin);
        let ends = along.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], at| {
            [low.min(at), high.max(at)]
        });
        (ends[1] - ends[0]).max(0.0) + 2.0 * self.rounding_m
    }

    /// Yaws, within half a turn, in which it is narrower than to both sides: those that jaws can
    /// take it by. `None` when it is round.
    pub(crate) fn narrow_yaws(&self) -> Option<Vec<f64>> {
        let step = std::f64::consts::PI / DIRECTIONS as f64;
        let widths: Vec<f64> = (0..DIRECTIONS).map(|k| self.width_m(k as f64 * step)).collect();
        let most = widths.iter().copied().fold(0.0, f64::max);
        let least = widths.iter().copied().fold(f64::INFINITY, f64::min);
        if most - least < ROUND * most {
            return None;
        }
        let at = |k: usize| widths[k % DIRECTIONS];
        let dips =
            (0..DIRECTIONS).filter(|k| at(*k) <= at(k + DIRECTIONS - 1) && at(*k) < at(k + 1));
        Some(dips.map(|k| self.narrowest(k as f64 * step, step)).collect())
    }

    /// The narrowest yaw near one, by cutting the interval in three.
    fn narrowest(&self, near_rad: f64, step_rad: f64) -> f64 {
        let [mut low, mut high] = [near_rad - step_rad, near_rad + step_rad];
        for _ in 0..30 {
            let third = (high - low) / 3.0;
            if self.width_m(low + third) <= self.width_m(high - third) {
                high -= third;
            } else {
                low += third;
            }
        }
        (low + high) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use citrange_core::Pose;
    use citrange_core::rig::ConvexBody;
    use citrange_core::shape::Shape;

    use super::*;

    fn thing(shape: &Shape, pose: Pose) -> Thing {
        let hulls = vec![ConvexBody::of(shape).unwrap()];
        let spec = ObjectSpec { hulls, ..ObjectSpec::of_box("a", [[0.0; 3]; 2]) };
        Thing::new(&forms(&spec), &ObjectSeen { pose, lin_vel_m_s: [0.0; 3], touch_n: None })
    }

    #[test]
    fn things_are_taken_across() {
        let turned = Pose::from_yaw([0.1, 0.2, 0.03], 0.4);
        let block = thing(&Shape::Box { half_m: [0.02, 0.05, 0.03] }, turned);
        assert!((block.lowest_m, block.middle_m.y) == (0.0, 0.2));
        assert!((block.radius_m() - 0.02_f64.hypot(0.05)).abs() < 1e-9);
        let mut yaws = block.narrow_yaws().unwrap();
        yaws.sort_by(f64::total_cmp);
        assert_eq!(yaws.len(), 2);
        assert!((yaws[0] - 0.4).abs() < 1e-4 && (block.width_m(yaws[0]) - 0.04).abs() < 1e-4);
        let standing = Shape::Cylinder { radius_m: 0.02, half_height_m: 0.04 };
        assert_eq!(thing(&standing, turned).narrow_yaws(), None);
        let half = std::f64::consts::FRAC_PI_4;
        let lying = Pose { pos_m: [0.0; 3], quat_wxyz: [half.cos(), half.sin(), 0.0, 0.0] };
        let yaws = thing(&standing, lying).narrow_yaws().unwrap();
        assert!(yaws.iter().any(|yaw| yaw.abs() < 1e-3), "{yaws:?}");
    }
}
