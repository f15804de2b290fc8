//! The state machine as data: one row per state.

use citrange_core::{Observation, Outcome};

use crate::memory::Memory;
use crate::pilot::Autopilot;
use crate::reason::{Reason, State};
use crate::settings::AutopilotSettings;
use crate::states;

/// What a state wants after a tick.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Go on.
    Stay,
    /// The next state.
    To(State),
    /// The attempt failed.
    Fail(Reason),
    /// It is not even tried.
    Refuse(Reason),
    /// Everything is done.
    End(Outcome),
}

/// A number of the settings, and what it means to go beyond it.
type Limit = (fn(&AutopilotSettings) -> f64, Reason);

/// What the machine does in a state.
pub(crate) struct Row {
    pub(crate) state: State,
    /// Called at every tick; the first one in the state has `ticks == 0`.
    pub(crate) act: fn(&mut Autopilot, &mut Memory, &Observation) -> Step,
    /// Longest stay, in frames of the settings, and what it means to stay longer.
    pub(crate) limit: Option<Limit>,
    /// The thing must be held here; what it means when it is not, before and after it was held.
    pub(crate) holds: Option<[Reason; 2]>,
    /// Whether the goal must stay where it is.
    pub(crate) watches_goal: bool,
}

const MISSED: [Reason; 2] = [Reason::GraspMissed, Reason::Slip];
const SLIPPED: [Reason; 2] = [Reason::Slip; 2];
const LOST: [Reason; 2] = [Reason::LostInTransport; 2];

/// One row per state, in the order of [`State`].
#[rustfmt::skip]
pub(crate) const TABLE: [Row; 13] = [
    Row { state: State::Idle, act: states::idle, limit: None, holds: None, watches_goal: false },
    Row { state: State::Approach, act: states::approach, limit: Some((|s| s.approach_duration_steps, Reason::ApproachTimeout)), holds: None, watches_goal: false },
    Row { state: State::PostureAdjust, act: states::posture_adjust, limit: Some((|s| s.posture_duration_steps, Reason::Posture)), holds: None, watches_goal: false },
    Row { state: State::Descend, act: states::descend, limit: Some((|s| s.descend_duration_steps, Reason::DescendTimeout)), holds: None, watches_goal: true },
    Row { state: State::Grasp, act: states::grasp, limit: None, holds: None, watches_goal: true },
    Row { state: State::GraspSettle, act: states::grasp_settle, limit: None, holds: None, watches_goal: true },
    Row { state: State::Lift, act: states::lift, limit: Some((|s| s.lift_duration_steps, Reason::LiftTimeout)), holds: Some(MISSED), watches_goal: true },
    Row { state: State::Retreat, act: states::retreat, limit: Some((|s| s.retreat_duration_steps, Reason::RetreatTimeout)), holds: Some(SLIPPED), watches_goal: true },
    Row { state: State::Transport, act: states::transport, limit: Some((|s| s.transport_duration_steps, Reason::TransportTimeout)), holds: Some(LOST), watches_goal: true },
    Row { state: State::Release, act: states::release, limit: None, holds: None, watches_goal: true },
    Row { state: State::ReturnHome, act: states::return_home, limit: Some((|s| s.return_duration_steps, Reason::ReturnTimeout)), holds: None, watches_goal: false },
    Row { state: State::Success, act: states::success, limit: None, holds: None, watches_goal: false },
    Row { state: State::Failed, act: states::failed, limit: None, holds: None, watches_goal: false },
];

pub(crate) fn row(state: State) -> &'static Row {
    TABLE.iter().find(|row| row.state == state).unwrap_or(&TABLE[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_its_row() {
        assert_eq!(TABLE.len(), State::ALL.len());
        for state in State::ALL {
            assert_eq!(TABLE.iter().filter(|row| row.state == *state).count(), 1);
        }
    }
}
