//! A cloud of points becomes a map, and an arm plans a motion around what is in it.
//!
//! `cargo run -p citrange-examples --bin map_and_plan`

use std::f64::consts::PI;

use citrange_cloud::{Cloud, View};
use citrange_core::Pose;
use citrange_plan::{
    Collider, ColliderSettings, JointLimit, Obstacles, PlanGoal, PlanOutcome, PlanRequest,
    PlannedArm, Planner, make_plan,
};
use citrange_robot::Robot;
use citrange_space::{Map, MapSettings, Pipeline, PipelineSettings, PosedRobot};

/// A UR5 with a gripper on a pedestal: chain, shapes, and the spheres that cover them.
const UR5: &str = include_str!("../benches/plan/ur5_robotiq.json");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A board of 30 x 30 cm that stands in the way, as a depth camera would have seen it. The
    // camera is in the world's origin here; a calibrated one has a pose of its own.
    let point = |across: i32, up: i32| [0.55 + 0.015 * across as f32, 0.1, 1.1 + 0.015 * up as f32];
    let points: Vec<[f32; 3]> =
        (-10..=10).flat_map(|up| (-10..=10).map(move |across| point(across, up))).collect();
    let (count, stamp_ns) = (points.len(), 1_000_000);
    let cloud = Cloud::new(points, Vec::new(), count, stamp_ns)?;
    let view = View::new(Pose::IDENTITY, None);

    // Points become voxels, voxels become a map over time. The robot would be taken out here.
    let mut pipeline = Pipeline::new(PipelineSettings::default())?;
    let frame = pipeline.run(&cloud, &view.world_from_camera, &PosedRobot::default())?;
    let mut map = Map::new(&MapSettings::default(), &frame.grid)?;
    map.integrate(0, &cloud, &view, frame)?;
    let map = map.snapshot();
    println!("{count} points, {} voxels", map.voxels().len());

    // The arm and its limits: rad, rad/s, rad/s², rad/s³.
    let body: Robot = serde_json::from_str(UR5)?;
    let limit = JointLimit { range: [-PI, PI], velocity: PI, acceleration: 5.0, jerk: 50.0 };
    let arm = PlannedArm::new(body, vec![limit; 6], &[0.0; 6])?;

    // From one side of the board to the other.
    let start = [-2.37, -1.2, 1.8, -2.1, -1.57, 0.0];
    let goal = PlanGoal::Joints(vec![-0.77, -1.2, 1.8, -2.1, -1.57, 0.0]);
    let request = PlanRequest::default();
    let mut planner = Planner::new(arm.limits(), request.search.clone())?;
    for (name, obstacles) in [
        ("nothing in the way", Obstacles::default()),
        ("the board in the way", Obstacles { map: Some(map), ..Obstacles::default() }),
    ] {
        let mut collider = Collider::new(&arm, &obstacles, &ColliderSettings::default())?;
        let made = make_plan(&arm, &mut collider, &mut planner, &start, &goal, &request)?;
        // That there is no path is an answer, too, with its reason.
        match (&made.outcome, &made.trajectory) {
            (PlanOutcome::Found(path), Some(motion)) => println!(
                "{name}: {} way-points, {:.2} rad, {:.2} s",
                path.waypoints.len(),
                path.length_rad,
                motion.duration_s()
            ),
            (reason, _) => println!("{name}: {reason:?}"),
        }
    }
    Ok(())
}
