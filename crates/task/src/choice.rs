//! How a thing is taken and let go: which way the jaws are turned, so that the arm reaches and the
//! jaws meet nothing else.

use std::f64::consts::{FRAC_PI_2, PI};

use nalgebra::Vector3;

use crate::body::Body;
use crate::moves::Place;
use crate::settings::{Settings, Turn};

/// Room beyond this does not make a grasp better.
const ROOMY_M: f64 = 0.015;
/// What a radian of turn costs in metres of room: the arm's own way is the smoothest.
const TURN_COST_M: f64 = 0.004;
/// What it costs to do again what failed before.
const AGAIN_COST_M: f64 = 0.02;
/// Turns nearer than this are the same.
const SAME_TURN_RAD: f64 = 0.6;
/// Turns tried for round things, to both sides.
const TURNS: i32 = 8;
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

/// Turns of the jaws in which a thing at `at_m` can be taken, the arm's own way first.
fn turns(body: &Body, how: Turn, at_m: &Vector3<f64>, yaw_rad: f64) -> Vec<f64> {
    match how {
        Turn::Free => {
            let step = PI / f64::from(TURNS);
            let both = (1..TURNS).flat_map(|k| [f64::from(k) * step, -f64::from(k) * step]);
            std::iter::once(0.0).chain(both).collect()
        }
        Turn::Faces => (0..4)
            .map(|quarter| body.turn_for(at_m, yaw_rad + f64::from(quarter) * FRAC_PI_2))
            .collect(),
    }
}

/// A thing and how it is to be taken.
pub(crate) struct Take<'a> {
    /// Its middle.
    pub(crate) at_m: Vector3<f64>,
    /// Its turn about the vertical.
    pub(crate) yaw_rad: f64,
    /// What is around it.
    pub(crate) around: &'a Around,
    /// Turns that failed before.
    pub(crate) failed: &'a [f64],
}

/// The best turn to take a thing: reachable over it, at it and lifted, clear of the floor, with
/// most room around. `None` when the arm does not reach it at all.
pub(crate) fn grasp_turn(body: &mut Body, settings: &Settings, take: &Take<'_>) -> Option<f64> {
    let heights = [settings.approach_height, settings.lift_height].map(|h| body.height(h));
    let home = body.home.clone();
    let mut best: Option<(f64, f64)> = None;
    for turn in turns(body, settings.turn, &take.at_m, take.yaw_rad) {
        let low = beside(body, settings, &take.at_m, turn);
        let Some(mut joints) = body.reach(&low, &home) else { continue };
        let reaches = heights.iter().all(|z| {
            let high = Place { at_m: Vector3::new(low.at_m.x, low.at_m.y, *z), ..low };
            body.reach(&high, &joints).is_some()
        });
        body.set_jaws(settings.gripper_open, &mut joints);
        body.hand(&joints);
        let lowest = body.ik.kinematics().lowest_m();
        if !reaches || lowest < body.floor_z_m + settings.floor_clearance_m {
            continue;
        }
        let room = take.around.room(body, &joints);
        let again = take.failed.iter().any(|old| (old - turn).abs() < SAME_TURN_RAD);
        let score =
            room.min(ROOMY_M) - TURN_COST_M * turn.abs() - if again { AGAIN_COST_M } else { 0.0 };
        if best.is_none_or(|(other, _)| score > other) {
            best = Some((score, turn));
        }
    }
    best.map(|(_, turn)| turn)
}

/// Where the hand goes to close its jaws around a thing: a little off on the side of the jaw that
/// does not move.
pub(crate) fn beside(
    body: &Body,
    settings: &Settings,
    at_m: &Vector3<f64>,
    turn_rad: f64,
) -> Place {
    let at_m = at_m + Vector3::z() * settings.grasp_offset_m;
    // The turn is against the arm's direction, which the small step aside hardly changes.
    let (sin, cos) = body.yaw(&Place { at_m, turn_rad }).sin_cos();
    let aside = Vector3::new(cos, sin, 0.0) * settings.grasp_clearance_m;
    Place { at_m: at_m - aside, turn_rad }
}

/// The best turn to let a thing go at a place of the hand; `None` when it is not reached. `yaws`
/// are the turns in the world that are possible, or none when any is.
pub(crate) fn release_turn(
    body: &mut Body,
    settings: &Settings,
    at_m: &Vector3<f64>,
    yaw_rad: Option<f64>,
    around: &Around,
    near: &[f64],
) -> Option<f64> {
    let over_m = Vector3::new(at_m.x, at_m.y, at_m.z.max(body.height(settings.transport_height)));
    let how = if yaw_rad.is_some() { settings.turn } else { Turn::Free };
    let mut best: Option<(f64, f64)> = None;
    for turn_rad in turns(body, how, at_m, yaw_rad.unwrap_or(0.0)) {
        let low = Place { at_m: *at_m, turn_rad };
        let over = Place { at_m: over_m, turn_rad };
        let Some(mut joints) = body.reach(&low, near) else { continue };
        if body.reach(&over, &joints).is_none() {
            continue;
        }
        let mut room = f64::INFINITY;
        for jaws in [settings.gripper_closed, settings.gripper_release] {
            body.set_jaws(jaws, &mut joints);
            room = room.min(around.room(body, &joints));
        }
        let score = room.min(ROOMY_M) - TURN_COST_M * turn_rad.abs();
        if best.is_none_or(|(other, _)| score > other) {
            best = Some((score, turn_rad));
        }
    }
    best.map(|(_, turn)| turn)
}
