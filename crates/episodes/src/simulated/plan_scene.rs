//! What a planner is told of a simulated scene, joints put where a plan begins, cameras that film.

use std::path::Path;

use citrange_cloud::{Pinhole, View};
use citrange_core::Pose;
use citrange_core::{DictObjectState, DictRobotState, DictState};
use citrange_plan::{PlanScene, SceneSolid};
use citrange_sim::{CameraQuery, SimRig, StateQuery, World, described_robot};

use crate::error::{Context as _, EpisodesError, Result, bad_input};

/// The first robot and everything solid around it, without a map.
pub(super) fn plan_scene(rig: &SimRig) -> Result<PlanScene> {
    let (world, name) = (rig.world(), rig.robot());
    let scene = world.scene();
    let description = scene.robots.get(name).context("the robot has no description")?.clone();
    // The gains in force: what the scene asks for, or the robot's own.
    let asked = scene.scene.robots.get(name).and_then(|placed| placed.servo.as_deref());
    let servo = description.servos.get(asked.unwrap_or("default")).cloned();
    let solids = world.solids_around(0, name)?.into_iter().map(|around| SceneSolid {
        name: if around.body == "world" { "the floor".to_owned() } else { around.body },
        can_move: around.can_move,
        solid: around.solid,
    });
    Ok(PlanScene {
        robot: scene.robot(name)?,
        joints: rig.joint_positions(),
        servo,
        solids: solids.collect(),
        map: None,
        description,
    })
}

/// A robot alone at the world's origin, at rest, with nothing around it.
pub(crate) fn lone_robot(model: &str) -> Result<PlanScene> {
    let (description, robot) = described_robot(model, Path::new(""))?;
    let home = description.pose(&description.home).map(<[f64]>::to_vec);
    let joints = home.map_err(|reason| EpisodesError::Failed(reason.to_string()))?;
    Ok(PlanScene { robot, joints, servo: None, solids: Vec::new(), map: None, description })
}

/// Puts the first robot's joints somewhere, at rest.
pub(super) fn stand_at(rig: &mut SimRig, positions: &[f64]) -> Result<()> {
    let robot = rig.robot().to_owned();
    let world = rig.world_mut();
    let names: Vec<String> =
        world.scene().driven_joints(&robot)?.into_iter().map(str::to_owned).collect();
    if positions.len() != names.len() {
        bad_input!("{} positions for {} joints", positions.len(), names.len());
    }
    let by_name = |value: &dyn Fn(usize) -> f64| {
        names.iter().enumerate().map(|(joint, name)| (name.clone(), value(joint))).collect()
    };
    let object = DictObjectState {
        dof_pos: Some(by_name(&|joint| positions[joint])),
        dof_vel: Some(by_name(&|_| 0.0)),
        ..DictObjectState::default()
    };
    let state = DictRobotState { object, ..DictRobotState::default() };
    let robots = [(robot.clone(), state)].into();
    world
        .set_dict_states(&[DictState { robots, ..DictState::default() }], None)
        .context("the robot cannot stand there")?;
    Ok(world.set_driven_targets(&robot, positions)?)
}

/// Where a camera stands now, and how it sees.
pub(super) fn camera_view(world: &mut World, camera: &str) -> Result<View> {
    let cameras = [(camera.to_owned(), CameraQuery::POSE)].into();
    let state = world.get_state(None, &StateQuery { cameras, ..StateQuery::default() })?;
    let unknown = || format!("camera {camera} does not say where it is");
    let seen = state.cameras.get(camera).with_context(unknown)?;
    let k = seen.intrinsics.as_ref().with_context(unknown)?;
    let pos = seen.pos.as_ref().with_context(unknown)?;
    let quat = seen.quat_world.as_ref().with_context(unknown)?;
    let pose = Pose {
        pos_m: std::array::from_fn(|a| pos[[0, a]]),
        quat_wxyz: std::array::from_fn(|a| quat[[0, a]]),
    };
    let (cx, cy) = (k[[0, 0, 2]], k[[0, 1, 2]]);
    let pinhole = Pinhole { fx: k[[0, 0, 0]], fy: k[[0, 1, 1]], cx, cy };
    Ok(View::forward_x(&pose, Some(pinhole)))
}
