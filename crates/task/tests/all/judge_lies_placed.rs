//! Planted lies about things put down and plates: what looks done and is not.

use citrange_core::ObjectSeen;
use citrange_core::pose::Pose;
use citrange_core::rng::Rng;
use citrange_task::judge::{
    NotPlaced, Placed, PlacementDetector, PlacementSettings, PlateSettings, PlateState, PlateWatch,
    Region, Resting,
};
use nalgebra::{UnitQuaternion, Vector3};

use crate::judge_common::{FRAME_S, measured, seen};

const BALL: [[f64; 3]; 2] = [[-0.025; 3], [0.025; 3]];
const CUBE: [[f64; 3]; 2] = [[-0.02; 3], [0.02; 3]];
const SURFACE_M: f64 = 0.004;
const PLATE: Region = Region::Disc { center_m: [0.165, -0.15, SURFACE_M], radius_m: 0.1 };
const WAIT: u32 = 5;
const FRAMES: usize = 60;

fn settings() -> PlacementSettings {
    PlacementSettings {
        placement_margin: 0.025,
        placement_velocity_threshold: 0.02,
        placement_stability_frames: 3,
        placement_z_tolerance_m: 0.006,
        placement_wait_frames: WAIT,
        placement_tilt_deg: 10.0,
    }
}

fn ball() -> Resting<'static> {
    Resting { box_m: &BALL, rest_height_m: Some(0.025), upright: false }
}

/// A ball on the plate, `x_m`, `y_m` from its middle, lifted by `z_m`.
fn ball_at(x_m: f64, y_m: f64, z_m: f64) -> ObjectSeen {
    ObjectSeen {
        touch_n: Some([0.0; 2]),
        ..seen(Vector3::new(0.165 + x_m, -0.15 + y_m, SURFACE_M + 0.025 + z_m))
    }
}

/// Verdicts of all frames, the poses measured with noise.
fn judge(
    settings: &PlacementSettings,
    region: &Region,
    resting: &Resting<'_>,
    world: impl Fn(usize) -> Option<ObjectSeen>,
) -> Vec<Placed> {
    let mut rng = Rng::new(11);
    let mut detector = PlacementDetector::default();
    (0..FRAMES)
        .map(|frame| {
            let mut object = world(frame);
            if let Some(object) = &mut object {
                object.pose.pos_m = measured(object.pose.pos_m.into(), &mut rng).into();
            }
            detector.sample(settings, region, object.as_ref(), resting)
        })
        .collect()
}

/// What a thing that never moves is found to be, after the wait; it must be the same to the end.
fn lasting(region: &Region, resting: &Resting<'_>, object: ObjectSeen) -> Placed {
    let verdicts = judge(&settings(), region, resting, |_| Some(object));
    let wait = WAIT as usize;
    assert!(verdicts[..wait].iter().all(|v| *v == Placed::NotYet(NotPlaced::Waiting)));
    let last = verdicts[FRAMES - 1];
    let settled = if last == Placed::Yes { wait + 2 } else { wait };
    let settling = Placed::NotYet(NotPlaced::Settling);
    assert!(verdicts[wait..settled].iter().all(|v| *v == settling), "{verdicts:?}");
    assert!(verdicts[settled..].iter().all(|v| *v == last), "{verdicts:?}");
    last
}

#[test]
fn what_lies_on_the_plate_counts_from_the_third_look_on_however_a_ball_is_turned() {
    assert_eq!(lasting(&PLATE, &ball(), ball_at(0.03, -0.04, 0.0)), Placed::Yes);
    let mut turned = ball_at(0.0, 0.0, 0.0);
    let rotation = UnitQuaternion::from_euler_angles(0.7, 0.6, 0.2);
    turned.pose.quat_wxyz = [rotation.w, rotation.i, rotation.j, rotation.k];
    assert_eq!(lasting(&PLATE, &ball(), turned), Placed::Yes);
    // The box around it would reach deeper than the ball does.
    let as_box = Resting { rest_height_m: None, ..ball() };
    assert_eq!(lasting(&PLATE, &as_box, turned), Placed::NotYet(NotPlaced::Height));
}

#[test]
fn in_the_square_but_outside_the_circle_does_not_count() {
    // The square of profile `seed` reaches to 7.5 cm along both axes; this is 9.9 cm from the middle.
    let corner = ball_at(0.07, 0.07, 0.0);
    assert_eq!(lasting(&PLATE, &ball(), corner), Placed::NotYet(NotPlaced::Outside));
    assert_eq!(lasting(&PLATE, &ball(), ball_at(0.07, 0.0, 0.0)), Placed::Yes);
    let beyond = ball_at(0.077, 0.0, 0.0);
    assert_eq!(lasting(&PLATE, &ball(), beyond), Placed::NotYet(NotPlaced::Outside));
}

#[test]
fn on_the_rim_or_on_another_thing_does_not_count() {
    for z_m in [0.012, 0.05, -0.01] {
        let high = ball_at(0.06, 0.0, z_m);
        assert_eq!(lasting(&PLATE, &ball(), high), Placed::NotYet(NotPlaced::Height));
    }
}

#[test]
fn in_the_jaws_above_the_plate_does_not_count() {
    let held = ObjectSeen { touch_n: Some([20.0, 20.0]), ..ball_at(0.0, 0.0, 0.03) };
    assert_eq!(lasting(&PLATE, &ball(), held), Placed::NotYet(NotPlaced::Touched));
    // A rig that cannot feel sees that it hangs in the air.
    let unfelt = ObjectSeen { touch_n: None, ..held };
    assert_eq!(lasting(&PLATE, &ball(), unfelt), Placed::NotYet(NotPlaced::Height));
    // Pressed on the plate by one jaw.
    let pressed = ObjectSeen { touch_n: Some([0.0, 0.06]), ..ball_at(0.0, 0.0, 0.0) };
    assert_eq!(lasting(&PLATE, &ball(), pressed), Placed::NotYet(NotPlaced::Touched));
}

#[test]
fn rolling_does_not_count_and_starts_the_count_again() {
    let rolling = |frame: usize, speed_m_s: f64| {
        let x_m = -0.06 + speed_m_s * frame as f64 * FRAME_S;
        ObjectSeen { lin_vel_m_s: [speed_m_s, 0.0, 0.0], ..ball_at(x_m, 0.0, 0.0) }
    };
    let verdicts = judge(&settings(), &PLATE, &ball(), |frame| Some(rolling(frame, 0.03)));
    assert!(verdicts[5..].iter().all(|v| *v == Placed::NotYet(NotPlaced::Moving)));

    // At rest for two frames of three: never three in a row.
    let verdicts = judge(&settings(), &PLATE, &ball(), |frame| {
        Some(rolling(0, if frame % 3 == 0 { 0.03 } else { 0.0 }))
    });
    assert!(!verdicts.contains(&Placed::Yes), "{verdicts:?}");
}

#[test]
fn what_vanishes_or_is_no_number_is_unknown_and_starts_the_count_again() {
    let verdicts = judge(&settings(), &PLATE, &ball(), |frame| {
        let mut object = ball_at(0.0, 0.0, 0.0);
        if frame == 20 {
            object.lin_vel_m_s[2] = f64::NAN;
        }
        Some(object).filter(|_| frame != 10)
    });
    let settling = Placed::NotYet(NotPlaced::Settling);
    for (frame, why) in [(10, NotPlaced::NotSeen), (20, NotPlaced::NotFinite)] {
        assert_eq!(verdicts[frame - 1], Placed::Yes);
        assert_eq!(verdicts[frame], Placed::Unknown(why));
        assert_eq!(verdicts[frame + 1..frame + 4], [settling, settling, Placed::Yes]);
    }
}

#[test]
fn a_cube_on_a_turned_cube_must_lie_over_it_flat_and_upright() {
    let yaw_rad = 0.6;
    let top = Region::Top { center_m: [0.2, 0.0, 0.04], half_m: [0.02; 2], yaw_rad };
    let cube = Resting { box_m: &CUBE, rest_height_m: None, upright: true };
    // A place in the lower cube's frame, and how far the upper one leans.
    let at = |x_m: f64, y_m: f64, lean_rad: f64| {
        let rotation = UnitQuaternion::from_euler_angles(lean_rad, 0.0, yaw_rad + 0.3);
        let reach_m = 0.02 * (lean_rad.sin().abs() + lean_rad.cos().abs());
        let place = UnitQuaternion::from_euler_angles(0.0, 0.0, yaw_rad)
            * Vector3::new(x_m, y_m, 0.0)
            + Vector3::new(0.2, 0.0, 0.04 + reach_m);
        let quat_wxyz = [rotation.w, rotation.i, rotation.j, rotation.k];
        ObjectSeen { pose: Pose { pos_m: place.into(), quat_wxyz }, ..seen(place) }
    };
    assert_eq!(lasting(&top, &cube, at(0.0, 0.0, 0.0)), Placed::Yes);
    assert_eq!(lasting(&top, &cube, at(0.008, -0.008, 0.0)), Placed::Yes);
    assert_eq!(lasting(&top, &cube, at(0.012, 0.0, 0.0)), Placed::NotYet(NotPlaced::Outside));
    // On its edge: the lowest point touches, but it leans.
    assert_eq!(lasting(&top, &cube, at(0.0, 0.0, 0.4)), Placed::NotYet(NotPlaced::Tilted));
    let any_way = Resting { upright: false, ..cube };
    for lean_rad in [0.4, -0.4] {
        assert_eq!(lasting(&top, &any_way, at(0.0, 0.0, lean_rad)), Placed::Yes);
    }
    // Beside it, on the table.
    let mut beside = at(0.0, 0.0, 0.0);
    beside.pose.pos_m[2] -= 0.04;
    assert_eq!(lasting(&top, &cube, beside), Placed::NotYet(NotPlaced::Height));
}

fn plate_settings() -> PlateSettings {
    PlateSettings { plate_move_threshold: 0.03, plate_velocity_threshold: 0.1, plate_tilt_deg: 5.0 }
}

/// Frame at which a plate pushed at a speed is found to have moved.
fn found_at(speed_m_s: f64, way_m: f64) -> Option<usize> {
    let mut rng = Rng::new(2);
    let start = Vector3::new(0.165, -0.15, 0.002);
    let mut watch = PlateWatch::begin(&seen(start));
    let mut first = None;
    for frame in 1..200 {
        let moved_m = speed_m_s * frame as f64 * FRAME_S;
        let mut plate = seen(measured(start + Vector3::y() * moved_m.min(way_m), &mut rng));
        plate.lin_vel_m_s[1] = if moved_m < way_m { speed_m_s } else { 0.0 };
        match watch.check(&plate_settings(), Some(&plate)) {
            PlateState::Moved { .. } => first = first.or(Some(frame)),
            state => assert_eq!(state, PlateState::Still),
        }
    }
    first
}

#[test]
fn a_pushed_plate_is_found_by_its_way_and_a_bumped_one_by_its_speed() {
    // 4 cm at 2 cm/s: 3 cm are passed after 45 frames; one more for the noise.
    assert!(found_at(0.02, 0.04).is_some_and(|frame| (44..=46).contains(&frame)));
    // 2 mm a frame are below the limit of speed at 30 Hz: 15 frames.
    assert!(found_at(0.06, 0.04).is_some_and(|frame| (14..=16).contains(&frame)));
    // 4 mm a frame are above it: the second sample tells, whatever the way.
    assert_eq!(found_at(0.12, 0.04), Some(2));
    assert_eq!(found_at(0.12, 0.012), Some(2));
    // Less than the limits is no push.
    assert_eq!(found_at(0.02, 0.025), None);
}

#[test]
fn one_fast_sample_is_noise_and_a_tipped_plate_has_moved() {
    let place = Vector3::new(0.1, 0.1, 0.002);
    let mut watch = PlateWatch::begin(&seen(place));
    for frame in 0..20 {
        let lin_vel_m_s = [if frame % 2 == 0 { 0.5 } else { 0.0 }, 0.0, 0.0];
        let plate = ObjectSeen { lin_vel_m_s, ..seen(place) };
        assert_eq!(watch.check(&plate_settings(), Some(&plate)), PlateState::Still);
    }
    let fast = ObjectSeen { lin_vel_m_s: [0.5, 0.0, 0.0], ..seen(place) };
    for (plate, state) in [
        (Some(&fast), PlateState::Still),
        (None, PlateState::Unknown),
        (Some(&fast), PlateState::Still),
    ] {
        assert_eq!(watch.check(&plate_settings(), plate), state);
    }
    let mut tipped = seen(place);
    tipped.pose.quat_wxyz = [0.05_f64.cos(), 0.05_f64.sin(), 0.0, 0.0];
    let state = watch.check(&plate_settings(), Some(&tipped));
    assert!(
        matches!(state, PlateState::Moved { tilt_deg, .. } if (tilt_deg - 5.7296).abs() < 1e-3)
    );
    // Turned about the vertical it lies as it lay.
    let turned = ObjectSeen { pose: Pose::from_yaw(place.into(), 1.0), ..seen(place) };
    assert_eq!(watch.check(&plate_settings(), Some(&turned)), PlateState::Still);
}

#[test]
fn a_plate_that_vanishes_is_unknown_and_a_virtual_one_never_moves() {
    let plate = seen(Vector3::new(0.1, 0.1, 0.002));
    let lost = ObjectSeen { lin_vel_m_s: [f64::NAN; 3], ..plate };
    let mut watch = PlateWatch::begin(&plate);
    assert_eq!(watch.check(&plate_settings(), None), PlateState::Unknown);
    assert_eq!(watch.check(&plate_settings(), Some(&lost)), PlateState::Unknown);
    assert_eq!(watch.check(&plate_settings(), Some(&plate)), PlateState::Still);
    let mut from_nowhere = PlateWatch::begin(&lost);
    assert_eq!(from_nowhere.check(&plate_settings(), Some(&plate)), PlateState::Unknown);
    let mut virtual_plate = PlateWatch::of_virtual_plate();
    for sample in [None, Some(&plate), Some(&lost)] {
        assert_eq!(virtual_plate.check(&plate_settings(), sample), PlateState::Still);
    }
}
