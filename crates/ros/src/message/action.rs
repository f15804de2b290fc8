//! The messages of the action FollowJointTrajectory in ROS 1.

use super::trajectory::{POINT, TRAJECTORY};
use super::{HEADER, Header, JointTrajectory, JointTrajectoryPoint, Message, Span, Time};
use crate::error::RosError;
use crate::wire::{Reader, Writer};

/// What a result's number says.
pub mod error_code {
    /// Done.
    pub const SUCCESSFUL: i32 = 0;
    /// The goal is none, or the controller does not run.
    pub const INVALID_GOAL: i32 = -1;
    /// Its joints are not the controller's.
    pub const INVALID_JOINTS: i32 = -2;
    /// It lies in the past.
    pub const OLD_HEADER_TIMESTAMP: i32 = -3;
    /// The arm was too far from the path.
    pub const PATH_TOLERANCE_VIOLATED: i32 = -4;
    /// The arm did not come to the goal in time.
    pub const GOAL_TOLERANCE_VIOLATED: i32 = -5;
}

/// How a goal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Heard, not begun.
    Pending,
    /// Carried out.
    Active,
    /// Given up for another goal, or because it was cancelled.
    Preempted,
    /// Done.
    Succeeded,
    /// Begun and failed.
    Aborted,
    /// Not begun.
    Rejected,
    /// On its way to preempted.
    Preempting,
    /// On its way to recalled.
    Recalling,
    /// Cancelled before it began.
    Recalled,
}

const GOAL_ID: (&str, &str) = ("actionlib_msgs/GoalID", "time stamp\nstring id\n");
const STATUS: (&str, &str) = (
    "actionlib_msgs/GoalStatus",
    "GoalID goal_id\nuint8 status\nuint8 PENDING=0\nuint8 ACTIVE=1\nuint8 PREEMPTED=2\nuint8 \
     SUCCEEDED=3\nuint8 ABORTED=4\nuint8 REJECTED=5\nuint8 PREEMPTING=6\nuint8 RECALLING=7\n\
     uint8 RECALLED=8\nuint8 LOST=9\nstring text\n",
);
const TOLERANCE: (&str, &str) = (
    "control_msgs/JointTolerance",
    "string name\nfloat64 position\nfloat64 velocity\nfloat64 acceleration\n",
);
const GOAL: (&str, &str) = (
    "control_msgs/FollowJointTrajectoryGoal",
    "trajectory_msgs/JointTrajectory trajectory\nJointTolerance[] path_tolerance\n\
     JointTolerance[] goal_tolerance\nduration goal_time_tolerance\n",
);
const RESULT: (&str, &str) = (
    "control_msgs/FollowJointTrajectoryResult",
    "int32 error_code\nint32 SUCCESSFUL=0\nint32 INVALID_GOAL=-1\nint32 INVALID_JOINTS=-2\n\
     int32 OLD_HEADER_TIMESTAMP=-3\nint32 PATH_TOLERANCE_VIOLATED=-4\n\
     int32 GOAL_TOLERANCE_VIOLATED=-5\nstring error_string\n",
);
const FEEDBACK: (&str, &str) = (
    "control_msgs/FollowJointTrajectoryFeedback",
    "Header header\nstring[] joint_names\ntrajectory_msgs/JointTrajectoryPoint desired\n\
     trajectory_msgs/JointTrajectoryPoint actual\ntrajectory_msgs/JointTrajectoryPoint error\n",
);

impl Status {
    const ALL: [Self; 9] = [
        Self::Pending,
        Self::Active,
        Self::Preempted,
        Self::Succeeded,
        Self::Aborted,
        Self::Rejected,
        Self::Preempting,
        Self::Recalling,
        Self::Recalled,
    ];

    /// ROS 1's number.
    #[must_use]
    pub fn number(self) -> u8 {
        Self::ALL.iter().position(|known| *known == self).unwrap_or_default() as u8
    }

    /// Whether nothing follows.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Preempted | Self::Succeeded | Self::Aborted | Self::Rejected | Self::Recalled
        )
    }
}

/// `actionlib_msgs/GoalID`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GoalId {
    /// When it was sent; as part of a cancel: all goals before.
    pub stamp: Time,
    /// Its name.
    pub id: String,
}

impl std::hash::Hash for Time {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.ns().hash(state);
    }
}

impl Message for GoalId {
    const TYPE: &'static str = GOAL_ID.0;
    const MD5: &'static str = "302881f31927c1df708a2dbab0e80ee8";
    const FIELDS: &'static str = GOAL_ID.1;
    const PARTS: &'static [(&'static str, &'static str)] = &[];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self { stamp: Time::read(reader, "goal_id")?, id: reader.string("goal_id.id")? })
    }

    fn write(&self, writer: &mut Writer) {
        self.stamp.write(writer);
        writer.string(&self.id);
    }
}

/// `actionlib_msgs/GoalStatus`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalStatus {
    /// Of which goal.
    pub goal_id: GoalId,
    /// How it stands.
    pub status: Status,
    /// What is said of it.
    pub text: String,
}

impl GoalStatus {
    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        let goal_id = GoalId::read(reader)?;
        let number = reader.u8("status")?;
        let status = Status::ALL.get(usize::from(number)).copied();
        let status = status.ok_or_else(|| {
            reader.bad(&format!("status is {number}, no server has one beyond 8"))
        })?;
        Ok(Self { goal_id, status, text: reader.string("text")? })
    }

    fn write(&self, writer: &mut Writer) {
        self.goal_id.write(writer);
        writer.u8(self.status.number());
        writer.string(&self.text);
    }
}

/// `actionlib_msgs/GoalStatusArray`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalStatusArray {
    /// When.
    pub header: Header,
    /// Of the goals that the server still knows.
    pub status_list: Vec<GoalStatus>,
}

impl Message for GoalStatusArray {
    const TYPE: &'static str = "actionlib_msgs/GoalStatusArray";
    const MD5: &'static str = "8b2b82f13216d0a8ea88bd3af735e619";
    const FIELDS: &'static str = "Header header\nGoalStatus[] status_list\n";
    const PARTS: &'static [(&'static str, &'static str)] = &[HEADER, STATUS, GOAL_ID];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        let header = Header::read(reader)?;
        Ok(Self { header, status_list: reader.list("status_list", 17, GoalStatus::read)? })
    }

    fn write(&self, writer: &mut Writer) {
        self.header.write(writer);
        writer.list(&self.status_list, |writer, status| status.write(writer));
    }
}

/// How far a joint may be off: 0 for the controller's own limit, -1 for none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointTolerance {
    /// The joint.
    pub name: String,
    /// rad.
    pub position: f64,
    /// rad/s.
    pub velocity: f64,
    /// rad/s².
    pub acceleration: f64,
}

impl JointTolerance {
    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        let name = reader.string("tolerance.name")?;
        let [position, velocity, acceleration] = reader.f64_array("tolerance")?;
        Ok(Self { name, position, velocity, acceleration })
    }

    fn write(&self, writer: &mut Writer) {
        writer.string(&self.name);
        writer.f64_array(&[self.position, self.velocity, self.acceleration]);
    }
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FollowJointTrajectoryGoal {
    /// The motion.
    pub trajectory: JointTrajectory,
    /// On the way.
    pub path_tolerance: Vec<JointTolerance>,
    /// At its end.
    pub goal_tolerance: Vec<JointTolerance>,
    /// How much later than planned it may end.
    pub goal_time_tolerance: Span,
}

/// A goal with its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActionGoal {
    /// When it was sent.
    pub header: Header,
    /// Its name.
    pub goal_id: GoalId,
    /// What is to be done.
    pub goal: FollowJointTrajectoryGoal,
}

impl Message for ActionGoal {
    const TYPE: &'static str = "control_msgs/FollowJointTrajectoryActionGoal";
    const MD5: &'static str = "cff5c1d533bf2f82dd0138d57f4304bb";
    const FIELDS: &'static str = "Header header\nactionlib_msgs/GoalID goal_id\n\
                                  FollowJointTrajectoryGoal goal\n";
    const PARTS: &'static [(&'static str, &'static str)] =
        &[HEADER, GOAL_ID, GOAL, TRAJECTORY, POINT, TOLERANCE];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self {
            header: Header::read(reader)?,
            goal_id: GoalId::read(reader)?,
            goal: FollowJointTrajectoryGoal {
                trajectory: JointTrajectory::read(reader)?,
                path_tolerance: reader.list("path_tolerance", 28, JointTolerance::read)?,
                goal_tolerance: reader.list("goal_tolerance", 28, JointTolerance::read)?,
                goal_time_tolerance: Span::read(reader, "goal_time_tolerance")?,
            },
        })
    }

    fn write(&self, writer: &mut Writer) {
        self.header.write(writer);
        self.goal_id.write(writer);
        self.goal.trajectory.write(writer);
        writer.list(&self.goal.path_tolerance, |writer, one| one.write(writer));
        writer.list(&self.goal.goal_tolerance, |writer, one| one.write(writer));
        self.goal.goal_time_tolerance.write(writer);
    }
}

/// How it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FollowJointTrajectoryResult {
    /// One of [`error_code`].
    pub error_code: i32,
    /// What is said of it.
    pub error_string: String,
}

/// How a goal ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionResult {
    /// When.
    pub header: Header,
    /// Which goal, and how it stands now.
    pub status: GoalStatus,
    /// How it ended.
    pub result: FollowJointTrajectoryResult,
}

impl Message for ActionResult {
    const TYPE: &'static str = "control_msgs/FollowJointTrajectoryActionResult";
    const MD5: &'static str = "c4fb3b000dc9da4fd99699380efcc5d9";
    const FIELDS: &'static str = "Header header\nactionlib_msgs/GoalStatus status\n\
                                  FollowJointTrajectoryResult result\n";
    const PARTS: &'static [(&'static str, &'static str)] = &[HEADER, STATUS, GOAL_ID, RESULT];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self {
            header: Header::read(reader)?,
            status: GoalStatus::read(reader)?,
            result: FollowJointTrajectoryResult {
                error_code: reader.i32("error_code")?,
                error_string: reader.string("error_string")?,
            },
        })
    }

    fn write(&self, writer: &mut Writer) {
        self.header.write(writer);
        self.status.write(writer);
        writer.i32(self.result.error_code);
        writer.string(&self.result.error_string);
    }
}

/// Where the arm is and should be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FollowJointTrajectoryFeedback {
    /// When.
    pub header: Header,
    /// Of the numbers in the points.
    pub joint_names: Vec<String>,
    /// Where it should be.
    pub desired: JointTrajectoryPoint,
    /// Where it is.
    pub actual: JointTrajectoryPoint,
    /// The difference.
    pub error: JointTrajectoryPoint,
}

/// How a goal is getting on.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionFeedback {
    /// When.
    pub header: Header,
    /// Which goal, and how it stands.
    pub status: GoalStatus,
    /// Where the arm is and should be.
    pub feedback: FollowJointTrajectoryFeedback,
}

impl Message for ActionFeedback {
    const TYPE: &'static str = "control_msgs/FollowJointTrajectoryActionFeedback";
    const MD5: &'static str = "d8920dc4eae9fc107e00999cce4be641";
    const FIELDS: &'static str = "Header header\nactionlib_msgs/GoalStatus status\n\
                                  FollowJointTrajectoryFeedback feedback\n";
    const PARTS: &'static [(&'static str, &'static str)] =
        &[HEADER, STATUS, GOAL_ID, FEEDBACK, POINT];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self {
            header: Header::read(reader)?,
            status: GoalStatus::read(reader)?,
            feedback: FollowJointTrajectoryFeedback {
                header: Header::read(reader)?,
                joint_names: reader.strings("joint_names")?,
                desired: JointTrajectoryPoint::read(reader)?,
                actual: JointTrajectoryPoint::read(reader)?,
                error: JointTrajectoryPoint::read(reader)?,
            },
        })
    }

    fn write(&self, writer: &mut Writer) {
        self.header.write(writer);
        self.status.write(writer);
        self.feedback.header.write(writer);
        writer.strings(&self.feedback.joint_names);
        self.feedback.desired.write(writer);
        self.feedback.actual.write(writer);
        self.feedback.error.write(writer);
    }
}
