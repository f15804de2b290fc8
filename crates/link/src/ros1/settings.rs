//! Names of an arm's topics, as they differ from robot to robot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An arm on ROS 1. The defaults are those of the UR driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ros1Settings {
    /// The master: `http://robot:11311`; ROS_MASTER_URI where it is not said.
    pub master_uri: Option<String>,
    /// The address of this machine that the robot reaches; ROS_IP or ROS_HOSTNAME where it is not
    /// said. Nothing is served on others.
    pub own_host: Option<String>,
    /// Topic of the joints.
    pub joint_states: String,
    /// What stands before the joints' names there: `left_`.
    pub joint_prefix: String,
    /// Joints by the names that the robot has for them, where they are others than the model's.
    pub joint_names: BTreeMap<String, String>,
    /// The trajectory controller, with its action.
    pub action: String,
    /// What a UR says of itself.
    pub robot: RobotTopics,
    /// Other names for topics: from those here to the robot's.
    pub remap: BTreeMap<String, String>,
    /// How long the arm runs behind its targets, s: they are smoothed over the network by it.
    pub delay_s: f64,
    /// How long to wait for the arm when connecting, s.
    pub connect_s: f64,
}

impl Default for Ros1Settings {
    fn default() -> Self {
        Self {
            master_uri: None,
            own_host: None,
            joint_states: "/joint_states".to_owned(),
            joint_prefix: String::new(),
            joint_names: BTreeMap::new(),
            action: "/scaled_pos_joint_traj_controller/follow_joint_trajectory".to_owned(),
            robot: RobotTopics::default(),
            remap: BTreeMap::new(),
            delay_s: 0.12,
            connect_s: 10.0,
        }
    }
}

/// Topics on which a robot says how it is; those that nobody publishes say nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RobotTopics {
    /// Whether the program on its pendant runs (`std_msgs/Bool`).
    pub program_running: String,
    /// Its mode (one signed byte).
    pub robot_mode: String,
    /// Its safety mode (one signed byte).
    pub safety_mode: String,
    /// How fast it lets trajectories run (`std_msgs/Float64`, 0 to 1 or 0 to 100).
    pub speed_scaling: String,
}

impl Default for RobotTopics {
    fn default() -> Self {
        let of = |name: &str| format!("/ur_hardware_interface/{name}");
        Self {
            program_running: of("robot_program_running"),
            robot_mode: of("robot_mode"),
            safety_mode: of("safety_mode"),
            speed_scaling: "/speed_scaling_factor".to_owned(),
        }
    }
}
