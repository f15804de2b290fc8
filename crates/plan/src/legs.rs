//! Motions planned one after the other in a scene: what is known of them, in JSON and in words.

use serde_json::{Value, json};

use crate::arm::PlannedArm;
use crate::collide::Mount;
use crate::error::PlanError;
use crate::held::HeldThing;
use crate::make::MadePlan;
use crate::obstacles::Obstacles;
use crate::outcome::PlanOutcome;
use crate::pilot::Feedforward;
use crate::scene::SceneSettings;
use crate::start::PlanStart;
use crate::timing::Trajectory;
use crate::words::{ObstacleNames, mount_in_words, reason_in_words};

/// Version of the JSON of [`Legs::json`].
const FORMAT: u32 = 1;
/// How often the way of a tool is looked at, per second of motion.
const WAY_HZ: f64 = 40.0;

/// A planned motion and what was asked.
#[derive(Clone, Debug)]
pub struct Leg {
    /// Joints of the arm where it begins.
    pub start: Vec<f64>,
    /// The goal as it was written.
    pub goal: String,
    /// What became of it.
    pub made: MadePlan,
}

/// Motions from goal to goal; the last one may have found no way.
#[derive(Clone, Debug)]
pub struct Legs {
    /// The robot, with the opening of the gripper that was planned for.
    pub arm: PlannedArm,
    /// Where the first one begins.
    pub start: PlanStart,
    /// What was in the way.
    pub obstacles: Obstacles,
    /// What that is called.
    pub names: ObstacleNames,
    /// Obstacles that the robot is mounted on.
    pub mounts: Vec<Mount>,
    /// What servos need to follow, where they need something.
    pub feedforward: Option<Feedforward>,
    /// How it was planned.
    pub settings: SceneSettings,
    /// The motions.
    pub legs: Vec<Leg>,
}

impl Leg {
    /// The motions of this leg, the way out of a collision first.
    pub fn motions(&self) -> impl Iterator<Item = &Trajectory> {
        self.made.escape.iter().chain(&self.made.trajectory)
    }

    /// Whether the same question gives the same answer everywhere: not where a clock ended
    /// something.
    #[must_use]
    pub fn is_reproducible(&self) -> bool {
        !self.made.improved.is_some_and(|improved| improved.is_timed_out)
    }

    /// As JSON, with `hz` moments per second.
    #[must_use]
    pub fn json(&self, hz: u32) -> Value {
        let made = &self.made;
        let motion = |motion: &Trajectory| {
            json!({
                "duration_s": motion.duration_s(),
                "blends": motion.blends(),
                "stops": motion.stops(),
                "moments": motion.moments(f64::from(hz)).collect::<Vec<_>>(),
            })
        };
        let mut all = json!(made.outcome);
        all["goal"] = json!(self.goal);
        all["start"] = json!(self.start);
        all["found_by"] = json!(made.found_by);
        all["reached_m"] = json!(made.goal.reached_m);
        all["reached_rad"] = json!(made.goal.reached_rad);
        all["warnings"] = json!(made.goal.warnings);
        all["straight"] = json!(made.straight.map(|(off_m, turned_rad)| json!({
            "off_m": off_m,
            "turned_rad": turned_rad,
        })));
        all["times"] = json!(made.times);
        all["improved"] = json!(made.improved);
        all["reused"] = json!(made.reused);
        all["is_reproducible"] = json!(self.is_reproducible());
        all["escape"] = json!(made.escape.as_ref().map(motion));
        all["trajectory"] = json!(made.trajectory.as_ref().map(motion));
        all
    }

    /// In a line; nothing where there is no way.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let made = &self.made;
        let (PlanOutcome::Found(path), Some(motion)) = (&made.outcome, &made.trajectory) else {
            return None;
        };
        let rotated = made.goal.reached_rad;
        let rotated =
            rotated.map_or(String::new(), |rad| format!(" and {:.2} degrees", rad.to_degrees()));
        let straight = made.straight.map_or(String::new(), |(off_m, turned_rad)| {
            let (mm, degrees) = (1e3 * off_m, turned_rad.to_degrees());
            format!("straight within {mm:.2} mm and {degrees:.2} degrees, ")
        });
        let reused = made.reused.map_or(String::new(), |reused| format!("; {}", reused.name()));
        let timed =
            if self.is_reproducible() { "" } else { "; not reproducible: a clock ended it" };
        Some(format!(
            "{}: {straight}{} way-points, {:.2} rad, {:.2} s, {:.2} mm{rotated} off; goal {:.2} ms, {} \
             {:.2} ms, timing {:.2} ms{reused}{timed}",
            self.goal,
            path.waypoints.len(),
            path.length_rad,
            motion.duration_s(),
            1e3 * made.goal.reached_m.unwrap_or(0.0),
            1e3 * made.times.goal_s,
            if made.found_by == "birrt" { "search" } else { made.found_by },
            1e3 * made.times.search_s,
            1e3 * made.times.timing_s,
        ))
    }
}

impl Legs {
    /// Why a goal was not reached, in words; `None` where all were.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        let margin_m = self.settings.collider.margin_m;
        self.legs.iter().find_map(|leg| reason_in_words(&leg.made.outcome, &self.names, margin_m))
    }

    /// What was assumed, in words: the gripper's opening, what the robot is mounted on.
    #[must_use]
    pub fn assumptions(&self) -> Vec<String> {
        let mounts = self.mounts.iter();
        let mounts = mounts.map(|mount| mount_in_words(&self.arm, mount, &self.names));
        self.start.gripper.text().into_iter().chain(mounts).collect()
    }

    /// Positions of all joints where the first motion begins.
    #[must_use]
    pub fn first_joints(&self) -> Vec<f64> {
        let mut all = self.arm.held().to_vec();
        all.iter_mut().zip(&self.start.arm).for_each(|(to, from)| *to = *from);
        all
    }

    /// Where the tool goes during a motion, every few centimetres, in the world.
    ///
    /// # Errors
    /// When the motion is of another arm.
    pub fn way_of_tool(&self, motion: &Trajectory) -> Result<Vec<[f64; 3]>, PlanError> {
        let mut joints = self.arm.held().to_vec();
        let places = motion.moments(WAY_HZ).map(|moment| {
            joints.iter_mut().zip(&moment.positions).for_each(|(to, from)| *to = *from);
            Ok(self.arm.body().tool_at(&joints)?)
        });
        places.collect()
    }

    /// Everything that was found, with `hz` moments per second.
    #[must_use]
    pub fn json(&self, hz: u32) -> Value {
        let (chain, request) = (self.arm.body().chain(), &self.settings.request);
        let mounts = self.mounts.iter().map(|mount| {
            json!({
                "link": self.arm.body().links().nth(1),
                "with": self.names.solids.get(mount.number),
                "gap_m": mount.gap_m,
            })
        });
        json!({
            "format": FORMAT,
            "tool_version": env!("CARGO_PKG_VERSION"),
            "robot": chain.robot,
            "seed": request.search.seed,
            "margin_m": self.settings.collider.margin_m,
            "tolerance_m": request.goal.tolerance_m,
            // As it was written: there and back is not exact.
            "tolerance_deg": (1e9 * request.goal.tolerance_rad.to_degrees()).round() / 1e9,
            "gripper": self.start.gripper.json(),
            "mounts": mounts.collect::<Vec<_>>(),
            "holding": self.arm.things().iter().map(HeldThing::name).collect::<Vec<_>>(),
            "allowed": self.settings.allow,
            "cone": request.cone.as_ref().map(|cone| json!({
                "axis_in_tool": cone.axis_in_tool,
                "axis_in_world": cone.axis_in_world,
                "half_angle_rad": cone.half_angle_rad,
            })),
            "joints": chain.joint_names().take(self.arm.joints()).collect::<Vec<_>>(),
            "plans": self.legs.iter().map(|leg| leg.json(hz)).collect::<Vec<_>>(),
        })
    }
}
