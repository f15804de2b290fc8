//! A pose to begin pick and place from: the tool straight down, in front of the robot.

use std::path::Path;

use citrange_robot::{IkSettings, IkTarget, InverseKinematics, Orientation};
use mujoco_rs::prelude::*;
use nalgebra::{Matrix3, Rotation3, Vector3};

use super::{Guess, OVERLAP_M};
use crate::catalog::SceneSource;
use crate::compile::{Change, CompiledScene};
use crate::error::SimError;
use crate::robot::scene_of;

/// Name of the pose.
pub(super) const PICK: &str = "pick";
/// A tool that points down within this needs no other pose.
const DOWN_RAD: f64 = 0.35;
/// Distances from the first joint and heights over the floor that are tried, as parts of the
/// arm's length.
const RADII: [f64; 4] = [0.5, 0.6, 0.4, 0.7];
const HEIGHTS: [f64; 3] = [0.25, 0.35, 0.15];
/// How exact it must be.
const EXACT_M: f64 = 0.002;
const EXACT_RAD: f64 = 0.02;

impl Guess {
    /// Adds a pose with the tool straight down, if no pose of the robot has it so and one is found
    /// in which it touches nothing.
    pub(super) fn add_pick(&mut self, model: &str, folder: &Path) -> Result<(), SimError> {
        const NAME: &str = "robot";
        let Some(grasp) = self.description.grasp else { return Ok(()) };
        let mut scene = scene_of(NAME, model);
        scene.rates = citrange_core::Rates { physics_hz: 500, control_hz: 100, frame_hz: 20 };
        let source = SceneSource { scene, folder: folder.to_owned() };
        let change =
            Change { robot: NAME, description: Some(&self.description), ..Change::default() };
        let compiled = CompiledScene::changed(&source, change)?;
        let chain = compiled.chain(NAME)?;
        let tree = &compiled.layout.robots[NAME];
        let mut home: Vec<f64> = tree.driven_joints().map(|j| compiled.home_qpos[j.qpos]).collect();
        let mut ik = InverseKinematics::new(&chain, &home)?;
        let of_tool = Vector3::from(grasp.tool_axis);
        let orientation = Orientation::Axis { of_tool, toward: -Vector3::z() };
        let here = IkTarget { orientation, ..ik.aim_of(&home) };
        if ik.measure(&here, &home[..chain.arm_joints]).angle_rad < DOWN_RAD {
            return Ok(());
        }
        for (joint, at) in chain.joints.iter().zip(&mut home) {
            if let Some([_, open]) = joint.gripper {
                *at = open;
            }
        }
        let mut kinematics = citrange_robot::Kinematics::new(&chain);
        kinematics.update(&home);
        let base = kinematics.anchor(0);
        let tool = kinematics.site(&chain.tool).pos_m;
        let anchors = (1..chain.arm_joints).map(|joint| kinematics.anchor(joint));
        let points: Vec<Vector3<f64>> = anchors.chain([tool]).collect();
        let length: f64 = points.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum();
        let out = Vector3::new(tool.x - base.x, tool.y - base.y, 0.0);
        let out = out.try_normalize(0.05 * length).unwrap_or_else(Vector3::x);
        // Jaws beside each other as the arm sees it, before each other, or as it comes.
        let of_jaw = Vector3::from(grasp.jaw_axis);
        let ways: Vec<Orientation> =
            [Vector3::z().cross(&out), -Vector3::z().cross(&out), out, -out]
                .iter()
                .filter_map(|jaw| turned([&of_jaw, &of_tool], [jaw, &-Vector3::z()]))
                .map(Orientation::Full)
                .chain([orientation])
                .collect();
        let settings = IkSettings {
            exact_m: EXACT_M,
            exact_rad: EXACT_RAD,
            turns: false,
            ..IkSettings::default()
        };
        let mut data = MjData::new(compiled.model.as_ref());
        let places = RADII.into_iter().flat_map(|radius| HEIGHTS.map(|height| (radius, height)));
        let all = places.flat_map(|place| ways.iter().map(move |way| (place, *way)));
        for ((radius, height), orientation) in all {
            let mut at_m = base + out * (radius * length);
            at_m.z = compiled.floor_z_m(NAME)? + height * length;
            let aim = IkTarget { at_m, orientation };
            let found = ik.solve(&aim, &home[..chain.arm_joints], &settings);
            // The elbow up: what hangs low meets what is to be picked.
            let mut solutions: Vec<(f64, Vec<f64>)> = found
                .solutions
                .into_iter()
                .map(|solution| {
                    kinematics.update(&solution.joints);
                    let heights = (0..chain.arm_joints).map(|joint| kinematics.anchor(joint).z);
                    (heights.sum(), solution.joints)
                })
                .collect();
            solutions.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (_, mut pose) in solutions {
                pose.extend(&home[chain.arm_joints..]);
                if overlap_m(&compiled, NAME, &mut data, &pose) < OVERLAP_M {
                    self.take_pick(&chain, &pose);
                    return Ok(());
                }
            }
        }
        self.notes.push("no pose with the tool straight down was found".to_owned());
        Ok(())
    }

    fn take_pick(&mut self, chain: &citrange_robot::Chain, pose: &[f64]) {
        let at = |name: &str| {
            let index = chain.joints.iter().position(|joint| joint.name == name);
            index.map_or(0.0, |index| super::rounded(pose[index]))
        };
        let joints: Vec<f64> = self.description.joints().map(at).collect();
        self.description.poses.insert(PICK.to_owned(), joints);
        if !self.has_keyframes {
            self.description.home = PICK.to_owned();
            return;
        }
        self.notes.push(format!(
            "pose {PICK} has the tool straight down, as pick and place begins: `pose: {PICK}` in \
             the scene"
        ));
    }
}

/// The rotation that brings two directions of the tool onto two of the world.
fn turned(of_tool: [&Vector3<f64>; 2], to: [&Vector3<f64>; 2]) -> Option<Rotation3<f64>> {
    let frame = |[x, z]: [&Vector3<f64>; 2]| {
        let z = z.try_normalize(1e-6)?;
        let x = (x - z * x.dot(&z)).try_normalize(1e-6)?;
        Some(Matrix3::from_columns(&[x, z.cross(&x), z]))
    };
    Some(Rotation3::from_matrix_unchecked(frame(to)? * frame(of_tool)?.transpose()))
}

/// How deep anything of the robot is in anything else.
fn overlap_m(scene: &CompiledScene, robot: &str, data: &mut MjData<&MjModel>, pose: &[f64]) -> f64 {
    let tree = &scene.layout.robots[robot];
    let mut qpos = scene.home_qpos.clone();
    for (joint, at) in tree.driven_joints().zip(pose) {
        qpos[joint.qpos] = *at;
    }
    crate::home::place_followers(tree, &mut qpos);
    data.qpos_mut().copy_from_slice(&qpos);
    data.step1();
    data.contact().iter().map(|contact| -contact.dist).fold(0.0, f64::max)
}
