//! `citrange rig emulate ur5e`: a robot with its driver, controller and cameras on ROS.

use citrange_emulate::{EmulatedUr, UR_ORDERS, UrOptions};
use serde_json::json;

use super::Emulate;
use crate::exit::{Result, bad_input};
use crate::output;
use crate::stop::catch_end;

#[derive(Debug, clap::Args)]
pub(super) struct RosArgs {
    /// On ROS 1, at ROS_MASTER_URI; with a master of our own where none answers.
    #[arg(long)]
    ros1: bool,
    /// The master, where it is not what ROS_MASTER_URI says.
    #[arg(long, value_name = "URI", requires = "ros1")]
    master: Option<String>,
    /// Cameras of the scene that are published, with their depths; separated by commas.
    #[arg(long, value_name = "CAMERA", value_delimiter = ',')]
    cameras: Vec<String>,
    /// Publish point clouds, too.
    #[arg(long, requires = "cameras")]
    clouds: bool,
}

impl RosArgs {
    /// For arms that are not on ROS.
    pub(super) fn refuse(&self) -> Result {
        if self.ros1 || !self.cameras.is_empty() {
            return Err(bad_input(
                "an so101 is on a serial bus: --ros1 and --cameras are a ur5e's",
            ));
        }
        Ok(())
    }
}

pub(super) fn emulate(args: &Emulate) -> Result {
    if !args.ros.ros1 {
        return Err(bad_input("say how a ur5e is reached: --ros1"));
    }
    if args.uncalibrated || args.calibration.is_some() {
        return Err(bad_input("a ur5e is calibrated by its makers"));
    }
    let stop = catch_end()?;
    let scene = args.scene.clone().unwrap_or_else(|| "ur5_cell".to_owned());
    let (cameras, clouds) = (args.ros.cameras.clone(), args.ros.clouds);
    let master_uri = args.ros.master.clone();
    let options = UrOptions { scene, cameras, clouds, master_uri, ..UrOptions::default() };
    let arm = EmulatedUr::spawn(options).map_err(|error| bad_input(error.to_string()))?;
    let (uri, own) = (arm.master_uri(), arm.has_own_master());
    if args.json {
        output::data(&json!({ "event": "ready", "master": uri, "own_master": own }).to_string())?;
    } else {
        output::data(uri)?;
        output::talk(&format!("orders, a line each: {UR_ORDERS}. Ctrl-C ends it."));
    }
    super::carry_out(&|line| arm.order(line), args, stop)
}
