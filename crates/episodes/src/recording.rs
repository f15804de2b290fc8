//! Recording an episode into a dataset, as every verb that records does it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use citrange_core::event::PicturesLost;
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{BoxError, Event, Outcome, RunReport, Snapshot, Tape};
use citrange_tape::{
    Dataset, Parent, RecordSettings, Recorder, Repaired, StateFeatures, Unit, WhenFull,
};
use serde_json::json;

use crate::cell::{DepthChoice, EpisodeRig, RigChoice};
use crate::context::RunContext;
use crate::error::{Context as _, Result, bad_input};
use crate::linked::{LinkChoice, linked};
use crate::session::{Choice, header};
use crate::simulated::{compiled, recorded_rig, rig_in, scene_file};

/// What every recording can be told.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// The task in words; by default the scene's.
    pub task: Option<String>,
    /// Seed of the run. With the episode's index it decides where things stand.
    pub seed: u64,
    /// Robots to record, by their names in the scene; `None` for all. The first one is driven.
    pub robots: Option<Vec<String>>,
    /// Cameras to record; `None` for all.
    pub cameras: Option<Vec<String>>,
    /// Cameras whose depths are recorded too.
    pub depth: DepthChoice,
    /// Cameras whose pictures are kept without loss.
    pub images: BTreeSet<String>,
    /// What joint values in the dataset mean.
    pub unit: Unit,
    /// What `observation.state` holds.
    pub features: StateFeatures,
    /// Go on from a frame of a recorded episode: DATASET:EPISODE:FRAME.
    pub from: Option<String>,
    /// A real arm in the place of the scene's first robot.
    pub link: Option<LinkChoice>,
}

impl RecordOptions {
    /// The robots and cameras that are chosen.
    pub(crate) fn choice(&self) -> RigChoice {
        let (robots, cameras) = (self.robots.clone(), self.cameras.clone());
        RigChoice { robots, cameras, depth: self.depth.clone() }
    }

    /// Refuses other robots than those of the episode to go on from.
    pub(crate) fn check_robots(&self, has: &[String]) -> Result<()> {
        match &self.robots {
            Some(wanted) if wanted != has => bad_input!(
                "the episode to go on from has {}, not {}: leave --robots out",
                has.join(", "),
                wanted.join(", ")
            ),
            _ => Ok(()),
        }
    }

    /// Refuses features that a rig cannot give.
    pub(crate) fn check_features(&self, rig: &dyn EpisodeRig) -> Result<()> {
        if self.features.ee && !rig.knows_wrist() {
            bad_input!(
                "the description of {} names no site \"wrist\": leave ee out of --features",
                rig.robot()
            );
        }
        Ok(())
    }

    /// The rig to record, and the frame it begins at if it is not the start of an episode. Without
    /// a scene it is `other`.
    ///
    /// # Errors
    /// When there is no such scene or frame, or the rig lacks a feature.
    pub fn rig(
        &self,
        scene: Option<&str>,
        other: &str,
        ctx: RunContext<'_>,
    ) -> Result<(Box<dyn EpisodeRig>, Option<Origin>)> {
        if let (Some(_), Some(link)) = (&self.from, &self.link) {
            bad_input!("{}: episodes do not go on from a frame on a real arm", link.address);
        }
        let origin = self.from.as_deref().map(Origin::read).transpose()?;
        let rig = match (&origin, &self.link) {
            (_, Some(link)) => {
                let scene = scene.or(link.default_scene()).unwrap_or(other);
                Box::new(linked(compiled(scene)?, link)?)
            }
            (Some(origin), None) => {
                origin.check_scene(scene, ctx)?;
                recorded_rig(&origin.tape, &self.choice())?
            }
            (None, None) => rig_in(scene.unwrap_or(other), &self.choice())?,
        };
        if origin.is_some() {
            self.check_robots(&rig.robots())?;
        }
        self.check_features(rig.as_ref())?;
        Ok((rig, origin))
    }
}

/// An episode being recorded, whose progress is seen.
pub struct Take<'a> {
    recorder: Recorder,
    /// Told the frame and the pictures dropped so far.
    seen: &'a dyn Fn(u64, usize),
    ctx: RunContext<'a>,
    /// Ticks so far.
    ticks: u64,
    /// Share of lost pictures above which the episode is marked on its tape.
    lost_limit: Option<f64>,
}

/// How many of an episode's pictures were lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lost {
    /// The camera that lost most.
    pub camera: String,
    /// Share of its pictures, 0 to 1.
    pub share: f64,
}

impl Lost {
    /// Of pictures lost by each camera in so many frames.
    #[must_use]
    pub fn of<'c>(dropped: impl Iterator<Item = (&'c str, usize)>, frames: usize) -> Self {
        let worst = dropped.max_by_key(|(_, lost)| *lost).filter(|_| frames > 0);
        let lost = |(camera, lost): (&str, usize)| Self {
            camera: camera.to_owned(),
            share: lost as f64 / frames as f64,
        };
        worst.map(lost).unwrap_or_default()
    }
}

impl<'a> Take<'a> {
    /// Begins to record what the rig does from now on.
    ///
    /// # Errors
    /// When it cannot be begun.
    pub fn begin(
        dataset: &Dataset,
        rig: &dyn EpisodeRig,
        choice: Choice<'_>,
        when_full: WhenFull,
        seen: &'a dyn Fn(u64, usize),
        ctx: RunContext<'a>,
    ) -> Result<Self> {
        let episode = choice.episode;
        let (mut header, model) = header(rig, choice)?;
        header.features = dataset.features();
        ctx.tell(&json!({"event": "begin", "uid": header.uid, "episode": episode}), "")?;
        let folder = dataset.recording_folder(&header.uid);
        let how = RecordSettings { when_full, ..RecordSettings::default() };
        let recorder = Recorder::begin(&folder, header, &model, &how)?;
        Ok(Self { recorder, seen, ctx, ticks: 0, lost_limit: None })
    }

    /// Marks the episode on its tape when a larger share of a camera's pictures is lost.
    #[must_use]
    pub fn mark_lost_above(mut self, limit: f64) -> Self {
        self.lost_limit = Some(limit);
        self
    }

    /// What was lost so far.
    #[must_use]
    pub fn lost(&self) -> Lost {
        Lost::of(self.recorder.dropped(), self.recorder.frames())
    }

    /// Pictures dropped so far.
    #[must_use]
    pub fn dropped(&self) -> usize {
        self.recorder.dropped().map(|(_, n)| n).sum()
    }

    /// Throws the episode away.
    ///
    /// # Errors
    /// When its files cannot be removed.
    pub fn discard(self) -> Result<()> {
        Ok(self.recorder.discard()?)
    }

    /// Puts the episode into the dataset and says so; answers its number.
    ///
    /// # Errors
    /// When it cannot be saved; what was recorded is kept by the next start.
    pub fn save(self, dataset: &mut Dataset, report: &RunReport) -> Result<usize> {
        let begun = Instant::now();
        let lost = self.lost();
        let recording = self.recorder.finish()?;
        let dropped: usize = recording.dropped.values().map(Vec::len).sum();
        let number = dataset.save(recording)?;
        let saved_ms = begun.elapsed().as_secs_f64() * 1e3;
        let event = json!({
            "event": "saved", "number": number, "frames": report.frames,
            "outcome": report.outcome, "dropped_pictures": dropped, "lost_share": lost.share,
            "late_ticks": report.late_ticks, "stalls": report.stalls,
            "worst_late_ms": report.worst_late.as_secs_f64() * 1e3, "save_ms": saved_ms,
        });
        let mut line = format!(
            "episode {number}: {} frames, {}, saved in {saved_ms:.0} ms",
            report.frames, report.outcome.reason
        );
        if dropped > 0 {
            line += &format!(
                ", {dropped} PICTURES DROPPED ({:.0} % of {})",
                lost.share * 100.0,
                lost.camera
            );
        }
        if report.late_ticks > 0 {
            line += &format!(", {} ticks late", report.late_ticks);
        }
        if report.stalls > 0 {
            line += &format!(", {} STALLS: frames are not evenly spaced there", report.stalls);
        }
        self.ctx.tell(&event, &line)?;
        Ok(number)
    }
}

impl Tape for Take<'_> {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        self.recorder.frame(frame)?;
        (self.seen)(frame.index, self.dropped());
        if self.ctx.reporter.wants_frames() {
            let event = json!({"event": "frame", "frame": frame.index, "wall_ns": frame.wall_ns});
            self.ctx.tell(&event, "")?;
        }
        Ok(())
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        self.ticks = tick.index + 1;
        self.recorder.tick(tick)
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), BoxError> {
        self.recorder.event(tick, event)
    }
    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), BoxError> {
        let lost = self.lost();
        if let Some(limit) = self.lost_limit.filter(|limit| lost.share > *limit) {
            let lost = PicturesLost { camera: lost.camera, fraction: lost.share, limit };
            self.recorder.event(self.ticks, &Event::PicturesLost(lost))?;
        }
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
///
/// # Errors
/// When it is.
pub fn check_new(root: &Path, resume: bool) -> Result<()> {
    if root.join("meta/info.json").exists() && !resume {
        bad_input!("{} is a dataset already; --resume adds to it", root.display());
    }
    Ok(())
}

/// Where an episode goes on from.
#[derive(Clone, Debug)]
pub struct Origin {
    pub(crate) tape: Arc<citrange_tape::Episode>,
    pub(crate) frame: usize,
}

impl Origin {
    /// Reads DATASET:EPISODE:FRAME.
    ///
    /// # Errors
    /// When there is no such frame with a tape.
    pub fn read(text: &str) -> Result<Self> {
        let mut parts = text.rsplitn(3, ':');
        let (frame, episode, path) = (parts.next(), parts.next(), parts.next());
        let number = |part: Option<&str>| part.and_then(|p| p.parse::<usize>().ok());
        let (Some(frame), Some(episode), Some(path)) = (number(frame), number(episode), path)
        else {
            bad_input!("--from {text}: give DATASET:EPISODE:FRAME, for example oranges:3:120");
        };
        let dataset = Dataset::open(Path::new(path))?;
        let (tape, shown) = dataset.tape(episode)?.with_context(|| {
            format!("episode {episode} of {path} has no tape: only its rows and videos are known")
        })?;
        if frame >= shown.len() {
            bad_input!(
                "episode {episode} of {path} has no frame {frame}; it has {}, numbered from 0",
                shown.len()
            );
        }
        Ok(Self { tape: Arc::new(tape), frame: shown.start + frame })
    }

    /// Refuses a scene that is not the one the episode was recorded in: it goes on where it was.
    pub(crate) fn check_scene(&self, wanted: Option<&str>, ctx: RunContext<'_>) -> Result<()> {
        let Some(wanted) = wanted else { return Ok(()) };
        let given = scene_file(wanted)?;
        let own = self.tape.header.scene.as_ref();
        if own.is_some_and(|own| own.name == given.name) {
            if own != Some(&given) {
                ctx.say(&format!(
                    "{wanted} is not as it was when the episode was recorded: it goes on in the \
                     scene that it was recorded in"
                ));
            }
            return Ok(());
        }
        let own = own.map_or("no simulated one", |own| own.name.as_str());
        bad_input!(
            "the episode to go on from is of scene {own}, not {wanted}: an episode goes on where it \
             was recorded; leave the scene out, or give {own}"
        );
    }

    /// Puts a rig at the frame.
    pub(crate) fn set(&self, rig: &mut dyn EpisodeRig) -> Result<()> {
        rig.go_to(&self.tape, self.frame)?;
        // What comes now is simulated, whatever the tape was.
        rig.let_go();
        Ok(())
    }

    pub(crate) fn parent(&self) -> Parent {
        Parent { uid: self.tape.header.uid.clone(), frame: self.frame as u64 }
    }
}

/// What an earlier recorder left, for machines.
#[must_use]
pub fn repaired_json(one: &Repaired) -> serde_json::Value {
    json!({
        "uid": one.uid, "number": one.episode, "frames": one.frames,
        "discarded": one.discarded, "problem": one.problem,
    })
}

/// Says what an earlier recorder left and what became of it.
///
/// # Errors
/// When whoever listens is gone.
pub fn tell_repaired(repaired: &[Repaired], ctx: RunContext<'_>) -> Result<()> {
    for one in repaired {
        let mut event = repaired_json(one);
        event["event"] = "repaired".into();
        ctx.tell(&event, &repaired_words(one))?;
    }
    Ok(())
}

/// What an earlier recorder left, in words.
pub(crate) fn repaired_words(one: &Repaired) -> String {
    if one.discarded {
        return format!(
            "recording {} was cut off and is thrown away: its collection makes it again",
            one.uid
        );
    }
    match (&one.problem, one.episode) {
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
    }
}
