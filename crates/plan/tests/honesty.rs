//! A thousand problems without a solution: never a path, always the right reason.
//!
//! Each is impossible for a reason that can be seen without a planner: an obstacle is put where
//! the robot is, a point is farther away than the arm is long, or a post stands where the
//! shoulder has to pass, whatever the other joints do.

use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_core::shape::{PosedShape, Shape};
use citrange_plan::{
    Collider, ColliderSettings, Collision, JointLimit, MadePlan, Obstacles, PlanGoal, PlanOutcome,
    PlanRequest, PlannedArm, Planner, Problems, SearchSettings, Touched, make_plan,
};
use citrange_robot::Robot;
use citrange_space::{Grid, MapSnapshot};
use nalgebra::{Isometry3, Point3, Rotation3, UnitQuaternion, Vector3};

const EACH: usize = 250;
/// A search for what is not there ends after so many samples.
const SAMPLES: usize = 400;
/// What the arm and its gripper can reach from the axis of the shoulder, and a little more.
const REACH_M: f64 = 1.3;
const SHOULDER_M: [f64; 3] = [0.0, 0.0, 0.9144 + 0.089159];

fn arm() -> PlannedArm {
    let text = include_str!("../../../benches/plan/ur5_robotiq.json");
    let body: Robot = serde_json::from_str(text).unwrap();
    let pi = std::f64::consts::PI;
    let limit = JointLimit { range: [-pi, pi], velocity: pi, acceleration: 5.0, jerk: 50.0 };
    PlannedArm::new(body, vec![limit; 6], &[0.0; 6]).unwrap()
}

/// Middles and radii of the robot's balls, with their links.
fn balls(arm: &PlannedArm, joints: &[f64]) -> Vec<(usize, Point3<f64>, f64)> {
    let mut poses = [Isometry3::identity(); 7];
    arm.body().link_poses(joints, &mut poses).unwrap();
    let place = |s: &citrange_robot::Sphere| {
        let link = usize::from(s.link);
        (link, poses[link] * Point3::from(s.centre_m), s.radius_m)
    };
    arm.body().spheres().iter().map(place).collect()
}

fn random_joints(rng: &mut Rng) -> Vec<f64> {
    (0..6).map(|_| rng.uniform(-3.1, 3.1)).collect()
}

/// Joints at which the robot does not touch itself.
fn free_joints(alone: &mut Collider, rng: &mut Rng) -> Vec<f64> {
    loop {
        let joints = random_joints(rng);
        if alone.contact(&joints).is_none() {
            return joints;
        }
    }
}

/// Gap between a ball of the robot and the one obstacle that there is.
fn gap_m(obstacles: &Obstacles, at: &Point3<f64>, radius_m: f64) -> f64 {
    let cube = |centre: Vector3<f64>, turn: UnitQuaternion<f64>, half: Vector3<f64>| {
        let inside = turn.inverse() * (at.coords - centre);
        (inside.abs() - half).map(|out| out.max(0.0)).norm() - radius_m
    };
    let solids = obstacles.solids.iter().map(|solid| {
        let (centre, turn) = (Vector3::from(solid.pose.pos_m), solid.pose.isometry().rotation);
        match solid.shape {
            Shape::Box { half_m } => cube(centre, turn, Vector3::from(half_m)),
            Shape::Sphere { radius_m: own } => (at.coords - centre).norm() - own - radius_m,
            Shape::Capsule { radius_m: own, half_height_m } => {
                let way = turn * Vector3::z() * half_height_m;
                let part = ((at.coords - centre).dot(&way) / way.norm_squared()).clamp(-1.0, 1.0);
                (at.coords - centre - way * part).norm() - own - radius_m
            }
            ref other => panic!("{other:?}"),
        }
    });
    let voxels = obstacles.map.iter().flat_map(|map| {
        map.voxels().iter().map(|voxel| {
            let grid = map.grid();
            let half = Vector3::repeat(0.5 * grid.voxel_m());
            let centre = Vector3::from(grid.centre_m(grid.cell_of(voxel.key)));
            cube(centre, UnitQuaternion::identity(), half)
        })
    });
    solids.chain(voxels).fold(f64::INFINITY, f64::min)
}

/// The least gap of a configuration, and the link that has it.
fn least_gap(arm: &PlannedArm, obstacles: &Obstacles, joints: &[f64]) -> (f64, usize) {
    let moving = balls(arm, joints).into_iter().filter(|(link, ..)| *link > 0);
    let gaps = moving.map(|(link, at, radius_m)| (gap_m(obstacles, &at, radius_m), link));
    gaps.fold((f64::INFINITY, 0), |least, this| if this.0 < least.0 { this } else { least })
}

/// One obstacle of some kind that reaches into a ball of the robot.
fn obstacle_in(arm: &PlannedArm, joints: &[f64], kind: usize, rng: &mut Rng) -> Obstacles {
    let moving: Vec<_> = balls(arm, joints).into_iter().filter(|(link, ..)| *link > 1).collect();
    let (_, at, radius_m) = moving[(rng.unit() * moving.len() as f64) as usize];
    let mut direction = || rng.uniform(-1.0, 1.0);
    let way = Vector3::new(direction(), direction(), direction()).normalize();
    let turn = UnitQuaternion::from_euler_angles(direction(), direction(), direction());
    // Its middle is half a radius from the ball's.
    let centre = at.coords + way * (0.5 * radius_m);
    let mut obstacles = Obstacles::default();
    match kind {
        0 => obstacles.solids.push(PosedShape::cuboid(
            centre.into(),
            [turn.w, turn.i, turn.j, turn.k],
            [0.02, 0.01, 0.03],
        )),
        1 => obstacles.solids.push(PosedShape::sphere(centre.into(), 0.015)),
        2 => {
            let end = centre + turn * Vector3::z() * 0.1;
            obstacles.solids.push(PosedShape::capsule(centre.into(), end.into(), 0.01));
        }
        _ => obstacles.map = Some(map_with(centre)),
    }
    obstacles
}

/// A map in which one voxel is occupied.
fn map_with(at: Vector3<f64>) -> Arc<MapSnapshot> {
    let grid = Grid::new([-1.5, -1.5, -0.6], [1.5, 1.5, 2.6], 0.05).unwrap();
    let cell = grid.cell(at.into()).unwrap();
    Arc::new(MapSnapshot::from_voxels(&grid, &[grid.key(cell)]).unwrap())
}

struct Bench {
    arm: PlannedArm,
    alone: Collider,
    collider: Collider,
    planner: Planner,
    request: PlanRequest,
}

impl Bench {
    fn new() -> Self {
        let arm = arm();
        let empty = Obstacles::default();
        let alone = Collider::new(&arm, &empty, &ColliderSettings::default()).unwrap();
        let search = SearchSettings { max_iterations: SAMPLES, ..SearchSettings::default() };
        let request = PlanRequest { search: search.clone(), ..PlanRequest::default() };
        let planner = Planner::new(arm.limits(), search).unwrap();
        Self { arm, collider: alone.clone(), alone, planner, request }
    }

    fn ask(&mut self, obstacles: &Obstacles, start: &[f64], goal: &PlanGoal) -> MadePlan {
        self.collider.set_obstacles(obstacles).unwrap();
        let Self { arm, collider, planner, request, .. } = self;
        make_plan(arm, collider, planner, start, goal, request).unwrap()
    }

    /// A contact must be what a plain look at the balls finds.
    fn check(&self, obstacles: &Obstacles, joints: &[f64], contact: &Collision, kind: usize) {
        let (gap_m, link) = least_gap(&self.arm, obstacles, joints);
        assert!(gap_m < 0.0, "{contact:?}: {gap_m}");
        assert!((contact.depth_m + gap_m).abs() < 1e-6, "{contact:?} but {gap_m}");
        assert_eq!(Some(contact.link.as_str()), self.arm.body().links().nth(link));
        let right = match &contact.with {
            Touched::Solid { number, shape: "box" } => (0, *number),
            Touched::Solid { number, shape: "sphere" } => (1, *number),
            Touched::Solid { number, .. } => (2, *number),
            Touched::Voxel { key, .. } => {
                let map = obstacles.map.as_ref().unwrap();
                (3, usize::from(map.voxels()[0].key != *key))
            }
            Touched::Link(_) => (4, 0),
        };
        assert_eq!(right, (kind, 0), "{contact:?}");
    }
}

#[test]
fn who_starts_inside_of_something_is_told_what() {
    let mut bench = Bench::new();
    let mut rng = Rng::new(1);
    for number in 0..EACH {
        let (start, goal) =
            (free_joints(&mut bench.alone, &mut rng), free_joints(&mut bench.alone, &mut rng));
        let obstacles = obstacle_in(&bench.arm, &start, number % 4, &mut rng);
        let made = bench.ask(&obstacles, &start, &PlanGoal::Joints(goal));
        let PlanOutcome::StartInCollision { contact } = &made.outcome else {
            panic!("{number}: {:?}", made.outcome)
        };
        bench.check(&obstacles, &start, contact, number % 4);
        assert!(made.trajectory.is_none() && made.escape.is_none());
    }
}

#[test]
fn a_goal_inside_of_something_is_told_what() {
    let mut bench = Bench::new();
    let mut rng = Rng::new(2);
    let mut done = 0;
    while done < EACH {
        let (start, goal) =
            (free_joints(&mut bench.alone, &mut rng), free_joints(&mut bench.alone, &mut rng));
        let obstacles = obstacle_in(&bench.arm, &goal, done % 4, &mut rng);
        if least_gap(&bench.arm, &obstacles, &start).0 < 0.001 {
            continue;
        }
        let made = bench.ask(&obstacles, &start, &PlanGoal::Joints(goal.clone()));
        let PlanOutcome::GoalInCollision { contact } = &made.outcome else {
            panic!("{done}: {:?}", made.outcome)
        };
        bench.check(&obstacles, &goal, contact, done % 4);
        assert!(made.trajectory.is_none());
        done += 1;
    }
}

#[test]
fn a_point_out_of_reach_is_said_to_be() {
    let mut bench = Bench::new();
    let mut rng = Rng::new(3);
    for number in 0..EACH {
        let start = free_joints(&mut bench.alone, &mut rng);
        let mut direction = || rng.uniform(-1.0, 1.0);
        let way = Vector3::new(direction(), direction(), direction()).normalize();
        let far_m = REACH_M + 0.06 + rng.unit();
        let at = Vector3::from(SHOULDER_M) + way * far_m;
        let made = bench.ask(&Obstacles::default(), &start, &PlanGoal::Point { at_m: at.into() });
        let PlanOutcome::GoalUnreachable { nearest_m, tolerance_m, nearest_rad: None, .. } =
            made.outcome
        else {
            panic!("{number}: {:?}", made.outcome)
        };
        assert_eq!(tolerance_m, 1e-4);
        // The tool's flange, without the gripper, reaches no more than 0.96 m.
        assert!(nearest_m > far_m - 0.96 && nearest_m < far_m - 0.6, "{far_m}: {nearest_m}");
        assert!(made.trajectory.is_none());
    }
}

/// The upper arm begins 136 mm beside the axis that it is panned about, with a ball of 80 mm. A
/// post in its circle cannot be passed, and pan cannot go round the other way.
#[test]
fn a_wall_that_cannot_be_passed_is_never_passed() {
    let mut bench = Bench::new();
    let mut rng = Rng::new(4);
    let mut done = 0;
    while done < EACH {
        let (mut start, mut goal) =
            (free_joints(&mut bench.alone, &mut rng), free_joints(&mut bench.alone, &mut rng));
        let post_at = rng.uniform(-1.2, 1.2);
        start[0] = post_at - rng.uniform(0.8, 1.8);
        goal[0] = post_at + rng.uniform(0.8, 1.8);
        let turn = Rotation3::from_euler_angles(0.0, 0.0, 1.57 + post_at);
        let at = Vector3::from(SHOULDER_M) + turn * Vector3::new(0.0, 0.13585, 0.0);
        let mut obstacles = Obstacles::default();
        match done % 4 {
            0 => obstacles.solids.push(PosedShape::cuboid(
                at.into(),
                [1.0, 0.0, 0.0, 0.0],
                [0.005, 0.005, 0.04],
            )),
            1 => obstacles.solids.push(PosedShape::sphere(at.into(), 0.004)),
            2 => {
                let [a, b] = [-0.03, 0.03].map(|z| (at + Vector3::z() * z).into());
                obstacles.solids.push(PosedShape::capsule(a, b, 0.004));
            }
            _ => obstacles.map = Some(map_with(at)),
        }
        let is_free = |joints: &[f64], alone: &mut Collider| {
            alone.contact(joints).is_none() && least_gap(&bench.arm, &obstacles, joints).0 > 0.001
        };
        if !(is_free(&start, &mut bench.alone) && is_free(&goal, &mut bench.alone)) {
            continue;
        }
        let made = bench.ask(&obstacles, &start, &PlanGoal::Joints(goal));
        let PlanOutcome::NoPath { iterations, .. } = made.outcome else {
            panic!("{done}: {:?}", made.outcome)
        };
        assert_eq!(iterations, SAMPLES);
        assert!(made.trajectory.is_none());
        done += 1;
    }
}

/// The other way round: what is found is free all the way, also where corners were rounded, by
/// the same plain look at the balls.
#[test]
fn a_timed_motion_touches_nothing() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let problems = Problems::read(&folder.join("../../benches/plan/problems_ur5.json")).unwrap();
    let mut bench = Bench::new();
    bench.request = PlanRequest::default();
    bench.planner = Planner::new(bench.arm.limits(), SearchSettings::default()).unwrap();
    let mut blends = 0;
    for (number, problem) in problems.problems.iter().enumerate().step_by(5) {
        let obstacles = if problem.valid_voxels && number % 2 == 0 {
            problem.cubes(problems.voxel_size_m, 0.3).unwrap()
        } else {
            problem.solids()
        };
        let made = bench.ask(&obstacles, &problem.start, &PlanGoal::Joints(problem.goal.clone()));
        let motion = made.trajectory.unwrap_or_else(|| panic!("{}", problem.name));
        assert_eq!(motion.sample(0.0).positions, problem.start);
        assert_eq!(motion.goal(), problem.goal);
        assert_eq!(motion.stops(), 0, "{}", problem.name);
        blends += motion.blends();
        // 3 rad/s at most: about 6 mrad from one to the next.
        for moment in motion.moments(500.0) {
            let (gap_m, link) = least_gap(&bench.arm, &obstacles, &moment.positions);
            assert!(gap_m > 0.0, "{}: link {link} at {} s: {gap_m}", problem.name, moment.time_s);
            let own = bench.alone.contact(&moment.positions);
            assert!(own.is_none_or(|c| c.depth_m == 0.0), "{}", problem.name);
        }
    }
    assert!(blends > 10, "{blends}");
}
