//! HDF5 episodes into a dataset: exactly where the tape is inside, else as near as can be. A new
//! dataset appears when all of the file is in it, or not at all.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use citrange_core::run::run as run_episode;
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{BoxError, Event, Outcome, Pilot, Rig, RunReport, RunSettings, Snapshot, Tape};
use citrange_tape::{
    Dataset, DemoEpisode, Episode, FrameReplay, IMPORT, Imported, Play, RecordSettings, Recorder,
    TapeHeader, WhenFull, file_sha256,
};
use serde_json::{Value, json};

use super::staged::Staged;
use super::{ImportOptions, so101};
use crate::cell::RigChoice;
use crate::context::{Progress, RunContext};
use crate::error::{Context as _, EpisodesError, Result, bad_input};
use crate::objects::ObjectMeter;
use crate::recording::tell_repaired;
use crate::replay::repeat_exactly;
use crate::session::{Choice, header};
use crate::simulated::play_file::{Prepared, prepare};
use crate::simulated::rig_of;

/// What an import is made from.
pub(crate) struct Job<'a> {
    pub(crate) args: &'a ImportOptions,
    pub(crate) ctx: RunContext<'a>,
    /// The dataset's folder, while it is being made.
    pub(crate) root: &'a Path,
    pub(crate) sha256: String,
}

impl Job<'_> {
    /// What the tape of an imported episode says about its source.
    pub(crate) fn note(&self, demo: &DemoEpisode, play: Play) -> Imported {
        let file = self.args.file.file_name().map(|n| n.to_string_lossy().into_owned());
        Imported {
            file,
            sha256: self.sha256.clone(),
            episode: demo.name.clone(),
            play,
            start: None,
            targets: String::new(),
            success_in_file: demo.success,
        }
    }
}

/// Adds all episodes of a file to a dataset.
///
/// Answers why what was played is not what the file shows, where something speaks against it.
///
/// # Errors
/// When the file cannot be taken in.
pub fn import(args: &ImportOptions, ctx: RunContext<'_>) -> Result<Vec<String>> {
    let exists = args.out.join("meta/info.json").exists();
    if exists && !args.resume {
        bad_input!("{} is a dataset already; --resume adds to it", args.out.display());
    }
    let mut demos = DemoEpisode::read(&args.file)?;
    let sha256 = file_sha256(&args.file)?;
    if exists && !args.again {
        leave_out_known(args, &sha256, &mut demos, ctx)?;
    }
    let staged = Staged::begin(&args.out, exists, ctx)?;
    let job = Job { args, ctx, root: staged.root(), sha256 };
    let mut lines = Vec::new();
    let mut problems = Vec::new();
    for demo in demos {
        if ctx.stopped() {
            return Err(EpisodesError::Interrupted);
        }
        let name = demo.name.clone();
        let (line, problem) = one(&job, demo).with_context(|| name.clone())?;
        problems.extend(problem.map(|problem| format!("{name}: {problem}")));
        // What is not published yet is not said to be imported.
        match staged.is_direct() {
            true => tell(ctx, &name, &line)?,
            false => lines.push((name, line)),
        }
    }
    staged.publish()?;
    for (name, line) in &lines {
        tell(ctx, name, line)?;
    }
    Ok(problems)
}

fn one(job: &Job<'_>, mut demo: DemoEpisode) -> Result<(Value, Option<String>)> {
    if let Some(problem) = &demo.tape_problem {
        job.ctx.say(&format!("{}: the tape inside cannot be used: {problem}", demo.name));
    }
    let args = job.args;
    if let Some((tape, shown)) = demo.tape.take() {
        return Ok((exact(job, Arc::new(tape), shown, &demo.tape_bytes)?, None));
    }
    if demo.is_so101 && args.scene.is_none() && !args.play.own_scene {
        return Ok((so101::as_recorded(job, demo)?, None));
    }
    near(job, &demo)
}

fn tell(ctx: RunContext<'_>, name: &str, event: &Value) -> Result<()> {
    let words = format!("{name}: episode {}, {} frames", event["number"], event["frames"]);
    Ok(ctx.tell(event, &words)?)
}

/// Goes on with a file of which a part is there; refuses one that is there.
fn leave_out_known(
    args: &ImportOptions,
    sha256: &str,
    demos: &mut Vec<DemoEpisode>,
    ctx: RunContext<'_>,
) -> Result<()> {
    let dataset = Dataset::open(&args.out)?;
    let mut known = BTreeSet::new();
    for number in 0..dataset.len() {
        if dataset.entry(number).is_none_or(|entry| entry.imported.is_none()) {
            continue;
        }
        // A tape that is damaged says nothing.
        let tape = dataset.tape(number).ok().flatten();
        let source = tape.and_then(|(tape, _)| tape.header.imported());
        known.extend(source.filter(|s| s.sha256 == sha256).map(|source| source.episode));
    }
    let all = demos.len();
    demos.retain(|demo| !known.contains(&demo.name));
    let (root, there) = (args.out.display(), all - demos.len());
    if there > 0 && demos.is_empty() {
        bad_input!(
            "{root} has all {all} episodes of {} already, by its sha256; --again imports it once more",
            args.file.display()
        );
    }
    if there > 0 {
        ctx.say(&format!("{there} of {all} episodes of the file are in {root} already"));
    }
    Ok(())
}

/// The tape becomes part of the dataset byte for byte; rows and pictures are made by repeating it.
fn exact(
    job: &Job<'_>,
    tape: Arc<Episode>,
    shown: std::ops::Range<usize>,
    bytes: &[u8],
) -> Result<Value> {
    let header = tape.header.clone();
    let cameras: Vec<String> = header.rig.cameras.iter().map(|c| c.name.clone()).collect();
    let mut rig = rig_of(&tape, Some(&cameras))?;
    if *rig.spec() != header.rig {
        bad_input!(
            "the tape's rig is not the one that its model makes: it was not written by Citrange"
        );
    }
    let (mut dataset, repaired) =
        Dataset::record_with(job.root, &header.rig, header.unit, &header.images, header.features)?;
    tell_repaired(&repaired, job.ctx)?;
    refuse_double(&dataset, &header.uid, &shown, bytes)?;
    let folder = dataset.recording_folder(&header.uid);
    // Cut off, it is thrown away: the file is still there.
    let header = TapeHeader { repeatable: true, ..header };
    let recorder = Recorder::begin(&folder, header, &tape.model, &how())?;
    let bar = job.ctx.progress("importing", shown.len() as u64);
    let mut kept = Repeating { recorder, objects: None, bar };
    let (report, verified) =
        repeat_exactly(rig.as_mut(), &tape, shown.clone(), |rig, pilot, verifier| {
            play(pilot, rig, &mut (&mut kept, verifier), job.ctx)
        })?;
    kept.bar.finish();
    let frames = report.frames;
    if frames < shown.len() as u64 {
        kept.recorder.discard()?;
        return Err(EpisodesError::Interrupted);
    }
    if !verified.is_bitwise() {
        job.ctx.say(&format!("the tape is kept as it is, but repeating it here {verified}"));
    }
    let mut recording = kept.recorder.finish()?;
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
) -> Result<()> {
    for number in 0..dataset.len() {
        let Some(entry) = dataset.entry(number).filter(|e| e.uid == uid) else { continue };
        if entry.frames == *shown {
            let root = dataset.root().display();
            bad_input!("{root} has it already: episode {number}");
        }
        if let Some((there, _)) = dataset.tape(number)? {
            let same = std::fs::read(&there.path).is_ok_and(|known| known == bytes);
            if !same {
                bad_input!(
                    "episode {number} of {} has the same name {uid} and another tape",
                    dataset.root().display()
                );
            }
        }
    }
    Ok(())
}

/// Restores the start as well as the file allows, and plays it as a new episode. Answers also why
/// that is not the demonstrated task, where something speaks against it.
fn near(job: &Job<'_>, demo: &DemoEpisode) -> Result<(Value, Option<String>)> {
    let args = job.args;
    let how_played = args.play.how();
    let (robots, cameras) = (args.robots.clone(), args.cameras.clone());
    let choice = RigChoice { robots, cameras, ..RigChoice::default() };
    let Prepared { mut rig, motion, report } =
        prepare(demo, args.scene.as_deref(), &args.play, &choice, job.ctx)?;
    let images = BTreeSet::new();
    let (mut dataset, repaired) = Dataset::record(job.root, rig.spec(), args.unit, &images)?;
    tell_repaired(&repaired, job.ctx)?;
    let note = Imported {
        start: Some(report.level),
        targets: motion.source.clone(),
        ..job.note(demo, how_played)
    };
    let choice = Choice {
        task: demo.task.as_deref(),
        pilot: IMPORT,
        seed: 0,
        episode: dataset.len() as u64,
        unit: args.unit,
        images: &images,
        parent: None,
        config: serde_json::to_value(note)?,
    };
    let (header, model) = header(rig.as_ref(), choice)?;
    let header = TapeHeader { repeatable: true, ..header };
    let folder = dataset.recording_folder(&header.uid);
    let objects = ObjectMeter::new(rig.spec(), &motion, &report, args.play.object_tolerance_m);
    let recorder = Recorder::begin(&folder, header, &model, &how())?;
    let wanted = motion.targets.len() as u64;
    let bar = job.ctx.progress("importing", wanted);
    let mut tape = Repeating { recorder, objects: Some(objects), bar };
    let mut pilot = FrameReplay::new(motion.targets, rig.spec().rates);
    let frames = play(&mut pilot, rig.as_mut(), &mut tape, job.ctx)?.frames;
    tape.bar.finish();
    if frames < wanted {
        tape.recorder.discard()?;
        return Err(EpisodesError::Interrupted);
    }
    let objects = tape.objects.take().map(ObjectMeter::into_report).unwrap_or_default();
    let number = dataset.save(tape.recorder.finish()?)?;
    job.ctx.say(&format!("  {objects}"));
    let problem = objects.problem();
    let line = json!({
        "event": "imported", "kind": "near", "number": number, "frames": frames,
        "start": report.level, "check": report.check, "targets": motion.source,
        "play": how_played, "objects": objects, "problem": problem,
    });
    Ok((line, problem))
}

pub(crate) fn how() -> RecordSettings {
    RecordSettings { when_full: WhenFull::Wait, ..RecordSettings::default() }
}

pub(crate) fn play(
    pilot: &mut dyn Pilot,
    rig: &mut dyn Rig,
    tape: &mut dyn Tape,
    ctx: RunContext<'_>,
) -> Result<RunReport> {
    let settings = RunSettings {
        stop: Some(ctx.stop),
        pictures: !rig.spec().cameras.is_empty(),
        ..RunSettings::default()
    };
    Ok(run_episode(pilot, rig, tape, &settings)?)
}

/// Whether a file is meant to be HDF5: by its first bytes, or by its name.
#[must_use]
pub fn is_hdf5(path: &Path) -> bool {
    use citrange_hdf5::{FileLayout, Hdf5Error};
    let named = path.extension().is_some_and(|end| {
        ["h5", "hdf5", "hdf", "he5"].iter().any(|known| end.eq_ignore_ascii_case(known))
    });
    named
        || match citrange_hdf5::sniff(path) {
            Ok(FileLayout::Other(what)) => what != citrange_hdf5::NOT_HDF5,
            Ok(_) => true,
            Err(error) => !matches!(error, Hdf5Error::Io { .. } | Hdf5Error::NotHdf5 { .. }),
        }
}

/// Records what is repeated, and looks where objects are.
pub(crate) struct Repeating {
    pub(crate) recorder: Recorder,
    pub(crate) objects: Option<ObjectMeter>,
    pub(crate) bar: Arc<dyn Progress>,
}

impl Tape for Repeating {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        self.bar.set(frame.index + 1);
        if let Some(objects) = &mut self.objects {
            objects.frame(frame);
        }
        self.recorder.frame(frame)
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        self.recorder.tick(tick)
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), BoxError> {
        self.recorder.event(tick, event)
    }
    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), BoxError> {
        // What is not the demonstrated task is no demonstration of it.
        let failed = self.objects.as_ref().is_some_and(|o| o.report().problem().is_some());
        let differs = Outcome { success: Some(false), reason: "objects_differ".into() };
        let outcome = if failed { &differs } else { outcome };
        self.recorder.end(outcome, last)
    }
}
