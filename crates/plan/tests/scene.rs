//! Motions from goal to goal in a scene, without a simulator.

use citrange_cloud::{DepthImage, Pinhole, Workspace};
use citrange_core::Pose;
use citrange_core::shape::PosedShape;
use citrange_plan::{
    ColliderSettings, GoalText, PlanOutcome, PlanScene, SceneSettings, SceneSolid, plan_in_scene,
};
use citrange_robot::Robot;
use citrange_sim::catalog::robot_description;
use citrange_space::{
    MapSettings, MapSnapshot, Mapper, PipelineSettings, PosedRobot, UnknownCells,
};

/// A UR5 in its home pose beside a ball that can be moved and a fixed one.
fn scene() -> PlanScene {
    let description = robot_description("ur5").unwrap();
    let joints = description.pose(&description.home).unwrap().to_vec();
    let ball = |name: &str, can_move, at_m| SceneSolid {
        name: name.to_owned(),
        can_move,
        solid: PosedShape::sphere(at_m, 0.1),
    };
    PlanScene {
        robot: Robot::load("ur5").unwrap(),
        servo: description.servos.get("default").cloned(),
        solids: vec![ball("ball", true, [0.5, 0.4, 0.3]), ball("post", false, [0.5, -0.4, 0.3])],
        map: None,
        description,
        joints,
    }
}

fn place(text: &str) -> GoalText {
    GoalText::Place(text.to_owned())
}

#[test]
fn legs_follow_one_another_until_one_has_no_way() {
    let goals = [place("0.4 0.1 0.5"), GoalText::Joints("home".to_owned()), place("9 0 0")];
    let goals = [goals.as_slice(), &[place("0.4 0.1 0.5")]].concat();
    let legs = plan_in_scene(&scene(), &goals, &SceneSettings::default()).unwrap();
    // The one that is out of reach is the last that is tried.
    assert_eq!(legs.legs.len(), 3);
    let found = |leg: &&citrange_plan::Leg| matches!(leg.made.outcome, PlanOutcome::Found(_));
    assert_eq!(legs.legs.iter().filter(found).count(), 2);
    assert!(legs.reason().unwrap().contains("out of reach"));
    let ends: Vec<_> = legs.legs.iter().flat_map(|leg| leg.motions()).collect();
    assert_eq!(legs.legs[1].start, ends[0].goal());
    assert_eq!(legs.legs[2].start, ends[1].goal());
    assert_eq!(ends[1].goal(), legs.legs[0].start, "home again");
    let way = legs.way_of_tool(ends[0]).unwrap();
    let [x, y, z] = way[way.len() - 1];
    assert!((x - 0.4).abs() < 1e-3 && (y - 0.1).abs() < 1e-3 && (z - 0.5).abs() < 1e-3);
    let json = legs.json(50);
    assert_eq!(json["plans"].as_array().unwrap().len(), 3);
    assert_eq!(json["plans"][2]["outcome"], "goal_unreachable");
    assert!(legs.legs[0].text().is_some() && legs.legs[2].text().is_none());
}

#[test]
fn what_is_in_the_way_has_its_name() {
    for (name, place_text) in [("ball", "0.5 0.4 0.3"), ("post", "0.5 -0.4 0.3")] {
        let legs = plan_in_scene(&scene(), &[place(place_text)], &SceneSettings::default());
        let reason = legs.unwrap().reason().unwrap();
        assert!(reason.contains(&format!("into {name}")), "{reason}");
    }
}

#[test]
fn a_map_takes_the_place_of_what_can_move() {
    let grid = citrange_space::Grid::new([-1.0; 3], [1.0; 3], 0.1).unwrap();
    let empty = MapSnapshot::from_voxels(&grid, &[]).unwrap();
    let scene = PlanScene { map: Some(std::sync::Arc::new(empty)), ..scene() };
    let (obstacles, names) = scene.obstacles();
    assert_eq!((obstacles.solids.len(), names.solids), (1, vec!["post".to_owned()]));
    let legs = plan_in_scene(&scene, &[place("0.5 0.4 0.3")], &SceneSettings::default()).unwrap();
    assert_eq!(legs.reason(), None);
}

/// A map of a camera that looks down: a board hangs in the air, below it nobody has looked.
fn map_with_a_shadow() -> MapSnapshot {
    const SIZE: [usize; 2] = [240, 240];
    let pinhole = Pinhole { fx: 150.0, fy: 150.0, cx: 119.5, cy: 119.5 };
    let world_from_camera = Pose { pos_m: [0.0, 0.0, 2.4], quat_wxyz: [0.0, 1.0, 0.0, 0.0] };
    let depth_m: Vec<f32> = (0..SIZE[0] * SIZE[1])
        .map(|i| {
            let ray = [(i % SIZE[0]) as f64 - pinhole.cx, pinhole.cy - (i / SIZE[0]) as f64];
            let [x, y] = ray.map(|v| v / 150.0 * 1.5);
            let board = (0.35..0.65).contains(&x) && (0.25..0.55).contains(&y);
            if board { 1.5 } else { 2.6 }
        })
        .collect();
    let settings = PipelineSettings {
        workspace: Workspace { lower_m: [-1.0; 3], upper_m: [1.0; 3] },
        voxel_size_m: 0.1,
        self_filter: None,
        ..PipelineSettings::default()
    };
    let mut mapper = Mapper::new(settings, &MapSettings::default()).unwrap();
    let image = DepthImage::metres(SIZE, &depth_m, pinhole, 1_000);
    mapper.see_depth(0, &image, &world_from_camera, &PosedRobot::default()).unwrap();
    MapSnapshot::clone(&mapper.snapshot())
}

#[test]
fn what_nobody_has_seen_is_free_or_blocked() {
    let scene = PlanScene { map: Some(std::sync::Arc::new(map_with_a_shadow())), ..scene() };
    let reason = |goal: &str, unknown| {
        let settings = SceneSettings { unknown, ..SceneSettings::default() };
        plan_in_scene(&scene, &[place(goal)], &settings).unwrap().reason()
    };
    // Something may stand in the shadow of the board: nobody knows.
    assert_eq!(reason("0.5 0.4 0.3", UnknownCells::Free), None);
    assert!(reason("0.5 0.4 0.3", UnknownCells::Blocked).is_some());
    // Beside it all was seen, and the arm starts in a place that it may leave.
    assert_eq!(reason("0.0 -0.5 0.5", UnknownCells::Blocked), None);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |goal: GoalText, settings: SceneSettings| {
        plan_in_scene(&scene(), &[goal], &settings).unwrap_err().to_string()
    };
    let said = refused(GoalText::Joints("hoem".to_owned()), SceneSettings::default());
    assert!(said.contains("did you mean \"home\""), "{said}");
    let start = Some("nowhere".to_owned());
    let said = refused(place("0.4 0.1 0.5"), SceneSettings { start, ..SceneSettings::default() });
    assert!(said.contains("no pose"), "{said}");
    let collider = ColliderSettings { margin_m: f64::NAN, ..ColliderSettings::default() };
    refused(place("0.4 0.1 0.5"), SceneSettings { collider, ..SceneSettings::default() });
}
