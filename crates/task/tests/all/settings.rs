//! Profiles and files that override them.

use citrange_task::{AutopilotSettings, GraspYaw, HeightsOf};

#[test]
fn every_profile_is_whole() {
    for name in AutopilotSettings::profiles() {
        let settings = AutopilotSettings::load(name).unwrap();
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<AutopilotSettings>(&text).unwrap(), settings, "{name}");
    }
    let seed = AutopilotSettings::load("seed").unwrap();
    assert_eq!((seed.approach_height, seed.lift_height, seed.transport_height), (0.21, 0.16, 0.25));
    assert_eq!((seed.release_height, seed.travel_horizontal_speed), (0.05, 0.01));
    assert_eq!((seed.descend_step_size, seed.lift_step_size), (0.002, 0.005));
    assert_eq!(seed.heights_of, HeightsOf::Wrist);
    assert_eq!(AutopilotSettings::load("panda").unwrap().grasp_yaw, GraspYaw::Faces);
}

#[test]
fn a_file_overrides_what_it_names() {
    let text = "profile: panda\nlift_height: 0.3\ngrasp_detection: {jaw_gap_min: 0.2}\n";
    let settings = AutopilotSettings::parse(text, "mine.yaml").unwrap();
    let panda = AutopilotSettings::load("panda").unwrap();
    assert_eq!((settings.lift_height, settings.grasp_detection.jaw_gap_min), (0.3, 0.2));
    assert_eq!(settings.approach_height, panda.approach_height);
    assert_eq!(settings.grasp_detection.min_move_m, panda.grasp_detection.min_move_m);
    let plain = AutopilotSettings::parse("retries: 3", "mine.yaml").unwrap();
    assert_eq!(plain.retries, 3);
    assert_eq!(plain.lift_height, AutopilotSettings::load("default").unwrap().lift_height);
}

/// The sections as the first script's document has them.
#[test]
fn keys_of_the_first_script_find_their_section() {
    let text = "
enable_posture_correction: false
min_object_distance: 0.07
grasp_detection:
  grasp_success_xy_threshold: 0.05
  placement_velocity_threshold: 0.08
  placement_stability_frames: 120
";
    let settings = AutopilotSettings::parse(text, "scene_config.yaml").unwrap();
    assert!(!settings.enable_posture_correction);
    assert_eq!(settings.spots.min_object_distance, 0.07);
    assert_eq!(settings.grasp_detection.grasp_success_xy_threshold, 0.05);
    assert_eq!(settings.placement.placement_velocity_threshold, 0.08);
    assert_eq!(settings.placement.placement_stability_frames, 120);
}

#[test]
fn mistakes_are_named() {
    for (text, expected) in [
        ("lift_hight: 0.1", "lift_height"),
        ("grasp_detection: {jaw_gap: 0.1}", "jaw_gap_min"),
        ("lift_height: -0.1", "lift_height: -0.1 must be a number above 0"),
        ("lift_height: high", "mine.yaml"),
        ("profile: fast", "profile"),
        ("gripper_closed: 1", "gripper_closed"),
        ("joint_speed_share: 0", "joint_speed_share"),
        ("joint_speed_share: 1.5", "between 0 and 1"),
        ("spots: 3", "spots"),
        ("- 3", "mine.yaml"),
        ("placement: {placement_velocity_threshold: 0}", "placement.placement_velocity_threshold"),
    ] {
        let error = AutopilotSettings::parse(text, "mine.yaml").unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let error = AutopilotSettings::load("nowhere.yaml").unwrap_err().to_string();
    assert!(error.contains("nowhere.yaml"), "{error}");
}
