//! Proofs of what a policy did: the planner's collider says whether a whole motion is free, and a
//! second checker, which shares nothing with it, looks for itself.

use citrange_plan::{Collider, ColliderSettings, Config, Motions as _, Obstacles};

use super::episodes::Episode;
use crate::env::{Aabb, ReachArm};
use crate::error::PolicyError;

/// The second checker looks every so many radians of the fastest joint.
const LOOK_EVERY_RAD: f64 = 0.01;

/// What single precision may be off.
const SLACK_M: f64 = 1e-4;

/// Proves motions of one arm.
#[derive(Clone, Debug)]
pub(crate) struct Prover {
    collider: Collider,
    joints: usize,
}

impl Prover {
    pub(crate) fn new(arm: &ReachArm) -> Result<Self, PolicyError> {
        let (planned, settings) = (arm.planned(), ColliderSettings::default());
        let collider = Collider::new(planned, &Obstacles::default(), &settings)?;
        Ok(Self { collider, joints: planned.joints() })
    }

    /// Other surroundings.
    pub(crate) fn set(&mut self, episode: &Episode) -> Result<(), PolicyError> {
        Ok(self.collider.set_obstacles(&episode.obstacles())?)
    }

    /// Whether a way (all joints, step by step) touches nothing anywhere.
    pub(crate) fn is_free(&mut self, path: &[Vec<f64>]) -> bool {
        let joints = self.joints;
        let at = |posture: &Vec<f64>| Config::of(&posture[..joints.min(posture.len())]);
        path.windows(2).all(|edge| self.collider.is_motion_free(&at(&edge[0]), &at(&edge[1])))
    }
}

/// The second checker: postures close together, poses of links in double precision one by one,
/// distances of spheres to boxes in closed form, links against links by their shapes. Says how
/// many postures of a way touch something.
///
/// # Errors
/// When the way is of another robot.
pub fn touching_postures(
    arm: &ReachArm,
    boxes: &[Aabb],
    path: &[Vec<f64>],
) -> Result<usize, PolicyError> {
    let robot = arm.robot();
    let mut touching = 0;
    for edge in path.windows(2) {
        let most = edge[0].iter().zip(&edge[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let parts = (most / LOOK_EVERY_RAD).ceil().max(1.0) as usize;
        for part in 0..parts {
            let share = part as f64 / parts as f64;
            let posture: Vec<f64> =
                edge[0].iter().zip(&edge[1]).map(|(a, b)| a + (b - a) * share).collect();
            touching += usize::from(is_touching(arm, boxes, &posture)?);
        }
    }
    if let Some(last) = path.last() {
        touching += usize::from(is_touching(arm, boxes, last)? || robot.joints().is_empty());
    }
    Ok(touching)
}

fn is_touching(arm: &ReachArm, boxes: &[Aabb], posture: &[f64]) -> Result<bool, PolicyError> {
    let robot = arm.robot();
    let poses = robot.forward_kinematics(posture)?;
    for sphere in robot.spheres().iter().filter(|sphere| sphere.link > 0) {
        let centre = poses[usize::from(sphere.link)] * nalgebra::Point3::from(sphere.centre_m);
        // The first moving link turns above the floor that it is mounted on.
        let first = usize::from(sphere.link == 1);
        let reach_m = sphere.radius_m - SLACK_M;
        if boxes.iter().skip(first).any(|of| of.distance_m(centre.coords.into()) < reach_m) {
            return Ok(true);
        }
    }
    Ok(!robot.touching_pairs(posture)?.is_empty())
}
