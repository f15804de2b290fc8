//! Profiles, files that override them, and mistakes in them.

use citrange_control::{ControllerSettings, Gravity, KinematicsAt, Method, WorkspaceLimits};

#[test]
fn the_profiles_load_and_have_the_documented_numbers() {
    let seed = ControllerSettings::load("seed").unwrap();
    let right = ControllerSettings::load("default").unwrap();
    for s in [&seed, &right] {
        let numbers = [s.lin_speed_m_s, s.yaw_speed_rad_s, s.grip_speed_rad_s];
        assert_eq!(numbers, [0.04, 1.2, 0.7]);
        assert_eq!([s.ori_gain_per_s, s.lambda_pos, s.lambda_tilt], [6.0, 0.01, 1e-4]);
        assert_eq!(s.vel_limit_wrist_rad_s, 8.0);
        assert_eq!([s.smooth_dq, s.smooth_dq_wrist, s.wrist_gff_gain], [0.3, 0.08, 0.5]);
        assert_eq!([s.dead_zone_rad, s.singularity_m, s.limit_margin_rad], [0.03, 0.1, 0.1]);
    }
    // Slower joints cannot serve the speed of the hand everywhere.
    assert_eq!((seed.vel_limit_rad_s, right.vel_limit_rad_s), (0.5, 1.4));
    assert_eq!((seed.method, seed.state), (Method::Plain, KinematicsAt::Measured));
    assert_eq!((seed.gravity, seed.feed_forward), (Gravity::Seed, false));
    assert_eq!((right.gravity, right.state), (Gravity::Torque, KinematicsAt::Targets));
    assert!(right.floor_guard && right.feed_forward && !seed.floor_guard);
    assert_eq!((right.floor_clearance_m, right.windup_rad), (0.003, 0.2));
}

#[test]
fn a_file_overrides_a_profile_also_by_the_short_names() {
    let text = "profile: seed\nlin_speed: 0.1\nvel_limit_wrist: 2\nworkspace: {z_m: [0, 1]}\n";
    let got = ControllerSettings::parse(text, "mine.yaml").unwrap();
    let mut wanted = ControllerSettings::load("seed").unwrap();
    wanted.lin_speed_m_s = 0.1;
    wanted.vel_limit_wrist_rad_s = 2.0;
    wanted.workspace = Some(WorkspaceLimits { radius_m: None, z_m: Some([0.0, 1.0]) });
    assert_eq!(got, wanted);
}

#[test]
fn mistakes_are_named() {
    let cases = [
        ("lin_sped_m_s: 1\n", "did you mean \"lin_speed_m_s\"?"),
        ("gravity: toruqe\n", "did you mean \"torque\"?"),
        ("profile: sed\n", "unknown profile \"sed\", did you mean \"seed\"?"),
        ("lin_speed: -1\n", "setting lin_speed_m_s is -1: must be a number above 0"),
        ("smooth_dq: 1.5\n", "setting smooth_dq is 1.5: must be above 0 and at most 1"),
        ("brake_s: .inf\n", "finite"),
        ("workspace: {z_m: [1, 0]}\n", "workspace.z_m"),
        ("workspace: {z: [1, 0]}\n", "did you mean \"z_m\"?"),
    ];
    for (text, wanted) in cases {
        let got = ControllerSettings::parse(text, "mine.yaml").unwrap_err().to_string();
        assert!(got.contains(wanted), "{text:?}: {got}");
    }
    let missing = ControllerSettings::load("nowhere.yaml").unwrap_err().to_string();
    assert!(missing.starts_with("cannot read nowhere.yaml"), "{missing}");
    assert!(ControllerSettings::load("defalt").unwrap_err().to_string().contains("\"default\""));
}

#[test]
fn smoothing_keeps_its_time_constant() {
    assert!((ControllerSettings::smoothing_at(0.3, 180) - 0.3).abs() < 1e-15);
    // Two ticks at 360 Hz do what one does at 180 Hz, one at 20 Hz what nine do.
    let half = ControllerSettings::smoothing_at(0.3, 360);
    assert!(((1.0 - half) * (1.0 - half) - 0.7).abs() < 1e-12);
    assert!((ControllerSettings::smoothing_at(0.08, 20) - (1.0 - 0.92_f64.powi(9))).abs() < 1e-12);
}

proptest::proptest! {
    #[test]
    fn any_text_is_an_answer(text in ".{0,200}", key in 0..26_usize, value in ".{0,12}") {
        let _answer = ControllerSettings::parse(&text, "any.yaml");
        let profile = include_str!("../../profiles/default.yaml");
        let keys: Vec<&str> = profile.lines().filter_map(|line| line.split_once(':')).map(|l| l.0).collect();
        let text = format!("{}: {value}\n", keys[key % keys.len()]);
        if let Ok(settings) = ControllerSettings::parse(&text, "any.yaml") {
            settings.check().unwrap();
        }
    }
}
