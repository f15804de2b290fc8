//! How a thing is taken and let go: with which yaw of the jaws, so that the arm reaches and the jaws
//! meet nothing else.

use std::f64::consts::{FRAC_PI_2, PI};

use nalgebra::Vector3;

use crate::body::Body;
use crate::moves::HandTarget;
use crate::settings::{AutopilotSettings, GraspYaw};

/// Room beyond this does not make a grasp better.
const ROOMY_M: f64 = 0.015;
/// What a radian of yaw costs in metres of room: the arm's own way is the smoothest.
const YAW_COST_M: f64 = 0.004;
/// What it costs to do again what failed before.
const AGAIN_COST_M: f64 = 0.02;
/// Yaws nearer than this are the same.
const SAME_YAW_RAD: f64 = 0.6;
/// Yaws tried for round things, to both sides.
const YAWS: i32 = 8;
/// Points of the hand this far above a thing do not meet it.
const OVER_M: f64 = 0.004;

/// Something that the jaws must not touch: a cylinder that stands on the floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Obstacle {
    pub(crate) at_m: [f64; 2],
    pub(crate) radius_m: f64,
    pub(crate) top_m: f64,
}

/// The rim of a plate: points of the hand below its top must stay inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rim {
    pub(crate) center_m: [f64; 2],
    pub(crate) radius_m: f64,
    pub(crate) top_m: f64,
}

/// What is around.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Around {
    pub(crate) obstacles: Vec<Obstacle>,
    pub(crate) rim: Option<Rim>,
}

impl Around {
    /// Smallest gap between the hand at these joints and what is around; negative inside.
    fn room(&self, body: &mut Body, joints: &[f64]) -> f64 {
        body.hand(joints);
        let mut room = f64::INFINITY;
        for (point, radius) in body.ik.kinematics().guards() {
            let low = point.z - radius - OVER_M;
            for thing in self.obstacles.iter().filter(|thing| low < thing.top_m) {
                let away = (point.x - thing.at_m[0]).hypot(point.y - thing.at_m[1]);
                room = room.min(away - radius - thing.radius_m);
            }
            if let Some(rim) = self.rim.filter(|rim| low < rim.top_m) {
                let away = (point.x - rim.center_m[0]).hypot(point.y - rim.center_m[1]);
                room = room.min(rim.radius_m - away - radius);
            }
        }
        room
    }
}

/// Yaws of the jaws, against the arm's direction, with which a thing at `at_m` can be taken, the arm's own way first.
fn yaws(body: &Body, how: GraspYaw, at_m: &Vector3<f64>, yaw_rad: f64) -> Vec<f64> {
    match how {
        GraspYaw::Free => {
            let step = PI / f64::from(YAWS);
            let both = (1..YAWS).flat_map(|k| [f64::from(k) * step, -f64::from(k) * step]);
            std::iter::once(0.0).chain(both).collect()
        }
        GraspYaw::Faces => (0..4)
            .map(|quarter| body.relative_yaw(at_m, yaw_rad + f64::from(quarter) * FRAC_PI_2))
            .collect(),
    }
}

/// A thing and how it is to be taken.
pub(crate) struct GraspQuery<'a> {
    /// Its middle.
    pub(crate) at_m: Vector3<f64>,
    /// Its yaw in the world.
    pub(crate) yaw_rad: f64,
    /// What is around it.
    pub(crate) around: &'a Around,
    /// Yaws that failed before.
    pub(crate) failed: &'a [f64],
}

/// The best yaw to take a thing: reachable over it, at it and lifted, clear of the floor, with
/// most room around. `None` when the arm does not reach it at all.
pub(crate) fn grasp_yaw(
    body: &mut Body,
    settings: &AutopilotSettings,
    take: &GraspQuery<'_>,
) -> Option<f64> {
    let heights = [settings.approach_height, settings.lift_height].map(|h| body.height(h));
    let home = body.home.clone();
    let mut best: Option<(f64, f64)> = None;
    for relative_yaw_rad in yaws(body, settings.grasp_yaw, &take.at_m, take.yaw_rad) {
        let low = beside(body, settings, &take.at_m, relative_yaw_rad);
        let Some(mut joints) = body.reach(&low, &home) else { continue };
        let reaches = heights.iter().all(|z| {
            let high = HandTarget { at_m: Vector3::new(low.at_m.x, low.at_m.y, *z), ..low };
            body.reach(&high, &joints).is_some()
        });
        body.set_jaws(settings.gripper_open, &mut joints);
        body.hand(&joints);
        let lowest = body.ik.kinematics().lowest_m();
        if !reaches || lowest < body.floor_z_m + settings.floor_clearance_m {
            continue;
        }
        let room = take.around.room(body, &joints);
        let again = take.failed.iter().any(|old| (old - relative_yaw_rad).abs() < SAME_YAW_RAD);
        let score = room.min(ROOMY_M)
            - YAW_COST_M * relative_yaw_rad.abs()
            - if again { AGAIN_COST_M } else { 0.0 };
        if best.is_none_or(|(other, _)| score > other) {
            best = Some((score, relative_yaw_rad));
        }
    }
    best.map(|(_, relative_yaw_rad)| relative_yaw_rad)
}

/// Where the hand goes to close its jaws around a thing: a little off on the side of the jaw that
/// does not move.
pub(crate) fn beside(
    body: &Body,
    settings: &AutopilotSettings,
    at_m: &Vector3<f64>,
    relative_yaw_rad: f64,
) -> HandTarget {
    let at_m = at_m + Vector3::z() * settings.grasp_offset_m;
    // The yaw is against the arm's direction, which the small step aside hardly changes.
    let (sin, cos) = body.yaw(&HandTarget { at_m, relative_yaw_rad }).sin_cos();
    let aside = Vector3::new(cos, sin, 0.0) * settings.grasp_clearance_m;
    HandTarget { at_m: at_m - aside, relative_yaw_rad }
}

/// The best yaw to let a thing go at a place of the hand; `None` when it is not reached. `yaw_rad`
/// is the thing's yaw in the world where it matters.
pub(crate) fn release_yaw(
    body: &mut Body,
    settings: &AutopilotSettings,
    at_m: &Vector3<f64>,
    yaw_rad: Option<f64>,
    around: &Around,
    near: &[f64],
) -> Option<f64> {
    let over_m = Vector3::new(at_m.x, at_m.y, at_m.z.max(body.height(settings.transport_height)));
    let how = if yaw_rad.is_some() { settings.grasp_yaw } else { GraspYaw::Free };
    let mut best: Option<(f64, f64)> = None;
    for relative_yaw_rad in yaws(body, how, at_m, yaw_rad.unwrap_or(0.0)) {
        let low = HandTarget { at_m: *at_m, relative_yaw_rad };
        let over = HandTarget { at_m: over_m, relative_yaw_rad };
        let Some(mut joints) = body.reach(&low, near) else { continue };
        if body.reach(&over, &joints).is_none() {
            continue;
        }
        let mut room = f64::INFINITY;
        for jaws in [settings.gripper_closed, settings.gripper_release] {
            body.set_jaws(jaws, &mut joints);
            room = room.min(around.room(body, &joints));
        }
        let score = room.min(ROOMY_M) - YAW_COST_M * relative_yaw_rad.abs();
        if best.is_none_or(|(other, _)| score > other) {
            best = Some((score, relative_yaw_rad));
        }
    }
    best.map(|(_, relative_yaw_rad)| relative_yaw_rad)
}
