//! How long a state of the twin may last.

use serde::{Deserialize, Serialize};

use crate::error::TwinError;

/// Limits of states, in seconds. What is over is left by the way that the state's row in
/// [`crate::state::TABLE`] says: no wait is endless.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Between two messages about what is missing.
    pub sync_message_s: f64,
    /// Of checking a goal.
    pub check_s: f64,
    /// Of finding a way.
    pub plan_s: f64,
    /// For a person to confirm.
    pub confirm_s: f64,
    /// For the driver to accept a motion.
    pub accept_s: f64,
    /// On top of a motion's own time.
    pub move_extra_s: f64,
    /// Of finding another way while the arm moves.
    pub replan_s: f64,
    /// Of moving slowly for one reason.
    pub slow_s: f64,
    /// Of coming to rest.
    pub stop_s: f64,
    /// Of settling at a motion's end.
    pub settle_s: f64,
    /// How often a goal is taken up again by itself.
    pub resumes: u32,
    /// For how long a goal is waited for while something is in its way.
    pub hold_s: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sync_message_s: 5.0,
            check_s: 0.5,
            plan_s: 1.0,
            confirm_s: 30.0,
            accept_s: 1.0,
            move_extra_s: 1.6,
            replan_s: 0.2,
            slow_s: 10.0,
            stop_s: 2.0,
            settle_s: 2.0,
            resumes: 3,
            hold_s: 10.0,
        }
    }
}

impl Limits {
    pub(crate) fn check(&self) -> Result<(), TwinError> {
        let all = [
            ("sync_message_s", self.sync_message_s),
            ("check_s", self.check_s),
            ("plan_s", self.plan_s),
            ("confirm_s", self.confirm_s),
            ("accept_s", self.accept_s),
            ("move_extra_s", self.move_extra_s),
            ("replan_s", self.replan_s),
            ("slow_s", self.slow_s),
            ("stop_s", self.stop_s),
            ("settle_s", self.settle_s),
            ("hold_s", self.hold_s),
        ];
        match all.iter().find(|(_, value)| !(value.is_finite() && *value > 0.0)) {
            Some((key, value)) => {
                Err(TwinError::bad(format!("limits.{key}"), format!("{value} s is not above 0")))
            }
            None => Ok(()),
        }
    }
}
