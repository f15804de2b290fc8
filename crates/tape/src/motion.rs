//! What an arm has to do to repeat a demonstration: a target per frame, and what was seen.

use citrange_core::RigSpec;
use citrange_hdf5::Array;

use crate::demo::arm_joints;
use crate::demo_in::DemoEpisode;
use crate::error::TapeError;

/// Targets and recorded positions per frame of the rig, in radians and metres.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Joint targets, one row per frame.
    pub targets: Vec<Vec<f64>>,
    /// Joint positions that were recorded; empty when the file has none.
    pub seen: Vec<Vec<f64>>,
    /// Where the targets come from, for people.
    pub source: String,
}

impl DemoEpisode {
    /// The motion for a rig. `places` are the positions of the rig's joints among all joint
    /// positions of the model, for files that keep whole states only.
    ///
    /// # Errors
    /// When the file has neither joint targets nor joint positions that fit the rig.
    pub fn motion(&self, rig: &RigSpec, places: &[usize]) -> Result<Motion, TapeError> {
        let joints = rig.joints.len();
        let seen = self.seen(joints, places);
        let wide = |array: &&Array| array.shape().len() == 2 && array.cols() == joints;
        let said = self.joint_targets.as_ref().filter(wide);
        // Files of others do not say what an action is; as many numbers as joints are targets.
        let width = self.actions.as_ref().filter(wide);
        let (targets, source) = match (said.or(width), &seen) {
            (Some(array), _) if said.is_some() || self.targets_said => {
                (rows(array), "recorded joint targets".to_owned())
            }
            (Some(array), _) => {
                (rows(array), format!("actions, taken as targets of the {joints} joints"))
            }
            (None, Some(seen)) => self.follow(rig, seen),
            (None, None) => {
                let has = self.actions.as_ref().map_or(0, Array::cols);
                return Err(TapeError::Missing(format!(
                    "{}: it has neither targets nor positions of the {joints} joints of {} \
                     (its actions have {has} numbers)",
                    self.name, rig.robot
                )));
            }
        };
        if targets.is_empty() {
            return Err(TapeError::Missing(format!("{}: it has no steps", self.name)));
        }
        let frame_hz = f64::from(rig.rates.frame_hz);
        let from_hz = self.rate_hz.unwrap_or(frame_hz);
        let seen = seen.unwrap_or_default();
        Ok(Motion {
            targets: held(targets, from_hz, frame_hz),
            seen: held(seen, from_hz, frame_hz),
            source,
        })
    }

    /// Recorded positions of all joints.
    fn seen(&self, joints: usize, places: &[usize]) -> Option<Vec<Vec<f64>>> {
        let whole = |row: Vec<f64>| (row.len() == joints).then_some(row);
        if let Some(arm) = &self.joint_pos {
            let row = |index: usize| {
                let grip = self.gripper_pos.as_ref().and_then(|g| g.row(index));
                whole([arm.row(index)?, grip.unwrap_or_default()].concat())
            };
            if let Some(all) = (0..arm.rows()).map(row).collect::<Option<Vec<_>>>() {
                return Some(all);
            }
        }
        let states = self.states.as_ref()?;
        let row = |index: usize| {
            let state = states.row(index)?;
            // The first number is the time.
            whole(places.iter().map(|at| state.get(1 + at).copied()).collect::<Option<_>>()?)
        };
        (0..states.rows()).map(row).collect()
    }

    /// Targets for an arm whose commands are not known: where it was one frame later. A gripper
    /// that only went where it was would not press, so its own commands are taken.
    fn follow(&self, rig: &RigSpec, seen: &[Vec<f64>]) -> (Vec<Vec<f64>>, String) {
        let arm = arm_joints(rig);
        let mut targets: Vec<Vec<f64>> = seen.iter().skip(1).chain(seen.last()).cloned().collect();
        let mut source = "recorded joint positions; the file's actions are not joint targets and \
                          cannot be carried out here"
            .to_owned();
        // Files of ours keep the fingers' own targets, which are no open and close commands.
        if self.targets_said {
            let own = self.gripper_action.as_ref().filter(|a| a.cols() == rig.joints.len() - arm);
            for (index, row) in targets.iter_mut().enumerate() {
                if let Some(fingers) = own.and_then(|own| own.row(index)) {
                    row.truncate(arm);
                    row.extend_from_slice(fingers);
                }
            }
            return (targets, source);
        }
        let Some(commands) = self.grips() else { return (targets, source) };
        source.push_str("; gripper by its recorded open and close commands");
        let mut closed = None;
        for (row, command) in targets.iter_mut().zip(commands) {
            closed = match command {
                c if c > 0.0 => Some(true),
                c if c < 0.0 => Some(false),
                _ => closed,
            };
            for (joint, target) in rig.joints.iter().zip(row.iter_mut()).skip(arm) {
                if let (Some([shut, open]), Some(closed)) = (joint.gripper, closed) {
                    *target = if closed { shut } else { open };
                }
            }
        }
        (targets, source)
    }

    /// A number per step, more than 0 to close: robosuite's convention.
    fn grips(&self) -> Option<Vec<f64>> {
        if let Some(own) = self.gripper_action.as_ref().filter(|a| a.cols() == 1) {
            return Some(own.data().to_vec());
        }
        // Three or six numbers move the hand, the last one the gripper.
        let actions = self.actions.as_ref().filter(|a| [4, 7].contains(&a.cols()))?;
        (0..actions.rows()).map(|row| actions.row(row)?.last().copied()).collect()
    }
}

fn rows(array: &Array) -> Vec<Vec<f64>> {
    (0..array.rows()).filter_map(|row| array.row(row)).map(<[f64]>::to_vec).collect()
}

/// Rows at another rate: each is held until the next is due.
fn held(rows: Vec<Vec<f64>>, from_hz: f64, to_hz: f64) -> Vec<Vec<f64>> {
    if from_hz == to_hz || rows.is_empty() {
        return rows;
    }
    // A file may claim anything: what comes out is bounded by an hour of frames.
    let most = to_hz * 3600.0;
    let count = (rows.len() as f64 * to_hz / from_hz).round().clamp(1.0, most) as usize;
    // Half a row of play against rounding at the edges.
    let row = |k: usize| ((k as f64 * from_hz / to_hz + 1e-6) as usize).min(rows.len() - 1);
    (0..count).map(|k| rows[row(k)].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::Rates;
    use citrange_core::rig::JointSpec;

    fn rig() -> RigSpec {
        let joint = |name: &str, gripper| JointSpec {
            name: name.into(),
            is_slide: false,
            range: None,
            gripper,
        };
        RigSpec {
            robot: "arm".into(),
            joints: vec![joint("a", None), joint("b", None), joint("jaw", Some([0.0, 1.0]))],
            rates: Rates { physics_hz: 120, control_hz: 120, frame_hz: 20 },
            cameras: vec![],
            objects: vec![],
        }
    }

    fn matrix(cols: usize, numbers: &[f64]) -> Option<Array> {
        Some(Array::matrix(numbers.len() / cols, cols, numbers.to_vec()).unwrap())
    }

    #[test]
    fn positions_are_followed_a_frame_ahead_and_the_gripper_obeys_its_commands() {
        let demo = DemoEpisode {
            joint_pos: matrix(2, &[0.0, 0.0, 0.1, 0.2, 0.3, 0.4]),
            gripper_pos: matrix(1, &[0.9, 0.5, 0.5]),
            gripper_action: matrix(1, &[0.0, 1.0, -1.0]),
            actions: matrix(7, &[0.0; 21]),
            ..DemoEpisode::default()
        };
        let motion = demo.motion(&rig(), &[0, 1, 2]).unwrap();
        assert_eq!(motion.targets, [[0.1, 0.2, 0.5], [0.3, 0.4, 0.0], [0.3, 0.4, 1.0]]);
        assert_eq!(motion.seen[1], [0.1, 0.2, 0.5]);
        assert!(motion.source.contains("cannot be carried out"));
        let ours = DemoEpisode { targets_said: true, ..demo };
        let motion = ours.motion(&rig(), &[0, 1, 2]).unwrap();
        assert_eq!(motion.targets, [[0.1, 0.2, 0.0], [0.3, 0.4, 1.0], [0.3, 0.4, -1.0]]);
    }

    #[test]
    fn targets_win_and_whole_states_are_enough() {
        let demo = DemoEpisode {
            actions: matrix(3, &[1.0, 2.0, 3.0]),
            states: matrix(5, &[0.0, 7.0, 8.0, 9.0, 0.0]),
            ..DemoEpisode::default()
        };
        let motion = demo.motion(&rig(), &[2, 1, 0]).unwrap();
        assert_eq!(motion.targets, [[1.0, 2.0, 3.0]]);
        assert_eq!(motion.seen, [[9.0, 8.0, 7.0]]);
        // Joints that the states do not have are no motion.
        let demo = DemoEpisode { actions: matrix(7, &[0.0; 7]), ..demo };
        let error = demo.motion(&rig(), &[2, 1, 9]).unwrap_err().to_string();
        assert!(error.contains("3 joints of arm") && error.contains("7 numbers"), "{error}");
    }

    #[test]
    fn other_rates_hold_rows() {
        let rows: Vec<Vec<f64>> = (0..4).map(|k| vec![f64::from(k)]).collect();
        let flat = |rows: Vec<Vec<f64>>| rows.concat();
        assert_eq!(flat(held(rows.clone(), 10.0, 20.0)), [0., 0., 1., 1., 2., 2., 3., 3.]);
        assert_eq!(flat(held(rows.clone(), 40.0, 20.0)), [0., 2.]);
        assert_eq!(flat(held(rows.clone(), 20.0, 30.0)), [0., 0., 1., 2., 2., 3.]);
        assert_eq!(held(rows, 1e-300, 20.0).len(), 72_000);
    }
}
