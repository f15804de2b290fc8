//! Names that several crates read and write: the states of the pick-and-place state machine and
//! the reasons for which it gives up.

use serde::{Deserialize, Serialize};

/// Makes an enum whose values have names on tapes, and numbers in snapshots.
macro_rules! named {
    ($(#[$doc:meta])* $kind:ident { $($(#[$about:meta])* $value:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $kind {
            $($(#[$about])* #[serde(rename = $name)] $value,)*
        }

        impl $kind {
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$value,)*];

            /// Its name on tapes and in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)*
                }
            }

            /// Its number in snapshots.
            #[must_use]
            pub fn number(self) -> f64 {
                self as usize as f64
            }

            /// The one with this number.
            #[must_use]
            pub fn of_number(number: f64) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.number() == number)
            }
        }
    };
}

named! {
    /// What the pick-and-place state machine is at.
    TaskState {
        /// Chooses what to fetch next, or ends.
        Idle = "IDLE",
        /// Goes over the thing.
        Approach = "APPROACH",
        /// Brings hand and jaws exactly over it.
        PostureAdjust = "POSTURE_ADJUST",
        /// Goes down around it.
        Descend = "DESCEND",
        /// Closes the jaws.
        Grasp = "GRASP",
        /// Lets the grasp settle.
        GraspSettle = "GRASP_SETTLE",
        /// Lifts it.
        Lift = "LIFT",
        /// Draws it back to where the arm has room.
        Retreat = "RETREAT",
        /// Carries it over its place and lowers it.
        Transport = "TRANSPORT",
        /// Opens the jaws and watches it come to rest.
        Release = "RELEASE",
        /// Goes home, also after a failure.
        ReturnHome = "RETURN_HOME",
        /// It lies where it should.
        Success = "SUCCESS",
        /// It does not.
        Failed = "FAILED",
    }
}

named! {
    /// Why an attempt failed.
    FailureReason {
        /// The thing was not seen when it should be fetched.
        TargetNotSeen = "target_not_seen",
        /// The arm cannot reach it.
        IkUnreachable = "ik_unreachable",
        /// No joints were found on the way.
        IkFailed = "ik_failed",
        /// The hand would have gone into the floor.
        Floor = "floor",
        /// Something was in the arm's way.
        ArmBlocked = "arm_blocked",
        /// Hand and jaws could not be brought over the thing.
        Posture = "posture",
        /// The thing was not between the jaws.
        NotGreen = "not_green",
        /// The jaws closed on nothing, or the thing stayed behind.
        GraspMissed = "grasp_missed",
        /// It could not be told whether the thing was held.
        GraspUnknown = "grasp_unknown",
        /// The thing slipped out of the jaws.
        Slip = "slip",
        /// It was lost on the way.
        LostInTransport = "lost_in_transport",
        /// There is no place for it.
        NoSpot = "no_spot",
        /// It came to rest beside its place.
        OffPlate = "off_plate",
        /// It did not come to rest.
        NotAtRest = "not_at_rest",
        /// The goal was pushed: everything has to be set up again.
        PlateMoved = "plate_moved",
        /// The goal was not seen.
        PlateNotSeen = "plate_not_seen",
        /// The approach took too long.
        ApproachTimeout = "approach_timeout",
        /// The way down took too long.
        DescendTimeout = "descend_timeout",
        /// The lift took too long.
        LiftTimeout = "lift_timeout",
        /// The retreat took too long.
        RetreatTimeout = "retreat_timeout",
        /// The way to the goal took too long.
        TransportTimeout = "transport_timeout",
        /// The way home took too long.
        ReturnTimeout = "return_timeout",
        /// All attempts together took too long.
        TargetTimeout = "target_timeout",
        /// It does not fit between the jaws.
        TooWide = "too_wide",
        /// The closed jaws leave more room than it fills.
        TooThin = "too_thin",
        /// The jaws do not get hold of it.
        NoGrip = "no_grip",
        /// Other things leave the jaws no room.
        Blocked = "blocked",
        /// The arm cannot lift it.
        TooHeavy = "too_heavy",
    }
}

/// A name that is known, or one that another version wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Named<T> {
    /// One of ours.
    Known(T),
    /// Somebody else's.
    Other(String),
}

impl<T> Named<T> {
    /// The value, where it is one of ours.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Other(_) => None,
        }
    }
}

impl Named<TaskState> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Known(state) => state.name(),
            Self::Other(name) => name,
        }
    }
}

impl Named<FailureReason> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Known(reason) => reason.name(),
            Self::Other(name) => name,
        }
    }
}
