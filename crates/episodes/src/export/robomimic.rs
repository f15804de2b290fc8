//! Episodes of a dataset in one file of robomimic's layout, for training.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use citrange_core::rig::{ArmSpec, JointSpec};
use citrange_core::{Command, Observation, Outcome, Want};
use citrange_hdf5::{Array, Attr, Images, RobomimicDemo, RobomimicHeader, RobomimicWriter, Series};
use citrange_tape::{Dataset, TapeHeader, arm_and_gripper, flattened, utc_now};
use serde_json::json;

use super::autopilot;
use super::source::{ExportEpisode, Models, counted, frames};
use super::{ExportOptions, Exporter, must_be_new};
use crate::context::{Progress, RunContext};
use crate::error::{Context as _, EpisodesError, Result, bad_input};

pub(super) struct Robomimic;

impl Exporter for Robomimic {
    fn name(&self) -> &'static str {
        "robomimic"
    }

    fn about(&self) -> &'static str {
        "one file for training"
    }

    fn write(
        &self,
        dataset: &Dataset,
        episodes: &[usize],
        options: &ExportOptions,
        ctx: RunContext<'_>,
    ) -> Result<Vec<PathBuf>> {
        let out = &options.out;
        must_be_new(out)?;
        let Some(first) = episodes.first() else {
            bad_input!("{} has no episodes", dataset.root().display());
        };
        let scene = ExportEpisode::new(dataset, *first)?.tape.header.clone();
        let name = |header: &TapeHeader| header.scene.as_ref().map(|s| s.name.clone());
        let mut writer = RobomimicWriter::create(out, &header_of(&scene))?;
        let cameras = dataset.camera_names().len();
        let bar =
            ctx.progress("exporting", frames(dataset, episodes) * (2 * cameras).max(1) as u64);
        let mut models = Models::default();
        let mut made = Vec::new();
        for number in episodes {
            let ready = ExportEpisode::new(dataset, *number)?;
            if name(&ready.tape.header) != name(&scene) {
                bad_input!(
                    "episode {number} is of another scene than episode {first}; a robomimic file has \
                     one environment: choose with --episodes"
                );
            }
            let xml = models.xml(&ready.tape.header, ctx);
            let demo = demo(dataset, ready, xml, &bar, ctx)?;
            let is_success = match demo.attrs.get("success") {
                Some(Attr::Bool(success)) => Some(*success),
                _ => None,
            };
            made.push((writer.add(&demo)?, is_success));
            if cameras == 0 {
                (0..demo.steps()).for_each(|_| bar.add_one());
            }
        }
        for (name, demos) in masks(&made) {
            writer.mask(name, &demos)?;
        }
        writer.finish()?;
        bar.finish();
        Ok(vec![out.clone()])
    }
}

/// Parts of a file by robomimic's filter keys: what to train with and what to judge by, and how
/// they ended. Parts that would be empty are left out, and `train` is everything where there is
/// nothing to spare.
fn masks(made: &[(String, Option<bool>)]) -> Vec<(&'static str, Vec<&str>)> {
    // As robomimic splits by default: one in ten, at least one.
    const VALID_ONE_IN: usize = 10;
    let is_valid = |index: usize| match made.len() {
        0 | 1 => false,
        few if few < VALID_ONE_IN => index + 1 == few,
        _ => index % VALID_ONE_IN == VALID_ONE_IN - 1,
    };
    let of = |belongs: &dyn Fn(usize, Option<bool>) -> bool| {
        let rows = made.iter().enumerate().filter(|(index, row)| belongs(*index, row.1));
        rows.map(|(_, (name, _))| name.as_str()).collect()
    };
    let masks: [(_, Vec<&str>); 4] = [
        ("train", of(&|index, _| !is_valid(index))),
        ("valid", of(&|index, _| is_valid(index))),
        ("success", of(&|_, success| success == Some(true))),
        ("failure", of(&|_, success| success == Some(false))),
    ];
    masks.into_iter().filter(|(_, demos)| !demos.is_empty()).collect()
}

fn header_of(header: &TapeHeader) -> RobomimicHeader {
    let scene = header.scene.as_ref().map(|s| s.name.clone()).unwrap_or_default();
    let joints = &header.rig.joints;
    let limits: Vec<[f64; 2]> = joints.iter().map(limits).collect();
    let robots: Vec<String> = header.rig.arms().into_iter().map(|arm| arm.robot).collect();
    let kwargs = json!({
        "robots": robots,
        "control_freq": header.rig.rates.frame_hz,
        "joint_names": joints.iter().map(|j| j.name.as_str()).collect::<Vec<_>>(),
        "action_low": limits.iter().map(|l| l[0]).collect::<Vec<_>>(),
        "action_high": limits.iter().map(|l| l[1]).collect::<Vec<_>>(),
    });
    let args = json!({
        "env_name": scene, "type": 1, "env_version": header.tool_version, "env_kwargs": kwargs,
    });
    let now = utc_now();
    RobomimicHeader {
        env: Some(scene.clone()),
        env_info: Some(json!({ "env_name": scene, "robots": robots }).to_string()),
        env_args: Some(args.to_string()),
        repository_version: Some(format!("citrange {}", header.tool_version)),
        date: now.get(..10).map(str::to_owned),
        time: now.get(11..19).map(str::to_owned),
        other: BTreeMap::new(),
    }
}

/// What an action of -1 and of 1 means; a joint without limits turns half a turn either way.
fn limits(joint: &JointSpec) -> [f64; 2] {
    const TURN: [f64; 2] = [-std::f64::consts::PI, std::f64::consts::PI];
    joint.range.filter(|[low, high]| high > low).unwrap_or(TURN)
}

fn demo(
    dataset: &Dataset,
    ready: ExportEpisode,
    xml: Option<String>,
    bar: &Arc<dyn Progress>,
    ctx: RunContext<'_>,
) -> Result<RobomimicDemo> {
    let ExportEpisode { number, tape, shown, rig, objects, .. } = ready;
    let mut rig = rig.context("a robomimic file needs a simulated scene")?;
    let spec = tape.header.rig.clone();
    let steps = shown.len();
    let state = |frame: usize| {
        let snapshot = tape.snapshot(frame).as_ref().and_then(flattened);
        snapshot.with_context(|| format!("episode {number}, frame {frame} has no complete state"))
    };
    let mut states = Vec::with_capacity(steps + 1);
    for frame in shown.clone() {
        states.push(state(frame)?);
    }
    let targets: Vec<Vec<f64>> =
        shown.clone().map(|f| tape.action(f).unwrap_or_default().to_vec()).collect();
    let share = |(joint, target): (&JointSpec, &f64)| {
        let [low, high] = limits(joint);
        2.0 * (target - low) / (high - low) - 1.0
    };
    let actions: Vec<Vec<f64>> =
        targets.iter().map(|t| spec.joints.iter().zip(t).map(share).collect()).collect();
    let row = |f: usize| (tape.frames[f].joint_pos.clone(), tape.frames[f].joint_vel.clone());
    let mut joints: Vec<(Vec<f64>, Vec<f64>)> = shown.clone().map(row).collect();
    // The world after the last action; a recording that was cut off does not have it.
    let last = tape.snapshot(shown.end).is_some();
    let works = autopilot::rows(&tape, shown.start..shown.end + usize::from(last));
    let mut seen = Observation::default();
    if last {
        states.push(state(shown.end)?);
        rig.go_to(&tape, shown.end)?;
        let want = if spec.cameras.is_empty() { Want::Joints } else { Want::Images };
        rig.begin(&mut Command::default())?;
        rig.observe(want, &mut seen)?;
        joints.push((seen.joint_pos.clone(), seen.joint_vel.clone()));
    } else {
        ctx.say(&format!("episode {number} was cut off: its next_obs are left out"));
    }
    let look = |from: usize| -> Result<BTreeMap<String, Series>> {
        let rows = from..from + steps;
        let of = |pick: &dyn Fn(usize) -> Vec<f64>| table(rows.clone().map(pick).collect());
        let mut all = BTreeMap::new();
        for ArmSpec { name, joints: own, .. } in spec.arms() {
            let (arm, grip) = arm_and_gripper(&spec, own);
            let parts = [("joint_pos", "joint_vel", arm), ("gripper_qpos", "gripper_qvel", grip)];
            for (pos, vel, part) in parts.into_iter().filter(|(.., part)| !part.is_empty()) {
                all.insert(format!("{name}_{pos}"), of(&|k| joints[k].0[part.clone()].to_vec())?);
                all.insert(format!("{name}_{vel}"), of(&|k| joints[k].1[part.clone()].to_vec())?);
            }
        }
        for (name, rows) in &works {
            all.insert(name.to_string(), of(&|k| rows[k].clone())?);
        }
        if !objects.is_empty() {
            // The first number of a state is the time.
            let place = |k: usize| {
                let of = |at: &usize| states[k].get(1 + at..8 + at).unwrap_or_default();
                objects.values().flat_map(of).copied().collect()
            };
            all.insert("object".into(), of(&place)?);
        }
        Ok(all)
    };
    let mut obs = look(0)?;
    obs.insert("joint_targets".into(), table(targets)?);
    let mut next_obs = if last { look(1)? } else { BTreeMap::new() };
    for camera in dataset.camera_names() {
        let key = format!("{camera}_image");
        obs.insert(key.clone(), Series::Images(counted(&dataset.pictures(number, &camera)?, bar)?));
        let at = spec.rgb_cameras().position(|c| c.name == camera);
        if let Some(end) = at.and_then(|at| seen.pictures().nth(at)) {
            let images = dataset.pictures(number, &camera)?;
            next_obs.insert(key, Series::Images(counted(&shifted(&images, end.pixels()?)?, bar)?));
        }
    }
    states.truncate(steps);
    let Series::Numbers(states) = table(states)? else {
        return Err(EpisodesError::Failed("states are numbers".into()));
    };
    let Series::Numbers(actions) = table(actions)? else {
        return Err(EpisodesError::Failed("actions are numbers".into()));
    };
    let mut dones = vec![false; steps];
    dones[steps - 1] = true;
    let outcome = dataset.entry(number).map_or_else(|| tape.outcome(), |e| e.outcome.clone());
    Ok(RobomimicDemo {
        model_file: xml,
        ep_meta: Some(json!({ "lang": tape.header.task }).to_string()),
        states: Some(states),
        actions: Some(actions),
        rewards: rewards(&outcome, steps),
        dones: Some(dones),
        obs,
        next_obs,
        attrs: attrs(&tape.header, &outcome),
        skipped: Vec::new(),
        unread: BTreeMap::new(),
    })
}

/// One for the step that did the task; not known for an episode that nobody judged.
fn rewards(outcome: &Outcome, steps: usize) -> Option<Vec<f64>> {
    let mut rewards = vec![0.0; steps];
    *rewards.last_mut()? = f64::from(u8::from(outcome.success?));
    Some(rewards)
}

fn attrs(header: &TapeHeader, outcome: &Outcome) -> BTreeMap<String, Attr> {
    let mut all = BTreeMap::from([
        ("task".to_owned(), Attr::Text(header.task.clone())),
        ("uid".to_owned(), Attr::Text(header.uid.clone())),
        ("outcome".to_owned(), Attr::Text(outcome.reason.clone())),
    ]);
    if let Some(success) = outcome.success {
        all.insert("success".to_owned(), Attr::Bool(success));
    }
    all
}

/// Pictures one frame later; the last is the one given.
fn shifted(images: &Images, end: &[u8]) -> Result<Images> {
    let (images, end): (Images, Arc<[u8]>) = (images.clone(), end.into());
    let (frames, height, width) = (images.frames(), images.height(), images.width());
    Ok(Images::from_fn(frames, height, width, move |index, out| {
        if index + 1 < frames {
            return images.read_frame(index + 1, out).map_err(|e| e.to_string());
        }
        if end.len() != out.len() {
            return Err("the last picture has another size".into());
        }
        out.copy_from_slice(&end);
        Ok(())
    })?)
}

fn table(rows: Vec<Vec<f64>>) -> Result<Series> {
    let count = rows.len();
    let all = rows.concat();
    let width = all.len() / count.max(1);
    Ok(Series::Numbers(Array::matrix(count, width, all)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_demonstration_is_in_one_half_of_the_split() {
        for count in [1, 2, 9, 10, 25] {
            let made: Vec<_> =
                (0..count).map(|k| (format!("demo_{k}"), [Some(true), None][k % 2])).collect();
            let masks: BTreeMap<_, _> = masks(&made).into_iter().collect();
            let valid = masks.get("valid").map_or(0, Vec::len);
            assert_eq!(masks["train"].len() + valid, count);
            assert_eq!(valid, if count == 1 { 0 } else { (count / 10).max(1) });
            assert_eq!(masks["success"].len(), count.div_ceil(2));
            assert!(!masks.contains_key("failure"));
        }
    }
}
