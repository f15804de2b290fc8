//! An episode as an HDF5 demonstration: its start in every way that others may restore it, what
//! was done and seen, and the tape itself, so that nothing is lost on the way.

use std::collections::BTreeMap;
use std::ops::Range;

use citrange_core::restore::BodyPose;
use citrange_core::{Outcome, RigSpec, Snapshot};
use citrange_hdf5::{Array, Attr, Demo, DemoAttrs, Images, InitialStateData};

use crate::episode::Episode;
use crate::error::TapeError;
use crate::log::read_file;

/// Name of the tape inside the file.
pub(crate) const TAPE: &str = "tape";
/// Name of the JSON that says which frames of the tape the episode shows.
pub(crate) const FRAMES: &str = "frames";
/// Attribute: what the numbers of an action are.
pub(crate) const ACTIONS: &str = "actions_meaning";
/// Its value in files of ours.
pub(crate) const JOINT_TARGETS: &str = "joint_targets";
/// Attribute: rows per second of simulated time.
pub(crate) const FRAME_HZ: &str = "frame_hz";
/// Attribute: the task in words.
pub(crate) const TASK: &str = "task";

/// What an export needs beside the tape, from those who know the model and the pictures.
#[derive(Clone, Debug, Default)]
pub struct DemoExtras {
    /// Number of the episode in its dataset.
    pub number: usize,
    /// How it ended, as the dataset has it.
    pub outcome: Option<Outcome>,
    /// The model as MJCF; `None` when it cannot be had.
    pub model_xml: Option<String>,
    /// Name of the robot in the scene: `robot0`.
    pub robot: String,
    /// Free objects, and where their 7 positions begin among all joint positions.
    pub objects: BTreeMap<String, usize>,
    /// Where the bodies are at the first frame shown.
    pub bodies: Vec<BodyPose>,
    /// Pictures of the frames shown, by camera.
    pub cameras: BTreeMap<String, Images>,
}

/// The demonstration of the frames `shown` of a tape. The tape's file goes into it as it is.
///
/// # Errors
/// When the frames are not on the tape, a state lacks an object's place, or the tape's file
/// cannot be read any more.
pub fn export_demo(
    tape: &Episode,
    shown: Range<usize>,
    extras: DemoExtras,
) -> Result<Demo, TapeError> {
    check_range(tape, &shown)?;
    check_joints(tape, &shown)?;
    let header = &tape.header;
    let steps = shown.len();
    let frames = &tape.frames[shown.clone()];
    let secs = |wall_ns: u64| wall_ns.saturating_sub(frames[0].wall_ns) as f64 * 1e-9;
    let timestamps: Vec<f64> = frames.iter().map(|f| secs(f.wall_ns)).collect();
    let mut dones = vec![false; steps];
    dones[steps - 1] = true;
    let outcome = extras.outcome.unwrap_or_else(|| tape.outcome());
    let mut demo = Demo {
        attrs: DemoAttrs {
            episode_number: Some(extras.number as i64),
            environment: header.scene.as_ref().map(|s| s.name.clone()),
            robots: Some(robots(&header.rig)),
            total_steps: Some(steps as i64),
            start_time: Some(Attr::Text(header.began_utc.clone())),
            duration: Some(steps as f64 / f64::from(header.rig.rates.frame_hz)),
            success: outcome.success,
            // Looks are not varied while recording.
            randomization_enabled: Some(false),
            randomization_seed: Some(Attr::Unsigned(header.seed)),
            other: other_attrs(tape, &outcome),
        },
        model_xml: extras.model_xml,
        dones: Some(dones),
        timestamps: Some(timestamps),
        actions: Some(table(shown.clone().map(|f| tape.action(f).unwrap_or_default()))?),
        cameras: extras.cameras,
        ..Demo::default()
    };
    for spec in header.rig.arms() {
        // An arm alone is called as in its scene.
        let is_alone = header.rig.several_arms.is_empty();
        let robot = if is_alone { &extras.robot } else { &spec.name };
        let (arm, gripper) = arm_and_gripper(&header.rig, spec.joints);
        let (all, first) = (frames, frames[0].joint_pos[arm.clone()].to_vec());
        let pos = |joints: &Range<usize>| table(all.iter().map(|f| &f.joint_pos[joints.clone()]));
        let vel = |joints: &Range<usize>| table(all.iter().map(|f| &f.joint_vel[joints.clone()]));
        demo.robot_states.insert(format!("{robot}_joint_pos"), pos(&arm)?);
        demo.robot_states.insert(format!("{robot}_joint_vel"), vel(&arm)?);
        demo.named_joints.insert(format!("{robot}_joint_pos"), first);
        if !gripper.is_empty() {
            let grip = format!("{robot}_right_gripper");
            let targets =
                shown.clone().map(|f| tape.action(f).and_then(|a| a.get(gripper.clone())));
            let action = table(targets.map(Option::unwrap_or_default))?;
            demo.gripper_states.insert(format!("{grip}_qpos"), pos(&gripper)?);
            demo.gripper_states.insert(format!("{grip}_qvel"), vel(&gripper)?);
            demo.gripper_states.insert(format!("{grip}_action"), action);
        }
    }
    if let Some(start) = tape.snapshot(shown.start) {
        write_start(&mut demo, &start, &extras.objects, extras.bodies)?;
    }
    demo.blobs.insert(TAPE.to_owned(), read_file(&tape.path)?);
    let range = serde_json::to_vec(&shown)
        .map_err(|e| TapeError::Recording(format!("the frames cannot be written: {e}")))?;
    demo.blobs.insert(FRAMES.to_owned(), range);
    Ok(demo)
}

/// Frames must be there, and whole.
pub(crate) fn check_range(tape: &Episode, shown: &Range<usize>) -> Result<(), TapeError> {
    if shown.start < shown.end && shown.end <= tape.len() {
        return Ok(());
    }
    Err(TapeError::Missing(format!(
        "{}: frames {} to {} are none of its; it has {}, numbered from 0",
        tape.path.display(),
        shown.start,
        shown.end,
        tape.len()
    )))
}

/// Every frame must have the rig's joints: a tape may come from anywhere.
fn check_joints(tape: &Episode, shown: &Range<usize>) -> Result<(), TapeError> {
    let joints = tape.header.rig.joints.len();
    let fits = |frame: usize| {
        let seen = &tape.frames[frame];
        let lengths = [seen.joint_pos.len(), seen.joint_vel.len()];
        lengths == [joints; 2] && tape.action(frame).is_some_and(|a| a.len() == joints)
    };
    match shown.clone().find(|frame| !fits(*frame)) {
        None => Ok(()),
        Some(frame) => Err(TapeError::Log {
            path: tape.path.clone(),
            reason: format!("frame {frame} does not have the rig's {joints} joints"),
        }),
    }
}

/// The joints of an arm, and those of the gripper behind it: they are kept apart in these files
/// where the gripper comes last.
#[must_use]
pub fn arm_and_gripper(rig: &RigSpec, joints: Range<usize>) -> (Range<usize>, Range<usize>) {
    let own = rig.joints.get(joints.clone()).unwrap_or_default();
    let is_gripper = |joint: &citrange_core::rig::JointSpec| joint.gripper.is_some();
    let arm = own.iter().position(is_gripper).unwrap_or(own.len());
    let arm = if own[arm..].iter().all(is_gripper) { arm } else { own.len() };
    (joints.start..joints.start + arm, joints.start + arm..joints.start + own.len())
}

/// The models of all arms, as robosuite writes them: a list in JSON.
fn robots(rig: &RigSpec) -> String {
    let names: Vec<String> = rig.arms().iter().map(|arm| format!("\"{}\"", arm.robot)).collect();
    format!("[{}]", names.join(", "))
}

/// Time, positions and velocities of a state, one after the other.
#[must_use]
pub fn flattened(state: &Snapshot) -> Option<Vec<f64>> {
    let part = |name: &str| state.fields.get(name).map(Vec::as_slice);
    Some([part("mujoco/time")?, part("mujoco/qpos")?, part("mujoco/qvel")?].concat())
}

fn write_start(
    demo: &mut Demo,
    start: &Snapshot,
    objects: &BTreeMap<String, usize>,
    bodies: Vec<BodyPose>,
) -> Result<(), TapeError> {
    let Some(flat) = flattened(start) else { return Ok(()) };
    let (qpos, qvel) = (&start.fields["mujoco/qpos"], &start.fields["mujoco/qvel"]);
    for (name, at) in objects {
        let place = qpos.get(*at..at.saturating_add(7)).ok_or_else(|| {
            let had = qpos.len();
            TapeError::Refused(format!("{name} would be at position {at} of {had} in the state"))
        })?;
        demo.named_joints.insert(format!("{name}_joint_qpos"), place.to_vec());
    }
    let names: Option<Vec<String>> = bodies.iter().map(|b| b.name.clone()).collect();
    let known = !bodies.is_empty();
    demo.initial_state_data = Some(InitialStateData {
        qpos: Some(qpos.clone()),
        qvel: Some(qvel.clone()),
        time: flat.first().copied(),
        body_pos: known.then(|| bodies.iter().map(|b| b.pos_m).collect()),
        body_rot: known.then(|| bodies.iter().map(|b| b.rot).collect()),
        body_names: names.filter(|n| !n.is_empty()),
    });
    demo.initial_state = Some(flat);
    Ok(())
}

fn other_attrs(tape: &Episode, outcome: &Outcome) -> BTreeMap<String, Attr> {
    let header = &tape.header;
    let joints = header.rig.joints.iter().map(|j| j.name.clone()).collect();
    let text = |text: &str| Attr::Text(text.to_owned());
    BTreeMap::from([
        (ACTIONS.to_owned(), text(JOINT_TARGETS)),
        (FRAME_HZ.to_owned(), Attr::Float(f64::from(header.rig.rates.frame_hz))),
        (TASK.to_owned(), text(&header.task)),
        ("joint_names".to_owned(), Attr::Texts(joints)),
        ("outcome".to_owned(), text(&outcome.reason)),
        ("uid".to_owned(), text(&header.uid)),
        ("engine".to_owned(), text(&header.engine)),
        ("model_hash".to_owned(), text(&header.model_hash)),
        ("citrange_version".to_owned(), text(&header.tool_version)),
    ])
}

/// Rows of equal length.
pub(crate) fn table<'a>(
    rows: impl ExactSizeIterator<Item = &'a [f64]>,
) -> Result<Array, TapeError> {
    let count = rows.len();
    let all: Vec<f64> = rows.flatten().copied().collect();
    let width = all.len() / count.max(1);
    Ok(Array::matrix(count, width, all)?)
}
