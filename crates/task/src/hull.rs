//! Convex bodies as points, and how far two of them are apart.

use std::collections::BTreeSet;
use std::sync::Arc;

use citrange_core::rig::ConvexBody;
use citrange_core::shape::Hull;
use nalgebra::{Matrix3, Vector3};

/// Steps after which two bodies that are still not told apart count as touching.
const MOST_STEPS: usize = 40;
/// Steps along the line of a capsule at which its section is taken.
const ROUND_STEPS: usize = 16;

/// More points than these are sifted before their hull is made, with the outermost in so many
/// directions.
const MANY: usize = 64;
const DIRECTIONS: usize = 16;
/// Points nearer to the sifting polygon's edges are kept, whatever rounding says.
const INSIDE_M2: f64 = 1e-12;

/// Bodies of more points know their edges.
const FEW: usize = 16;

/// A convex body in the world: everything within a radius of the hull of some points.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Body3 {
    pub(crate) points: Vec<Vector3<f64>>,
    pub(crate) radius_m: f64,
    /// Pairs of points that have all edges of the hull among them; empty where they are few: then
    /// all pairs are looked at.
    edges: Arc<[[usize; 2]]>,
}

/// A convex body in its own frame, made ready to be put anywhere.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    body: Body3,
}

impl Form {
    pub(crate) fn of(body: &ConvexBody) -> Self {
        let at = |p: &[f64; 3]| Vector3::from(*p);
        if body.points_m.len() <= FEW || body.radius_m > 0.0 {
            let points = body.points_m.iter().map(at).collect();
            return Self { body: Body3::of_points(points, body.radius_m) };
        }
        // Of very many points some are left out: up to 2 % of a sphere's radius.
        let hull = Hull::of(&body.points_m);
        let sides = hull.triangles().flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]]);
        let edges: BTreeSet<[usize; 2]> =
            sides.map(|[a, b]| [a.min(b) as usize, a.max(b) as usize]).collect();
        let (points, edges) = (hull.vertices_m().to_vec(), edges.into_iter().collect());
        Self { body: Body3 { points, radius_m: 0.0, edges } }
    }

    /// The body at a pose.
    pub(crate) fn at(&self, rot: &Matrix3<f64>, by: &Vector3<f64>) -> Body3 {
        self.body.moved(rot, by)
    }
}

/// The nearest points of two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gap {
    /// Distance of the surfaces; 0 and below where they meet.
    pub(crate) gap_m: f64,
    /// From the second body to the first; zero where the inner hulls meet.
    pub(crate) normal: Vector3<f64>,
}

impl Body3 {
    /// Everything within a radius of the hull of a few points.
    pub(crate) fn of_points(points: Vec<Vector3<f64>>, radius_m: f64) -> Self {
        Self { points, radius_m, edges: Arc::default() }
    }

    /// The same body elsewhere.
    pub(crate) fn moved(&self, rot: &Matrix3<f64>, by: &Vector3<f64>) -> Self {
        let points = self.points.iter().map(|p| rot * p + by).collect();
        Self { points, radius_m: self.radius_m, edges: Arc::clone(&self.edges) }
    }

    /// The body and all that it passes on a straight way.
    pub(crate) fn swept(&self, by: &Vector3<f64>) -> Self {
        let count = self.points.len();
        let points = self.points.iter().copied().chain(self.points.iter().map(|p| p + by));
        // Edges of both ends, and those from end to end.
        let ends = self.edges.iter().flat_map(|[a, b]| [[*a, *b], [a + count, b + count]]);
        let along = (0..count).filter(|_| !self.edges.is_empty()).map(|a| [a, a + count]);
        let edges = ends.chain(along).collect();
        Self { points: points.collect(), radius_m: self.radius_m, edges }
    }

    /// Lowest and highest value along a direction of unit length.
    pub(crate) fn extent(&self, along: &Vector3<f64>) -> [f64; 2] {
        let start = [f64::INFINITY, f64::NEG_INFINITY];
        let [low, high] = self.points.iter().fold(start, |[low, high], p| {
            let at = p.dot(along);
            [low.min(at), high.max(at)]
        });
        [low - self.radius_m, high + self.radius_m]
    }

    /// Middle and radius of a ball around it.
    pub(crate) fn ball(&self) -> (Vector3<f64>, f64) {
        let count = self.points.len().max(1) as f64;
        let middle = self.points.iter().sum::<Vector3<f64>>() / count;
        let far = self.points.iter().map(|p| (p - middle).norm_squared()).fold(0.0, f64::max);
        (middle, far.sqrt() + self.radius_m)
    }

    fn outermost(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let mut best = (f64::NEG_INFINITY, Vector3::zeros());
        for p in &self.points {
            let far = p.dot(direction);
            if far > best.0 {
                best = (far, *p);
            }
        }
        best.1
    }

    /// How far this body is from another: the point of their differences that is nearest to the
    /// origin, after Gilbert, Johnson and Keerthi.
    pub(crate) fn gap(&self, other: &Self) -> Gap {
        let rounding = self.radius_m + other.radius_m;
        let meets = Gap { gap_m: -rounding, normal: Vector3::zeros() };
        let (Some(a), Some(b)) = (self.points.first(), other.points.first()) else {
            return Gap { gap_m: f64::INFINITY, normal: Vector3::zeros() };
        };
        let mut nearest = a - b;
        let mut corners: Vec<Vector3<f64>> = Vec::with_capacity(4);
        for step in 0..MOST_STEPS {
            let length2 = nearest.norm_squared();
            if length2 < 1e-16 {
                return meets;
            }
            let corner = self.outermost(&-nearest) - other.outermost(&nearest);
            // Nothing lies further this way: this is the nearest point.
            if length2 - nearest.dot(&corner) <= 1e-9 * length2 && step > 0 {
                break;
            }
            corners.push(corner);
            let Some((point, kept)) = nearest_of(&corners) else { return meets };
            if step > 0 && point.norm_squared() >= length2 * (1.0 - 1e-12) {
                break;
            }
            nearest = point;
            let mut index = 0;
            corners.retain(|_| {
                index += 1;
                kept >> (index - 1) & 1 == 1
            });
        }
        let length = nearest.norm();
        Gap { gap_m: length - rounding, normal: nearest / length }
    }

    /// The corners of its section with the plane through `at` that two directions span, in these
    /// directions. In no order; empty where the plane misses it.
    pub(crate) fn section(&self, at: &Vector3<f64>, along: [&Vector3<f64>; 2]) -> Vec<[f64; 2]> {
        let normal = along[0].cross(along[1]);
        let flat = |p: &Vector3<f64>| [(p - at).dot(along[0]), (p - at).dot(along[1])];
        let off: Vec<f64> = self.points.iter().map(|p| (p - at).dot(&normal)).collect();
        let mut corners = Vec::new();
        if self.radius_m > 0.0 {
            self.round_section(&off, &flat, &mut corners);
            return corners;
        }
        let in_plane = self.points.iter().zip(&off).filter(|(_, a)| a.abs() < 1e-9);
        corners.extend(in_plane.map(|(p, _)| flat(p)));
        let mut cross = |i: usize, k: usize| {
            let (p, q, a, b) = (self.points[i], self.points[k], off[i], off[k]);
            if a * b < 0.0 {
                corners.push(flat(&(p + (q - p) * (a / (a - b)))));
            }
        };
        self.edges.iter().for_each(|[i, k]| cross(*i, *k));
        if self.edges.is_empty() {
            let count = self.points.len();
            (0..count).for_each(|i| (i + 1..count).for_each(|k| cross(i, k)));
        }
        corners
    }

    /// The same for a body with a rounding: circles around places between its points.
    fn round_section(
        &self,
        off: &[f64],
        flat: &impl Fn(&Vector3<f64>) -> [f64; 2],
        corners: &mut Vec<[f64; 2]>,
    ) {
        for (i, (p, a)) in self.points.iter().zip(off).enumerate() {
            let rest = self.points.iter().zip(off).skip(i + 1);
            let ends = rest.chain((self.points.len() == 1).then_some((p, a)));
            for (q, b) in ends {
                // A ball has one place only.
                let steps = if self.points.len() == 1 { 0 } else { ROUND_STEPS };
                for step in 0..=steps {
                    let part = step as f64 / ROUND_STEPS as f64;
                    let left2 = self.radius_m.powi(2) - (a + (b - a) * part).powi(2);
                    if left2 <= 0.0 {
                        continue;
                    }
                    let [x, y] = flat(&(p + (q - p) * part));
                    for k in 0..4 * ROUND_STEPS {
                        let angle = k as f64 * std::f64::consts::TAU / (4 * ROUND_STEPS) as f64;
                        let (sin, cos) = angle.sin_cos();
                        corners.push([x + left2.sqrt() * cos, y + left2.sqrt() * sin]);
                    }
                }
            }
        }
    }
}

/// The least gap between bodies of one list and those of another.
pub(crate) fn least_gap_m(bodies: &[Body3], others: &[Body3]) -> f64 {
    let gaps = bodies.iter().flat_map(|a| others.iter().map(|b| a.gap(b).gap_m));
    gaps.fold(f64::INFINITY, f64::min)
}

/// Twice the area of a triangle, above 0 when its corners go counter-clockwise.
fn turn(o: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
}

/// Drops points well inside the polygon of the outermost in some directions: they are no corners
/// of the hull (after Akl and Toussaint).
fn drop_inner(points: &mut Vec<[f64; 2]>) {
    let outermost = |k: usize| {
        let (sin, cos) = (std::f64::consts::TAU * k as f64 / DIRECTIONS as f64).sin_cos();
        let far = |p: &[f64; 2]| p[0] * cos + p[1] * sin;
        points.iter().copied().max_by(|a, b| far(a).total_cmp(&far(b)))
    };
    let mut corners: Vec<[f64; 2]> = (0..DIRECTIONS).filter_map(outermost).collect();
    corners.dedup();
    if corners.len() < 3 {
        return;
    }
    let is_inside = |p: &[f64; 2]| {
        let ends = corners.iter().zip(corners.iter().cycle().skip(1));
        ends.filter(|(a, b)| a != b).all(|(a, b)| turn(*a, *b, *p) > INSIDE_M2)
    };
    points.retain(|p| !is_inside(p));
}

/// The hull of points of a plane, counter-clockwise (Andrew's monotone chain).
pub(crate) fn hull_2d(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    if points.len() > MANY {
        drop_inner(&mut points);
    }
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let half = |points: &mut dyn Iterator<Item = &[f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for p in points {
            while let [.., a, b] = chain[..]
                && turn(a, b, *p) <= 0.0
            {
                chain.pop();
            }
            chain.push(*p);
        }
        chain.pop();
        chain
    };
    let mut hull = half(&mut points.iter());
    hull.extend(half(&mut points.iter().rev()));
    hull
}

/// Lowest and highest first coordinate of a convex polygon where its second one is `at`.
pub(crate) fn chord_2d(polygon: &[[f64; 2]], at: f64) -> Option<[f64; 2]> {
    let mut found: Option<[f64; 2]> = None;
    for (i, a) in polygon.iter().enumerate() {
        let b = polygon[(i + 1) % polygon.len()];
        if (a[1] - at) * (b[1] - at) > 0.0 {
            continue;
        }
        let rise = b[1] - a[1];
        let ends = if rise.abs() < 1e-12 {
            [a[0], b[0]]
        } else {
            [a[0] + (b[0] - a[0]) * ((at - a[1]) / rise); 2]
        };
        let [low, high] = found.unwrap_or([f64::INFINITY, f64::NEG_INFINITY]);
        found = Some([low.min(ends[0].min(ends[1])), high.max(ends[0].max(ends[1]))]);
    }
    found
}

/// The point of the hull of up to four corners that is nearest to the origin, and the corners that
/// it lies between, as bits. `None` when the origin is inside.
fn nearest_of(corners: &[Vector3<f64>]) -> Option<(Vector3<f64>, u8)> {
    let mut best: Option<(Vector3<f64>, u8)> = None;
    for subset in 1_u8..1 << corners.len() {
        let mut of = [Vector3::zeros(); 4];
        let mut count = 0;
        for (index, corner) in corners.iter().enumerate() {
            if subset >> index & 1 == 1 {
                of[count] = *corner;
                count += 1;
            }
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

fn on_edge(a: &Vector3<f64>, b: &Vector3<f64>) -> Option<Vector3<f64>> {
    let along = b - a;
    let part = -a.dot(&along) / along.norm_squared();
    (0.0..=1.0).contains(&part).then(|| a + along * part)
}

fn on_side(a: &Vector3<f64>, b: &Vector3<f64>, c: &Vector3<f64>) -> Option<Vector3<f64>> {
    let normal = (b - a).cross(&(c - a));
    let size2 = normal.norm_squared();
    let foot = normal * (a.dot(&normal) / size2);
    let is_left =
        |p: &Vector3<f64>, q: &Vector3<f64>| (q - p).cross(&(foot - p)).dot(&normal) >= 0.0;
    (size2 > 0.0 && is_left(a, b) && is_left(b, c) && is_left(c, a)).then_some(foot)
}

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
    use citrange_core::shape::Shape;

    use super::*;

    fn cuboid(half: [f64; 3], at: [f64; 3]) -> Body3 {
        let hull = ConvexBody::cuboid(half);
        Form::of(&hull).at(&Matrix3::identity(), &Vector3::from(at))
    }

    #[test]
    fn gaps_are_distances_of_surfaces() {
        let a = cuboid([0.1, 0.1, 0.1], [0.0; 3]);
        for (other, gap_m, normal) in [
            (cuboid([0.1, 0.2, 0.3], [0.25, 0.05, 0.0]), 0.05, -Vector3::x()),
            (cuboid([0.1, 0.1, 0.1], [0.0, 0.0, -0.5]), 0.3, Vector3::z()),
        ] {
            let gap = a.gap(&other);
            assert!((gap.gap_m - gap_m).abs() < 1e-9 && (gap.normal - normal).norm() < 1e-6);
        }
        let ball = Body3::of_points(vec![Vector3::new(0.4, 0.0, 0.02)], 0.25);
        assert!((a.gap(&ball).gap_m - 0.05).abs() < 1e-9);
        assert!(a.gap(&cuboid([0.1; 3], [0.15, 0.0, 0.0])).gap_m <= 0.0);
    }

    #[test]
    fn sections_have_the_width_of_the_body() {
        let ball = Body3::of_points(vec![Vector3::new(0.0, 0.01, 0.0)], 0.03);
        let flat = hull_2d(ball.section(&Vector3::zeros(), [&Vector3::x(), &Vector3::z()]));
        let [low, high] = chord_2d(&flat, 0.0).unwrap();
        let half = (0.03_f64.powi(2) - 0.01_f64.powi(2)).sqrt();
        assert!((low + half).abs() < 1e-4 && (high - half).abs() < 1e-4, "{low} {high}");
        let flat = hull_2d(
            cuboid([0.1, 0.2, 0.3], [0.0; 3])
                .section(&Vector3::new(0.0, 0.1, 0.0), [&Vector3::x(), &Vector3::z()]),
        );
        assert_eq!(chord_2d(&flat, 0.299).map(|c| (c[1] * 1e9).round()), Some(1e8));
        assert_eq!(chord_2d(&flat, 0.31), None);
    }

    #[test]
    fn edges_are_enough_for_a_section() {
        let shape = Shape::Ellipsoid { radii_m: [0.02, 0.035, 0.025] };
        let hull = ConvexBody::of(&shape).unwrap();
        let known = Form::of(&hull).at(&Matrix3::identity(), &Vector3::zeros());
        let all = Body3::of_points(known.points.clone(), 0.0);
        assert_eq!(known.edges.len(), 3 * known.points.len() - 6);
        let jaw = Vector3::new(0.8, 0.6, 0.0);
        let tool = Vector3::new(0.0, 0.28, -0.96).normalize();
        let jaw = (jaw - tool * jaw.dot(&tool)).normalize();
        for by in [Vector3::zeros(), -Vector3::z() * 0.1] {
            let cut = |body: &Body3| {
                hull_2d(body.swept(&by).section(&Vector3::new(0.001, 0.002, 0.003), [&jaw, &tool]))
            };
            let (known, all) = (cut(&known), cut(&all));
            for at in [-0.02, 0.0, 0.005, 0.02] {
                let ends =
                    [chord_2d(&known, at), chord_2d(&all, at)].map(Option::unwrap_or_default);
                assert!((ends[0][0] - ends[1][0]).abs() < 1e-9, "{ends:?}");
                assert!((ends[0][1] - ends[1][1]).abs() < 1e-9, "{ends:?}");
            }
        }
    }
}
