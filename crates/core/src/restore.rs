//! What a file knows about the start of an episode, and how well it could be restored.
//!
//! Files differ in what they kept. The levels are tried from the best down; the one that was used
//! and what the result is worth are always said.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::snapshot::Snapshot;

/// How a start was restored, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// 0: the complete snapshot; what follows is bit-identical.
    Snapshot,
    /// 1: arrays of all joint positions and velocities, with time where it was kept.
    Arrays,
    /// 2: positions of named objects and robots; everything else as in a fresh scene, at rest.
    NamedJoints,
    /// 3: one flat vector of time, positions and velocities.
    Flattened,
    /// Nothing could be used: the state is left as it was.
    Current,
    /// Beside these: every frame is set to its recorded state, objects included. Nothing between is
    /// simulated as it was.
    States,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Snapshot => "level 0 (full snapshot, exact)",
            Self::Arrays => "level 1 (joint position and velocity arrays)",
            Self::NamedJoints => "level 2 (named joints, at rest)",
            Self::Flattened => "level 3 (flattened time, positions, velocities)",
            Self::States => "recorded states (every frame set from the file, not simulated)",
            Self::Current => "none (the current state goes on)",
        })
    }
}

/// Everything a file says about the state in which an episode began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartData {
    /// The complete state.
    pub snapshot: Option<Snapshot>,
    /// All joint positions, in the order of the model.
    pub qpos: Option<Vec<f64>>,
    /// All joint velocities, in the order of the model.
    pub qvel: Option<Vec<f64>>,
    /// Simulation time in seconds.
    pub time_s: Option<f64>,
    /// Positions by name: 7 numbers for a free object, joint positions for a robot (as many of
    /// its joints, from the first, as there are numbers).
    pub named: BTreeMap<String, Vec<f64>>,
    /// Time, positions, velocities in one vector.
    pub flattened: Option<Vec<f64>>,
    /// Where the bodies were: only to check the result.
    pub bodies: Vec<BodyPose>,
}

/// Where a joint is among all positions and velocities of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSlot {
    /// `robot0/joint1`, or the object's name for its free joint.
    pub name: String,
    /// A free joint has 7 positions and 6 velocities, others one of each.
    pub is_free: bool,
    /// Its first position.
    pub qpos: usize,
    /// Its first velocity.
    pub dof: usize,
    /// From, to (rad, m), where it has limits.
    pub range: Option<[f64; 2]>,
}

/// Where a body was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyPose {
    /// Name in the model; `None` where only the order was kept.
    pub name: Option<String>,
    /// Position in the world.
    pub pos_m: [f64; 3],
    /// Rotation matrix, row by row.
    pub rot: [f64; 9],
}

/// What a restore came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RestoreReport {
    /// The level that was used.
    pub level: Level,
    /// Better levels that could not be used, and why.
    pub skipped: Vec<(Level, String)>,
    /// What the restored state cannot know, for people.
    pub missing: Vec<String>,
    /// Comparison with the stored body poses.
    pub check: Option<PoseCheck>,
}

/// The largest differences between restored and stored body poses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PoseCheck {
    /// Bodies compared.
    pub bodies: usize,
    /// Largest distance.
    pub position_m: f64,
    /// Largest angle.
    pub rotation_rad: f64,
    /// The body with the largest distance.
    pub worst: String,
}

impl PoseCheck {
    /// Compares bodies pairwise; `None` when there is nothing to compare.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a BodyPose, &'a BodyPose)>) -> Option<Self> {
        let mut check: Option<Self> = None;
        for (is, was) in pairs {
            let norm =
                |values: &mut dyn Iterator<Item = f64>| values.map(|d| d * d).sum::<f64>().sqrt();
            let distance = norm(&mut (0..3).map(|i| is.pos_m[i] - was.pos_m[i]));
            // For small angles the Frobenius norm of the difference is the angle times sqrt(2).
            let angle = norm(&mut (0..9).map(|i| is.rot[i] - was.rot[i])) / 2f64.sqrt();
            let name = is.name.clone().unwrap_or_default();
            let so_far = check.get_or_insert(Self {
                bodies: 0,
                position_m: 0.0,
                rotation_rad: 0.0,
                worst: name.clone(),
            });
            so_far.bodies += 1;
            // NaN counts as worst.
            if distance > so_far.position_m || distance.is_nan() {
                so_far.position_m = distance;
                so_far.worst = name;
            }
            if angle > so_far.rotation_rad || angle.is_nan() {
                so_far.rotation_rad = angle;
            }
        }
        check
    }
}

impl fmt::Display for RestoreReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "start restored by {}", self.level)?;
        match &self.check {
            Some(check) => write!(
                f,
                "; {} bodies within {:.1e} m and {:.1e} rad of the stored ones (worst: {})",
                check.bodies, check.position_m, check.rotation_rad, check.worst
            )?,
            None => f.write_str("; no stored body poses to check against")?,
        }
        for (level, why) in &self.skipped {
            write!(f, "\n  {level} not used: {why}")?;
        }
        for missing in &self.missing {
            write!(f, "\n  not known: {missing}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(x: f64, angle: f64) -> BodyPose {
        let (s, c) = angle.sin_cos();
        let rot = [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0];
        BodyPose { name: Some("b".into()), pos_m: [x, 0.0, 0.0], rot }
    }

    #[test]
    fn the_check_measures_distance_and_angle() {
        let pairs = [(body(0.0, 0.0), body(0.0, 0.0)), (body(1.0, 1e-3), body(1.002, 0.0))];
        let check = PoseCheck::new(pairs.iter().map(|(a, b)| (a, b))).unwrap();
        assert_eq!(check.bodies, 2);
        assert!((check.position_m - 0.002).abs() < 1e-12);
        assert!((check.rotation_rad - 1e-3).abs() < 1e-8);
        assert!(PoseCheck::new([]).is_none());
        let lost = PoseCheck::new([(&body(f64::NAN, 0.0), &body(0.0, 0.0))]).unwrap();
        assert!(lost.position_m.is_nan());
    }
}
