//! A robot's solid shapes against the engine's own placing of them.

use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_core::shape::Shape;
use citrange_core::{DictObjectState, DictRobotState, DictState};
use citrange_robot::{Chain, Kinematics, LinkShape};
use citrange_robot::{Configs, Robot, RobotSettings};
use citrange_sim::{CompiledScene, Threads, World};
use citrange_space::{Checker, Isa};
use mujoco_rs::prelude::MjData;
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

use crate::common;

const ROBOTS: [&str; 4] = ["so101", "panda", "ur5e", "ur5"];

/// A turned and lifted robot alone, so that the base's pose counts.
fn alone(robot: &str) -> Arc<CompiledScene> {
    let text = format!(
        "name: t\ntitle: t\nrates: {{physics_hz: 500, control_hz: 500, frame_hz: 50}}\n\
         robots: {{robot0: {{model: {robot}, pos_m: [0.3, -0.2, 0.1], yaw_deg: 40}}}}\n\
         look: {{floor_z_m: -5}}\n"
    );
    common::scene_from(&text, std::path::Path::new("")).unwrap()
}

fn place(world: &mut World, positions: &[f64]) {
    let names = world.scene().joint_names("robot0").unwrap();
    let dof = names.iter().map(|n| (*n).to_owned()).zip(positions.iter().copied()).collect();
    let object = DictObjectState { dof_pos: Some(dof), ..DictObjectState::default() };
    let state = DictRobotState { object, ..DictRobotState::default() };
    let robots = [("robot0".to_owned(), state)].into();
    world.set_dict_states(&[DictState { robots, ..DictState::default() }], None).unwrap();
}

fn positions(chain: &Chain, rng: &mut Rng) -> Vec<f64> {
    let range = |range: Option<[f64; 2]>| range.unwrap_or([-3.0, 3.0]);
    chain.joints.iter().map(|j| range(j.range)).map(|[low, high]| rng.uniform(low, high)).collect()
}

/// Where control puts a shape.
fn world_from(chain: &Chain, kinematics: &Kinematics, shape: &LinkShape) -> Isometry3<f64> {
    let link = match shape.link {
        None => chain.world_from_base.isometry(),
        Some(joint) => {
            let frame = kinematics.link(joint);
            let rotation = Rotation3::from_matrix_unchecked(frame.rot);
            Isometry3::from_parts(
                Translation3::from(frame.pos_m),
                UnitQuaternion::from_rotation_matrix(&rotation),
            )
        }
    };
    link * shape.link_from_shape.isometry()
}

/// Geoms that collide, in the engine's order; all our robots have some on every body but one
/// that is seen nowhere.
fn solid_geoms(scene: &CompiledScene) -> Vec<usize> {
    let model = scene.model();
    (0..model.ffi().ngeom as usize)
        .filter(|g| model.geom_bodyid()[*g] != 0 && model.geom_contype()[*g] != 0)
        .collect()
}

#[test]
fn shapes_stand_where_the_engine_has_them() {
    for robot in ROBOTS {
        let scene = alone(robot);
        let chain = scene.chain("robot0").unwrap();
        let shapes = scene.link_shapes("robot0").unwrap();
        let geoms = solid_geoms(&scene);
        assert_eq!(shapes.len(), geoms.len(), "{robot}");
        let mut kinematics = Kinematics::new(&chain);
        let mut world = World::new(Arc::clone(&scene), 1, Threads::Exactly(1)).unwrap();
        let mut rng = Rng::new(3);
        for _ in 0..50 {
            let q = positions(&chain, &mut rng);
            kinematics.update(&q);
            place(&mut world, &q);
            let data = world.data(0).unwrap();
            for (shape, &geom) in shapes.iter().zip(&geoms) {
                let ours = world_from(&chain, &kinematics, shape);
                let off = ours.translation.vector - Vector3::from(data.geom_xpos()[geom]);
                assert!(off.norm() < 1e-9, "{robot} {}: {off:?}", shape.name);
                let theirs = Matrix3::from_row_slice(&data.geom_xmat()[geom]);
                let rotation = ours.rotation.to_rotation_matrix().into_inner() - theirs;
                assert!(rotation.abs().max() < 1e-9, "{robot} {}: {rotation}", shape.name);
            }
        }
    }
}

#[test]
fn shapes_have_the_sizes_and_names_of_the_model() {
    let shapes = alone("ur5").link_shapes("robot0").unwrap();
    let tube = shapes.iter().filter(|s| s.name == "forearm_link").nth(1).unwrap();
    assert_eq!(tube.link, Some(2));
    let Shape::Capsule { radius_m, half_height_m } = tube.shape else { panic!("{tube:?}") };
    assert_eq!(radius_m, 0.03798);
    assert!((half_height_m - 0.12766).abs() < 1e-6, "{half_height_m}");
    assert!(shapes.iter().any(|s| s.link.is_none() && s.body() == "base_link_inertia"));
    let shapes = alone("so101").link_shapes("robot0").unwrap();
    let pad = shapes.iter().find(|s| s.name == "gripper/fixed_pad1").unwrap();
    assert_eq!(pad.body(), "gripper");
    assert_eq!(pad.shape, Shape::Box { half_m: [0.00975, 0.014, 0.003] });
}

#[test]
fn boxes_hold_a_mesh_and_a_bare_body_shows_what_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let tetrahedron = "v 0 0 0\nv 0.2 0 0\nv 0 0.4 0\nv 0 0 0.6\n\
                       f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(folder.path().join("t.obj"), tetrahedron).unwrap();
    let xml = r#"<mujoco><asset><mesh name="t" file="t.obj" inertia="convex"/></asset><worldbody>
        <body name="base"><geom type="mesh" mesh="t" mass="1"/>
        <body name="arm"><joint name="j" axis="0 0 1" range="-1 1"/>
        <geom type="sphere" size="0.1" pos="0.3 0 0" contype="0" conaffinity="0" mass="1"/>
        </body></body></worldbody></mujoco>"#;
    std::fs::write(folder.path().join("r.xml"), xml).unwrap();
    let text = "name: t\ntitle: t\nrates: {physics_hz: 500, control_hz: 500, frame_hz: 50}\n\
                robots: {robot0: {model: r.xml}}\n";
    let shapes = common::scene_from(text, folder.path()).unwrap().link_shapes("robot0").unwrap();
    let (ball, boxes) = shapes.split_last().unwrap();
    assert_eq!((ball.link, &ball.shape), (Some(0), &Shape::Sphere { radius_m: 0.1 }));
    assert!(boxes.iter().all(|part| part.link.is_none()));
    // The engine turns a mesh into its principal axes: all of it must still be in the boxes.
    let corners = [[0.0; 3], [0.2, 0.0, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.6]];
    let middle = [0.05, 0.1, 0.15];
    for point in corners.into_iter().chain([middle]) {
        let holds = |part: &LinkShape| {
            let Shape::Box { half_m } = part.shape else { panic!("{:?}", part.shape) };
            let at = part.link_from_shape.isometry().inverse_transform_point(&point.into());
            (0..3).all(|a| at[a].abs() <= half_m[a] + 1e-6)
        };
        assert!(boxes.iter().any(holds), "{point:?}");
    }
}

#[test]
fn allowed_pairs_are_those_of_the_model() {
    let pairs = alone("ur5").allowed_pairs("robot0").unwrap();
    assert_eq!(pairs.len(), 11);
    let has = |a: &str, b: &str| pairs.contains(&[a.to_owned(), b.to_owned()]);
    assert!(has("shoulder_link", "wrist_2_link") && !has("upper_arm_link", "wrist_3_link"));
    // The hand is part of link 7, and both may pass link 6; the fingers may not.
    let pairs = alone("panda").allowed_pairs("robot0").unwrap();
    let has = |a: &str, b: &str| pairs.contains(&[a.to_owned(), b.to_owned()]);
    assert!(has("link6", "link7") && !has("link6", "leftfinger"));
}

/// Pairs of links that are neither neighbours nor allowed to touch, whatever our body says.
fn forbidden(chain: &Chain, body: &Robot, allowed: &[[String; 2]]) -> Vec<[usize; 2]> {
    let names: Vec<&str> = body.links().collect();
    let parent = |link: usize| chain.joints[link - 1].parent.map_or(0, |p| p + 1);
    let is_allowed = |a: usize, b: usize| {
        allowed.iter().any(|[x, y]| {
            [x.as_str(), y] == [names[a], names[b]] || [y.as_str(), x] == [names[a], names[b]]
        })
    };
    let all = (0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| [a, b]));
    all.filter(|[a, b]| parent(*b) != *a && !is_allowed(*a, *b)).collect()
}

#[test]
fn self_collisions_are_those_of_the_engine() {
    for robot in ROBOTS {
        let scene = alone(robot);
        let chain = scene.chain("robot0").unwrap();
        let shapes = scene.link_shapes("robot0").unwrap();
        let description = &scene.robots["robot0"];
        let allowed_pairs = scene.allowed_pairs("robot0").unwrap();
        let settings = RobotSettings {
            home: description.poses.get(&description.home).cloned(),
            allowed_pairs: allowed_pairs.clone(),
            ..RobotSettings::default()
        };
        let body = Robot::new(&chain, &shapes, &settings).unwrap();
        let pairs = forbidden(&chain, &body, &allowed_pairs);
        let geoms = solid_geoms(&scene);
        let link = |index: usize| shapes[index].link.map_or(0, |j| j + 1);
        let mut touching: Vec<[usize; 2]> = Vec::new();
        for a in 0..shapes.len() {
            for b in 0..shapes.len() {
                if pairs.contains(&[link(a), link(b)]) {
                    touching.push([geoms[a], geoms[b]]);
                }
            }
        }
        let mut data = MjData::new(Arc::clone(scene.model()));
        let mut configs = Configs::new(chain.joints.len()).unwrap();
        let mut engine = Vec::new();
        let mut rng = Rng::new(21);
        for _ in 0..1000 {
            let q = positions(&chain, &mut rng);
            configs.push(&q).unwrap();
            data.qpos_mut()[..q.len()].copy_from_slice(&q);
            data.forward();
            engine.push(touching.iter().any(|[a, b]| data.geom_distance(*a, *b, 0.1, None) < 0.0));
        }
        let mut ours = vec![false; engine.len()];
        Checker::new(&body, Isa::best()).self_collides(&configs, 0.0, &mut ours).unwrap();
        let count = |engine_says: bool, we_say: bool| {
            engine.iter().zip(&ours).filter(|(e, o)| **e == engine_says && **o == we_say).count()
        };
        let what = format!("{robot}: {} touch", count(true, true));
        assert_eq!(count(true, false), 0, "{what}");
        assert!(count(false, true) <= 2, "{what}, {} false alarms", count(false, true));
        assert!(count(true, true) > 30 && count(false, false) > 300, "{what}");
    }
}

/// What stands around a robot is where the engine says, and the robot is not part of it.
#[test]
fn what_is_around_a_robot_is_all_that_is_solid() {
    let text = "name: t\ntitle: t\nrates: {physics_hz: 500, control_hz: 500, frame_hz: 50}\n\
         robots: {robot0: {model: ur5e}}\nlook: {floor_z_m: -1}\n\
         fixtures: {shelf: {pos_m: [0.5, 0, 0.2], parts: [\
         {shape: {box: {half_m: [0.1, 0.2, 0.01]}}, pos_m: [0, 0, 0.3]}]}, cone: {parts: [\
         {shape: {frustum: {radius_m: 0.1, top_radius_m: 0.02, half_height_m: 0.05}}, \
         pos_m: [-0.5, 0, 0.1]}]}}\n\
         objects: {ball: {parts: [{shape: {sphere: {radius_m: 0.04}}, mass_kg: 0.1}], \
         place: {spot_m: [0.4, 0.3]}}}\n";
    let scene = common::scene_from(text, std::path::Path::new("")).unwrap();
    let mut world = World::new(scene, 1, Threads::Exactly(1)).unwrap();
    world.reset_env(0, 0, 0).unwrap();
    let around = world.solids_around(0, "robot0").unwrap();
    assert!(around.iter().all(|solid| !solid.body.starts_with("robot0")));
    let find =
        |shape: &dyn Fn(&Shape) -> bool| around.iter().find(|s| shape(&s.solid.shape)).unwrap();
    let shelf = find(&|s| matches!(s, Shape::Box { half_m } if half_m[2] == 0.01));
    assert_eq!((shelf.solid.pose.pos_m, shelf.can_move), ([0.5, 0.0, 0.5], false));
    let ball = find(&|s| matches!(s, Shape::Sphere { radius_m } if *radius_m == 0.04));
    assert!(ball.can_move && ball.body.contains("ball"));
    let at = ball.solid.pose.pos_m;
    assert!((at[0] - 0.4).abs() < 1e-9 && (at[1] - 0.3).abs() < 1e-9, "{at:?}");
    // The floor is a slab whose upper side is the floor.
    let floor = find(&|s| matches!(s, Shape::Box { half_m } if half_m[0] > 5.0));
    let Shape::Box { half_m } = floor.solid.shape else { panic!() };
    assert!((floor.solid.pose.pos_m[2] + half_m[2] + 1.0).abs() < 1e-9);
    // The engine has a mesh of flat sides for a cone: beside its top there is nothing.
    let cone = find(&|s| matches!(s, Shape::Mesh(_)));
    assert_eq!(cone.body, "cone");
    let distance_m = |point_m: [f64; 3]| {
        let local = cone.solid.pose.isometry().inverse() * Point3::from(point_m);
        cone.solid.shape.distance_m(local.coords.into())
    };
    let exact = Shape::Frustum { radius_m: 0.1, top_radius_m: 0.02, half_height_m: 0.05 };
    for p in [[0.09, 0.0, 0.045], [0.0, 0.2, 0.0], [0.05, 0.05, 0.2], [0.0, 0.0, -0.2]] {
        let found = distance_m([p[0] - 0.5, p[1], p[2] + 0.1]);
        assert!((found - exact.distance_m(p)).abs() < 1e-3, "{p:?} {found}");
    }
    assert!(distance_m([-0.41, 0.0, 0.145]) > 0.04);
    assert!(world.solids_around(0, "robot1").is_err());
}
