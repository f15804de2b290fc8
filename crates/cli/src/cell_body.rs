//! The robot of a cell: from its description where it has one, else compiled from its model.

use std::path::Path;

use citrange_cloud::CellRobot;
use citrange_core::Pose;
use citrange_robot::{LinkShape, Robot};
use citrange_sim::compiled_robot;
use citrange_space::CellBody;

/// Builds a cell's robot; `folder` is where its relative paths start.
pub(crate) fn body_of(robot: &CellRobot, folder: &Path) -> anyhow::Result<CellBody> {
    let alone = if Robot::names().any(|name| name == robot.model) {
        Robot::load(&robot.model)?
    } else if Robot::is_described(&robot.model) {
        Robot::load(&folder.join(&robot.model).to_string_lossy())?
    } else {
        compiled_robot(&robot.model, folder)?
    };
    let tool = robot.tool.iter().enumerate().map(|(number, part)| LinkShape {
        name: format!("tool {}", number + 1),
        link: alone.chain().arm_joints.checked_sub(1),
        link_from_shape: Pose { pos_m: part.pos_m, quat_wxyz: part.quat_wxyz },
        shape: part.shape.clone(),
    });
    let tool: Vec<LinkShape> = tool.collect();
    let body = alone.carrying(&tool)?.standing_at(robot.pos_m, robot.yaw_deg.to_radians());
    Ok(CellBody { seen: body.details().seen.clone(), body })
}
