//! When the jaws could close around a thing, and when not.

use citrange_core::ObjectSeen;
use citrange_core::pose::Pose;
use citrange_task::judge::{HandView, PickupColour, PickupSettings, RedReason, assess};
use nalgebra::{Unit, UnitQuaternion, Vector3};
use proptest::prelude::*;

use crate::judge_common::seen;

const CUBE: [[f64; 3]; 2] = [[-0.02; 3], [0.02; 3]];
const PLACE: [f64; 3] = [0.2, 0.05, 0.02];

fn settings() -> PickupSettings {
    PickupSettings { green_offset_m: 0.015, green_along_m: 0.02, green_tilt_deg: 30.0 }
}

/// A hand that points down, its grasp point off a place by `off_m`, jaws along world y.
fn hand(off_m: [f64; 3]) -> HandView {
    HandView {
        grasp_m: Vector3::from(PLACE) + Vector3::from(off_m),
        jaw_axis: Vector3::y_axis(),
        tool_axis: -Vector3::z_axis(),
        opening_m: 0.07,
    }
}

fn color(hand: &HandView, object: &ObjectSeen) -> PickupColour {
    assess(&settings(), hand, Some(object), &CUBE).color
}

#[test]
fn a_hand_around_a_cube_is_green_whether_or_not_its_faces_are_parallel() {
    let cube = seen(PLACE.into());
    // Along a face the line is parallel to four faces exactly.
    let answer = assess(&settings(), &hand([0.003, 0.01, -0.004]), Some(&cube), &CUBE);
    assert_eq!(answer.color, PickupColour::Green);
    let [enter, leave] = answer.chord_m.unwrap();
    assert!((enter + 0.03).abs() < 1e-12 && (leave - 0.01).abs() < 1e-12);
    assert!((answer.offset_m.unwrap() - 0.005).abs() < 1e-12);
    assert!((answer.along_m.unwrap() + 0.01).abs() < 1e-12);
    assert_eq!(answer.tilt_deg, 0.0);
    let turned = ObjectSeen { pose: Pose::from_yaw(PLACE, 0.7), ..cube };
    assert_eq!(color(&hand([0.0; 3]), &turned), PickupColour::Green);
}

#[test]
fn each_way_to_stand_wrong_has_its_reason() {
    let cube = seen(PLACE.into());
    let red = |off_m| color(&hand(off_m), &cube);
    assert_eq!(red([0.0, 0.0, 0.05]), PickupColour::Red(RedReason::RayMiss));
    assert_eq!(red([0.021, 0.0, 0.0]), PickupColour::Red(RedReason::RayMiss));
    // Beside the jaws: the line would hit, but farther out than the jaws reach.
    assert_eq!(red([0.0, 0.06, 0.0]), PickupColour::Red(RedReason::RayMiss));
    assert_eq!(red([0.0, 0.0, 0.017]), PickupColour::Red(RedReason::Offset));
    assert_eq!(red([0.0, 0.024, 0.0]), PickupColour::Red(RedReason::Along));
    let lean = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.6);
    let leaning = HandView { tool_axis: lean * -Vector3::z_axis(), ..hand([0.0; 3]) };
    assert_eq!(color(&leaning, &cube), PickupColour::Red(RedReason::Tilt));
    let upside_down = HandView { tool_axis: Vector3::z_axis(), ..hand([0.0; 3]) };
    assert_eq!(color(&upside_down, &cube), PickupColour::Red(RedReason::Tilt));
}

#[test]
fn the_middle_of_the_box_counts_not_the_origin() {
    // Its origin is at its bottom.
    let box_m = [[-0.02, -0.02, 0.0], [0.02, 0.02, 0.04]];
    let object = seen(Vector3::from(PLACE) - Vector3::z() * 0.02);
    let answer = assess(&settings(), &hand([0.0; 3]), Some(&object), &box_m);
    assert_eq!(answer.color, PickupColour::Green);
    assert!(answer.offset_m.unwrap() < 1e-12);
}

#[test]
fn what_is_not_seen_or_no_number_is_unknown() {
    let cube = seen(PLACE.into());
    assert_eq!(assess(&settings(), &hand([0.0; 3]), None, &CUBE).color, PickupColour::Unknown);
    let mut lost = cube;
    lost.pose.quat_wxyz = [0.0; 4];
    assert_eq!(color(&hand([0.0; 3]), &lost), PickupColour::Unknown);
    assert_eq!(color(&hand([f64::NAN, 0.0, 0.0]), &cube), PickupColour::Unknown);
    let no_axis = Unit::new_unchecked(Vector3::repeat(f64::NAN));
    assert_eq!(
        color(&HandView { tool_axis: no_axis, ..hand([0.0; 3]) }, &cube),
        PickupColour::Unknown
    );
}

proptest! {
    /// The chord agrees with points taken along the line, however box and line are turned.
    #[test]
    fn the_line_hits_exactly_where_its_points_are_in_the_box(
        angles in prop::array::uniform3(-3.0..3.0_f64),
        axis in prop::array::uniform3(-1.0..1.0_f64),
        off_m in prop::array::uniform3(-0.04..0.04_f64),
    ) {
        prop_assume!(Vector3::from(axis).norm() > 0.1);
        let rotation = UnitQuaternion::from_euler_angles(angles[0], angles[1], angles[2]);
        let mut object = seen(PLACE.into());
        object.pose.quat_wxyz = [rotation.w, rotation.i, rotation.j, rotation.k];
        let view = HandView { jaw_axis: Unit::new_normalize(axis.into()), ..hand(off_m) };
        let chord_m = assess(&settings(), &view, Some(&object), &CUBE).chord_m;
        for step in 0..=140 {
            let along_m = -0.035 + 0.0005 * f64::from(step);
            let point = view.grasp_m + view.jaw_axis.into_inner() * along_m - Vector3::from(PLACE);
            let depth_m = 0.02 - (rotation.inverse() * point).amax();
            let on_chord = chord_m.is_some_and(|[from, to]| (from..=to).contains(&along_m));
            prop_assert!(depth_m.abs() < 1e-9 || (depth_m > 0.0) == on_chord);
        }
    }
}
