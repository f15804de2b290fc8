//! The flow of a driving session: wait for a driver, count down, record, save, set back, again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;
use citrange_control::{CartesianController, Motion};
use citrange_core::run::{Pace, run as run_phase};
use citrange_core::tape::NoTape;
use citrange_core::{Rig as _, RunReport, RunSettings, Tape};
use citrange_sim::SimRig;
use citrange_studio::{Phase, SavedEpisode, Session, Summary, Telemetry};
use citrange_tape::{Dataset, Unit, WhenFull};
use citrange_teleop::{DriverLock, Order, Speeds, Teleop, Until, orders_in_words};
use serde_json::json;

use super::shared_control::{SharedControl, Work};
use super::summary::{Ended, percent, summary};
use super::telemetry::{LivePilot, LiveRig, Pictures};
use crate::output::{self, Output};
use crate::recording::{Lost, Origin, Take, cut_short};
use crate::session::{Choice, stopped};

/// Orders that people are told when an episode begins.
const ORDERS: [Order; 5] =
    [Order::Save, Order::Discard, Order::Success, Order::Failure, Order::Stop];

/// What a session does.
pub(crate) struct Plan<'a> {
    /// Episodes wanted; none: until stopped.
    pub(crate) episodes: Option<u64>,
    pub(crate) episode_s: Option<f64>,
    pub(crate) reset_s: f64,
    pub(crate) countdown_s: f64,
    pub(crate) seed: u64,
    pub(crate) first: Option<u64>,
    pub(crate) task: &'a str,
    pub(crate) unit: Unit,
    pub(crate) images: &'a BTreeSet<String>,
    pub(crate) origin: Option<Origin>,
    pub(crate) config: serde_json::Value,
    pub(crate) voice: Output,
    /// Share of a camera's pictures that may be lost before somebody is asked, 0 to 1.
    pub(crate) max_lost: f64,
    /// How long an answer is waited for; then the episode is kept, marked.
    pub(crate) ask_s: f64,
    /// The scene as it was asked for, to say how to go on.
    pub(crate) scene: &'a str,
}

/// An arm, its driver lock, and where it is shown and recorded.
pub(crate) struct Drive<'a> {
    pub(crate) rig: SimRig,
    pub(crate) controller: Arc<CartesianController>,
    pub(crate) work: Option<Work>,
    pub(crate) speeds: Speeds,
    pub(crate) driver_lock: Arc<DriverLock>,
    pub(crate) board: Arc<Telemetry>,
    pub(crate) dataset: Option<Dataset>,
    /// Where the recorded episodes are.
    pub(crate) root: Option<PathBuf>,
    pub(crate) stop: &'static AtomicBool,
    pub(crate) plan: Plan<'a>,
    pub(crate) tally: Tally,
    /// How the targets moved when the last stretch ended; none where the scene was set back.
    pub(crate) motion: Option<Motion>,
}

/// What a session was like.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) saved: u64,
    pub(crate) episodes: Vec<SavedEpisode>,
    pub(crate) discarded: u64,
    pub(crate) ticks: u64,
    pub(crate) late_ticks: u64,
    pub(crate) stalls: u64,
    pub(crate) worst_late: Duration,
    pub(crate) dropped: u64,
}

/// One stretch of the session.
struct Stretch {
    phase: Phase,
    limit_s: Option<f64>,
    until: Until,
    recording: bool,
}

impl Drive<'_> {
    /// Drives until everything wanted is recorded or the driver stops, and says what came of it.
    pub(crate) fn run(&mut self) -> anyhow::Result<Summary> {
        let ran = self.run_all();
        let fault = ran.as_ref().err().map(|error| format!("{error:#}"));
        let summary = summary(
            &self.tally.episodes,
            self.tally.discarded,
            &Ended {
                scene: self.plan.scene,
                recorded: self.root.as_deref(),
                fault: fault.as_deref(),
            },
        );
        self.board.write(|live| {
            live.session.phase = Phase::Finished;
            live.session.saved = self.tally.saved;
            live.session.message.clone_from(&summary.headline);
            live.session.summary = Some(summary.clone());
        });
        ran.map(|()| summary)
    }

    fn run_all(&mut self) -> anyhow::Result<()> {
        let first = self.plan.first.unwrap_or(self.dataset.as_ref().map_or(0, |d| d.len() as u64));
        let mut layout = first;
        while self.plan.episodes.is_none_or(|wanted| self.tally.saved < wanted) && !stopped() {
            self.set_back(layout)?;
            let again =
                if self.dataset.is_some() { self.record(layout)? } else { self.drive_freely()? };
            match again {
                Next::Same => {}
                Next::Following => layout += 1,
                Next::End => break,
            }
        }
        Ok(())
    }

    /// The scene at the start of an episode.
    fn set_back(&mut self, layout: u64) -> anyhow::Result<()> {
        self.motion = None;
        match &self.plan.origin {
            Some(origin) => origin.set(&mut self.rig)?,
            None => self.rig.world_mut().reset_env(0, self.plan.seed, layout)?,
        }
        Ok(())
    }

    fn drive_freely(&mut self) -> anyhow::Result<Next> {
        self.message(
            "W/S A/D Q/E move, [ ] roll, O/C gripper; R sets back, → next scene, Esc ends",
        );
        let free =
            Stretch { phase: Phase::Free, limit_s: None, until: Until::Order, recording: false };
        let (_, order) = self.stretch(&free, &mut NoTape)?;
        Ok(match order {
            Some(Order::Reset | Order::Discard) => Next::Same,
            Some(Order::Save | Order::Success | Order::Failure) => Next::Following,
            Some(Order::Stop) | None => Next::End,
        })
    }

    fn record(&mut self, layout: u64) -> anyhow::Result<Next> {
        if self.driver_lock.driver().is_none() {
            self.message("press a key to take the wheel");
            let wait = Stretch {
                phase: Phase::Starting,
                limit_s: None,
                until: Until::Driver,
                recording: false,
            };
            let (report, order) = self.stretch(&wait, &mut NoTape)?;
            if order == Some(Order::Stop) || report.outcome.reason == "stopped" {
                return Ok(Next::End);
            }
        }
        self.message("get ready");
        let still = Stretch {
            phase: Phase::Countdown,
            limit_s: Some(self.plan.countdown_s),
            until: Until::Still,
            recording: false,
        };
        let (_, order) = self.stretch(&still, &mut NoTape)?;
        if order == Some(Order::Stop) || stopped() {
            return Ok(Next::End);
        }
        // Nothing moved, but time went by: the episode begins at its own beginning.
        self.set_back(layout)?;
        self.message(&orders_in_words(&ORDERS, ", "));
        let next = self.take(layout)?;
        if next == Next::Following && self.plan.episodes != Some(self.tally.saved) {
            let pause = Stretch {
                phase: Phase::Reset,
                limit_s: Some(self.plan.reset_s),
                until: Until::Order,
                recording: false,
            };
            let (_, order) = self.stretch(&pause, &mut NoTape)?;
            if order == Some(Order::Stop) {
                return Ok(Next::End);
            }
        }
        Ok(next)
    }

    /// Records one episode and saves it or throws it away.
    fn take(&mut self, layout: u64) -> anyhow::Result<Next> {
        let Some(mut dataset) = self.dataset.take() else { return Ok(Next::End) };
        let choice = Choice {
            task: Some(self.plan.task),
            pilot: "teleop",
            seed: self.plan.seed,
            episode: layout,
            unit: self.plan.unit,
            images: self.plan.images,
            parent: self.plan.origin.as_ref().map(Origin::parent),
            config: self.plan.config.clone(),
        };
        let (board, before) = (Arc::clone(&self.board), self.tally.dropped);
        let cameras = self.rig.spec().cameras.len().max(1);
        let seen = move |frame: u64, dropped: usize| {
            board.write(|live| {
                live.session.dropped = before + dropped as u64;
                // Over all cameras; which one lost most is looked at when the episode ends.
                live.session.lost_share = dropped as f64 / ((frame + 1) as f64 * cameras as f64);
            });
        };
        let voice = self.plan.voice;
        let take = Take::begin(&dataset, &self.rig, choice, WhenFull::Drop, &seen, voice)?;
        let mut take = take.mark_lost_above(self.plan.max_lost);
        let recording = Stretch {
            phase: Phase::Recording,
            limit_s: self.plan.episode_s,
            until: Until::Order,
            recording: true,
        };
        let ran = self.stretch(&recording, &mut take);
        let (report, order) = ran.with_context(|| cut_short(layout, dataset.root()))?;
        self.tally.dropped += take.dropped() as u64;
        let lost = take.lost();
        let (mut order, mut unwanted) = (order, is_unwanted(order));
        let is_asked = lost.share > self.plan.max_lost && order != Some(Order::Stop);
        if is_asked && !unwanted && report.frames > 0 && !stopped() {
            let answer = self.ask(&lost, report.frames)?;
            // A failure that is kept is the judgement; one that answers the question throws away.
            unwanted = is_unwanted(answer) || answer == Some(Order::Failure);
            order = if answer == Some(Order::Stop) { answer } else { order };
        }
        if unwanted || report.frames == 0 {
            take.discard()?;
            self.tally.discarded += 1;
            self.message("thrown away; again");
            if self.plan.voice == Output::Json {
                output::data(&json!({"event": "discarded", "frames": report.frames}).to_string())?;
            }
        } else {
            self.board.write(|live| live.session.phase = Phase::Saving);
            let number = take.save(&mut dataset, &report)?;
            self.tally.saved += 1;
            let (frames, reason) = (report.frames, &report.outcome.reason);
            let mut text = format!("episode {number} saved: {frames} frames, {reason}");
            if lost.share > self.plan.max_lost {
                text += &format!(", {} LOST", percent(lost.share));
            }
            self.message(&text);
            self.tally.episodes.push(SavedEpisode {
                number: number as u64,
                frames,
                success: report.outcome.success,
                reason: reason.clone(),
                lost_share: lost.share,
            });
        }
        self.dataset = Some(dataset);
        Ok(match order {
            Some(Order::Stop) => Next::End,
            None if stopped() => Next::End,
            _ if unwanted => Next::Same,
            _ => Next::Following,
        })
    }

    /// Asks whether an episode that lost many pictures is kept; the arm holds still meanwhile.
    /// Without an answer it is kept: it is marked on its tape, and nothing is lost.
    fn ask(&mut self, lost: &Lost, frames: u64) -> anyhow::Result<Option<Order>> {
        let (share, limit) = (lost.share, self.plan.max_lost);
        let text = format!(
            "{} of the pictures of {} were lost, more than {}: Enter keeps the episode, \
             Backspace throws it away",
            percent(share),
            lost.camera,
            percent(limit)
        );
        self.message(&text);
        match self.plan.voice {
            Output::Json | Output::JsonFrames => {
                let line = json!({
                    "event": "asking", "camera": lost.camera, "lost_share": share, "limit": limit,
                    "frames": frames, "wait_s": self.plan.ask_s,
                });
                output::data(&line.to_string())?;
            }
            Output::Talk => output::talk(&format!("WARNING: {text}")),
            Output::Quiet => {}
        }
        self.board.write(|live| live.session.lost_share = share);
        let asking = Stretch {
            phase: Phase::Asking,
            limit_s: Some(self.plan.ask_s),
            until: Until::Still,
            recording: false,
        };
        let (_, order) = self.stretch(&asking, &mut NoTape)?;
        Ok(order)
    }

    fn stretch(
        &mut self,
        stretch: &Stretch,
        tape: &mut dyn Tape,
    ) -> anyhow::Result<(RunReport, Option<Order>)> {
        self.driver_lock.forget_orders();
        let targets = self.rig.begin();
        let rates = self.rig.spec().rates;
        // A recording has taken the dataset along: then what was said of it stays.
        let episode = self.dataset.as_ref().map(|d| d.len() as u64);
        let keeps_loss = stretch.phase == Phase::Asking;
        self.board.write(|live| {
            let session = &live.session;
            live.session = Session {
                phase: stretch.phase,
                episode: episode.unwrap_or(session.episode),
                saved: self.tally.saved,
                wanted: self.plan.episodes,
                seconds: 0.0,
                limit_s: stretch.limit_s,
                dataset: self.root.as_ref().map(|root| root.display().to_string()),
                dropped: self.tally.dropped,
                lost_share: if keeps_loss { session.lost_share } else { 0.0 },
                lost_limit: self.root.is_some().then_some(self.plan.max_lost),
                drawn: session.drawn,
                message: session.message.clone(),
                summary: None,
            };
        });
        let mut teleop = Teleop::new(
            Arc::clone(&self.driver_lock),
            Arc::clone(&self.controller),
            self.speeds,
            stretch.until,
        );
        if let Some(origin) = self.plan.origin.as_ref().filter(|_| stretch.recording)
            && let Some(snapshot) = origin.tape.snapshot(origin.frame)
        {
            teleop.load(&snapshot.fields)?;
        }
        if let Some(motion) = self.motion.take().filter(|motion| motion.pos == targets) {
            teleop.begin_anew(motion);
        }
        let may_fly = stretch.until == Until::Order;
        let copilot =
            SharedControl::new(teleop, Arc::clone(&self.driver_lock), self.work.as_ref(), may_fly);
        let mut pilot = LivePilot::new(copilot, &self.board, rates.control_hz);
        let pictures = !self.rig.spec().cameras.is_empty();
        let which = if stretch.recording { Pictures::Recorded } else { Pictures::Glanced };
        let mut rig = LiveRig::new(&mut self.rig, &self.board, which);
        let settings = RunSettings {
            speed: Some(1.0),
            max_frames: stretch.limit_s.map(|s| (s * f64::from(rates.frame_hz)).round() as u64),
            stop: Some(self.stop),
            pictures,
            // A person drives: what is late is late.
            pace: Pace::Skip,
            ..RunSettings::default()
        };
        let report = run_phase(&mut pilot, &mut rig, tape, &targets, &settings)?;
        self.tally.ticks += report.ticks;
        self.motion = pilot.copilot.motion().cloned();
        self.tally.late_ticks += report.late_ticks;
        self.tally.stalls += report.stalls;
        self.tally.worst_late = self.tally.worst_late.max(report.worst_late);
        Ok((report, pilot.copilot.teleop.ended_by()))
    }

    fn message(&self, text: &str) {
        self.board.write(|live| text.clone_into(&mut live.session.message));
    }

    /// Where the recorded episodes are.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }
}

fn is_unwanted(order: Option<Order>) -> bool {
    matches!(order, Some(Order::Discard | Order::Reset))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The same scene again.
    Same,
    /// The next scene.
    Following,
    /// Enough.
    End,
}
