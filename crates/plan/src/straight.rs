//! The tool along a straight line: joints for every place of it, a smooth curve through them, and
//! the proof that the tool stays on the line, turned as it should be, and touches nothing.
//!
//! | to change | look in |
//! |---|---|
//! | settings and answers | here |
//! | joints from place to place | `straight/follow.rs` |
//! | how far the tool is off the line, for all places in between | `straight/proof.rs` |

mod follow;
mod proof;

use citrange_robot::Orientation;
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use serde::Serialize;

use crate::arm::{JointLimit, PlannedArm};
use crate::collide::Collider;
use crate::cone::{ConeCheck, Coned};
use crate::error::PlanError;
use crate::goal::PlanGoal;
use crate::outcome::Collision;
use crate::timing::{Spline, TimingSettings, Trajectory};
use crate::tool::{Tool, rotation_between};
use follow::Follower;
use proof::LineProof;

/// Arms with fewer joints cannot keep an orientation on a line.
const FULL_JOINTS: usize = 6;
/// How often way-points are put closer where a proof fails for want of them.
const REFINEMENTS: usize = 4;
/// Lines shorter than this, without a turn, are none.
const SHORTEST_M: f64 = 1e-6;

/// How straight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StraightSettings {
    /// How far the tool's point may be off the line; proved for all of it.
    pub deviation_m: f64,
    /// How far the tool may be turned from what it should be; proved where it is kept exactly.
    pub turn_rad: f64,
}

impl Default for StraightSettings {
    fn default() -> Self {
        Self { deviation_m: 1e-3, turn_rad: 1_f64.to_radians() }
    }
}

/// A line of the tool, in the world.
#[derive(Clone, Debug)]
pub(crate) struct ToolLine {
    from_m: Vector3<f64>,
    to_m: Vector3<f64>,
    from_rot: Matrix3<f64>,
    /// Axis times angle from the first orientation to the last, in the world.
    turn: Vector3<f64>,
    /// Whether the orientation is kept exactly; otherwise as nearly as the arm can.
    is_exact: bool,
}

impl ToolLine {
    /// The place and orientation after a fraction of it.
    fn at(&self, fraction: f64) -> (Vector3<f64>, Matrix3<f64>) {
        let turned = Rotation3::from_scaled_axis(self.turn * fraction);
        (self.from_m.lerp(&self.to_m, fraction), turned.matrix() * self.from_rot)
    }

    fn length_m(&self) -> f64 {
        (self.to_m - self.from_m).norm()
    }
}

/// A straight motion that was proved.
#[derive(Clone, Debug, PartialEq)]
pub struct StraightMotion {
    /// Joints along the line, the start first.
    pub waypoints: Vec<Vec<f64>>,
    /// The motion, from rest to rest.
    pub trajectory: Trajectory,
    /// The tool's point is never further from the line: a bound for all of it, not a sample.
    pub off_m: f64,
    /// The tool is never turned further from what was asked; of arms that cannot keep an
    /// orientation how far it is at the way-points.
    pub turned_rad: f64,
}

/// Why a line cannot be followed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StraightFault {
    /// What stops it.
    pub why: StraightStop,
    /// Fraction of the line that is possible.
    pub fraction: f64,
    /// Where the tool is there, in the world.
    pub at_m: [f64; 3],
}

/// What stops a straight motion.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StraightStop {
    /// A joint is at the end of its range.
    JointLimit {
        /// Its name.
        joint: String,
        /// Where it is.
        position: f64,
        /// Where it may be.
        range: [f64; 2],
    },
    /// The arm loses a direction there (it is stretched out, or axes line up), or joints would
    /// have to jump.
    Singularity,
    /// The line leaves what the arm reaches.
    OutOfReach,
    /// Something is in the way.
    Collision {
        /// What, and how deep; none where it is near and could not be proved free.
        contact: Option<Collision>,
    },
    /// The tool would leave the cone that it must keep.
    OffCone {
        /// How far its direction would be off, rad.
        off_rad: f64,
    },
    /// The tool could not be proved to stay on the line.
    OffLine {
        /// How far it may be off.
        off_m: f64,
    },
}

/// What a straight motion is made with.
pub(crate) struct Straight<'a> {
    pub(crate) arm: &'a PlannedArm,
    pub(crate) settings: StraightSettings,
    pub(crate) timing: TimingSettings,
}

impl Straight<'_> {
    /// From the arm's joints straight to a place; with its orientation, or with that of the start
    /// where the place says none.
    ///
    /// # Errors
    /// When the goal is no one place, or numbers make no sense. That the line cannot be followed
    /// is an answer.
    pub(crate) fn plan(
        &self,
        collider: &mut Collider,
        mut cone: Option<&mut ConeCheck>,
        start: &[f64],
        goal: &PlanGoal,
    ) -> Result<Result<StraightMotion, StraightFault>, PlanError> {
        let StraightSettings { deviation_m, turn_rad } = self.settings;
        if ![deviation_m, turn_rad].into_iter().all(|n| (1e-5..=1.0).contains(&n)) {
            let reason = format!("{deviation_m} m and {turn_rad} rad; 1e-5 to 1 are right");
            return Err(PlanError::bad("deviation of a straight motion", reason));
        }
        let mut tool = Tool::new(self.arm);
        let line = self.line(&mut tool, start, goal)?;
        let limits = scaled(self.arm.limits(), self.timing.scale);
        let fault = |why, fraction: f64| {
            let at_m = line.at(fraction).0.into();
            Ok(Err(StraightFault { why, fraction, at_m }))
        };
        let mut follower = Follower::new(self.arm, &line);
        let mut points = match follower.follow(start) {
            Ok(points) => points,
            Err((why, fraction)) => return fault(why, fraction),
        };
        let joints: Vec<Vec<f64>> = points.iter().map(|(_, at)| at.clone()).collect();
        let mut worst = (StraightStop::OutOfReach, 0.0);
        let mut spline = Spline::through(&joints, &limits);
        for refinement in 0..=REFINEMENTS {
            let Some(curve) = &spline else {
                let reason = "the tool is there already: a line needs a length";
                return Err(PlanError::bad("straight motion", reason));
            };
            let mut proof = LineProof::new(&mut tool, &line, &self.settings);
            let proved = proof.prove(curve);
            match (proved, self.beyond_range(curve)) {
                (Ok((off_m, turned_rad)), None) => {
                    let turned_rad =
                        if line.is_exact { turned_rad } else { self.turned(&line, &points) };
                    let blocked = match &mut cone {
                        Some(cone) => curve.first_blocked(&mut Coned { inner: collider, cone }),
                        None => curve.first_blocked(collider),
                    };
                    if let Some(at) = blocked {
                        let fraction = fraction_of(&mut Tool::new(self.arm), &line, &at);
                        return fault(what_blocks(collider, cone, &at), fraction);
                    }
                    let waypoints = points.into_iter().map(|(_, at)| at).collect();
                    let trajectory = curve.trajectory();
                    return Ok(Ok(StraightMotion { waypoints, trajectory, off_m, turned_rad }));
                }
                (Ok(_), Some((why, at))) => {
                    worst = (why, fraction_of(&mut Tool::new(self.arm), &line, &at));
                }
                (Err((fraction, off_m)), _) => {
                    worst = (StraightStop::OffLine { off_m }, fraction);
                }
            }
            if refinement < REFINEMENTS {
                points = match follower.refine(&points) {
                    Ok(points) => points,
                    Err((why, fraction)) => return fault(why, fraction),
                };
                let joints: Vec<Vec<f64>> = points.iter().map(|(_, at)| at.clone()).collect();
                spline = Spline::through(&joints, &limits);
            }
        }
        fault(worst.0, worst.1)
    }

    /// The line from the arm's joints to a goal.
    fn line(&self, tool: &mut Tool, start: &[f64], goal: &PlanGoal) -> Result<ToolLine, PlanError> {
        let from = tool.place(start);
        let has_wrist = self.arm.joints() >= FULL_JOINTS;
        let (to_m, to_rot, is_exact) = match (goal, goal.aim()) {
            (PlanGoal::Joints(joints), _) => {
                let to = tool.place(joints);
                (to.pos_m, to.rot, has_wrist)
            }
            (_, Some(aim)) => match aim.orientation {
                Orientation::Full(rotation) => (aim.at_m, rotation.into_inner(), true),
                Orientation::Free => (aim.at_m, from.rot, has_wrist),
                Orientation::Axis { of_tool, toward } => {
                    let by = Rotation3::rotation_between(&(from.rot * of_tool), &toward);
                    let by = by.unwrap_or_else(Rotation3::identity);
                    (aim.at_m, by.matrix() * from.rot, true)
                }
            },
            _ => {
                let reason = "a straight motion leads to one place: x y z, or with roll pitch yaw";
                return Err(PlanError::bad("goal", reason));
            }
        };
        let turn = rotation_between(&from.rot, &to_rot);
        let line = ToolLine { from_m: from.pos_m, to_m, from_rot: from.rot, turn, is_exact };
        if line.length_m() < SHORTEST_M && turn.norm() < SHORTEST_M {
            let reason = "the tool is there already: a line needs a length";
            return Err(PlanError::bad("straight motion", reason));
        }
        Ok(line)
    }

    /// Where the curve leaves the range of a joint between its way-points.
    fn beyond_range(&self, curve: &Spline) -> Option<(StraightStop, Vec<f64>)> {
        for (part, length) in curve.parts() {
            for (joint, limit) in self.arm.limits().iter().enumerate() {
                let [low, high] = part.range(length, joint);
                let slack = 1e-6 * (1.0 + limit.range[0].abs().max(limit.range[1].abs()));
                if limit.range[0] - slack <= low && high <= limit.range[1] + slack {
                    continue;
                }
                let mut at = vec![0.0; self.arm.joints()];
                part.at(length / 2.0, &mut at);
                let name = self.arm.body().chain().joint_names().nth(joint);
                let why = StraightStop::JointLimit {
                    joint: name.unwrap_or_default().to_owned(),
                    position: at[joint],
                    range: limit.range,
                };
                return Some((why, at));
            }
        }
        None
    }

    /// How far the tool is turned from what it should be, at the way-points.
    fn turned(&self, line: &ToolLine, points: &[(f64, Vec<f64>)]) -> f64 {
        let mut tool = Tool::new(self.arm);
        let turned = points.iter().map(|(fraction, joints)| {
            let wanted = UnitQuaternion::from_matrix(&line.at(*fraction).1);
            wanted.angle_to(&UnitQuaternion::from_matrix(&tool.place(joints).rot))
        });
        turned.fold(0.0, f64::max)
    }
}

/// What is in the way where a part of a curve was not proved.
fn what_blocks(collider: &mut Collider, cone: Option<&mut ConeCheck>, at: &[f64]) -> StraightStop {
    let contact = collider.contact(at);
    if let Some(cone) = cone.filter(|_| contact.is_none())
        && !cone.has_room(at)
    {
        return StraightStop::OffCone { off_rad: cone.angle_rad(at) };
    }
    StraightStop::Collision { contact }
}

/// The fraction of a line that is nearest to where joints have the tool.
fn fraction_of(tool: &mut Tool, line: &ToolLine, joints: &[f64]) -> f64 {
    let at = tool.place(joints);
    let way = line.to_m - line.from_m;
    let length2 = way.norm_squared();
    if length2 < SHORTEST_M * SHORTEST_M {
        let turned = rotation_between(&line.from_rot, &at.rot);
        return (turned.norm() / line.turn.norm().max(1e-9)).clamp(0.0, 1.0);
    }
    ((at.pos_m - line.from_m).dot(&way) / length2).clamp(0.0, 1.0)
}

/// Limits at a fraction of full speed.
fn scaled(limits: &[JointLimit], k: f64) -> Vec<JointLimit> {
    let scaled = limits.iter().map(|l| JointLimit {
        range: l.range,
        velocity: l.velocity * k,
        acceleration: l.acceleration * k * k,
        jerk: l.jerk * k * k * k,
    });
    scaled.collect()
}
