//! What is seen and what may be done: names, units, limits.

use citrange_core::rig::JointSpec;
use citrange_core::{Observation, RigSpec, RobotDescription};

use crate::settings::Actions;

/// One number of an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name, such as `robot0.shoulder_pan.pos`.
    pub name: String,
    /// Unit: `rad`, `m`, `rad/s`, `m/s`, or `1` for numbers without.
    pub unit: &'static str,
}

/// One number of an action.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The joint.
    pub name: String,
    /// Unit: `rad`, `m`, or `1` for parts.
    pub unit: &'static str,
    /// Least.
    pub low: f64,
    /// Most.
    pub high: f64,
}

const AXES: [&str; 3] = ["x", "y", "z"];
const QUAT: [&str; 4] = ["w", "x", "y", "z"];
/// A joint without limits may be sent this far, rad or m.
const UNLIMITED: f64 = 1e3;
/// Largest speed of a joint whose description does not say one, rad/s or m/s.
const USUAL_SPEED: f64 = 1.0;

/// Entries of the observation of an environment.
pub(crate) fn entries(spec: &RigSpec, knows_tool: bool, targets: &[String]) -> Vec<Entry> {
    let mut all = Vec::new();
    let mut add = |name: String, unit| all.push(Entry { name, unit });
    let joint = |joint: &JointSpec| if joint.is_slide { ["m", "m/s"] } else { ["rad", "rad/s"] };
    for (end, of) in [("pos", 0), ("vel", 1), ("target", 0)] {
        for spec in &spec.joints {
            add(format!("{}.{end}", spec.name), joint(spec)[of]);
        }
    }
    if knows_tool {
        AXES.iter().for_each(|axis| add(format!("tool.{axis}"), "m"));
    }
    for object in &spec.objects {
        let name = &object.name;
        AXES.iter().for_each(|axis| add(format!("{name}.pos.{axis}"), "m"));
        QUAT.iter().for_each(|part| add(format!("{name}.quat.{part}"), "1"));
        AXES.iter().for_each(|axis| add(format!("{name}.vel.{axis}"), "m/s"));
    }
    if !targets.is_empty() {
        AXES.iter().for_each(|axis| add(format!("goal.{axis}"), "m"));
    }
    for name in targets {
        add(format!("{name}.placed"), "1");
    }
    all
}

/// Writes the numbers of an observation, in the order of [`entries`].
pub(crate) fn write(
    seen: &Observation,
    joint_targets: &[f64],
    tool_m: Option<[f64; 3]>,
    job: Option<([f64; 3], &[bool])>,
    out: &mut [f32],
) {
    let joints = seen.joint_pos.iter().chain(&seen.joint_vel).chain(joint_targets).copied();
    let things = seen.objects.iter().flat_map(|thing| {
        let numbers = thing.as_ref().map(|thing| {
            let [x, y, z] = thing.pose.pos_m;
            let [w, a, b, c] = thing.pose.quat_wxyz;
            let [u, v, s] = thing.lin_vel_m_s;
            [x, y, z, w, a, b, c, u, v, s]
        });
        numbers.unwrap_or([f64::NAN; 10])
    });
    let (goal, placed) = job.unzip();
    let placed = placed.into_iter().flatten().map(|placed| f64::from(u8::from(*placed)));
    let numbers =
        joints.chain(tool_m.into_iter().flatten()).chain(things).chain(goal.into_iter().flatten());
    for (place, number) in out.iter_mut().zip(numbers.chain(placed)) {
        *place = number as f32;
    }
}

/// Limits of an action, and how far each joint may be sent in a step of so many seconds.
pub(crate) fn limits(
    spec: &RigSpec,
    descriptions: &[Option<&RobotDescription>],
    actions: Actions,
    step_s: f64,
) -> (Vec<Limit>, Vec<f64>) {
    let mut limits = Vec::new();
    let mut most = Vec::new();
    for (arm, description) in spec.arms().iter().zip(descriptions) {
        let of_arm = spec.of_joints(&arm.joints);
        for (joint, plain) in spec.joints[arm.joints.clone()].iter().zip(&of_arm.joints) {
            let own = description.and_then(|d| d.joint_limits.get(&plain.name));
            let speed = own.and_then(|own| match joint.is_slide {
                true => own.velocity_m_s,
                false => own.velocity_rad_s,
            });
            most.push(speed.unwrap_or(USUAL_SPEED) * step_s);
            let (unit, [low, high]) = match actions {
                Actions::Deltas => ("1", [-1.0, 1.0]),
                Actions::Targets => {
                    let range = joint.range.unwrap_or([-UNLIMITED, UNLIMITED]);
                    (if joint.is_slide { "m" } else { "rad" }, range)
                }
            };
            limits.push(Limit { name: joint.name.clone(), unit, low, high });
        }
    }
    (limits, most)
}
