//! HDF5 demonstrations as episodes: of ours, with their tape inside, and of others, with whatever
//! they kept. A start may be restored from several parts; all that are there are given on.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use citrange_core::StartData;
use citrange_core::restore::BodyPose;
use citrange_hdf5::{
    Array, Attr, Demo, FileLayout, Images, InitialStateData, RobomimicDemo, RobomimicHeader, Series,
};

use crate::demo::{ACTIONS, FRAME_HZ, FRAMES, JOINT_TARGETS, TAPE, TASK, check_range};
use crate::demo_rows::is_so101;
use crate::episode::Episode;
use crate::error::TapeError;
use crate::order::Matched;

/// Rate of SO-101 recordings whose file does not say it: a frame per step of their simulator.
pub const SO101_HZ: f64 = 60.0;

/// Rate of ALOHA's recordings whose file does not say it: that of its control loop.
pub const ALOHA_HZ: f64 = 50.0;

/// An episode of an HDF5 file.
#[derive(Clone, Debug, Default)]
pub struct DemoEpisode {
    /// File name, and for files of many the name in it.
    pub name: String,
    /// The tape inside, and the frames of it that the episode shows.
    pub tape: Option<(Episode, Range<usize>)>,
    /// The tape's bytes; empty without one.
    pub tape_bytes: Vec<u8>,
    /// Why a tape inside cannot be used.
    pub tape_problem: Option<String>,
    /// Name of the environment, as the file has it.
    pub environment: Option<String>,
    /// The robots, as the file has them.
    pub robots: Option<String>,
    /// The task in words.
    pub task: Option<String>,
    /// Whether the task was done.
    pub success: Option<bool>,
    /// What is known about the start; arrays in the order of the file's model.
    pub start: StartData,
    /// The file's model as MJCF.
    pub model_xml: Option<String>,
    /// Rows per second, if that is said or can be seen.
    pub rate_hz: Option<f64>,
    /// Names of the robot's joints, where the file has them beside its arrays.
    pub joint_names: Option<Vec<String>>,
    /// A recording of an SO-101: `obs/{joint_pos, actions}` and pictures, nothing of the objects.
    pub is_so101: bool,
    /// Pictures in the file, by camera.
    pub pictures: BTreeMap<String, Images>,
    /// Arrays that cannot be read here, and why.
    pub unread: BTreeMap<String, String>,
    pub(crate) actions: Option<Array>,
    /// Whether the file says that its actions are joint targets.
    pub(crate) targets_said: bool,
    pub(crate) joint_targets: Option<Array>,
    /// What the file keeps of each arm, in the file's order.
    pub(crate) arms: Vec<ArmRows>,
    /// Grippers are fractions, 0 closed to 1 open.
    pub(crate) grips_are_fractions: bool,
    pub(crate) states: Option<Array>,
    /// Where a scene's joints are in the arrays; after [`DemoEpisode::arrange`].
    pub(crate) matched: Option<Matched>,
    /// Robots whose start positions were taken from the arrays.
    pub(crate) taken: BTreeSet<String>,
}

/// What a file keeps of one arm, a row per step.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArmRows {
    /// Its name in the file: `robot0`, …
    pub(crate) name: String,
    /// Joints, or all of them with the gripper.
    pub(crate) joint_pos: Option<Array>,
    pub(crate) gripper_pos: Option<Array>,
    pub(crate) gripper_action: Option<Array>,
}

impl DemoEpisode {
    /// All episodes of a file: one of a demo file, several of robomimic's or robosuite's.
    ///
    /// # Errors
    /// When the file is neither, or damaged.
    pub fn read(path: &Path) -> Result<Vec<Self>, TapeError> {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        match citrange_hdf5::sniff(path)? {
            FileLayout::Demo => {
                Ok(vec![Self::of_demo(citrange_hdf5::read_demo(path)?, name, path)])
            }
            FileLayout::Robomimic => {
                let file = citrange_hdf5::read_robomimic(path)?;
                let all = (0..file.demos.len()).map(|index| {
                    let name = format!("{name} {}", file.demos[index]);
                    Ok(Self::of_robomimic(file.read_demo(index)?, &file.header, name))
                });
                all.collect()
            }
            FileLayout::Aloha => Ok(vec![Self::of_aloha(citrange_hdf5::read_aloha(path)?, name)]),
            FileLayout::Other(what) => {
                let reason = format!("{what}: no recording that is known here");
                Err(TapeError::Log { path: path.to_owned(), reason })
            }
        }
    }

    /// Whether the first episode of a file of many is a recording of an SO-101.
    #[must_use]
    pub fn is_so101_file(path: &Path) -> bool {
        let first = citrange_hdf5::read_robomimic(path).and_then(|file| file.read_demo(0));
        first.is_ok_and(|demo| is_so101(&demo))
    }

    fn of_demo(demo: Demo, name: String, path: &Path) -> Self {
        let text = |key: &str| demo.attrs.other.get(key).and_then(Attr::text).map(str::to_owned);
        let mut episode = Self {
            name,
            environment: demo.attrs.environment.clone(),
            robots: demo.attrs.robots.clone(),
            task: text(TASK),
            success: demo.attrs.success,
            start: start_of(&demo),
            rate_hz: rate(&demo),
            targets_said: text(ACTIONS).as_deref() == Some(JOINT_TARGETS),
            ..Self::default()
        };
        if let Some(Attr::Texts(names)) = demo.attrs.other.get("joint_names") {
            episode.joint_names = Some(names.clone());
        }
        let Demo { model_xml, mut blobs, actions, mut robot_states, mut gripper_states, .. } = demo;
        episode.model_xml = model_xml;
        (episode.pictures, episode.unread) = (demo.cameras, demo.unread);
        episode.actions = actions;
        for name in robots_of(robot_states.keys()) {
            let grip = gripper_key(&name, gripper_states.keys());
            episode.arms.push(ArmRows {
                joint_pos: robot_states.remove(&format!("{name}_joint_pos")),
                gripper_pos: gripper_states.remove(&format!("{grip}_qpos")),
                gripper_action: gripper_states.remove(&format!("{grip}_action")),
                name,
            });
        }
        if let Some(bytes) = blobs.remove(TAPE) {
            match tape_of(&bytes, blobs.get(FRAMES), path) {
                Ok((tape, shown)) => {
                    episode.start.snapshot = tape.snapshot(shown.start);
                    episode.tape = Some((tape, shown));
                    episode.tape_bytes = bytes;
                }
                Err(problem) => episode.tape_problem = Some(problem.to_string()),
            }
        }
        episode
    }

    fn of_robomimic(demo: RobomimicDemo, header: &RobomimicHeader, name: String) -> Self {
        if is_so101(&demo) {
            return Self::of_so101(demo, header, name);
        }
        let RobomimicDemo { model_file, states, actions, mut obs, attrs, unread, .. } = demo;
        let names = robots_of(obs.keys());
        let mut take = |key: &str| match obs.remove(key) {
            Some(Series::Numbers(array)) => Some(array),
            _ => None,
        };
        let arm = |name: String| ArmRows {
            joint_pos: take(&format!("{name}_joint_pos")),
            gripper_pos: take(&format!("{name}_gripper_qpos")),
            gripper_action: None,
            name,
        };
        let arms: Vec<ArmRows> = names.into_iter().map(arm).collect();
        let joint_targets = take("joint_targets");
        let args = header.env_args.as_deref().or(header.env_info.as_deref()).unwrap_or_default();
        let args: serde_json::Value = serde_json::from_str(args).unwrap_or_default();
        // The clock of the states is exact; the settings say what was meant.
        let stamps = states.as_ref().map(|s| {
            (0..s.rows()).filter_map(|row| s.row(row)?.first().copied()).collect::<Vec<_>>()
        });
        let said = args["env_kwargs"]["control_freq"].as_f64();
        let mut start = StartData {
            flattened: states.as_ref().and_then(|s| s.row(0)).map(<[f64]>::to_vec),
            ..StartData::default()
        };
        for arm in arms.iter().filter(|_| start.flattened.is_none()) {
            let Some(joints) = arm.joint_pos.as_ref().and_then(|j| j.row(0)) else { continue };
            let grip = arm.gripper_pos.as_ref().and_then(|g| g.row(0)).unwrap_or_default();
            start.named.insert(arm.name.clone(), [joints, grip].concat());
        }
        let robots = [&args["robots"], &args["robots"][0], &args["env_kwargs"]["robots"][0]];
        Self {
            name,
            robots: robots.iter().find_map(|robots| robots.as_str()).map(str::to_owned),
            environment: header.env.clone().or(args["env_name"].as_str().map(str::to_owned)),
            task: attrs.get(TASK).and_then(Attr::text).map(str::to_owned),
            success: attrs.get("success").and_then(Attr::bool),
            start,
            model_xml: model_file,
            rate_hz: sane(stamps.as_deref().and_then(rate_of_stamps).or(said)),
            actions,
            joint_targets,
            arms,
            states,
            joint_names: texts(&args["env_kwargs"]["joint_names"]),
            unread,
            ..Self::default()
        }
    }

    /// Whether it is of the layout of ALOHA: all arms in one row, grippers as fractions.
    #[must_use]
    pub fn is_aloha(&self) -> bool {
        self.grips_are_fractions
    }

    /// Robots of a file are numbered; in a scene without such a name they are its robots, in the
    /// scene's order.
    pub fn rename_robots(&mut self, scene: &[String]) {
        for (number, own) in scene.iter().enumerate() {
            let name = format!("robot{number}");
            if scene.contains(&name) || self.start.named.contains_key(own) {
                continue;
            }
            if let Some(joints) = self.start.named.remove(&name) {
                self.start.named.insert(own.clone(), joints);
            }
            self.arms.iter_mut().filter(|arm| arm.name == name).for_each(|a| a.name = own.clone());
        }
    }

    /// Joint positions of the first arm.
    pub(crate) fn joint_pos(&self) -> Option<&Array> {
        self.arms.first()?.joint_pos.as_ref()
    }

    /// Rows of the recorded joints.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.joint_pos().or(self.actions.as_ref()).map_or(0, Array::rows)
    }
}

impl ArmRows {
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

fn texts(list: &serde_json::Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

fn tape_of(
    bytes: &[u8],
    frames: Option<&Vec<u8>>,
    path: &Path,
) -> Result<(Episode, Range<usize>), TapeError> {
    let tape = Episode::from_bytes(bytes, path)?;
    let shown = match frames {
        None => 0..tape.len(),
        Some(json) => serde_json::from_slice(json).map_err(|e| TapeError::Log {
            path: path.to_owned(),
            reason: format!("citrange/{FRAMES} is not a range of frames: {e}"),
        })?,
    };
    check_range(&tape, &shown)?;
    // The names of episode and cameras become file names.
    let odd = |name: &str| name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']);
    let cameras = tape.header.rig.rgb_cameras().map(|c| c.name.as_str());
    if let Some(name) = cameras.chain([tape.header.uid.as_str()]).find(|name| odd(name)) {
        let reason = format!("\"{name}\" is no name of an episode or camera");
        return Err(TapeError::Log { path: path.to_owned(), reason });
    }
    Ok((tape, shown))
}

/// What the file's datasets say about the start, whichever there are.
fn start_of(demo: &Demo) -> StartData {
    let arrays = demo.initial_state_data.clone().unwrap_or_default();
    let mut named = BTreeMap::new();
    for (dataset, numbers) in &demo.named_joints {
        if let Some(robot) = dataset.strip_suffix("_joint_pos") {
            let grip = gripper_key(robot, demo.gripper_states.keys());
            let grip = demo.gripper_states.get(&format!("{grip}_qpos")).and_then(|g| g.row(0));
            named.insert(robot.to_owned(), [numbers, grip.unwrap_or_default()].concat());
        } else if let Some(joint) = dataset.strip_suffix("_qpos") {
            let object = joint.strip_suffix("_joint0").or(joint.strip_suffix("_joint"));
            named.insert(object.unwrap_or(joint).to_owned(), numbers.clone());
        }
    }
    StartData {
        snapshot: None,
        bodies: bodies(&arrays),
        qpos: arrays.qpos,
        qvel: arrays.qvel,
        time_s: arrays.time,
        named,
        flattened: demo.initial_state.clone(),
    }
}

fn bodies(arrays: &InitialStateData) -> Vec<BodyPose> {
    let (Some(pos), Some(rot)) = (&arrays.body_pos, &arrays.body_rot) else { return Vec::new() };
    // Names of another count name something else.
    let names = arrays.body_names.as_ref().filter(|n| n.len() == pos.len());
    let pairs = pos.iter().zip(rot).enumerate();
    let name = |at: usize| names.and_then(|n| n.get(at)).cloned();
    pairs.map(|(at, (p, r))| BodyPose { name: name(at), pos_m: *p, rot: *r }).collect()
}

/// Robots whose joints are there: `robot0`, `robot1`, …, also beyond nine.
fn robots_of<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let all = names.filter_map(|name| name.strip_suffix("_joint_pos"));
    let mut all: Vec<String> = all.map(str::to_owned).collect();
    all.sort_by_key(|name| (name.len(), name.clone()));
    all
}

/// `robot0_right_gripper`, or whatever the robot's gripper is called.
fn gripper_key<'a>(robot: &str, names: impl Iterator<Item = &'a String>) -> String {
    let own = |name: &&String| name.starts_with(robot) && name.ends_with("_qpos");
    let key = names.into_iter().find(own).and_then(|name| name.strip_suffix("_qpos"));
    key.map_or_else(|| format!("{robot}_right_gripper"), str::to_owned)
}

fn rate(demo: &Demo) -> Option<f64> {
    let said = [FRAME_HZ, "control_freq", "control_hz"];
    let said = said.iter().find_map(|key| demo.attrs.other.get(*key)?.number());
    sane(said.or_else(|| rate_of_stamps(demo.timestamps.as_ref()?)))
}

/// The usual time between rows, as a whole number of rows per second.
fn rate_of_stamps(stamps: &[f64]) -> Option<f64> {
    let mut gaps: Vec<f64> = stamps.windows(2).map(|w| w[1] - w[0]).collect();
    gaps.sort_by(f64::total_cmp);
    let middle = *gaps.get(gaps.len() / 2)?;
    (middle > 0.0).then(|| (1.0 / middle).round())
}

pub(crate) fn sane(hz: Option<f64>) -> Option<f64> {
    hz.filter(|hz| (0.1..=10_000.0).contains(hz))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_seen_in_jittering_stamps() {
        let stamps: Vec<f64> =
            (0..50).map(|k| f64::from(k) * 0.05 + 0.004 * f64::from(k % 3)).collect();
        assert_eq!(rate_of_stamps(&stamps), Some(19.0));
        assert_eq!(rate_of_stamps(&[0.0, 0.05, 0.1, 0.15]), Some(20.0));
        assert_eq!(rate_of_stamps(&[0.0]), None);
        assert_eq!(rate_of_stamps(&[1.0, 1.0, 1.0]), None);
        assert_eq!(sane(Some(f64::NAN)), None);
    }

    #[test]
    fn names_of_datasets_become_names_of_things() {
        let mut demo = Demo::default();
        for (name, count) in [
            ("cubeA_joint_qpos", 7),
            ("cubeB_joint0_qpos", 7),
            ("ball_qpos", 7),
            ("robot0_joint_pos", 2),
        ] {
            demo.named_joints.insert(name.into(), vec![1.0; count]);
        }
        let grip = Array::matrix(2, 2, vec![5.0, 6.0, 7.0, 8.0]).unwrap();
        demo.gripper_states.insert("robot0_right_gripper_qpos".into(), grip);
        let start = start_of(&demo);
        let names: Vec<&String> = start.named.keys().collect();
        assert_eq!(names, ["ball", "cubeA", "cubeB", "robot0"]);
        assert_eq!(start.named["robot0"], [1.0, 1.0, 5.0, 6.0]);
    }
}
