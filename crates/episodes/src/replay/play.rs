//! Playing an episode: as it is, filmed, or before the eyes of whoever opens the page.

use std::sync::Arc;
use std::time::Duration;

use citrange_core::run::run as run_episode;
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{
    BoxError, Event, Late, Outcome, Pace, Pilot, Rig as _, RunReport, RunSettings, Snapshot, Tape,
};
use citrange_teleop::telemetry::{Phase, SceneInfo, Session, Telemetry};

use super::ReplayOptions;
use crate::cell::{EpisodeRig, RigChoice};
use crate::context::RunContext;
use crate::drive::summary::replayed;
use crate::drive::telemetry::{LiveRig, Pictures};
use crate::error::Result;
use crate::film::Film;

/// Somebody who may come to watch: a page that people open in a browser.
pub trait Audience: Sync {
    /// Shows what is written on the board from now on.
    ///
    /// # Errors
    /// When it cannot be shown.
    fn open(&self, board: &Arc<Telemetry>) -> Result<Box<dyn OpenPage>>;
}

/// What is shown, for as long as it is.
pub trait OpenPage {
    /// How many look at it.
    fn viewers(&self) -> usize;
    /// Tells everyone how it ended, and closes.
    fn close(self: Box<Self>);
}

/// Plays episodes as asked for.
#[derive(Clone, Copy)]
pub(super) struct Player<'a> {
    pub(super) options: &'a ReplayOptions,
    pub(super) audience: Option<&'a dyn Audience>,
    pub(super) ctx: RunContext<'a>,
}

impl Player<'_> {
    /// Cameras that are needed; `None` for all.
    pub(super) fn cameras(&self) -> Option<&'static [String]> {
        let sees_nothing = self.options.film.is_none() && self.audience.is_none();
        sees_nothing.then_some(&[])
    }

    /// The robots and cameras for files that have no tape.
    pub(super) fn choice(&self) -> RigChoice {
        let cameras = self.cameras().map(<[String]>::to_vec);
        RigChoice { robots: self.options.robots.clone(), cameras, ..RigChoice::default() }
    }

    /// Runs a pilot, filming it if asked to; `of` are the frames that all of it would be.
    pub(super) fn play(
        &self,
        rig: &mut dyn EpisodeRig,
        pilot: &mut dyn Pilot,
        tape: &mut dyn Tape,
        of: u64,
    ) -> Result<RunReport> {
        let pace = match self.options.link {
            // What moves a real arm keeps time, and makes up for nothing.
            Some(_) => Pace::Wall { speed: self.options.speed.unwrap_or(1.0), late: Late::Skip },
            None => Pace::at_speed(self.options.speed),
        };
        let settings = RunSettings {
            pace,
            stop: Some(self.ctx.stop),
            pictures: self.cameras().is_none(),
            ..RunSettings::default()
        };
        if let Some(audience) = self.audience {
            return self.show(audience, rig, pilot, tape, &settings);
        }
        let Some(path) = &self.options.film else {
            return Ok(run_episode(pilot, rig, tape, &settings)?);
        };
        let film = Film::begin(path, &rig.spec().cameras, rig.spec().rates.frame_hz)?;
        let mut filming = Filming { tape, film, of, ctx: self.ctx };
        let report = run_episode(pilot, rig, &mut filming, &settings)?;
        if report.frames >= of {
            filming.film.finish()?;
            self.ctx.say(&format!("film: {}", path.display()));
        } else if filming.film.frames() == 0 {
            self.ctx.say("film: none, it was stopped before the first frame");
        } else {
            // Under its own name it would be taken for the whole.
            let part = path.with_extension("partial.mp4");
            let frames = filming.film.frames();
            filming.film.finish_as(&part)?;
            self.ctx
                .say(&format!("film: stopped after {frames} of {of} frames: {}", part.display()));
        }
        Ok(report)
    }

    /// Runs a pilot before the eyes of whoever opens the page; begins when somebody does.
    fn show(
        &self,
        audience: &dyn Audience,
        rig: &mut dyn EpisodeRig,
        pilot: &mut dyn Pilot,
        tape: &mut dyn Tape,
        settings: &RunSettings<'_>,
    ) -> Result<RunReport> {
        let stage = SceneInfo { is_replay: true, keys: Vec::new(), ..rig.scene_info()? };
        let board = Telemetry::new(stage);
        let path = &self.options.path;
        let message = format!("replay of {}", path.display());
        board.write(|live| {
            live.session = Session { phase: Phase::Replay, message, ..Session::default() };
        });
        let page = audience.open(&board)?;
        while page.viewers() == 0 && !self.ctx.stopped() {
            std::thread::sleep(Duration::from_millis(50));
        }
        let pace = match settings.pace {
            Pace::Free => Pace::at_speed(Some(1.0)),
            pace => pace,
        };
        let settings = RunSettings { pace, ..*settings };
        let mut live = LiveRig::new(rig, &board, Pictures::Shown);
        let report = run_episode(pilot, &mut live, tape, &settings)?;
        board.write(|live| {
            live.session.phase = Phase::Finished;
            live.session.summary = Some(replayed(path, self.options.episode, report.frames));
        });
        page.close();
        Ok(report)
    }
}

/// A tape with a film camera beside it.
struct Filming<'a> {
    tape: &'a mut dyn Tape,
    film: Film,
    of: u64,
    ctx: RunContext<'a>,
}

impl Tape for Filming<'_> {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        self.film.add(frame.seen.pictures())?;
        if frame.index == 0 {
            self.ctx.say(&format!("filming {} frames", self.of));
        }
        self.tape.frame(frame)
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        self.tape.tick(tick)
    }
    fn event(&mut self, tick: u64, event: &Event) -> Result<(), BoxError> {
        self.tape.event(tick, event)
    }
    fn end(&mut self, outcome: &Outcome, last: Option<&Snapshot>) -> Result<(), BoxError> {
        self.tape.end(outcome, last)
    }
}
