//! What is known beforehand of a thing that a rig sees: its name and its shape.

use serde::{Deserialize, Serialize};

use crate::shape::Shape;

/// Points around a circle that stand for it.
const CIRCLE_POINTS: usize = 32;
/// Rings of points around an ellipsoid, from pole to pole.
const BANDS: usize = 8;

/// A thing that moves and that a rig can see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectSpec {
    /// Name.
    pub name: String,
    /// Lowest and highest corner of the box around what of it can be touched, in its own frame.
    pub box_m: [[f64; 3]; 2],
    /// What of it can be touched, as convex bodies in its own frame; empty where only the box is
    /// known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hulls: Vec<ConvexBody>,
}

impl ObjectSpec {
    /// A thing of which only the box is known.
    #[must_use]
    pub fn of_box(name: &str, box_m: [[f64; 3]; 2]) -> Self {
        Self { name: name.to_owned(), box_m, hulls: Vec::new() }
    }

    /// What of it can be touched; its box where no more is known.
    #[must_use]
    pub fn touchable(&self) -> Vec<ConvexBody> {
        if self.hulls.is_empty() {
            let [low, high] = self.box_m;
            let points_m = (0..8_usize).map(|corner| {
                std::array::from_fn(|a| if corner >> a & 1 == 0 { low[a] } else { high[a] })
            });
            return vec![ConvexBody { points_m: points_m.collect(), radius_m: 0.0 }];
        }
        self.hulls.clone()
    }
}

/// A convex body: everything within a radius of the hull of some points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConvexBody {
    /// The points.
    pub points_m: Vec<[f64; 3]>,
    /// The radius; 0 for what has edges.
    #[serde(default)]
    pub radius_m: f64,
}

impl ConvexBody {
    /// The hull of points.
    #[must_use]
    pub fn of_points(points_m: Vec<[f64; 3]>) -> Self {
        Self { points_m, radius_m: 0.0 }
    }

    /// A box with these half extents around the origin.
    #[must_use]
    pub fn cuboid(half_m: [f64; 3]) -> Self {
        let sign = |corner: usize, axis: usize| if corner >> axis & 1 == 0 { -1.0 } else { 1.0 };
        let corner = |k: usize| std::array::from_fn(|a| sign(k, a) * half_m[a]);
        Self::of_points((0..8).map(corner).collect())
    }

    /// A shape in its own frame; a mesh by the points that it is given by. `None` for what has no
    /// end.
    #[must_use]
    pub fn of(shape: &Shape) -> Option<Self> {
        let ends = |radius: f64, top: f64, half: f64| {
            let mut points = circle(radius, -half);
            points.extend(circle(top, half));
            Self::of_points(points)
        };
        Some(match *shape {
            Shape::Box { half_m } => Self::cuboid(half_m),
            Shape::Sphere { radius_m } => Self { points_m: vec![[0.0; 3]], radius_m },
            Shape::Capsule { radius_m, half_height_m } => Self {
                points_m: vec![[0.0, 0.0, -half_height_m], [0.0, 0.0, half_height_m]],
                radius_m,
            },
            Shape::Cylinder { radius_m, half_height_m } => ends(radius_m, radius_m, half_height_m),
            Shape::Frustum { radius_m, top_radius_m, half_height_m } => {
                ends(radius_m, top_radius_m, half_height_m)
            }
            Shape::Ring { radius_m, bar_radius_m } => {
                let out = radius_m + bar_radius_m;
                ends(out, out, bar_radius_m)
            }
            Shape::Ellipsoid { radii_m: [a, b, c] } => {
                let bands = (0..=BANDS).map(|k| std::f64::consts::PI * k as f64 / BANDS as f64);
                let ring = |tilt: f64| circle(tilt.sin(), -tilt.cos());
                let points = bands.flat_map(ring).map(|[x, y, z]| [x * a, y * b, z * c]);
                Self::of_points(points.collect())
            }
            Shape::Mesh(ref mesh) => {
                Self::of_points(mesh.positions_m().iter().map(|p| p.map(f64::from)).collect())
            }
            Shape::Plane { .. } => return None,
        })
    }
}

fn circle(radius: f64, z: f64) -> Vec<[f64; 3]> {
    let count = if radius < 1e-9 { 1 } else { CIRCLE_POINTS };
    let angle = |k: usize| std::f64::consts::TAU * k as f64 / count as f64;
    (0..count).map(|k| [radius * angle(k).cos(), radius * angle(k).sin(), z]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hulls_are_as_large_as_their_shapes() {
        for shape in [
            Shape::Box { half_m: [0.1, 0.2, 0.3] },
            Shape::Sphere { radius_m: 0.1 },
            Shape::Cylinder { radius_m: 0.1, half_height_m: 0.2 },
            Shape::Capsule { radius_m: 0.1, half_height_m: 0.2 },
            Shape::Ellipsoid { radii_m: [0.1, 0.2, 0.3] },
            Shape::Frustum { radius_m: 0.2, top_radius_m: 0.1, half_height_m: 0.2 },
        ] {
            let (_, half) = shape.bounds_m().unwrap();
            let hull = ConvexBody::of(&shape).unwrap();
            for axis in 0..3 {
                let far = hull.points_m.iter().map(|p| p[axis]).fold(f64::MIN, f64::max);
                assert!((far + hull.radius_m - half[axis]).abs() < 1e-9, "{shape:?} {axis}");
            }
        }
        let boxed = ObjectSpec::of_box("a", [[0.0; 3], [1.0, 2.0, 3.0]]);
        assert_eq!(boxed.touchable()[0].points_m[7], [1.0, 2.0, 3.0]);
        let text = serde_json::to_string(&boxed).unwrap();
        assert!(!text.contains("hulls"), "specs of before stay as they are: {text}");
    }
}
