//! Convex hulls of points, as Quickhull makes them (Barber, Dobkin and Huhdanpaa, 1996): always
//! the point that is farthest outside comes next.
//!
//! That order makes early ends good ones: a [`Hull`] has at most [`Hull::MOST_VERTICES`] corners,
//! and says how far what it left out sticks out of it. All points within that of it hold
//! everything, so answers about it stay conservative.

mod build;

use nalgebra::Vector3;

/// A convex polyhedron and everything within [`Hull::rounding_m`] of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    vertices_m: Vec<Vector3<f64>>,
    /// Corners, counter-clockwise from outside, and the number of the plane.
    faces: Vec<([u32; 3], u32)>,
    planes: Vec<HullPlane>,
    rounding_m: f64,
    /// Faces are flat and convex up to this.
    uneven_m: f64,
}

/// A plane that the whole polyhedron is behind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullPlane {
    /// Outwards, of length 1.
    pub normal: [f64; 3],
    /// Distance from the origin along the normal.
    pub offset_m: f64,
}

impl HullPlane {
    /// How far a point is beyond it.
    #[must_use]
    pub fn beyond_m(&self, p: &Vector3<f64>) -> f64 {
        let [x, y, z] = self.normal;
        x * p.x + y * p.y + z * p.z - self.offset_m
    }
}

impl Hull {
    /// Kernels look at every face, so there are not more corners than this. A sphere keeps its
    /// shape to 2 % of its radius.
    pub const MOST_VERTICES: usize = 128;

    /// The hull of points, whatever they are: flat, in a row, all the same. What has no volume
    /// becomes a few micrometres thick. Of no points at all it is the origin.
    #[must_use]
    pub fn of(points_m: &[[f64; 3]]) -> Self {
        build::hull(points_m)
    }

    /// Corners of the polyhedron.
    #[must_use]
    pub fn vertices_m(&self) -> &[Vector3<f64>] {
        &self.vertices_m
    }

    /// Corners of each triangle, counter-clockwise from outside.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + '_ {
        self.faces.iter().map(|(corners, _)| *corners)
    }

    /// Planes of the faces, each once.
    #[must_use]
    pub fn planes(&self) -> &[HullPlane] {
        &self.planes
    }

    /// How far the surface is from the polyhedron: what the points that were left out need.
    #[must_use]
    pub fn rounding_m(&self) -> f64 {
        self.rounding_m
    }

    /// The corner that is farthest in a direction.
    #[must_use]
    pub fn farthest_m(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let mut best = (f64::NEG_INFINITY, Vector3::zeros());
        for vertex in &self.vertices_m {
            let along = vertex.dot(direction);
            if along > best.0 {
                best = (along, *vertex);
            }
        }
        best.1
    }

    /// Volume of the polyhedron.
    #[must_use]
    pub fn volume_m3(&self) -> f64 {
        let of = |([a, b, c], _): &([u32; 3], u32)| {
            let [a, b, c] = [a, b, c].map(|v| self.vertices_m[*v as usize] - self.vertices_m[0]);
            a.dot(&b.cross(&c)) / 6.0
        };
        self.faces.iter().map(of).sum()
    }

    /// Signed distance of a point to the surface and the direction that leads out, length 1.
    #[must_use]
    pub fn signed_m(&self, p: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let (distance_m, out) = self.core_signed_m(p);
        (distance_m - self.rounding_m, out)
    }

    /// The same to the polyhedron itself.
    #[must_use]
    pub fn core_signed_m(&self, p: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let mut deepest = (f64::NEG_INFINITY, Vector3::z());
        for plane in &self.planes {
            let beyond_m = plane.beyond_m(p);
            if beyond_m > deepest.0 {
                deepest = (beyond_m, Vector3::from(plane.normal));
            }
        }
        if deepest.0 <= 0.0 {
            return deepest;
        }
        // The nearest point is on a face that the point can see; of faces that are nearly in one
        // plane it may see only some.
        let mut nearest = (f64::INFINITY, Vector3::zeros());
        for (corners, plane) in &self.faces {
            if self.planes[*plane as usize].beyond_m(p) > -self.uneven_m {
                let on = nearest_on_triangle(&corners.map(|v| self.vertices_m[v as usize]), p);
                let distance2 = (p - on).norm_squared();
                if distance2 < nearest.0 {
                    nearest = (distance2, p - on);
                }
            }
        }
        let distance_m = nearest.0.sqrt();
        // So near that only the plane tells a direction.
        if !(distance_m.is_finite() && distance_m > 1e-12) {
            return deepest;
        }
        (distance_m, nearest.1 / distance_m)
    }
}

/// The point of a triangle that is nearest to a point, by the region that it is in (Ericson,
/// Real-Time Collision Detection, 5.1.5).
fn nearest_on_triangle([a, b, c]: &[Vector3<f64>; 3], p: &Vector3<f64>) -> Vector3<f64> {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let whole = va + vb + vc;
    a + ab * (vb / whole) + ac * (vc / whole)
}
