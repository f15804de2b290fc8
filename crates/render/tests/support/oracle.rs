//! A plain ray caster in double precision, by the textbook, independent of the crate's own code.

use citrange_render::{Camera, Placement, SceneModel, Shape};

pub type Vec3 = [f64; 3];

pub fn dot(a: Vec3, b: Vec3) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn at(o: Vec3, d: Vec3, t: f64) -> Vec3 {
    [o[0] + t * d[0], o[1] + t * d[1], o[2] + t * d[2]]
}

fn minus(a: Vec3, b: Vec3) -> Vec3 {
    at(a, b, -1.0)
}

pub fn unit(a: Vec3) -> Vec3 {
    a.map(|v| v / dot(a, a).sqrt())
}

fn rotate(m: &[f64; 9], v: Vec3) -> Vec3 {
    [0, 3, 6].map(|r| dot([m[r], m[r + 1], m[r + 2]], v))
}

fn rotate_back(m: &[f64; 9], v: Vec3) -> Vec3 {
    [0, 1, 2].map(|c| dot([m[c], m[c + 3], m[c + 6]], v))
}

#[derive(Debug, Clone, Copy)]
pub struct Hit {
    pub t: f64,
    pub instance: usize,
    /// Unit, in the world.
    pub normal: Vec3,
}

/// World ray of a point of the image; its parameter is the depth along the optical axis.
pub fn pixel_ray(camera: &Camera, u: f64, v: f64) -> (Vec3, Vec3) {
    let k = camera.intrinsics;
    let d = [(u - k.cx) / k.fx, -(v - k.cy) / k.fy, -1.0];
    (camera.pos_m, rotate(&camera.rot, d))
}

/// The first surface a ray meets from its front, with `t` in `range`.
pub fn cast(
    model: &SceneModel,
    placements: &[Placement],
    (origin, dir): (Vec3, Vec3),
    range: [f64; 2],
    wanted: impl Fn(usize) -> bool,
) -> Option<Hit> {
    let mut best: Option<Hit> = None;
    for (i, (instance, pose)) in model.instances.iter().zip(placements).enumerate() {
        if !wanted(i) {
            continue;
        }
        let o = rotate_back(&pose.rot, minus(origin, pose.pos_m));
        let d = rotate_back(&pose.rot, dir);
        let mut keep = |t: f64, normal: Vec3| {
            let nearer = best.is_none_or(|b| t < b.t);
            if t >= range[0] && t <= range[1] && nearer {
                let normal = unit(rotate(&pose.rot, normal));
                best = Some(Hit { t, instance: i, normal });
            }
        };
        meet(&instance.shape, o, d, &mut keep);
    }
    best
}

/// Smaller root of `a t² + b t + c`.
fn root(a: f64, b: f64, c: f64) -> Option<f64> {
    let disc = b * b - 4.0 * a * c;
    (disc >= 0.0 && a > 0.0).then(|| (-b - disc.sqrt()) / (2.0 * a))
}

fn meet(shape: &Shape, o: Vec3, d: Vec3, keep: &mut impl FnMut(f64, Vec3)) {
    match shape {
        Shape::Plane { half_m } => {
            let t = -o[2] / d[2];
            let p = at(o, d, t);
            let inside = (0..2).all(|k| half_m[k].is_none_or(|h| p[k].abs() <= h));
            if d[2] < 0.0 && inside {
                keep(t, [0.0, 0.0, 1.0]);
            }
        }
        Shape::Sphere { radius_m } => ball(o, d, [0.0; 3], *radius_m, |_| true, keep),
        Shape::Ellipsoid { radii_m: r } => {
            let (so, sd) = ([0, 1, 2].map(|k| o[k] / r[k]), [0, 1, 2].map(|k| d[k] / r[k]));
            if let Some(t) = root(dot(sd, sd), 2.0 * dot(so, sd), dot(so, so) - 1.0) {
                let p = at(o, d, t);
                keep(t, [0, 1, 2].map(|k| p[k] / (r[k] * r[k])));
            }
        }
        Shape::Capsule { radius_m: r, half_height_m: h } => {
            side(o, d, *r, *h, keep);
            ball(o, d, [0.0, 0.0, *h], *r, |p| p[2] >= *h, keep);
            ball(o, d, [0.0, 0.0, -h], *r, |p| p[2] <= -h, keep);
        }
        Shape::Cylinder { radius_m: r, half_height_m: h } => {
            side(o, d, *r, *h, keep);
            let end = -d[2].signum();
            let t = (end * h - o[2]) / d[2];
            let p = at(o, d, t);
            if p[0] * p[0] + p[1] * p[1] <= r * r {
                keep(t, [0.0, 0.0, end]);
            }
        }
        Shape::Box { half_m } => {
            for k in 0..3 {
                let face = -d[k].signum();
                let t = (face * half_m[k] - o[k]) / d[k];
                let p = at(o, d, t);
                if (0..3).all(|j| j == k || p[j].abs() <= half_m[j]) {
                    let mut normal = [0.0; 3];
                    normal[k] = face;
                    keep(t, normal);
                }
            }
        }
        Shape::Frustum { .. } | Shape::Ring { .. } => unreachable!("drawn as their pieces"),
        Shape::Mesh(mesh) => {
            for triangle in mesh.triangles() {
                let [a, b, c] = triangle.map(|v| mesh.positions_m()[v as usize].map(f64::from));
                moller_trumbore(o, d, [a, b, c], keep);
            }
        }
    }
}

fn ball(
    o: Vec3,
    d: Vec3,
    centre: Vec3,
    r: f64,
    wanted: impl Fn(Vec3) -> bool,
    keep: &mut impl FnMut(f64, Vec3),
) {
    let oc = minus(o, centre);
    if let Some(t) = root(dot(d, d), 2.0 * dot(oc, d), dot(oc, oc) - r * r) {
        let p = at(o, d, t);
        if wanted(p) {
            keep(t, minus(p, centre));
        }
    }
}

fn side(o: Vec3, d: Vec3, r: f64, h: f64, keep: &mut impl FnMut(f64, Vec3)) {
    let (of, df) = ([o[0], o[1], 0.0], [d[0], d[1], 0.0]);
    if let Some(t) = root(dot(df, df), 2.0 * dot(of, df), dot(of, of) - r * r) {
        let p = at(o, d, t);
        if p[2].abs() <= h {
            keep(t, [p[0], p[1], 0.0]);
        }
    }
}

fn moller_trumbore(o: Vec3, d: Vec3, [a, b, c]: [Vec3; 3], keep: &mut impl FnMut(f64, Vec3)) {
    let (e1, e2) = (minus(b, a), minus(c, a));
    let p = cross(d, e2);
    let det = dot(e1, p);
    if det <= 0.0 {
        return;
    }
    let s = minus(o, a);
    let u = dot(s, p) / det;
    let q = cross(s, e1);
    let v = dot(d, q) / det;
    if u >= 0.0 && v >= 0.0 && u + v <= 1.0 {
        keep(dot(e2, q) / det, cross(e1, e2));
    }
}
