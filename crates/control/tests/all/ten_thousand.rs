//! The SO-101 in ten thousand random poses, anywhere in the ranges of its joints: what holds in
//! every one of them.

use citrange_control::{CartesianController, ControllerSettings, Velocity};
use citrange_core::rng::Rng;

use crate::common::{Drive, chain};

const STATES: usize = 10_000;
const HZ: f64 = 180.0;

fn random_pose(rng: &mut Rng) -> Vec<f64> {
    let chain = chain("so101");
    let ranges = chain.joints.iter().filter_map(|j| j.range);
    ranges.map(|[low, high]| rng.uniform(low, high)).collect()
}

fn controller(floor: Option<f64>) -> CartesianController {
    CartesianController::new(
        chain("so101"),
        &ControllerSettings::load("default").unwrap(),
        180,
        floor,
    )
    .unwrap()
}

#[test]
fn roll_does_not_move_the_wrist_and_the_gripper_goes_as_asked() {
    let controller = controller(None);
    let mut rng = Rng::new(41);
    for state in 0..STATES {
        let start = random_pose(&mut rng);
        let mut drive = Drive::of(controller.clone(), &start);
        let (roll_rad_s, gripper_per_s) = (rng.uniform(-1.2, 1.2), rng.uniform(-0.7, 0.7));
        let wanted = Velocity { roll_rad_s, gripper_per_s, ..Velocity::ZERO };
        let before = drive.at(false);
        drive.steps(60, &wanted);
        let (was, end) = (drive.targets[5], controller.chain().joints[5].range.unwrap());
        drive.step(&wanted);
        let speed = (drive.targets[5] - was) * HZ;
        let room = if gripper_per_s > 0.0 { end[1] - was } else { was - end[0] };
        assert!(
            (speed - gripper_per_s).abs() < 1e-6 || room < 0.2,
            "{state}: gripper at {speed}, not {gripper_per_s}"
        );
        let moved = (drive.at(false) - before).norm();
        // A tilted tool is put upright meanwhile, about the wrist.
        assert!(moved < 1e-3, "{state}: roll moved the wrist by {moved} m");
    }
}

#[test]
fn there_is_no_jump_at_the_start() {
    let controller = controller(None);
    let mut rng = Rng::new(42);
    for state in 0..STATES {
        let measured = random_pose(&mut rng);
        let joints = &controller.chain().joints;
        let in_force: Vec<f64> = measured
            .iter()
            .zip(joints)
            .map(|(q, joint)| joint.clamp(q + rng.uniform(-0.05, 0.05)))
            .collect();
        let mut drive = Drive::of(controller.clone(), &measured);
        drive.memory = controller.begin(&in_force, &measured);
        drive.step_with(&measured, &Velocity::ZERO, false);
        for (j, (sent, was)) in drive.targets.iter().zip(&in_force).enumerate() {
            // The tilt joint may begin to correct, softly; that changes what gravity asks of others.
            let most = if j == 3 { 0.01 } else { 5e-5 };
            assert!((sent - was).abs() < most, "{state}: {} jumps {was} -> {sent}", joints[j].name);
        }
    }
}

#[test]
fn nothing_leaves_its_range_and_the_floor_is_never_crossed() {
    let mut rng = Rng::new(43);
    let mut near_floor = 0;
    for state in 0..STATES {
        let start = random_pose(&mut rng);
        let lowest = Drive::of(controller(None), &start).lowest();
        let floor = lowest - rng.uniform(-0.01, 0.03);
        let controller = controller(Some(floor));
        let limit = floor + controller.settings().floor_clearance_m;
        let mut drive = Drive::of(controller, &start);
        let mut number = |most: f64| rng.uniform(-most, most);
        let wanted = Velocity {
            linear_m_s: [number(0.3), number(0.3), number(0.3) - 0.1],
            roll_rad_s: number(3.0),
            tilt_rad_s: [0.0; 2],
            gripper_per_s: number(3.0),
        };
        for tick in 0..12 {
            let before = drive.lowest();
            let status = drive.step(&wanted);
            near_floor += usize::from(status.floor);
            let after = drive.lowest();
            assert!(
                after >= limit.min(before - 1e-4),
                "{state}/{tick}: {before} -> {after}, {limit}"
            );
            for (joint, sent) in drive.controller.chain().joints.iter().zip(&drive.targets) {
                let [low, high] = joint.range.unwrap();
                assert!((low..=high).contains(sent), "{state}/{tick}: {} at {sent}", joint.name);
            }
        }
    }
    assert!(near_floor > STATES, "the floor was near in {near_floor} ticks only");
}
