//! Goals as people write them: points, poses, joints, named poses, waits.

use std::path::Path;

use citrange_core::RobotDescription;
use citrange_core::names::suggestion;
use citrange_core::schema::schema_of;
use citrange_core::yaml::from_yaml;
use citrange_plan::{PlanGoal, PlannedArm};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::TwinError;

/// A file of goals, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoalFile {
    /// The goals.
    pub goals: Vec<GoalEntry>,
    /// How often all of them are gone through.
    #[serde(default = "once")]
    pub rounds: u32,
}

fn once() -> u32 {
    1
}

/// A goal. Exactly one of `point_m`, `pose`, `joints_rad`, `joints_deg`, `named` and `wait_s` is
/// given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GoalEntry {
    /// The tool at a point of the world, in any orientation.
    pub point_m: Option<[f64; 3]>,
    /// The tool at a point, in an orientation.
    pub pose: Option<GoalPose>,
    /// Positions of the arm's joints.
    pub joints_rad: Option<Vec<f64>>,
    /// The same in degrees.
    pub joints_deg: Option<Vec<f64>>,
    /// A pose of the robot by name: `home`, `rest`, …
    pub named: Option<String>,
    /// Stands still for so long.
    pub wait_s: Option<f64>,
    /// Fraction of the twin's speed on the way to it.
    pub speed: Option<f64>,
    /// For people.
    pub note: Option<String>,
}

/// A place and an orientation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoalPose {
    /// The place, in the world.
    pub at_m: [f64; 3],
    /// Turns about the world's x, then y, then z axis.
    pub rpy_deg: [f64; 3],
}

/// A goal that was read and understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// As people see it.
    pub text: String,
    /// What is to be done.
    pub kind: GoalKind,
    /// Fraction of the twin's speed.
    pub speed: f64,
    /// Whether the nearest free place will do.
    pub nearest: bool,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum GoalKind {
    /// A motion.
    Go(PlanGoal),
    /// Standing still, seconds.
    Wait(f64),
}

/// A wait beyond this is a mistake.
const LONGEST_WAIT_S: f64 = 3600.0;

impl GoalFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or a goal makes no sense: with file, line or number.
    pub fn load(path: &Path) -> Result<Self, TwinError> {
        let text = std::fs::read_to_string(path).map_err(TwinError::file("read", path))?;
        Ok(from_yaml(&text, &path.display().to_string())?)
    }

    /// All goals, understood.
    ///
    /// # Errors
    /// Names the first that makes no sense, by its number.
    pub fn read(&self, arm: &PlannedArm, robot: &RobotDescription) -> Result<Vec<Goal>, TwinError> {
        if self.goals.is_empty() || self.rounds == 0 {
            return Err(TwinError::bad(
                "goals",
                "there is none; - point_m: [0.5, 0.2, 0.4] is one",
            ));
        }
        let mut all = Vec::new();
        for (number, entry) in self.goals.iter().enumerate() {
            let goal = entry.read(arm, robot).map_err(|error| {
                TwinError::bad(format!("goal {} of the file", number + 1), error.to_string())
            })?;
            all.push(goal);
        }
        Ok((0..self.rounds).flat_map(|_| all.clone()).collect())
    }

    /// The JSON schema of such a file.
    #[must_use]
    pub fn schema() -> Value {
        schema_of::<Self>("Goals of a twin")
    }
}

impl GoalEntry {
    /// Of three numbers (a point, in metres) or six (and roll, pitch, yaw, in radians).
    ///
    /// # Errors
    /// Says which word is wrong, or how many there are.
    pub fn place(text: &str) -> Result<Self, TwinError> {
        Ok(match PlanGoal::parse(text)? {
            PlanGoal::Pose { at_m, roll_pitch_yaw_rad } => {
                let rpy_deg = roll_pitch_yaw_rad.map(f64::to_degrees);
                Self { pose: Some(GoalPose { at_m, rpy_deg }), ..Self::default() }
            }
            PlanGoal::Point { at_m } => Self { point_m: Some(at_m), ..Self::default() },
            _ => return Err(TwinError::bad(format!("goal {text:?}"), "3 or 6 numbers are right")),
        })
    }

    /// What it means for an arm.
    ///
    /// # Errors
    /// When not exactly one thing is asked for, or numbers make no sense.
    pub fn read(&self, arm: &PlannedArm, robot: &RobotDescription) -> Result<Goal, TwinError> {
        let asked = [
            self.point_m.is_some(),
            self.pose.is_some(),
            self.joints_rad.is_some(),
            self.joints_deg.is_some(),
            self.named.is_some(),
            self.wait_s.is_some(),
        ];
        let count = asked.into_iter().filter(|given| *given).count();
        if count != 1 {
            let reason = format!(
                "{count} of point_m, pose, joints_rad, joints_deg, named, wait_s are given; \
                 exactly one is right"
            );
            return Err(TwinError::bad("a goal", reason));
        }
        let speed = self.speed.unwrap_or(1.0);
        if !(speed > 0.0 && speed <= 1.0) {
            return Err(TwinError::bad("speed", format!("{speed} is not above 0 and at most 1")));
        }
        let (text, kind) = self.kind(arm, robot)?;
        Ok(Goal { text, kind, speed, nearest: false })
    }

    fn kind(
        &self,
        arm: &PlannedArm,
        robot: &RobotDescription,
    ) -> Result<(String, GoalKind), TwinError> {
        if let Some(wait_s) = self.wait_s {
            if !(0.0..=LONGEST_WAIT_S).contains(&wait_s) {
                let reason = format!("{wait_s} is not from 0 to {LONGEST_WAIT_S}");
                return Err(TwinError::bad("wait_s", reason));
            }
            return Ok((format!("wait {wait_s} s"), GoalKind::Wait(wait_s)));
        }
        if let Some(name) = &self.named {
            return Ok((name.clone(), GoalKind::Go(named(name, arm, robot)?)));
        }
        let spaced =
            |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
        let degrees = self
            .joints_deg
            .as_ref()
            .map(|deg| deg.iter().map(|d| d.to_radians()).collect::<Vec<_>>());
        if let Some(joints) = self.joints_rad.clone().or(degrees) {
            let text = spaced(&joints);
            let goal = PlanGoal::parse_joints(&text, arm)?;
            return Ok((format!("joints {text}"), GoalKind::Go(goal)));
        }
        let text = match (&self.point_m, &self.pose) {
            (Some(at_m), _) => spaced(at_m),
            (_, Some(pose)) => {
                let rpy = pose.rpy_deg.map(f64::to_radians);
                format!("{} {}", spaced(&pose.at_m), spaced(&rpy))
            }
            _ => String::new(),
        };
        let goal = PlanGoal::parse(&text)?;
        Ok((text, GoalKind::Go(goal)))
    }
}

/// A pose of the robot as a goal.
///
/// # Errors
/// When it has no such pose.
pub fn named(
    name: &str,
    arm: &PlannedArm,
    robot: &RobotDescription,
) -> Result<PlanGoal, TwinError> {
    let key = if name == "home" { robot.home.as_str() } else { name };
    match robot.poses.get(key) {
        Some(pose) => Ok(PlanGoal::Joints(pose[..arm.joints().min(pose.len())].to_vec())),
        None => {
            let known = robot.poses.keys().map(String::as_str).chain(["home"]);
            let what = format!("the robot has no pose \"{name}\"");
            Err(TwinError::bad(what, suggestion(name, known)))
        }
    }
}

impl Goal {
    /// A motion.
    #[must_use]
    pub fn to(text: impl Into<String>, goal: PlanGoal) -> Self {
        Self { text: text.into(), kind: GoalKind::Go(goal), speed: 1.0, nearest: false }
    }
}
