//! One episode in one file: what such a file holds.

use std::collections::BTreeMap;

use citrange_core::time::Utc;

use crate::{Array, Attr, Images, Series};

/// A recorded episode. Everything is optional: older, poorer files are read as they are.
#[derive(Clone, Debug, Default)]
pub struct Demo {
    /// Attributes of the file.
    pub attrs: DemoAttrs,
    /// The model as MJCF text (`model_xml`).
    pub model_xml: Option<String>,
    /// Time, joint positions and joint velocities at the start, one after the other.
    pub initial_state: Option<Vec<f64>>,
    /// The start in separate arrays (`initial_state_data/`).
    pub initial_state_data: Option<InitialStateData>,
    /// Start positions of single joints, by the name of their dataset: `cubeA_joint_qpos`,
    /// `robot0_joint_pos`, …
    pub named_joints: BTreeMap<String, Vec<f64>>,
    /// An action per step.
    pub actions: Option<Array>,
    /// A reward per step.
    pub rewards: Option<Vec<f64>>,
    /// Whether the episode was over, per step.
    pub dones: Option<Vec<bool>>,
    /// Seconds since the start, per step, by the wall clock.
    pub timestamps: Option<Vec<f64>>,
    /// Pictures by camera (`camera_images/`).
    pub cameras: BTreeMap<String, Images>,
    /// Joints of the robots over time (`robot_states/`).
    pub robot_states: BTreeMap<String, Array>,
    /// Grippers over time (`gripper_states/`).
    pub gripper_states: BTreeMap<String, Array>,
    /// Whatever else was observed over time (`observables/`).
    pub observables: BTreeMap<String, Series>,
    /// Files within the file (`citrange/`), byte for byte.
    pub blobs: BTreeMap<String, Vec<u8>>,
    /// Paths of what was found but is not understood; never written.
    pub skipped: Vec<String>,
    /// Paths of what cannot be read here (virtual datasets, filters of others), and why; never
    /// written.
    pub unread: BTreeMap<String, String>,
}

/// Attributes of a [`Demo`] file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DemoAttrs {
    /// Number of the episode in its session.
    pub episode_number: Option<i64>,
    /// Name of the environment.
    pub environment: Option<String>,
    /// The robots, as the text of a list.
    pub robots: Option<String>,
    /// Number of steps.
    pub total_steps: Option<i64>,
    /// When it began: text or seconds, as found.
    pub start_time: Option<Attr>,
    /// Seconds it took.
    pub duration: Option<f64>,
    /// Whether the task was done.
    pub success: Option<bool>,
    /// Whether looks were varied while recording.
    pub randomization_enabled: Option<bool>,
    /// The random seed of that: a number or text, as found.
    pub randomization_seed: Option<Attr>,
    /// Attributes with other names, or with a type that their name does not promise.
    pub other: BTreeMap<String, Attr>,
}

/// The start of a [`Demo`], in separate arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialStateData {
    /// All joint positions.
    pub qpos: Option<Vec<f64>>,
    /// All joint velocities.
    pub qvel: Option<Vec<f64>>,
    /// Simulation time in seconds. The original layout leaves it out.
    pub time: Option<f64>,
    /// Positions of all bodies in the world, in metres.
    pub body_pos: Option<Vec<[f64; 3]>>,
    /// Rotations of all bodies in the world, as matrices row by row.
    pub body_rot: Option<Vec<[f64; 9]>>,
    /// Names of the bodies. The original layout leaves them out.
    pub body_names: Option<Vec<String>>,
}

impl Demo {
    /// Start position of an object's joint: `cubeA_joint` is in the dataset `cubeA_joint_qpos`.
    #[must_use]
    pub fn joint_qpos(&self, joint: &str) -> Option<&[f64]> {
        self.named_joints.get(&format!("{joint}_qpos")).map(Vec::as_slice)
    }

    /// Start positions of the joints of robot `index`, from the dataset `robot<index>_joint_pos`.
    #[must_use]
    pub fn robot_joint_pos(&self, index: usize) -> Option<&[f64]> {
        self.named_joints.get(&format!("robot{index}_joint_pos")).map(Vec::as_slice)
    }
}

/// Whether a dataset beside the known ones holds the start of a joint.
pub(crate) fn is_joint_name(name: &str) -> bool {
    name.ends_with("_qpos") || name.ends_with("_joint_pos")
}

/// The usual name of a demo file: `demo_episode_0007_20260314_150926.h5`, in UTC.
///
/// `unix_s` are seconds since 1970.
#[must_use]
pub fn demo_file_name(count: u32, unix_s: u64) -> String {
    let (day, time) = Utc::of_unix_s(unix_s).compact();
    format!("demo_episode_{count:04}_{day}_{time}.h5")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_the_date() {
        for (secs, date) in [
            (0, "19700101_000000"),
            (951_782_399, "20000228_235959"),
            (951_782_400, "20000229_000000"),
            (951_868_800, "20000301_000000"),
            (1_704_067_199, "20231231_235959"),
            (1_773_500_966, "20260314_150926"),
            (4_107_542_400, "21000301_000000"),
        ] {
            assert_eq!(demo_file_name(7, secs), format!("demo_episode_0007_{date}.h5"));
        }
        assert!(demo_file_name(12_345, 0).starts_with("demo_episode_12345_"));
    }

    #[test]
    fn joints_are_found_by_their_own_name() {
        let mut demo = Demo::default();
        demo.named_joints.insert("cubeA_joint_qpos".into(), vec![1.0; 7]);
        demo.named_joints.insert("robot1_joint_pos".into(), vec![2.0]);
        assert_eq!(demo.joint_qpos("cubeA_joint"), Some(&[1.0; 7][..]));
        assert_eq!(demo.robot_joint_pos(1), Some(&[2.0][..]));
        assert_eq!(demo.robot_joint_pos(0), None);
    }
}
