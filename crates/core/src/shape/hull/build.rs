//! From points to a hull, robust against points that are flat, equal or nearly so.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use super::{Hull, HullPlane};

/// Points nearer than this to a plane, relative to the size of everything, are on it: the
/// vertices of meshes are single precision.
const ON_PLANE: f64 = 1e-7;

/// Corners may stand out of a face by this, relative to the size: more is no convex polyhedron.
const UNEVEN: f64 = 1e-6;

/// Faces whose plane a point is this far beyond, relative to the size, are seen from it. Where
/// rounding tears what is seen into pieces or makes needles of the new faces, the next is tried.
const SEEN: [f64; 3] = [1e-7, 1e-10, 1e-6];

/// What is thinner than this plus the same part of its size has no volume.
const FLAT: f64 = 1e-6;

struct Face {
    corners: [usize; 3],
    normal: Vector3<f64>,
    offset: f64,
    /// Points beyond it, each with its distance.
    outside: Vec<(usize, f64)>,
}

impl Face {
    /// `None` where the corners span no triangle.
    fn new(points: &[Vector3<f64>], corners: [usize; 3]) -> Option<Self> {
        let [a, b, c] = corners.map(|v| points[v]);
        let (ab, ac) = (b - a, c - a);
        let across = ab.cross(&ac);
        let area = across.norm();
        // A needle's normal is mostly rounding.
        if area <= 1e-12 * ab.norm() * ac.norm() || area == 0.0 {
            return None;
        }
        let normal = across / area;
        let offset = normal.dot(&a).max(normal.dot(&b)).max(normal.dot(&c));
        Some(Self { corners, normal, offset, outside: Vec::new() })
    }

    fn beyond(&self, p: &Vector3<f64>) -> f64 {
        self.normal.dot(p) - self.offset
    }

    fn edges(&self) -> [(usize, usize); 3] {
        let [a, b, c] = self.corners;
        [(a, b), (b, c), (c, a)]
    }
}

/// See [`Hull::of`].
pub(super) fn hull(points_m: &[[f64; 3]]) -> Hull {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for p in points_m {
        low = std::array::from_fn(|a| low[a].min(p[a]));
        high = std::array::from_fn(|a| high[a].max(p[a]));
    }
    if points_m.is_empty() {
        (low, high) = ([0.0; 3], [0.0; 3]);
    }
    // Around the middle numbers are small.
    let middle = (Vector3::from(low) + Vector3::from(high)) / 2.0;
    let mut points: Vec<_> = points_m.iter().map(|p| Vector3::from(*p) - middle).collect();
    if points.is_empty() {
        points.push(Vector3::zeros());
    }
    let half = (Vector3::from(high) - Vector3::from(low)) / 2.0;
    for _ in 0..2 {
        match Simplex::of(&points, half.norm()) {
            Simplex::Solid(corners) => {
                if let Some(made) = grow(&points, corners, half.norm())
                    .and_then(|faces| finish(&points, &faces, half.norm()))
                {
                    return made.moved(&middle);
                }
                break;
            }
            Simplex::Flat(across) => points = thickened(&points, &across, half.norm()),
        }
    }
    boxed(&half, half.norm()).moved(&middle)
}

/// Four points to begin with, or the directions in which there is no extent.
enum Simplex {
    Solid([usize; 4]),
    Flat(Vec<Vector3<f64>>),
}

fn flat_m(size: f64) -> f64 {
    FLAT + FLAT * size
}

impl Simplex {
    fn of(points: &[Vector3<f64>], size: f64) -> Self {
        let flat = flat_m(size);
        let most = |of: &dyn Fn(&Vector3<f64>) -> f64| {
            let mut best = (0, f64::NEG_INFINITY);
            for (index, p) in points.iter().enumerate() {
                let value = of(p);
                if value > best.1 {
                    best = (index, value);
                }
            }
            best
        };
        let extent = |axis: usize| {
            let (high, up) = most(&|p| p[axis]);
            let (low, down) = most(&|p| -p[axis]);
            (low, high, up + down)
        };
        let [x, y, z] = [0, 1, 2].map(extent);
        let (a, b, length) = [x, y, z].into_iter().fold(x, |m, e| if e.2 > m.2 { e } else { m });
        let units = [Vector3::x(), Vector3::y(), Vector3::z()];
        if length <= flat {
            return Self::Flat(units.to_vec());
        }
        let along = (points[b] - points[a]).normalize();
        let off = |p: &Vector3<f64>| {
            let from = p - points[a];
            from - along * from.dot(&along)
        };
        let (c, aside) = most(&|p| off(p).norm());
        if aside <= flat {
            let least = along.iamin();
            let first = along.cross(&units[least]).normalize();
            return Self::Flat(vec![first, along.cross(&first)]);
        }
        let up = along.cross(&off(&points[c])).normalize();
        let (d, height) = most(&|p| (p - points[a]).dot(&up).abs());
        if height <= flat {
            return Self::Flat(vec![up]);
        }
        Self::Solid([a, b, c, d])
    }
}

/// The points moved to and fro along directions in which they have no extent.
fn thickened(points: &[Vector3<f64>], across: &[Vector3<f64>], size: f64) -> Vec<Vector3<f64>> {
    let by = 2.0 * flat_m(size);
    let mut all = points.to_vec();
    for direction in across {
        let moved = |side: f64| all.iter().map(move |p| p + direction * (side * by));
        all = moved(1.0).chain(moved(-1.0)).collect();
    }
    all
}

/// Faces of the hull, beginning with a tetrahedron.
fn grow(points: &[Vector3<f64>], corners: [usize; 4], size: f64) -> Option<Vec<Face>> {
    let [a, b, c, d] = corners;
    let is_right =
        (points[b] - points[a]).cross(&(points[c] - points[a])).dot(&(points[d] - points[a])) < 0.0;
    let [b, c] = if is_right { [b, c] } else { [c, b] };
    let mut faces = Vec::new();
    for corners in [[a, b, c], [a, c, d], [a, d, b], [b, d, c]] {
        faces.push(Face::new(points, corners)?);
    }
    let on_plane = ON_PLANE * size;
    hand_out(points, (0..points.len()).collect(), &mut faces, on_plane);
    let mut vertices = 4;
    while vertices < Hull::MOST_VERTICES {
        let farthest = faces.iter().enumerate().flat_map(|(index, face)| {
            face.outside.iter().map(move |(point, beyond)| (index, *point, *beyond))
        });
        let Some((face, point, _)) = farthest.max_by(|x, y| x.2.total_cmp(&y.2)) else { break };
        if !SEEN.iter().any(|seen| add(points, point, &mut faces, size, *seen * size)) {
            // It stays outside, and is within the rounding.
            faces[face].outside.retain(|(p, _)| *p != point);
            continue;
        }
        vertices += 1;
    }
    Some(faces)
}

/// Gives each point to the face that it is farthest beyond.
fn hand_out(points: &[Vector3<f64>], which: Vec<usize>, faces: &mut [Face], on_plane: f64) {
    for point in which {
        let mut best = (on_plane, None);
        for (index, face) in faces.iter().enumerate() {
            let beyond = face.beyond(&points[point]);
            if beyond > best.0 {
                best = (beyond, Some(index));
            }
        }
        if let (beyond, Some(index)) = best {
            faces[index].outside.push((point, beyond));
        }
    }
}

/// Replaces the faces that a point sees by a cone to it; false where rounding makes them no
/// single patch.
fn add(
    points: &[Vector3<f64>],
    point: usize,
    faces: &mut Vec<Face>,
    size: f64,
    seen_m: f64,
) -> bool {
    let is_seen: Vec<bool> = faces.iter().map(|f| f.beyond(&points[point]) > seen_m).collect();
    let seen = || faces.iter().zip(&is_seen).filter(|(_, s)| **s).map(|(f, _)| f);
    // Edges of the patch that no other face of it shares, by where they begin.
    let mut rim: BTreeMap<usize, usize> = BTreeMap::new();
    let inner: std::collections::BTreeSet<_> = seen().flat_map(Face::edges).collect();
    for (from, to) in &inner {
        if !inner.contains(&(*to, *from)) && rim.insert(*from, *to).is_some() {
            return false;
        }
    }
    let Some(start) = rim.keys().next().copied() else { return false };
    let (mut at, mut steps) = (start, 0);
    loop {
        let Some(next) = rim.get(&at) else { return false };
        (at, steps) = (*next, steps + 1);
        if at == start {
            break;
        }
        if steps > rim.len() {
            return false;
        }
    }
    if steps != rim.len() {
        return false;
    }
    let cone: Option<Vec<Face>> =
        rim.iter().map(|(from, to)| Face::new(points, [*from, *to, point])).collect();
    let Some(mut cone) = cone else { return false };
    let orphans: Vec<usize> =
        seen().flat_map(|f| f.outside.iter().map(|(p, _)| *p)).filter(|p| *p != point).collect();
    hand_out(points, orphans, &mut cone, ON_PLANE * size);
    let mut keep = is_seen.iter();
    faces.retain(|_| keep.next() == Some(&false));
    faces.append(&mut cone);
    true
}

/// Checks what was made, and measures what sticks out of it. `None` where it is no convex
/// polyhedron.
fn finish(points: &[Vector3<f64>], faces: &[Face], size: f64) -> Option<Hull> {
    let mut numbers: BTreeMap<usize, u32> = BTreeMap::new();
    let mut edges = std::collections::BTreeSet::new();
    for face in faces {
        for (from, to) in face.edges() {
            let next = numbers.len() as u32;
            numbers.entry(from).or_insert(next);
            if !edges.insert((from, to)) {
                return None;
            }
        }
    }
    let is_closed = edges.iter().all(|(from, to)| edges.contains(&(*to, *from)));
    if !is_closed || numbers.len() + faces.len() != edges.len() / 2 + 2 {
        return None;
    }
    let mut vertices_m = vec![Vector3::zeros(); numbers.len()];
    for (point, number) in &numbers {
        vertices_m[*number as usize] = points[*point];
    }
    let mut planes: Vec<HullPlane> = Vec::new();
    let mut made = Vec::new();
    for face in faces {
        // Behind the plane is the whole of it, rounding included.
        let reach = vertices_m.iter().fold(face.offset, |most, v| most.max(face.normal.dot(v)));
        if reach - face.offset > UNEVEN * size {
            return None;
        }
        let is_same = |plane: &HullPlane| {
            Vector3::from(plane.normal).dot(&face.normal) > 1.0 - 1e-14
                && (plane.offset_m - reach).abs() < 1e-9 * size
        };
        let plane = planes.iter().position(is_same).unwrap_or_else(|| {
            planes.push(HullPlane { normal: face.normal.into(), offset_m: reach });
            planes.len() - 1
        });
        planes[plane].offset_m = planes[plane].offset_m.max(reach);
        made.push((face.corners.map(|c| numbers[&c]), plane as u32));
    }
    let uneven_m = 2.0 * UNEVEN * size;
    let mut hull = Hull { vertices_m, faces: made, planes, rounding_m: 0.0, uneven_m };
    let out = points.iter().map(|p| hull.core_signed_m(p).0).fold(0.0, f64::max);
    // Less than this is the rounding of double precision.
    hull.rounding_m = if out > 1e-12 * size { out } else { 0.0 };
    Some(hull)
}

/// The box around everything, for what rounding made no polyhedron of.
fn boxed(half: &Vector3<f64>, size: f64) -> Hull {
    let half = half.map(|h| h.max(2.0 * flat_m(size)));
    let corner =
        |k: usize| Vector3::from_fn(|a, _| if k >> a & 1 == 1 { half[a] } else { -half[a] });
    let sides =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let (mut faces, mut planes) = (Vec::new(), Vec::new());
    for [a, b, c, d] in sides {
        let plane = planes.len() as u32;
        faces.extend([([a, b, c], plane), ([a, c, d], plane)]);
        let [p, q, r] = [a, b, c].map(|v| corner(v as usize));
        let normal = (q - p).cross(&(r - p)).normalize();
        planes.push(HullPlane { normal: normal.into(), offset_m: normal.dot(&p) });
    }
    Hull { vertices_m: (0..8).map(corner).collect(), faces, planes, rounding_m: 0.0, uneven_m: 0.0 }
}

impl Hull {
    fn moved(mut self, by: &Vector3<f64>) -> Self {
        self.vertices_m.iter_mut().for_each(|v| *v += by);
        for plane in &mut self.planes {
            plane.offset_m += Vector3::from(plane.normal).dot(by);
        }
        self
    }
}
