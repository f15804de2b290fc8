//! The gains of position servos, and servos for joints that have none.

use std::f64::consts::TAU;

use citrange_core::RobotDescription;
use citrange_core::robot::{PerJoint, Servo};
use citrange_core::scene::RobotPlacement;
use mujoco_rs::error::MjEditError;
use mujoco_rs::mujoco_c::{mjtLimited, mjtTrn};
use mujoco_rs::prelude::*;
use mujoco_rs::wrappers::mj_editing::{MjsActuator, PositionConfig};

use crate::layout::joints_of;

/// The gain set that makes servos where the model has none.
const DEFAULT_SET: &str = "default";
/// Error at which a made servo gives all that its joint can, rad or m.
const FULL_EFFORT_AT: f64 = 0.03;
/// The softest and the stiffest that a made servo may be, as the frequency of its joint alone.
const SOFTEST_HZ: f64 = 4.0;
const STIFFEST_HZ: f64 = 25.0;
/// The frequency where nothing says how strong the joint is.
const USUAL_HZ: f64 = 10.0;

/// Gains of a servo that is made for a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MadeGains {
    pub(crate) kp: f64,
    pub(crate) kv: f64,
}

/// Gains for a joint of some inertia: stiff enough to hold what it can carry, critically damped,
/// and not stiffer than a usual time step can follow.
pub(crate) fn made_gains(inertia: f64, effort: Option<f64>) -> MadeGains {
    let inertia = inertia.max(1e-5);
    let at = |hz: f64| inertia * (TAU * hz) * (TAU * hz);
    let kp = match effort {
        Some(effort) => (effort / FULL_EFFORT_AT).clamp(at(SOFTEST_HZ), at(STIFFEST_HZ)),
        None => at(USUAL_HZ),
    };
    MadeGains { kp, kv: 2.0 * (kp * inertia).sqrt() }
}

/// Adds a position servo to a joint, with the joint's name and range.
pub(crate) fn add_servo(
    spec: &mut MjSpec,
    joint: &str,
    gains: MadeGains,
    force: Option<f64>,
    range: Option<[f64; 2]>,
) -> Result<(), String> {
    let actuator = spec.add_actuator();
    let mut name = joint.to_owned();
    while actuator.set_name(&name).is_err() {
        name.push_str("_servo");
    }
    actuator.set_trntype(mjtTrn::mjTRN_JOINT);
    actuator.set_target(joint);
    become_servo(actuator, gains, force, range)
        .map_err(|e| format!("joint {joint} gets no servo: {e}"))
}

/// An actuator becomes a position servo, whatever it was.
fn become_servo(
    actuator: &mut MjsActuator,
    gains: MadeGains,
    force: Option<f64>,
    range: Option<[f64; 2]>,
) -> Result<(), MjEditError> {
    let config = PositionConfig { kp: gains.kp, kv: Some(gains.kv), ..PositionConfig::default() };
    actuator.set_to_position(config)?;
    *actuator.gear_mut() = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    if let Some(force) = force {
        *actuator.forcerange_mut() = [-force, force];
        actuator.set_forcelimited(mjtLimited::mjLIMITED_TRUE);
    }
    match range {
        Some(range) => {
            *actuator.ctrlrange_mut() = range;
            actuator.set_ctrllimited(mjtLimited::mjLIMITED_TRUE);
        }
        None => actuator.set_ctrllimited(mjtLimited::mjLIMITED_FALSE),
    }
    Ok(())
}

/// Replaces the servo gains by the set that the scene asks for.
pub(crate) fn set_gains(
    spec: &mut MjSpec,
    name: &str,
    placement: &RobotPlacement,
    description: Option<&RobotDescription>,
) -> Result<(), String> {
    let set = match (&placement.servo, description) {
        (None, _) => None,
        (Some(servo), Some(d)) => Some(d.servos.get(servo).ok_or_else(|| {
            let known =
                citrange_core::names::suggestion(servo, d.servos.keys().map(String::as_str));
            format!("robots.{name}.servo: unknown gain set \"{servo}\", {known}")
        })?),
        (Some(_), None) => {
            return Err(format!("robots.{name}.servo: {} has no gain sets", placement.model));
        }
    };
    let Some(description) = description else {
        return match &placement.kp {
            None => Ok(()),
            Some(_) => Err(format!(
                "robots.{name}.kp: {} has no robot.yaml that names its joints; set the gains in \
                 the model file",
                placement.model
            )),
        };
    };
    for (index, joint) in description.joints().enumerate() {
        let kp = placement.kp.as_ref().or(set.map(|s| &s.kp));
        let at = |value: Option<&PerJoint>| value.and_then(|v| v.at(index));
        let (kp, kv, force) = (at(kp), at(set.map(|s| &s.kv)), at(set.map(|s| &s.force)));
        // Stiffness 0: as the model has it.
        let (kp, kv) = if kp == Some(0.0) { (None, None) } else { (kp, kv) };
        let force = force.filter(|force| *force > 0.0);
        if kp.is_none() && kv.is_none() && force.is_none() {
            continue;
        }
        let full = format!("{name}/{joint}");
        let servo = servo_of(spec, &full);
        let Some(actuator) = servo.and_then(|servo| spec.actuator_mut(&servo)) else {
            // What a linkage or another joint takes along has none.
            if is_gripper(description, joint) {
                continue;
            }
            return Err(format!("robots.{name}: joint {joint} has no servo of its own"));
        };
        if let Some(kp) = kp {
            actuator.gainprm_mut()[0] = kp;
            actuator.biasprm_mut()[1] = -kp;
        }
        if let Some(kv) = kv {
            actuator.biasprm_mut()[2] = -kv;
        }
        if let Some(force) = force {
            *actuator.forcerange_mut() = [-force, force];
        }
    }
    Ok(())
}

/// Makes servos for the joints of a description that the model gives motors or nothing, with the
/// gains of its set `default`. What drove them before goes. Answers which joints got one.
/// `compiled` is the model alone.
pub(crate) fn make_servos(
    spec: &mut MjSpec,
    compiled: &MjModel,
    description: &RobotDescription,
) -> Result<Vec<String>, String> {
    let Some(set) = description.servos.get(DEFAULT_SET) else { return Ok(Vec::new()) };
    let (_, known) = joints_of(compiled, &(1..compiled.ffi().nbody as usize));
    let mut made = Vec::new();
    for (index, name) in description.joints().enumerate() {
        let Some(joint) = known.iter().find(|joint| joint.name == name) else { continue };
        let gains = |of: &Servo| {
            let (kp, kv) = (of.kp.at(index)?, of.kv.at(index)?);
            (kp > 0.0).then_some(MadeGains { kp, kv })
        };
        let (Some(gains), None, None) = (gains(set), joint.drive, joint.follows) else { continue };
        let force = set.force.at(index).filter(|f| *f > 0.0);
        let before = joint.motor.or(joint.velocity_servo);
        let before = before.and_then(|index| {
            compiled.id_to_name(MjtObjBase::mjOBJ_ACTUATOR, index).map(str::to_owned)
        });
        match before.and_then(|before| spec.actuator_mut(&before)) {
            None => add_servo(spec, name, gains, force, joint.range)?,
            Some(servo) => become_servo(servo, gains, force, joint.range)
                .map_err(|e| format!("joint {name} gets no servo: {e}"))?,
        }
        made.push(name.to_owned());
    }
    Ok(made)
}

/// Gives the gains of a set to the servos that pull several joints through a tendon: what a joint
/// of a description says is meant at that joint. `compiled` is the model alone.
pub(crate) fn set_shared_gains(
    spec: &mut MjSpec,
    compiled: &MjModel,
    description: &RobotDescription,
    set: &Servo,
) {
    let (_, known) = joints_of(compiled, &(1..compiled.ffi().nbody as usize));
    for (index, name) in description.joints().enumerate() {
        let drive = known.iter().find(|joint| joint.name == name).and_then(|joint| joint.drive);
        let Some(drive) = drive else { continue };
        if compiled.actuator_trntype()[drive.actuator] != mjtTrn::mjTRN_TENDON {
            continue;
        }
        let actuator = compiled.id_to_name(MjtObjBase::mjOBJ_ACTUATOR, drive.actuator);
        let Some(actuator) = actuator.and_then(|name| spec.actuator_mut(name)) else { continue };
        let stiffness = drive.stiffness(compiled);
        let length = drive.length_per_unit;
        if let Some(kp) = set.kp.at(index).filter(|kp| *kp > 0.0 && stiffness > 0.0) {
            // The command that holds a position stays what it was.
            actuator.gainprm_mut()[0] *= kp / stiffness;
            actuator.biasprm_mut()[0] *= kp / stiffness;
            actuator.biasprm_mut()[1] *= kp / stiffness;
            if let Some(kv) = set.kv.at(index) {
                actuator.biasprm_mut()[2] = -kv / (length * length);
            }
        }
        if let Some(force) = set.force.at(index).filter(|force| *force > 0.0) {
            *actuator.forcerange_mut() = [-force / length.abs(), force / length.abs()];
        }
    }
}

/// The actuator of a joint: of its name, or the one that acts on it.
fn servo_of(spec: &MjSpec, joint: &str) -> Option<String> {
    if spec.actuator(joint).is_some() {
        return Some(joint.to_owned());
    }
    let on_joint = |a: &&MjsActuator| a.trntype() == mjtTrn::mjTRN_JOINT && a.target() == joint;
    spec.actuator_iter().find(on_joint).map(|a| a.name().to_owned())
}

fn is_gripper(description: &RobotDescription, joint: &str) -> bool {
    description.gripper.as_ref().is_some_and(|g| g.joints.iter().any(|j| j == joint))
}
