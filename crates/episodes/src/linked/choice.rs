//! Which real arm, who leads it, and what is seen of it.

use std::path::PathBuf;

use citrange_link::camera::CameraChoice;
use citrange_link::ros1::open_ros1;
use citrange_link::{ArmDriver, DriverSettings, RigAddress, RigFile, So101Settings, open_so101};
use citrange_robot::Chain;

use super::CONTROL_HZ;
use crate::error::{Result, bad_input};

/// Cycles per second of an arm behind ROS.
const ROS_HZ: u32 = 125;

/// Which real arm, and what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkChoice {
    /// Where it is.
    pub address: RigAddress,
    /// Its calibration; found where none is said.
    pub calibration: Option<PathBuf>,
    /// The arm in a person's hand that says where it goes.
    pub leader: Option<LeaderChoice>,
    /// What sees it.
    pub cameras: Vec<CameraChoice>,
    /// The socket of a stand-in that says where things are.
    pub things: Option<PathBuf>,
    /// Where it goes in the end, before its torque does: a pose of its description, or `start`.
    pub rest: Option<String>,
    /// A file about it: topics, limits.
    pub file: Option<PathBuf>,
}

impl LinkChoice {
    /// An arm by itself.
    #[must_use]
    pub fn new(address: RigAddress, calibration: Option<PathBuf>) -> Self {
        Self {
            address,
            calibration,
            leader: None,
            cameras: Vec::new(),
            things: None,
            rest: None,
            file: None,
        }
    }

    /// The scene that such an arm stands in, if nobody says another.
    pub(crate) fn default_scene(&self) -> Option<&'static str> {
        match &self.address {
            RigAddress::Ros1(robot) if robot == "ur5e" => Some("ur5_cell"),
            _ => None,
        }
    }

    /// The robot model that the scene's first robot must be.
    pub(super) fn model(&self) -> Result<&str> {
        match &self.address {
            RigAddress::Simulated => bad_input!("{} is no link", self.address),
            RigAddress::So101(_) => Ok("so101"),
            RigAddress::Ros1(robot) => Ok(robot),
        }
    }

    pub(crate) fn rig_file(&self) -> Result<RigFile> {
        Ok(self.file.as_deref().map(RigFile::load).transpose()?.unwrap_or_default())
    }

    /// Connects to an arm with this chain.
    pub(super) fn connect(&self, chain: &Chain) -> Result<ArmDriver> {
        let file = self.rig_file()?;
        match &self.address {
            RigAddress::Simulated => bad_input!("{} is no link", self.address),
            RigAddress::So101(port) => {
                let calibration = self.calibration.clone();
                let mut settings = So101Settings { calibration, ..So101Settings::default() };
                settings.driver.cycle_hz = CONTROL_HZ;
                settings.driver = file.driver.unwrap_or(settings.driver);
                Ok(open_so101(port, chain, &settings)?)
            }
            RigAddress::Ros1(_) => {
                let on_ros = DriverSettings { cycle_hz: ROS_HZ, ..DriverSettings::default() };
                Ok(open_ros1(chain, &file.ros1, file.driver.unwrap_or(on_ros))?.0)
            }
        }
    }
}

/// Which arm leads another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderChoice {
    /// Where it is.
    pub address: RigAddress,
    /// Its calibration; found where none is said.
    pub calibration: Option<PathBuf>,
}
