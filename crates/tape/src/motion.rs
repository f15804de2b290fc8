//! What an arm has to do to repeat a demonstration: a target per frame, and what was seen.

use std::collections::BTreeMap;

use citrange_core::RigSpec;
use citrange_hdf5::Array;

use crate::arm_columns::columns_by_name;
use crate::demo_in::{ArmRows, DemoEpisode};
use crate::error::TapeError;
use crate::order::order_by_name;
use crate::rows::JointRows;

/// An action that is a joint target is not further than this from where the joint is (rad; a
/// tenth of it in metres).
const TARGET_REACH: f64 = 0.6;

/// Targets and recorded positions per frame of the rig, in radians and metres.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Joint targets, one row per frame.
    pub targets: Vec<Vec<f64>>,
    /// Joint positions that were recorded; empty when the file has none.
    pub seen: Vec<Vec<f64>>,
    /// Places (position, quaternion) of the scene's objects that were recorded.
    pub objects: BTreeMap<String, Vec<[f64; 7]>>,
    /// Objects of the file that the scene does not have.
    pub foreign_objects: Vec<String>,
    /// Where the targets come from, for people.
    pub source: String,
}

/// A recorded state of a scene: what the file does not have is as in the state given.
#[derive(Clone, Debug, PartialEq)]
pub struct StateRow {
    /// Simulated time in seconds.
    pub time_s: f64,
    /// All joint positions.
    pub qpos: Vec<f64>,
    /// All joint velocities.
    pub qvel: Vec<f64>,
}

impl Motion {
    /// Rows of a dataset at `from_hz`, held for frames at `frame_hz`; `source` is for people.
    #[must_use]
    pub fn of_rows(rows: JointRows, from_hz: f64, frame_hz: f64, source: String) -> Self {
        Self {
            targets: held(rows.targets, from_hz, frame_hz),
            seen: held(rows.seen, from_hz, frame_hz),
            objects: BTreeMap::new(),
            foreign_objects: Vec::new(),
            source,
        }
    }
}

impl DemoEpisode {
    /// The motion for a rig. `places` are the positions of the rig's joints among all joint
    /// positions of the model, for files that keep whole states only.
    ///
    /// # Errors
    /// When the file has neither joint targets nor joint positions that fit the rig.
    pub fn motion(&self, rig: &RigSpec, places: &[usize]) -> Result<Motion, TapeError> {
        if self.grips_are_fractions {
            return self.with_whole_grippers(rig).motion(rig, places);
        }
        let joints = rig.joints.len();
        let order = self.arm_order(rig)?;
        let seen = self.seen(rig, places, order.as_deref());
        let wide = |array: &&Array| array.shape().len() == 2 && array.cols() == joints;
        let said = self.joint_targets.as_ref().filter(wide);
        // Files of others do not say what an action is; as many numbers as joints are targets,
        // if they are near the joints.
        let width = self.actions.as_ref().filter(wide);
        let rows = |array: &Array| rows(array, order.as_deref());
        let taken = |array: &Array| match &seen {
            Some(seen) if !self.targets_said => far(rig, &rows(array), seen),
            _ => None,
        };
        let (targets, source) = match (said.or(width), &seen) {
            (Some(array), _) if said.is_some() || self.targets_said => {
                (rows(array), "recorded joint targets".to_owned())
            }
            (Some(array), Some(seen)) if let Some(off) = taken(array) => {
                let (targets, source) = self.follow(rig, seen);
                (targets, format!("{source} ({off})"))
            }
            (Some(array), _) => {
                (rows(array), format!("actions, taken as targets of the {joints} joints"))
            }
            (None, Some(seen)) => self.follow(rig, seen),
            (None, None) => return Err(self.nothing_fits(rig)),
        };
        if targets.is_empty() {
            return Err(TapeError::Missing(format!("{}: it has no steps", self.name)));
        }
        let frame_hz = f64::from(rig.rates.frame_hz);
        let from_hz = self.rate_hz.unwrap_or(frame_hz);
        let objects = self.object_places().into_iter();
        let foreign = self.matched.iter().flat_map(|m| &m.foreign);
        Ok(Motion {
            targets: held(targets, from_hz, frame_hz),
            seen: held(seen.unwrap_or_default(), from_hz, frame_hz),
            objects: objects.map(|(name, all)| (name, held(all, from_hz, frame_hz))).collect(),
            foreign_objects: foreign.filter(|(_, free)| *free).map(|(n, _)| n.clone()).collect(),
            source,
        })
    }

    /// The recorded states per frame, in the order of the arranged scene; `None` when the file
    /// keeps none. Joints that it does not have stay as in `base`.
    #[must_use]
    pub fn state_rows(&self, base: &StateRow, frame_hz: f64) -> Option<Vec<StateRow>> {
        let (states, matched) = (self.states.as_ref()?, self.matched.as_ref()?);
        let row = |index: usize| {
            let row = states.row(index)?;
            let mut state = StateRow { time_s: *row.first()?, ..base.clone() };
            for (slot, place) in matched.slots.iter().zip(&matched.places) {
                let Some((q, v)) = place else { continue };
                let (nq, nv) = if slot.is_free { (7, 6) } else { (1, 1) };
                let (q, v) = (1 + q, 1 + matched.sizes[0] + v);
                let qpos = state.qpos.get_mut(slot.qpos..slot.qpos + nq)?;
                qpos.copy_from_slice(row.get(q..q + nq)?);
                let qvel = state.qvel.get_mut(slot.dof..slot.dof + nv)?;
                qvel.copy_from_slice(row.get(v..v + nv)?);
            }
            Some(state)
        };
        let all = (0..states.rows()).map(row).collect::<Option<Vec<_>>>()?;
        Some(held(all, self.rate_hz.unwrap_or(frame_hz), frame_hz))
    }

    /// Where the objects were that both the file and the arranged scene have.
    fn object_places(&self) -> BTreeMap<String, Vec<[f64; 7]>> {
        let (Some(states), Some(matched)) = (&self.states, &self.matched) else {
            return BTreeMap::new();
        };
        let slots = matched.slots.iter().zip(&matched.places).filter(|(slot, _)| slot.is_free);
        let track = |at: usize| {
            let place = |row| states.row(row)?.get(1 + at..8 + at)?.try_into().ok();
            (0..states.rows()).map(place).collect::<Option<Vec<[f64; 7]>>>()
        };
        slots.filter_map(|(slot, place)| Some((slot.name.clone(), track((*place)?.0)?))).collect()
    }

    /// The order in which the file has the rig's joints, where it names them.
    fn arm_order(&self, rig: &RigSpec) -> Result<Option<Vec<usize>>, TapeError> {
        let Some(names) = &self.joint_names else { return Ok(None) };
        let wanted: Vec<&str> = rig.joints.iter().map(|j| j.name.as_str()).collect();
        if names.len() != wanted.len() {
            return Ok(None);
        }
        let order = order_by_name(names, &wanted).or_else(|| columns_by_name(names, rig));
        order.map(Some).ok_or_else(|| {
            TapeError::Refused(format!(
                "{}: its joints are {}, those of {} are {}",
                self.name,
                names.join(", "),
                rig.robot,
                wanted.join(", ")
            ))
        })
    }

    /// Says what there is and what would be right.
    fn nothing_fits(&self, rig: &RigSpec) -> TapeError {
        let joints: Vec<&str> = rig.joints.iter().map(|j| j.name.as_str()).collect();
        let arrays = [
            ("actions", &self.actions),
            ("joint_targets", &self.joint_targets),
            ("states", &self.states),
        ];
        let arrays = arrays.map(|(name, array)| (name.to_owned(), array));
        let of_arm = |arm: &'_ ArmRows| {
            let what = |what: &str| match self.arms.len() {
                1 => what.to_owned(),
                _ => format!("{what} of {}", arm.name),
            };
            [(what("joint_pos"), arm.joint_pos.clone()), (what("gripper"), arm.gripper_pos.clone())]
        };
        let of_arms: Vec<_> = self.arms.iter().flat_map(of_arm).collect();
        let all = arrays.iter().map(|(n, a)| (n, a.as_ref()));
        let all = all.chain(of_arms.iter().map(|(n, a)| (n, a.as_ref())));
        let there = all.filter_map(|(name, array)| {
            Some(format!("{name} have {} numbers per row", array?.cols()))
        });
        let unread = self.unread.iter().map(|(path, why)| format!("{path} cannot be read: {why}"));
        let there: Vec<String> = there.chain(unread).collect();
        let there = if there.is_empty() { "it has none".to_owned() } else { there.join("; ") };
        TapeError::Missing(format!(
            "{}: it has neither targets nor positions of the {} joints of {} ({}): its {there}",
            self.name,
            joints.len(),
            rig.robot,
            joints.join(", ")
        ))
    }

    /// Recorded positions of all joints.
    fn seen(
        &self,
        rig: &RigSpec,
        places: &[usize],
        order: Option<&[usize]>,
    ) -> Option<Vec<Vec<f64>>> {
        let joints = rig.joints.len();
        let whole = |row: Vec<f64>| (row.len() == joints).then_some(row);
        let arms = self.arms_of(rig);
        if let Some(first) = arms.first().and_then(|arm| arm.joint_pos.as_ref()) {
            let row = |index: usize| {
                let mut row = Vec::with_capacity(joints);
                for arm in &arms {
                    row.extend_from_slice(arm.joint_pos.as_ref()?.row(index)?);
                    let grip = arm.gripper_pos.as_ref().and_then(|g| g.row(index));
                    row.extend_from_slice(grip.unwrap_or_default());
                }
                Some(sorted(whole(row)?, order))
            };
            if let Some(all) = (0..first.rows()).map(row).collect::<Option<Vec<_>>>() {
                return Some(all);
            }
        }
        let states = self.states.as_ref()?;
        let place = |at: &usize| match &self.matched {
            Some(matched) => matched.position(*at),
            None => Some(*at),
        };
        let places = places.iter().map(place).collect::<Option<Vec<usize>>>()?;
        let row = |index: usize| {
            let state = states.row(index)?;
            // The first number is the time.
            whole(places.iter().map(|at| state.get(1 + at).copied()).collect::<Option<_>>()?)
        };
        (0..states.rows()).map(row).collect()
    }

    /// What the file keeps of the rig's arms: by their names in the scene, else the first ones.
    pub(crate) fn arms_of(&self, rig: &RigSpec) -> Vec<&ArmRows> {
        let by_name = |name: &String| self.arms.iter().find(|arm| arm.name == *name);
        let named: Option<Vec<&ArmRows>> = rig.robots_in_scene.iter().map(by_name).collect();
        let named = named.filter(|arms| !arms.is_empty());
        named.unwrap_or_else(|| self.arms.iter().take(rig.arms().len()).collect())
    }
}

fn rows(array: &Array, order: Option<&[usize]>) -> Vec<Vec<f64>> {
    let rows = (0..array.rows()).filter_map(|row| array.row(row));
    rows.map(|row| sorted(row.to_vec(), order)).collect()
}

fn sorted(row: Vec<f64>, order: Option<&[usize]>) -> Vec<f64> {
    match order {
        Some(order) => order.iter().filter_map(|at| row.get(*at).copied()).collect(),
        None => row,
    }
}

/// Says why actions cannot be targets of the joints: the first is too far from where they are.
fn far(rig: &RigSpec, targets: &[Vec<f64>], seen: &[Vec<f64>]) -> Option<String> {
    let (first, was) = (targets.first()?, seen.first()?);
    let off = |index: usize| {
        let unit = if rig.joints[index].is_slide { 0.1 } else { 1.0 };
        let off = (first[index] - was[index]).abs();
        (off / unit > TARGET_REACH || off.is_nan()).then_some((index, off))
    };
    let (index, off) = (0..rig.joints.len()).filter_map(off).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let name = &rig.joints[index].name;
    Some(format!("the first action is {off:.2} from {name}: another order, or no joint targets"))
}

/// Rows at another rate: each is held until the next is due.
fn held<T: Clone>(rows: Vec<T>, from_hz: f64, to_hz: f64) -> Vec<T> {
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
        RigSpec::new(
            "arm",
            vec![joint("a", None), joint("b", None), joint("jaw", Some([0.0, 1.0]))],
            Rates { physics_hz: 120, control_hz: 120, frame_hz: 20 },
        )
    }

    fn matrix(cols: usize, numbers: &[f64]) -> Option<Array> {
        Some(Array::matrix(numbers.len() / cols, cols, numbers.to_vec()).unwrap())
    }

    #[test]
    fn positions_are_followed_a_frame_ahead_and_the_gripper_obeys_its_commands() {
        let demo = DemoEpisode {
            arms: vec![ArmRows {
                name: "robot0".into(),
                joint_pos: matrix(2, &[0.0, 0.0, 0.1, 0.2, 0.3, 0.4]),
                gripper_pos: matrix(1, &[0.9, 0.5, 0.5]),
                gripper_action: matrix(1, &[0.0, 1.0, -1.0]),
            }],
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
            actions: matrix(3, &[9.1, 8.2, 7.3]),
            states: matrix(5, &[0.0, 7.0, 8.0, 9.0, 0.0]),
            ..DemoEpisode::default()
        };
        let motion = demo.motion(&rig(), &[2, 1, 0]).unwrap();
        assert_eq!(motion.targets, [[9.1, 8.2, 7.3]]);
        assert_eq!(motion.seen, [[9.0, 8.0, 7.0]]);
        // As many numbers, but not where the joints are.
        let turned = DemoEpisode { actions: matrix(3, &[7.3, 8.2, 9.1]), ..demo.clone() };
        let motion = turned.motion(&rig(), &[2, 1, 0]).unwrap();
        assert_eq!(motion.targets, [[9.0, 8.0, 7.0]]);
        assert!(motion.source.contains("the first action is 2.10 from jaw"), "{}", motion.source);
        let names = ["jaw", "b", "a"].map(str::to_owned).to_vec();
        let named = DemoEpisode { joint_names: Some(names), ..turned };
        assert_eq!(named.motion(&rig(), &[2, 1, 0]).unwrap().targets, [[9.1, 8.2, 7.3]]);
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
