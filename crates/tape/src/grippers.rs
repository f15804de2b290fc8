//! Grippers of files of others: what they were told where their joints' targets are not known, and
//! one number that stands for all fingers.

use citrange_core::RigSpec;
use citrange_hdf5::Array;

use crate::demo::arm_and_gripper;
use crate::demo_in::DemoEpisode;

impl DemoEpisode {
    /// Targets for an arm whose commands are not known: where it was one frame later. A gripper
    /// that only went where it was would not press, so its own commands are taken.
    pub(crate) fn follow(&self, rig: &RigSpec, seen: &[Vec<f64>]) -> (Vec<Vec<f64>>, String) {
        let mut targets: Vec<Vec<f64>> = seen.iter().skip(1).chain(seen.last()).cloned().collect();
        let mut source = "recorded joint positions; the file's actions are not joint targets and \
                          cannot be carried out here"
            .to_owned();
        let arms = self.arms_of(rig);
        let mut are_commanded = false;
        for (at, spec) in rig.arms().into_iter().enumerate() {
            let (_, grip) = arm_and_gripper(rig, spec.joints);
            let rows = arms.get(at).and_then(|arm| arm.gripper_action.as_ref());
            // Files of ours keep the fingers' own targets, which are no open and close commands.
            if self.targets_said {
                let own = rows.filter(|a| a.cols() == grip.len());
                for (index, row) in targets.iter_mut().enumerate() {
                    let fingers = own.and_then(|own| own.row(index));
                    if let (Some(fingers), Some(to)) = (fingers, row.get_mut(grip.clone())) {
                        to.copy_from_slice(fingers);
                    }
                }
                continue;
            }
            let Some(commands) = self.grips(rows, at, rig.arms().len()) else { continue };
            are_commanded = true;
            let mut closed = None;
            for (row, command) in targets.iter_mut().zip(commands) {
                closed = match command {
                    c if c > 0.0 => Some(true),
                    c if c < 0.0 => Some(false),
                    _ => closed,
                };
                let fingers = grip.clone().zip(row.get_mut(grip.clone()).into_iter().flatten());
                for (joint, target) in fingers {
                    if let (Some([shut, open]), Some(closed)) = (rig.joints[joint].gripper, closed)
                    {
                        *target = if closed { shut } else { open };
                    }
                }
            }
        }
        if are_commanded {
            source.push_str("; gripper by its recorded open and close commands");
        }
        (targets, source)
    }

    /// A number per step for one of so many arms, more than 0 to close: robosuite's convention.
    fn grips(&self, own: Option<&Array>, at: usize, arms: usize) -> Option<Vec<f64>> {
        if let Some(own) = own.filter(|a| a.cols() == 1) {
            return Some(own.data().to_vec());
        }
        // Three or six numbers move the hand, the last one the gripper.
        let width =
            |a: &&Array| a.cols().is_multiple_of(arms) && [4, 7].contains(&(a.cols() / arms));
        let actions = self.actions.as_ref().filter(width)?;
        let last = (at + 1) * (actions.cols() / arms) - 1;
        (0..actions.rows()).map(|row| actions.row(row)?.get(last).copied()).collect()
    }

    /// Rows whose grippers are one fraction each, as rows of all joints of a rig. What does not fit
    /// stays as it is, to be named by whoever needs it.
    pub(crate) fn with_whole_grippers(&self, rig: &RigSpec) -> Self {
        let whole = |array: &Array| {
            let rows = (0..array.rows()).map(|row| spread(rig, array.row(row)?));
            let all = rows.collect::<Option<Vec<_>>>()?.concat();
            Array::matrix(array.rows(), rig.joints.len(), all).ok()
        };
        let mut demo = Self { grips_are_fractions: false, ..self.clone() };
        for array in demo.arms.iter_mut().map(|arm| &mut arm.joint_pos).chain([&mut demo.actions]) {
            *array = array.take().map(|array| whole(&array).unwrap_or(array));
        }
        // One array has the joints of all arms.
        demo.arms.truncate(1);
        if self.joint_names.as_ref().is_some_and(|names| names.len() != rig.joints.len()) {
            demo.joint_names = None;
        }
        demo
    }
}

/// A row with one number per gripper, 0 closed to 1 open, as positions of all joints.
fn spread(rig: &RigSpec, row: &[f64]) -> Option<Vec<f64>> {
    let arms: Vec<_> = rig.arms().into_iter().map(|arm| arm_and_gripper(rig, arm.joints)).collect();
    let mut rest = row;
    let mut all = Vec::with_capacity(rig.joints.len());
    // A gripper of several fingers has as many numbers as joints, or one for all of them.
    let short = row.len() < rig.joints.len();
    for (arm, grip) in arms {
        let (own, others) = rest.split_at_checked(arm.len())?;
        all.extend_from_slice(own);
        let count = if short { grip.len().min(1) } else { grip.len() };
        let (fractions, others) = others.split_at_checked(count)?;
        for (finger, joint) in rig.joints[grip].iter().enumerate() {
            let fraction = fractions.get(finger).or(fractions.last())?;
            let [closed, open] = joint.gripper?;
            all.push(closed + fraction * (open - closed));
        }
        rest = others;
    }
    rest.is_empty().then_some(all)
}
