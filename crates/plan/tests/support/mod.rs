//! An arm, things around it, and the least gap between them by plain brute force in double
//! precision.
#![allow(dead_code)] // each test file uses what it needs

use std::path::Path;
use std::sync::Arc;

use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_core::shape::{Mesh, PosedShape, Shape};
use citrange_plan::{Collider, ColliderSettings, Config, JointLimit, Obstacles, PlannedArm};
use citrange_robot::Robot;
use citrange_space::{Grid, MapSnapshot};
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};

pub(crate) fn arm() -> PlannedArm {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/plan/ur5_robotiq.json");
    let body: Robot = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let limit = JointLimit { range: [-3.2, 3.2], velocity: 3.0, acceleration: 10.0, jerk: 100.0 };
    PlannedArm::new(body, vec![limit; 6], &[0.0; 6]).unwrap()
}

pub(crate) fn collider(arm: &PlannedArm, obstacles: &Obstacles) -> Collider {
    Collider::new(arm, obstacles, &ColliderSettings::default()).unwrap()
}

pub(crate) fn random(rng: &mut Rng) -> Config {
    Config::of(&std::array::from_fn::<f64, 6, _>(|_| rng.uniform(-3.1, 3.1)))
}

/// Solids and cubes around the arm of the tests, whose shoulder is at 0, 0, 1.
pub(crate) fn surroundings(rng: &mut Rng) -> Obstacles {
    let point =
        |rng: &mut Rng| [rng.uniform(-0.9, 0.9), rng.uniform(-0.9, 0.9), rng.uniform(0.2, 1.9)];
    let mut obstacles = Obstacles::default();
    for index in 0..4 {
        let tilt = if index % 2 == 0 { 0.0 } else { 1.0 };
        let mut angle = |size: f64| rng.uniform(-size, size);
        let axis = Vector3::new(angle(3.0) * tilt, angle(3.0) * tilt, angle(3.0));
        let turn = UnitQuaternion::from_scaled_axis(axis);
        let half_m = std::array::from_fn(|_| rng.uniform(0.01, 0.15));
        let quat_wxyz = [turn.w, turn.i, turn.j, turn.k];
        obstacles.solids.push(PosedShape::cuboid(point(rng), quat_wxyz, half_m));
        let radius_m = rng.uniform(0.02, 0.12);
        obstacles.solids.push(PosedShape::sphere(point(rng), radius_m));
        let a_m = point(rng);
        let b_m = a_m.map(|c| c + rng.uniform(-0.3, 0.3));
        obstacles.solids.push(PosedShape::capsule(a_m, b_m, rng.uniform(0.01, 0.08)));
        let half_turned = |rng: &mut Rng| Pose { pos_m: point(rng), quat_wxyz };
        let pose = half_turned(rng);
        let [radius_m, half_m] = [0.15, 0.2].map(|most| rng.uniform(0.02, most));
        obstacles.solids.push(PosedShape::cylinder(pose, radius_m, half_m));
        let radii_m = std::array::from_fn(|_| rng.uniform(0.02, 0.15));
        let shape = Shape::Ellipsoid { radii_m };
        obstacles.solids.push(PosedShape::new(half_turned(rng), shape));
        let [radius_m, top_radius_m, half_height_m] =
            [0.15, 0.1, 0.2].map(|m| rng.uniform(0.01, m));
        let shape = Shape::Frustum { radius_m, top_radius_m, half_height_m };
        obstacles.solids.push(PosedShape::new(half_turned(rng), shape));
        let shape = Shape::Ring { radius_m: rng.uniform(0.05, 0.3), bar_radius_m: 0.02 };
        obstacles.solids.push(PosedShape::new(half_turned(rng), shape));
        obstacles.solids.push(PosedShape::new(half_turned(rng), lump(rng, 4 + 8 * index)));
    }
    obstacles.map = Some(Arc::new(cubes(rng, 4)));
    obstacles
}

/// A mesh whose vertices are points of an ellipsoid, or in it.
pub(crate) fn lump(rng: &mut Rng, vertices: usize) -> Shape {
    let size: [f64; 3] = std::array::from_fn(|_| rng.uniform(0.03, 0.2));
    let points: Vec<[f32; 3]> = (0..vertices)
        .map(|index| {
            let p = Vector3::from_fn(|_, _| rng.uniform(-1.0, 1.0));
            let p = if index % 3 == 0 { p.normalize() } else { p };
            std::array::from_fn(|a| (0.05 + size[a] * p[a]) as f32)
        })
        .collect();
    let triangles = (2..vertices as u32).map(|k| [0, k - 1, k]).collect();
    Shape::Mesh(Arc::new(Mesh::new(points, triangles).unwrap()))
}

/// Small heaps of cubes.
pub(crate) fn cubes(rng: &mut Rng, heaps: usize) -> MapSnapshot {
    let grid = Grid::new([-1.0, -1.0, 0.0], [1.0, 1.0, 2.0], 0.05).unwrap();
    let mut keys = Vec::new();
    for _ in 0..heaps {
        let at = [0; 3].map(|_: usize| rng.uniform(2.0, 37.0) as usize);
        for step in 0..8 {
            let cell = [at[0] + (step & 1), at[1] + (step >> 1 & 1), at[2] + (step >> 2)];
            keys.push(grid.key(cell));
        }
    }
    MapSnapshot::from_voxels(&grid, &keys).unwrap()
}

/// The least gap to anything, by looking at everything.
pub(crate) struct Brute<'a> {
    body: &'a Robot,
    obstacles: &'a Obstacles,
    cubes: Vec<[f64; 3]>,
}

impl<'a> Brute<'a> {
    pub(crate) fn new(arm: &'a PlannedArm, obstacles: &'a Obstacles) -> Self {
        let cubes = obstacles.map.iter().flat_map(|map| {
            let grid = *map.grid();
            let centre = move |key: u32| grid.centre_m(grid.cell_of(key));
            map.voxels().iter().map(move |v| centre(v.key)).collect::<Vec<_>>()
        });
        Self { body: arm.body(), obstacles, cubes: cubes.collect() }
    }

    pub(crate) fn gap_m(&self, joints: &[f64]) -> f64 {
        let [obstacles_m, own_m] = self.gaps_m(joints);
        obstacles_m.min(own_m)
    }

    /// To obstacles, and of links to each other.
    pub(crate) fn gaps_m(&self, joints: &[f64]) -> [f64; 2] {
        let mut poses = [Isometry3::identity(); 16];
        self.body.link_poses(joints, &mut poses).unwrap();
        let spheres = self.body.spheres();
        let centres: Vec<Point3<f64>> =
            spheres.iter().map(|s| poses[usize::from(s.link)] * Point3::from(s.centre_m)).collect();
        let [mut obstacles_m, mut own_m] = [f64::INFINITY; 2];
        for (sphere, centre) in spheres.iter().zip(&centres) {
            if sphere.link > 0 {
                obstacles_m = obstacles_m.min(self.outside_m(centre) - sphere.radius_m);
            }
        }
        for [a, b] in self.body.checked_pairs() {
            for (one, from) in spheres.iter().zip(&centres).filter(|(s, _)| s.link == *a) {
                for (other, to) in spheres.iter().zip(&centres).filter(|(s, _)| s.link == *b) {
                    own_m = own_m.min((from - to).norm() - one.radius_m - other.radius_m);
                }
            }
        }
        [obstacles_m, own_m]
    }

    pub(crate) fn outside_m(&self, point: &Point3<f64>) -> f64 {
        let outside = |local: Vector3<f64>, half: [f64; 3]| {
            Vector3::from_fn(|a, _| (local[a].abs() - half[a]).max(0.0)).norm()
        };
        let mut least = f64::INFINITY;
        for solid in &self.obstacles.solids {
            let [w, x, y, z] = solid.pose.quat_wxyz;
            let orientation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
            let local = orientation.inverse() * (point.coords - Vector3::from(solid.pose.pos_m));
            // Slow ones are looked at only where they matter.
            let (centre_m, half_m) = solid.shape.bounds_m().unwrap();
            let far_m = outside(local - Vector3::from(centre_m), half_m);
            if far_m > 0.0 && far_m >= least {
                continue;
            }
            least = least.min(match &solid.shape {
                Shape::Box { half_m } => outside(local, *half_m),
                Shape::Sphere { radius_m } => local.norm() - radius_m,
                Shape::Capsule { radius_m, half_height_m } => {
                    let nearest = Vector3::z() * local.z.clamp(-half_height_m, *half_height_m);
                    (local - nearest).norm() - radius_m
                }
                Shape::Cylinder { radius_m, half_height_m } => {
                    let flat = Vector3::new(local.x.hypot(local.y), 0.0, local.z);
                    outside(flat, [*radius_m, 0.0, *half_height_m])
                }
                Shape::Ellipsoid { radii_m } => ellipsoid_m(radii_m, &local),
                Shape::Frustum { radius_m, top_radius_m, half_height_m } => {
                    frustum_m([*radius_m, *top_radius_m], *half_height_m, &local)
                }
                Shape::Ring { radius_m, bar_radius_m } => {
                    let out = local.x.hypot(local.y) - radius_m;
                    (out.hypot(local.z) - bar_radius_m).max(0.0)
                }
                Shape::Mesh(mesh) => {
                    let found = mesh.hull().signed_m(&local).0.max(0.0);
                    // Slow, so not every time.
                    if local.x.to_bits().is_multiple_of(4096) {
                        let exact = hull_m(mesh, &local);
                        assert!((found - exact).abs() < 2e-6, "{found} {exact} {local}");
                    }
                    found
                }
                other @ Shape::Plane { .. } => panic!("{other:?}"),
            });
        }
        for cube in &self.cubes {
            least = least.min(outside(point.coords - Vector3::from(*cube), [0.025; 3]));
        }
        least
    }
}

/// Distance of a point to an ellipsoid, by halving: the nearest point is `r² p / (r² + t)`.
pub(crate) fn ellipsoid_m(radii_m: &[f64; 3], p: &Vector3<f64>) -> f64 {
    let on = |t: f64| Vector3::from_fn(|a, _| radii_m[a].powi(2) * p[a] / (radii_m[a].powi(2) + t));
    let is_outside =
        |q: &Vector3<f64>| (0..3).map(|a| (q[a] / radii_m[a]).powi(2)).sum::<f64>() > 1.0;
    if !is_outside(p) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if is_outside(&on(middle)) { low = middle } else { high = middle }
    }
    (p - on(low)).norm()
}

/// Distance of a point to a frustum, by golden sections over its height: the distance to the disc
/// at a height is a convex function of the height.
pub(crate) fn frustum_m([wide, top]: [f64; 2], half: f64, p: &Vector3<f64>) -> f64 {
    let round = p.x.hypot(p.y);
    let to_disc = |z: f64| {
        let radius = wide + (top - wide) * (z + half) / (2.0 * half);
        (round - radius).max(0.0).hypot(p.z - z)
    };
    let (mut low, mut high) = (-half, half);
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..50 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if to_disc(a) < to_disc(b) { high = b } else { low = a }
    }
    let least = to_disc(f64::midpoint(low, high));
    least.min(to_disc(-half)).min(to_disc(half))
}

/// Distance of a point to the convex hull of a mesh's vertices, by the method of Wolfe for the
/// nearest point, slowly: weights of all vertices move toward the one that is nearest.
pub(crate) fn hull_m(mesh: &Mesh, p: &Vector3<f64>) -> f64 {
    let all: Vec<Vector3<f64>> =
        mesh.positions_m().iter().map(|v| Vector3::from(v.map(f64::from)) - p).collect();
    let mut weights = vec![0.0; all.len()];
    weights[0] = 1.0;
    let mut at = all[0];
    for _ in 0..20_000 {
        let by = |v: &Vector3<f64>| v.dot(&at);
        let near = (0..all.len()).min_by(|a, b| by(&all[*a]).total_cmp(&by(&all[*b]))).unwrap();
        let used = (0..all.len()).filter(|i| weights[*i] > 0.0);
        let far = used.max_by(|a, b| by(&all[*a]).total_cmp(&by(&all[*b]))).unwrap();
        if at.norm_squared() - by(&all[near]) < 1e-13 || at.norm() < 1e-7 {
            break;
        }
        // From the farthest that has a weight to the nearest (pairwise Frank and Wolfe).
        let way = all[near] - all[far];
        let step = (-at.dot(&way) / way.norm_squared()).clamp(0.0, weights[far]);
        weights[far] -= step;
        weights[near] += step;
        at += way * step;
        if weights[far] < 1e-15 {
            weights[far] = 0.0;
        }
    }
    if at.norm() < 1e-6 { 0.0 } else { at.norm() }
}
