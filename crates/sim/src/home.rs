//! Where robots stand at the start of an episode, and the commands that hold them there.

use std::collections::BTreeMap;

use citrange_core::scene::RobotPlacement;
use citrange_core::{Pose, RobotDescription, Scene};
use mujoco_rs::prelude::*;
use nalgebra::UnitQuaternion;

use crate::layout::{Layout, Root, Tree, name_of};

/// The name that a keyframe at rest usually has.
const HOME: &str = "home";
/// Rounds in which joints that follow others find their places.
const FOLLOW_ROUNDS: usize = 4;

/// Start positions of all joints and the commands that hold them.
pub(crate) fn home(
    model: &MjModel,
    layout: &Layout,
    scene: &Scene,
    robots: &BTreeMap<String, RobotDescription>,
) -> Result<(Vec<f64>, Vec<f64>), String> {
    let mut qpos = model.qpos0().to_vec();
    let mut ctrl = vec![0.0; model.ffi().nu as usize];
    for (name, placement) in &scene.robots {
        let tree = &layout.robots[name];
        if robots.get(name).is_none_or(|d| d.joints().count() < tree.joints.len()) {
            let key = first_key(model, name, placement, robots.get(name))?;
            let pose = Pose::from_yaw(placement.pos_m, placement.yaw_deg.to_radians());
            from_model(model, tree, key, &pose, &mut qpos, &mut ctrl);
        }
        let mut wanted: BTreeMap<&str, f64> = BTreeMap::new();
        if let Some(description) = robots.get(name) {
            let pose = placement.pose.as_ref().unwrap_or(&description.home);
            let key = find_key(model, name, pose);
            match (description.pose(pose), key) {
                (Ok(values), _) => {
                    wanted.extend(description.joints().zip(values.iter().copied()));
                }
                (Err(_), Some(_)) if description.joints().count() < tree.joints.len() => {}
                (Err(_), Some(key)) => {
                    let at = Pose::from_yaw(placement.pos_m, placement.yaw_deg.to_radians());
                    from_model(model, tree, Some(key), &at, &mut qpos, &mut ctrl);
                }
                (Err(reason), None) => return Err(format!("robots.{name}.pose: {reason}")),
            }
        }
        for (joint, value) in &placement.joints {
            if !tree.joints.iter().any(|j| j.name == *joint) {
                let known = tree.joints.iter().map(|j| j.name.as_str());
                let known = citrange_core::names::suggestion(joint, known);
                return Err(format!("robots.{name}.joints: unknown joint \"{joint}\", {known}"));
            }
            wanted.insert(joint, *value);
        }
        for joint in &tree.joints {
            if let Some(value) = wanted.get(joint.name.as_str()) {
                qpos[joint.qpos] = *value;
            }
        }
        follow(tree, &mut qpos, |name| wanted.contains_key(name));
        for joint in &tree.joints {
            if let Some(drive) = joint.drive {
                ctrl[drive.actuator] = drive.command(qpos[joint.qpos]);
            }
        }
    }
    Ok((qpos, ctrl))
}

/// Names of a robot's keyframes, without its prefix.
pub(crate) fn key_names(model: &MjModel, robot: &str) -> Vec<(usize, String)> {
    let prefix = format!("{robot}/");
    (0..model.ffi().nkey as usize)
        .filter_map(|key| {
            let name = name_of(model, MjtObjBase::mjOBJ_KEY, key, "key");
            Some((key, name.strip_prefix(&prefix)?.to_owned()))
        })
        .collect()
}

fn find_key(model: &MjModel, robot: &str, name: &str) -> Option<usize> {
    key_names(model, robot).into_iter().find(|(_, known)| known == name).map(|(key, _)| key)
}

/// The keyframe that a robot starts in: the one asked for, `home`, or the first.
fn first_key(
    model: &MjModel,
    robot: &str,
    placement: &RobotPlacement,
    description: Option<&RobotDescription>,
) -> Result<Option<usize>, String> {
    let keys = key_names(model, robot);
    let named = |wanted: &str| keys.iter().find(|(_, name)| name == wanted).map(|(key, _)| *key);
    match (&placement.pose, description) {
        (Some(pose), None) => named(pose).map(Some).ok_or_else(|| {
            let model = &placement.model;
            if keys.is_empty() {
                return format!("robots.{robot}.pose: {model} has no named poses, use joints");
            }
            let known = keys.iter().map(|(_, name)| name.as_str());
            let hint = citrange_core::names::suggestion(pose, known);
            format!("robots.{robot}.pose: {model} has no keyframe \"{pose}\", {hint}")
        }),
        (pose, description) => {
            let named_pose = pose.as_deref().or(description.map(|d| d.home.as_str()));
            let first = || keys.first().map(|(key, _)| *key);
            Ok(named_pose.and_then(named).or_else(|| named(HOME)).or_else(first))
        }
    }
}

/// Positions and commands of a keyframe; without one the nearest to the model's zero that is
/// within every joint's ends.
fn from_model(
    model: &MjModel,
    tree: &Tree,
    key: Option<usize>,
    placed: &Pose,
    qpos: &mut [f64],
    ctrl: &mut [f64],
) {
    let nq = model.ffi().nq as usize;
    let keyed = key.and_then(|key| model.key_qpos().get(key * nq..(key + 1) * nq));
    for joint in &tree.joints {
        let at = keyed.map_or(qpos[joint.qpos], |keyed| keyed[joint.qpos]);
        qpos[joint.qpos] = match joint.range {
            Some([low, high]) if low <= high => at.clamp(low, high),
            _ => at,
        };
    }
    if keyed.is_none() {
        follow(tree, qpos, |_| false);
    }
    let Some(keyed) = keyed else { return };
    if let Root::Free { qpos: at, .. } = tree.root {
        // Keyframes say where the root is in the model's own world.
        let world = placed.isometry();
        let quat = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(
            keyed[at + 3],
            keyed[at + 4],
            keyed[at + 5],
            keyed[at + 6],
        ));
        let own = nalgebra::Isometry3::from_parts(
            nalgebra::Translation3::new(keyed[at], keyed[at + 1], keyed[at + 2]),
            quat,
        );
        let pose: Pose = (world * own).into();
        qpos[at..at + 3].copy_from_slice(&pose.pos_m);
        qpos[at + 3..at + 7].copy_from_slice(&pose.quat_wxyz);
    }
    let (nu, owner) = (model.ffi().nu as usize, tree);
    let Some(commands) = key.and_then(|key| model.key_ctrl().get(key * nu..(key + 1) * nu)) else {
        return;
    };
    for actuator in owner.actuators.iter().copied() {
        ctrl[actuator] = commands[actuator];
    }
}

/// Joints that go with others stand where those take them.
pub(crate) fn place_followers(tree: &Tree, qpos: &mut [f64]) {
    follow(tree, qpos, |_| false);
}

/// Joints that go with others stand where those take them, unless somebody said where.
fn follow(tree: &Tree, qpos: &mut [f64], is_said: impl Fn(&str) -> bool) {
    for _ in 0..FOLLOW_ROUNDS {
        for joint in tree.joints.iter().filter(|joint| !is_said(&joint.name)) {
            if let Some(follow) = joint.follows {
                qpos[joint.qpos] = follow.position(qpos[tree.joints[follow.leader].qpos]);
            }
        }
    }
}
