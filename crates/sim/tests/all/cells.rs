//! The whole way on a cell whose truth is known: the engine's scene, a depth camera that errs,
//! the pipeline with the robot's own shapes, and what is then in the map.

use std::collections::BTreeSet;

use citrange_cloud::{Cloud, Pinhole};
use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_core::shape::PosedLinkShape;
use citrange_core::{DictObjectState, DictRobotState, DictState};
use citrange_robot::{Robot, RobotSettings};
use citrange_sim::DepthSensor;
use citrange_sim::{Threads, World};
use citrange_space::{Fate, Grid, Pipeline, PipelineSettings, PosedRobot};
use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion, Vector3};

use crate::common;

const SEEDS: u64 = 6;
const PADDING_M: f64 = 0.025;

/// What the camera saw, without errors.
struct Shot {
    depth_m: Vec<f32>,
    is_robot: Vec<bool>,
    width: usize,
    pinhole: Pinhole,
    world_from_camera: Pose,
    joints: Vec<f64>,
    /// The robot's shapes as the engine has them.
    shapes: Vec<PosedLinkShape>,
}

/// How good the map of one shot is.
#[derive(Clone, Copy, Debug)]
struct Score {
    /// Cells with a true surface that are occupied.
    recall: f64,
    /// The same, of cells that at least ten pixels see.
    recall_well_seen: f64,
    /// Occupied cells that have a true surface.
    strict: f64,
    /// Occupied cells that have one or touch a cell that has.
    tolerant: f64,
    /// Occupied cells that hold points of the robot only.
    robot_cells: usize,
    /// Part of the robot's pixels that is in the map.
    robot_points: f64,
}

// A little below the worst of 24 seeds. Strictly, a cell beside the true one is wrong: noise puts
// points of a surface near the border of two cells into both. Few pixels see the cells that are
// missed. What is left of the robot are flying pixels between it and the background: in one of
// the 24, they filled a cell of 2 cm alone.
const LEAST_AT_5_CM: Score = Score {
    recall: 0.96,
    recall_well_seen: 0.98,
    strict: 0.83,
    tolerant: 0.999,
    robot_cells: 1,
    robot_points: 0.003,
};
const LEAST_AT_2_CM: Score =
    Score { recall: 0.935, recall_well_seen: 0.99, strict: 0.74, ..LEAST_AT_5_CM };

fn shoot(world: &mut World, body: &Robot, seed: u64) -> Shot {
    world.reset(seed, &[seed]).unwrap();
    world.step(50).unwrap();
    let scene = world.scene().clone();
    let mut rng = Rng::for_episode(seed, 1, "pose");
    let home = scene.robots["robot0"].poses[&scene.robots["robot0"].home].clone();
    let joints: Vec<f64> = home.iter().map(|q| q + rng.uniform(-0.5, 0.5)).collect();
    let names = scene.joint_names("robot0").unwrap();
    let dof = names.iter().map(|n| (*n).to_owned()).zip(joints.iter().copied()).collect();
    let object = DictObjectState { dof_pos: Some(dof), ..DictObjectState::default() };
    let state = DictRobotState { object, ..DictRobotState::default() };
    let robots = [("robot0".to_owned(), state)].into();
    world.set_dict_states(&[DictState { robots, ..DictState::default() }], None).unwrap();

    let frame = world.frame(0, "depth").unwrap().clone();
    let model = scene.model();
    let camera = (0..model.ffi().ncam as usize)
        .find(|c| {
            model.id_to_name(mujoco_rs::prelude::MjtObjBase::mjOBJ_CAMERA, *c) == Some("depth")
        })
        .unwrap();
    let data = world.data(0).unwrap();
    let robot_of = |geom: i32| {
        let body = usize::try_from(geom).map(|g| model.geom_bodyid()[g] as usize);
        body.is_ok_and(|b| world.scene().body_names()[b].starts_with("robot0/"))
    };
    let is_robot = frame.ids.iter().map(|g| robot_of(*g)).collect();
    let depth_m = frame.depth.clone();
    // Half of the picture's height is half of the angle of view; pixels are at their middles.
    let focal = 0.5 * frame.height as f64 / (0.5 * model.cam_fovy()[camera].to_radians()).tan();
    let (cx, cy) = (frame.width as f64 / 2.0 - 0.5, frame.height as f64 / 2.0 - 0.5);
    // The engine's cameras look along -z with y up.
    let gl = Matrix3::from_row_slice(&data.cam_xmat()[camera]);
    let rotation = gl * Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0));
    let world_from_camera = isometry(data.cam_xpos()[camera], &rotation).into();
    let solid_geoms = (0..model.ffi().ngeom as usize)
        .filter(|g| robot_of(*g as i32) && model.geom_contype()[*g] != 0);
    let shapes = solid_geoms.zip(body.link_shapes()).map(|(geom, shape)| PosedLinkShape {
        link: 0,
        world_from_shape: isometry(
            data.geom_xpos()[geom],
            &Matrix3::from_row_slice(&data.geom_xmat()[geom]),
        ),
        shape: shape.shape.clone(),
    });
    Shot {
        depth_m,
        is_robot,
        width: frame.width,
        pinhole: Pinhole { fx: focal, fy: focal, cx, cy },
        world_from_camera,
        joints,
        shapes: shapes.collect(),
    }
}

fn isometry(pos_m: [f64; 3], rotation: &Matrix3<f64>) -> Isometry3<f64> {
    let rotation = Rotation3::from_matrix_unchecked(*rotation);
    Isometry3::from_parts(
        Translation3::from(pos_m),
        UnitQuaternion::from_rotation_matrix(&rotation),
    )
}

impl Shot {
    fn cloud(&self, depth_m: &[f32]) -> Cloud {
        let point = |(at, depth): (usize, &f32)| {
            if !depth.is_finite() {
                return [f32::NAN; 3];
            }
            let (column, row) = ((at % self.width) as f64, (at / self.width) as f64);
            let z = f64::from(*depth);
            let x = (column - self.pinhole.cx) / self.pinhole.fx * z;
            let y = (row - self.pinhole.cy) / self.pinhole.fy * z;
            [x as f32, y as f32, *depth]
        };
        let xyz_m = depth_m.iter().enumerate().map(point).collect();
        Cloud::new(xyz_m, Vec::new(), self.width, 0).unwrap()
    }

    fn world_points(&self, cloud: &Cloud) -> Vec<[f64; 3]> {
        let at = self.world_from_camera.isometry();
        let place = |p: &[f32; 3]| (at * nalgebra::Point3::from(p.map(f64::from))).coords.into();
        cloud.xyz_m.iter().map(place).collect()
    }
}

/// Keys of the cells and how many points of the picture are in each.
fn true_cells(grid: &Grid, shot: &Shot) -> std::collections::BTreeMap<u32, usize> {
    let mut cells = std::collections::BTreeMap::new();
    let points = shot.world_points(&shot.cloud(&shot.depth_m));
    for (point, is_robot) in points.iter().zip(&shot.is_robot) {
        if let Some(cell) = grid.cell(*point).filter(|_| !is_robot) {
            *cells.entry(grid.key(cell)).or_insert(0) += 1;
        }
    }
    cells
}

fn touches(grid: &Grid, key: u32, others: &BTreeSet<u32>) -> bool {
    let cell = grid.cell_of(key);
    (0..27).any(|k: usize| {
        let step = [k % 3, k / 3 % 3, k / 9];
        let at: [usize; 3] = std::array::from_fn(|a| (cell[a] + step[a]).wrapping_sub(1));
        (0..3).all(|a| at[a] < grid.size()[a]) && others.contains(&grid.key(at))
    })
}

/// Runs one shot and checks what must hold for every point.
fn run(shot: &Shot, body: &Robot, voxel_m: f64, seed: u64) -> Score {
    let mut seen_m = vec![0.0; shot.depth_m.len()];
    let sensor = DepthSensor::d435();
    sensor.apply(&shot.depth_m, shot.width, &shot.pinhole, seed, &mut seen_m).unwrap();
    let cloud = shot.cloud(&seen_m);
    let mut pipeline = Pipeline::new(PipelineSettings {
        voxel_size_m: voxel_m,
        num_voxels: 100_000,
        ..PipelineSettings::default()
    })
    .unwrap();
    let mut shapes = Vec::new();
    body.shapes_at(&shot.joints, &mut shapes).unwrap();
    let robot = PosedRobot { shapes: &shapes, end_effector_m: None };
    let frame = pipeline.run_with_fates(&cloud, &shot.world_from_camera, &robot).unwrap().clone();
    let grid = frame.grid;

    let points = shot.world_points(&cloud);
    let mut robot_only = BTreeSet::new();
    let mut held = BTreeSet::new();
    let (mut robot_seen, mut robot_kept) = (0_usize, 0_usize);
    for (index, fate) in pipeline.fates().iter().enumerate() {
        let Some(cell) = grid.cell(points[index]) else { continue };
        let to_robot = shot.shapes.iter().map(|s| s.distance_m(points[index]));
        let to_robot = to_robot.fold(f64::INFINITY, f64::min);
        // Taken for the robot: exactly what is within the padding of its true surface.
        if *fate == Fate::Robot {
            assert!(to_robot <= PADDING_M + 1e-5, "seed {seed}: {to_robot} m away was removed");
        } else {
            assert!(to_robot >= PADDING_M - 1e-5, "seed {seed}: {to_robot} m away was left");
        }
        let is_robot = shot.is_robot[index];
        robot_seen += usize::from(is_robot);
        if *fate == Fate::Kept {
            robot_kept += usize::from(is_robot);
            // Of the robot itself nothing is left: such a point is at a depth between it and
            // what is behind it.
            let off_m = f64::from(seen_m[index] - shot.depth_m[index]).abs();
            let noise_m = sensor.sigma_m(f64::from(shot.depth_m[index]), &shot.pinhole);
            assert!(!is_robot || off_m > 4.0 * noise_m, "seed {seed}: {off_m} m off was left");
            let cells = if is_robot { &mut robot_only } else { &mut held };
            cells.insert(grid.key(cell));
        }
    }

    let truth = true_cells(&grid, shot);
    let all: BTreeSet<u32> = truth.keys().copied().collect();
    let found: BTreeSet<u32> = frame.voxels.iter().map(|v| v.key).collect();
    let fraction = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    let well: Vec<u32> = truth.iter().filter(|(_, n)| **n >= 10).map(|(k, _)| *k).collect();
    let near = found.iter().filter(|key| touches(&grid, **key, &all)).count();
    Score {
        recall: fraction(all.intersection(&found).count(), all.len()),
        recall_well_seen: fraction(well.iter().filter(|k| found.contains(k)).count(), well.len()),
        strict: fraction(all.intersection(&found).count(), found.len()),
        tolerant: fraction(near, found.len()),
        robot_cells: robot_only.difference(&held).count(),
        robot_points: fraction(robot_kept, robot_seen),
    }
}

#[test]
fn the_map_of_a_simulated_cell_is_the_cell() {
    let scene = common::scene("ur5_cell");
    let chain = scene.chain("robot0").unwrap();
    let shapes = scene.link_shapes("robot0").unwrap();
    let body = Robot::new(&chain, &shapes, &RobotSettings::default()).unwrap();
    let mut world = World::new(scene, 1, Threads::Exactly(1)).unwrap();
    for seed in 0..SEEDS {
        let shot = shoot(&mut world, &body, seed);
        let robot_pixels = shot.is_robot.iter().filter(|r| **r).count();
        assert!(robot_pixels > 2000, "seed {seed}: the camera hardly sees the robot");
        for voxel_m in [0.05, 0.02] {
            let score = run(&shot, &body, voxel_m, seed);
            let least = if voxel_m > 0.03 { LEAST_AT_5_CM } else { LEAST_AT_2_CM };
            let what = format!("seed {seed}, voxels of {voxel_m} m: {score:?}");
            assert!(score.recall > least.recall, "{what}");
            assert!(score.recall_well_seen > least.recall_well_seen, "{what}");
            assert!(score.strict > least.strict && score.tolerant > least.tolerant, "{what}");
            assert!(score.robot_cells <= least.robot_cells, "{what}");
            assert!(score.robot_points < least.robot_points, "{what}");
        }
    }
}
