//! What happened at a tick, as types: whoever writes an event and whoever reads it share its
//! definition. On tapes an event is `{"name": …, "detail": …}`; what another version wrote and
//! this one does not know stays as it is ([`Event::Other`]).

mod names;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use names::{FailureReason, Named, TaskState};

/// Something worth keeping that happened at a tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "RawEvent", into = "RawEvent")]
pub enum Event {
    /// A script begins a move.
    Phase(String),
    /// The loop did not run for a while.
    Stall(Stall),
    /// A driver holds other keys than before.
    Keys(KeysHeld),
    /// The state machine enters a state.
    State(StateEntered),
    /// The next thing to be fetched is chosen.
    Target(TargetChosen),
    /// A thing is tried again.
    Retry(Retry),
    /// A grasp was judged.
    Grasp(GraspJudged),
    /// A place for a thing was chosen.
    Spot(SpotChosen),
    /// A thing lies where it should.
    Placed(Placed),
    /// An attempt failed.
    Failed(AttemptFailed),
    /// How all the work went.
    Summary(Summary),
    /// A planned motion begins, or is given up.
    Plan(PlanEvent),
    /// An autopilot is sent, stopped, or done.
    Autopilot(AutopilotEvent),
    /// More pictures were lost than allowed.
    PicturesLost(PicturesLost),
    /// Anything else.
    Other(RawEvent),
}

/// The loop did not run for a while: frames before and after are further apart than others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// For how long.
    pub late_ms: f64,
}

/// What a driver holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeysHeld {
    /// Names of the keys.
    pub held: Vec<String>,
    /// Where the sticks are, the keys' push included.
    #[serde(default)]
    pub sticks: Vec<f64>,
    /// Whether the dead-man switch stops the arm.
    #[serde(default)]
    pub brake: bool,
}

/// The state machine enters a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateEntered {
    /// Which.
    pub state: Named<TaskState>,
    /// The thing that is being fetched.
    #[serde(default)]
    pub target: Option<String>,
    /// Attempts at it so far.
    #[serde(default)]
    pub attempt: u64,
}

/// The next thing to be fetched is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetChosen {
    /// The thing.
    pub target: String,
    /// Number of the attempt, from 1.
    #[serde(default)]
    pub attempt: Option<u64>,
    /// Where it is.
    #[serde(default)]
    pub object_m: Option<[f64; 3]>,
    /// Yaw of the jaws, against the arm's direction.
    #[serde(default, rename = "jaw_turn_deg")]
    pub jaw_yaw_deg: Option<f64>,
}

/// A thing is tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// The thing.
    pub target: String,
    /// Number of the attempt, from 1.
    #[serde(default)]
    pub attempt: Option<u64>,
    /// What is done otherwise.
    #[serde(default)]
    pub change: RetryChange,
}

/// What is done otherwise at another attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RetryChange {
    /// Yaw of the jaws, against the arm's direction.
    #[serde(default, rename = "jaw_turn_deg")]
    pub jaw_yaw_deg: Option<f64>,
}

/// A grasp was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraspJudged {
    /// The thing.
    #[serde(default)]
    pub target: Option<String>,
    /// Whether it is held; none where that cannot be told.
    #[serde(with = "held")]
    pub held: Option<bool>,
    /// What speaks against it: a code.
    #[serde(default)]
    pub doubt: Option<String>,
    /// The numbers of the methods that judged.
    #[serde(default)]
    pub evidence: Value,
}

/// `true`, `false` or `"unknown"`.
mod held {
    use serde::{Deserialize as _, Deserializer, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(held: &Option<bool>, s: S) -> Result<S::Ok, S::Error> {
        match held {
            Some(held) => s.serialize_bool(*held),
            None => s.serialize_str("unknown"),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<bool>, D::Error> {
        Ok(Value::deserialize(d)?.as_bool())
    }
}

/// A place for a thing was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpotChosen {
    /// The thing.
    pub target: String,
    /// Where it will lie.
    pub spot_m: [f64; 2],
    /// Yaw of the jaws, against the arm's direction.
    #[serde(default, rename = "jaw_turn_deg")]
    pub jaw_yaw_deg: Option<f64>,
}

/// A thing lies where it should.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// The thing.
    pub target: String,
    /// Number of the attempt, from 1.
    #[serde(default)]
    pub attempt: Option<u64>,
    /// Where it is.
    #[serde(default)]
    pub object_m: Option<[f64; 3]>,
    /// Where it was to be.
    #[serde(default)]
    pub spot_m: Option<[f64; 2]>,
}

/// An attempt failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptFailed {
    /// The thing; none when it was about the goal or all of them.
    #[serde(default)]
    pub target: Option<String>,
    /// Number of the attempt, from 1.
    #[serde(default)]
    pub attempt: Option<u64>,
    /// In which state.
    #[serde(default)]
    pub state: Option<Named<TaskState>>,
    /// Why.
    pub reason: Named<FailureReason>,
    /// Where the thing was.
    #[serde(default)]
    pub object_m: Option<[f64; 3]>,
    /// The figures, for people: `the jaw tips would be 4 mm below the table`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// How all the work went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// One row per thing.
    #[serde(default)]
    pub targets: Vec<TargetSummary>,
    /// Whether the world must be set up anew, because the goal was pushed.
    #[serde(default)]
    pub hard_reset: bool,
}

/// How it went with one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetSummary {
    /// The thing.
    pub name: String,
    /// Whether it lies where it should.
    #[serde(default)]
    pub placed: Option<bool>,
    /// Attempts that were made.
    #[serde(default)]
    pub attempts: Option<u64>,
    /// Why it was not placed.
    #[serde(default)]
    pub reason: Option<Named<FailureReason>>,
    /// Where it was when it was first chosen.
    #[serde(default)]
    pub start_m: Option<[f64; 3]>,
    /// Where it was at the end.
    #[serde(default)]
    pub end_m: Option<[f64; 3]>,
}

/// A planned motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum PlanEvent {
    /// It begins.
    Move {
        /// How long it takes.
        duration_s: f64,
        /// How much slower than planned it is carried out, because of the servos.
        slowed: f64,
    },
    /// It is given up.
    Stop {
        /// The joint that is farthest from the plan.
        joint: String,
        /// How far.
        off_rad: f64,
        /// Why.
        reason: String,
    },
}

/// An autopilot under a driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum AutopilotEvent {
    /// It is sent.
    Start {
        /// For what: a thing, or `all`.
        target: String,
    },
    /// It lets go before its work is done.
    Stop {
        /// Why: a code.
        why: String,
        /// What failed, when something did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
    },
    /// It is done.
    End {
        /// Whether it did what it was sent for.
        success: Option<bool>,
        /// Why it ended.
        reason: String,
    },
}

/// More pictures were lost than allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PicturesLost {
    /// The camera that lost most.
    pub camera: String,
    /// Fraction of its pictures.
    #[serde(rename = "share")]
    pub fraction: f64,
    /// Fraction that was allowed.
    pub limit: f64,
}

/// An event as tapes hold it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RawEvent {
    /// What.
    pub name: String,
    /// Details.
    pub detail: Value,
}

impl Event {
    /// An event of a kind that only its writer knows.
    #[must_use]
    pub fn other(name: &str, detail: Value) -> Self {
        Self::Other(RawEvent { name: name.to_owned(), detail })
    }

    /// The loop did not run for so long.
    #[must_use]
    pub fn stall(late: std::time::Duration) -> Self {
        Self::Stall(Stall { late_ms: late.as_secs_f64() * 1e3 })
    }

    /// Its name on tapes.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Phase(_) => "phase",
            Self::Stall(_) => "stall",
            Self::Keys(_) => "keys",
            Self::State(_) => "state",
            Self::Target(_) => "target",
            Self::Retry(_) => "retry",
            Self::Grasp(_) => "grasp",
            Self::Spot(_) => "spot",
            Self::Placed(_) => "placed",
            Self::Failed(_) => "failed",
            Self::Summary(_) => "summary",
            Self::Plan(_) => "plan",
            Self::Autopilot(_) => "autopilot",
            Self::PicturesLost(_) => "pictures_lost",
            Self::Other(raw) => &raw.name,
        }
    }

    /// Its details as tapes hold them.
    #[must_use]
    pub fn detail(&self) -> Value {
        fn json(detail: &impl Serialize) -> Value {
            // Plain data: there is nothing that could not be written.
            serde_json::to_value(detail).unwrap_or_default()
        }
        match self {
            Self::Phase(phase) => json(phase),
            Self::Stall(detail) => json(detail),
            Self::Keys(detail) => json(detail),
            Self::State(detail) => json(detail),
            Self::Target(detail) => json(detail),
            Self::Retry(detail) => json(detail),
            Self::Grasp(detail) => json(detail),
            Self::Spot(detail) => json(detail),
            Self::Placed(detail) => json(detail),
            Self::Failed(detail) => json(detail),
            Self::Summary(detail) => json(detail),
            Self::Plan(detail) => json(detail),
            Self::Autopilot(detail) => json(detail),
            Self::PicturesLost(detail) => json(detail),
            Self::Other(raw) => raw.detail.clone(),
        }
    }
}

impl From<Event> for RawEvent {
    fn from(event: Event) -> Self {
        match event {
            Event::Other(raw) => raw,
            known => Self { name: known.name().to_owned(), detail: known.detail() },
        }
    }
}

impl From<RawEvent> for Event {
    fn from(raw: RawEvent) -> Self {
        fn typed<T: DeserializeOwned>(raw: RawEvent, event: fn(T) -> Event) -> Event {
            T::deserialize(&raw.detail).map_or_else(|_| Event::Other(raw), event)
        }
        match raw.name.as_str() {
            "phase" => typed(raw, Self::Phase),
            "stall" => typed(raw, Self::Stall),
            "keys" => typed(raw, Self::Keys),
            "state" => typed(raw, Self::State),
            "target" => typed(raw, Self::Target),
            "retry" => typed(raw, Self::Retry),
            "grasp" => typed(raw, Self::Grasp),
            "spot" => typed(raw, Self::Spot),
            "placed" => typed(raw, Self::Placed),
            "failed" => typed(raw, Self::Failed),
            "summary" => typed(raw, Self::Summary),
            "plan" => typed(raw, Self::Plan),
            "autopilot" => typed(raw, Self::Autopilot),
            "pictures_lost" => typed(raw, Self::PicturesLost),
            _ => Self::Other(raw),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn there_and_back(name: &str, detail: Value) -> Event {
        let raw = json!({"name": name, "detail": detail});
        let event: Event = serde_json::from_value(raw.clone()).unwrap();
        assert_eq!(serde_json::to_value(&event).unwrap(), raw);
        event
    }

    #[test]
    fn events_look_on_tapes_as_they_always_did() {
        there_and_back("phase", json!("down"));
        there_and_back("stall", json!({"late_ms": 812.5}));
        there_and_back("keys", json!({"held": ["up"], "sticks": [0.0, 1.0], "brake": false}));
        there_and_back("state", json!({"state": "LIFT", "target": "orange_1", "attempt": 2}));
        there_and_back(
            "grasp",
            json!({"target": "a", "held": "unknown", "doubt": "x", "evidence": {"jaw_gap": 0.1}}),
        );
        there_and_back(
            "grasp",
            json!({"target": "a", "held": true, "doubt": null, "evidence": {}}),
        );
        there_and_back("plan", json!({"phase": "move", "duration_s": 1.5, "slowed": 1.0}));
        there_and_back(
            "plan",
            json!({"phase": "stop", "joint": "elbow", "off_rad": 0.2, "reason": "r"}),
        );
        there_and_back("autopilot", json!({"do": "start", "target": "all"}));
        there_and_back("autopilot", json!({"do": "stop", "why": "keys"}));
        there_and_back("autopilot", json!({"do": "stop", "why": "fault", "fault": "f"}));
        there_and_back("autopilot", json!({"do": "end", "success": true, "reason": "placed_all"}));
        there_and_back("pictures_lost", json!({"camera": "top", "share": 0.5, "limit": 0.05}));
        let failed = json!({"target": "a", "attempt": 1, "state": "LIFT", "reason": "slip", "object_m": [0.0, 1.0, 2.0]});
        let Event::Failed(failed) = there_and_back("failed", failed) else { panic!() };
        assert_eq!(failed.reason.known(), Some(&FailureReason::Slip));
    }

    #[test]
    fn what_another_version_wrote_stays_as_it_is() {
        let event = there_and_back("teapot", json!({"hot": [1, 2]}));
        assert_eq!(event.name(), "teapot");
        // Known names with details that are none of ours.
        assert!(matches!(there_and_back("state", json!("APPROACH")), Event::Other(_)));
        assert!(matches!(there_and_back("summary", json!(7)), Event::Other(_)));
        let odd = there_and_back("state", json!({"state": "DANCE", "target": null, "attempt": 0}));
        let Event::State(odd) = odd else { panic!() };
        assert_eq!((odd.state.name(), odd.state.known()), ("DANCE", None));
    }

    #[test]
    fn every_state_and_reason_has_a_name_of_its_own() {
        for state in TaskState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
            assert_eq!(TaskState::of_number(state.number()), Some(*state));
        }
        let mut names: Vec<_> = FailureReason::ALL.iter().map(|reason| reason.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FailureReason::ALL.len());
    }
}
