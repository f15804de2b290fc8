//! Playing an episode: as it is, filmed, or before the eyes of whoever opens the page.

use std::time::Duration;

use citrange_core::run::run as run_episode;
use citrange_core::tape::{FrameRecord, TickRecord};
use citrange_core::{
    BoxError, Event, Outcome, Pilot, Rig as _, RunReport, RunSettings, Snapshot, Tape,
};
use citrange_sim::SimRig;
use citrange_studio::{Phase, Session, Telemetry};
use citrange_teleop::DriverLock;

use super::drive::{PageAt, open_page};
use super::replay::Args;
use crate::drive::scene_info::stage_of;
use crate::drive::summary::replayed;
use crate::drive::telemetry::{LiveRig, Pictures};
use crate::film::Film;
use crate::output::{self, Output};
use crate::session::stopped;

/// Runs a pilot, filming it if asked to; `of` are the frames that all of it would be.
pub(super) fn play(
    args: &Args,
    rig: &mut SimRig,
    pilot: &mut dyn Pilot,
    tape: &mut dyn Tape,
    targets: &[f64],
    of: u64,
) -> anyhow::Result<RunReport> {
    let stop = &crate::session::STOP;
    let settings = RunSettings {
        speed: args.speed,
        stop: Some(stop),
        pictures: !args.sees_nothing(),
        ..RunSettings::default()
    };
    if args.show {
        return show(args, rig, pilot, tape, targets, &settings);
    }
    let Some(path) = &args.render else {
        return Ok(run_episode(pilot, rig, tape, targets, &settings)?);
    };
    let film = Film::begin(path, &rig.spec().cameras, rig.spec().rates.frame_hz)?;
    let mut filming = Filming { tape, film, of };
    let report = run_episode(pilot, rig, &mut filming, targets, &settings)?;
    if report.frames >= of {
        filming.film.finish()?;
        output::talk(&format!("film: {}", path.display()));
    } else if report.frames == 0 {
        output::talk("film: none, it was stopped before the first frame");
    } else {
        // Under its own name it would be taken for the whole.
        let part = path.with_extension("partial.mp4");
        filming.film.finish_as(&part)?;
        let frames = report.frames;
        output::talk(&format!("film: stopped after {frames} of {of} frames: {}", part.display()));
    }
    Ok(report)
}

/// Runs a pilot before the eyes of whoever opens the page; begins when somebody does.
fn show(
    args: &Args,
    rig: &mut SimRig,
    pilot: &mut dyn Pilot,
    tape: &mut dyn Tape,
    targets: &[f64],
    settings: &RunSettings<'_>,
) -> anyhow::Result<RunReport> {
    let task = rig.world().scene().scene.task.clone();
    let mut stage = stage_of(rig, &task, 0.0)?;
    (stage.is_replay, stage.keys) = (true, Vec::new());
    let board = Telemetry::new(stage);
    let message = format!("replay of {}", args.path.display());
    board.write(|live| {
        live.session = Session { phase: Phase::Replay, message, ..Session::default() };
    });
    // Nobody drives a replay: nothing reads this driver lock.
    let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
    let server = open_page(&board, &driver_lock, &PageAt::of(args.listen), Output::Talk)?;
    while server.viewers() == 0 && !stopped() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let settings = RunSettings { speed: settings.speed.or(Some(1.0)), ..*settings };
    let mut live = LiveRig::new(rig, &board, Pictures::Shown);
    let report = run_episode(pilot, &mut live, tape, targets, &settings)?;
    board.write(|live| {
        live.session.phase = Phase::Finished;
        live.session.summary = Some(replayed(&args.path, args.episode, report.frames));
    });
    server.stop();
    Ok(report)
}

/// A tape with a film camera beside it.
struct Filming<'a> {
    tape: &'a mut dyn Tape,
    film: Film,
    of: u64,
}

impl Tape for Filming<'_> {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        self.film.add(&frame.seen.pictures)?;
        if frame.index == 0 {
            output::talk(&format!("filming {} frames", self.of));
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
