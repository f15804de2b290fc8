//! Whether two convex shapes are apart. A ring counts as the disc that it goes around.
//!
//! Looks for the point of the one's differences from the other that is nearest to the origin, by
//! the method of Gilbert, Johnson and Keerthi. The answer "apart" is always proved: there is a
//! direction in which the whole of the one is beyond the whole of the other.

use nalgebra::{Isometry3, Matrix3, Vector3};

use citrange_core::shape::Shape;

/// Directions that are tried. Shapes that are still not told apart then count as touching.
const MOST_STEPS: usize = 32;

/// A shape at a place; meshes count as their convex hull.
#[derive(Clone, Copy, Debug)]
pub struct Convex<'a> {
    /// Its rotation.
    pub rot: Matrix3<f64>,
    /// Its middle.
    pub pos_m: Vector3<f64>,
    /// What it is.
    pub shape: &'a Shape,
}

impl<'a> Convex<'a> {
    /// A shape at a pose.
    #[must_use]
    pub fn new(at: &Isometry3<f64>, shape: &'a Shape) -> Self {
        let rot = at.rotation.to_rotation_matrix().into_inner();
        Self { rot, pos_m: at.translation.vector, shape }
    }

    /// Whether the surfaces are more than `margin_m` apart.
    #[must_use]
    pub fn is_apart(&self, other: &Self, margin_m: f64) -> bool {
        let reach = self.shape.rounding_m() + other.shape.rounding_m() + margin_m;
        let mut corners = [Vector3::zeros(); 4];
        let mut count = 0;
        let mut nearest = self.pos_m - other.pos_m;
        // Most pairs are far apart: spheres around them tell.
        if nearest.norm() > self.size_m() + other.size_m() + margin_m.max(0.0) {
            return true;
        }
        for _ in 0..MOST_STEPS {
            let length = nearest.norm();
            if length <= reach.max(1e-12) && count > 0 {
                return false;
            }
            let corner = self.outermost(&-nearest) - other.outermost(&nearest);
            let beyond = nearest.dot(&corner);
            if beyond > length * reach && beyond > 0.0 {
                return true;
            }
            // Nothing lies further this way: it is the nearest point, and too near.
            if count > 0 && length * length - beyond <= 1e-12 * length * length {
                return false;
            }
            corners[count] = corner;
            count += 1;
            let Some((point, kept)) = nearest_of(&corners[..count]) else { return false };
            nearest = point;
            let all = corners;
            count = 0;
            for index in (0..4).filter(|index| kept >> index & 1 == 1) {
                corners[count] = all[index];
                count += 1;
            }
        }
        false
    }

    /// Radius of a sphere around it.
    fn size_m(&self) -> f64 {
        Vector3::from(self.shape.reach_m()).norm()
    }

    /// The point of the core furthest in a direction.
    fn outermost(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        self.pos_m + self.rot * self.shape.farthest_core_m(&self.rot.tr_mul(direction))
    }
}

/// The point of the hull of up to four corners that is nearest to the origin, and the corners
/// that it lies between, as bits. `None` when the origin is inside.
fn nearest_of(corners: &[Vector3<f64>]) -> Option<(Vector3<f64>, u8)> {
    let mut best: Option<(Vector3<f64>, u8)> = None;
    // Every corner, edge and side is tried; the nearest point is on one of them.
    for subset in 1_u8..1 << corners.len() {
        let own = (0..corners.len()).filter(|i| subset >> i & 1 == 1);
        let mut of = [Vector3::zeros(); 4];
        let mut count = 0;
        for index in own {
            of[count] = corners[index];
            count += 1;
        }
        let point = match count {
            1 => Some(of[0]),
            2 => on_edge(&of[0], &of[1]),
            3 => on_side(&of[0], &of[1], &of[2]),
            _ if holds_origin(&of) => return None,
            _ => None,
        };
        if let Some(point) = point
            && best.is_none_or(|(b, _)| point.norm_squared() < b.norm_squared())
        {
            best = Some((point, subset));
        }
    }
    best
}

/// The foot of the origin on a line, if it is between the ends.
fn on_edge(a: &Vector3<f64>, b: &Vector3<f64>) -> Option<Vector3<f64>> {
    let along = b - a;
    let part = -a.dot(&along) / along.norm_squared();
    (0.0..=1.0).contains(&part).then(|| a + along * part)
}

/// The foot of the origin on a plane, if it is in the triangle.
fn on_side(a: &Vector3<f64>, b: &Vector3<f64>, c: &Vector3<f64>) -> Option<Vector3<f64>> {
    let normal = (b - a).cross(&(c - a));
    let size2 = normal.norm_squared();
    let foot = normal * (a.dot(&normal) / size2);
    let is_left =
        |p: &Vector3<f64>, q: &Vector3<f64>| (q - p).cross(&(foot - p)).dot(&normal) >= 0.0;
    (size2 > 0.0 && is_left(a, b) && is_left(b, c) && is_left(c, a)).then_some(foot)
}

/// Whether the origin is inside of a tetrahedron: on the same side of each side as the corner
/// opposite to it.
fn holds_origin(corners: &[Vector3<f64>; 4]) -> bool {
    (0..4).all(|opposite| {
        let [a, b, c] = [1, 2, 3].map(|step| corners[(opposite + step) % 4]);
        let normal = (b - a).cross(&(c - a));
        let inside = normal.dot(&(corners[opposite] - a));
        inside != 0.0 && -normal.dot(&a) * inside >= 0.0
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use citrange_core::rng::Rng;
    use citrange_core::shape::Mesh;
    use nalgebra::{Point3, Translation3, UnitQuaternion};

    fn random_pose(rng: &mut Rng) -> Isometry3<f64> {
        let mut vector = |size: f64| Vector3::from_fn(|_, _| rng.uniform(-size, size));
        let turn = UnitQuaternion::from_scaled_axis(vector(3.0));
        Isometry3::from_parts(Translation3::from(vector(0.15)), turn)
    }

    /// Distance by going from one solid to the other and back to the nearest points: converges
    /// for convex solids, from above.
    fn distance(a: (&Isometry3<f64>, &Shape), b: (&Isometry3<f64>, &Shape)) -> f64 {
        let nearest = |(at, shape): (&Isometry3<f64>, &Shape), p: Point3<f64>| {
            let q = at.inverse_transform_point(&p);
            at * Point3::from(shape.nearest_m(q.coords.into()))
        };
        let mut p = Point3::from(a.0.translation.vector);
        let mut last = f64::INFINITY;
        for _ in 0..20_000 {
            let q = nearest(b, p);
            p = nearest(a, q);
            last = (p - q).norm();
        }
        last
    }

    #[test]
    fn apart_is_what_going_to_and_fro_finds() {
        let corners = vec![[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.0, 0.2, 0.0], [0.1, 0.1, 0.15]];
        let sides = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let shapes = [
            Shape::Box { half_m: [0.1, 0.05, 0.08] },
            Shape::Capsule { radius_m: 0.05, half_height_m: 0.15 },
            Shape::Sphere { radius_m: 0.08 },
            Shape::Cylinder { radius_m: 0.06, half_height_m: 0.1 },
            Shape::Cylinder { radius_m: 0.1, half_height_m: 0.005 },
            Shape::Ellipsoid { radii_m: [0.1, 0.05, 0.08] },
            Shape::Frustum { radius_m: 0.1, top_radius_m: 0.02, half_height_m: 0.08 },
            Shape::Mesh(Arc::new(Mesh::new(corners, sides).unwrap())),
        ];
        let mut rng = Rng::new(3);
        let mut seen = [0; 2];
        for first in &shapes {
            for second in &shapes {
                for _ in 0..6 {
                    let (a, b) = (random_pose(&mut rng), random_pose(&mut rng));
                    let exact = distance((&a, first), (&b, second));
                    for margin_m in [0.0, 0.03] {
                        if (exact - margin_m).abs() < 1e-3 {
                            continue;
                        }
                        let one = Convex::new(&a, first);
                        let other = Convex::new(&b, second);
                        let is_apart = one.is_apart(&other, margin_m);
                        let what = format!("{first:?} {second:?} {a} {b} {exact} {margin_m}");
                        assert_eq!(is_apart, exact > margin_m, "{what}");
                        assert_eq!(other.is_apart(&one, margin_m), is_apart, "{what}");
                        seen[usize::from(is_apart)] += 1;
                    }
                }
            }
        }
        assert!(seen.iter().all(|n| *n > 100), "{seen:?}");
    }
}
