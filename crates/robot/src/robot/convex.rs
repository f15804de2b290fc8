//! Whether two convex solids are apart.
//!
//! Looks for the point of the one's differences from the other that is nearest to the origin, by
//! the method of Gilbert, Johnson and Keerthi. The answer "apart" is always proved: there is a
//! direction in which the whole of the one is beyond the whole of the other.

use nalgebra::{Isometry3, Matrix3, Vector3};

use citrange_core::solid::Form;

/// Directions that are tried. Solids that are still not told apart then count as touching.
const MOST_STEPS: usize = 32;

/// A solid at a place.
#[derive(Clone, Copy, Debug)]
pub struct Convex<'a> {
    /// Its rotation.
    pub rot: Matrix3<f64>,
    /// Its middle.
    pub pos_m: Vector3<f64>,
    /// What it is.
    pub form: &'a Form,
}

impl<'a> Convex<'a> {
    /// A form at a pose.
    #[must_use]
    pub fn new(at: &Isometry3<f64>, form: &'a Form) -> Self {
        let rot = at.rotation.to_rotation_matrix().into_inner();
        Self { rot, pos_m: at.translation.vector, form }
    }

    /// Whether the surfaces are more than `margin_m` apart.
    #[must_use]
    pub fn is_apart(&self, other: &Self, margin_m: f64) -> bool {
        let reach = self.rounding_m() + other.rounding_m() + margin_m;
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
        Vector3::from(self.form.half_extents_m()).norm()
    }

    /// How far the surface is from what [`Self::outermost`] goes around.
    fn rounding_m(&self) -> f64 {
        match *self.form {
            Form::RoundedBox { radius_m, .. } => radius_m,
            Form::Cylinder { .. } => 0.0,
        }
    }

    /// The point furthest in a direction, without the rounding.
    fn outermost(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let d = self.rot.tr_mul(direction);
        let along = |half: f64, d: f64| if d < 0.0 { -half } else { half };
        let local = match *self.form {
            Form::RoundedBox { half_m, .. } => Vector3::from_fn(|a, _| along(half_m[a], d[a])),
            Form::Cylinder { radius_m, half_height_m } => {
                let across = d.x.hypot(d.y);
                let out = if across > 0.0 { radius_m / across } else { 0.0 };
                Vector3::new(d.x * out, d.y * out, along(half_height_m, d.z))
            }
        };
        self.pos_m + self.rot * local
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
    use super::*;
    use citrange_core::rng::Rng;
    use nalgebra::{Point3, Translation3, UnitQuaternion};

    fn random_pose(rng: &mut Rng) -> Isometry3<f64> {
        let mut vector = |size: f64| Vector3::from_fn(|_, _| rng.uniform(-size, size));
        let turn = UnitQuaternion::from_scaled_axis(vector(3.0));
        Isometry3::from_parts(Translation3::from(vector(0.15)), turn)
    }

    /// Distance by going from one solid to the other and back to the nearest points: converges
    /// for convex solids, from above.
    fn distance(a: (&Isometry3<f64>, &Form), b: (&Isometry3<f64>, &Form)) -> f64 {
        let nearest = |(at, form): (&Isometry3<f64>, &Form), p: Point3<f64>| {
            let q = at.inverse_transform_point(&p);
            let q = match *form {
                Form::RoundedBox { half_m, radius_m } => {
                    let core =
                        Point3::from(Vector3::from_fn(|i, _| q[i].clamp(-half_m[i], half_m[i])));
                    let out = q - core;
                    core + out * (radius_m / out.norm().max(radius_m).max(1e-300)).min(1.0)
                }
                Form::Cylinder { radius_m, half_height_m } => {
                    let shrink = (radius_m / q.x.hypot(q.y).max(1e-300)).min(1.0);
                    let z = q.z.clamp(-half_height_m, half_height_m);
                    Point3::new(q.x * shrink, q.y * shrink, z)
                }
            };
            at * q
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
        let forms = [
            Form::RoundedBox { half_m: [0.1, 0.05, 0.08], radius_m: 0.0 },
            Form::RoundedBox { half_m: [0.0, 0.0, 0.15], radius_m: 0.05 },
            Form::RoundedBox { half_m: [0.0; 3], radius_m: 0.08 },
            Form::RoundedBox { half_m: [0.1, 0.02, 0.03], radius_m: 0.02 },
            Form::Cylinder { radius_m: 0.06, half_height_m: 0.1 },
            Form::Cylinder { radius_m: 0.1, half_height_m: 0.005 },
        ];
        let mut rng = Rng::new(3);
        let mut seen = [0; 2];
        for first in &forms {
            for second in &forms {
                for _ in 0..12 {
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
