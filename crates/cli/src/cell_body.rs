//! The robot of a cell, built from its model.

use std::path::Path;

use citrange_cloud::CellRobot;
use citrange_core::yaml::from_yaml;
use citrange_core::{Pose, Scene};
use citrange_robot::LinkShape;
use citrange_sim::CompiledScene;
use citrange_sim::catalog::SceneSource;
use citrange_space::CellBody;
use serde_json::json;

/// Builds a cell's robot; `folder` is where its relative paths start.
pub(crate) fn body_of(robot: &CellRobot, folder: &Path) -> anyhow::Result<CellBody> {
    // JSON is YAML: a scene with nothing but the robot.
    let text = json!({
        "name": "cell",
        "title": "The robot of a cell",
        "rates": {"physics_hz": 100, "control_hz": 100, "frame_hz": 100},
        "robots": {"robot": {
            "model": robot.model, "pos_m": robot.pos_m, "yaw_deg": robot.yaw_deg,
        }},
    });
    let scene: Scene = from_yaml(&text.to_string(), "cell")?;
    let compiled = CompiledScene::new(&SceneSource { scene, folder: folder.to_owned() })?;
    let chain = compiled.chain("robot")?;
    let tool = robot.tool.iter().enumerate().map(|(number, part)| LinkShape {
        name: format!("tool {}", number + 1),
        link: chain.arm_joints.checked_sub(1),
        link_from_shape: Pose { pos_m: part.pos_m, quat_wxyz: part.quat_wxyz },
        shape: part.shape.clone(),
    });
    let tool: Vec<LinkShape> = tool.collect();
    let mut seen = compiled.seen_shapes("robot")?;
    seen.extend_from_slice(&tool);
    Ok(CellBody { body: crate::bodies::body_of(&compiled, "robot", &tool)?, seen })
}
