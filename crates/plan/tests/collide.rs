//! The collider against a plain brute force in double precision.

#[allow(dead_code)] // tests of `space` use the rest
#[path = "../../robot/tests/robot/robots.rs"]
mod robots;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_core::shape::{Mesh, PosedShape, Shape};
use citrange_lanes::Isa;
use citrange_plan::{
    Collider, ColliderSettings, Config, JointLimit, Motions, Obstacles, PlannedArm, Touched,
};
use citrange_robot::{Robot, RobotSettings};
use citrange_space::{Grid, MapSnapshot};
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is left to the system's allocator.
#[expect(unsafe_code, reason = "counts what the system's allocator is asked for")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Distances that single precision cannot tell from 0.
const BAND_M: f64 = 5e-5;

fn arm() -> PlannedArm {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/plan/ur5_robotiq.json");
    let body: Robot = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let limit = JointLimit { range: [-3.2, 3.2], velocity: 3.0, acceleration: 10.0, jerk: 100.0 };
    PlannedArm::new(body, vec![limit; 6], &[0.0; 6]).unwrap()
}

fn collider(arm: &PlannedArm, obstacles: &Obstacles) -> Collider {
    Collider::new(arm, obstacles, &ColliderSettings::default()).unwrap()
}

fn random(rng: &mut Rng) -> Config {
    Config::of(&std::array::from_fn::<f64, 6, _>(|_| rng.uniform(-3.1, 3.1)))
}

/// Solids and cubes around the arm of the tests, whose shoulder is at 0, 0, 1.
fn surroundings(rng: &mut Rng) -> Obstacles {
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
fn lump(rng: &mut Rng, vertices: usize) -> Shape {
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
fn cubes(rng: &mut Rng, heaps: usize) -> MapSnapshot {
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
struct Brute<'a> {
    body: &'a Robot,
    obstacles: &'a Obstacles,
    cubes: Vec<[f64; 3]>,
}

impl<'a> Brute<'a> {
    fn new(arm: &'a PlannedArm, obstacles: &'a Obstacles) -> Self {
        let cubes = obstacles.map.iter().flat_map(|map| {
            let grid = *map.grid();
            let centre = move |key: u32| grid.centre_m(grid.cell_of(key));
            map.voxels().iter().map(move |v| centre(v.key)).collect::<Vec<_>>()
        });
        Self { body: arm.body(), obstacles, cubes: cubes.collect() }
    }

    fn gap_m(&self, joints: &[f64]) -> f64 {
        let [obstacles_m, own_m] = self.gaps_m(joints);
        obstacles_m.min(own_m)
    }

    /// To obstacles, and of links to each other.
    fn gaps_m(&self, joints: &[f64]) -> [f64; 2] {
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

    fn outside_m(&self, point: &Point3<f64>) -> f64 {
        let outside = |local: Vector3<f64>, half: [f64; 3]| {
            Vector3::from_fn(|a, _| (local[a].abs() - half[a]).max(0.0)).norm()
        };
        let mut least = f64::INFINITY;
        for solid in &self.obstacles.solids {
            let [w, x, y, z] = solid.pose.quat_wxyz;
            let orientation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
            let local = orientation.inverse() * (point.coords - Vector3::from(solid.pose.pos_m));
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
                    if local.x.to_bits() % 64 == 0 {
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
fn ellipsoid_m(radii_m: &[f64; 3], p: &Vector3<f64>) -> f64 {
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
fn frustum_m([wide, top]: [f64; 2], half: f64, p: &Vector3<f64>) -> f64 {
    let round = p.x.hypot(p.y);
    let to_disc = |z: f64| {
        let radius = wide + (top - wide) * (z + half) / (2.0 * half);
        (round - radius).max(0.0).hypot(p.z - z)
    };
    let (mut low, mut high) = (-half, half);
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..100 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if to_disc(a) < to_disc(b) { high = b } else { low = a }
    }
    let least = to_disc(f64::midpoint(low, high));
    least.min(to_disc(-half)).min(to_disc(half))
}

/// Distance of a point to the convex hull of a mesh's vertices, by the method of Wolfe for the
/// nearest point, slowly: weights of all vertices move toward the one that is nearest.
fn hull_m(mesh: &Mesh, p: &Vector3<f64>) -> f64 {
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

#[test]
fn planes_meshes_rings_and_frustums_are_in_the_way() {
    let arm = arm();
    let at = Config::of(&[0.0, -1.5, 0.5, -1.0, 0.3, 0.0]);
    let mut poses = [Isometry3::identity(); 16];
    arm.body().link_poses(&at.positions(6), &mut poses).unwrap();
    let sphere = arm.body().spheres().last().unwrap();
    let hand = (poses[usize::from(sphere.link)] * Point3::from(sphere.centre_m)).coords;
    let corners = vec![[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]];
    let sides = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let mesh = Shape::Mesh(Arc::new(Mesh::new(corners, sides).unwrap()));
    let shapes = [
        (Shape::Plane { half_m: [None, None] }, Vector3::zeros()),
        (mesh, Vector3::new(-0.02, -0.02, -0.02)),
        (Shape::Ring { radius_m: 0.1, bar_radius_m: 0.01 }, Vector3::new(0.1, 0.0, 0.0)),
        (
            Shape::Frustum { radius_m: 0.1, top_radius_m: 0.05, half_height_m: 0.1 },
            Vector3::zeros(),
        ),
    ];
    for (shape, shift) in shapes {
        for (away, is_free) in [(shift, false), (Vector3::new(0.0, 0.0, -4.0), true)] {
            let pose = Pose { pos_m: (hand + away).into(), ..Pose::IDENTITY };
            let mut collider =
                collider(&arm, &Obstacles::of(vec![PosedShape::new(pose, shape.clone())]));
            assert_eq!(collider.is_free(&at), is_free, "{shape:?}");
            assert_eq!(collider.contact(&at.positions(6)).is_none(), is_free, "{shape:?}");
        }
    }
}

/// Each kind alone, right at its surface and with the box around it over the sphere: what only a
/// box would have blocked is free.
#[test]
fn surfaces_are_where_they_are_and_not_where_their_boxes_are() {
    let arm = arm();
    let at = Config::of(&[0.0, -1.5, 0.5, -1.0, 0.3, 0.0]);
    let mut poses = [Isometry3::identity(); 16];
    arm.body().link_poses(&at.positions(6), &mut poses).unwrap();
    let sphere = arm.body().spheres().last().unwrap();
    let hand = (poses[usize::from(sphere.link)] * Point3::from(sphere.centre_m)).coords;
    let mut rng = Rng::new(21);
    let (mut boxed, mut tried) = ([0; 3], [0; 3]);
    for round in 0..900 {
        let kind = round % 3;
        let shape = match kind {
            0 => Shape::Frustum { radius_m: 0.1, top_radius_m: 0.02, half_height_m: 0.1 },
            1 => Shape::Ring { radius_m: 0.25, bar_radius_m: 0.02 },
            _ => lump(&mut rng, 5 + round % 40),
        };
        // So that a random point of the world is 3 mm off the last sphere of the hand.
        let axis = Vector3::from_fn(|_, _| rng.uniform(-3.0, 3.0));
        let turn = UnitQuaternion::from_scaled_axis(axis);
        let from: [f64; 3] = std::array::from_fn(|_| rng.uniform(-0.3, 0.3));
        let (distance_m, out) = shape.signed_m(from);
        let gap_m = if round % 2 == 0 { 1e-4 } else { -1e-4 };
        let move_m = sphere.radius_m + gap_m - distance_m;
        let local = Vector3::from(from) + Vector3::from(out) * move_m;
        if (shape.distance_m(local.into()) - sphere.radius_m - gap_m).abs() > 1e-6 {
            continue;
        }
        let pos_m = (hand - turn * local).into();
        let pose = Pose { pos_m, quat_wxyz: [turn.w, turn.i, turn.j, turn.k] };
        let obstacles = Obstacles::of(vec![PosedShape::new(pose, shape.clone())]);
        let brute = Brute::new(&arm, &obstacles);
        if brute.gap_m(&at.positions(6)) < gap_m - 1e-5 {
            continue;
        }
        tried[kind] += 1;
        let mut collider = collider(&arm, &obstacles);
        assert_eq!(collider.is_free(&at), gap_m > 0.0, "{shape:?} {pose:?}");
        let (centre_m, half_m) = shape.bounds_m().unwrap();
        let middle = Vector3::from(pose.pos_m) + turn * Vector3::from(centre_m);
        let around = PosedShape::cuboid(middle.into(), pose.quat_wxyz, half_m);
        collider.set_obstacles(&Obstacles::of(vec![around])).unwrap();
        boxed[kind] += usize::from(gap_m > 0.0 && !collider.is_free(&at));
    }
    assert!(tried.iter().all(|n| *n > 10) && boxed.iter().all(|n| *n > 3), "{tried:?} {boxed:?}");
}

/// A motion beside a cone and over the corner of a wedge that their boxes would block.
#[test]
fn motions_pass_near_what_a_box_would_block() {
    let arm = arm();
    let (from, to) = ([0.0, -1.5, 0.5, -1.0, 0.3, 0.0], [0.4, -1.5, 0.5, -1.0, 0.3, 0.0]);
    let [from, to] = [from, to].map(|at| Config::of(&at));
    let mut poses = [Isometry3::identity(); 16];
    arm.body().link_poses(&from.toward(&to, 0.5).positions(6), &mut poses).unwrap();
    let sphere = arm.body().spheres().last().unwrap();
    let hand = (poses[usize::from(sphere.link)] * Point3::from(sphere.centre_m)).coords;
    let corners = vec![[-0.2, -0.2, -0.1], [0.2, -0.2, -0.1], [-0.2, 0.2, -0.1], [-0.2, -0.2, 0.1]];
    let sides = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let wedge = Shape::Mesh(Arc::new(Mesh::new(corners, sides).unwrap()));
    let cone = Shape::Frustum { radius_m: 0.2, top_radius_m: 0.0, half_height_m: 0.1 };
    // The slanting faces look back to the arm, whose axis is at 0, 0.
    for (shape, on) in [(wedge, [-0.0667, -0.0667, -0.0333]), (cone, [0.1, 0.0, 0.0])] {
        let out = Vector3::from(shape.signed_m(on).1);
        let back = Vector3::new(-hand.x, -hand.y, 0.0).normalize();
        let turn = UnitQuaternion::rotation_between(&out, &back).unwrap();
        let quat_wxyz = [turn.w, turn.i, turn.j, turn.k];
        let mut at = hand - back * 0.1 - turn * Vector3::from(on);
        let placed =
            |at: Vector3<f64>| PosedShape::new(Pose { pos_m: at.into(), quat_wxyz }, shape.clone());
        let mut collider = collider(&arm, &Obstacles::of(vec![placed(at)]));
        // As near as 2.5 cm in the middle of the motion.
        for _ in 0..20 {
            at += back * (collider.clearance_m(&from.toward(&to, 0.5)) - 0.025);
            collider.set_obstacles(&Obstacles::of(vec![placed(at)])).unwrap();
        }
        let gaps =
            (0..=400_u16).map(|k| collider.clearance_m(&from.toward(&to, f32::from(k) / 400.0)));
        let least = gaps.fold(f64::INFINITY, f64::min);
        assert!(least > 0.001 && collider.is_motion_free(&from, &to), "{least}");
        let (centre_m, half_m) = shape.bounds_m().unwrap();
        let middle = at + turn * Vector3::from(centre_m);
        let around = PosedShape::cuboid(middle.into(), quat_wxyz, half_m);
        collider.set_obstacles(&Obstacles::of(vec![around])).unwrap();
        assert!(!collider.is_motion_free(&from, &to));
    }
}

#[test]
fn configurations_are_free_where_nothing_is_near() {
    let arm = arm();
    let mut rng = Rng::new(1);
    let mut seen = [0; 2];
    for _ in 0..12 {
        let obstacles = surroundings(&mut rng);
        let brute = Brute::new(&arm, &obstacles);
        let mut collider = collider(&arm, &obstacles);
        for _ in 0..150 {
            let at = random(&mut rng);
            let gap_m = brute.gap_m(&at.positions(6));
            assert!((collider.clearance_m(&at) - gap_m).abs() < 1e-9 || gap_m > 0.1);
            let contact = collider.contact(&at.positions(6));
            if gap_m.abs() < BAND_M {
                continue;
            }
            assert_eq!(collider.is_free(&at), gap_m > 0.0, "{at:?} {gap_m}");
            assert_eq!(contact.is_none(), gap_m > 0.0, "{contact:?} {gap_m}");
            assert!(contact.is_none_or(|c| (c.depth_m + gap_m).abs() < 1e-9));
            seen[usize::from(gap_m > 0.0)] += 1;
        }
    }
    assert!(seen.iter().all(|n| *n > 200), "{seen:?}");
}

#[test]
fn motions_are_free_only_where_every_configuration_is() {
    let arm = arm();
    let mut rng = Rng::new(2);
    let mut seen = [0; 3];
    for round in 0..18 {
        let obstacles = surroundings(&mut rng);
        let brute = Brute::new(&arm, &obstacles);
        let mut collider = collider(&arm, &obstacles);
        let mut tried = 0;
        // Something may be where the shoulder always is: then there is nothing to find.
        for _ in 0..1500 {
            let (from, toward) = (random(&mut rng), random(&mut rng));
            let length = if round % 3 == 0 { 0.1 } else { 0.4 };
            let to = from.toward(&toward, length / from.distance(&toward));
            // Motions that begin near to something, on purpose.
            let [obstacles_m, own_m] = brute.gaps_m(&from.positions(6));
            if !(0.0..0.02).contains(&obstacles_m) || own_m < 0.0 {
                continue;
            }
            tried += 1;
            if tried > 14 {
                break;
            }
            let is_free = collider.is_motion_free(&from, &to);
            let steps = (f64::from(from.distance(&to)) / 2.5e-4).ceil() as usize;
            let gap_m = |step: usize| {
                let at: Vec<f64> = (0..6)
                    .map(|j| {
                        let (a, b) = (f64::from(from.0[j]), f64::from(to.0[j]));
                        a + (b - a) * step as f64 / steps as f64
                    })
                    .collect();
                brute.gap_m(&at)
            };
            // Far away, the next configurations need no look.
            let (mut step, mut least) = (0, f64::INFINITY);
            while step <= steps {
                let gap_m = gap_m(step);
                least = least.min(gap_m);
                // No ball moves more than 3 m per radian of joint space.
                step += 1 + ((gap_m - 0.004).max(0.0) / 3.0 / 2.5e-4) as usize;
                if least < 0.0 {
                    break;
                }
            }
            assert!(!is_free || least > 0.0, "{from:?} {to:?} {least}");
            assert!(is_free || least < 0.002, "{from:?} {to:?} {least}");
            seen[if is_free { 2 } else { usize::from(least > 0.0) }] += 1;
        }
    }
    assert!(seen[0] > 50 && seen[2] > 50, "{seen:?}");
    // Hardly any that is free is refused.
    assert!(seen[1] * 50 < seen[2], "{seen:?}");
}

#[test]
fn boxes_are_free_only_where_every_configuration_is() {
    let arm = arm();
    let mut rng = Rng::new(3);
    let mut seen = [0; 2];
    for round in 0..20 {
        let obstacles = surroundings(&mut rng);
        let brute = Brute::new(&arm, &obstacles);
        let mut collider = collider(&arm, &obstacles);
        for _ in 0..20 {
            let at = random(&mut rng);
            let size = if round % 2 == 0 { 0.02 } else { 0.1 };
            let half = Config::of(&std::array::from_fn::<f64, 6, _>(|_| rng.uniform(0.0, size)));
            let is_free = collider.is_box_free(&at, &half);
            seen[usize::from(is_free)] += 1;
            if !is_free {
                // What is far from everything is not refused.
                assert!(brute.gap_m(&at.positions(6)) < 3.0 * 6.0 * size, "{at:?}");
                continue;
            }
            for _ in 0..40 {
                let inside: Vec<f64> = (0..6)
                    .map(|j| {
                        let reach = f64::from(half.0[j]);
                        let corner = if rng.unit() < 0.5 { -reach } else { reach };
                        let share = if rng.unit() < 0.5 { 1.0 } else { rng.unit() };
                        f64::from(at.0[j]) + corner * share
                    })
                    .collect();
                assert!(brute.gap_m(&inside) > 0.0, "{at:?} {half:?} {inside:?}");
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 30), "{seen:?}");
}

#[test]
fn every_instruction_set_gives_the_same_answers() {
    let arm = arm();
    let mut rng = Rng::new(4);
    for _ in 0..5 {
        let obstacles = surroundings(&mut rng);
        let mut colliders: Vec<Collider> = Isa::available()
            .into_iter()
            .map(|isa| {
                let settings = ColliderSettings { isa, ..ColliderSettings::default() };
                Collider::new(&arm, &obstacles, &settings).unwrap()
            })
            .collect();
        for _ in 0..200 {
            let (from, toward) = (random(&mut rng), random(&mut rng));
            let to = from.toward(&toward, 0.2);
            let half = Config([0.01; 8]);
            let answers: Vec<[bool; 3]> = colliders
                .iter_mut()
                .map(|c| {
                    [c.is_free(&from), c.is_motion_free(&from, &to), c.is_box_free(&from, &half)]
                })
                .collect();
            assert!(answers.iter().all(|a| *a == answers[0]), "{answers:?}");
        }
    }
}

#[test]
fn what_is_not_a_number_is_never_free() {
    let arm = arm();
    let mut collider = collider(&arm, &Obstacles::default());
    let home = Config::of(&[0.0, -1.5, 0.5, -1.0, 0.3, 0.0]);
    assert!(collider.is_free(&home) && collider.is_motion_free(&home, &home));
    assert!(collider.is_box_free(&home, &Config([0.01; 8])));
    for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30] {
        for joint in 0..6 {
            let mut at = home;
            at.0[joint] = wrong;
            assert!(!collider.is_free(&at));
            assert!(!collider.is_motion_free(&home, &at) && !collider.is_motion_free(&at, &home));
            assert!(!collider.is_box_free(&at, &Config::default()));
            at.0[joint] = -wrong.abs();
            assert!(!collider.is_box_free(&home, &at));
        }
    }
    let wrong = PosedShape::sphere([f64::NAN, 0.0, 0.0], 0.1);
    let obstacles = Obstacles::of(vec![wrong]);
    assert!(collider.set_obstacles(&obstacles).unwrap_err().to_string().contains("sphere 0"));
    assert!(!collider.is_free(&home));
}

#[test]
fn nothing_is_allocated_after_the_first_questions() {
    let arm = arm();
    let mut rng = Rng::new(5);
    let obstacles = surroundings(&mut rng);
    let mut collider = collider(&arm, &obstacles);
    let motions: Vec<(Config, Config)> =
        (0..300).map(|_| (random(&mut rng), random(&mut rng))).collect();
    let mut ask = || {
        collider.set_obstacles(&obstacles).unwrap();
        let count = |(from, to): &(Config, Config)| {
            let near = from.toward(to, 0.05);
            usize::from(collider.is_motion_free(from, &near))
                + usize::from(collider.is_free(from))
                + usize::from(collider.is_box_free(from, &Config([0.02; 8])))
        };
        motions.iter().map(count).sum::<usize>()
    };
    let first = ask();
    let before = ALLOCATIONS.with(Cell::get);
    let second = ask();
    assert_eq!(ALLOCATIONS.with(Cell::get), before);
    assert_eq!(first, second);
}

#[test]
fn a_contact_says_what_and_how_deep() {
    let arm = arm();
    let at = [0.0, -1.5, 0.5, -1.0, 0.3, 0.0];
    let mut poses = [Isometry3::identity(); 16];
    arm.body().link_poses(&at, &mut poses).unwrap();
    let sphere = arm.body().spheres().last().unwrap();
    let hand = poses[usize::from(sphere.link)] * Point3::from(sphere.centre_m);
    let away = hand.coords + Vector3::new(0.0, 0.0, 0.05 + sphere.radius_m - 0.004);
    let spheres = vec![PosedShape::sphere([3.0; 3], 0.1), PosedShape::sphere(away.into(), 0.05)];
    let mut collider = collider(&arm, &Obstacles::of(spheres));
    let contact = collider.contact(&at).unwrap();
    let with = Touched::Solid { number: 1, shape: "sphere" };
    assert_eq!((contact.link.as_str(), contact.with), ("wrist_3_link", with));
    assert!(contact.depth_m > 0.0039, "{}", contact.depth_m);
    // Folded onto itself.
    let folded = [0.0, -1.5, 3.0, 0.0, 0.0, 0.0];
    let contact = collider.contact(&folded).unwrap();
    assert!(matches!(contact.with, Touched::Link(_)), "{contact:?}");
    assert!(!collider.is_free(&Config::of(&folded)));
}

/// A crane with odd axes, shapes, and a gripper whose joints, one a slide, are held.
#[test]
fn shapes_and_held_joints_count() {
    let (chain, shapes) = robots::crane();
    let body = Robot::new(&chain, &shapes, &RobotSettings::default()).unwrap();
    let planned = body.chain().arm_joints;
    let limits = chain.joints[..planned].iter().map(|joint| JointLimit {
        range: joint.range.unwrap_or([-3.0, 3.0]),
        velocity: 3.0,
        acceleration: 10.0,
        jerk: 100.0,
    });
    let mut rng = Rng::new(7);
    let held = robots::positions(&chain, &mut rng);
    let arm = PlannedArm::new(body, limits.collect(), &held).unwrap();
    let mut seen = [0; 2];
    for _ in 0..10 {
        let obstacles = surroundings(&mut rng);
        let mut collider = collider(&arm, &obstacles);
        for _ in 0..100 {
            let from = Config::of(&robots::positions(&chain, &mut rng)[..planned]);
            let toward = Config::of(&robots::positions(&chain, &mut rng)[..planned]);
            let gap_m = collider.clearance_m(&from);
            if gap_m.abs() > BAND_M {
                assert_eq!(collider.is_free(&from), gap_m > 0.0, "{from:?} {gap_m}");
            }
            let is_free = collider.is_motion_free(&from, &toward);
            seen[usize::from(is_free)] += 1;
            for step in (0..=200_u16).filter(|_| is_free) {
                let at = from.toward(&toward, f32::from(step) / 200.0);
                assert!(collider.clearance_m(&at) > 0.0, "{from:?} {toward:?} {step}");
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 20), "{seen:?}");
}
