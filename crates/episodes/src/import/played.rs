//! Episodes without a tape: played by a simulated rig, and recorded as that.

use std::collections::BTreeSet;
use std::sync::Arc;

use citrange_core::run::run as run_episode;
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{BoxError, Event, Outcome, Pilot, Rig, RunReport, RunSettings, Snapshot, Tape};
use citrange_tape::{
    Dataset, DemoEpisode, FrameReplay, IMPORT, Imported, RecordSettings, Recorder, TapeHeader,
    WhenFull,
};
use serde_json::json;

use super::{Job, Taken};
use crate::context::{Progress, RunContext};
use crate::error::{EpisodesError, Result};
use crate::objects::ObjectMeter;
use crate::recording::tell_repaired;
use crate::session::{Choice, header};
use crate::simulated::play_file::{Prepared, prepare};

/// Restores the start of an HDF5 episode as well as the file allows, and plays it as a new episode.
/// Answers also why that is not the demonstrated task, where something speaks against it.
pub(super) fn near(job: &Job<'_>, demo: &DemoEpisode) -> Result<Taken> {
    let args = job.args;
    let prepared = prepare(demo, args.scene.as_deref(), &args.play, &job.choice(), job.ctx)?;
    let note = job.note(&demo.name, demo.success, args.play.how());
    record(job, prepared, demo.task.as_deref(), note)
}

/// Plays a motion from the start that was restored, as a new episode.
pub(super) fn record(
    job: &Job<'_>,
    prepared: Prepared,
    task: Option<&str>,
    note: Imported,
) -> Result<Taken> {
    let (args, how_played) = (job.args, note.play);
    let Prepared { mut rig, motion, report } = prepared;
    let images = BTreeSet::new();
    let (mut dataset, repaired) = Dataset::record(job.root, rig.spec(), args.unit, &images)?;
    tell_repaired(&repaired, job.ctx)?;
    let note = Imported { start: Some(report.level), targets: motion.source.clone(), ..note };
    let choice = Choice {
        task,
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
