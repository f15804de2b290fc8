//! Which arm: `so101:/dev/ttyACM0`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a rig is. Kinds: [`RigAddress::KINDS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RigAddress {
    /// The simulator's, in the verb's scene.
    Simulated,
    /// An SO-101 on a serial port.
    So101(PathBuf),
    /// An arm behind ROS 1, by its robot model.
    Ros1(String),
}

impl RigAddress {
    /// What can be said.
    pub const KINDS: &str = "sim, so101:PORT (so101:/dev/ttyACM0), or ros1:ROBOT (ros1:ur5e)";
}

impl FromStr for RigAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "sim" => Ok(Self::Simulated),
            Some(("so101", port)) if !port.is_empty() => Ok(Self::So101(port.into())),
            Some(("ros1", robot)) if !robot.is_empty() => Ok(Self::Ros1(robot.to_owned())),
            _ => Err(format!("\"{text}\" is no rig; there are {}", Self::KINDS)),
        }
    }
}

impl fmt::Display for RigAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulated => f.write_str("sim"),
            Self::So101(port) => write!(f, "so101:{}", port.display()),
            Self::Ros1(robot) => write!(f, "ros1:{robot}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for text in
            ["sim", "ros1:ur5e", "so101:/dev/ttyACM0", "so101:/dev/serial/by-id/usb-1a86:55d3-if00"]
        {
            assert_eq!(text.parse::<RigAddress>().unwrap().to_string(), text);
        }
        for text in ["", "so101", "so101:", "ros1:", "panda:/dev/ttyACM0", "/dev/ttyACM0"] {
            let error = text.parse::<RigAddress>().unwrap_err();
            assert!(error.contains("so101:PORT"), "{error}");
        }
    }
}
