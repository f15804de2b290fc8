//! Robots as spheres: the cover covers, the pairs are the right ones, centres are where the chain
//! puts them.

use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_core::shape::{PosedLinkShape, Shape};
use citrange_lanes::Isa;
use citrange_robot::Kinematics;
use citrange_robot::{BatchKinematics, Configs, Robot, RobotSettings, Sphere};
use nalgebra::{Isometry3, Point3, Vector3};

use crate::robots::{arm_with, crane, positions};

/// Points in a shape and on its surface, in its frame.
fn samples(shape: &Shape, rng: &mut Rng, count: usize) -> Vec<Vector3<f64>> {
    let half = shape.reach_m();
    let mut points = Vec::new();
    while points.len() < count {
        let direction: Vector3<f64> = Vector3::from_fn(|_, _| rng.uniform(-1.0, 1.0));
        let from = Vector3::from_fn(|a, _| rng.uniform(-half[a], half[a]));
        if shape.distance_m(from.into()) > 0.0 {
            continue;
        }
        // Outwards to the surface, by bisection.
        let (mut low, mut high) = (0.0, 10.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if shape.distance_m((from + direction * middle).into()) > 0.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        points.push(from + direction * low);
        points.push(from);
    }
    points
}

/// What is covered: of some shapes the one around them.
fn outline(shape: &Shape) -> Shape {
    match *shape {
        Shape::Ellipsoid { radii_m } => Shape::Box { half_m: radii_m },
        Shape::Frustum { radius_m, half_height_m, .. } => {
            Shape::Cylinder { radius_m, half_height_m }
        }
        _ => shape.clone(),
    }
}

/// Checks the cover of shapes on one link; how many spheres it has.
fn check_cover(shapes: &[(Shape, Pose)], overhang_m: f64) -> usize {
    let (chain, link_shapes) = arm_with(shapes);
    let settings = RobotSettings { overhang_m, ..RobotSettings::default() };
    let body = Robot::new(&chain, &link_shapes, &settings).unwrap();
    let mut rng = Rng::new(4);
    for shape in body.link_shapes() {
        for point in samples(&outline(&shape.shape), &mut rng, 6000) {
            let at = (shape.link_from_shape.isometry() * Point3::from(point)).coords;
            let is_in = |s: &Sphere| (at - Vector3::from(s.centre_m)).norm() <= s.radius_m + 1e-9;
            assert!(body.spheres().iter().any(is_in), "{at} of {shape:?} is bare");
        }
    }
    // The outermost points of every sphere are near to some shape.
    for sphere in body.spheres() {
        for _ in 0..2000 {
            let direction: Vector3<f64> = Vector3::from_fn(|_, _| rng.uniform(-1.0, 1.0));
            let tip = Vector3::from(sphere.centre_m) + direction.normalize() * sphere.radius_m;
            let placed =
                shapes.iter().map(|(shape, pose)| PosedLinkShape::new(0, pose, &outline(shape)));
            let out = placed.map(|s| s.distance_m(tip.into())).fold(f64::INFINITY, f64::min);
            assert!(out <= overhang_m + 1e-9, "{sphere:?} stands out by {out}");
        }
    }
    body.spheres().len()
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_yaw([x, y, z], 0.3)
}

#[test]
fn covers_leave_nothing_bare_and_do_not_stand_out() {
    let shapes = [
        Shape::Sphere { radius_m: 0.05 },
        Shape::Capsule { radius_m: 0.04, half_height_m: 0.2 },
        Shape::Capsule { radius_m: 0.08, half_height_m: 0.005 },
        Shape::Cylinder { radius_m: 0.04, half_height_m: 0.05 },
        Shape::Cylinder { radius_m: 0.04, half_height_m: 0.018 },
        Shape::Cylinder { radius_m: 0.1, half_height_m: 0.01 },
        Shape::Cylinder { radius_m: 0.03, half_height_m: 0.4 },
        Shape::Box { half_m: [0.1, 0.03, 0.045] },
        Shape::Box { half_m: [0.05, 0.05, 0.002] },
        Shape::Ellipsoid { radii_m: [0.03, 0.05, 0.02] },
        Shape::Frustum { radius_m: 0.05, top_radius_m: 0.02, half_height_m: 0.04 },
    ];
    for shape in shapes {
        for overhang_m in [0.03, 0.015, 0.008] {
            check_cover(&[(shape.clone(), at(0.1, 0.0, -0.05))], overhang_m);
        }
    }
}

#[test]
fn counts_follow_the_overhang_and_shapes_within_others_cost_nothing() {
    let long = (Shape::Capsule { radius_m: 0.05, half_height_m: 0.2 }, Pose::IDENTITY);
    assert_eq!(check_cover(&[(Shape::Sphere { radius_m: 0.05 }, Pose::IDENTITY)], 0.01), 1);
    let coarse = check_cover(std::slice::from_ref(&long), 0.02);
    let fine = check_cover(std::slice::from_ref(&long), 0.005);
    // Half the spacing is sqrt((r + e)² - r²): 0.049 and 0.0229 for a length of 0.4.
    assert_eq!((coarse, fine), (5, 10));
    let inside = (Shape::Box { half_m: [0.02, 0.02, 0.1] }, at(0.0, 0.0, 0.05));
    assert_eq!(check_cover(&[inside, long.clone()], 0.02), coarse);
    // Half in: what sticks out is covered.
    let beside = (Shape::Box { half_m: [0.02, 0.02, 0.1] }, at(0.04, 0.0, 0.05));
    assert!(check_cover(&[beside, long], 0.02) > coarse);
}

#[test]
fn links_are_where_the_chain_puts_them() {
    let (chain, shapes) = crane();
    let body = Robot::new(&chain, &shapes, &RobotSettings::default()).unwrap();
    let mut kinematics = Kinematics::new(&chain);
    let mut rng = Rng::new(8);
    let mut placed = Vec::new();
    let mut poses = vec![Isometry3::identity(); chain.joints.len() + 1];
    for _ in 0..200 {
        let q = positions(&chain, &mut rng);
        kinematics.update(&q);
        body.link_poses(&q, &mut poses).unwrap();
        body.shapes_at(&q, &mut placed).unwrap();
        for joint in 0..chain.joints.len() {
            let frame = kinematics.link(joint);
            let ours = poses[joint + 1];
            assert!((ours.translation.vector - frame.pos_m).norm() < 1e-12);
            let turn = ours.rotation.to_rotation_matrix().into_inner() - frame.rot;
            assert!(turn.abs().max() < 1e-12);
        }
        assert_eq!(placed.len(), shapes.len());
        for (found, shape) in placed.iter().zip(&shapes) {
            let at = poses[usize::from(found.link)] * shape.link_from_shape.isometry();
            assert!((found.world_from_shape.inverse() * at).translation.vector.norm() < 1e-12);
            assert_eq!(found.shape, shape.shape);
        }
    }
    assert!(body.shapes_at(&[0.0], &mut placed).is_err());
    assert!(body.shapes_at(&vec![f64::NAN; chain.joints.len()], &mut placed).is_err());
}

#[test]
fn many_configurations_at_once_agree_with_one_by_one() {
    let (chain, shapes) = crane();
    let body = Robot::new(&chain, &shapes, &RobotSettings::default()).unwrap();
    let mut kinematics = Kinematics::new(&chain);
    let base = chain.world_from_base.isometry();
    let mut rng = Rng::new(15);
    let mut configs = Configs::new(chain.joints.len()).unwrap();
    let mut expected: Vec<Vector3<f64>> = Vec::new();
    for _ in 0..1003 {
        let q = positions(&chain, &mut rng);
        configs.push(&q).unwrap();
        kinematics.update(&q);
        expected.extend(body.spheres().iter().map(|s| match s.link.checked_sub(1) {
            None => (base * Point3::from(s.centre_m)).coords,
            Some(joint) => {
                let frame = kinematics.link(usize::from(joint));
                frame.pos_m + frame.rot * Vector3::from(s.centre_m)
            }
        }));
    }
    let mut portable = Vec::new();
    BatchKinematics::new(&body, Isa::SCALAR).centres(&configs, &mut portable).unwrap();
    assert_eq!(portable.len(), expected.len());
    let off = |(ours, exact): (&[f32; 3], &Vector3<f64>)| {
        (Vector3::from(ours.map(f64::from)) - exact).norm()
    };
    let worst = portable.iter().zip(&expected).map(off).fold(0.0, f64::max);
    assert!(worst < 5e-6, "{worst:e}");
    for isa in Isa::available() {
        let mut centres = Vec::new();
        BatchKinematics::new(&body, isa).centres(&configs, &mut centres).unwrap();
        assert_eq!(centres, portable, "{isa:?}");
    }
}

#[test]
fn neighbours_allowed_and_always_touching_links_are_no_pairs() {
    let (chain, mut shapes) = crane();
    // The upper arm begins inside of this base: they touch in every pose.
    shapes[0].shape = Shape::Capsule { radius_m: 0.18, half_height_m: 0.03 };
    let body = Robot::new(&chain, &shapes, &RobotSettings::default()).unwrap();
    let names: Vec<&str> = body.links().collect();
    let pair = |a: &str, b: &str| {
        let find = |n| names.iter().position(|l| *l == n).unwrap() as u16;
        let (a, b) = (find(a), find(b));
        [a.min(b), a.max(b)]
    };
    let has = |p: [u16; 2]| body.checked_pairs().contains(&p);
    assert!(has(pair("base", "fore")) && has(pair("upper", "hand")));
    assert!(!has(pair("base", "post")) && !has(pair("upper", "fore")), "neighbours");
    assert!(!has(pair("base", "upper")), "{:?}", body.checked_pairs());
    let allowing = |a: &str, b: &str| RobotSettings {
        allowed_pairs: vec![[a.to_owned(), b.to_owned()]],
        ..RobotSettings::default()
    };
    let fewer = Robot::new(&chain, &shapes, &allowing("hand", "upper")).unwrap();
    assert_eq!(fewer.checked_pairs().len() + 1, body.checked_pairs().len());
    let error = Robot::new(&chain, &shapes, &allowing("hand", "nose")).unwrap_err().to_string();
    assert!(error.contains("nose") && error.contains("upper"), "{error}");
}

#[test]
fn bodies_come_back_from_json_and_broken_ones_do_not() {
    let (chain, shapes) = crane();
    let body = Robot::new(&chain, &shapes, &RobotSettings::default()).unwrap();
    let json = serde_json::to_value(&body).unwrap();
    assert_eq!(serde_json::from_value::<Robot>(json.clone()).unwrap(), body);
    // The first version had no details.
    let mut first = json.clone();
    first["format"] = serde_json::json!(1);
    first.as_object_mut().unwrap().remove("details");
    assert_eq!(serde_json::from_value::<Robot>(first).unwrap(), body);
    let broken = [
        ("/format", serde_json::json!(3)),
        ("/spheres/0/link", serde_json::json!(90)),
        ("/spheres/0/radius_m", serde_json::json!(-1.0)),
        ("/pairs/0", serde_json::json!([3, 3])),
        ("/links", serde_json::json!(["a"])),
        ("/shapes/0/link", serde_json::json!(77)),
        ("/chain/joints/0/axis", serde_json::json!([0.0, 0.0, 0.0])),
    ];
    for (path, value) in broken {
        let mut json = json.clone();
        *json.pointer_mut(path).unwrap() = value;
        assert!(serde_json::from_value::<Robot>(json).is_err(), "{path}");
    }
}

#[test]
fn bad_input_is_refused() {
    let (chain, mut shapes) = crane();
    for overhang_m in [0.0, -1.0, f64::NAN, 1e-5] {
        let settings = RobotSettings { overhang_m, ..RobotSettings::default() };
        assert!(Robot::new(&chain, &shapes, &settings).is_err(), "{overhang_m}");
    }
    let settings = RobotSettings { home: Some(vec![0.0]), ..RobotSettings::default() };
    assert!(Robot::new(&chain, &shapes, &settings).is_err());
    shapes[0].shape = Shape::Sphere { radius_m: f64::NAN };
    assert!(Robot::new(&chain, &shapes, &RobotSettings::default()).is_err());
    let mut configs = Configs::new(2).unwrap();
    assert!(configs.push(&[0.0]).is_err() && configs.push(&[0.0, f64::INFINITY]).is_err());
    assert!(configs.is_empty() && Configs::new(0).is_err());
    configs.push(&[0.5, -1.0]).unwrap();
    assert_eq!((configs.get(0, 1), configs.get(1, 0)), (Some(-1.0), None));
}
