//! Where the joints of a robot are.

use super::RosMessage;
use super::header::MessageHeader;
use crate::error::CloudError;
use crate::wire::{WireReader, WireWriter};

/// `sensor_msgs/JointState`. The arrays but `name` may be empty; velocities and efforts that nobody
/// measures may be NaN.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointState {
    /// When.
    pub header: MessageHeader,
    /// Names of the joints, in any order.
    pub name: Vec<String>,
    /// Angles in radians, or metres.
    pub position: Vec<f64>,
    /// Radians or metres a second.
    pub velocity: Vec<f64>,
    /// Newton metres or Newton; some drivers send currents.
    pub effort: Vec<f64>,
}

impl RosMessage<'_> for JointState {
    const TYPE: [&'static str; 2] = ["sensor_msgs", "JointState"];
    const WHAT: &'static str = "JointState message";
    const ROS1_MD5: &'static str = "3066dcd76a6cfaef579bd0f34173e9fd";

    fn read(reader: &mut WireReader<'_>) -> Result<Self, CloudError> {
        let header = MessageHeader::read(reader)?;
        let name = reader.strings("name")?;
        let position = reader.f64s("position")?;
        let velocity = reader.f64s("velocity")?;
        let effort = reader.f64s("effort")?;
        let arrays = [("position", &position), ("velocity", &velocity), ("effort", &effort)];
        for (of, values) in arrays {
            if !values.is_empty() && values.len() != name.len() {
                let reason = format!("{} {of} for {} names", values.len(), name.len());
                return Err(reader.bad(&reason));
            }
        }
        Ok(Self { header, name, position, velocity, effort })
    }

    fn write(&self, writer: &mut WireWriter) {
        self.header.write(writer);
        writer.strings(&self.name);
        for values in [&self.position, &self.velocity, &self.effort] {
            writer.f64s(values);
        }
    }
}
