//! An arm behind ROS 1: joints from a topic, targets as short trajectories that a trajectory
//! controller follows and that each end at rest, so that silence stops the arm.

mod arm;
mod joints;
mod robot_state;
mod settings;
mod stream;

pub use arm::{Ros1Arm, Ros1Watch, goal_of};
pub use joints::{JointCounts, Joints};
pub use robot_state::RobotState;
pub use settings::{RobotTopics, Ros1Settings};
pub use stream::{StreamPart, StreamPoint, StreamSettings, TargetStream, quintic};

use std::sync::Arc;

use citrange_robot::Chain;

use crate::driver::{ArmDriver, DriverSettings};
use crate::error::LinkError;

/// Connects to an arm with this chain, and begins to read it. Beside it what is known of the
/// connection.
///
/// # Errors
/// When there is no master, no joint states come, or the controller is not there; with what helps.
pub fn open_ros1(
    chain: &Chain,
    settings: &Ros1Settings,
    driver: DriverSettings,
) -> Result<(ArmDriver, Arc<Ros1Watch>), LinkError> {
    let arm = Ros1Arm::connect(chain, settings, driver.cycle_hz)?;
    let watch = arm.watch();
    let (chain_of, settings, cycle_hz) = (chain.clone(), settings.clone(), driver.cycle_hz);
    // A node finds everything again by itself: this is for one that was asked to end.
    let again = move || Ros1Arm::connect(&chain_of, &settings, cycle_hz);
    Ok((ArmDriver::start(arm, Box::new(again), chain, driver)?, watch))
}
