//! An arm that was pushed into something comes back at once, in every joint; the lamp says what to
//! do.

use std::path::Path;
use std::sync::Arc;

use citrange_control::{ControllerSettings, NamedAction, Velocity};
use citrange_core::yaml::from_yaml;
use citrange_robot::Kinematics;
use citrange_sim::{Arm, CompiledScene, SceneSource};
use nalgebra::Vector3;

use crate::common::temp;
use crate::wheel::Wheel;

/// A robot, and what stands in its way.
fn scene(robot: &str, rates: &str, block_m: Option<Vector3<f64>>) -> String {
    let block = block_m.map_or(String::new(), |at| {
        format!(
            "fixtures: {{block: {{pos_m: [{}, {}, {}], parts: [{{shape: {{box: {{half_m: [0.03, 0.03, 0.03]}}}}}}]}}}}\n",
            at.x, at.y, at.z
        )
    });
    format!(
        "name: t\ntitle: t\nrates: {rates}\nrobots: {{robot0: {{model: {robot}, pos_m: [0, 0, 0.5]}}}}\n{block}"
    )
}

fn arm(text: &str) -> Arm {
    let scene = from_yaml(text, "test.yaml").unwrap();
    let source = SceneSource { scene, folder: Path::new("").to_path_buf() };
    let scene = Arc::new(CompiledScene::new(&source).unwrap());
    let mut arm =
        Arm::connect(scene, &ControllerSettings::load("default").unwrap(), Some(&[])).unwrap();
    arm.reset(0, 0).unwrap();
    arm
}

fn drive(arm: &mut Arm, v: Vector3<f64>, frames: u32) {
    let wanted = Velocity { linear_m_s: v.into(), ..Velocity::ZERO };
    for _ in 0..frames {
        arm.send(&NamedAction::Velocity(wanted)).unwrap();
    }
}

/// The tool and the point that is driven.
fn hand(arm: &mut Arm) -> [Vector3<f64>; 2] {
    let seen = arm.observe().unwrap().values;
    let q: Vec<f64> = arm.joints().iter().map(|j| seen[&format!("{j}.pos")]).collect();
    let mut kinematics = Kinematics::new(arm.controller().chain());
    kinematics.update(&q);
    [
        kinematics.site(&arm.controller().chain().tool).pos_m,
        kinematics.site(arm.controller().hand()).pos_m,
    ]
}

#[test]
fn what_was_pushed_comes_back_at_once() {
    let robots = [
        ("so101", "{physics_hz: 360, control_hz: 180, frame_hz: 30}"),
        ("panda", "{physics_hz: 500, control_hz: 20, frame_hz: 20}"),
        ("ur5e", "{physics_hz: 500, control_hz: 100, frame_hz: 20}"),
    ];
    let ways =
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [0.6, 0.0, -0.8], [-0.6, 0.8, 0.0]];
    let mut wrong = Vec::new();
    for (robot, rates) in robots {
        let mut blocked = 0;
        for way in ways {
            let way = Vector3::from(way);
            let mut free = arm(&scene(robot, rates, None));
            let [tool, _] = hand(&mut free);
            // Into the tool's way; where exactly it is met does not matter.
            let mut arm = arm(&scene(robot, rates, Some(tool + way * 0.08)));
            let hz = arm.rig().world().scene().scene.rates.frame_hz;
            drive(&mut arm, way * 0.04, 10 * hz);
            let words = arm.status().words(arm.controller().chain());
            if !words.iter().any(|word| word.starts_with("blocked at")) {
                println!("{robot} {way:?}: passed it: {words:?}");
                continue;
            }
            blocked += 1;
            let [_, pressed] = hand(&mut arm);
            // How far back it is, frame by frame.
            let mut course = vec![0.0];
            for _ in 0..hz {
                drive(&mut arm, -way * 0.04, 1);
                course.push(1e3 * (pressed - hand(&mut arm)[1]).dot(&way));
            }
            let at = |seconds: f64| (seconds * f64::from(hz)).round() as usize;
            let last_tenth = course[at(0.3)] - course[at(0.2)];
            let furthest = course[..at(0.3)].iter().copied().fold(0.0, f64::min);
            let away = course[at(0.6)] - furthest;
            println!(
                "{robot} {way:?}: {:.1} mm back after 0.3 s, {last_tenth:.1} of them in the last \
                 0.1 s, {away:.1} after 0.6 s, {:.1} after 1 s; {words:?}",
                course[at(0.3)],
                course[at(1.0)]
            );
            if last_tenth < 0.05 || away < 3.0 || course[at(1.0)] > 50.0 {
                wrong.push((robot, way, last_tenth, away));
            }
        }
        assert!(blocked >= 3, "{robot}: only {blocked} ways were blocked");
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_lamp_says_what_to_do() {
    let folder = temp();
    let rates = "{physics_hz: 360, control_hz: 180, frame_hz: 30}";
    let [tool, _] = hand(&mut arm(&scene("so101", rates, None)));
    let block = tool + Vector3::new(0.06, 0.0, 0.0);
    std::fs::write(folder.path().join("t.yaml"), scene("so101", rates, Some(block))).unwrap();
    let mut wheel = Wheel::start(folder.path(), "t.yaml");
    wheel.drive(&["forward"], 5.0);
    let says = |wheel: &Wheel, what: &str| {
        let words = wheel.status["limited_by"].as_array().unwrap();
        words.iter().any(|word| word.as_str().unwrap().contains(what))
    };
    wheel.until(&[], "the lamp", |w| says(w, "blocked at") && says(w, "move back"));
    let pressed = wheel.hand_m;
    wheel.drive(&["backward"], 0.6);
    assert!(pressed[0] - wheel.hand_m[0] > 0.004, "{pressed:?} {:?}", wheel.hand_m);
    wheel.until(&[], "the lamp to go out", |w| !says(w, "blocked at"));
    wheel.order("stop");
    wheel.end();
}
