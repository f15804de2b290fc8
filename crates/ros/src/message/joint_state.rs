//! `sensor_msgs/JointState`.

use super::{HEADER, Header, Message};
use crate::error::RosError;
use crate::wire::{Reader, Writer};

/// Joints by name. Arrays may be empty, and velocities and efforts not numbers, where the robot does
/// not know them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointState {
    /// When.
    pub header: Header,
    /// Names.
    pub name: Vec<String>,
    /// Radians (metres for slides).
    pub position: Vec<f64>,
    /// Per second.
    pub velocity: Vec<f64>,
    /// Torques, forces, or on a UR currents of motors.
    pub effort: Vec<f64>,
}

impl Message for JointState {
    const TYPE: &'static str = "sensor_msgs/JointState";
    const MD5: &'static str = "3066dcd76a6cfaef579bd0f34173e9fd";
    const FIELDS: &'static str =
        "Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n";
    const PARTS: &'static [(&'static str, &'static str)] = &[HEADER];

    fn read(reader: &mut Reader<'_>) -> Result<Self, RosError> {
        Ok(Self {
            header: Header::read(reader)?,
            name: reader.strings("name")?,
            position: reader.f64s("position")?,
            velocity: reader.f64s("velocity")?,
            effort: reader.f64s("effort")?,
        })
    }

    fn write(&self, writer: &mut Writer) {
        self.header.write(writer);
        writer.strings(&self.name);
        writer.f64s(&self.position);
        writer.f64s(&self.velocity);
        writer.f64s(&self.effort);
    }
}
