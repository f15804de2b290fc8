//! A UR that is not there: its driver, controller and depth camera on ROS, with the physics of our
//! simulated arm, and orders to it in words.

mod cameras;
mod faults;
mod ros1;
mod tf;

pub use faults::UR_ORDERS;
pub use ros1::EmulatedUr;

/// What UR, and where.
#[derive(Clone, Debug)]
pub struct UrOptions {
    /// Scene whose first robot it is.
    pub scene: String,
    /// Its controller's action.
    pub action: String,
    /// Cameras of the scene that are published.
    pub cameras: Vec<String>,
    /// Point clouds beside depth pictures.
    pub clouds: bool,
    /// The master; one of our own on that port where nobody answers.
    pub master_uri: Option<String>,
}

impl Default for UrOptions {
    fn default() -> Self {
        Self {
            scene: "ur5_cell".to_owned(),
            action: "/scaled_pos_joint_traj_controller/follow_joint_trajectory".to_owned(),
            cameras: Vec::new(),
            clouds: false,
            master_uri: None,
        }
    }
}
