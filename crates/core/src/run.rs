//! The one loop: a pilot decides, a rig acts, a tape keeps.
//!
//! Every control tick: observe, decide, act, let the tick pass. With every frame pictures are taken
//! and the complete state is kept before its first tick is carried out. An episode is a whole
//! number of frames; what a stop or a failure cuts off in the middle of one is not part of it.
//!
//! [`run`] runs an episode to its end. [`Loop`] is the same, tick by tick, for whoever has a loop
//! of their own: an environment for learning, a page, a test.
//!
//! **Every way out halts the rig**, exactly once and before anything else is done: the end of the
//! episode, a stop, an error of pilot, rig or tape, a panic, a loop that is dropped.
//!
//! A loop that is late either catches up (a simulation that nobody drives) or skips what it missed
//! ([`Late::Skip`]: a person drives, or something real moves). Who skips never runs faster than
//! time; after a stall it tells the pilot, and an event on the tape says at which tick frames are
//! not evenly spaced.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::command::{Command, Commanded};
use crate::event::Event;
use crate::observation::{Mode, Observation, Want};
use crate::pace::{Began, Pacer};
use crate::pilot::{Memory, Notes, Outcome, Pilot, Start, Verdict};
use crate::rates::Rates;
use crate::rig::{BoxError, Halt, Rig};
use crate::tape::{FrameRecord, Tape, TickRecord};

pub use crate::pace::{Late, Pace, STALL};

/// How to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunSettings<'a> {
    /// Who keeps time.
    pub pace: Pace,
    /// Longest episode in frames.
    pub max_frames: Option<u64>,
    /// Ends the episode at once when it becomes true; looked at every tick.
    pub stop: Option<&'a AtomicBool>,
    /// Whether pictures are taken at frames.
    pub pictures: bool,
    /// Where the times of frames come from.
    pub clock: Clock,
    /// What the pilot knew at the frame that the episode goes on from.
    pub memory: Option<&'a Memory>,
}

/// Where the times of frames come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The wall: for whoever keeps time with the world.
    #[default]
    Wall,
    /// Control ticks counted: the same in every run, however fast it goes.
    Ticks,
    /// The rig's own ([`Observation::at_ns`]).
    Rig,
}

/// What a run was like.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// How it ended.
    pub outcome: Outcome,
    /// Whole frames kept.
    pub frames: u64,
    /// Control ticks carried out.
    pub ticks: u64,
    /// Ticks that began more than one tick late (only where somebody keeps time).
    pub late_ticks: u64,
    /// How often the loop stalled: more than two ticks and [`STALL`] late, where late ticks are
    /// skipped.
    pub stalls: u64,
    /// The latest start of a tick.
    pub worst_late: Duration,
    /// Longest time the loop was held by the tape in one tick.
    pub worst_tape: Duration,
}

impl Default for RunReport {
    fn default() -> Self {
        Self {
            outcome: Outcome::unjudged("running"),
            frames: 0,
            ticks: 0,
            late_ticks: 0,
            stalls: 0,
            worst_late: Duration::ZERO,
            worst_tape: Duration::ZERO,
        }
    }
}

/// Who failed, and how. The tape was ended properly all the same, unless it is the one.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The pilot.
    #[error("the pilot failed at tick {tick}: {fault}")]
    Pilot {
        /// When.
        tick: u64,
        /// Why.
        fault: BoxError,
    },
    /// The rig.
    #[error("the rig failed at tick {tick}: {fault}")]
    Rig {
        /// When.
        tick: u64,
        /// Why.
        fault: BoxError,
    },
    /// The tape.
    #[error("the tape failed at tick {tick}: {fault}")]
    Tape {
        /// When.
        tick: u64,
        /// Why.
        fault: BoxError,
    },
}

/// Runs one episode to its end.
///
/// # Errors
/// When pilot, rig or tape fail. An episode that was cut short by pilot or rig is ended on the
/// tape with the reason `pilot_failed` or `rig_failed`, so that what happened is kept.
pub fn run(
    pilot: impl Pilot,
    rig: impl Rig,
    tape: impl Tape,
    settings: &RunSettings<'_>,
) -> Result<RunReport, RunError> {
    let mut episode = Loop::begin(pilot, rig, tape, settings)?;
    while let Ticked::Went = episode.tick()? {}
    Ok(episode.report().clone())
}

/// What became of a tick.
#[derive(Clone, Debug, PartialEq)]
pub enum Ticked {
    /// It was carried out.
    Went,
    /// It was not: the episode is over, the tape is ended and the rig halted.
    Ended(Outcome),
}

/// An episode in the middle of happening.
pub struct Loop<'a, P: Pilot, R: Rig, T: Tape> {
    pilot: P,
    rig: R,
    tape: T,
    settings: RunSettings<'a>,
    rates: Rates,
    seen: Observation,
    command: Command,
    commanded: Commanded,
    notes: Notes,
    memory: Memory,
    pacer: Pacer,
    begun: Instant,
    tick: u64,
    /// The pilot is done; the frame is carried out to its end.
    done: Option<Outcome>,
    /// The rig was halted: nothing moves any more.
    is_over: bool,
    report: RunReport,
}

impl<P: Pilot, R: Rig, T: Tape> Drop for Loop<'_, P, R, T> {
    fn drop(&mut self) {
        if !self.is_over {
            self.rig.halt(Halt::Abandoned);
        }
    }
}

impl<'a, P: Pilot, R: Rig, T: Tape> Loop<'a, P, R, T> {
    /// Begins an episode: the rig says which targets are in force, the pilot gets ready.
    ///
    /// # Errors
    /// When rig or pilot cannot begin; the rig is halted.
    pub fn begin(pilot: P, rig: R, tape: T, settings: &RunSettings<'a>) -> Result<Self, RunError> {
        let rates = rig.spec().rates;
        let mut episode = Self {
            pilot,
            rig,
            tape,
            settings: *settings,
            rates,
            seen: Observation::default(),
            command: Command::default(),
            commanded: Commanded::default(),
            notes: Notes::new(),
            memory: Memory::new(),
            pacer: Pacer::new(settings.pace, rates.control_hz),
            begun: Instant::now(),
            tick: 0,
            done: None,
            is_over: false,
            report: RunReport::default(),
        };
        match episode.get_ready() {
            Ok(()) => Ok(episode),
            Err(error) => Err(episode.give_up(error)),
        }
    }

    fn get_ready(&mut self) -> Result<(), RunError> {
        self.rig.begin(&mut self.command).map_err(|fault| RunError::Rig { tick: 0, fault })?;
        let start = Start { spec: self.rig.spec(), targets: &self.command.pos };
        let ready = self.pilot.begin(&start);
        let ready = match self.settings.memory {
            Some(memory) => ready.and_then(|()| self.pilot.load(memory)),
            None => ready,
        };
        ready.map_err(|fault| RunError::Pilot { tick: 0, fault })?;
        self.begun = Instant::now();
        self.pacer = Pacer::new(self.settings.pace, self.rates.control_hz);
        Ok(())
    }

    /// Carries one control tick out. Once the episode is over it does nothing more.
    ///
    /// # Errors
    /// When pilot, rig or tape fail; then the episode is over, too.
    pub fn tick(&mut self) -> Result<Ticked, RunError> {
        if self.is_over {
            return Ok(Ticked::Ended(self.report.outcome.clone()));
        }
        match self.try_tick() {
            Ok(None) => Ok(Ticked::Went),
            Ok(Some((how, outcome))) => self.end(how, outcome).map(Ticked::Ended),
            Err(error) => Err(self.give_up(error)),
        }
    }

    /// The way of one tick; `Some` when it was not carried out because the episode is over.
    fn try_tick(&mut self) -> Result<Option<(Halt, Outcome)>, RunError> {
        let tick = self.tick;
        let rig_failed = |fault| RunError::Rig { tick, fault };
        let tape_failed = |fault| RunError::Tape { tick, fault };
        let is_frame = self.rates.is_frame(tick);
        if is_frame && let Some(outcome) = self.done.take() {
            return Ok(Some((Halt::Ended, outcome)));
        }
        if let Some(stopped) = self.stopped() {
            return Ok(Some(stopped));
        }
        if is_frame && self.settings.max_frames.is_some_and(|max| self.rates.frame_of(tick) >= max)
        {
            return Ok(Some((Halt::Ended, Outcome::unjudged("time_up"))));
        }
        let began = self.pacer.wait();
        self.note_lateness(began);
        // It may have been a long wait.
        if let Some(stopped) = self.stopped() {
            return Ok(Some(stopped));
        }
        let at_ns = self.begun.elapsed().as_nanos() as u64;
        let want = if is_frame && self.settings.pictures { Want::Images } else { Want::Joints };
        self.rig.observe(want, &mut self.seen).map_err(rig_failed)?;
        if tick == 0 {
            // The first picture waits until it is drawn; time counts from there.
            self.pacer.restart();
        }
        let looked = self.pacer.looked(self.seen.at_ns);
        self.note_lateness(looked);
        if let Mode::Stopped { why } = &self.seen.mode {
            let event = Event::other("robot_stopped", serde_json::Value::from(why.as_str()));
            self.tape.event(tick, &event).map_err(tape_failed)?;
            return Ok(Some((Halt::Stopped, Outcome::failed("robot_stopped"))));
        }
        // The snapshot of a frame holds what decides this tick: the memory before it is decided.
        self.memory.clear();
        if is_frame {
            self.pilot.save(&mut self.memory);
        }
        if let Some(outcome) = self.decide(is_frame)? {
            return Ok(Some((Halt::Ended, outcome)));
        }
        let before = Instant::now();
        self.keep_frame(is_frame)?;
        let held = before.elapsed();
        self.pacer.before_act();
        // The last moment at which a stop still keeps the command back.
        if let Some(stopped) = self.stopped() {
            return Ok(Some(stopped));
        }
        self.rig.act(&self.command, &mut self.commanded).map_err(rig_failed)?;
        self.pacer.after_act();
        self.rig.advance(&mut self.commanded).map_err(rig_failed)?;
        let before = Instant::now();
        self.tape
            .tick(&TickRecord {
                index: tick,
                at_ns,
                late: began.late.max(looked.late),
                seen: &self.seen,
                requested: &self.command,
                commanded: &self.commanded,
            })
            .map_err(tape_failed)?;
        self.report.worst_tape = self.report.worst_tape.max(held + before.elapsed());
        self.tick += 1;
        self.report.ticks = self.tick;
        Ok(None)
    }

    /// Lets the pilot decide, or come to rest when it is done; `Some` when it is done at a frame.
    fn decide(&mut self, is_frame: bool) -> Result<Option<Outcome>, RunError> {
        let tick = self.tick;
        self.command.vel.clear();
        if self.done.is_none() {
            let verdict = self
                .pilot
                .decide(&self.seen, &mut self.command, &mut self.notes)
                .map_err(|fault| RunError::Pilot { tick, fault })?;
            if let Verdict::Done(outcome) = verdict {
                if is_frame {
                    // What the pilot had to say last belongs to the episode too.
                    for event in self.notes.drain(..) {
                        self.tape
                            .event(tick, &event)
                            .map_err(|fault| RunError::Tape { tick, fault })?;
                    }
                    return Ok(Some(outcome));
                }
                self.done = Some(outcome);
            }
        }
        if self.done.is_some() {
            self.pilot.finish(&mut self.command);
        }
        if !self.rig.spec().takes_velocities {
            self.command.vel.clear();
        }
        Ok(None)
    }

    /// Keeps the frame that begins, if one does, and the events of the tick.
    fn keep_frame(&mut self, is_frame: bool) -> Result<(), RunError> {
        let tick = self.tick;
        let mut kept = Ok(());
        if is_frame {
            let snapshot = self.rig.snapshot();
            let mut snapshot = snapshot.map_err(|fault| RunError::Rig { tick, fault })?;
            if let Some(snapshot) = &mut snapshot {
                snapshot.fields.append(&mut self.memory);
            }
            kept = self.tape.frame(&FrameRecord {
                index: self.rates.frame_of(tick),
                wall_ns: self.now_ns(),
                seen: &self.seen,
                snapshot: snapshot.as_ref(),
            });
        }
        for event in self.notes.drain(..) {
            kept = kept.and(self.tape.event(tick, &event));
        }
        kept.map_err(|fault| RunError::Tape { tick, fault })
    }

    fn stopped(&self) -> Option<(Halt, Outcome)> {
        let is_stopped = self.settings.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        is_stopped.then(|| (Halt::Stopped, Outcome::unjudged("stopped")))
    }

    fn note_lateness(&mut self, began: Began) {
        self.report.worst_late = self.report.worst_late.max(began.late);
        self.report.late_ticks += u64::from(began.is_late);
        if began.is_stall {
            self.report.stalls += 1;
            self.pilot.stalled(began.late);
            self.notes.push(Event::stall(began.late));
        }
    }

    /// Time since the episode began.
    fn now_ns(&self) -> u64 {
        match self.settings.clock {
            Clock::Wall => self.begun.elapsed().as_nanos() as u64,
            Clock::Ticks => {
                let control_hz = u128::from(self.rates.control_hz.max(1));
                (u128::from(self.tick) * 1_000_000_000 / control_hz) as u64
            }
            Clock::Rig => self.seen.at_ns,
        }
    }

    /// The rig comes to rest, once.
    fn halt(&mut self, how: Halt) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.rig.halt(how);
        }
    }

    /// A proper end: the rig at rest, the tape closed.
    fn end(&mut self, how: Halt, outcome: Outcome) -> Result<Outcome, RunError> {
        self.halt(how);
        let tick = self.tick;
        self.report.frames = self.rates.whole_frames(tick);
        self.report.outcome = outcome.clone();
        let last = self.rig.snapshot().map_err(|fault| RunError::Rig { tick, fault })?;
        self.tape.end(&outcome, last.as_ref()).map_err(|fault| RunError::Tape { tick, fault })?;
        Ok(outcome)
    }

    /// The end of an episode that failed: the rig at rest, and the tape closed where it is not the
    /// one that failed.
    fn give_up(&mut self, error: RunError) -> RunError {
        let (how, reason) = match &error {
            RunError::Pilot { .. } => (Halt::PilotFailed, "pilot_failed"),
            RunError::Rig { .. } => (Halt::RigFailed, "rig_failed"),
            RunError::Tape { .. } => (Halt::TapeFailed, "tape_failed"),
        };
        self.halt(how);
        self.report.frames = self.rates.whole_frames(self.tick);
        self.report.outcome = Outcome::failed(reason);
        if how == Halt::TapeFailed {
            return error;
        }
        // A rig that failed may have no state to give.
        let last = self.rig.snapshot().unwrap_or_default();
        match self.tape.end(&self.report.outcome, last.as_ref()) {
            Ok(()) => error,
            Err(fault) => RunError::Tape { tick: self.tick, fault },
        }
    }

    /// Ends the episode now: the rig is halted, the tape closed.
    ///
    /// # Errors
    /// When the tape cannot be closed.
    pub fn stop(&mut self) -> Result<Outcome, RunError> {
        if self.is_over {
            return Ok(self.report.outcome.clone());
        }
        self.end(Halt::Stopped, Outcome::unjudged("stopped"))
    }

    /// Begins the next episode with the same pilot, rig and tape; one that is still running is
    /// stopped.
    ///
    /// # Errors
    /// As [`Loop::begin`], or when the tape of the running episode cannot be closed.
    pub fn restart(&mut self) -> Result<(), RunError> {
        self.stop()?;
        (self.is_over, self.done, self.tick) = (false, None, 0);
        self.notes.clear();
        self.report = RunReport::default();
        self.get_ready().map_err(|error| self.give_up(error))
    }

    /// What was seen at the last tick.
    pub fn seen(&self) -> &Observation {
        &self.seen
    }

    /// What was asked for at the last tick.
    pub fn command(&self) -> &Command {
        &self.command
    }

    /// What became of it.
    pub fn commanded(&self) -> &Commanded {
        &self.commanded
    }

    /// What it was like so far.
    pub fn report(&self) -> &RunReport {
        &self.report
    }

    /// Ticks carried out.
    pub fn ticks(&self) -> u64 {
        self.tick
    }

    /// The pilot.
    pub fn pilot(&self) -> &P {
        &self.pilot
    }

    /// The pilot, to tell it what to do next.
    pub fn pilot_mut(&mut self) -> &mut P {
        &mut self.pilot
    }

    /// The rig.
    pub fn rig(&self) -> &R {
        &self.rig
    }

    /// The rig, to look at it between two ticks.
    pub fn rig_mut(&mut self) -> &mut R {
        &mut self.rig
    }
}

#[cfg(test)]
mod tests;
