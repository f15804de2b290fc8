//! HDF5 episodes into a dataset: exactly where the tape is inside, else as near as can be.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use citrange_core::run::run as run_episode;
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{
    Event, Fault, Outcome, Pilot, RestoreReport, Rig as _, RunSettings, Snapshot, Tape,
};
use citrange_sim::SimRig;
use citrange_tape::{
    Dataset, DemoEpisode, Episode, ExactReplay, FrameReplay, Motion, RecordSettings, Recorder,
    TapeError, Verifier, WhenFull,
};
use indicatif::ProgressBar;
use serde_json::json;

use crate::recording::tell_repaired;
use crate::say;
use crate::session::{Choice, catch_stop, go_to, header, rig_of, stopped};
use crate::verbs::compiled;
use crate::verbs::data_files::Import;

/// Adds all episodes of a file.
pub(crate) fn import(args: &Import) -> anyhow::Result<()> {
    if args.out.join("meta/info.json").exists() && !args.resume {
        bail!(TapeError::Missing(format!(
            "{} is a dataset already; --resume adds to it",
            args.out.display()
        )));
    }
    let demos = DemoEpisode::read(&args.file)?;
    catch_stop()?;
    for demo in demos {
        if stopped() {
            return Err(crate::exit::Interrupted.into());
        }
        let name = demo.name.clone();
        if let Some(problem) = &demo.tape_problem {
            say::talk(&format!("{name}: the tape inside cannot be used: {problem}"));
        }
        let line = match demo.tape {
            Some((tape, shown)) => exact(args, Arc::new(tape), shown, &demo.tape_bytes),
            None => near(args, &demo),
        };
        let line = line.with_context(|| name.clone())?;
        if args.json {
            say::data(&line.to_string())?;
        } else {
            say::talk(&format!("{name}: episode {}, {} frames", line["number"], line["frames"]));
        }
    }
    if !args.json {
        say::data(&args.out.display().to_string())?;
    }
    Ok(())
}

/// The tape becomes part of the dataset byte for byte; rows and pictures are made by repeating it.
fn exact(
    args: &Import,
    tape: Arc<Episode>,
    shown: std::ops::Range<usize>,
    bytes: &[u8],
) -> anyhow::Result<serde_json::Value> {
    let header = tape.header.clone();
    let cameras: Vec<String> = header.rig.cameras.iter().map(|c| c.name.clone()).collect();
    let mut rig = rig_of(&tape, Some(&cameras))?;
    if *rig.spec() != header.rig {
        bail!(TapeError::Missing(
            "the tape's rig is not the one that its model makes: it was not written by Citrange"
                .into()
        ));
    }
    let (mut dataset, repaired) =
        Dataset::record_with(&args.out, &header.rig, header.unit, &header.images, header.features)?;
    tell_repaired(&repaired, args.json)?;
    refuse_double(&dataset, &header.uid, &shown, bytes)?;
    let targets = go_to(&mut rig, &tape, shown.start)?;
    let folder = dataset.recording_folder(&header.uid);
    let recorder = Recorder::begin(&folder, header, &tape.model, &how())?;
    let bar = say::progress("importing", shown.len() as u64);
    let verifier = Verifier::new(Arc::clone(&tape), shown.clone());
    let mut both = Repeating { recorder, verifier: Some(verifier), bar: &bar };
    let mut pilot = ExactReplay::new(Arc::clone(&tape), shown.clone());
    let frames = play(&mut pilot, &mut rig, &mut both, &targets)?;
    if frames < shown.len() as u64 {
        both.recorder.discard()?;
        return Err(crate::exit::Interrupted.into());
    }
    let verified = both.verifier.take().map(Verifier::into_report).unwrap_or_default();
    if !verified.is_bitwise() {
        say::talk(&format!("the tape is kept as it is, but repeating it here {verified}"));
    }
    let mut recording = both.recorder.finish()?;
    recording.keep_tape(bytes, shown.start)?;
    let number = dataset.save(recording)?;
    Ok(json!({
        "event": "imported", "kind": "exact", "number": number, "frames": frames,
        "uid": tape.header.uid, "bitwise": verified.is_bitwise(),
    }))
}

/// A tape may be shared by several parts of an episode, but must be one and the same.
fn refuse_double(
    dataset: &Dataset,
    uid: &str,
    shown: &std::ops::Range<usize>,
    bytes: &[u8],
) -> anyhow::Result<()> {
    for number in 0..dataset.len() {
        let Some(entry) = dataset.entry(number).filter(|e| e.uid == uid) else { continue };
        if entry.frames == *shown {
            let root = dataset.root().display();
            bail!(TapeError::Missing(format!("{root} has it already: episode {number}")));
        }
        if let Some((there, _)) = dataset.tape(number)? {
            let same = std::fs::read(&there.path).is_ok_and(|known| known == bytes);
            if !same {
                bail!(TapeError::Missing(format!(
                    "episode {number} of {} has the same name {uid} and another tape",
                    dataset.root().display()
                )));
            }
        }
    }
    Ok(())
}

/// Restores the start as well as the file allows, and plays its targets as a new episode.
fn near(args: &Import, demo: &DemoEpisode) -> anyhow::Result<serde_json::Value> {
    let cameras = args
        .cameras
        .as_ref()
        .map(|names| names.iter().filter(|n| *n != "none").cloned().collect::<Vec<_>>());
    let Prepared { mut rig, motion, report } =
        prepare(demo, args.scene.as_deref(), cameras.as_deref())?;
    let images = BTreeSet::new();
    let (mut dataset, repaired) =
        Dataset::record(&args.out, rig.spec(), args.unit.into(), &images)?;
    tell_repaired(&repaired, args.json)?;
    let file = args.file.file_name().map(|n| n.to_string_lossy().into_owned());
    let choice = Choice {
        task: demo.task.as_deref(),
        pilot: "import",
        seed: 0,
        episode: dataset.len() as u64,
        unit: args.unit.into(),
        images: &images,
        parent: None,
        config: json!({
            "file": file, "episode": demo.name, "start": report.level, "targets": motion.source,
            "success_in_file": demo.success,
        }),
    };
    let targets = rig.begin();
    let (header, model) = header(&rig, choice)?;
    let folder = dataset.recording_folder(&header.uid);
    let recorder = Recorder::begin(&folder, header, &model, &how())?;
    let bar = say::progress("importing", motion.targets.len() as u64);
    let mut tape = Repeating { recorder, verifier: None, bar: &bar };
    let mut pilot = FrameReplay::new(motion.targets, rig.spec().rates.ticks_per_frame());
    let frames = play(&mut pilot, &mut rig, &mut tape, &targets)?;
    let number = dataset.save(tape.recorder.finish()?)?;
    Ok(json!({
        "event": "imported", "kind": "near", "number": number, "frames": frames,
        "start": report.level, "check": report.check, "targets": motion.source,
    }))
}

/// A rig at the start of an episode without a tape.
pub(crate) struct Prepared {
    pub(crate) rig: SimRig,
    pub(crate) motion: Motion,
    pub(crate) report: RestoreReport,
}

/// Builds the scene, restores the start by the best level, and says what that is worth.
pub(crate) fn prepare(
    demo: &DemoEpisode,
    scene: Option<&str>,
    cameras: Option<&[String]>,
) -> anyhow::Result<Prepared> {
    let own = demo.environment.as_deref().map(snake);
    let name = scene.map(str::to_owned).or(own).with_context(|| {
        format!("{} names no environment: give a scene with --scene", demo.name)
    })?;
    let scene = compiled(&name).with_context(|| {
        format!("the environment {name} of the file is no scene here; give one with --scene")
    })?;
    let mut demo = demo.clone();
    if let Some(said) = demo.arrange(&scene.joint_slots()) {
        say::talk(&format!("{}: {said}", demo.name));
    }
    let mut rig = SimRig::new(scene, cameras)?;
    // Where the file says nothing, things stand as in the first episode.
    rig.world_mut().reset_env(0, 0, 0)?;
    let report = rig.world_mut().restore_best(0, &demo.start)?;
    let places = rig.world().scene().joint_places(rig.robot())?;
    let motion = demo.motion(rig.spec(), &places)?;
    let frame_hz = f64::from(rig.spec().rates.frame_hz);
    say::talk(&format!("{}: {report}\n  targets: {}", demo.name, motion.source));
    match demo.rate_hz {
        Some(hz) if hz != frame_hz => {
            say::talk(&format!("  its {hz} rows per second are held for frames at {frame_hz} Hz"));
        }
        Some(_) => {}
        None => say::talk(&format!("  it does not say its rate: taken as {frame_hz} Hz")),
    }
    Ok(Prepared { rig, motion, report })
}

/// `MultiTableAssembly` and `multi_table_assembly` are the same scene.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

fn how() -> RecordSettings {
    RecordSettings { when_full: WhenFull::Wait, ..RecordSettings::default() }
}

fn play(
    pilot: &mut dyn Pilot,
    rig: &mut SimRig,
    tape: &mut Repeating<'_>,
    targets: &[f64],
) -> anyhow::Result<u64> {
    let settings = RunSettings {
        stop: Some(&crate::session::STOP),
        pictures: !rig.spec().cameras.is_empty(),
        ..RunSettings::default()
    };
    let report = run_episode(pilot, rig, tape, targets, &settings);
    tape.bar.finish_and_clear();
    Ok(report?.frames)
}

/// Whether a file is HDF5 in a layout that is known.
pub(crate) fn is_demo(path: &Path) -> bool {
    use citrange_hdf5::Kind;
    matches!(citrange_hdf5::sniff(path), Ok(Kind::Demo | Kind::Robomimic))
}

/// Records, and compares with the tape that is repeated.
struct Repeating<'a> {
    recorder: Recorder,
    verifier: Option<Verifier>,
    bar: &'a ProgressBar,
}

impl Tape for Repeating<'_> {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), Fault> {
        self.bar.set_position(frame.index + 1);
        self.recorder.frame(frame)?;
        self.verifier.as_mut().map_or(Ok(()), |v| v.frame(frame))
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), Fault> {
        self.recorder.tick(tick)?;
        self.verifier.as_mut().map_or(Ok(()), |v| v.tick(tick))
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), Fault> {
        self.recorder.event(tick, event)
    }
    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), Fault> {
        self.recorder.end(outcome, last)?;
        self.verifier.as_mut().map_or(Ok(()), |v| v.end(outcome, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_become_scene_names() {
        assert_eq!(snake("MultiTableAssembly"), "multi_table_assembly");
        assert_eq!(snake("orange_plate"), "orange_plate");
    }
}
