//! The flow of a driving session: wait for a driver, count down, record, save, set back, again.

use std::sync::Arc;

use citrange_core::one_arm::OneArm;
use citrange_core::run::{Pace, run as run_phase};
use citrange_core::tape::NoTape;
use citrange_core::{RunReport, RunSettings, Tape};
use citrange_link::LeaderPilot;
use citrange_tape::WhenFull;
use citrange_teleop::telemetry::{Phase, SavedEpisode, Session, Summary, percent};
use citrange_teleop::{Order, SharedControl, Teleop, Until, orders_in_words};
use serde_json::json;

use super::led::Led;
use super::session::{DEFAULT_SCENE, Drive};
use super::summary::{Ended, summary};
use super::telemetry::{LivePilot, LiveRig, Pictures};
use crate::error::{Context as _, Result};
use crate::linked::cell::{check_goes_on, park};
use crate::pilots::noise;
use crate::recording::{Lost, Origin, Take, cut_short};
use crate::session::Choice;

/// Orders that people are told when an episode begins.
const ORDERS: [Order; 5] =
    [Order::Save, Order::Discard, Order::Success, Order::Failure, Order::Stop];

/// One stretch of the session.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    phase: Phase,
    limit_s: Option<f64>,
    until: Until,
    recording: bool,
    /// Ends when the arm has come to its leader.
    until_met: bool,
}

impl Default for Stretch {
    fn default() -> Self {
        Self {
            phase: Phase::Starting,
            limit_s: None,
            until: Until::Order,
            recording: false,
            until_met: false,
        }
    }
}

impl Drive<'_> {
    /// Drives until everything wanted is recorded or the driver stops, and says what came of it.
    ///
    /// # Errors
    /// When rig, pilot or tape fail; what is shown says it, too.
    pub fn run(&mut self) -> Result<Summary> {
        let ran = self.run_all();
        let fault = ran.as_ref().err().map(|error| error.text());
        let summary = summary(
            &self.tally.episodes,
            self.tally.discarded,
            &Ended {
                scene: self.options.scene.as_deref().unwrap_or(DEFAULT_SCENE),
                recorded: self.options.dataset.as_deref(),
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

    fn run_all(&mut self) -> Result<()> {
        let first =
            self.options.first.unwrap_or(self.dataset.as_ref().map_or(0, |d| d.len() as u64));
        let mut layout = first;
        while self.options.episodes.is_none_or(|wanted| self.tally.saved < wanted)
            && !self.ctx.stopped()
        {
            self.set_back(layout)?;
            let again =
                if self.dataset.is_some() { self.record(layout)? } else { self.drive_freely()? };
            match again {
                Next::Same => {}
                Next::Following => layout += 1,
                Next::End => break,
            }
        }
        park(self.rig.as_mut(), self.ctx)
    }

    /// The scene at the start of an episode.
    fn set_back(&mut self, layout: u64) -> Result<()> {
        self.motion = None;
        let noise = noise(self.options.pose_noise_mm, self.options.record.seed, layout);
        if let Some(work) = &mut self.work {
            work.set_noise(noise);
        }
        match &self.origin {
            Some(origin) => origin.set(self.rig.as_mut())?,
            None => self.rig.reset(self.options.record.seed, layout)?,
        }
        Ok(())
    }

    fn drive_freely(&mut self) -> Result<Next> {
        self.message(match self.rig.leader() {
            Some(_) => "the arm goes where its leader is; Esc ends",
            None => "W/S A/D Q/E move, [ ] roll, O/C gripper; R sets back, → next scene, Esc ends",
        });
        let free = Stretch { phase: Phase::Free, until: Until::Order, ..Stretch::default() };
        let (_, order) = self.stretch(&free, &mut NoTape)?;
        Ok(match order {
            Some(Order::Reset | Order::Discard) => Next::Same,
            Some(Order::Save | Order::Success | Order::Failure) => Next::Following,
            Some(Order::Stop) | None => Next::End,
        })
    }

    fn record(&mut self, layout: u64) -> Result<Next> {
        if self.rig.leader().is_some() {
            self.message("the arm comes to its leader: keep clear of it, hold the leader still");
            let come = Stretch {
                phase: Phase::Starting,
                until: Until::Still,
                until_met: true,
                ..Stretch::default()
            };
            let (_, order) = self.stretch(&come, &mut NoTape)?;
            if order == Some(Order::Stop) || self.ctx.stopped() {
                return Ok(Next::End);
            }
        } else if self.driver_lock.driver().is_none() {
            self.message("press a key to take the wheel");
            let wait = Stretch { until: Until::Driver, ..Stretch::default() };
            let (report, order) = self.stretch(&wait, &mut NoTape)?;
            if order == Some(Order::Stop) || report.outcome.reason == "stopped" {
                return Ok(Next::End);
            }
        }
        self.message("get ready");
        let still = Stretch {
            phase: Phase::Countdown,
            limit_s: Some(self.options.countdown_s),
            until: Until::Still,
            ..Stretch::default()
        };
        let (_, order) = self.stretch(&still, &mut NoTape)?;
        if order == Some(Order::Stop) || self.ctx.stopped() {
            return Ok(Next::End);
        }
        // Nothing moved, but time went by: the episode begins at its own beginning.
        self.set_back(layout)?;
        self.message(&orders_in_words(&ORDERS, ", "));
        let next = self.take(layout)?;
        self.check_led()?;
        if next == Next::Following && self.options.episodes != Some(self.tally.saved) {
            let pause = Stretch {
                phase: Phase::Reset,
                limit_s: Some(self.options.reset_s),
                until: Until::Order,
                ..Stretch::default()
            };
            let (_, order) = self.stretch(&pause, &mut NoTape)?;
            if order == Some(Order::Stop) {
                return Ok(Next::End);
            }
        }
        Ok(next)
    }

    /// Records one episode and saves it or throws it away.
    fn take(&mut self, layout: u64) -> Result<Next> {
        let Some(mut dataset) = self.dataset.take() else { return Ok(Next::End) };
        let choice = Choice {
            task: Some(&self.task),
            pilot: if self.rig.leader().is_some() { "leader" } else { "teleop" },
            seed: self.options.record.seed,
            episode: layout,
            unit: self.options.record.unit,
            images: &self.options.record.images,
            parent: self.origin.as_ref().map(Origin::parent),
            config: self.config.clone(),
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
        let take =
            Take::begin(&dataset, self.rig.as_ref(), choice, WhenFull::Drop, &seen, self.ctx)?;
        let mut take = take.mark_lost_above(self.options.max_lost);
        let recording = Stretch {
            phase: Phase::Recording,
            limit_s: self.options.episode_s,
            until: Until::Order,
            recording: true,
            ..Stretch::default()
        };
        let ran = self.stretch(&recording, &mut take);
        let (report, order) = ran.with_context(|| cut_short(layout, dataset.root()))?;
        self.tally.dropped += take.dropped() as u64;
        let lost = take.lost();
        let (mut order, mut unwanted) = (order, is_unwanted(order));
        let is_asked = lost.share > self.options.max_lost && order != Some(Order::Stop);
        if is_asked && !unwanted && report.frames > 0 && !self.ctx.stopped() {
            let answer = self.ask(&lost, report.frames)?;
            // A failure that is kept is the judgement; one that answers the question throws away.
            unwanted = is_unwanted(answer) || answer == Some(Order::Failure);
            order = if answer == Some(Order::Stop) { answer } else { order };
        }
        if unwanted || report.frames == 0 {
            take.discard()?;
            self.tally.discarded += 1;
            self.message("thrown away; again");
            self.ctx.tell(&json!({"event": "discarded", "frames": report.frames}), "")?;
        } else {
            self.board.write(|live| live.session.phase = Phase::Saving);
            let number = take.save(&mut dataset, &report)?;
            self.tally.saved += 1;
            let (frames, reason) = (report.frames, &report.outcome.reason);
            let mut text = format!("episode {number} saved: {frames} frames, {reason}");
            if lost.share > self.options.max_lost {
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
            None if self.ctx.stopped() => Next::End,
            _ if unwanted => Next::Same,
            _ => Next::Following,
        })
    }

    /// Asks whether an episode that lost many pictures is kept; the arm holds still meanwhile.
    /// Without an answer it is kept: it is marked on its tape, and nothing is lost.
    fn ask(&mut self, lost: &Lost, frames: u64) -> Result<Option<Order>> {
        let (share, limit) = (lost.share, self.options.max_lost);
        let text = format!(
            "{} of the pictures of {} were lost, more than {}: Enter keeps the episode, \
             Backspace throws it away",
            percent(share),
            lost.camera,
            percent(limit)
        );
        self.message(&text);
        let event = json!({
            "event": "asking", "camera": lost.camera, "lost_share": share, "limit": limit,
            "frames": frames, "wait_s": self.options.ask_s,
        });
        self.ctx.tell(&event, &format!("WARNING: {text}"))?;
        self.board.write(|live| live.session.lost_share = share);
        let asking = Stretch {
            phase: Phase::Asking,
            limit_s: Some(self.options.ask_s),
            until: Until::Still,
            ..Stretch::default()
        };
        let (_, order) = self.stretch(&asking, &mut NoTape)?;
        Ok(order)
    }

    fn stretch(
        &mut self,
        stretch: &Stretch,
        tape: &mut dyn Tape,
    ) -> Result<(RunReport, Option<Order>)> {
        self.driver_lock.forget_orders();
        let arm = self.rig.spec().arms().into_iter().next().map_or(0..0, |arm| arm.joints);
        let mut targets = self.rig.targets();
        targets.truncate(arm.end);
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
                wanted: self.options.episodes,
                limit_s: stretch.limit_s,
                dataset: self.options.dataset.as_ref().map(|root| root.display().to_string()),
                dropped: self.tally.dropped,
                lost_share: if keeps_loss { session.lost_share } else { 0.0 },
                lost_limit: self.options.dataset.is_some().then_some(self.options.max_lost),
                drawn: session.drawn,
                message: session.message.clone(),
                ..Session::default()
            };
        });
        let mut teleop = Teleop::new(
            Arc::clone(&self.driver_lock),
            Arc::clone(&self.controller),
            self.speeds,
            stretch.until,
        );
        if let Some(origin) = self.origin.as_ref().filter(|_| stretch.recording)
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
        let led = self.rig.leader().map(|leader| LeaderPilot::new(leader, None));
        let led = led.map(|pilot| Led::new(pilot, stretch.until_met));
        let pilot = LivePilot::new(copilot, led, &self.board, rates.control_hz);
        let mut pilot = OneArm::new(pilot, arm);
        let pictures = !self.rig.spec().cameras.is_empty();
        let which = if stretch.recording { Pictures::Recorded } else { Pictures::Glanced };
        let mut rig = LiveRig::new(self.rig.as_mut(), &self.board, which);
        let settings = RunSettings {
            max_frames: stretch.limit_s.map(|s| (s * f64::from(rates.frame_hz)).round() as u64),
            stop: Some(self.ctx.stop),
            pictures,
            // A person drives: what is late is late.
            pace: Pace::REAL_TIME,
            ..RunSettings::default()
        };
        let report = run_phase(&mut pilot, &mut rig, tape, &settings)?;
        self.tally.ticks += report.ticks;
        let copilot = &pilot.inner().copilot;
        self.motion = copilot.motion().cloned();
        self.tally.late_ticks += report.late_ticks;
        self.tally.stalls += report.stalls;
        self.tally.worst_late = self.tally.worst_late.max(report.worst_late);
        let ended_by = copilot.teleop().ended_by();
        for why in self.rig.troubles().iter().filter(|_| report.outcome.reason == "robot_stopped") {
            self.ctx.say(why);
            self.message(why);
        }
        if !stretch.recording {
            self.check_led()?;
        }
        Ok((report, ended_by))
    }

    /// An arm that stopped does not go to its leader by itself: a person looks first.
    fn check_led(&self) -> Result<()> {
        match self.rig.leader() {
            Some(_) => check_goes_on(self.rig.as_ref()),
            None => Ok(()),
        }
    }

    fn message(&self, text: &str) {
        self.board.write(|live| text.clone_into(&mut live.session.message));
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
