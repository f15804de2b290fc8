//! How far points are from shapes, and how far shapes reach: all in closed form, in the shape's
//! own frame.

use nalgebra::Vector3;

use super::Shape;

/// Radii of ellipsoids count as at least this.
const LEAST_RADIUS_M: f64 = 1e-9;

/// Planes without end reach this far where a length is needed.
const ENDLESS_M: f64 = 1e6;

/// Steps for the nearest point of an ellipsoid; far fewer are needed but for needles.
const ELLIPSOID_STEPS: usize = 100;

impl Shape {
    /// Distance of a point to the solid; 0 inside. Exact, but for meshes, which count as their
    /// convex hull ([`super::Hull`]).
    #[must_use]
    pub fn distance_m(&self, p: [f64; 3]) -> f64 {
        match *self {
            Self::Box { half_m } => beyond_box_m(&p, &half_m),
            Self::Sphere { radius_m } => (beyond_box_m(&p, &[0.0; 3]) - radius_m).max(0.0),
            Self::Capsule { radius_m, half_height_m } => {
                (beyond_box_m(&p, &[0.0, 0.0, half_height_m]) - radius_m).max(0.0)
            }
            Self::Cylinder { radius_m, half_height_m } => {
                let across = (p[0].hypot(p[1]) - radius_m).max(0.0);
                across.hypot((p[2].abs() - half_height_m).max(0.0))
            }
            _ => self.signed_m(p).0.max(0.0),
        }
    }

    /// Distance of a point to the surface, negative inside, and the direction of length 1 that
    /// leads out fastest. As exact as [`Shape::distance_m`].
    #[must_use]
    pub fn signed_m(&self, p: [f64; 3]) -> (f64, [f64; 3]) {
        let p = Vector3::from(p);
        let (distance_m, out) = match *self {
            Self::Box { half_m } => rounded_box(&p, half_m, 0.0),
            Self::Sphere { radius_m } => rounded_box(&p, [0.0; 3], radius_m),
            Self::Capsule { radius_m, half_height_m } => {
                rounded_box(&p, [0.0, 0.0, half_height_m], radius_m)
            }
            Self::Cylinder { radius_m, half_height_m } => frustum(&p, [radius_m; 2], half_height_m),
            Self::Frustum { radius_m, top_radius_m, half_height_m } => {
                frustum(&p, [radius_m, top_radius_m], half_height_m)
            }
            Self::Ellipsoid { radii_m } => ellipsoid(&p, radii_m),
            Self::Ring { radius_m, bar_radius_m } => ring(&p, radius_m, bar_radius_m),
            Self::Plane { half_m } => below_plane(&p, half_m),
            Self::Mesh(ref mesh) => mesh.hull().signed_m(&p),
        };
        (distance_m, out.into())
    }

    /// The point of the solid that is nearest to a point.
    #[must_use]
    pub fn nearest_m(&self, p: [f64; 3]) -> [f64; 3] {
        let (distance_m, out) = self.signed_m(p);
        if distance_m <= 0.0 { p } else { std::array::from_fn(|a| p[a] - distance_m * out[a]) }
    }

    /// The point of the convex hull's core that is farthest in a direction: the hull is all that
    /// is within [`Shape::rounding_m`] of its core. The hull of a ring is a flat disc, rounded;
    /// planes count as flat here.
    #[must_use]
    pub fn farthest_core_m(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let d = direction;
        let along = |half: f64, d: f64| if d < 0.0 { -half } else { half };
        let round = |radius: f64, z: f64| {
            let across = d.x.hypot(d.y);
            let out = if across > 0.0 { radius / across } else { 0.0 };
            Vector3::new(d.x * out, d.y * out, z)
        };
        match *self {
            Self::Box { half_m } => Vector3::from_fn(|a, _| along(half_m[a], d[a])),
            Self::Sphere { .. } => Vector3::zeros(),
            Self::Capsule { half_height_m, .. } => {
                Vector3::new(0.0, 0.0, along(half_height_m, d.z))
            }
            Self::Cylinder { radius_m, half_height_m } => {
                round(radius_m, along(half_height_m, d.z))
            }
            Self::Ellipsoid { radii_m } => {
                let stretched = Vector3::from_fn(|a, _| radii_m[a] * d[a]);
                let per = 1.0 / stretched.norm().max(f64::MIN_POSITIVE);
                Vector3::from_fn(|a, _| radii_m[a] * stretched[a] * per)
            }
            Self::Frustum { radius_m, top_radius_m, half_height_m } => {
                let is_top = (top_radius_m - radius_m) * d.x.hypot(d.y) + 2.0 * half_height_m * d.z;
                if is_top > 0.0 {
                    round(top_radius_m, half_height_m)
                } else {
                    round(radius_m, -half_height_m)
                }
            }
            Self::Ring { radius_m, .. } => round(radius_m, 0.0),
            Self::Plane { half_m: [x, y] } => {
                let [x, y] = [x, y].map(|half| half.unwrap_or(ENDLESS_M));
                Vector3::new(along(x, d.x), along(y, d.y), 0.0)
            }
            Self::Mesh(ref mesh) => mesh.hull().farthest_m(d),
        }
    }

    /// How far the surface of the convex hull is from its core.
    #[must_use]
    pub fn rounding_m(&self) -> f64 {
        match *self {
            Self::Sphere { radius_m } | Self::Capsule { radius_m, .. } => radius_m,
            Self::Ring { bar_radius_m, .. } => bar_radius_m,
            Self::Mesh(ref mesh) => mesh.hull().rounding_m(),
            _ => 0.0,
        }
    }

    /// How far it reaches from its origin along X, Y and Z, to the farther side.
    #[must_use]
    pub fn reach_m(&self) -> [f64; 3] {
        match *self {
            Self::Plane { half_m: [x, y] } => [x.unwrap_or(ENDLESS_M), y.unwrap_or(ENDLESS_M), 0.0],
            _ => {
                let (centre_m, half_m) = self.bounds_m().unwrap_or_default();
                let rounding_m =
                    if let Self::Mesh(mesh) = self { mesh.hull().rounding_m() } else { 0.0 };
                std::array::from_fn(|a| centre_m[a].abs() + half_m[a] + rounding_m)
            }
        }
    }
}

fn beyond_box_m(p: &[f64; 3], half_m: &[f64; 3]) -> f64 {
    let out: [f64; 3] = std::array::from_fn(|a| (p[a].abs() - half_m[a]).max(0.0));
    (out[0] * out[0] + out[1] * out[1] + out[2] * out[2]).sqrt()
}

fn rounded_box(p: &Vector3<f64>, half_m: [f64; 3], radius_m: f64) -> (f64, Vector3<f64>) {
    let beyond = p.abs() - Vector3::from(half_m);
    let sides = p.map(|v| if v < 0.0 { -1.0 } else { 1.0 });
    let out = beyond.map(|v| v.max(0.0)).component_mul(&sides);
    let length = out.norm();
    if length > 0.0 {
        return (length - radius_m, out / length);
    }
    // Inside of the inner box: out through the nearest face.
    let axis = beyond.imax();
    (beyond[axis] - radius_m, Vector3::ith(axis, sides[axis]))
}

/// Radius and direction away from the z axis.
fn radial(p: &Vector3<f64>) -> (f64, Vector3<f64>) {
    let round = p.x.hypot(p.y);
    let out = if round > 0.0 { Vector3::new(p.x / round, p.y / round, 0.0) } else { Vector3::x() };
    (round, out)
}

/// In the half plane through the axis it is a trapezium.
fn frustum(p: &Vector3<f64>, [wide, top]: [f64; 2], half: f64) -> (f64, Vector3<f64>) {
    let (round, radial) = radial(p);
    let (across, up) = (top - wide, 2.0 * half);
    let length = across.hypot(up);
    // Out of the mantle.
    let slope = if length > 0.0 { [up / length, -across / length] } else { [1.0, 0.0] };
    let beyond_mantle = (round - wide) * slope[0] + (p.z + half) * slope[1];
    let in_space = |[r, z]: [f64; 2]| radial * r + Vector3::z() * z;
    if p.z.abs() <= half && beyond_mantle <= 0.0 {
        let sides = [(beyond_mantle, slope), (p.z - half, [0.0, 1.0]), (-half - p.z, [0.0, -1.0])];
        let deepest = sides.into_iter().fold(sides[0], |m, s| if s.0 > m.0 { s } else { m });
        return (deepest.0, in_space(deepest.1));
    }
    let part = ((round - wide) * across + (p.z + half) * up) / (length * length).max(1e-300);
    let part = part.clamp(0.0, 1.0);
    let on = [
        [round.min(wide), -half],
        [round.min(top), half],
        [wide + part * across, part * up - half],
    ];
    let mut best = (f64::INFINITY, [0.0; 2]);
    for [r, z] in on {
        let away = [round - r, p.z - z];
        let distance_m = away[0].hypot(away[1]);
        if distance_m < best.0 {
            best = (distance_m, away);
        }
    }
    let (distance_m, away) = best;
    if distance_m < 1e-300 {
        return (0.0, in_space(slope));
    }
    (distance_m, in_space(away.map(|a| a / distance_m)))
}

fn ring(p: &Vector3<f64>, radius_m: f64, bar_radius_m: f64) -> (f64, Vector3<f64>) {
    let (round, radial) = radial(p);
    let out = round - radius_m;
    let away = out.hypot(p.z);
    let normal = if away > 0.0 { (radial * out + Vector3::z() * p.z) / away } else { Vector3::z() };
    (away - bar_radius_m, normal)
}

/// Everything under the rectangle is solid.
fn below_plane(p: &Vector3<f64>, [x, y]: [Option<f64>; 2]) -> (f64, Vector3<f64>) {
    let aside = |at: f64, half: Option<f64>| half.map_or(f64::NEG_INFINITY, |h| at.abs() - h);
    let beyond = Vector3::new(aside(p.x, x), aside(p.y, y), p.z);
    let sides = Vector3::new(p.x.signum(), p.y.signum(), 1.0);
    let out = beyond.map(|v| v.max(0.0)).component_mul(&sides);
    let length = out.norm();
    if length > 0.0 {
        return (length, out / length);
    }
    let axis = beyond.imax();
    (beyond[axis], Vector3::ith(axis, sides[axis]))
}

/// The nearest point `q` is where the normal leads to the point: `q = r² p / (r² + t)`, with the
/// `t` for which it is on the surface (Eberly, Distance from a Point to an Ellipsoid).
fn ellipsoid(p: &Vector3<f64>, radii_m: [f64; 3]) -> (f64, Vector3<f64>) {
    let radii = radii_m.map(|r| r.max(LEAST_RADIUS_M));
    let r2 = radii.map(|r| r * r);
    let value = |t: f64| -> f64 {
        (0..3).map(|a| (radii[a] * p[a] / (r2[a] + t)).powi(2)).sum::<f64>() - 1.0
    };
    let shortest = (0..3).fold(0, |best, a| if radii[a] < radii[best] { a } else { best });
    let is_outside = value(0.0) > 0.0;
    let t = if is_outside { outside_t(p, &radii) } else { inside_t(&value, r2[shortest]) };
    let mut on = Vector3::from_fn(|a, _| r2[a] * p[a] / (r2[a] + t));
    if !is_outside {
        // Near the middle the shortest axis is 0 / 0: the surface tells.
        let other = (0..3).filter(|a| *a != shortest).map(|a| (on[a] / radii[a]).powi(2));
        let left = (1.0 - other.sum::<f64>()).max(0.0).sqrt() * radii[shortest];
        on[shortest] = if p[shortest] < 0.0 { -left } else { left };
    }
    let normal = Vector3::from_fn(|a, _| on[a] / r2[a]);
    let normal = normal.try_normalize(0.0).unwrap_or_else(|| Vector3::ith(shortest, 1.0));
    let distance_m = (p - on).norm();
    (if is_outside { distance_m } else { -distance_m }, normal)
}

/// Newton's method from below, where the function is convex and falls: every step stays below.
fn outside_t(p: &Vector3<f64>, radii: &[f64; 3]) -> f64 {
    let r2 = radii.map(|r| r * r);
    let mut t = (0..3).fold(0.0_f64, |most, a| most.max(radii[a] * p[a].abs() - r2[a]));
    for _ in 0..ELLIPSOID_STEPS {
        let (mut value, mut slope) = (-1.0, 0.0);
        for a in 0..3 {
            let part = radii[a] * p[a] / (r2[a] + t);
            value += part * part;
            slope -= 2.0 * part * part / (r2[a] + t);
        }
        let next = t - value / slope;
        if next.is_nan() || next <= t {
            break;
        }
        t = next;
    }
    t
}

/// By halving: between minus the shortest squared radius and 0.
fn inside_t(value: &dyn Fn(f64) -> f64, shortest2: f64) -> f64 {
    let (mut low, mut high) = (-shortest2 * (1.0 - 1e-15), 0.0);
    for _ in 0..ELLIPSOID_STEPS {
        let middle = f64::midpoint(low, high);
        if value(middle) > 0.0 { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests;
