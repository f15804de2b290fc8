//! Why the twin goes over into another state, with the figures that decided.

use serde::{Deserialize, Serialize};

/// A cause of a transition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// The link is up.
    LinkUp,
    /// Everything that must come in does.
    StreamsComplete,
    /// Something that must come in does not.
    Missing {
        /// What.
        what: String,
    },
    /// A goal was given.
    GoalGiven {
        /// As it was written.
        goal: String,
    },
    /// It can be a goal.
    GoalPossible {
        /// Ways of the arm to stand there.
        ways: usize,
    },
    /// There is no plan to it.
    NoPlan {
        /// A short code: `goal_in_collision`, …
        outcome: String,
        /// In words.
        reason: String,
    },
    /// A motion was found.
    PlanFound {
        /// How long it takes.
        duration_s: f64,
        /// Length of the tool's way.
        tool_m: f64,
    },
    /// It was sent.
    MotionSent,
    /// The driver took it.
    Accepted,
    /// The driver refused it, or gave it up.
    Driver {
        /// Its error code, as of `FollowJointTrajectory`.
        code: i32,
        /// Its words.
        text: String,
    },
    /// The arm is not where the plan starts any more, or the map has changed.
    PlanOutdated {
        /// What has changed.
        what: String,
    },
    /// The rest of the motion is not free any more.
    Blocked {
        /// Time until the arm would be there.
        in_s: f64,
        /// What is in the way.
        what: String,
    },
    /// Another motion took the place of the rest.
    Replanned {
        /// When the two part, from now.
        seam_s: f64,
        /// Whether the arm stands between the two.
        stops: bool,
    },
    /// What slowed the arm down is gone.
    Clear,
    /// The map is old.
    MapOld {
        /// Its age.
        age_s: f64,
        /// The oldest camera.
        camera: String,
    },
    /// A camera is covered, black or frozen.
    CameraBlind {
        /// Which.
        camera: String,
        /// How.
        how: String,
    },
    /// A camera does not stand where it did.
    CameraMoved {
        /// Which.
        camera: String,
        /// How far, where that is known.
        shift_m: Option<f64>,
    },
    /// Cells ahead are not known.
    UnknownAhead {
        /// How many places of the arm were looked up in vain.
        cells: usize,
    },
    /// Something moves near the arm.
    MovingThing {
        /// Distance to the arm.
        distance_m: f64,
        /// Its speed.
        speed_m_s: f64,
    },
    /// Joints stopped coming in, or came late.
    JointsOld {
        /// Their age.
        age_s: f64,
    },
    /// Joints that cannot be: no numbers, or a jump.
    JointsWrong {
        /// Which joint, and what of it.
        what: String,
    },
    /// The rig's clock jumped.
    ClockJump {
        /// How far.
        jump_s: f64,
    },
    /// The arm is not where the plan has it.
    NotFollowing {
        /// The joint that is farthest off.
        joint: String,
        /// How far.
        off_rad: f64,
    },
    /// The motion's time is over.
    MotionOver,
    /// The arm is where it should be, and still.
    Reached {
        /// The joint that is farthest off.
        off_rad: f64,
    },
    /// It is not.
    NotReached {
        /// The joint that is farthest off.
        off_rad: f64,
    },
    /// The arm stands still.
    AtRest,
    /// The state's time is over.
    TimeOver {
        /// Its limit.
        limit_s: f64,
    },
    /// The robot itself does not move: emergency or protective stop, program stopped.
    Robot {
        /// What it says.
        what: String,
        /// What a person has to do.
        cure: String,
    },
    /// A person stopped it.
    PersonStop,
    /// A person confirmed or cleared.
    PersonGo,
    /// It goes on by itself.
    Resumed {
        /// How often for this goal.
        times: u32,
    },
    /// A wait as asked for.
    Wait {
        /// How long.
        wait_s: f64,
    },
}

impl Cause {
    /// Whether the twin may go on by itself when the cause is gone: an old map, a blocked path.
    #[must_use]
    pub fn resumes_by_itself(&self) -> bool {
        matches!(
            self,
            Self::MapOld { .. }
                | Self::CameraBlind { .. }
                | Self::Blocked { .. }
                | Self::MovingThing { .. }
                | Self::UnknownAhead { .. }
        )
    }

    /// A short code, as counts of stops are kept by.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::LinkUp => "link_up",
            Self::StreamsComplete => "streams_complete",
            Self::Missing { .. } => "missing",
            Self::GoalGiven { .. } => "goal_given",
            Self::GoalPossible { .. } => "goal_possible",
            Self::NoPlan { .. } => "no_plan",
            Self::PlanFound { .. } => "plan_found",
            Self::MotionSent => "motion_sent",
            Self::Accepted => "accepted",
            Self::Driver { .. } => "driver",
            Self::PlanOutdated { .. } => "plan_outdated",
            Self::Blocked { .. } => "blocked",
            Self::Replanned { .. } => "replanned",
            Self::Clear => "clear",
            Self::MapOld { .. } => "map_old",
            Self::CameraBlind { .. } => "camera_blind",
            Self::CameraMoved { .. } => "camera_moved",
            Self::UnknownAhead { .. } => "unknown_ahead",
            Self::MovingThing { .. } => "moving_thing",
            Self::JointsOld { .. } => "joints_old",
            Self::JointsWrong { .. } => "joints_wrong",
            Self::ClockJump { .. } => "clock_jump",
            Self::NotFollowing { .. } => "not_following",
            Self::MotionOver => "motion_over",
            Self::Reached { .. } => "reached",
            Self::NotReached { .. } => "not_reached",
            Self::AtRest => "at_rest",
            Self::TimeOver { .. } => "time_over",
            Self::Robot { .. } => "robot",
            Self::PersonStop => "person_stop",
            Self::PersonGo => "person_go",
            Self::Resumed { .. } => "resumed",
            Self::Wait { .. } => "wait",
        }
    }

    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Missing { what } => format!("waiting for {what}"),
            Self::NoPlan { reason, .. } => reason.clone(),
            Self::Driver { code, text } => format!("the driver says {code}: {text}"),
            Self::PlanOutdated { what } => format!("planned again: {what}"),
            Self::Blocked { in_s, what } => {
                format!("{what} is in the way, {:.0} ms ahead", 1e3 * in_s)
            }
            Self::MapOld { age_s, camera } => {
                format!("the map is {:.0} ms old: {camera} is silent", 1e3 * age_s)
            }
            Self::CameraBlind { camera, how } => format!("{camera} is {how}"),
            Self::CameraMoved { camera, shift_m } => match shift_m {
                Some(shift) => format!("{camera} has moved, by about {:.0} mm", 1e3 * shift),
                None => format!("{camera} has moved"),
            },
            Self::UnknownAhead { cells } => format!("{cells} cells ahead were not seen"),
            Self::MovingThing { distance_m, speed_m_s } => format!(
                "something moves at {speed_m_s:.2} m/s, {:.0} cm from the arm",
                1e2 * distance_m
            ),
            Self::JointsOld { age_s } => format!("joints are {:.0} ms old", 1e3 * age_s),
            Self::JointsWrong { what } => what.clone(),
            Self::ClockJump { jump_s } => format!("the clock jumped by {jump_s:.3} s"),
            Self::NotFollowing { joint, off_rad } => {
                format!("{joint} is {:.1} degrees off the plan", off_rad.to_degrees())
            }
            Self::Reached { off_rad } => {
                format!("reached, {:.2} degrees off at most", off_rad.to_degrees())
            }
            Self::NotReached { off_rad } => {
                format!("not reached: {:.2} degrees off", off_rad.to_degrees())
            }
            Self::TimeOver { limit_s } => format!("nothing came of it within {limit_s} s"),
            Self::Robot { what, cure } => format!("{what}; {cure}"),
            Self::GoalGiven { goal } => goal.clone(),
            Self::PlanFound { duration_s, tool_m } => {
                format!("{duration_s:.2} s, {tool_m:.2} m of the tool's way")
            }
            Self::Resumed { times } => format!("goes on by itself, {times}. time"),
            Self::Wait { wait_s } => format!("waits {wait_s} s"),
            other => other.code().replace('_', " "),
        }
    }
}
