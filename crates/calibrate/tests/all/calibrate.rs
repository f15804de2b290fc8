//! Camera poses: found from pairs and cubes, adjusted, saved and read back.

use citrange_calibrate::{Cube, CubeSettings, from_cube, from_pairs, from_pairs_robust};
use citrange_cloud::{Adjust, Axis, CameraPose, Step};
use citrange_core::Pose;
use citrange_core::rng::Rng;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use proptest::prelude::*;

fn pose_of(shift: [f64; 3], scaled_axis: [f64; 3]) -> Isometry3<f64> {
    let rotation = UnitQuaternion::from_scaled_axis(Vector3::from(scaled_axis));
    Isometry3::from_parts(Translation3::from(shift), rotation)
}

/// How far two poses are apart: metres and degrees.
fn apart(a: &Pose, b: &Isometry3<f64>) -> (f64, f64) {
    let between = b.inverse() * a.isometry();
    (between.translation.vector.norm(), between.rotation.angle().to_degrees())
}

fn moved(pose: &Isometry3<f64>, points: &[[f64; 3]]) -> Vec<[f64; 3]> {
    points.iter().map(|p| (pose * Point3::from(*p)).into()).collect()
}

fn spread_points(count: usize, seed: u64) -> Vec<[f64; 3]> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| std::array::from_fn(|_| rng.uniform(-0.5, 0.5))).collect()
}

proptest! {
    #[test]
    fn exact_pairs_give_the_exact_pose(
        shift in prop::array::uniform3(-3.0_f64..3.0), rotation in prop::array::uniform3(-3.0_f64..3.0),
        count in 3_usize..12, seed: u64,
    ) {
        let pose = pose_of(shift, rotation);
        let camera = spread_points(count, seed);
        let Ok(found) = from_pairs(&camera, &moved(&pose, &camera)) else {
            // Chance may put few points onto a line.
            return Err(TestCaseError::reject("on a line"));
        };
        let (off_m, off_deg) = apart(&found.world_from_camera, &pose);
        prop_assert!(off_m < 1e-8 && off_deg < 1e-6, "{off_m} m, {off_deg} degrees");
        prop_assert!(found.rms_m < 1e-9 && found.dropped.is_empty());
    }

    /// No small motion makes the squares smaller: it is the least squares answer.
    #[test]
    fn noisy_pairs_give_the_least_squares(
        seed: u64, shift in prop::array::uniform3(-1e-3_f64..1e-3),
        rotation in prop::array::uniform3(-1e-3_f64..1e-3),
    ) {
        let camera = spread_points(8, seed);
        let mut world = moved(&pose_of([1.0, 2.0, 3.0], [0.3, -0.2, 2.0]), &camera);
        let mut rng = Rng::new(seed ^ 1);
        world.iter_mut().flatten().for_each(|v| *v += rng.uniform(-0.01, 0.01));
        let found = from_pairs(&camera, &world).unwrap();
        let squares = |pose: &Isometry3<f64>| -> f64 {
            let pairs = moved(pose, &camera).into_iter().zip(&world);
            pairs.map(|(a, b)| (Vector3::from(a) - Vector3::from(*b)).norm_squared()).sum()
        };
        let best = found.world_from_camera.isometry();
        prop_assert!(squares(&best) <= squares(&(best * pose_of(shift, rotation))) + 1e-15);
        prop_assert!((squares(&best) / 8.0 - found.rms_m.powi(2)).abs() < 1e-12);
        let largest = found.residuals_m[found.largest];
        prop_assert!(found.residuals_m.iter().all(|r| *r <= largest));
    }

    #[test]
    fn roll_pitch_yaw_and_quaternions_are_the_same_pose(
        xyz_m in prop::array::uniform3(-3.0_f64..3.0), rotation in prop::array::uniform3(-3.0_f64..3.0),
        roll in -179.0_f64..179.0, pitch in -89.9_f64..89.9, yaw in -179.0_f64..179.0,
    ) {
        let rpy_deg = [roll, pitch, yaw];
        let pose = pose_of(xyz_m, rotation);
        let (off_m, off_deg) = apart(&CameraPose::from(Pose::from(pose)).pose(), &pose);
        prop_assert!(off_m < 1e-12 && off_deg < 1e-5, "{off_deg} degrees");
        let there = CameraPose { xyz_m, rpy_deg };
        let back = CameraPose::from(there.pose());
        for i in 0..3 {
            prop_assert!((back.rpy_deg[i] - rpy_deg[i]).abs() < 1e-6, "{back:?} {there:?}");
        }
    }

    #[test]
    fn saved_poses_come_back_bit_for_bit(
        xyz_m in prop::array::uniform3(prop::num::f64::ANY.prop_filter("finite", |v| v.is_finite())),
        rpy_deg in prop::array::uniform3(-180.0_f64..180.0),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("camera.yaml");
        let pose = CameraPose { xyz_m, rpy_deg };
        pose.save(&path).unwrap();
        let back = CameraPose::load(&path).unwrap();
        let bits = |p: &CameraPose| [p.xyz_m, p.rpy_deg].map(|v| v.map(f64::to_bits));
        prop_assert_eq!(bits(&back), bits(&pose));
    }
}

#[test]
fn wrong_pairs_are_refused() {
    let camera = spread_points(6, 1);
    let world = moved(&pose_of([1.0, 0.0, 0.0], [0.0, 0.5, 0.0]), &camera);
    let line: Vec<[f64; 3]> = (0..6).map(|i| [f64::from(i), 2.0 * f64::from(i), 1.0]).collect();
    let mirrored: Vec<[f64; 3]> = world.iter().map(|[x, y, z]| [*x, *y, -*z]).collect();
    let mut holed = world.clone();
    holed[4][1] = f64::NAN;
    for (reason, camera, world) in [
        ("2 given, 3 or more must be", &camera[..2], &world[..2]),
        ("6 points of the camera for 5 of the world", &camera, &world[..5]),
        ("the camera's points lie on a line", &line, &world),
        ("the world's points lie on a line", &camera, &line),
        ("are mirrored", &camera, &mirrored),
        ("pair 4 has a number that is not finite", &camera, &holed),
    ] {
        let error = from_pairs(camera, world).unwrap_err().to_string();
        assert!(error.contains(reason), "{error:?} should say {reason:?}");
    }
    // Points in a plane have no handedness: this is not a mirror.
    let flat: Vec<[f64; 3]> = camera.iter().map(|[x, y, _]| [*x, *y, 0.0]).collect();
    let world = moved(&pose_of([1.0, 0.0, 0.0], [3.0, 0.5, 0.0]), &flat);
    assert!(from_pairs(&flat, &world).unwrap().rms_m < 1e-9);
}

#[test]
fn wrong_pairs_are_found_and_named() {
    for count in [6, 40] {
        let pose = pose_of([0.3, -1.0, 0.8], [1.0, -0.5, 0.2]);
        let camera = spread_points(count, 7);
        let mut world = moved(&pose, &camera);
        let mut rng = Rng::new(8);
        world.iter_mut().flatten().for_each(|v| *v += rng.uniform(-0.001, 0.001));
        world[1] = [0.0, 0.0, 5.0];
        world[4][2] += 0.05;
        let found = from_pairs_robust(&camera, &world, 0.01).unwrap();
        assert_eq!(found.dropped, [1, 4]);
        assert_eq!(found.largest, 1);
        let (off_m, off_deg) = apart(&found.world_from_camera, &pose);
        assert!(off_m < 0.003 && off_deg < 0.3, "{off_m} m, {off_deg} degrees");
        assert_eq!(from_pairs_robust(&camera, &world, 0.01).unwrap(), found, "no chance");
    }
    let error = from_pairs_robust(&spread_points(8, 1), &spread_points(8, 2), 0.01).unwrap_err();
    assert!(error.to_string().contains("of 8 agree within 0.01 m"), "{error}");
}

/// Points that a camera sees of a cube: rays against its faces, depths with noise.
fn seen_cube(cube: &Cube, world_from_camera: &Isometry3<f64>, noise_m: f64) -> Vec<[f32; 3]> {
    let mut rng = Rng::new(5);
    let half = cube.edge_m / 2.0;
    let cube_from_camera = cube.world_from_cube.isometry().inverse() * world_from_camera;
    let eye = cube_from_camera.translation.vector;
    let mut points = Vec::new();
    for row in 0..240 {
        for column in 0..320 {
            let ray =
                Vector3::new((column as f64 - 160.0) / 300.0, (row as f64 - 120.0) / 300.0, 1.0);
            let along = cube_from_camera.rotation * ray;
            let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
            for axis in 0..3 {
                let (a, b) = ((-half - eye[axis]) / along[axis], (half - eye[axis]) / along[axis]);
                enter = enter.max(a.min(b));
                leave = leave.min(a.max(b));
            }
            if enter < leave {
                let depth = enter + noise_m * (rng.unit() + rng.unit() + rng.unit() - 1.5) * 2.0;
                points.push((ray * depth).cast::<f32>().into());
            }
        }
    }
    points
}

/// A camera that looks at the origin.
fn looking_from(eye: [f64; 3]) -> Isometry3<f64> {
    let eye = Vector3::from(eye);
    let aside = (-eye).cross(&Vector3::z()).try_normalize(1e-6).unwrap_or_else(Vector3::x);
    let rotation = nalgebra::Rotation3::from_basis_unchecked(&[
        aside,
        (-eye).normalize().cross(&aside),
        (-eye).normalize(),
    ]);
    Isometry3::from_parts(eye.into(), UnitQuaternion::from_rotation_matrix(&rotation))
}

#[test]
fn a_cube_gives_the_pose_from_5_cm_and_10_degrees_off() {
    let mut rng = Rng::new(3);
    for (edge_m, eye) in [(0.1, [0.5, 0.4, 0.45]), (0.2, [0.7, -0.5, 0.6]), (0.3, [-0.9, 0.8, 0.7])]
    {
        let cube = Cube { edge_m, world_from_cube: Pose::from_yaw([0.02, -0.03, 0.01], 0.2) };
        let pose = looking_from(eye);
        let points = seen_cube(&cube, &pose, 0.001);
        for _ in 0..8 {
            let mut unit = || {
                let v = Vector3::from_fn(|_, _| rng.uniform(-1.0, 1.0));
                v.normalize()
            };
            let (shift, rotation) = (0.05 * unit(), 10_f64.to_radians() * unit());
            let rotation = UnitQuaternion::from_scaled_axis(rotation);
            let guess = Isometry3::from_parts(
                (pose.translation.vector + shift).into(),
                rotation * pose.rotation,
            );
            let found = from_cube(&points, &cube, &guess.into(), &CubeSettings::default()).unwrap();
            let (off_m, off_deg) = apart(&found.world_from_camera, &pose);
            assert!(off_m < 0.003 && off_deg < 0.3, "edge {edge_m}: {off_m} m, {off_deg} degrees");
            assert!(found.rms_m < 0.002 && found.certainty.free.is_empty());
            assert_eq!(found.faces.iter().filter(|n| **n > 100).count(), 3, "{:?}", found.faces);
            assert!(found.certainty.condition < 100.0, "{:?}", found.certainty);
            assert!(found.certainty.sigma_m.iter().all(|s| *s < 1e-3), "{:?}", found.certainty);
        }
    }
}

#[test]
fn points_that_are_not_the_cubes_are_left_out() {
    let cube = Cube { edge_m: 0.2, world_from_cube: Pose::from_yaw([0.0; 3], 0.4) };
    let pose = looking_from([0.6, 0.5, 0.5]);
    let mut points = seen_cube(&cube, &pose, 0.001);
    let mut rng = Rng::new(9);
    // One in ten: a table beside it, and NaN.
    for i in (0..points.len()).step_by(10) {
        let beside = Point3::new(rng.uniform(0.12, 0.25), rng.uniform(-0.2, 0.2), -0.1);
        points[i] = (pose.inverse() * beside).coords.cast::<f32>().into();
    }
    points[1] = [f32::NAN; 3];
    let guess = pose * pose_of([0.02, -0.02, 0.03], [0.05, -0.06, 0.04]);
    let found = from_cube(&points, &cube, &guess.into(), &CubeSettings::default()).unwrap();
    let (off_m, off_deg) = apart(&found.world_from_camera, &pose);
    assert!(off_m < 0.003 && off_deg < 0.3, "{off_m} m, {off_deg} degrees");
    assert!(found.residuals_m[1].is_nan() && found.residuals_m[0] > 0.02);
    assert!(found.residuals_m.len() == points.len() && found.residuals_m[2] < 0.01);
}

#[test]
fn what_the_seen_faces_do_not_tell_is_named() {
    let cube = Cube { edge_m: 0.2, world_from_cube: Pose::IDENTITY };
    let free = |eye: [f64; 3]| {
        let pose = looking_from(eye);
        let guess = pose * pose_of([0.004, -0.003, 0.005], [0.01, 0.02, -0.01]);
        let points = seen_cube(&cube, &pose, 0.0005);
        let found = from_cube(&points, &cube, &guess.into(), &CubeSettings::default()).unwrap();
        let names: Vec<String> = found.certainty.free.iter().map(ToString::to_string).collect();
        (names, found.certainty)
    };
    let (mut above, certainty) = free([0.0, 0.0, 0.8]);
    above.sort();
    assert_eq!(above.len(), 3, "{above:?}");
    assert!(above[0].starts_with("shift along") && above[1].starts_with("shift along"));
    assert_eq!(above[2], "turn about (0.00, 0.00, 1.00)");
    assert!(certainty.condition.is_infinite() && certainty.sigma_m[2] < 1e-3);
    assert!(certainty.sigma_m[0].is_infinite() && certainty.sigma_deg[2].is_infinite());
    assert!(certainty.sigma_deg[0] < 0.1, "{certainty:?}");
    let (beside, _) = free([0.6, 0.0, 0.6]);
    assert_eq!(beside, ["shift along (0.00, 1.00, 0.00)"]);
}

#[test]
fn points_of_no_cube_are_refused() {
    let cube = Cube { edge_m: 0.2, world_from_cube: Pose::IDENTITY };
    let pose = looking_from([0.7, 0.5, 0.6]);
    let settings = CubeSettings::default();
    let points = seen_cube(&cube, &pose, 0.001);
    let refusal = |points: &[[f32; 3]], cube: &Cube, guess: Pose| {
        from_cube(points, cube, &guess, &settings).map(|f| f.rms_m).unwrap_err().to_string()
    };
    let (larger, smaller) = (Cube { edge_m: 0.4, ..cube }, Cube { edge_m: 0.15, ..cube });
    let ahead = |[x, y, z]: [f64; 3]| [x as f32, y as f32, (z + 1.1) as f32];
    let cloud: Vec<[f32; 3]> = spread_points(5000, 1).into_iter().map(ahead).collect();
    for (reason, found) in [
        ("3 points seen, 100 must be", refusal(&points[..3], &cube, pose.into())),
        ("inside of the cube", refusal(&points, &cube, Pose::IDENTITY)),
        ("of its edge of 0.4 m are covered", refusal(&points, &larger, pose.into())),
        ("has it another edge?", refusal(&points, &smaller, pose.into())),
        ("off its faces", refusal(&cloud, &cube, pose.into())),
        ("edge_m", refusal(&points, &Cube { edge_m: f64::NAN, ..cube }, pose.into())),
    ] {
        assert!(found.contains(reason), "{found:?} should say {reason:?}");
    }
}

#[test]
fn keys_move_one_number_at_a_time() {
    let press = |pose: CameraPose, axis, step, rise| pose.adjusted(Adjust { axis, step, rise });
    let start = CameraPose { xyz_m: [1.0, 2.0, 3.0], rpy_deg: [0.0, 10.0, 179.5] };
    let pose = press(start, Axis::Y, Step::Fine, true);
    assert_eq!(pose, CameraPose { xyz_m: [1.0, 2.001, 3.0], ..start });
    let pose = press(start, Axis::Z, Step::Coarse, false);
    assert_eq!(pose, CameraPose { xyz_m: [1.0, 2.0, 2.99], ..start });
    let pose = press(start, Axis::Roll, Step::Fine, false);
    assert_eq!(pose, CameraPose { rpy_deg: [-0.1, 10.0, 179.5], ..start });
    let pose = press(start, Axis::Yaw, Step::Coarse, true);
    assert_eq!(pose, CameraPose { rpy_deg: [0.0, 10.0, -179.5], ..start });
    // Extrinsic: yaw turns about the world's vertical whatever roll and pitch are.
    let tilted = CameraPose { xyz_m: [0.0; 3], rpy_deg: [30.0, 40.0, 0.0] };
    let turned = CameraPose { rpy_deg: [30.0, 40.0, 90.0], ..tilted };
    let quarter = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 90_f64.to_radians());
    let expected = quarter * tilted.pose().isometry().rotation;
    assert!(expected.angle_to(&turned.pose().isometry().rotation) < 1e-12);
}

#[test]
fn saving_keeps_the_pose_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("camera.yaml");
    let first = CameraPose { xyz_m: [1.0, 0.0, 0.0], ..CameraPose::default() };
    let second = CameraPose { xyz_m: [2.0, 0.0, 0.0], ..CameraPose::default() };
    first.save(&path).unwrap();
    second.save(&path).unwrap();
    assert_eq!(CameraPose::load(&path).unwrap(), second);
    assert_eq!(CameraPose::load(&folder.path().join("camera.yaml.bak")).unwrap(), first);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    let nowhere = CameraPose { xyz_m: [f64::NAN; 3], ..first };
    assert!(nowhere.save(&path).is_err());
    assert_eq!(CameraPose::load(&path).unwrap(), second);
    let text = std::fs::read_to_string(&path).unwrap();
    for (change, reason) in [
        (("format: 1", "format: 2"), "format 2, this program reads 1"),
        (("xyz_m", "xyz"), "unknown key \"xyz\""),
        (("2.0", "two"), "xyz_m"),
        (("rpy_deg: [0.0,", "rpy_deg: ["), "rpy_deg"),
    ] {
        std::fs::write(&path, text.replace(change.0, change.1)).unwrap();
        let error = CameraPose::load(&path).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("camera.yaml"), "{error}");
    }
}
