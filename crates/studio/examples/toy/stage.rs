//! What the toy consists of.

use std::f64::consts::PI;
use std::sync::Arc;

use citrange_core::Pose;
use citrange_core::shape::{Mesh, PosedShape, Shape, ShownShape};
use citrange_studio::{CameraInfo, JointInfo, KeyInfo, SceneInfo};
use citrange_teleop::Key;

pub(crate) const LINK_M: f64 = 0.22;
pub(crate) const SHOULDER_M: f64 = 0.12;
pub(crate) const WIDTH: u32 = 320;
pub(crate) const HEIGHT: u32 = 240;
pub(crate) const BODIES: [&str; 8] =
    ["floor", "base", "upper", "fore", "hand", "finger_left", "finger_right", "things"];

pub(crate) fn stage() -> SceneInfo {
    let shape = |body: &str, shape, pos_m, rgba| ShownShape {
        body: BODIES.iter().position(|name| *name == body).unwrap_or(0),
        posed: PosedShape { pose: Pose { pos_m, ..Pose::IDENTITY }, shape },
        rgba,
    };
    let (white, orange, dark) =
        ([0.9, 0.9, 0.88, 1.0], [1.0, 0.55, 0.15, 1.0], [0.2, 0.22, 0.25, 1.0]);
    let half = LINK_M / 2.0;
    let limb = Shape::Capsule { radius_m: 0.024, half_height_m: half };
    let joint = Shape::Sphere { radius_m: 0.034 };
    let finger = Shape::Box { half_m: [0.008, 0.005, 0.03] };
    let corners = vec![
        [0.0, 0.0, 0.0],
        [0.06, 0.0, 0.0],
        [0.06, 0.06, 0.0],
        [0.0, 0.06, 0.0],
        [0.03, 0.03, 0.06],
    ];
    let triangles = vec![[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
    let wedge = Mesh::new(corners, triangles).expect("five corners, six sides");
    let wedge = Shape::Mesh(Arc::new(wedge));
    let joint_names = ["turn", "shoulder", "elbow", "roll", "gripper"];
    SceneInfo {
        scene: "toy".into(),
        title: "Toy arm".into(),
        robot: "toy".into(),
        task: "Put the red block into the blue dish".into(),
        joints: joint_names
            .map(|name| {
                let range = Some(if name == "gripper" { [0.0, 1.0] } else { [-PI, PI] });
                let gripper = (name == "gripper").then_some([0.0, 1.0]);
                JointInfo { name: name.into(), is_slide: false, range, gripper }
            })
            .into(),
        cameras: ["above", "side"]
            .map(|name| CameraInfo { name: name.into(), width_px: WIDTH, height_px: HEIGHT })
            .into(),
        bodies: BODIES.map(String::from).into(),
        shapes: vec![
            shape(
                "floor",
                Shape::Plane { half_m: [None, None] },
                [0.0; 3],
                [0.32, 0.36, 0.41, 1.0],
            ),
            shape(
                "base",
                Shape::Cylinder { radius_m: 0.06, half_height_m: 0.05 },
                [0.0, 0.0, 0.05],
                dark,
            ),
            shape("upper", joint.clone(), [0.0; 3], orange),
            shape("upper", limb.clone(), [0.0, 0.0, half], white),
            shape("fore", joint, [0.0; 3], orange),
            shape("fore", limb, [0.0, 0.0, half], white),
            shape("hand", Shape::Box { half_m: [0.02, 0.04, 0.015] }, [0.0; 3], dark),
            shape("finger_left", finger.clone(), [0.0; 3], orange),
            shape("finger_right", finger, [0.0; 3], orange),
            shape(
                "things",
                Shape::Box { half_m: [0.018; 3] },
                [0.25, 0.15, 0.018],
                [0.9, 0.2, 0.2, 1.0],
            ),
            shape(
                "things",
                Shape::Ellipsoid { radii_m: [0.04, 0.025, 0.02] },
                [0.2, -0.18, 0.02],
                [0.3, 0.8, 0.4, 1.0],
            ),
            shape(
                "things",
                Shape::Cylinder { radius_m: 0.05, half_height_m: 0.01 },
                [0.32, -0.05, 0.01],
                [0.25, 0.45, 0.9, 1.0],
            ),
            shape("things", wedge, [0.1, 0.22, 0.0], [0.8, 0.7, 0.3, 1.0]),
        ],
        keys: Key::ALL.into_iter().map(KeyInfo::from).collect(),
        control_hz: 50,
        frame_hz: 25,
        speed_m_s: 0.15,
        autopilot: None,
        is_replay: false,
        look_at_m: [0.16, 0.0, 0.1],
        look_from_m: [0.72, -0.55, 0.5],
    }
}
