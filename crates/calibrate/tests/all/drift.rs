//! A camera that was moved is found out by what it sees of the robot.

use citrange_calibrate::{Drift, DriftSettings, DriftVerdict, DriftWatch};
use citrange_cloud::{Cloud, View};
use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_core::shape::PosedLinkShape;
use nalgebra::{Isometry3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

/// A capsule of the scene: ends and radius.
type Capsule = ([f64; 3], [f64; 3], f64);

/// An arm with a bent elbow and a hand across.
const ARM: [Capsule; 4] = [
    ([0.0, 0.0, 0.0], [0.0, 0.0, 0.35], 0.07),
    ([0.0, 0.0, 0.4], [0.35, 0.1, 0.6], 0.055),
    ([0.35, 0.1, 0.6], [0.55, -0.1, 0.3], 0.045),
    ([0.55, -0.17, 0.28], [0.55, -0.03, 0.26], 0.035),
];

/// Things close to the arm, and a bar behind it.
const THINGS: [Capsule; 3] = [
    ([0.62, -0.1, 0.15], [0.62, -0.1, 0.25], 0.03),
    ([0.15, -0.13, 0.2], [0.15, -0.13, 0.4], 0.03),
    ([-0.6, 0.4, 0.3], [0.9, 0.4, 0.3], 0.05),
];

fn solids(capsules: &[Capsule]) -> Vec<PosedLinkShape> {
    capsules
        .iter()
        .zip(0..)
        .map(|((a, b, r), link)| PosedLinkShape::capsule(link, *a, *b, *r))
        .collect()
}

/// A camera at `eye` that looks at the arm.
fn camera_at(eye: [f64; 3]) -> Isometry3<f64> {
    let eye = Vector3::from(eye);
    let forward = (Vector3::new(0.25, 0.0, 0.3) - eye).normalize();
    let aside = forward.cross(&Vector3::z()).normalize();
    let rotation = Rotation3::from_basis_unchecked(&[aside, forward.cross(&aside), forward]);
    Isometry3::from_parts(eye.into(), UnitQuaternion::from_rotation_matrix(&rotation))
}

/// Pictures by marching along rays; depths with noise of 2 mm and some flying pixels.
fn picture(scene: &[Capsule], camera: &Isometry3<f64>, seed: u64) -> Cloud {
    let mut rng = Rng::new(seed);
    let solids = solids(scene);
    let mut points = Vec::new();
    for i in 0..160 * 120 {
        let (column, row) = ((i % 160) as f64, (i / 160) as f64);
        let ray = Vector3::new((column - 80.0) / 140.0, (row - 60.0) / 140.0, 1.0);
        let length = ray.norm();
        let mut depth = 0.0;
        let mut seen = [f32::NAN; 3];
        while depth < 3.0 {
            let place = camera * Point3::from(ray * depth);
            let free = solids.iter().map(|s| s.distance_m(place.coords.into()));
            let free = free.fold(f64::INFINITY, f64::min);
            if free < 1e-4 {
                let noise = 0.004 * (rng.unit() + rng.unit() + rng.unit() - 1.5);
                let flying = if rng.unit() < 0.02 { rng.uniform(0.0, 0.1) } else { 0.0 };
                seen = (ray * (depth + noise + flying)).cast::<f32>().into();
                break;
            }
            depth += free / length;
        }
        points.push(seen);
    }
    Cloud::new(points, vec![], 160, 0).unwrap()
}

/// What is found when the camera was moved by `moved` (in the world, about the arm's middle)
/// since it was calibrated.
fn look(watch: &mut DriftWatch, scene: &[Capsule], moved: &Isometry3<f64>, seed: u64) -> Drift {
    let calibrated = camera_at([0.9, -1.1, 0.8]);
    let about = Translation3::new(0.25, 0.0, 0.3);
    let stands = about * moved * about.inverse() * calibrated;
    let cloud = picture(scene, &stands, seed);
    let view = View::new(Pose::from(calibrated), None);
    watch.look(&cloud, &view, &solids(&ARM))
}

fn shift(metres: [f64; 3]) -> Isometry3<f64> {
    Translation3::from(metres).into()
}

fn scenes() -> [Vec<Capsule>; 2] {
    [ARM.to_vec(), [&ARM[..], &THINGS[..]].concat()]
}

#[test]
fn shifts_are_measured_also_with_things_beside_the_arm() {
    for (scene, limit_m) in scenes().iter().zip([0.002, 0.004]) {
        for size_m in [0.0, 0.01, 0.02, 0.03] {
            for (seed, direction) in [
                [1.0, 0.0, 0.0],
                [0.0, 1.0, 0.0],
                [0.0, -1.0, 0.0],
                [0.0, 0.0, 1.0],
                [-0.6, 0.0, -0.8],
            ]
            .into_iter()
            .enumerate()
            {
                let moved = direction.map(|v| v * size_m);
                let mut watch = DriftWatch::new(DriftSettings::default());
                let drift = look(&mut watch, scene, &shift(moved), seed as u64);
                let offset = drift.offset.unwrap();
                let off = (Vector3::from(offset.shift_m) - Vector3::from(moved)).norm();
                assert!(off < limit_m, "{moved:?} m measured as {:?}", offset.shift_m);
                assert!(offset.rotation_deg < 1.0, "{moved:?} m: {} degrees", offset.rotation_deg);
                let expected =
                    if size_m > 0.015 { DriftVerdict::Suspect(1) } else { DriftVerdict::Fine };
                assert_eq!(drift.verdict, expected, "{moved:?}");
            }
        }
    }
}

#[test]
fn turns_are_measured_and_the_pose_is_mended() {
    let rotation =
        UnitQuaternion::from_scaled_axis(Vector3::new(0.3, -0.5, 0.8).normalize() * 0.05);
    let moved = Isometry3::from_parts(Translation3::new(0.004, 0.003, -0.005), rotation);
    let mut watch = DriftWatch::new(DriftSettings::default());
    for scene in scenes() {
        let drift = look(&mut watch, &scene, &moved, 4);
        let offset = drift.offset.unwrap();
        assert!(
            (offset.rotation_deg - 0.05_f64.to_degrees()).abs() < 0.5,
            "{}",
            offset.rotation_deg
        );
        assert!(drift.rms_after_m < 0.5 * drift.rms_before_m);
        let about = Translation3::new(0.25, 0.0, 0.3);
        let stands = about * moved * about.inverse() * camera_at([0.9, -1.1, 0.8]);
        let between = stands.inverse() * offset.world_from_camera.isometry();
        let off_m = between.translation.vector.norm();
        assert!(off_m < 0.01 && between.rotation.angle().to_degrees() < 0.5, "{off_m} m");
    }
    assert_eq!(look(&mut watch, &ARM, &moved, 5).verdict, DriftVerdict::Suspect(3));
}

#[test]
fn an_alarm_needs_frames_in_a_row() {
    let mut watch = DriftWatch::new(DriftSettings { frames: 3, ..DriftSettings::default() });
    let (still, moved) = (shift([0.0; 3]), shift([0.0, 0.025, 0.0]));
    let mut verdict = |moved, seed| look(&mut watch, &ARM, moved, seed).verdict;
    assert_eq!(verdict(&moved, 1), DriftVerdict::Suspect(1));
    assert_eq!(verdict(&moved, 2), DriftVerdict::Suspect(2));
    assert_eq!(verdict(&still, 3), DriftVerdict::Fine);
    assert_eq!(verdict(&moved, 4), DriftVerdict::Suspect(1));
    assert_eq!(verdict(&moved, 5), DriftVerdict::Suspect(2));
    assert_eq!(verdict(&moved, 6), DriftVerdict::Alarm);
    assert_eq!(verdict(&moved, 7), DriftVerdict::Alarm);
    assert_eq!(verdict(&still, 8), DriftVerdict::Fine);
}

#[test]
fn what_is_not_seen_is_unknown_never_fine() {
    let mut watch = DriftWatch::new(DriftSettings::default());
    let still = shift([0.0; 3]);
    let nothing = look(&mut watch, &THINGS[2..], &still, 1);
    assert!(matches!(&nothing.verdict, DriftVerdict::Unknown(why) if why.contains("points near")));
    assert_eq!((nothing.offset, nothing.close), (None, 0));
    // Much farther off than the reach: what is near are other things.
    let far = look(&mut watch, &ARM, &shift([0.0, 0.0, 0.4]), 1);
    assert_ne!(far.verdict, DriftVerdict::Fine);
    // A single straight link does not show a shift along it.
    let calibrated = camera_at([0.9, -1.1, 0.8]);
    let view = View::new(Pose::from(calibrated), None);
    let long: [Capsule; 1] = [([0.25, 0.0, -3.0], [0.25, 0.0, 3.0], 0.06)];
    let drift = watch.look(&picture(&long, &calibrated, 2), &view, &solids(&long));
    assert!(matches!(&drift.verdict, DriftVerdict::Unknown(why) if why.contains("does not show")));
    let free = drift.offset.unwrap().certainty.free;
    assert!(free.iter().any(|f| f.shift[2].abs() > 0.99), "{free:?}");
}

#[test]
fn points_in_and_out_of_the_links_are_counted() {
    let mut watch = DriftWatch::new(DriftSettings::default());
    let away: [f64; 3] = Vector3::new(0.02, -0.02, 0.015).into();
    let still = look(&mut watch, &ARM, &shift([0.0; 3]), 1);
    assert!(still.inside * 20 < still.near && still.outside * 10 < still.near, "{still:?}");
    // A camera that went back sees the arm farther away: behind its surface.
    let back = look(&mut watch, &ARM, &shift(away), 1);
    let forth = look(&mut watch, &ARM, &shift(away.map(|v| -v)), 1);
    assert!(forth.outside > 5 * forth.inside, "{forth:?}");
    assert!(back.inside > 5 * back.outside, "{back:?}");
}
