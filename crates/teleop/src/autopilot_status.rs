//! What people see of an autopilot: its state, what lies where it should, the last events.

use citrange_core::event::{AutopilotEvent, FailureReason};
use citrange_core::{Event, Observation};

use crate::shared_control::{Progress, WorkDescription};
use crate::telemetry::{AutopilotStatus, FlightNote};

/// Lines of the log.
const LOG_LINES: usize = 6;
/// A thing that is further from where it was placed does not lie there any more.
const MOVED_M: f64 = 0.02;

/// Follows an autopilot for those who watch.
pub(crate) struct FlightView<'a> {
    work: Option<&'a WorkDescription>,
    flight: AutopilotStatus,
    /// Where each target was placed.
    placed_m: Vec<Option<[f64; 3]>>,
    is_new: bool,
}

impl<'a> FlightView<'a> {
    pub(crate) fn new(work: Option<&'a WorkDescription>) -> Self {
        let count = work.map_or(0, |work| work.targets.len());
        let flight = AutopilotStatus {
            state: "IDLE",
            held: "unknown",
            placed: vec![false; count],
            ..AutopilotStatus::default()
        };
        Self { work, flight, placed_m: vec![None; count], is_new: true }
    }

    /// What is to be shown, when it changed; nothing where there is no work.
    pub(crate) fn news(&mut self) -> Option<&AutopilotStatus> {
        (std::mem::take(&mut self.is_new) && self.work.is_some()).then_some(&self.flight)
    }

    pub(crate) fn say(&mut self, message: &str) {
        message.clone_into(&mut self.flight.message);
        self.is_new = true;
    }

    pub(crate) fn begin(&mut self) {
        (self.flight.flying, self.flight.failure) = (true, None);
        self.flight.hard_reset = false;
        self.say("");
    }

    pub(crate) fn end(&mut self, message: &str) {
        let flight = &mut self.flight;
        (flight.flying, flight.state, flight.held) = (false, "IDLE", "unknown");
        (flight.target, flight.attempt) = (None, 0);
        self.say(message);
    }

    /// It came to its own end.
    pub(crate) fn end_with(&mut self, success: Option<bool>, reason: &str) {
        let message = if success == Some(true) {
            "done: everything it was sent for lies where it should".to_owned()
        } else if let Some(work) = self.work.filter(|_| self.flight.hard_reset) {
            format!("the {} was moved: press R to set up again", work.goal)
        } else {
            format!("gave up: {}", reason.replace('_', " "))
        };
        self.end(&message);
    }

    pub(crate) fn show(&mut self, status: &Progress) {
        let flight = &mut self.flight;
        if (flight.state, flight.held, flight.attempt)
            != (status.state, status.held, status.attempt)
            || flight.target != status.target
        {
            (flight.state, flight.held, flight.attempt) =
                (status.state, status.held, status.attempt);
            flight.target.clone_from(&status.target);
            self.is_new = true;
        }
    }

    /// Takes in what happened.
    pub(crate) fn hear(&mut self, events: &[Event], seen: &Observation) {
        let Some(work) = self.work else { return };
        for event in events {
            let index = |name: &str| work.targets.iter().position(|target| target == name);
            match event {
                Event::Target(chosen) => {
                    let at = index(&chosen.target).and_then(|index| self.placed_m.get_mut(index));
                    at.into_iter().for_each(|at| *at = None);
                }
                Event::Placed(placed) => {
                    let index = index(&placed.target);
                    let object = index.and_then(|index| work.objects.get(index));
                    if let Some(at) = index.and_then(|index| self.placed_m.get_mut(index)) {
                        *at = object.and_then(|object| position(seen, *object));
                    }
                }
                Event::Failed(failed) => {
                    self.flight.failure = Some(failed.reason.name().to_owned());
                    let moved = failed.reason.known() == Some(&FailureReason::PlateMoved);
                    self.flight.hard_reset |= moved;
                }
                Event::Summary(summary) => self.flight.hard_reset |= summary.hard_reset,
                _ => {}
            }
            if let Some(text) = words(event) {
                let time_s = seen.tick as f64 / f64::from(work.control_hz.max(1));
                let log = &mut self.flight.log;
                log.push(FlightNote { time_s, text });
                log.drain(..log.len().saturating_sub(LOG_LINES));
            }
            self.is_new = true;
        }
    }

    /// Looks whether what was placed still lies there: people and arms push things about.
    pub(crate) fn look(&mut self, seen: &Observation) {
        let Some(work) = self.work else { return };
        for ((placed, at), object) in
            self.flight.placed.iter_mut().zip(&mut self.placed_m).zip(&work.objects)
        {
            let lies = at.zip(position(seen, *object)).is_some_and(|(at, now)| {
                let moved: f64 = at.iter().zip(now).map(|(a, b)| (a - b) * (a - b)).sum();
                moved.sqrt() <= MOVED_M
            });
            if !lies {
                *at = None;
            }
            self.is_new |= *placed != lies;
            *placed = lies;
        }
    }
}

fn position(seen: &Observation, object: usize) -> Option<[f64; 3]> {
    seen.objects.get(object)?.as_ref().map(|object| object.pose.pos_m)
}

/// An event in a few words; none for those that say nothing new to people.
fn words(event: &Event) -> Option<String> {
    let plain = |code: &str| code.replace('_', " ");
    Some(match event {
        Event::Target(chosen) => {
            format!("fetches {}, try {}", chosen.target, chosen.attempt.unwrap_or(1))
        }
        Event::Grasp(judged) => {
            let target = judged.target.as_deref().unwrap_or_default();
            let doubt = plain(judged.doubt.as_deref().unwrap_or_default());
            match judged.held {
                Some(true) => format!("holds {target}"),
                Some(false) => format!("does not hold {target}: {doubt}"),
                None => format!("may hold {target}: {doubt}"),
            }
        }
        Event::Placed(placed) => format!("{} is placed", placed.target),
        Event::Failed(failed) => {
            let state = failed.state.as_ref().map_or("", |state| state.name());
            format!("failed in {}: {}", plain(state), plain(failed.reason.name()))
        }
        Event::Retry(_) => "tries again, jaws turned".to_owned(),
        Event::Autopilot(AutopilotEvent::Start { target }) if target == "all" => {
            "sent for everything".to_owned()
        }
        Event::Autopilot(AutopilotEvent::Start { target }) => format!("sent for {target}"),
        Event::Autopilot(AutopilotEvent::Stop { why, .. }) => format!("stopped: {}", plain(why)),
        Event::Autopilot(AutopilotEvent::End { reason, .. }) => {
            format!("ended: {}", plain(reason))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use citrange_core::event::RawEvent;
    use citrange_core::{ObjectSeen, Pose};
    use serde_json::{Value, json};

    #[test]
    fn events_are_told_in_a_few_words() {
        let told =
            |name: &str, detail| words(&Event::from(RawEvent { name: name.to_owned(), detail }));
        assert_eq!(
            told("target", json!({"target": "orange_2", "attempt": 1})).unwrap(),
            "fetches orange_2, try 1"
        );
        assert_eq!(
            told("grasp", json!({"target": "a", "held": "unknown", "doubt": "too_few"})).unwrap(),
            "may hold a: too few"
        );
        assert_eq!(
            told("failed", json!({"state": "LIFT", "reason": "grasp_missed"})).unwrap(),
            "failed in LIFT: grasp missed"
        );
        assert_eq!(
            told("autopilot", json!({"do": "stop", "why": "keys"})).unwrap(),
            "stopped: keys"
        );
        assert_eq!(told("state", json!({"state": "LIFT"})), None);
    }

    fn work() -> WorkDescription {
        WorkDescription {
            targets: ["orange_1", "orange_2", "orange_3"].map(str::to_owned).to_vec(),
            objects: vec![4, 2, 7],
            goal: "plate".into(),
            control_hz: 180,
            states: vec!["LIFT"],
        }
    }

    fn seen(orange_2_m: [f64; 3], work: &WorkDescription) -> Observation {
        let pose = Pose { pos_m: orange_2_m, ..Pose::IDENTITY };
        let object = ObjectSeen { pose, lin_vel_m_s: [0.0; 3], touch_n: None };
        let mut seen = Observation { objects: vec![None; 9], ..Observation::default() };
        seen.objects[work.objects[1]] = Some(object);
        seen
    }

    fn event(name: &str, detail: Value) -> [Event; 1] {
        [Event::from(RawEvent { name: name.to_owned(), detail })]
    }

    #[test]
    fn placed_things_count_while_they_lie_there_and_a_pushed_plate_asks_for_a_reset() {
        let work = work();
        let mut view = FlightView::new(Some(&work));
        assert!(view.news().is_some() && view.news().is_none(), "news once");

        let there = seen([0.2, 0.1, 0.03], &work);
        view.begin();
        view.hear(&event("placed", json!({"target": "orange_2"})), &there);
        view.look(&there);
        assert_eq!(view.news().unwrap().placed, [false, true, false]);
        view.look(&seen([0.2, 0.11, 0.03], &work));
        assert!(view.news().is_none());
        view.look(&seen([0.2, 0.2, 0.03], &work));
        assert_eq!(view.news().unwrap().placed, [false; 3], "it was taken away");

        let failed = json!({"target": "orange_1", "state": "LIFT", "reason": "plate_moved"});
        view.hear(&event("failed", failed), &there);
        view.end_with(Some(false), "plate_moved");
        let flight = view.news().unwrap();
        assert_eq!(flight.message, "the plate was moved: press R to set up again");
        assert!(flight.hard_reset && !flight.flying);
        for _ in 0..50 {
            view.hear(&event("retry", json!({"target": "orange_1"})), &there);
        }
        assert_eq!(view.news().unwrap().log.len(), LOG_LINES);
    }
}
