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

/// A search for the best yaw to let a thing go, as far as it has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct YawSearch {
    /// How many yaws were looked at.
    pub(crate) next: usize,
    /// Score, yaw against the arm's direction, and room of the best.
    pub(crate) best: Option<[f64; 3]>,
}

impl YawSearch {
    /// Looks at more yaws, as long as `left` lasts. `true` when no other can be better.
    pub(crate) fn advance(
        &mut self,
        body: &mut Body,
        query: &ReleaseQuery<'_>,
        left: &mut usize,
    ) -> bool {
        let yaws = query.yaws(body);
        loop {
            // Later ones cost more, and room beyond enough counts nothing.
            let score = self.best.map_or(f64::NEG_INFINITY, |[score, ..]| score);
            let Some(yaw) = yaws.get(self.next).filter(|yaw| score < most(**yaw)) else {
                return true;
            };
            if *left == 0 {
                return false;
            }
            *left -= 1;
            self.next += 1;
            if let Some(room) = query.room(body, *yaw) {
                let other = most(*yaw) - (ROOMY_M - room.min(ROOMY_M));
                if other > score {
                    self.best = Some([other, *yaw, room]);
                }
            }
        }
    }
}

/// The best score that a yaw may have.
fn most(relative_yaw_rad: f64) -> f64 {
    ROOMY_M - YAW_COST_M * relative_yaw_rad.abs()
}

impl ReleaseQuery<'_> {
    fn yaws(&self, body: &Body) -> Vec<f64> {
        let Some(yaw) = self.yaw_rad else { return all_yaws() };
        let quarter = |k: i32| body.relative_yaw(&self.at_m, yaw + f64::from(k) * FRAC_PI_2);
        let mut yaws: Vec<f64> = (0..4).map(quarter).collect();
        yaws.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        yaws
    }

    /// The room that is left with a yaw; `None` when it is not reached.
    fn room(&self, body: &mut Body, relative_yaw_rad: f64) -> Option<f64> {
        let at_m = self.at_m;
        let over_m = Vector3::new(at_m.x, at_m.y, self.over_z_m.max(at_m.z));
        let mut joints = body.reach(&HandTarget { at_m, relative_yaw_rad }, self.near)?;
        body.reach(&HandTarget { at_m: over_m, relative_yaw_rad }, &joints)?;
        let mut room = f64::INFINITY;
        for jaws in self.openings {
            body.set_jaws(jaws, &mut joints);
            body.hand(&joints);
            let bodies = body.hand_shape.bodies(body.ik.kinematics());
            let hand: Vec<Body3> = bodies.into_iter().map(|(_, body)| body).collect();
            room = room.min(self.around.room(&hand).0);
        }
        Some(room)
    }
}
