//! Recording an episode into a dataset, as every verb that records does it.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, bail};
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{Event, Fault, Outcome, RunReport, Snapshot, Tape};
use citrange_sim::SimRig;
use citrange_tape::{Dataset, Parent, RecordSettings, Recorder, Repaired, WhenFull};
use indicatif::ProgressBar;
use serde_json::json;

use crate::say::{self, Voice};
use crate::session::{Choice, header};

/// An episode being recorded, whose progress is seen.
pub(crate) struct Take<'a> {
    recorder: Recorder,
    bar: &'a ProgressBar,
    voice: Voice,
}

impl<'a> Take<'a> {
    /// Begins to record what the rig does from now on.
    pub(crate) fn begin(
        dataset: &Dataset,
        rig: &SimRig,
        choice: Choice<'_>,
        when_full: WhenFull,
        bar: &'a ProgressBar,
        voice: Voice,
    ) -> anyhow::Result<Self> {
        let episode = choice.episode;
        let (header, model) = header(rig, choice)?;
        if voice.is_json() {
            say::data(
                &json!({"event": "begin", "uid": header.uid, "episode": episode}).to_string(),
            )?;
        }
        let folder = dataset.recording_folder(&header.uid);
        let how = RecordSettings { when_full, ..RecordSettings::default() };
        Ok(Self { recorder: Recorder::begin(&folder, header, &model, &how)?, bar, voice })
    }

    /// Pictures dropped so far.
    pub(crate) fn dropped(&self) -> usize {
        self.recorder.dropped().map(|(_, n)| n).sum()
    }

    /// Throws the episode away.
    pub(crate) fn discard(self) -> anyhow::Result<()> {
        Ok(self.recorder.discard()?)
    }

    /// Puts the episode into the dataset and says so; answers its number.
    pub(crate) fn save(self, dataset: &mut Dataset, report: &RunReport) -> anyhow::Result<usize> {
        let begun = Instant::now();
        let recording = self.recorder.finish()?;
        let dropped: usize = recording.dropped.values().map(Vec::len).sum();
        let number = dataset.save(recording)?;
        let saved_ms = begun.elapsed().as_secs_f64() * 1e3;
        if self.voice.is_json() {
            let line = json!({
                "event": "saved", "number": number, "frames": report.frames,
                "outcome": report.outcome, "dropped_pictures": dropped,
                "late_ticks": report.late_ticks,
                "worst_late_ms": report.worst_late.as_secs_f64() * 1e3, "save_ms": saved_ms,
            });
            say::data(&line.to_string())?;
            return Ok(number);
        }
        let mut line = format!(
            "episode {number}: {} frames, {}, saved in {saved_ms:.0} ms",
            report.frames, report.outcome.reason
        );
        if dropped > 0 {
            line += &format!(", {dropped} PICTURES DROPPED");
        }
        if report.late_ticks > 0 {
            line += &format!(", {} ticks late", report.late_ticks);
        }
        if self.voice == Voice::Talk {
            say::talk(&line);
        }
        Ok(number)
    }
}

impl Tape for Take<'_> {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), Fault> {
        self.recorder.frame(frame)?;
        self.bar.set_position(frame.index + 1);
        let dropped = self.dropped();
        if dropped > 0 {
            self.bar.set_message(format!("recording ({dropped} pictures dropped)"));
        }
        if self.voice == Voice::JsonFrames {
            let line = json!({"event": "frame", "frame": frame.index, "wall_ns": frame.wall_ns});
            say::data(&line.to_string())?;
        }
        Ok(())
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), Fault> {
        self.recorder.tick(tick)
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), Fault> {
        self.recorder.event(tick, event)
    }
    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), Fault> {
        self.recorder.end(outcome, last)
    }
}

/// What to say when an episode failed: what was recorded up to then is kept by the next start.
pub(crate) fn cut_short(episode: u64, dataset: &Path) -> String {
    format!(
        "episode {episode} was cut short; `citrange data repair {}` keeps what there is",
        dataset.display()
    )
}

/// Refuses a folder that is a dataset already, unless it is to be gone on with.
pub(crate) fn check_new(root: &Path, resume: bool) -> anyhow::Result<()> {
    if root.join("meta/info.json").exists() && !resume {
        bail!(citrange_tape::TapeError::Missing(format!(
            "{} is a dataset already; --resume adds to it",
            root.display()
        )));
    }
    Ok(())
}

/// Where an episode goes on from.
pub(crate) struct Origin {
    pub(crate) tape: Arc<citrange_tape::Episode>,
    pub(crate) frame: usize,
}

impl Origin {
    pub(crate) fn read(text: &str) -> anyhow::Result<Self> {
        let mut parts = text.rsplitn(3, ':');
        let (frame, episode, path) = (parts.next(), parts.next(), parts.next());
        let number = |part: Option<&str>| part.and_then(|p| p.parse::<usize>().ok());
        let (Some(frame), Some(episode), Some(path)) = (number(frame), number(episode), path)
        else {
            bail!(citrange_tape::TapeError::Missing(format!(
                "--from {text}: give DATASET:EPISODE:FRAME, for example oranges:3:120"
            )));
        };
        let dataset = Dataset::open(Path::new(path))?;
        let (tape, shown) = dataset.tape(episode)?.with_context(|| {
            format!("episode {episode} of {path} has no tape: only its rows and videos are known")
        })?;
        if frame >= shown.len() {
            bail!(citrange_tape::TapeError::Missing(format!(
                "episode {episode} of {path} has no frame {frame}; it has {}, numbered from 0",
                shown.len()
            )));
        }
        Ok(Self { tape: Arc::new(tape), frame: shown.start + frame })
    }

    pub(crate) fn parent(&self) -> Parent {
        Parent { uid: self.tape.header.uid.clone(), frame: self.frame as u64 }
    }
}

/// Says what an earlier recorder left and what became of it.
pub(crate) fn tell_repaired(repaired: &[Repaired], as_json: bool) -> anyhow::Result<()> {
    for one in repaired {
        if as_json {
            let line = json!({
                "event": "repaired", "uid": one.uid, "number": one.episode,
                "frames": one.frames, "problem": one.problem,
            });
            say::data(&line.to_string())?;
            continue;
        }
        say::talk(&match (&one.problem, one.episode) {
            (Some(problem), Some(number)) => format!(
                "recording {} was cut off and damaged; its first {} frames are now episode \
                 {number} ({problem}); its files are in citrange/damaged",
                one.uid, one.frames
            ),
            (Some(problem), None) => format!(
                "recording {} cannot be repaired ({problem}); its files are in citrange/damaged",
                one.uid
            ),
            (None, Some(number)) => format!(
                "recording {} was cut off; its {} whole frames are now episode {number}",
                one.uid, one.frames
            ),
            (None, None) => format!("recording {} was cut off before its first frame", one.uid),
        });
    }
    Ok(())
}
