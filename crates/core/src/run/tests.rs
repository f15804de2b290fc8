use super::*;
use crate::rates::Rates;
use crate::rig::{JointSpec, RigSpec};
use crate::script::{Move, Script};
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
    let spec = RigSpec::new("toy", vec![joint], rates);
    Toy { spec, at: 0.0, ticks: 0, breaks_at }
}

impl Rig for Toy {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }
    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        *command = Command::at(&[self.at]);
        Ok(())
    }
    fn observe(&mut self, _: Want, seen: &mut Observation) -> Result<(), BoxError> {
        seen.tick = self.ticks;
        seen.joint_pos = vec![self.at];
        Ok(())
    }
    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        if self.breaks_at == Some(self.ticks) {
            return Err("broken".into());
        }
        self.at = command.pos[0];
        commanded.executed.clone_from(&command.pos);
        self.ticks += 1;
        Ok(())
    }
    fn halt(&mut self, _: Halt) {}
}

#[derive(Default)]
struct Kept {
    frames: u64,
    ticks: u64,
    events: Vec<(u64, Event)>,
    wall_ns: Vec<u64>,
    outcome: Option<Outcome>,
}

impl Tape for Kept {
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
    Script::new(vec![go(1.0, ticks, "out"), go(0.0, 1, "back")])
}

#[test]
fn episodes_are_whole_frames() {
    let mut notes = Kept::default();
    let mut rig = toy(None);
    let settings = RunSettings::default();
    let report = run(&mut script(13), &mut rig, &mut notes, &settings).unwrap();
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
        _: &mut Command,
        events: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        if seen.tick < self.0 {
            return Ok(Verdict::Go);
        }
        events.push(Event::Phase("last".into()));
        Ok(Verdict::Done(Outcome::unjudged("said")))
    }
}

#[test]
fn the_last_word_is_kept_at_a_frame_and_between() {
    for (tick, frames) in [(12, 2), (13, 3)] {
        let mut notes = Kept::default();
        let settings = RunSettings::default();
        run(&mut LastWord(tick), &mut toy(None), &mut notes, &settings).unwrap();
        assert_eq!((notes.events.len(), notes.frames), (1, frames));
        assert_eq!(notes.events[0].0, tick);
    }
}

#[test]
fn a_broken_rig_ends_the_tape_and_is_named() {
    let mut notes = Kept::default();
    let error = run(&mut script(50), &mut toy(Some(9)), &mut notes, &RunSettings::default());
    assert!(matches!(error, Err(RunError::Rig { tick: 9, .. })), "{error:?}");
    let outcome = notes.outcome.unwrap();
    assert_eq!((outcome.success, outcome.reason.as_str()), (Some(false), "rig_failed"));
}

#[test]
fn time_and_stop_end_it_at_a_frame() {
    let stop = AtomicBool::new(true);
    let settings = RunSettings { max_frames: Some(2), ..RunSettings::default() };
    let report = run(&mut script(500), &mut toy(None), &mut NoTape, &settings);
    assert_eq!(report.map(|r| (r.ticks, r.outcome.reason)).unwrap(), (12, "time_up".into()));
    let settings = RunSettings { stop: Some(&stop), ..settings };
    let report = run(&mut script(500), &mut toy(None), &mut NoTape, &settings);
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
        _: &mut Command,
        _: &mut Notes,
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
    for late in [Late::Skip, Late::CatchUp] {
        let mut pilot = Hangs { at: 5, stalled: vec![], called: vec![] };
        let mut notes = Kept::default();
        let settings = RunSettings {
            pace: Pace::Wall { speed: 1.0, late },
            max_frames: Some(6),
            ..RunSettings::default()
        };
        let report = run(&mut pilot, &mut toy(None), &mut notes, &settings).unwrap();
        // 36 ticks at 60 Hz; those after the hang come one by one, or all at once.
        let after = pilot.called[35] - pilot.called[6];
        let stalls = notes.events.iter().filter(|(_, event)| event.name() == "stall").count();
        assert_eq!(report.stalls as usize, stalls);
        assert_eq!(pilot.stalled.len(), stalls);
        if late == Late::Skip {
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
    let mut notes = Kept::default();
    run(&mut script(500), &mut toy(None), &mut notes, &settings).unwrap();
    // Frames come at 10 Hz.
    assert_eq!(notes.wall_ns, [0, 100_000_000, 200_000_000]);
}

#[test]
fn a_speed_is_held() {
    let begun = Instant::now();
    let settings = RunSettings {
        pace: Pace::at_speed(Some(2.0)),
        max_frames: Some(2),
        ..RunSettings::default()
    };
    run(&mut script(500), &mut toy(None), &mut NoTape, &settings).unwrap();
    // The last of 12 ticks at 120 Hz starts after 11 of them.
    assert!(begun.elapsed() >= Duration::from_millis(91));
}

#[test]
fn a_script_of_another_robot_is_refused() {
    let settings = RunSettings::default();
    let error = run(Script::to(&[0.0; 2], 3), toy(None), NoTape, &settings).unwrap_err();
    assert!(error.to_string().contains("moves 2 joints"), "{error}");
}
