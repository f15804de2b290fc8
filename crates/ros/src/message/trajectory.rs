//! Motions of joints over time.

use super::{HEADER, Header, Message, Span};
use crate::error::RosError;
use crate::wire::{Reader, Writer};

/// Where joints are to be at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointTrajectoryPoint {
    /// One per joint.
    pub positions: Vec<f64>,
    /// One per joint, or none.
    pub velocities: Vec<f64>,
    /// One per joint, or none.
    pub accelerations: Vec<f64>,
    /// One per joint, or none.
    pub effort: Vec<f64>,
    /// Since the trajectory began.
    pub time_from_start: Span,
}

pub(super) const POINT: (&str, &str) = (
    "trajectory_msgs/JointTrajectoryPoint",
    "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\n\
     duration time_from_start\n",
);
pub(super) const TRAJECTORY: (&str, &str) = (
    "trajectory_msgs/JointTrajectory",
    "Header header\nstring[] joint_names\nJointTrajectoryPoint[] points\n",
);

impl JointTrajectoryPoint {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self {
            positions: reader.f64s("positions")?,
            velocities: reader.f64s("velocities")?,
            accelerations: reader.f64s("accelerations")?,
            effort: reader.f64s("effort")?,
            time_from_start: Span::read(reader, "time_from_start")?,
        })
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.f64s(&self.positions);
        writer.f64s(&self.velocities);
        writer.f64s(&self.accelerations);
        writer.f64s(&self.effort);
        self.time_from_start.write(writer);
    }
}

/// `trajectory_msgs/JointTrajectory`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointTrajectory {
    /// When it begins; a stamp of 0 for at once.
    pub header: Header,
    /// Of the numbers in every point.
    pub joint_names: Vec<String>,
    /// In the order of their times.
    pub points: Vec<JointTrajectoryPoint>,
}

impl Message for JointTrajectory {
    const TYPE: &'static str = TRAJECTORY.0;
    const MD5: &'static str = "65b4f94a94d1ed67169da35a02f33d3f";
    const FIELDS: &'static str = TRAJECTORY.1;
    const PARTS: &'static [(&'static str, &'static str)] = &[HEADER, POINT];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self {
            header: Header::read(reader)?,
            joint_names: reader.strings("joint_names")?,
            // Four empty arrays and a time.
            points: reader.list("points", 24, JointTrajectoryPoint::read)?,
        })
    }

    fn write(&self, writer: &mut Writer) {
        self.header.write(writer);
        writer.strings(&self.joint_names);
        writer.list(&self.points, |writer, point| point.write(writer));
    }
}
