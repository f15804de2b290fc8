//! What a driver asks an autopilot to do, and why it has to let go again.

use serde::{Deserialize, Serialize};

/// Work for an autopilot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutopilotRequest {
    /// One of the job's targets, by its number from 1.
    Target(usize),
    /// All of them, in their order.
    All,
}

impl AutopilotRequest {
    /// Whether there is something to fetch, of so many targets.
    #[must_use]
    pub fn fits(self, targets: usize) -> bool {
        match self {
            Self::Target(number) => (1..=targets).contains(&number),
            Self::All => targets > 0,
        }
    }
}

/// Why an autopilot lets go of the arm before its work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    /// The driver said so.
    Asked,
    /// The driver pressed a movement key or pushed a stick.
    Keys,
    /// The driver's window lost the focus.
    Focus,
    /// The driver's page was hidden.
    Hidden,
    /// Nothing was heard of the driver any more.
    Silence,
    /// The driver left the wheel, or the connection broke.
    Left,
    /// The stretch of driving ended.
    Over,
    /// Somebody stopped the arm.
    Stopped,
}

impl Halt {
    /// Its name on tapes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Keys => "keys",
            Self::Focus => "focus",
            Self::Hidden => "hidden",
            Self::Silence => "silence",
            Self::Left => "left",
            Self::Over => "over",
            Self::Stopped => "stopped",
        }
    }

    /// For people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Asked => "you said so",
            Self::Keys => "a movement key was pressed",
            Self::Focus => "the driver's window lost the focus",
            Self::Hidden => "the driver's page was hidden",
            Self::Silence => "nothing was heard of the driver for too long",
            Self::Left => "the driver left",
            Self::Over => "this stretch of driving ended",
            Self::Stopped => "somebody pressed Stop",
        }
    }
}

/// Why a request is not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    /// It would drop what it holds.
    #[error("the autopilot is at work: stop it first (Space)")]
    Flying,
    /// It would be stopped at once.
    #[error("let go of the movement keys first")]
    Holding,
    /// Somebody else has the driver lock by now.
    #[error("you are not driving: take the wheel first")]
    NotDriving,
}
