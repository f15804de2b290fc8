//! Rows of a LeRobot dataset as motions of a robot: which column is which joint, and what its
//! numbers mean. The one place where rows of others are read.

use std::fmt;

use citrange_core::RigSpec;
use citrange_core::rig::JointSpec;

use crate::arm_columns::columns_by_name;
use crate::dataset::{ACTION, Dataset, STATE};
use crate::error::TapeError;
use crate::units::{JointUnit, Unit};

/// Arms whose LeRobot drivers write degrees, or -100 to 100 of the range; grippers 0 to 100.
const LEROBOT_ARMS: [&str; 7] = ["so100", "so101", "so_follower", "koch", "omx", "lekiwi", "moss"];
/// A joint may be this part of its range beyond its limits: real arms are calibrated by hand.
const SLACK: f64 = 0.05;
/// No joint turns further in radians than once around, nearly.
const FULL_CIRCLE: f64 = 6.3;

/// What the rows of an episode ask of a robot: radians and metres, joints in the robot's order.
#[derive(Clone, Debug, PartialEq)]
pub struct JointRows {
    /// A target per frame.
    pub targets: Vec<Vec<f64>>,
    /// The joints seen per frame.
    pub seen: Vec<Vec<f64>>,
    /// What the numbers were taken for, and why.
    pub reading: Reading,
}

/// What numbers of a dataset are taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The dataset says it.
    Said,
    /// Whoever reads it says it.
    Told(Unit),
    /// Nobody says it.
    Guessed {
        /// The guess.
        unit: Unit,
        /// What it goes by.
        because: String,
    },
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said => f.write_str("as the dataset says"),
            Self::Told(unit) => write!(f, "{}, as told", unit.word()),
            Self::Guessed { unit, because } => {
                write!(f, "{}, a guess: {because}", unit.word())
            }
        }
    }
}

impl Dataset {
    /// The rows of an episode as motions of a robot. `unit` says what the numbers mean; without
    /// it the dataset does, or else it is guessed from robot, names and ranges.
    ///
    /// # Errors
    /// When there is no such episode or feature, or its columns are not the robot's joints.
    pub fn joint_rows(
        &self,
        episode: usize,
        rig: &RigSpec,
        unit: Option<Unit>,
    ) -> Result<JointRows, TapeError> {
        let data = self.lerobot.read_columns(episode, &[STATE, ACTION])?;
        let rows = |name: &str| {
            let missing = || {
                let root = self.root().display();
                TapeError::Missing(format!("{root} has no feature {name} of numbers"))
            };
            let column = data.column(name).filter(|c| c.number(0).is_some()).ok_or_else(missing)?;
            let width = (column.len() / data.length.max(1)).max(1);
            let columns = self.columns_of(name, width, rig)?;
            let value = |row: usize, at: usize| column.number(row * width + at).unwrap_or(f64::NAN);
            let row = |row: usize| columns.iter().map(|at| value(row, *at)).collect::<Vec<f64>>();
            let ranges = columns.iter().map(|at| self.range_in_set(name, *at, width)).collect();
            Ok::<_, TapeError>(((0..data.length).map(row).collect::<Vec<_>>(), ranges))
        };
        let ((mut seen, seen_ranges), (mut targets, ranges)) = (rows(STATE)?, rows(ACTION)?);
        let (reading, units) = match unit {
            Some(unit) => (Reading::Told(unit), unit.of(rig).map_err(TapeError::Missing)?),
            None if !self.index.units.is_empty() => {
                let width =
                    (data.column(ACTION).map_or(0, |c| c.len()) / data.length.max(1)).max(1);
                (Reading::Said, self.units_of(rig, &self.columns_of(ACTION, width, rig)?)?)
            }
            None => {
                let ranges: Vec<Vec<Option<[f64; 2]>>> = vec![seen_ranges, ranges];
                let values = Values::of(rig, &[&seen, &targets], &ranges);
                let robot = self.lerobot.info().robot_type.as_deref();
                let (unit, because) = guess(robot, rig, &values);
                (Reading::Guessed { unit, because }, unit.of(rig).map_err(TapeError::Missing)?)
            }
        };
        for row in seen.iter_mut().chain(&mut targets) {
            for (value, unit) in row.iter_mut().zip(&units) {
                *value = unit.read(*value);
            }
        }
        Ok(JointRows { targets, seen, reading })
    }

    /// Which column of a feature is which joint: by name where the names are known.
    fn columns_of(&self, name: &str, width: usize, rig: &RigSpec) -> Result<Vec<usize>, TapeError> {
        let feature = self.lerobot.info().features.get(name);
        let names = feature.map(|f| f.component_names()).unwrap_or_default();
        let found = columns_by_name(&names, rig);
        if let Some(found) = found.filter(|found| found.iter().all(|at| *at < width)) {
            return Ok(found);
        }
        if width == rig.joints.len() {
            return Ok((0..width).collect());
        }
        let joints: Vec<&str> = rig.joints.iter().map(|j| j.name.as_str()).collect();
        Err(TapeError::Refused(format!(
            "{name} of {} has {width} numbers per frame ({}); {} has {} joints ({})",
            self.root().display(),
            if names.is_empty() { "without names".to_owned() } else { names.join(", ") },
            rig.robot,
            joints.len(),
            joints.join(", ")
        )))
    }

    /// Lowest and highest value of a column over the whole dataset, as its statistics say.
    fn range_in_set(&self, name: &str, at: usize, width: usize) -> Option<[f64; 2]> {
        let stats = self.lerobot.stats().get(name)?;
        let fits = stats.min.len() == width && stats.max.len() == width;
        fits.then(|| [stats.min[at], stats.max[at]])
    }

    /// The dataset's own units, in the order of a robot's joints.
    fn units_of(&self, rig: &RigSpec, columns: &[usize]) -> Result<Vec<JointUnit>, TapeError> {
        let units = &self.index.units;
        let feature = self.lerobot.info().features.get(ACTION);
        let names = feature.map(|f| f.component_names()).unwrap_or_default();
        let of = |(joint, at): (&JointSpec, &usize)| {
            let own = format!("{}.pos", joint.name);
            let named = units.iter().find(|unit| unit.name == own);
            // Arms that the file calls otherwise.
            named.or_else(|| units.iter().find(|unit| Some(&unit.name) == names.get(*at)))
        };
        let pairs = rig.joints.iter().zip(columns);
        let by_name: Option<Vec<JointUnit>> = pairs.map(|pair| of(pair).cloned()).collect();
        match by_name {
            Some(units) => Ok(units),
            None if units.len() == rig.joints.len() => Ok(units.clone()),
            None => Err(TapeError::Refused(format!(
                "{} says the units of {} joints, {} has {}",
                self.root().display(),
                units.len(),
                rig.robot,
                rig.joints.len()
            ))),
        }
    }
}

impl JointRows {
    /// Refuses a motion beyond the limits of a robot's joints: its numbers mean something else,
    /// or it is another robot's.
    ///
    /// # Errors
    /// Names the joint that is farthest out, its value, its limits, and how many frames are out.
    pub fn check_limits(&self, rig: &RigSpec) -> Result<(), TapeError> {
        let mut worst: Option<(f64, usize, usize, f64)> = None;
        let mut out = 0;
        for frame in 0..self.targets.len().max(self.seen.len()) {
            let rows = [self.targets.get(frame), self.seen.get(frame)];
            let mut is_out = false;
            for row in rows.into_iter().flatten() {
                for (index, (joint, value)) in rig.joints.iter().zip(row).enumerate() {
                    let Some(part) = beyond(joint, *value) else { continue };
                    is_out = true;
                    if worst.is_none_or(|w| part > w.0) {
                        worst = Some((part, index, frame, *value));
                    }
                }
            }
            out += usize::from(is_out);
        }
        let Some((_, index, frame, value)) = worst else { return Ok(()) };
        let joint = &rig.joints[index];
        let [low, high] = joint.range.unwrap_or_default();
        let unit = if joint.is_slide { "m" } else { "rad" };
        Err(TapeError::Refused(format!(
            "read in {}, {out} of {} frames are beyond the limits of {}: {} would be at {value:.2} \
             {unit} in frame {frame}, its limits are {low:.2} to {high:.2} {unit}; if the numbers \
             mean something else say what: --unit deg, --unit percent or --unit rad",
            self.reading,
            self.targets.len().max(self.seen.len()),
            rig.robot,
            joint.name
        )))
    }
}

/// How far beyond its limits and the slack a joint is, as a part of its range.
fn beyond(joint: &JointSpec, value: f64) -> Option<f64> {
    let [low, high] = joint.range.filter(|[low, high]| high > low)?;
    let part = (low - value).max(value - high) / (high - low);
    // What is no number is nowhere.
    let part = if part.is_nan() { f64::INFINITY } else { part };
    (part > SLACK).then_some(part)
}

/// What is known of the values of each joint: the lowest and the highest.
struct Values(Vec<[f64; 2]>);

impl Values {
    fn of(rig: &RigSpec, rows: &[&[Vec<f64>]], stats: &[Vec<Option<[f64; 2]>>]) -> Self {
        let mut all = vec![[f64::INFINITY, f64::NEG_INFINITY]; rig.joints.len()];
        let mut take = |joint: usize, value: f64| {
            let [low, high] = &mut all[joint];
            (*low, *high) = (low.min(value), high.max(value));
        };
        for row in rows.iter().copied().flatten() {
            row.iter().enumerate().for_each(|(joint, value)| take(joint, *value));
        }
        for stats in stats {
            for (joint, range) in stats.iter().enumerate() {
                range.iter().flatten().for_each(|value| take(joint, *value));
            }
        }
        Self(all)
    }

    /// Lowest and highest over some joints.
    fn over(&self, rig: &RigSpec, wanted: impl Fn(&JointSpec) -> bool) -> Option<[f64; 2]> {
        let of = rig.joints.iter().zip(&self.0).filter(|(joint, _)| wanted(joint));
        of.map(|(_, range)| *range).reduce(|[a, b], [c, d]| [a.min(c), b.max(d)])
    }

    /// Whether all of it is within the limits when it is read in a unit.
    fn fits(&self, rig: &RigSpec, unit: Unit) -> bool {
        let Ok(units) = unit.of(rig) else { return false };
        let joints = rig.joints.iter().zip(&units).zip(&self.0);
        joints.into_iter().all(|((joint, unit), range)| {
            range.iter().all(|value| beyond(joint, unit.read(*value)).is_none())
        })
    }
}

/// What numbers nobody explained are most likely to be, and why.
fn guess(robot: Option<&str>, rig: &RigSpec, values: &Values) -> (Unit, String) {
    let said = robot.unwrap_or("not said");
    let is_lerobots = LEROBOT_ARMS.iter().any(|arm| said.contains(arm));
    let is_arm = |joint: &JointSpec| joint.gripper.is_none() && !joint.is_slide;
    let Some([low, high]) = values.over(rig, is_arm).or_else(|| values.over(rig, |_| true)) else {
        return (Unit::Radians, "there are no joints".into());
    };
    let reach = low.abs().max(high.abs());
    let grip = values.over(rig, |joint| joint.gripper.is_some());
    let widest = grip.map_or(reach, |[a, b]| reach.max(a.abs()).max(b.abs()));
    let because = |more: &str| {
        format!("robot type {said}, arm joints from {low:.1} to {high:.1} in the dataset; {more}")
    };
    if widest <= FULL_CIRCLE {
        return (Unit::Radians, because("nothing is beyond one revolution in radians"));
    }
    let (degrees, percent) = (values.fits(rig, Unit::Degrees), values.fits(rig, Unit::Percent));
    // Drivers clip percent at 100; an arm in degrees stops there only by chance.
    if is_lerobots && percent && (99.9..=100.0).contains(&reach) {
        return (Unit::Percent, because("they end at exactly 100"));
    }
    if !degrees && percent {
        return (Unit::Percent, because("as degrees they would leave the joints' limits"));
    }
    let more = if percent && is_lerobots {
        "they could also be percent of the joints' ranges (--unit percent)"
    } else {
        "too large for radians"
    };
    (Unit::Degrees, because(more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::Rates;

    fn rig() -> RigSpec {
        let joint = |name: &str, range, gripper| JointSpec {
            name: name.into(),
            is_slide: false,
            range: Some(range),
            gripper,
        };
        RigSpec::new(
            "so101",
            vec![
                joint("pan", [-1.9, 1.9], None),
                joint("roll", [-2.8, 2.8], None),
                joint("gripper", [-0.17, 1.75], Some([-0.17, 1.75])),
            ],
            Rates { physics_hz: 60, control_hz: 60, frame_hz: 30 },
        )
    }

    fn guessed(robot: &str, ranges: [[f64; 2]; 3]) -> Unit {
        guess(Some(robot), &rig(), &Values(ranges.to_vec())).0
    }

    #[test]
    fn ranges_and_robots_tell_the_unit() {
        let grip = [0.0, 97.0];
        // Beyond 100: only degrees are.
        assert_eq!(guessed("so101_follower", [[-90., 80.], [-150., 12.], grip]), Unit::Degrees);
        // Clipped at 100.
        assert_eq!(guessed("so101_follower", [[-100., 80.], [-51., 12.], grip]), Unit::Percent);
        assert_eq!(guessed("so101_follower", [[-30., 80.], [-51., 12.], grip]), Unit::Degrees);
        // Ours in radians, the gripper too.
        assert_eq!(guessed("so101", [[-1.5, 1.2], [-2.0, 2.0], [-0.1, 1.7]]), Unit::Radians);
        // Percent of a joint that does not go as far in degrees.
        let mut short = rig();
        short.joints[0].range = Some([-0.5, 0.5]);
        let values = Values(vec![[-80.0, 90.0], [-10.0, 10.0], grip]);
        assert_eq!(guess(Some("x"), &short, &values).0, Unit::Percent);
    }

    #[test]
    fn beyond_the_limits_is_refused_with_figures() {
        let rows = |value: f64| JointRows {
            targets: vec![vec![0.0; 3], vec![0.0, value, 0.0]],
            seen: vec![vec![0.0; 3]; 2],
            reading: Reading::Told(Unit::Radians),
        };
        assert!(rows(2.9).check_limits(&rig()).is_ok(), "a hand-calibrated arm");
        for value in [94.8, f64::NAN] {
            let error = rows(value).check_limits(&rig()).unwrap_err().to_string();
            assert!(error.contains("roll") && error.contains("frame 1"), "{error}");
            assert!(error.contains("1 of 2 frames") && error.contains("--unit deg"), "{error}");
        }
    }
}
