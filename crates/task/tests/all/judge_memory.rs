//! What judges save comes back bit for bit, and settings that make no sense are named.

use std::vec;

use citrange_core::ObjectSeen;
use citrange_task::judge::{
    GraspDetector, GraspSample, GraspSettings, PickupSettings, PlacementDetector,
    PlacementSettings, PlateSettings, PlateWatch, Region, Resting,
};
use nalgebra::Vector3;
use proptest::prelude::*;

use crate::judge_common::seen;

const GRASP: &str = r#"{
    "grasp_relative_distance_threshold": 0.05, "grasp_success_xy_threshold": 0.05,
    "grasp_success_z_threshold": 0.12, "grasp_movement_ratio_threshold": 0.7,
    "grasp_movement_ratio_max": 1.3, "grasp_stability_variance_threshold": 1e-6,
    "jaw_gap_min": 0.03, "contact_force_threshold_n": 0.5, "min_move_m": 0.01}"#;
const PICKUP: &str = r#"{"green_offset_m": 0.015, "green_along_m": 0.02, "green_tilt_deg": 30.0}"#;
const PLACEMENT: &str = r#"{
    "placement_margin": 0.025, "placement_velocity_threshold": 0.08,
    "placement_stability_frames": 3, "placement_z_tolerance_m": 0.006,
    "placement_wait_frames": 4, "placement_tilt_deg": 10.0}"#;
const PLATE: &str = r#"{
    "plate_move_threshold": 0.03, "plate_velocity_threshold": 0.1, "plate_tilt_deg": 5.0}"#;
const CUBE: [[f64; 3]; 2] = [[-0.02; 3], [0.02; 3]];

fn read<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap()
}

/// Writes a judge down, checks that a copy read back writes the same bits and that nothing less
/// than all of it can be read, and returns the copy.
fn through_numbers<T>(
    judge: &T,
    save: impl Fn(&T, &mut Vec<f64>),
    load: impl Fn(&mut vec::IntoIter<f64>) -> Option<T>,
) -> T {
    let bits = |judge: &T| {
        let mut numbers = vec![0.5];
        save(judge, &mut numbers);
        assert_eq!(numbers.remove(0), 0.5, "what was there stays");
        numbers
    };
    let mut numbers = bits(judge);
    // Another judge's numbers follow: they must be left alone.
    numbers.push(7.25);
    let mut rest = numbers.clone().into_iter();
    let copy = load(&mut rest).unwrap();
    assert_eq!(rest.collect::<Vec<_>>(), [7.25]);
    numbers.pop();
    let same = bits(&copy).iter().map(|n| n.to_bits()).eq(numbers.iter().map(|n| n.to_bits()));
    assert!(same, "{numbers:?}");
    for length in 0..numbers.len() {
        let mut part = numbers.clone();
        part.truncate(length);
        assert!(load(&mut part.into_iter()).is_none());
    }
    copy
}

/// Something seen, not seen, or seen badly; now and then fast, now and then felt.
fn sight() -> impl Strategy<Value = Option<ObjectSeen>> {
    let place = prop::array::uniform3(-0.03..0.03_f64);
    (place, -0.1..0.1_f64, prop::option::of([0.0..1.0_f64, 0.0..1.0_f64]), 0..12).prop_map(
        |(place, speed_m_s, touch_n, luck)| {
            let object = ObjectSeen { touch_n, ..seen(Vector3::from(place)) };
            match luck {
                0 => None,
                1 => Some(ObjectSeen { lin_vel_m_s: [f64::NAN; 3], ..object }),
                2 => Some(ObjectSeen { lin_vel_m_s: [2.0 * speed_m_s; 3], ..object }),
                _ => Some(ObjectSeen { lin_vel_m_s: [0.1 * speed_m_s, 0.0, 0.0], ..object }),
            }
        },
    )
}

proptest! {
    #[test]
    fn a_grasp_detector_goes_on_as_if_nothing_had_happened(
        frames in prop::collection::vec(
            (sight(), prop::array::uniform3(-0.02..0.02_f64), 0.0..0.2_f64), 2..30),
    ) {
        let settings: GraspSettings = read(GRASP);
        let samples: Vec<GraspSample<'_>> = frames.iter().map(|(object, hand, jaw_gap)| {
            GraspSample { hand_m: (*hand).into(), object: object.as_ref(), jaw_gap: *jaw_gap }
        }).collect();
        let mut detector = GraspDetector::begin(&samples[0]);
        for sample in &samples[1..] {
            let mut copy =
                through_numbers(&detector, GraspDetector::save, GraspDetector::load);
            prop_assert_eq!(&copy, &detector);
            let verdict = detector.sample(&settings, sample);
            prop_assert_eq!(copy.sample(&settings, sample), verdict);
            prop_assert_eq!(copy.evidence(), detector.evidence());
        }
    }

    #[test]
    fn placement_and_plate_go_on_as_if_nothing_had_happened(
        sights in prop::collection::vec(sight(), 2..30),
        is_virtual: bool,
    ) {
        let (placement, plate): (PlacementSettings, PlateSettings) = (read(PLACEMENT), read(PLATE));
        let region = Region::Disc { center_m: [0.0, 0.0, -0.02], radius_m: 0.08 };
        let resting = Resting { box_m: &CUBE, rest_height_m: None, upright: false };
        let mut detector = PlacementDetector::default();
        let begin = sights[0].unwrap_or_else(|| seen(Vector3::zeros()));
        let mut watch =
            if is_virtual { PlateWatch::of_virtual_plate() } else { PlateWatch::begin(&begin) };
        for sight in &sights[1..] {
            let mut copy =
                through_numbers(&detector, PlacementDetector::save, PlacementDetector::load);
            let verdict = detector.sample(&placement, &region, sight.as_ref(), &resting);
            prop_assert_eq!(copy.sample(&placement, &region, sight.as_ref(), &resting), verdict);
            let mut copy = through_numbers(&watch, PlateWatch::save, PlateWatch::load);
            let state = watch.check(&plate, sight.as_ref());
            prop_assert_eq!(copy.check(&plate, sight.as_ref()), state);
        }
    }
}

#[test]
fn numbers_that_no_judge_wrote_are_refused() {
    for wrong in [f64::NAN, -1.0, 0.5, 1e12] {
        assert_eq!(PlacementDetector::load(&mut [wrong, 0.0].into_iter()), None);
        assert_eq!(PlateWatch::load(&mut [wrong; 8].into_iter()), None);
    }
    let plate = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    assert!(PlateWatch::load(&mut plate.into_iter().chain([2.0])).is_some());
    assert_eq!(PlateWatch::load(&mut plate.into_iter().chain([3.0])), None);
}

/// Every number of a settings text is spoiled in turn; its key must be named. Keys that are
/// missing or unknown are refused when it is read.
fn spoil<T>(text: &str, check: fn(&T) -> Result<(), String>)
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let settings: T = read(text);
    assert_eq!(check(&settings), Ok(()));
    let right: serde_json::Map<String, serde_json::Value> = read(text);
    assert_eq!(serde_json::to_value(&settings).unwrap(), serde_json::json!(right));
    for key in right.keys().filter(|key| !key.ends_with("_frames")) {
        let mut wrong = right.clone();
        wrong[key] = (-0.25).into();
        let spoiled: T = serde_json::from_value(wrong.clone().into()).unwrap();
        let message = check(&spoiled).unwrap_err();
        assert!(message.starts_with(&format!("{key}: must be")), "{message}");
        assert!(message.ends_with("not -0.25"), "{message}");
        wrong.remove(key);
        assert!(serde_json::from_value::<T>(wrong.into()).is_err(), "{key} is missing");
    }
    let mut unknown = right;
    unknown.insert("speed".to_owned(), 1.0.into());
    assert!(serde_json::from_value::<T>(unknown.into()).is_err());
}

#[test]
fn settings_that_make_no_sense_are_named() {
    spoil(GRASP, GraspSettings::check);
    spoil(PICKUP, PickupSettings::check);
    spoil(PLACEMENT, PlacementSettings::check);
    spoil(PLATE, PlateSettings::check);

    let mut plate: PlateSettings = read(PLATE);
    plate.plate_velocity_threshold = f64::NAN;
    let message = plate.check().unwrap_err();
    assert_eq!(message, "plate_velocity_threshold: must be a number above 0, not NaN");
    let mut placement: PlacementSettings = read(PLACEMENT);
    placement.placement_stability_frames = 0;
    assert!(placement.check().unwrap_err().starts_with("placement_stability_frames"));
}
