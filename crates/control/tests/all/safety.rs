//! What must hold for every arm, whatever is asked.

use std::collections::BTreeMap;

use citrange_control::{CartesianController, ControllerMemory, ControllerSettings, Velocity};
use citrange_core::rng::Rng;

use crate::common::{Drive, chain, direction, hz, linear, ready};

const ROBOTS: [&str; 4] = ["so101", "panda", "ur5e", "ur5"];

/// A wish far beyond what keys give.
fn any_wish(rng: &mut Rng) -> Velocity {
    let mut number = |most: f64| rng.uniform(-most, most);
    Velocity {
        linear_m_s: [number(0.3), number(0.3), number(0.3)],
        roll_rad_s: number(3.0),
        tilt_rad_s: [number(1.0), number(1.0)],
        gripper_per_s: number(3.0),
    }
}

fn any_joints(robot: &str, rng: &mut Rng) -> Vec<f64> {
    let chain = chain(robot);
    let range = |j: &citrange_robot::ChainJoint| j.range.unwrap_or([-3.0, 3.0]);
    chain.joints.iter().map(range).map(|[low, high]| rng.uniform(low, high)).collect()
}

/// Floor, ranges and speeds hold over long random drives from random poses, the poses below the
/// floor included: from there no step leads down.
#[test]
fn floor_ranges_and_speeds_hold() {
    for robot in ROBOTS {
        let mut rng = Rng::new(21);
        let (mut touched, mut moved) = (0, 0.0);
        for round in 0..16 {
            let start = if round % 4 == 3 { any_joints(robot, &mut rng) } else { ready(robot) };
            let mut drive = Drive::new(robot, "default", None, &start);
            // Close under the hand, so that it matters.
            let floor = drive.lowest() - rng.uniform(-0.02, 0.05);
            drive = Drive::new(robot, "default", Some(floor), &start);
            let limit = floor + drive.controller.settings().floor_clearance_m;
            let mut wish = any_wish(&mut rng);
            for tick in 0..300 {
                if tick % 40 == 0 {
                    wish = any_wish(&mut rng);
                    wish.linear_m_s[2] -= 0.1;
                }
                let (before, low) = (drive.targets.clone(), drive.lowest());
                let status = drive.step(&wish);
                touched += usize::from(status.floor);
                let after = drive.lowest();
                assert!(after >= limit.min(low - 1e-4), "{robot} {round}/{tick}: {low} -> {after}");
                for (j, joint) in drive.controller.chain().joints.iter().enumerate() {
                    let at = drive.memory.desired()[j];
                    let [from, to] = joint.range.unwrap();
                    let off = (at - drive.targets[j]).abs() + 1e-9;
                    assert!((from - off..=to + off).contains(&at), "{robot}: {}", joint.name);
                    assert!((from..=to).contains(&drive.targets[j]), "{robot}: {}", joint.name);
                    let speed = (drive.targets[j] - before[j]).abs() * f64::from(hz(robot));
                    let most = joint.max_speed.unwrap() * (1.0 + 1e-9);
                    assert!(speed <= most, "{robot}: {} at {speed}", joint.name);
                    moved += speed;
                }
            }
        }
        assert!(touched > 40 && moved > 40.0, "{robot}: {touched} {moved}: nothing was tested");
    }
}

/// The same with every other choice of the settings.
#[test]
fn the_floor_holds_with_all_settings() {
    for text in [
        "state: measured\n",
        "gravity: none\nfeed_forward: false\n",
        "gravity: seed\nstate: measured\nfeed_forward: false\n",
        "soft_start_s: 0\nsmooth_dq: 1\nsmooth_dq_wrist: 1\nvel_limit_rad_s: 4\n",
    ] {
        let settings = ControllerSettings::parse(text, "test.yaml").unwrap();
        for robot in ROBOTS {
            let mut rng = Rng::new(22);
            for _ in 0..10 {
                let floor = Drive::new(robot, "default", None, &ready(robot)).lowest() - 0.02;
                let controller =
                    CartesianController::new(chain(robot), &settings, hz(robot), Some(floor))
                        .unwrap();
                let mut drive = Drive::of(controller, &ready(robot));
                for tick in 0..200 {
                    let mut wish = any_wish(&mut rng);
                    wish.linear_m_s[2] -= 0.2;
                    // Servos that are somewhere near.
                    let near: Vec<f64> = drive
                        .memory
                        .desired()
                        .iter()
                        .map(|q| q + rng.uniform(-0.02, 0.02))
                        .collect();
                    drive.step_with(&near, &wish, tick % 50 > 40);
                    let low = drive.lowest();
                    assert!(low >= floor + 0.00295, "{robot}, {text}: {low} below {floor} + 3 mm");
                }
            }
        }
    }
}

#[test]
fn limits_have_words() {
    let drive = Drive::new("so101", "default", None, &ready("so101"));
    let status = citrange_control::ControllerStatus {
        floor: true,
        joints_at_limit: 0b1000,
        ..Default::default()
    };
    assert_eq!(status.words(drive.controller.chain()), ["floor", "end of wrist_flex"]);
    assert!(status.is_limited() && !citrange_control::ControllerStatus::default().is_limited());
}

/// A gripper that closes at the floor still closes: the arm makes room. Its joints go together.
#[test]
fn the_gripper_moves_as_asked() {
    for (robot, rate) in [("so101", 0.7), ("panda", 0.02)] {
        for way in [1.0, -1.0] {
            let mut drive = Drive::new(robot, "default", None, &ready(robot));
            let floor = drive.lowest() - 0.004;
            drive = Drive::new(robot, "default", Some(floor), &ready(robot));
            let chain = drive.controller.chain().clone();
            let wanted = Velocity { gripper_per_s: way * rate, ..Velocity::ZERO };
            let mut fastest = 0.0_f64;
            for _ in 0..4 * hz(robot) {
                let before = drive.targets.clone();
                drive.step(&wanted);
                let speeds: Vec<f64> = (chain.arm_joints..chain.joints.len())
                    .map(|j| {
                        let [closed, open] = chain.joints[j].gripper.unwrap();
                        let moved = drive.targets[j] - before[j];
                        moved * f64::from(hz(robot)) * (open - closed).signum()
                    })
                    .collect();
                assert!(speeds.iter().all(|s| (s - speeds[0]).abs() < 1e-9), "{robot}: {speeds:?}");
                fastest = fastest.max(way * speeds[0]);
            }
            assert!((fastest - rate).abs() < 1e-6, "{robot}: {fastest}");
            let last = chain.joints.last().unwrap();
            let end = last.gripper.unwrap()[usize::from(way > 0.0)];
            assert!((drive.targets[chain.joints.len() - 1] - end).abs() < 1e-6, "{robot} {way}");
        }
    }
}

/// The first targets continue those in force, also where the arm is somewhere else; then they
/// come to the arm within the soft start.
#[test]
fn taking_over_is_no_jump() {
    for robot in ROBOTS {
        let mut rng = Rng::new(8);
        for _ in 0..200 {
            let targets = ready(robot);
            let off: Vec<f64> = targets.iter().map(|t| t + rng.uniform(-0.01, 0.01)).collect();
            let mut drive = Drive::new(robot, "default", None, &targets);
            let in_range: Vec<f64> = targets
                .iter()
                .zip(&drive.controller.chain().joints)
                .map(|(t, j)| j.clamp(*t))
                .collect();
            drive.memory = drive.controller.begin(&in_range, &off);
            drive.step_with(&off, &Velocity::ZERO, false);
            for (j, (sent, was)) in drive.targets.iter().zip(&in_range).enumerate() {
                assert!((sent - was).abs() < 2e-4, "{robot} {j}: {was} -> {sent}");
            }
            let mut last = drive.targets.clone();
            for _ in 0..hz(robot) {
                drive.step_with(&off, &Velocity::ZERO, false);
                for (j, (sent, was)) in drive.targets.iter().zip(&last).enumerate() {
                    let speed = (sent - was).abs() * f64::from(hz(robot));
                    assert!(speed < 0.6, "{robot} {j}: {speed}");
                }
                last.copy_from_slice(&drive.targets);
            }
        }
    }
}

#[test]
fn the_brake_stops_as_fast_as_limits_allow() {
    for robot in ROBOTS {
        let mut rng = Rng::new(9);
        for _ in 0..50 {
            let mut drive = Drive::new(robot, "default", None, &ready(robot));
            let wanted = Velocity {
                roll_rad_s: 1.0,
                gripper_per_s: 0.01,
                ..linear(direction(&mut rng) * 0.04)
            };
            drive.steps(20, &wanted);
            let speed = |drive: &mut Drive, brake: bool| {
                let before = drive.memory.desired().to_vec();
                drive.step_with(&before, &wanted, brake);
                let steps = drive.memory.desired().iter().zip(&before);
                steps.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) * f64::from(hz(robot))
            };
            let before = speed(&mut drive, false);
            // All jerk: 2 sqrt(v / J), for the slowest joint, and a tick to begin and to end.
            let joints = drive.controller.limiter().limits().iter();
            let secs = joints
                .map(|l| 2.0 * (2.0 * before / l.jerk).sqrt() + 2.0 * before / l.acceleration);
            let ticks = secs.fold(0.0, f64::max) * f64::from(hz(robot)) + 3.0;
            let mut after = before;
            (0..ticks as usize).for_each(|_| after = speed(&mut drive, true));
            assert_eq!(after, 0.0, "{robot}: {before} -> {after} rad/s");
        }
    }
}

/// An arm that is held fast: targets stop short, and turn back at once.
#[test]
fn targets_wait_for_the_arm() {
    for robot in ROBOTS {
        let start = ready(robot);
        let mut drive = Drive::new(robot, "default", None, &start);
        let v = nalgebra::Vector3::new(0.0, 0.04, 0.02);
        let mut waited = false;
        for _ in 0..20 * hz(robot) {
            waited |= drive.step_with(&start, &linear(v), false).blocked != 0;
        }
        let off = |drive: &Drive| {
            let arm = drive.controller.chain().arm_joints;
            let gaps = drive.memory.desired()[..arm].iter().zip(&start).map(|(d, s)| (d - s).abs());
            gaps.fold(0.0, f64::max)
        };
        let ahead = off(&drive);
        // With the way to brake on top.
        assert!(waited && ahead <= 0.25 && ahead > 0.002, "{robot}: {ahead}");
        // The hand comes back at once, faster than it is asked to as long as nothing follows.
        let is_tool = drive.controller.chain().arm_joints > 5;
        let pushed = drive.at(is_tool);
        for _ in 0..hz(robot).div_ceil(3) {
            drive.step_with(&start, &linear(-v), false);
        }
        let back = (pushed - drive.at(is_tool)).dot(&v) / v.norm();
        assert!(back > 0.003, "{robot}: back by {back} m");
    }
}

/// The control point stays inside; along the border it moves freely.
#[test]
fn the_workspace_has_soft_walls() {
    let text = "workspace: {radius_m: [0.12, 0.20], z_m: [0.17, 0.20]}\nfloor_guard: false\n";
    let settings = ControllerSettings::parse(text, "test.yaml").unwrap();
    let controller = CartesianController::new(chain("so101"), &settings, 180, None).unwrap();
    let start = [0.0, -0.3, 0.3, std::f64::consts::FRAC_PI_2, 0.0, 0.0];
    let mut rng = Rng::new(10);
    let mut hit = 0;
    for _ in 0..50 {
        let mut drive = Drive::of(controller.clone(), &start);
        let pan = nalgebra::Vector3::new(0.0388353, 0.0, 0.0);
        let radius = |drive: &Drive| (drive.at(false) - pan).xy().norm();
        let (r, z) = (radius(&drive), drive.at(false).z);
        let v = direction(&mut rng) * 0.1;
        for _ in 0..400 {
            hit += usize::from(drive.step(&linear(v)).workspace);
            let (r_now, z_now) = (radius(&drive), drive.at(false).z);
            assert!(r_now < r.max(0.20) + 1e-3 && r_now > r.min(0.12) - 1e-3, "{r} -> {r_now}");
            assert!(z_now < z.max(0.20) + 1e-3 && z_now > z.min(0.17) - 1e-3, "{z} -> {z_now}");
        }
    }
    assert!(hit > 1000, "{hit}");
    // Pressed against the outer wall and along it: the speed along it is the one asked for.
    let mut drive = Drive::of(controller, &start);
    drive.steps(800, &linear([0.04, 0.0, 0.0].into()));
    let before = drive.at(false);
    let wanted = linear([0.02, 0.02, 0.0].into());
    drive.steps(30, &wanted);
    let moved = (drive.at(false) - before) * 180.0 / 30.0;
    assert!((moved.y - 0.02).abs() < 0.003 && moved.x < 0.002, "{moved}");
}

#[test]
fn bad_numbers_brake_and_are_forgotten() {
    for robot in ROBOTS {
        let mut drive = Drive::new(robot, "default", Some(-1.0), &ready(robot));
        let good = linear([0.02, 0.02, 0.0].into());
        drive.steps(20, &good);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            for field in 0..7 {
                let mut numbers: Vec<f64> = good.numbers().collect();
                numbers[field] = bad;
                let wanted = Velocity {
                    linear_m_s: [numbers[0], numbers[1], numbers[2]],
                    roll_rad_s: numbers[3],
                    tilt_rad_s: [numbers[4], numbers[5]],
                    gripper_per_s: numbers[6],
                };
                assert!(drive.step(&wanted).refused);
            }
            for joint in 0..drive.targets.len() {
                let mut measured = drive.memory.desired().to_vec();
                measured[joint] = bad;
                let before = drive.targets.clone();
                assert!(drive.step_with(&measured, &good, false).refused);
                let steps = drive.targets.iter().zip(&before).map(|(a, b)| (a - b).abs());
                assert!(steps.fold(0.0, f64::max) < 0.03, "{robot}");
            }
            let mut fields = BTreeMap::new();
            drive.memory.save(&mut fields);
            assert!(fields.values().flatten().all(|n| n.is_finite()));
        }
        // Standing still by now; and lengths that are wrong change nothing.
        let (memory, targets) = (drive.memory.clone(), drive.targets.clone());
        assert!(drive.step_with(&[0.0], &good, false).refused);
        assert_eq!((&drive.memory, &drive.targets), (&memory, &targets));
        assert!(!drive.step(&good).refused);
    }
}

/// Same memory, same input, same bits: with another scratch, and through a snapshot's fields.
#[test]
fn steps_repeat_bit_for_bit() {
    for robot in ROBOTS {
        for profile in ["default", "seed"] {
            if profile == "seed" && robot != "so101" {
                continue;
            }
            let mut rng = Rng::new(12);
            let mut drive = Drive::new(robot, profile, Some(-0.5), &ready(robot));
            let mut wish = any_wish(&mut rng);
            for tick in 0..300 {
                if tick % 20 == 0 {
                    wish = any_wish(&mut rng);
                }
                let mut fields = BTreeMap::new();
                drive.memory.save(&mut fields);
                assert!(fields.keys().all(|k| k.starts_with("pilot/law/")));
                let mut other = Drive {
                    controller: drive.controller.clone(),
                    memory: ControllerMemory::load(&fields, drive.targets.len()).unwrap(),
                    scratch: drive.controller.scratch(),
                    targets: vec![0.0; drive.targets.len()],
                };
                assert_eq!(drive.step(&wish), other.step(&wish));
                let bits = |d: &Drive| d.targets.iter().map(|t| t.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&drive), bits(&other));
                let mut again = BTreeMap::new();
                let mut ours = BTreeMap::new();
                other.memory.save(&mut again);
                drive.memory.save(&mut ours);
                let bits = |f: &BTreeMap<String, Vec<f64>>| -> Vec<u64> {
                    f.values().flatten().map(|n| n.to_bits()).collect()
                };
                assert_eq!(bits(&again), bits(&ours));
            }
        }
    }
}

#[test]
fn memories_of_others_are_refused() {
    let drive = Drive::new("so101", "default", None, &ready("so101"));
    let mut fields = BTreeMap::new();
    drive.memory.save(&mut fields);
    assert!(ControllerMemory::load(&fields, 7).unwrap_err().to_string().contains("7 are needed"));
    for name in fields.keys() {
        let mut without = fields.clone();
        without.remove(name);
        let error = ControllerMemory::load(&without, 6).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("missing"), "{error}");
        let mut nan = fields.clone();
        nan.get_mut(name).unwrap()[0] = f64::NAN;
        assert!(ControllerMemory::load(&nan, 6).unwrap_err().to_string().contains("not finite"));
    }
}
