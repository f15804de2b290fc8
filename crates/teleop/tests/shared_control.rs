//! A person and any autopilot at one arm: it is sent, moves the arm within the limits, and lets go
//! as soon as a movement key is pressed.

use std::sync::Arc;
use std::time::Duration;

use citrange_control::{CartesianController, ControllerSettings};
use citrange_core::{
    BoxError, Command, Event, Notes, Observation, Outcome, Pilot, Verdict, event::AutopilotEvent,
};
use citrange_robot::Chain;
use citrange_teleop::{
    AutopilotRequest, AutopilotWork, DriverLock, HeldKeys, Key, Progress, SharedControl, Speeds,
    Teleop, Until, WorkDescription,
};

/// Turns the shoulder a little further at every tick, a hundred times.
struct Turn(u32);

impl Pilot for Turn {
    fn name(&self) -> &str {
        "turn"
    }
    fn decide(
        &mut self,
        _: &Observation,
        command: &mut Command,
        _: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        self.0 += 1;
        command.pos[0] += 0.5;
        let done = Outcome { success: Some(true), reason: "turned".into() };
        Ok(if self.0 > 100 { Verdict::Done(done) } else { Verdict::Go })
    }
}

struct Turning(WorkDescription);

impl AutopilotWork for Turning {
    type Autopilot = Turn;
    fn description(&self) -> &WorkDescription {
        &self.0
    }
    fn begin(&self, request: AutopilotRequest) -> Result<(Turn, String), BoxError> {
        match request {
            AutopilotRequest::All => Ok((Turn(0), "all".into())),
            AutopilotRequest::Target(_) => Err("there is one thing to do".into()),
        }
    }
    fn progress(&self, turn: &Turn) -> Progress {
        Progress { state: "TURN", attempt: turn.0, held: "no", ..Progress::default() }
    }
}

#[test]
fn an_autopilot_moves_within_limits_and_any_key_takes_the_arm_back() {
    let chain: Chain =
        serde_json::from_str(include_str!("../../robot/tests/chains/so101.json")).unwrap();
    let settings = ControllerSettings::load("default").unwrap();
    let speeds = Speeds::of(&settings, &chain);
    let controller = Arc::new(CartesianController::new(chain, &settings, 100, None).unwrap());
    let lock = DriverLock::new(Duration::from_secs(3600));
    let ticket = lock.take("Ann").unwrap();
    let teleop = Teleop::new(Arc::clone(&lock), Arc::clone(&controller), speeds, Until::Order);
    let work = Turning(WorkDescription { control_hz: 100, ..WorkDescription::default() });
    let mut pilot = SharedControl::new(teleop, Arc::clone(&lock), Some(&work), true);
    let mut command = Command::at(&[0.2, 0.1, 0.2, 1.27, 0.0, 0.5]);
    let mut notes = Vec::new();
    let mut tick = |pilot: &mut SharedControl<'_, Turning>, notes: &mut Notes| {
        let seen = Observation { joint_pos: command.pos.clone(), ..Observation::default() };
        pilot.decide(&seen, &mut command, notes).unwrap();
        command.pos[0]
    };
    let begin = tick(&mut pilot, &mut notes);
    ticket.send(AutopilotRequest::Target(1)).unwrap();
    tick(&mut pilot, &mut notes);
    assert!(!pilot.is_flying() && notes.is_empty(), "refused work is not begun");
    let shown = pilot.news().unwrap();
    assert!(shown.message.contains("one thing"), "{}", shown.message);

    ticket.send(AutopilotRequest::All).unwrap();
    let turned: Vec<f64> = (0..50).map(|_| tick(&mut pilot, &mut notes)).collect();
    let steps = std::iter::once(begin).chain(turned.iter().copied()).collect::<Vec<_>>();
    let fastest = steps.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
    assert!(turned[49] > begin + 0.05, "it moves");
    assert!(fastest < 0.06, "{fastest} rad in a tick: more than the arm may");
    assert!(pilot.is_flying() && pilot.news().unwrap().state == "TURN");
    let started = |event: &Event| matches!(event, Event::Autopilot(AutopilotEvent::Start { .. }));
    assert_eq!(notes.iter().filter(|event| started(event)).count(), 1);

    ticket.hold(HeldKeys::new([Key::Up], [0.0; HeldKeys::STICKS]), 1);
    tick(&mut pilot, &mut notes);
    assert!(!pilot.is_flying(), "the arm is the driver's");
    let why = notes.iter().find_map(|event| match event {
        Event::Autopilot(AutopilotEvent::Stop { why, .. }) => Some(why.as_str()),
        _ => None,
    });
    assert_eq!(why, Some("keys"));
    // From the motion that it had: no jump.
    let before = tick(&mut pilot, &mut notes);
    let after = tick(&mut pilot, &mut notes);
    assert!((after - before).abs() <= fastest * 1.01, "{before} {after}");
}
