//! How a thing is let go: with which yaw of the jaws, so that the arm reaches and the jaws meet
//! nothing else; and what is around.

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;

use crate::body::Body;
use crate::grasp_plan::all_yaws;
use crate::hull::Body3;
use crate::moves::HandTarget;

/// Room beyond this does not make a place better.
const ROOMY_M: f64 = 0.015;
/// What bodies that meet count as a gap.
const MEETS_M: f64 = -0.001;
/// What a radian of yaw costs in metres of room: the arm's own way is the smoothest.
const YAW_COST_M: f64 = 0.004;

/// Something that the hand must not touch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Obstacle {
    pub(crate) name: String,
    pub(crate) at_m: [f64; 2],
    /// Radius of a circle that holds it, seen from above.
    pub(crate) radius_m: f64,
    pub(crate) top_m: f64,
    pub(crate) bodies: Vec<Body3>,
}

/// What is around.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Around {
    pub(crate) obstacles: Vec<Obstacle>,
}

impl Around {
    /// Smallest gap between the parts of a hand and what is around, at most `ROOMY_M`, and what that
    /// is; below 0 where they meet.
    pub(crate) fn room(&self, hand: &[Body3]) -> (f64, String) {
        let mut room = (ROOMY_M, String::new());
        let own: Vec<_> = hand.iter().map(|part| (part, part.ball())).collect();
        for thing in &self.obstacles {
            for part in &thing.bodies {
                let (middle, radius) = part.ball();
                for (own, (own_middle, own_radius)) in &own {
                    // Balls around them tell most pairs apart.
                    if (middle - own_middle).norm() - radius - own_radius > room.0 {
                        continue;
                    }
                    // Bodies that meet are told apart by no figure: that counts as a millimetre.
                    let gap = own.gap(part).gap_m;
                    let gap = if gap <= 0.0 { MEETS_M } else { gap };
                    if gap < room.0 {
                        room = (gap, thing.name.clone());
                    }
                }
            }
        }
        room
    }

    /// Top of the highest thing around; that of the floor where there is none.
    pub(crate) fn top_m(&self, floor_z_m: f64) -> f64 {
        self.obstacles.iter().map(|o| o.top_m).fold(floor_z_m, f64::max)
    }
}

/// A place where a thing is to be let go.
pub(crate) struct ReleaseQuery<'a> {
    /// The hand's place.
    pub(crate) at_m: Vector3<f64>,
    /// Height that the hand comes from.
    pub(crate) over_z_m: f64,
    /// The yaw in the world that the jaws must have, up to quarter turns, where it matters.
    pub(crate) yaw_rad: Option<f64>,
    pub(crate) around: &'a Around,
    /// Joints that the arm comes from.
    pub(crate) near: &'a [f64],
    /// Openings between which the jaws let go.
    pub(crate) openings: [f64; 2],
}

/// The best yaw to let a thing go, and the room it leaves; `None` when it is not reached.
pub(crate) fn release_yaw(body: &mut Body, query: &ReleaseQuery<'_>) -> Option<(f64, f64)> {
    let at_m = query.at_m;
    let over_m = Vector3::new(at_m.x, at_m.y, query.over_z_m.max(at_m.z));
    let yaws = match query.yaw_rad {
        None => all_yaws(),
        Some(yaw) => {
            let quarter = |k: i32| body.relative_yaw(&at_m, yaw + f64::from(k) * FRAC_PI_2);
            let mut yaws: Vec<f64> = (0..4).map(quarter).collect();
            yaws.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            yaws
        }
    };
    let mut best: Option<(f64, f64, f64)> = None;
    for relative_yaw_rad in yaws {
        // Later ones cost more, and room beyond enough counts nothing.
        let most = ROOMY_M - YAW_COST_M * relative_yaw_rad.abs();
        if best.is_some_and(|(score, ..)| score >= most) {
            break;
        }
        let low = HandTarget { at_m, relative_yaw_rad };
        let over = HandTarget { at_m: over_m, relative_yaw_rad };
        let Some(mut joints) = body.reach(&low, query.near) else { continue };
        if body.reach(&over, &joints).is_none() {
            continue;
        }
        let mut room = f64::INFINITY;
        for jaws in query.openings {
            body.set_jaws(jaws, &mut joints);
            body.hand(&joints);
            let bodies = body.hand_shape.bodies(body.ik.kinematics());
            let hand: Vec<Body3> = bodies.into_iter().map(|(_, body)| body).collect();
            room = room.min(query.around.room(&hand).0);
        }
        let score = room.min(ROOMY_M) - YAW_COST_M * relative_yaw_rad.abs();
        if best.is_none_or(|(other, ..)| score > other) {
            best = Some((score, relative_yaw_rad, room));
        }
    }
    best.map(|(_, relative_yaw_rad, room)| (relative_yaw_rad, room))
}
