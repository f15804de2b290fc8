//! A scene as the planner sees it: what is in the arm's way, and where the arm stands.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use citrange_core::{DictObjectState, DictRobotState, DictState};
use citrange_plan::{ObstacleNames, Obstacles};
use citrange_sim::{SimRig, World};
use citrange_space::MapSnapshot;

/// What is around the robot. A map takes the place of everything that can move: it knows better
/// where things are.
pub(super) fn obstacles_of(
    world: &World,
    robot: &str,
    map: Option<&Path>,
) -> anyhow::Result<(Obstacles, ObstacleNames)> {
    let mut obstacles = Obstacles::default();
    let mut names = ObstacleNames::default();
    for solid in world.solids_around(0, robot)? {
        if map.is_none() || !solid.can_move {
            let name = if solid.body == "world" { "the floor" } else { &solid.body };
            names.solids.push(name.to_owned());
            obstacles.solids.push(solid.solid);
        }
    }
    if let Some(path) = map {
        let snapshot = MapSnapshot::load(path)?;
        obstacles.map = Some(Arc::new(snapshot));
    }
    Ok((obstacles, names))
}

/// Puts the robot's joints somewhere, at rest; answers the targets in force.
pub(super) fn stand_at(rig: &mut SimRig, positions: &[f64]) -> anyhow::Result<Vec<f64>> {
    let robot = rig.robot().to_owned();
    let world = rig.world_mut();
    let names: Vec<String> =
        world.scene().driven_joints(&robot)?.into_iter().map(str::to_owned).collect();
    let by_name = |values: &dyn Fn(usize) -> f64| {
        names.iter().enumerate().map(|(j, name)| (name.clone(), values(j))).collect()
    };
    if positions.len() != names.len() {
        anyhow::bail!("{} positions for {} joints", positions.len(), names.len());
    }
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
    world.set_driven_targets(&robot, positions)?;
    Ok(rig.targets())
}
