//! Which real arm, who leads it, and what is seen of it.

use std::path::PathBuf;

use citrange_link::RigAddress;
use citrange_link::camera::CameraChoice;

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
}

impl LinkChoice {
    /// An arm by itself.
    #[must_use]
    pub fn new(address: RigAddress, calibration: Option<PathBuf>) -> Self {
        Self { address, calibration, leader: None, cameras: Vec::new(), things: None, rest: None }
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
