//! The states of a twin, and which may follow which: one table.

use serde::{Deserialize, Serialize};

use crate::limits::Limits;

/// A state of the twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No link.
    Offline,
    /// Joints and pictures come in; something is missing yet.
    Syncing,
    /// Holds; knows where it is and what is around it.
    Ready,
    /// Looks whether a goal can be one.
    Checking,
    /// Looks for a way.
    Planning,
    /// Has a way; shows it, asks for a confirmation, looks once more.
    Arming,
    /// Has sent a motion that is not accepted yet.
    Sent,
    /// The arm moves.
    Moving,
    /// The arm moves, and another way is looked for.
    Replanning,
    /// The arm moves slowly.
    Slowing,
    /// The arm comes to rest along its path.
    Stopping,
    /// The motion is over; the arm comes to rest at its end.
    Settling,
    /// Stands still for a reason.
    Holding,
    /// Stands still until a person has cleared it.
    Fault,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The state.
    pub state: State,
    /// Whether the arm may be moving in it.
    pub moves: bool,
    /// States that may follow.
    pub next: &'static [State],
    /// Where it leads when its time is over.
    pub when_over: Option<State>,
}

use State::{
    Arming, Checking, Fault, Holding, Moving, Offline, Planning, Ready, Replanning, Sent, Settling,
    Slowing, Stopping, Syncing,
};

const fn row(state: State, moves: bool, next: &'static [State], when_over: Option<State>) -> Row {
    Row { state, moves, next, when_over }
}

/// Which state may follow which. `Fault` and `Offline` may follow every state.
pub const TABLE: [Row; 14] = [
    row(Offline, false, &[Syncing], None),
    row(Syncing, false, &[Ready], None),
    row(Ready, false, &[Checking, Syncing, Holding], None),
    row(Checking, false, &[Planning, Ready, Holding], Some(Ready)),
    row(Planning, false, &[Arming, Ready, Holding], Some(Ready)),
    row(Arming, false, &[Sent, Planning, Ready, Holding], Some(Ready)),
    row(Sent, true, &[Moving, Ready, Stopping, Holding], Some(Stopping)),
    row(Moving, true, &[Settling, Replanning, Slowing, Stopping, Holding], Some(Stopping)),
    row(Replanning, true, &[Moving, Slowing, Stopping, Settling, Holding], Some(Stopping)),
    row(Slowing, true, &[Moving, Replanning, Stopping, Settling, Holding], Some(Stopping)),
    row(Stopping, true, &[Holding], Some(Fault)),
    row(Settling, true, &[Ready, Stopping, Holding], Some(Ready)),
    row(Holding, false, &[Planning, Ready, Syncing], None),
    row(Fault, false, &[Syncing], None),
];

impl State {
    /// Its row.
    #[must_use]
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Whether another state may follow.
    #[must_use]
    pub fn may_become(self, next: Self) -> bool {
        self.row().next.contains(&next) || matches!(next, Fault | Offline) && next != self
    }

    /// Whether the arm may be moving.
    #[must_use]
    pub fn moves(self) -> bool {
        self.row().moves
    }

    /// How long it may last; `motion_s` is how long the motion that was sent takes.
    #[must_use]
    pub fn limit_s(self, limits: &Limits, motion_s: f64) -> Option<f64> {
        Some(match self {
            Offline | Syncing | Ready | Holding | Fault => return None,
            Checking => limits.check_s,
            Planning => limits.plan_s,
            Arming => limits.confirm_s,
            Sent => limits.accept_s,
            Moving => motion_s + limits.move_extra_s,
            Replanning => limits.replan_s,
            Slowing => limits.slow_s,
            Stopping => limits.stop_s,
            Settling => limits.settle_s,
        })
    }

    /// As it is written on tapes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Offline => "offline",
            Syncing => "syncing",
            Ready => "ready",
            Checking => "checking",
            Planning => "planning",
            Arming => "arming",
            Sent => "sent",
            Moving => "moving",
            Replanning => "replanning",
            Slowing => "slowing",
            Stopping => "stopping",
            Settling => "settling",
            Holding => "holding",
            Fault => "fault",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_its_row_and_a_way_out() {
        for (number, row) in TABLE.iter().enumerate() {
            assert_eq!(row.state as usize, number);
            assert!(!row.next.is_empty() && !row.next.contains(&row.state), "{row:?}");
            // A state that must not last leads somewhere that the table allows.
            let limit = row.state.limit_s(&Limits::default(), 1.0);
            assert_eq!(limit.is_some(), row.when_over.is_some(), "{row:?}");
            if let Some(next) = row.when_over {
                assert!(row.state.may_become(next), "{row:?}");
            }
            let json = serde_json::to_value(row.state).unwrap();
            assert_eq!(json, row.state.name());
        }
    }

    #[test]
    fn a_moving_arm_comes_to_rest_before_anything_else_begins() {
        for row in TABLE.iter().filter(|row| row.moves) {
            assert!(!row.state.may_become(Planning), "{row:?}");
            assert!(!row.state.may_become(Checking), "{row:?}");
        }
        assert!(!Fault.may_become(Ready), "a fault is cleared by a person, then synced");
        assert!(!Syncing.may_become(Moving));
    }
}
