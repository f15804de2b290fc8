//! Workers make episodes, the writer saves them in the order of their indices. What is kept is
//! decided in that order, too, so that the dataset does not depend on who was faster.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use citrange_tape::{Dataset, utc_now};
use serde_json::json;

use super::gate::{Gate, HaltOnPanic};
use super::goal::Goal;
use super::journal::Journal;
use super::plan::Plan;
use super::show::Show;
use super::tally::Tally;
use super::worker::{Attempt, UnsavedEpisode, Worker};
use crate::error::{Context as _, EpisodesError, Result};

/// How often the writer looks whether the user asked to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Episodes that may be done or under way, beside one per worker, before the writer has come to
/// them: enough that a long episode holds nobody up.
const AHEAD: u64 = 4;
/// A pilot that fails so often in a row fails always.
const FAULTS_IN_A_ROW: u64 = 3;

/// One worker's answer for one index.
struct Answer {
    worker: usize,
    made: Result<Attempt>,
}

pub(crate) struct Writer<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) dataset: &'a mut Dataset,
    pub(crate) goal: &'a Goal,
    pub(crate) tally: &'a mut Tally,
    pub(crate) show: &'a Show<'a>,
    /// Index with which the run began.
    pub(crate) first: u64,
    /// The next index to be saved.
    pub(crate) next: u64,
}

impl Writer<'_> {
    /// Collects until the goal is reached, no more may be made, or the user asks to stop.
    pub(crate) fn collect(&mut self, workers: usize) -> Result<()> {
        let mut journal = Journal::open(self.dataset.root())?;
        let recordings: PathBuf = self.dataset.recordings();
        let gate = Gate::at(self.next);
        let plan = self.plan;
        let (send, answers) = channel();
        std::thread::scope(|scope| {
            for worker in 0..workers {
                let (send, gate, recordings) = (send.clone(), &gate, &recordings);
                let work = move || {
                    let _watch = HaltOnPanic(gate);
                    let mut hand = Worker::new(plan, recordings, gate.halted());
                    while let Some(episode) = gate.take() {
                        let made = hand.make(episode);
                        if send.send((episode, Answer { worker, made })).is_err() {
                            break;
                        }
                    }
                };
                let thread = std::thread::Builder::new().name(format!("worker-{worker}"));
                if let Err(error) = thread.spawn_scoped(scope, work) {
                    gate.halt();
                    return Err(error).context("no thread for a worker");
                }
            }
            drop(send);
            let saved = self.save_in_order(&gate, &answers, &mut journal, workers as u64);
            gate.halt();
            // What the workers made beyond the end is made again by whoever goes on.
            for (_, answer) in answers {
                if let Ok(Attempt::Finished(episode)) = answer.made {
                    episode.recorder.discard()?;
                }
            }
            saved
        })
    }

    fn save_in_order(
        &mut self,
        gate: &Gate,
        answers: &Receiver<(u64, Answer)>,
        journal: &mut Journal,
        workers: u64,
    ) -> Result<()> {
        let mut waiting = BTreeMap::new();
        let mut faults_in_a_row = 0;
        let ended = loop {
            let may_make = self.goal.may_make(self.tally, self.next - self.first);
            if may_make == 0 {
                break Ok(());
            }
            gate.open_until(self.next.saturating_add(may_make.min(workers + AHEAD)));
            let Some(answer) = waiting.remove(&self.next) else {
                if self.show.ctx.stopped() {
                    gate.halt();
                }
                match answers.recv_timeout(LOOK_EVERY) {
                    Ok((episode, answer)) => {
                        waiting.insert(episode, answer);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) if self.show.ctx.stopped() => break Ok(()),
                    Err(RecvTimeoutError::Disconnected) => {
                        break Err(EpisodesError::Failed("a worker crashed".into()));
                    }
                }
                continue;
            };
            match answer.made {
                Err(error) => break Err(error).with_context(|| self.how_to_go_on()),
                Ok(Attempt::Stopped) => break Ok(()),
                Ok(Attempt::Finished(episode)) => {
                    self.keep(*episode, answer.worker, journal)?;
                    faults_in_a_row = 0;
                }
                Ok(Attempt::Failed(error)) => {
                    faults_in_a_row += 1;
                    self.tally.faults += 1;
                    let index = self.next;
                    let why = error.text();
                    let event = json!({"event": "fault", "episode": index, "why": why});
                    let words = format!("episode {index} cannot be made: {why}");
                    self.show.tell(&event, &words, true)?;
                    journal.add(&json!({
                        "episode": index, "uid": self.plan.name.uid(index), "first": self.first,
                        "fault": why, "utc": utc_now(),
                    }))?;
                    if faults_in_a_row >= FAULTS_IN_A_ROW {
                        let what = format!("episode {index}, the third in a row to fail");
                        break Err(error).with_context(|| what);
                    }
                }
            }
            self.next += 1;
            self.show.progress(self.goal, self.tally);
        };
        gate.halt();
        for (_, answer) in waiting {
            if let Ok(Attempt::Finished(episode)) = answer.made {
                episode.recorder.discard()?;
            }
        }
        ended
    }

    /// Saves the episode whose turn it is, or leaves it out.
    fn keep(&mut self, made: UnsavedEpisode, worker: usize, journal: &mut Journal) -> Result<()> {
        let (index, UnsavedEpisode { recorder, report, took }) = (self.next, made);
        let (frames, outcome) = (report.frames, report.outcome);
        let mut number = None;
        let begun = Instant::now();
        if self.goal.wants(self.tally, &outcome) {
            let recording = recorder.finish().with_context(|| self.how_to_go_on())?;
            if recording.dropped.values().any(|dropped| !dropped.is_empty()) {
                let what =
                    format!("episode {index} has lost pictures, although nothing hurries it");
                return Err(EpisodesError::Failed(what));
            }
            number = Some(self.dataset.save(recording).with_context(|| self.how_to_go_on())?);
            self.tally.save(&outcome, frames);
        } else {
            recorder.discard()?;
            self.tally.leave_out(&outcome, frames);
        }
        let save_ms = begun.elapsed().as_secs_f64() * 1e3;
        let reason = &outcome.reason;
        let event = if number.is_some() { "saved" } else { "left_out" };
        let event = json!({
            "event": event, "episode": index, "number": number, "frames": frames,
            "outcome": outcome, "dropped_pictures": 0, "wall_s": took.as_secs_f64(),
            "worker": worker, "save_ms": save_ms,
        });
        let words = match number {
            Some(number) => {
                format!("episode {number}: {frames} frames, {reason}, saved in {save_ms:.0} ms")
            }
            None => format!("left out: index {index}, {frames} frames, {reason}"),
        };
        self.show.tell(&event, &words, false)?;
        journal.add(&json!({
            "episode": index, "uid": self.plan.name.uid(index), "first": self.first,
            "number": number, "outcome": outcome, "frames": frames,
            "wall_s": took.as_secs_f64(), "worker": worker, "utc": utc_now(),
        }))
    }

    fn how_to_go_on(&self) -> String {
        format!(
            "episode {} is not saved, those before it are; the same command with --resume goes on \
             (`citrange data repair {}` tidies up without it)",
            self.next,
            self.dataset.root().display()
        )
    }
}
