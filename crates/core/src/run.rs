//! The one loop: a pilot decides, a rig acts, a tape keeps.
//!
//! Every control tick: observe, decide, act. Every `ticks_per_frame`-th tick is a frame: pictures
//! are taken and the complete state is kept before the tick is carried out. An episode is a whole
//! number of frames.
//!
//! A loop that is late either catches up (a simulation that nobody drives) or skips what it missed
//! ([`Pace::Skip`]: a person drives, or something real moves). Who skips never runs faster than
//! time; after a stall it tells the pilot, and an event `stall` on the tape says at which tick
//! frames are not evenly spaced.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::pilot::{Event, Outcome, Pilot, Verdict};
use crate::rig::{BoxError, Commanded, Observation, Rig};
use crate::tape::{FrameRecord, Tape, TickRecord};

/// How to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunSettings<'a> {
    /// Times real time; `None` runs as fast as it goes.
    pub speed: Option<f64>,
    /// Longest episode in frames.
    pub max_frames: Option<u64>,
    /// Ends the episode at the next frame when it becomes true.
    pub stop: Option<&'a AtomicBool>,
    /// Whether pictures are taken at frames.
    pub pictures: bool,
    /// Where the times of frames come from.
    pub clock: Clock,
    /// What becomes of ticks that are late.
    pub pace: Pace,
}

/// What becomes of ticks that are late, when run at a speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// They are made up for as fast as it goes: for simulations that nobody drives.
    #[default]
    CatchUp,
    /// They are left out, and what follows is that much later: whenever a person drives, or
    /// anything real moves.
    Skip,
}

/// A tick that is later than this, and than two ticks, is a stall.
pub const STALL: Duration = Duration::from_millis(40);

/// Where the times of frames come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The wall: for whoever keeps time with the world.
    #[default]
    Wall,
    /// Control ticks counted: the same in every run, however fast it goes.
    Ticks,
}

/// What a run was like.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// How it ended.
    pub outcome: Outcome,
    /// Frames kept.
    pub frames: u64,
    /// Control ticks carried out.
    pub ticks: u64,
    /// Ticks that began more than one tick late (only when run at a speed).
    pub late_ticks: u64,
    /// How often the loop stalled: more than two ticks and [`STALL`] late, where late ticks are
    /// skipped.
    pub stalls: u64,
    /// The latest start of a tick.
    pub worst_late: Duration,
    /// Longest time the loop was held by the tape in one tick.
    pub worst_tape: Duration,
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

/// Runs one episode. `targets` are the joint targets in force when it begins.
///
/// # Errors
/// When pilot, rig or tape fail. An episode that was cut short by pilot or rig is ended on the
/// tape with the reason `pilot_failed` or `rig_failed`, so that what happened is kept.
pub fn run(
    pilot: &mut dyn Pilot,
    rig: &mut dyn Rig,
    tape: &mut dyn Tape,
    targets: &[f64],
    settings: &RunSettings<'_>,
) -> Result<RunReport, RunError> {
    let mut episode = Episode {
        targets: targets.to_vec(),
        seen: Observation::default(),
        commanded: Commanded::default(),
        begun: Instant::now(),
        behind: Duration::ZERO,
        tick: 0,
        report: RunReport {
            outcome: Outcome::unjudged("running"),
            frames: 0,
            ticks: 0,
            late_ticks: 0,
            stalls: 0,
            worst_late: Duration::ZERO,
            worst_tape: Duration::ZERO,
        },
    };
    let result = episode.go(pilot, rig, tape, settings);
    let tick = episode.tick;
    let outcome = match &result {
        Ok(outcome) => outcome.clone(),
        Err(RunError::Tape { .. }) => return result.map(|_| episode.report),
        Err(RunError::Pilot { .. }) => failed("pilot_failed"),
        Err(RunError::Rig { .. }) => failed("rig_failed"),
    };
    // A rig that failed may have no state to give.
    let last = match rig.snapshot() {
        Ok(last) => last,
        Err(_) if result.is_err() => None,
        Err(fault) => return Err(RunError::Rig { tick, fault }),
    };
    tape.end(&outcome, last.as_ref()).map_err(|fault| RunError::Tape { tick, fault })?;
    episode.report.outcome = result?;
    Ok(episode.report)
}

fn failed(reason: &str) -> Outcome {
    Outcome { success: Some(false), reason: reason.to_owned() }
}

struct Episode {
    targets: Vec<f64>,
    seen: Observation,
    commanded: Commanded,
    begun: Instant,
    /// Time that was skipped.
    behind: Duration,
    tick: u64,
    report: RunReport,
}

impl Episode {
    fn go(
        &mut self,
        pilot: &mut dyn Pilot,
        rig: &mut dyn Rig,
        tape: &mut dyn Tape,
        settings: &RunSettings<'_>,
    ) -> Result<Outcome, RunError> {
        let rates = rig.spec().rates;
        let ticks_per_frame = u64::from(rates.ticks_per_frame());
        let mut events = Vec::new();
        let mut memory = BTreeMap::new();
        let mut done = None;
        loop {
            let tick = self.tick;
            let is_frame = tick.is_multiple_of(ticks_per_frame);
            if is_frame && let Some(outcome) = done.take().or_else(|| self.ended(settings)) {
                return Ok(outcome);
            }
            if let Some(late) = self.pace(rates.control_hz, settings) {
                pilot.stalled(late);
                let detail = serde_json::json!({"late_ms": late.as_secs_f64() * 1e3});
                events.push(Event { name: "stall".to_owned(), detail });
            }
            rig.observe(is_frame && settings.pictures, &mut self.seen)
                .map_err(|fault| RunError::Rig { tick, fault })?;
            if tick == 0 && settings.pace == Pace::Skip {
                // The first picture waits until it is drawn; time counts from there.
                self.behind = self.begun.elapsed();
            }
            // The snapshot of a frame holds what decides this tick: the memory before it is decided.
            memory.clear();
            if is_frame {
                pilot.save(&mut memory);
            }
            if done.is_none() {
                let verdict = pilot
                    .decide(&self.seen, &mut self.targets, &mut events)
                    .map_err(|fault| RunError::Pilot { tick, fault })?;
                if let Verdict::Done(outcome) = verdict {
                    if is_frame {
                        // What the pilot had to say last belongs to the episode too.
                        for event in events.drain(..) {
                            tape.event(tick, &event)
                                .map_err(|fault| RunError::Tape { tick, fault })?;
                        }
                        return Ok(outcome);
                    }
                    done = Some(outcome);
                }
            }
            if done.is_some() {
                pilot.finish(&mut self.targets);
            }
            let before = Instant::now();
            let mut kept = Ok(());
            if is_frame {
                let mut snapshot = rig.snapshot().map_err(|fault| RunError::Rig { tick, fault })?;
                if let Some(snapshot) = &mut snapshot {
                    snapshot.fields.append(&mut memory);
                }
                kept = tape.frame(&FrameRecord {
                    index: tick / ticks_per_frame,
                    wall_ns: self.now_ns(settings.clock, rates.control_hz),
                    seen: &self.seen,
                    snapshot: snapshot.as_ref(),
                });
                self.report.frames += 1;
            }
            for event in events.drain(..) {
                kept = kept.and(tape.event(tick, &event));
            }
            kept.map_err(|fault| RunError::Tape { tick, fault })?;
            let held = before.elapsed();
            rig.act(&self.targets, &mut self.commanded)
                .map_err(|fault| RunError::Rig { tick, fault })?;
            let before = Instant::now();
            tape.tick(&TickRecord {
                index: tick,
                requested: &self.targets,
                commanded: &self.commanded,
            })
            .map_err(|fault| RunError::Tape { tick, fault })?;
            self.report.worst_tape = self.report.worst_tape.max(held + before.elapsed());
            self.tick += 1;
            self.report.ticks = self.tick;
        }
    }

    fn ended(&self, settings: &RunSettings<'_>) -> Option<Outcome> {
        if settings.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(Outcome::unjudged("stopped"));
        }
        let full = settings.max_frames.is_some_and(|max| self.report.frames >= max);
        full.then(|| Outcome::unjudged("time_up"))
    }

    /// Time since the episode began.
    fn now_ns(&self, clock: Clock, control_hz: u32) -> u64 {
        match clock {
            Clock::Wall => self.begun.elapsed().as_nanos() as u64,
            Clock::Ticks => (u128::from(self.tick) * 1_000_000_000 / u128::from(control_hz)) as u64,
        }
    }

    /// Waits until the tick is due; answers how late it is after a stall.
    fn pace(&mut self, control_hz: u32, settings: &RunSettings<'_>) -> Option<Duration> {
        let speed = settings.speed.filter(|s| s.is_finite() && *s > 0.0)?;
        let tick_secs = 1.0 / (f64::from(control_hz) * speed);
        let due = self.behind + Duration::from_secs_f64(self.tick as f64 * tick_secs);
        if let Some(wait) = due.checked_sub(self.begun.elapsed()) {
            std::thread::sleep(wait);
        }
        // Also after a sleep: it may last longer than it should.
        let late = self.begun.elapsed().saturating_sub(due);
        self.report.worst_late = self.report.worst_late.max(late);
        if late.as_secs_f64() <= tick_secs {
            return None;
        }
        self.report.late_ticks += 1;
        if settings.pace == Pace::CatchUp {
            return None;
        }
        self.behind += late;
        let is_stall = late > STALL && late.as_secs_f64() > 2.0 * tick_secs;
        self.report.stalls += u64::from(is_stall);
        is_stall.then_some(late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pilot::{Move, Script};
    use crate::rates::Rates;
    use crate::rig::{JointSpec, RigSpec};
    use crate::snapshot::Snapshot;
    use crate::tape::NoTape;

    /// A joint that goes where it is told, and breaks at a tick.
    struct Toy {
        spec: RigSpec,
        at: f64,
        ticks: u64,
        breaks_at: Option<u64>,
    }

    fn toy(breaks_at: Option<u64>) -> Toy {
        let rates = Rates { physics_hz: 60, control_hz: 60, frame_hz: 10 };
        let joint = JointSpec { name: "a".into(), is_slide: false, range: None, gripper: None };
        let spec = RigSpec {
            robot: "toy".into(),
            joints: vec![joint],
            rates,
            cameras: vec![],
            objects: vec![],
        };
        Toy { spec, at: 0.0, ticks: 0, breaks_at }
    }

    impl Rig for Toy {
        fn spec(&self) -> &RigSpec {
            &self.spec
        }
        fn observe(&mut self, _: bool, seen: &mut Observation) -> Result<(), BoxError> {
            seen.tick = self.ticks;
            seen.joint_pos = vec![self.at];
            Ok(())
        }
        fn act(&mut self, targets: &[f64], commanded: &mut Commanded) -> Result<(), BoxError> {
            if self.breaks_at == Some(self.ticks) {
                return Err("broken".into());
            }
            self.at = targets[0];
            commanded.executed = targets.to_vec();
            self.ticks += 1;
            Ok(())
        }
        fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError> {
            Ok(None)
        }
    }

    #[derive(Default)]
    struct Notes {
        frames: u64,
        ticks: u64,
        events: Vec<(u64, Event)>,
        wall_ns: Vec<u64>,
        outcome: Option<Outcome>,
    }

    impl Tape for Notes {
        fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
            assert_eq!(frame.index, self.frames);
            self.wall_ns.push(frame.wall_ns);
            self.frames += 1;
            Ok(())
        }
        fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
            assert_eq!(tick.index, self.ticks);
            self.ticks += 1;
            Ok(())
        }
        fn event(&mut self, tick: u64, event: &Event) -> Result<(), BoxError> {
            self.events.push((tick, event.clone()));
            Ok(())
        }
        fn end(&mut self, outcome: &Outcome, _: Option<&Snapshot>) -> Result<(), BoxError> {
            self.outcome = Some(outcome.clone());
            Ok(())
        }
    }

    fn script(ticks: u64) -> Script {
        let go = |to, ticks, phase| Move { joints: vec![to], ticks, phase };
        Script::new(vec![0.0], vec![go(1.0, ticks, "out"), go(0.0, 1, "back")])
    }

    #[test]
    fn episodes_are_whole_frames() {
        let mut notes = Notes::default();
        let mut rig = toy(None);
        let settings = RunSettings::default();
        let report = run(&mut script(13), &mut rig, &mut notes, &[0.0], &settings).unwrap();
        // 14 ticks of script end inside the third frame, which is finished.
        assert_eq!((report.frames, report.ticks, notes.frames, notes.ticks), (3, 18, 3, 18));
        assert_eq!(report.outcome, Outcome::unjudged("script_end"));
        assert_eq!(notes.outcome, Some(report.outcome));
        let phases: Vec<u64> = notes.events.iter().map(|(tick, _)| *tick).collect();
        assert_eq!(phases, [0, 13]);
        assert_eq!(rig.at, 0.0);
    }

    /// Says its last word at the tick at which it ends.
    struct LastWord(u64);

    impl Pilot for LastWord {
        fn name(&self) -> &str {
            "last_word"
        }
        fn decide(
            &mut self,
            seen: &Observation,
            _: &mut [f64],
            events: &mut Vec<Event>,
        ) -> Result<Verdict, BoxError> {
            if seen.tick < self.0 {
                return Ok(Verdict::Go);
            }
            events.push(Event { name: "summary".into(), detail: serde_json::Value::Null });
            Ok(Verdict::Done(Outcome::unjudged("said")))
        }
    }

    #[test]
    fn the_last_word_is_kept_at_a_frame_and_between() {
        for (tick, frames) in [(12, 2), (13, 3)] {
            let mut notes = Notes::default();
            let settings = RunSettings::default();
            run(&mut LastWord(tick), &mut toy(None), &mut notes, &[0.0], &settings).unwrap();
            assert_eq!((notes.events.len(), notes.frames), (1, frames));
            assert_eq!(notes.events[0].0, tick);
        }
    }

    #[test]
    fn a_broken_rig_ends_the_tape_and_is_named() {
        let mut notes = Notes::default();
        let error =
            run(&mut script(50), &mut toy(Some(9)), &mut notes, &[0.0], &RunSettings::default());
        assert!(matches!(error, Err(RunError::Rig { tick: 9, .. })), "{error:?}");
        let outcome = notes.outcome.unwrap();
        assert_eq!((outcome.success, outcome.reason.as_str()), (Some(false), "rig_failed"));
    }

    #[test]
    fn time_and_stop_end_it_at_a_frame() {
        let stop = AtomicBool::new(true);
        let settings = RunSettings { max_frames: Some(2), ..RunSettings::default() };
        let report = run(&mut script(500), &mut toy(None), &mut NoTape, &[0.0], &settings);
        assert_eq!(report.map(|r| (r.ticks, r.outcome.reason)).unwrap(), (12, "time_up".into()));
        let settings = RunSettings { stop: Some(&stop), ..settings };
        let report = run(&mut script(500), &mut toy(None), &mut NoTape, &[0.0], &settings);
        assert_eq!(report.unwrap().ticks, 0);
    }

    /// Counts how it is called, and hangs once.
    struct Hangs {
        at: u64,
        stalled: Vec<(u64, Duration)>,
        called: Vec<Instant>,
    }

    impl Pilot for Hangs {
        fn name(&self) -> &str {
            "hangs"
        }
        fn decide(
            &mut self,
            seen: &Observation,
            _: &mut [f64],
            _: &mut Vec<Event>,
        ) -> Result<Verdict, BoxError> {
            self.called.push(Instant::now());
            if seen.tick == self.at {
                std::thread::sleep(Duration::from_millis(400));
            }
            Ok(Verdict::Go)
        }
        fn stalled(&mut self, late: Duration) {
            self.stalled.push((self.called.len() as u64, late));
        }
    }

    #[test]
    fn late_ticks_are_skipped_or_caught_up() {
        for pace in [Pace::Skip, Pace::CatchUp] {
            let mut pilot = Hangs { at: 5, stalled: vec![], called: vec![] };
            let mut notes = Notes::default();
            let settings = RunSettings {
                speed: Some(1.0),
                max_frames: Some(6),
                pace,
                ..RunSettings::default()
            };
            let report = run(&mut pilot, &mut toy(None), &mut notes, &[0.0], &settings).unwrap();
            // 36 ticks at 60 Hz; those after the hang come one by one, or all at once.
            let after = pilot.called[35] - pilot.called[6];
            let stalls = notes.events.iter().filter(|(_, event)| event.name == "stall").count();
            assert_eq!(report.stalls as usize, stalls);
            assert_eq!(pilot.stalled.len(), stalls);
            if pace == Pace::Skip {
                assert!(after >= Duration::from_millis(400), "{after:?}");
                let late = pilot.stalled.iter().find(|(tick, _)| *tick == 6).unwrap().1;
                assert!(late >= Duration::from_millis(300), "{late:?}");
            } else {
                assert!(stalls == 0 && report.late_ticks >= 10, "{stalls} {report:?}");
            }
        }
    }

    #[test]
    fn counted_ticks_make_times_that_repeat() {
        let settings =
            RunSettings { max_frames: Some(3), clock: Clock::Ticks, ..RunSettings::default() };
        let mut notes = Notes::default();
        run(&mut script(500), &mut toy(None), &mut notes, &[0.0], &settings).unwrap();
        // Frames come at 10 Hz.
        assert_eq!(notes.wall_ns, [0, 100_000_000, 200_000_000]);
    }

    #[test]
    fn a_speed_is_held() {
        let begun = Instant::now();
        let settings =
            RunSettings { speed: Some(2.0), max_frames: Some(2), ..RunSettings::default() };
        run(&mut script(500), &mut toy(None), &mut NoTape, &[0.0], &settings).unwrap();
        // The last of 12 ticks at 120 Hz starts after 11 of them.
        assert!(begun.elapsed() >= Duration::from_millis(91));
    }

    #[test]
    fn a_script_of_another_robot_is_refused() {
        let mut script = Script::new(vec![0.0; 2], vec![]);
        assert!(matches!(
            script.decide(&Observation::default(), &mut [0.0], &mut vec![]),
            Ok(Verdict::Done(_))
        ));
        let mut script =
            Script::new(vec![0.0; 2], vec![Move { joints: vec![0.0; 2], ticks: 3, phase: "x" }]);
        let error = script.decide(&Observation::default(), &mut [0.0], &mut vec![]).unwrap_err();
        assert!(error.to_string().contains("moves 2 joints"), "{error}");
    }
}
