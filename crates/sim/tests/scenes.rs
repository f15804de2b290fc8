//! The built-in scenes: they settle, they are seen, and other people's models can join.

mod common;

use std::path::Path;

use citrange_core::{Extra, TensorState};
use citrange_sim::catalog::{robot_description, robot_names, scene_names};
use citrange_sim::{CameraQuery, StateQuery, Threads, World};

#[test]
fn every_robot_describes_itself() {
    for name in robot_names() {
        let robot = robot_description(name).unwrap();
        assert_eq!(robot.name, name);
        for joint in robot.joints() {
            assert!(robot.joint_limits.contains_key(joint), "{name}: no limits for {joint}");
        }
        assert!(robot.sites.contains_key("tool") && robot.servos.contains_key("default"));
    }
}

#[test]
fn scenes_are_at_rest_after_two_seconds_and_start_without_overlap() {
    for name in scene_names() {
        let scene = common::scene(name);
        let mut world = World::new(scene.clone(), 8, Threads::Exactly(2)).unwrap();
        world.reset(1, &(0..8).collect::<Vec<_>>()).unwrap();
        for env in 0..8 {
            let (_, deepest) = world.contact_summary(env).unwrap();
            assert!(deepest < 1e-6, "{name} episode {env} starts {deepest} m deep");
        }
        let placed = common::read(&mut world);
        world.step(2 * scene.scene.rates.physics_hz).unwrap();
        let state = common::read(&mut world);
        for (object, s) in &state.objects {
            let root = s.root_state.as_ref().unwrap();
            let start = placed.objects[object].root_state.as_ref().unwrap();
            for env in 0..8 {
                let speed = (7..10).map(|i| root[[env, i]].powi(2)).sum::<f64>().sqrt();
                assert!(speed < 0.01, "{name} {object} still moves at {speed} m/s");
                let moved =
                    (root[[env, 0]] - start[[env, 0]]).hypot(root[[env, 1]] - start[[env, 1]]);
                assert!(moved < 0.01, "{name} {object} slid {moved} m");
            }
        }
        for robot in state.robots.values() {
            let off = robot.joint_pos.as_ref().unwrap() - robot.joint_pos_target.as_ref().unwrap();
            let worst = off.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            assert!(worst < 0.02, "{name}: the arm droops {worst} rad");
        }
        assert!(citrange_sim::engine_messages().is_empty());
    }
}

#[test]
fn every_fixed_camera_sees_every_object_and_the_robot_in_light() {
    for name in scene_names() {
        let scene = common::scene(name);
        let mut world = World::new(scene.clone(), 1, Threads::Exactly(1)).unwrap();
        world.step(100).unwrap();
        for (camera, settings) in &scene.scene.cameras {
            let query = StateQuery {
                cameras: [(camera.clone(), CameraQuery::ALL)].into(),
                ..Default::default()
            };
            let state = world.get_state(None, &query).unwrap();
            let seen = &state.cameras[camera];
            let rgb = seen.rgb.as_ref().unwrap();
            let ids = seen.instance_seg.as_ref().unwrap();
            let depth = seen.depth.as_ref().unwrap();
            let mean = rgb.iter().map(|v| f64::from(*v)).sum::<f64>() / rgb.len() as f64;
            assert!((40.0..230.0).contains(&mean), "{name}/{camera}: mean brightness {mean}");
            for (id, d) in ids.iter().zip(depth) {
                assert_eq!(*id < 0, d.is_infinite(), "depth and ids agree on what is nothing");
            }
            if settings.mount.is_some() {
                continue; // a wrist camera sees what the arm looks at
            }
            let wanted = scene.object_names().chain(scene.robot_names());
            for thing in wanted {
                let labels = &seen.instance_seg_id2label;
                let id =
                    labels.iter().find(|(_, label)| *label == thing).map(|(id, _)| *id).unwrap();
                let pixels = ids.iter().filter(|i| **i == id).count();
                assert!(pixels > 40, "{name}/{camera} sees {pixels} pixels of {thing}");
            }
        }
    }
}

fn orange_plate_from_the_front() -> TensorState {
    let query = StateQuery {
        cameras: [("front".to_string(), CameraQuery::ALL)].into(),
        ..Default::default()
    };
    common::world("orange_plate", 1).get_state(None, &query).unwrap()
}

#[test]
fn oranges_are_orange() {
    let state = orange_plate_from_the_front();
    let seen = &state.cameras["front"];
    let labels = &seen.instance_id_seg_id2label;
    let mut color = [0.0; 3];
    let mut count = 0.0;
    for (index, id) in seen.instance_id_seg.as_ref().unwrap().indexed_iter() {
        if labels.get(id).is_some_and(|l| l.starts_with("orange_")) {
            for (channel, sum) in color.iter_mut().enumerate() {
                *sum += f64::from(seen.rgb.as_ref().unwrap()[[0, index.1, index.2, channel]]);
            }
            count += 1.0;
        }
    }
    let [r, g, b] = color.map(|c| c / count);
    assert!(r > 1.5 * g && g > 2.0 * b && r > 90.0, "{r} {g} {b}");
}

#[test]
fn camera_pose_intrinsics_and_depth_fit_together() {
    // The centre of an orange, put through pose and intrinsics, lands on a pixel of that orange,
    // and the pixel's depth is the distance less the radius.
    let state = orange_plate_from_the_front();
    let seen = &state.cameras["front"];
    let quat = seen.quat_world.as_ref().unwrap();
    let m = citrange_core::pose::matrix_from_quat(std::array::from_fn(|i| quat[[0, i]]));
    let k = seen.intrinsics.as_ref().unwrap();
    for name in ["orange_1", "orange_2", "orange_3"] {
        let root = state.objects[name].root_state.as_ref().unwrap();
        let d: [f64; 3] =
            std::array::from_fn(|i| root[[0, i]] - seen.pos.as_ref().unwrap()[[0, i]]);
        // +X forward, +Y left, +Z up.
        let local: [f64; 3] = std::array::from_fn(|j| (0..3).map(|i| m[3 * i + j] * d[i]).sum());
        let (x, y, z) = (-local[1], -local[2], local[0]);
        let u = (k[[0, 0, 0]] * x / z + k[[0, 0, 2]]).floor() as usize;
        let v = (k[[0, 1, 1]] * y / z + k[[0, 1, 2]]).floor() as usize;
        let id = seen.instance_seg.as_ref().unwrap()[[0, v, u]];
        assert_eq!(seen.instance_seg_id2label[&id], name, "pixel {u} {v}");
        let depth = f64::from(seen.depth.as_ref().unwrap()[[0, v, u]]);
        assert!((z - depth - 0.025).abs() < 0.003, "{name}: centre at {z}, surface at {depth}");
    }
}

#[test]
fn two_robots_share_a_scene_and_collide() {
    let text = "name: t\ntitle: t\nrates: {physics_hz: 360, control_hz: 180, frame_hz: 30}\n\
        robots:\n  robot0: {model: so101, pose: zero}\n  robot1: {model: ur5e, pos_m: [0.9, 0, 0], yaw_deg: 180}\n  robot2: {model: so101, pos_m: [0.55, 0, 0], yaw_deg: 180, pose: zero}\n";
    let scene = common::scene_from(text, Path::new("")).unwrap();
    assert_eq!(scene.robot_names().collect::<Vec<_>>(), ["robot0", "robot1", "robot2"]);
    let mut world = World::new(scene, 2, Threads::Exactly(1)).unwrap();
    world.set_joint_targets("robot1", &[0.5; 12]).unwrap();
    world.step(30).unwrap();
    let state = common::read(&mut world);
    assert_eq!(state.robots["robot1"].joint_pos_target.as_ref().unwrap()[[1, 5]], 0.5);
    assert_eq!(state.robots["robot0"].joint_pos_target.as_ref().unwrap()[[1, 5]], 0.0);
    let Extra::Contacts(lists) = world.extra("contacts", &[0]).unwrap() else { panic!() };
    let between =
        lists[0].iter().any(|c| c.body_a.starts_with("robot0/") && c.body_b.starts_with("robot2/"));
    assert!(between, "the two stretched arms meet: {:?}", lists[0]);
}

const MJCF: &str = r#"<mujoco model="lamp"><compiler angle="radian" meshdir="parts"/>
<asset><mesh name="wedge" file="wedge.obj"/></asset>
<worldbody><body name="foot"><geom type="cylinder" size="0.05 0.01"/>
<body name="arm" pos="0 0 0.05"><joint name="bend" axis="0 1 0" range="-1 1" damping="0.1"/>
<geom type="mesh" mesh="wedge" mass="0.2"/></body></body></worldbody>
<actuator><position name="bend" joint="bend" kp="5" kv="0.3"/></actuator>
<sensor><jointpos name="angle" joint="bend"/><framepos name="where" objtype="xbody" objname="arm"/>
<actuatorfrc name="pull" actuator="bend"/></sensor></mujoco>"#;

const WEDGE: &str =
    "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

const URDF: &str = r#"<robot name="slider"><link name="rail"/>
<link name="cart"><inertial><mass value="0.5"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/><limit lower="-0.5" upper="0.5" effort="10" velocity="1"/></joint></robot>"#;

#[test]
fn other_peoples_mjcf_and_urdf_join_as_robots_and_objects() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    std::fs::write(folder.path().join("lamp.xml"), MJCF).unwrap();
    std::fs::write(folder.path().join("parts/wedge.obj"), WEDGE).unwrap();
    std::fs::write(folder.path().join("slider.urdf"), URDF).unwrap();
    let text = "name: t\ntitle: t\nrates: {physics_hz: 500, control_hz: 100, frame_hz: 20}\n\
        robots:\n  robot0: {model: lamp.xml, joints: {bend: 0.3}}\n  robot1: {model: slider.urdf, pos_m: [0, 1, 0.3]}\n\
        objects:\n  drawer: {model: slider.urdf, fixed_root: true, place: {spot_m: [0.5, -0.5], surface_z_m: 0.2}}\n  toy: {model: lamp.xml, footprint: {radius_m: 0.2, below_m: 0.01}, place: {spot_m: [-0.5, 0], surface_z_m: 0.02}}\n  shelf: {parts: [{shape: {box: {half_m: [0.1, 0.1, 0.01]}}}], fixed_root: true, place: {spot_m: [0.4, 0.6], surface_z_m: 0.3, yaw_deg: 90}}\n\
        cameras: {side: {pos_m: [1.5, -1, 1], look_at_m: [0, 0, 0], fovy_deg: 60}}\n";
    let scene = common::scene_from(text, folder.path()).unwrap();
    let mut world = World::new(scene, 1, Threads::Exactly(1)).unwrap();
    let state = common::read(&mut world);
    let lamp = &state.robots["robot0"];
    assert_eq!(
        (lamp.joint_names.clone(), lamp.body_names.clone()),
        (vec!["bend".to_string()], vec!["foot".to_string(), "arm".to_string()])
    );
    assert_eq!(lamp.joint_pos.as_ref().unwrap()[[0, 0]], 0.3);
    assert_eq!(lamp.joint_pos_target.as_ref().unwrap()[[0, 0]], 0.3);
    // Its sensors answer by name, with the values of this very state.
    let angle = world.extra("sensor:robot0/angle", &[0]).unwrap();
    assert_eq!(angle, Extra::Tensor(ndarray::arr2(&[[0.3]]).into_dyn()));
    let Extra::Tensor(place) = world.extra("sensor:robot0/where", &[0]).unwrap() else { panic!() };
    assert!((place[[0, 2]] - 0.05).abs() < 1e-12, "{place}");
    let Extra::Tensor(pull) = world.extra("sensor:robot0/pull", &[0]).unwrap() else { panic!() };
    assert_eq!(pull[[0, 0]], 0.0, "at its target the servo does not pull");
    // A URDF has no actuators: its limits make a servo, which holds where it starts.
    let slider = &state.robots["robot1"];
    assert_eq!(slider.joint_pos_target.as_ref().unwrap(), slider.joint_pos.as_ref().unwrap());
    let drawer = &state.objects["drawer"];
    assert_eq!(drawer.joint_names, ["slide"]);
    assert_eq!(state.objects["toy"].joint_names, ["bend"]);
    let placed = |name: &str| state.objects[name].root_state.as_ref().unwrap().row(0).to_vec();
    assert_eq!(placed("drawer")[..3], [0.5, -0.5, 0.2], "a fixed root stands where it is placed");
    assert_eq!(placed("shelf")[..3], [0.4, 0.6, 0.3]);
    assert!((placed("shelf")[6] - 0.5_f64.sqrt()).abs() < 1e-12, "and turned");
    world.step(500).unwrap();
    let later = common::read(&mut world);
    assert!(
        later.objects["toy"].root_state.as_ref().unwrap()[[0, 2]] < 0.05,
        "the toy rests on the floor"
    );
    world.set_state(&state, None).unwrap();
    common::assert_same(&common::read(&mut world), &state, "read back");
    let frame = world.frame(0, "side").unwrap();
    let mut ids: Vec<i32> = frame.ids.clone();
    ids.sort_unstable();
    ids.dedup();
    assert!(ids.len() >= 5, "floor, lamp, wedge, cart, toy are seen: {ids:?}");
}
