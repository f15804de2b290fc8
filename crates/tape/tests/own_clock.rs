//! A rig with clocks of its own: a UR at 500 Hz, commanded at 125 Hz with velocities, measured
//! efforts, and a camera that takes its pictures at 29.97 Hz. Through the loop, onto a tape, into a
//! dataset and back.

mod common;

use std::sync::Arc;

use citrange_core::rig::{CameraSpec, JointSpec, RigSpec};
use citrange_core::tape::NoTape;
use citrange_core::{
    BoxError, CameraImage, Clock, Command, Commanded, Halt, Notes, Observation, Outcome, Pace,
    Picture, Pilot, Rates, Rig, RunSettings, Verdict, Want, run,
};
use citrange_tape::{Dataset, Episode, ExactReplay, Recorder, Unit};
use common::settings;

const CAMERA_HZ: f64 = 29.97;
const TICK_NS: u64 = 8_000_000;

/// Time passes when it looks, by its own clock.
struct Ur {
    spec: RigSpec,
    ticks: u64,
    last_picture: Option<u64>,
    heard: Vec<Command>,
}

fn ur() -> Ur {
    let joint = |name: &str| JointSpec {
        name: name.into(),
        is_slide: false,
        range: Some([-6.0, 6.0]),
        gripper: None,
    };
    let rates = Rates { physics_hz: 500, control_hz: 125, frame_hz: 30 };
    let mut spec = RigSpec::new("ur5", ["shoulder_pan", "elbow"].map(joint).to_vec(), rates);
    let camera = CameraSpec::rgb("wrist", 32, 16);
    spec.cameras = vec![CameraSpec { own_hz: Some(CAMERA_HZ), ..camera }];
    (spec.own_clock, spec.takes_velocities) = (true, true);
    Ur { spec, ticks: 0, last_picture: None, heard: Vec::new() }
}

impl Rig for Ur {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }
    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        (self.ticks, self.last_picture) = (0, None);
        *command = Command::at(&[0.0; 2]);
        Ok(())
    }
    fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError> {
        seen.tick = self.ticks;
        seen.step = self.ticks * 4;
        seen.at_ns = self.ticks * TICK_NS;
        // The driver's last cycle was a little while ago.
        seen.joints_at_ns = seen.at_ns.saturating_sub(1_500_000);
        seen.joint_pos = vec![self.ticks as f64 * 1e-3; 2];
        seen.joint_vel = vec![0.125; 2];
        seen.joint_effort = vec![12.5, self.ticks as f64];
        if want == Want::Images {
            let number = (seen.at_ns as f64 * 1e-9 * CAMERA_HZ) as u64;
            let fresh = self.last_picture.replace(number) != Some(number);
            let at_ns = (number as f64 / CAMERA_HZ * 1e9) as u64;
            let picture = Picture::ready(vec![number as u8; 32 * 16 * 3]);
            seen.images = vec![CameraImage { fresh, ..CameraImage::rgb(picture, at_ns) }];
        }
        Ok(())
    }
    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        commanded.limited.clone_from(&command.pos);
        commanded.executed.clone_from(&command.pos);
        self.heard.push(command.clone());
        self.ticks += 1;
        Ok(())
    }
    fn halt(&mut self, _: Halt) {}
}

struct Sine;

impl Pilot for Sine {
    fn name(&self) -> &str {
        "sine"
    }
    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        if seen.tick >= 1000 {
            return Ok(Verdict::Done(Outcome::unjudged("done")));
        }
        let t = seen.at_ns as f64 * 1e-9;
        command.pos = vec![t.sin(), (2.0 * t).cos()];
        command.vel = vec![t.cos(), -2.0 * (2.0 * t).sin()];
        Ok(Verdict::Go)
    }
}

#[test]
fn rates_that_do_not_divide_go_onto_a_tape_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("set");
    let mut rig = ur();
    let (mut dataset, _) =
        Dataset::record(&root, &rig.spec, Unit::Degrees, &Default::default()).unwrap();
    let header = common::header(&rig.spec, "sway");
    let place = dataset.recording_folder(&header.uid);
    let mut recorder = Recorder::begin(&place, header, &[], &settings()).unwrap();
    let how = RunSettings {
        pace: Pace::Rig,
        pictures: true,
        clock: Clock::Rig,
        ..RunSettings::default()
    };
    let report = run(Sine, &mut rig, &mut recorder, &how).unwrap();
    // 1000 ticks of 8 ms are 8 s; the frame in hand at their end is finished.
    assert_eq!((report.frames, report.ticks, report.stalls), (240, 1000, 0));
    dataset.save(recorder.finish().unwrap()).unwrap();
    let (tape, shown) = dataset.tape(0).unwrap().unwrap();
    check(&tape, &rig);
    assert_eq!(shown, 0..240);

    // The dataset has whole rows at 30 Hz, each with the last command of its frame.
    let info = dataset.lerobot.info();
    assert_eq!((info.fps, info.total_frames), (30, 240));
    let last = rig.spec.rates.first_tick(100) as usize - 1;
    assert_eq!(tape.action(99).unwrap(), tape.ticks[last].limited);

    // Played again it commands the same, velocities and all.
    let mut again = ur();
    let pilot = ExactReplay::new(Arc::new(tape), 0..240);
    run(pilot, &mut again, NoTape, &RunSettings::default()).unwrap();
    assert_eq!(again.heard, rig.heard);
}

fn check(tape: &Episode, rig: &Ur) {
    let rates = rig.spec.rates;
    assert_eq!((tape.len(), tape.ticks.len()), (240, 1000));
    assert_eq!(tape.header.rig, rig.spec);
    let mut repeated = 0;
    for (index, frame) in tape.frames.iter().enumerate() {
        let tick = rates.first_tick(index as u64);
        assert_eq!((frame.step, frame.wall_ns), (tick * 4, tick * TICK_NS));
        // A frame begins within a tick of its time.
        let due_ns = index as u64 * 1_000_000_000 / 30;
        assert!(frame.wall_ns >= due_ns && frame.wall_ns - due_ns < TICK_NS, "{index}");
        assert_eq!(frame.joint_effort, [12.5, tick as f64]);
        let times = frame.times.as_ref().unwrap();
        assert_eq!(times.at_ns, frame.wall_ns);
        assert_eq!(times.joints_at_ns, frame.wall_ns.saturating_sub(1_500_000));
        let (at_ns, fresh) = times.cameras[0];
        assert!(at_ns <= frame.wall_ns && frame.wall_ns - at_ns < 34_000_000);
        repeated += usize::from(!fresh);
    }
    // Now and then the camera, a little slower, has nothing new.
    assert!((1..240).contains(&repeated), "{repeated}");
    for (tick, command) in tape.ticks.iter().zip(&rig.heard) {
        assert_eq!((&tick.requested, &tick.requested_vel), (&command.pos, &command.vel));
    }
}

#[test]
fn an_episode_that_breaks_in_the_middle_of_a_frame_keeps_its_whole_frames() {
    struct Breaks(Ur, u64);
    impl Rig for Breaks {
        fn spec(&self) -> &RigSpec {
            &self.0.spec
        }
        fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
            self.0.begin(command)
        }
        fn observe(&mut self, want: Want, seen: &mut Observation) -> Result<(), BoxError> {
            self.0.observe(want, seen)
        }
        fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
            if self.0.ticks == self.1 {
                return Err("the link broke".into());
            }
            self.0.act(command, commanded)
        }
        fn halt(&mut self, _: Halt) {}
    }
    for at in [0, 1, 4, 5, 6, 9, 100, 101, 102, 103, 104] {
        let folder = tempfile::tempdir().unwrap();
        let (mut dataset, _) = Dataset::record(
            &folder.path().join("set"),
            &ur().spec,
            Unit::Degrees,
            &Default::default(),
        )
        .unwrap();
        let header = common::header(&ur().spec, "sway");
        let place = dataset.recording_folder(&header.uid);
        let mut recorder = Recorder::begin(&place, header, &[], &settings()).unwrap();
        let how = RunSettings { pictures: true, ..RunSettings::default() };
        let error = run(Sine, Breaks(ur(), at), &mut recorder, &how).unwrap_err();
        assert!(error.to_string().contains("the link broke"), "{error}");
        let recording = recorder.finish().unwrap();
        let whole = ur().spec.rates.whole_frames(at) as usize;
        assert_eq!(recording.frames(), whole, "broken at tick {at}");
        if whole == 0 {
            continue;
        }
        dataset.save(recording).unwrap();
        let (tape, _) = dataset.tape(0).unwrap().unwrap();
        let ticks = ur().spec.rates.first_tick(whole as u64) as usize;
        assert_eq!((tape.len(), tape.ticks.len()), (whole, ticks));
        assert_eq!(tape.outcome(), Outcome::failed("rig_failed"));
        assert_eq!(dataset.lerobot.info().total_frames, whole);
    }
}
