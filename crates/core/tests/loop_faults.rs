//! Every way out of an episode halts the rig, exactly once; nothing is commanded after it; and a
//! loop that skips never sends two commands closer together than half a tick, however it stalls.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use citrange_core::rig::{JointSpec, RigSpec};
use citrange_core::rng::Rng;
use citrange_core::run::RunError;
use citrange_core::tape::{FrameRecord, NoTape, TickRecord};
use citrange_core::{
    BoxError, Command, Commanded, Event, Halt, Late, Loop, Mode, Notes, Observation, Outcome, Pace,
    Pilot, Rates, Rig, RunSettings, Snapshot, Start, Tape, Ticked, Verdict, Want, run,
};
use proptest::prelude::*;

const RATES: Rates = Rates { physics_hz: 100, control_hz: 100, frame_hz: 20 };

/// Where something goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    RigBegin,
    PilotBegin,
    Observe,
    Decide,
    Act,
    Advance,
    SnapshotOf,
    TapeFrame,
    TapeTick,
    TapeEvent,
    TapeEnd,
}

const PLACES: [Place; 11] = [
    Place::RigBegin,
    Place::PilotBegin,
    Place::Observe,
    Place::Decide,
    Place::Act,
    Place::Advance,
    Place::SnapshotOf,
    Place::TapeFrame,
    Place::TapeTick,
    Place::TapeEvent,
    Place::TapeEnd,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Error,
    Panic,
    /// The user's stop flag is set there.
    Stop,
    /// The rig says that it was stopped.
    Stopped,
}

#[derive(Clone, Copy, Debug)]
struct Fault {
    place: Place,
    how: How,
    tick: u64,
}

/// What all parts saw.
#[derive(Default)]
struct Log {
    halts: Vec<Halt>,
    acts_after_halt: u64,
    acts: u64,
    ended: u64,
    acts_at_stop: Option<u64>,
    mode: Mode,
}

struct Parts {
    spec: RigSpec,
    fault: Option<Fault>,
    tick: u64,
    log: Rc<RefCell<Log>>,
    stop: &'static AtomicBool,
}

impl Parts {
    fn visit(&self, place: Place, tick: u64) -> Result<(), BoxError> {
        let Some(fault) = self.fault.filter(|f| f.place == place && f.tick <= tick) else {
            return Ok(());
        };
        match fault.how {
            How::Error => Err(format!("{place:?}").into()),
            How::Panic => std::panic::resume_unwind(Box::new("a panic of the test")),
            How::Stop => {
                let mut log = self.log.borrow_mut();
                let acts = log.acts;
                log.acts_at_stop.get_or_insert(acts);
                self.stop.store(true, Ordering::Relaxed);
                Ok(())
            }
            How::Stopped => {
                self.log.borrow_mut().mode = Mode::Stopped { why: "emergency".into() };
                Ok(())
            }
        }
    }
}

struct TestRig(Parts);
struct TestPilot(Parts);
struct TestTape(Parts);

impl Rig for TestRig {
    fn spec(&self) -> &RigSpec {
        &self.0.spec
    }
    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        self.0.visit(Place::RigBegin, u64::MAX)?;
        *command = Command::at(&[0.0]);
        Ok(())
    }
    fn observe(&mut self, _: Want, seen: &mut Observation) -> Result<(), BoxError> {
        self.0.visit(Place::Observe, self.0.tick)?;
        seen.tick = self.0.tick;
        seen.mode = self.0.log.borrow().mode.clone();
        Ok(())
    }
    fn act(&mut self, _: &Command, _: &mut Commanded) -> Result<(), BoxError> {
        {
            let mut log = self.0.log.borrow_mut();
            log.acts += 1;
            log.acts_after_halt += u64::from(!log.halts.is_empty());
        }
        self.0.visit(Place::Act, self.0.tick)
    }
    fn advance(&mut self, _: &mut Commanded) -> Result<(), BoxError> {
        self.0.visit(Place::Advance, self.0.tick)?;
        self.0.tick += 1;
        Ok(())
    }
    fn halt(&mut self, how: Halt) {
        self.0.log.borrow_mut().halts.push(how);
    }
    fn snapshot(&mut self) -> Result<Option<Snapshot>, BoxError> {
        self.0.visit(Place::SnapshotOf, self.0.tick)?;
        Ok(None)
    }
}

impl Pilot for TestPilot {
    fn name(&self) -> &str {
        "test"
    }
    fn begin(&mut self, _: &Start<'_>) -> Result<(), BoxError> {
        self.0.visit(Place::PilotBegin, u64::MAX)
    }
    fn decide(
        &mut self,
        seen: &Observation,
        _: &mut Command,
        notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        self.0.tick = seen.tick;
        notes.push(Event::Phase("x".into()));
        self.0.visit(Place::Decide, seen.tick)?;
        if seen.tick >= 37 {
            return Ok(Verdict::Done(Outcome::unjudged("done")));
        }
        Ok(Verdict::Go)
    }
}

impl Tape for TestTape {
    fn frame(&mut self, frame: &FrameRecord<'_>) -> Result<(), BoxError> {
        self.0.visit(Place::TapeFrame, RATES.first_tick(frame.index))
    }
    fn tick(&mut self, tick: &TickRecord<'_>) -> Result<(), BoxError> {
        self.0.visit(Place::TapeTick, tick.index)
    }
    fn event(&mut self, tick: u64, _: &Event) -> Result<(), BoxError> {
        self.0.visit(Place::TapeEvent, tick)
    }
    fn end(&mut self, _: &Outcome, _: Option<&Snapshot>) -> Result<(), BoxError> {
        self.0.log.borrow_mut().ended += 1;
        self.0.visit(Place::TapeEnd, u64::MAX)
    }
}

fn spec() -> RigSpec {
    let joint = JointSpec { name: "a".into(), is_slide: false, range: None, gripper: None };
    RigSpec::new("test", vec![joint], RATES)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_rig_is_halted_exactly_once_on_every_way_out(
        place in 0..PLACES.len(), how in 0..5_usize, tick in 0..45_u64, stepped: bool,
    ) {
        let how = [None, Some(How::Error), Some(How::Panic), Some(How::Stop), Some(How::Stopped)][how];
        let fault = how.map(|how| Fault { place: PLACES[place], how, tick });
        let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        let log = Rc::new(RefCell::new(Log::default()));
        let parts = || Parts { spec: spec(), fault, tick: 0, log: Rc::clone(&log), stop };
        let (mut pilot, mut rig, mut tape) = (TestPilot(parts()), TestRig(parts()), TestTape(parts()));
        let settings = RunSettings { stop: Some(stop), ..RunSettings::default() };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if !stepped {
                return run(&mut pilot, &mut rig, &mut tape, &settings).map(|r| r.outcome);
            }
            // The same by hand, dropped in the middle at times.
            let mut episode = Loop::begin(&mut pilot, &mut rig, &mut tape, &settings)?;
            for _ in 0..20 + tick {
                if let Ticked::Ended(outcome) = episode.tick()? {
                    // Nothing happens any more.
                    let again = episode.tick()?;
                    assert_eq!(again, Ticked::Ended(outcome.clone()));
                    return Ok(outcome);
                }
            }
            Ok(Outcome::unjudged("dropped"))
        }));
        let log = log.borrow();
        prop_assert_eq!(log.halts.len(), 1, "{:?} after {:?}: {:?}", log.halts, fault, outcome);
        prop_assert_eq!(log.acts_after_halt, 0);
        let expected = match &outcome {
            Err(_) => Halt::Abandoned,
            Ok(Ok(outcome)) => match outcome.reason.as_str() {
                "dropped" => Halt::Abandoned,
                "stopped" | "robot_stopped" => Halt::Stopped,
                _ => Halt::Ended,
            },
            Ok(Err(RunError::Pilot { .. })) => Halt::PilotFailed,
            Ok(Err(RunError::Rig { .. })) => Halt::RigFailed,
            Ok(Err(RunError::Tape { .. })) => Halt::TapeFailed,
        };
        // What fails while an episode is being closed does not change how it was halted.
        let closing = matches!(fault, Some(Fault { place: Place::TapeEnd | Place::SnapshotOf, .. }));
        prop_assert!(log.halts[0] == expected || closing, "{:?}, expected {expected:?}", log.halts);
        // A stop is heard before the next command is sent.
        if let Some(acts) = log.acts_at_stop {
            prop_assert_eq!(log.acts, acts);
        }
        prop_assert!(log.ended <= 1);
    }
}

/// A rig that stalls, with the times at which it was told to move.
struct Stalling {
    spec: RigSpec,
    rng: Rng,
    tick: u64,
    acts: Vec<Instant>,
    stalls_left: Vec<Duration>,
    halts: u64,
}

impl Stalling {
    fn maybe_stall(&mut self) {
        // The longer the run, the more are due.
        if self.rng.uniform(0.0, 1.0) < 0.02
            && let Some(stall) = self.stalls_left.pop()
        {
            std::thread::sleep(stall);
        }
    }
}

impl Rig for Stalling {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }
    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        *command = Command::at(&[0.0]);
        Ok(())
    }
    fn observe(&mut self, _: Want, seen: &mut Observation) -> Result<(), BoxError> {
        self.maybe_stall();
        seen.tick = self.tick;
        Ok(())
    }
    fn act(&mut self, _: &Command, _: &mut Commanded) -> Result<(), BoxError> {
        self.acts.push(Instant::now());
        self.maybe_stall();
        Ok(())
    }
    fn advance(&mut self, _: &mut Commanded) -> Result<(), BoxError> {
        self.maybe_stall();
        self.tick += 1;
        Ok(())
    }
    fn halt(&mut self, _: Halt) {
        self.halts += 1;
    }
}

/// Holds for some ticks, and stalls in between.
struct Thinking {
    ticks: u64,
    stalled: Vec<Duration>,
}

impl Pilot for Thinking {
    fn name(&self) -> &str {
        "thinking"
    }
    fn decide(
        &mut self,
        seen: &Observation,
        _: &mut Command,
        _: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        if seen.tick % 50 == 49 {
            std::thread::sleep(Duration::from_millis(seen.tick % 29));
        }
        Ok(match seen.tick >= self.ticks {
            true => Verdict::Done(Outcome::unjudged("done")),
            false => Verdict::Go,
        })
    }
    fn stalled(&mut self, late: Duration) {
        self.stalled.push(late);
    }
}

/// Stalls of 0.2 to 8 s at random moments in the long run (`CITRANGE_STALLS=8`); short ones in the
/// suite.
#[test]
fn two_commands_are_never_closer_than_half_a_tick() {
    let most_s: f64 =
        std::env::var("CITRANGE_STALLS").ok().and_then(|text| text.parse().ok()).unwrap_or(0.5);
    for control_hz in [50_u32, 125, 500] {
        let rates = Rates { physics_hz: control_hz, control_hz, frame_hz: 25 };
        let joint = JointSpec { name: "a".into(), is_slide: false, range: None, gripper: None };
        let mut rng = Rng::new(u64::from(control_hz));
        let stalls: Vec<Duration> =
            (0..4).map(|_| Duration::from_secs_f64(rng.uniform(0.2, most_s))).collect();
        let mut rig = Stalling {
            spec: RigSpec::new("stalling", vec![joint], rates),
            rng,
            tick: 0,
            acts: Vec::new(),
            stalls_left: stalls.clone(),
            halts: 0,
        };
        let mut pilot = Thinking { ticks: u64::from(control_hz) * 2, stalled: Vec::new() };
        let pace = Pace::Wall { speed: 1.0, late: Late::Skip };
        let settings = RunSettings { pace, ..RunSettings::default() };
        let report = run(&mut pilot, &mut rig, NoTape, &settings).unwrap();
        assert_eq!(rig.halts, 1);
        let half = Duration::from_secs_f64(0.5 / f64::from(control_hz));
        let closest = rig.acts.windows(2).map(|w| w[1] - w[0]).min().unwrap();
        assert!(
            closest >= half,
            "{control_hz} Hz: two commands {closest:?} apart, half is {half:?}"
        );
        let done = stalls.len() - rig.stalls_left.len();
        assert!(report.stalls >= done as u64 && done > 0, "{report:?}, {done} stalls");
        let longest = stalls[rig.stalls_left.len()..].iter().max().unwrap();
        assert!(pilot.stalled.iter().any(|late| *late >= *longest / 2), "{:?}", pilot.stalled);
    }
}
