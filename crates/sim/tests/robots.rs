//! Robots that load without an engine are what the engine makes of their models.

use std::path::Path;

use citrange_core::Pose;
use citrange_robot::Robot;
use citrange_sim::catalog::robot_names;

mod common;

/// What the engine makes of a robot that stands alone.
fn compiled(robot: &str, place: &str) -> Robot {
    let text = format!(
        "name: t\ntitle: t\nrates: {{physics_hz: 500, control_hz: 500, frame_hz: 50}}\n\
         robots: {{robot0: {{model: {robot}{place}}}}}\n"
    );
    common::scene_from(&text, Path::new("")).unwrap().robot("robot0").unwrap()
}

/// `CITRANGE_WRITE_ROBOTS=1 cargo test --workspace --test robots` writes the descriptions
/// anew.
#[test]
fn descriptions_are_the_compiled_models() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    assert_eq!(Robot::names().collect::<Vec<_>>(), robot_names().collect::<Vec<_>>());
    for name in Robot::names() {
        let made = compiled(name, "");
        if std::env::var_os("CITRANGE_WRITE_ROBOTS").is_some() {
            let path = models.join(name).join("description.json");
            std::fs::write(path, made.to_json().unwrap()).unwrap();
            continue;
        }
        let kept = Robot::load(name).unwrap();
        let hint = "changed; see this test's comment";
        assert_eq!(kept.joints().len(), made.joints().len(), "{name} {hint}");
        for (kept, made) in kept.joints().iter().zip(made.joints()) {
            assert_eq!(kept, made, "joint {} of {name} {hint}", made.name);
        }
        for (kept, made) in
            [(kept.link_shapes(), made.link_shapes()), (&kept.details().seen, &made.details().seen)]
        {
            assert_eq!(kept.len(), made.len(), "shapes of {name} {hint}");
            for (kept, made) in kept.iter().zip(made) {
                assert_eq!(kept, made, "shape {} of {name} {hint}", made.name);
            }
        }
        let inertias = [&kept.details().inertias, &made.details().inertias];
        for ((kept, made), joint) in inertias[0].iter().zip(inertias[1]).zip(made.joints()) {
            assert_eq!(kept, made, "inertia of {} of {name} {hint}", joint.name);
        }
        // Chain, sites, spheres, pairs and settings too, to the bit.
        assert_eq!(kept, made, "{name} {hint}");
    }
}

/// Where a scene puts a robot is where [`Robot::standing_at`] puts it.
#[test]
fn robots_stand_where_scenes_put_them() {
    for name in Robot::names() {
        let made = compiled(name, ", pos_m: [0.3, -0.2, 0.1], yaw_deg: 40");
        let kept = Robot::load(name).unwrap().standing_at([0.3, -0.2, 0.1], 40_f64.to_radians());
        let [one, other] = [&kept, &made].map(|robot| robot.chain().world_from_base);
        let numbers = |pose: Pose| pose.pos_m.into_iter().chain(pose.quat_wxyz);
        let far = numbers(one).zip(numbers(other)).map(|(a, b)| (a - b).abs());
        assert!(far.fold(0.0, f64::max) < 1e-15, "{name}: {one:?} {other:?}");
        assert_eq!(kept.with_base_at(other), made, "{name}");
    }
}

/// A model of somebody else is compiled once, written down and read back.
#[test]
fn foreign_robots_are_written_down() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    // By its path it is nobody's robot that is known.
    let made = citrange_sim::compiled_robot("panda/robot.yaml", &models).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.json");
    std::fs::write(&path, made.to_json().unwrap()).unwrap();
    let read = Robot::load(path.to_str().unwrap()).unwrap();
    assert_eq!(read, made);
    assert_eq!(read.to_json().unwrap(), made.to_json().unwrap());
    let newer = made.to_json().unwrap().replacen("\"format\":2", "\"format\":3", 1);
    std::fs::write(&path, newer).unwrap();
    let error = Robot::load(path.to_str().unwrap()).unwrap_err().to_string();
    assert!(error.contains("format 3 is not known"), "{error}");
}
