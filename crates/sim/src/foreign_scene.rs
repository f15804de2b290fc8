//! A recording's own model as a scene: somebody else's whole MJCF, with robots and objects found
//! in it. Its meshes lie where the recorder's program lay; they are looked for where we are told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use citrange_core::scene::{Appearance, Object, Physics, Place, RobotPlacement, Span};
use citrange_core::{Rates, Scene};
use mujoco_rs::mujoco_c::{mjtBias, mjtDisableBit, mjtGain, mjtIntegrator, mjtTrn};
use mujoco_rs::prelude::*;
use mujoco_rs::wrappers::mj_editing::PositionConfig;

use crate::compile::CompiledScene;
use crate::engine::start_engine;
use crate::error::SimError;
use crate::layout::name_of;

/// Stiffness of servos that take the place of motors: as fast as this, without overshoot.
const SERVO_HZ: f64 = 4.0;
/// Control ticks per second at most.
const CONTROL_HZ: u32 = 200;
/// Missing files that are named.
const NAMED: usize = 3;

/// A model that came with a recording.
#[derive(Clone, Copy, Debug)]
pub struct OwnModel<'a> {
    /// Name for the scene.
    pub name: &'a str,
    /// The model as MJCF.
    pub xml: &'a str,
    /// What the robot is called, for people.
    pub robot: &'a str,
    /// Folders in which meshes and textures are looked for, beside where the model says.
    pub assets: &'a [PathBuf],
    /// Frames per second.
    pub frame_hz: u32,
}

impl CompiledScene {
    /// The scene of a recording's own model. Motors become position servos, as arms here have.
    ///
    /// # Errors
    /// When the engine is missing, files of the model are not found (they are counted and named),
    /// or it has no robot that can be played.
    pub fn of_recording(own: &OwnModel<'_>) -> Result<Self, SimError> {
        start_engine()?;
        let fail = |reason: String| SimError::Scene { scene: own.name.to_owned(), reason };
        let xml = with_files(own.xml, own.assets).map_err(fail)?;
        let mut spec = MjSpec::from_xml_string(&xml)
            .map_err(|e| fail(format!("the recording's model does not parse: {e}")))?;
        let rates = rates(spec.option().timestep, own.frame_hz);
        let option = spec.option_mut();
        option.timestep = rates.timestep_s();
        option.disableflags |= mjtDisableBit::mjDSBL_AUTORESET as i32;
        if option.integrator == mjtIntegrator::mjINT_RK4 as i32 {
            option.integrator = mjtIntegrator::mjINT_IMPLICITFAST as i32;
        }
        let compile = |spec: &mut MjSpec| {
            spec.compile().map_err(|e| fail(format!("the recording's model does not compile: {e}")))
        };
        let model = compile(&mut spec)?;
        let mut scene = Scene {
            name: own.name.to_owned(),
            title: format!("the own model of {}", own.name),
            task: String::new(),
            rates,
            physics: Physics::default(),
            look: Appearance::default(),
            robots: BTreeMap::new(),
            fixtures: BTreeMap::new(),
            objects: BTreeMap::new(),
            cameras: BTreeMap::new(),
            job: None,
            roots: BTreeMap::new(),
        };
        find_trees(&model, own.robot, &mut scene);
        if scene.robots.is_empty() {
            return Err(fail("the recording's model has no joints that are driven".into()));
        }
        servos(&mut spec, &model).map_err(fail)?;
        let model = compile(&mut spec)?;
        Self::of_model(model, scene, BTreeMap::new(), xml)
    }
}

/// Physics as the model has it, if whole steps fill a frame.
fn rates(timestep_s: f64, frame_hz: u32) -> Rates {
    let frame_hz = frame_hz.max(1);
    // What is no number is one step.
    let steps = (1.0 / timestep_s / f64::from(frame_hz)).round();
    let steps = if steps >= 1.0 { steps.min(10_000.0) as u32 } else { 1 };
    let divides = |ticks: &u32| steps.is_multiple_of(*ticks) && frame_hz * ticks <= CONTROL_HZ;
    let ticks = (1..=steps).rev().find(divides).unwrap_or(1);
    Rates { physics_hz: steps * frame_hz, control_hz: ticks * frame_hz, frame_hz }
}

/// Bodies that stand in the world by themselves: driven ones are robots, others objects.
fn find_trees(model: &MjModel, robot: &str, scene: &mut Scene) {
    let parents = model.body_parentid();
    for root in (1..parents.len()).filter(|body| parents[*body] == 0) {
        let end = (root + 1..parents.len()).find(|b| (parents[*b] as usize) < root);
        let bodies = root..end.unwrap_or(parents.len());
        let joints = (0..model.ffi().njnt as usize)
            .filter(|joint| bodies.contains(&(model.jnt_bodyid()[*joint] as usize)));
        let joints: Vec<usize> = joints.collect();
        if joints.is_empty() {
            continue;
        }
        let body = name_of(model, MjtObjBase::mjOBJ_BODY, root, "body");
        let is_free = joints.iter().any(|j| model.jnt_type()[*j] == MjtJoint::mjJNT_FREE);
        let is_driven = joints.iter().any(|joint| actuator_of(model, *joint).is_some());
        let short = ["_main", "_base", "_root"].iter().find_map(|end| body.strip_suffix(end));
        let name = short.unwrap_or(&body).replace(['/', '"', '<', '&', ' '], "_");
        if is_driven {
            scene.robots.insert(name.clone(), placement(robot));
        } else {
            scene.objects.insert(name.clone(), object(scene.name.clone(), !is_free));
        }
        scene.roots.insert(name, body);
    }
}

fn placement(robot: &str) -> RobotPlacement {
    RobotPlacement {
        model: robot.to_owned(),
        pos_m: [0.0; 3],
        yaw_deg: 0.0,
        pose: None,
        joints: BTreeMap::new(),
        servo: None,
        kp: None,
        friction_factor: None,
        floor_z_m: None,
    }
}

fn object(model: String, fixed_root: bool) -> Object {
    Object {
        parts: Vec::new(),
        model: Some(model),
        fixed_root,
        footprint: None,
        place: Place {
            spot_m: Some([0.0; 2]),
            rectangle: None,
            ring: None,
            yaw_deg: Span::default(),
            surface_z_m: 0.0,
            clearance_m: 0.0,
        },
    }
}

/// The actuator that drives a joint.
fn actuator_of(model: &MjModel, joint: usize) -> Option<usize> {
    (0..model.ffi().nu as usize).find(|index| {
        model.actuator_trntype()[*index] == mjtTrn::mjTRN_JOINT
            && model.actuator_trnid()[*index][0] as usize == joint
    })
}

/// Motors become position servos that are as strong as the motors were.
fn servos(spec: &mut MjSpec, model: &MjModel) -> Result<(), String> {
    for joint in 0..model.ffi().njnt as usize {
        let Some(index) = actuator_of(model, joint) else { continue };
        let (gain, bias) = (model.actuator_gainprm()[index][0], model.actuator_biasprm()[index]);
        let fixed = model.actuator_gaintype()[index] == mjtGain::mjGAIN_FIXED;
        let affine = model.actuator_biastype()[index] == mjtBias::mjBIAS_AFFINE;
        if fixed && affine && bias[1] == -gain && gain != 0.0 {
            continue;
        }
        let inertia = model.dof_m0()[model.jnt_dofadr()[joint] as usize];
        let omega = std::f64::consts::TAU * SERVO_HZ;
        let config = PositionConfig {
            kp: inertia * omega * omega,
            kv: Some(2.0 * inertia * omega),
            ..PositionConfig::default()
        };
        let name = name_of(model, MjtObjBase::mjOBJ_ACTUATOR, index, "actuator");
        let servo = spec
            .actuator_mut(&name)
            .ok_or_else(|| format!("an actuator of the recording's model has no name ({name})"))?;
        if model.actuator_ctrllimited()[index] && fixed && !affine {
            let [low, high] = model.actuator_ctrlrange()[index];
            *servo.forcerange_mut() = [low * gain.abs(), high * gain.abs()];
        }
        if model.jnt_limited()[joint] {
            *servo.ctrlrange_mut() = model.jnt_range()[joint];
        }
        servo.set_to_position(config).map_err(|e| format!("{name} becomes no servo: {e}"))?;
    }
    Ok(())
}

/// The model with the paths of its files replaced by those where they are.
fn with_files(xml: &str, assets: &[PathBuf]) -> Result<String, String> {
    const KEY: &str = "file=\"";
    let mut out = String::with_capacity(xml.len());
    let mut missing: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some(at) = rest.find(KEY) {
        let (before, after) = rest.split_at(at + KEY.len());
        out.push_str(before);
        let Some(end) = after.find('"') else { return Err("its model ends in a tag".into()) };
        let (path, after) = after.split_at(end);
        match found(path, assets) {
            Some(file) => out.push_str(&file.to_string_lossy()),
            None => missing.push(path),
        }
        rest = after;
    }
    out.push_str(rest);
    if missing.is_empty() {
        return Ok(out);
    }
    let shown = missing.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = if missing.len() > NAMED { ", …" } else { "" };
    Err(format!(
        "{} files of the recording's own model are not here: {shown}{more}; give the folder that \
         has them with --assets (for robosuite: where `python -c 'import robosuite; \
         print(robosuite.__path__[0])'` says) or in CITRANGE_ASSETS",
        missing.len()
    ))
}

/// Where a file of a model is: as said, or with the end of its path in one of the folders.
fn found(path: &str, assets: &[PathBuf]) -> Option<PathBuf> {
    let said = Path::new(path);
    if said.is_absolute() && said.is_file() {
        return Some(said.to_owned());
    }
    let parts: Vec<_> = said.components().collect();
    for folder in assets {
        // The longest end of the path first: it is the least likely to be another's.
        for from in 0..parts.len() {
            let tail: PathBuf = parts[from..].iter().collect();
            let there = folder.join(&tail);
            if tail.is_relative() && there.is_file() {
                return std::path::absolute(there).ok();
            }
        }
        // robosuite's models are below its package.
        let below = folder.join("models/assets");
        let there =
            (0..parts.len()).map(|from| below.join(parts[from..].iter().collect::<PathBuf>()));
        if let Some(there) = there.into_iter().find(|there| there.is_file()) {
            return std::path::absolute(there).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_whole_steps() {
        assert_eq!(rates(0.002, 20), Rates { physics_hz: 500, control_hz: 100, frame_hz: 20 });
        assert_eq!(rates(0.01, 30), Rates { physics_hz: 90, control_hz: 90, frame_hz: 30 });
        rates(1.0, 7).check().unwrap();
        rates(f64::NAN, 0).check().unwrap();
    }

    #[test]
    fn files_are_found_by_the_end_of_their_path() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("models/assets/robots");
        std::fs::create_dir_all(&there).unwrap();
        std::fs::write(there.join("a.stl"), "x").unwrap();
        let xml = r#"<mesh file="/nowhere/pkg/models/assets/robots/a.stl"/>"#;
        let package = [folder.path().to_owned()];
        assert!(with_files(xml, &package).unwrap().contains(there.to_str().unwrap()));
        assert!(
            with_files(xml, std::slice::from_ref(&there))
                .unwrap()
                .contains(there.to_str().unwrap())
        );
        let error = with_files(xml, &[]).unwrap_err();
        assert!(error.contains("1 files") && error.contains("--assets"), "{error}");
    }
}
