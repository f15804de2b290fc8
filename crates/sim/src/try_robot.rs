//! What a robot can do here, tried: its State goes round, its hand is driven, its gripper closes.

use std::sync::Arc;

use citrange_control::{ControllerSettings, NamedAction, Velocity};
use citrange_core::RobotDescription;
use serde::Serialize;

use crate::arm::Arm;
use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::read::StateQuery;
use crate::world::{Threads, World};

/// How long the hand is driven each way, in seconds, and how fast.
const DRIVE_S: f64 = 0.6;
const SPEED_M_S: f64 = 0.05;
/// How far it must have come of the way it was driven.
const LEAST_SHARE: f64 = 0.25;
/// How long the gripper has from end to end.
const GRIPPER_S: f64 = 2.5;
/// How far of its way it must come.
const LEAST_OPENING: f64 = 0.6;
/// What physics steps may pass before a State is read.
const SOME_STEPS: u32 = 37;

/// Answers: `Ok`, or why not.
#[derive(Clone, Debug, Serialize)]
pub struct RobotTrial {
    /// A State that was read can be set, and reads the same.
    pub state: Result<(), String>,
    /// Speeds of the hand are carried out.
    pub drive: Result<(), String>,
    /// The gripper closes and opens; `None` where there is none.
    pub gripper: Option<Result<(), String>>,
}

/// Tries the first robot of a scene.
///
/// # Errors
/// When the scene has no robot or cannot be simulated at all.
pub fn try_robot(scene: &Arc<CompiledScene>) -> Result<RobotTrial, SimError> {
    let state = state_goes_round(scene)?.map_err(text);
    let settings = ControllerSettings::load("default")?;
    let arm = Arm::connect(Arc::clone(scene), &settings, Some(&[]));
    let mut arm = match arm {
        Ok(arm) => arm,
        Err(error) => {
            let described = scene.robots.values().next();
            let has_gripper = described.is_some_and(|d| d.gripper.is_some());
            let gripper = has_gripper.then(|| Err("the arm cannot be driven".to_owned()));
            return Ok(RobotTrial { state, drive: Err(text(error)), gripper });
        }
    };
    let drive = drives(&mut arm).map_err(text);
    arm.reset(0, 0)?;
    let gripper = closes(scene, &mut arm).unwrap_or_else(|error| Some(Err(text(error))));
    Ok(RobotTrial { state, drive: drive.and_then(|inner| inner), gripper })
}

fn text(error: SimError) -> String {
    error.to_string()
}

/// Reads a State in motion, sets it into another environment, and reads that.
fn state_goes_round(scene: &Arc<CompiledScene>) -> Result<Result<(), SimError>, SimError> {
    let mut world = World::new(Arc::clone(scene), 2, Threads::Exactly(1))?;
    if let Err(error) = world.step(SOME_STEPS) {
        return Ok(Err(error));
    }
    let query = StateQuery::default();
    let read = world.get_state(Some(&[0]), &query)?;
    world.reset_env(1, 0, 1)?;
    if let Err(error) = world.set_state(&read, Some(&[1])) {
        return Ok(Err(error));
    }
    let again = world.get_state(Some(&[1]), &query)?;
    let differs = read.robots.iter().zip(&again.robots).find(|((_, a), (_, b))| {
        let same = |a: &Option<ndarray::Array2<f64>>, b: &Option<ndarray::Array2<f64>>| match (a, b)
        {
            (Some(a), Some(b)) => a
                .iter()
                .zip(b)
                .all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())),
            (None, None) => true,
            _ => false,
        };
        !(same(&a.joint_pos, &b.joint_pos)
            && same(&a.joint_vel, &b.joint_vel)
            && same(&a.root_state, &b.root_state)
            && same(&a.joint_pos_target, &b.joint_pos_target))
    });
    Ok(match differs {
        None => Ok(()),
        Some(((name, _), _)) => Err(SimError::State {
            env: 1,
            field: format!("robots.{name}"),
            reason: "it reads otherwise than it was set".into(),
        }),
    })
}

/// Drives the hand up and down and to the sides; one of the ways must be carried out.
fn drives(arm: &mut Arm) -> Result<Result<(), String>, SimError> {
    let frame_hz = f64::from(arm.rig().world().scene().scene.rates.frame_hz);
    let frames = (DRIVE_S * frame_hz).round().max(1.0) as usize;
    let wanted_m = SPEED_M_S * DRIVE_S;
    let mut best = 0.0_f64;
    for way in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]] {
        arm.reset(0, 0)?;
        let hand = |arm: &mut Arm| -> Result<[f64; 3], SimError> {
            let seen = arm.observe()?.values;
            Ok(["x", "y", "z"]
                .map(|axis| seen.get(&format!("ee.pos_{axis}")).copied().unwrap_or(f64::NAN)))
        };
        // First it comes to rest where its weight lets it.
        for _ in 0..frames {
            arm.send(&NamedAction::Velocity(Velocity::ZERO))?;
        }
        let before = hand(arm)?;
        let linear_m_s = way.map(|n| n * SPEED_M_S);
        let action = NamedAction::Velocity(Velocity { linear_m_s, ..Velocity::ZERO });
        for _ in 0..frames {
            arm.send(&action)?;
        }
        let after = hand(arm)?;
        let went: f64 = (0..3).map(|i| (after[i] - before[i]) * way[i]).sum();
        best = best.max(went);
        if best > LEAST_SHARE * wanted_m {
            return Ok(Ok(()));
        }
    }
    let scene = arm.rig().world().scene();
    let stuck = stuck(scene, arm.rig().robot(), |d| d.arm_joints.clone());
    let words = if stuck.is_empty() { arm.status().words(arm.controller().chain()) } else { stuck };
    let why = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
    Ok(Err(format!(
        "driven {:.0} mm, its hand went {:.0} mm at most{why}",
        wanted_m * 1e3,
        best * 1e3
    )))
}

/// Sends the gripper to its ends.
fn closes(scene: &CompiledScene, arm: &mut Arm) -> Result<Option<Result<(), String>>, SimError> {
    let robot = arm.rig().robot().to_owned();
    let Some(gripper) = scene.robots.get(&robot).and_then(|d| d.gripper.clone()) else {
        return Ok(None);
    };
    let names = arm.joints().to_vec();
    let place = |joint: &String| names.iter().position(|name| name == joint);
    let frame_hz = f64::from(scene.scene.rates.frame_hz);
    let frames = (GRIPPER_S * frame_hz).round().max(1.0) as usize;
    let mut reached = Vec::new();
    for end in [&gripper.open, &gripper.closed, &gripper.open] {
        let seen = arm.observe()?.values;
        let mut targets: Vec<f64> = names
            .iter()
            .map(|name| seen.get(&format!("{name}.pos")).copied().unwrap_or(0.0))
            .collect();
        for (joint, at) in gripper.joints.iter().zip(end) {
            if let Some(place) = place(joint) {
                targets[place] = *at;
            }
        }
        for _ in 0..frames {
            arm.send(&NamedAction::Positions(targets.clone()))?;
        }
        let seen = arm.observe()?.values;
        // The joint that moves most tells.
        let widest = (0..gripper.joints.len()).max_by(|a, b| {
            let way = |j: usize| (gripper.open[j] - gripper.closed[j]).abs();
            way(*a).total_cmp(&way(*b))
        });
        let Some(joint) = widest else { return Ok(None) };
        let at = seen.get(&format!("{}.pos", gripper.joints[joint])).copied().unwrap_or(f64::NAN);
        let (open, closed) = (gripper.open[joint], gripper.closed[joint]);
        reached.push((at - closed) / (open - closed));
    }
    let [first, shut, last] = reached[..] else { return Ok(None) };
    let moved = (first - shut).min(last - shut);
    if moved > LEAST_OPENING {
        return Ok(Some(Ok(())));
    }
    let stuck = stuck(scene, &robot, |d| d.gripper.iter().flat_map(|g| g.joints.clone()).collect());
    let why = if stuck.is_empty() { String::new() } else { format!(" ({})", stuck.join(", ")) };
    Ok(Some(Err(format!(
        "told to open, close, open it came to {:.0}, {:.0}, {:.0} % open{why}",
        first * 100.0,
        shut * 100.0,
        last * 100.0
    ))))
}

/// Joints of a robot that friction holds, and how.
fn stuck(
    scene: &CompiledScene,
    robot: &str,
    of: impl Fn(&RobotDescription) -> Vec<String>,
) -> Vec<String> {
    let (Some(described), Ok(tree)) = (scene.robots.get(robot), scene.layout.robot(robot)) else {
        return Vec::new();
    };
    let asked = of(described);
    let joints = tree.joints.iter().filter(|joint| asked.contains(&joint.name));
    joints.filter_map(|joint| joint.why_stuck(&scene.model)).collect()
}
