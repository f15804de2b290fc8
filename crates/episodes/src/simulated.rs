//! Rigs of the simulator: the one place in this crate that knows them.

mod plan_scene;
pub(crate) mod play_file;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use citrange_cloud::View;
use citrange_core::randomise::randomised;
use citrange_core::restore::BodyPose;
use citrange_core::shape::PosedShape;
use citrange_core::yaml::from_yaml;
use citrange_core::{
    CameraKind, Randomise, RestoreReport, Rig as _, RigSpec, Scene, Snapshot, StartData,
};
use citrange_plan::PlanScene;
use citrange_robot::Chain;
use citrange_sim::{CompiledScene, SceneSource, SimError, SimRig, load_scene};
use citrange_tape::{Episode, Play, TapeHeader};
use citrange_teleop::telemetry::SceneInfo;
use serde_json::{Value, json};

use crate::cell::{
    ArmDescription, DepthChoice, EpisodeRig, RigChoice, RigIdentity, RigSource, Shown,
};
use crate::drive::scene_info::scene_info_of;
use crate::error::{Context as _, EpisodesError, Result, bad_input};

/// A compiled scene by name or file.
///
/// # Errors
/// When there is no such scene, or it cannot be built.
pub fn compiled(scene: &str) -> Result<Arc<CompiledScene>> {
    Ok(Arc::new(CompiledScene::new(&load_scene(scene)?)?))
}

/// A simulated rig of all robots of a scene by name or file, seen by the cameras named; `None` for
/// all.
///
/// # Errors
/// When there is no such scene or camera.
pub fn simulated(scene: &str, cameras: Option<&[String]>) -> Result<Box<dyn EpisodeRig>> {
    let cameras = cameras.map(<[String]>::to_vec);
    rig_in(scene, &RigChoice { cameras, ..RigChoice::default() })
}

/// A simulated rig of a scene by name or file.
///
/// # Errors
/// When there is no such scene, robot or camera.
pub fn rig_in(scene: &str, choice: &RigChoice) -> Result<Box<dyn EpisodeRig>> {
    Ok(Box::new(chosen(compiled(scene)?, choice)?))
}

/// A rig of a scene and what a file of others asks of it: with all robots, or with the first alone
/// where the file has one arm only.
///
/// # Errors
/// What is wrong with the first try.
pub(crate) fn match_arms<T>(
    scene: &str,
    choice: &RigChoice,
    read: &mut dyn FnMut(&dyn EpisodeRig) -> Result<T>,
) -> Result<(Box<dyn EpisodeRig>, T)> {
    let rig = rig_in(scene, choice)?;
    let error = match read(rig.as_ref()) {
        Ok(read) => return Ok((rig, read)),
        Err(error) => error,
    };
    if choice.robots.is_none() && rig.robots().len() > 1 {
        let first = RigChoice { robots: Some(rig.robots()[..1].to_vec()), ..choice.clone() };
        let rig = rig_in(scene, &first)?;
        if let Ok(read) = read(rig.as_ref()) {
            return Ok((rig, read));
        }
    }
    Err(error)
}

/// The start of a file that says where the joints were, and nothing else.
pub(crate) fn start_at(rig: &dyn EpisodeRig, joints: &[f64]) -> StartData {
    let arms = rig.robots().into_iter().zip(rig.spec().arms());
    let own = |(name, arm): (String, citrange_core::rig::ArmSpec)| {
        Some((name, joints.get(arm.joints)?.to_vec()))
    };
    StartData { named: arms.filter_map(own).collect(), ..StartData::default() }
}

/// The chosen robots of a scene, seen by the chosen cameras.
pub(crate) fn chosen(scene: Arc<CompiledScene>, choice: &RigChoice) -> Result<SimRig> {
    let robots = match &choice.robots {
        Some(named) => named.clone(),
        None => scene.robot_names().map(str::to_owned).collect(),
    };
    let mut rig = SimRig::with_robots(scene, &robots, choice.cameras.as_deref())?;
    give_depths(&mut rig, &choice.depth)?;
    Ok(rig)
}

/// Has cameras measure depths beside the colours that they give anyway.
fn give_depths(rig: &mut SimRig, choice: &DepthChoice) -> Result<()> {
    let known: Vec<String> = rig.spec().cameras.iter().map(|camera| camera.name.clone()).collect();
    let wanted = match choice {
        DepthChoice::Off => return Ok(()),
        DepthChoice::All => known.clone(),
        DepthChoice::Of(named) => named.clone(),
    };
    for camera in &wanted {
        if !known.contains(camera) {
            let hint = citrange_core::names::suggestion(camera, known.iter().map(String::as_str));
            bad_input!("no camera \"{camera}\" is recorded that could measure depths, {hint}");
        }
        rig.set_camera_kind(camera, CameraKind::RgbDepth)?;
    }
    Ok(())
}

/// The rig of a tape, whose cameras may measure depths that the tape does not have.
pub(crate) fn recorded_rig(tape: &Episode, choice: &RigChoice) -> Result<Box<dyn EpisodeRig>> {
    let cameras = choice.cameras.as_deref();
    let mut rig = SimRig::like(scene_of(tape)?, &tape.header.rig, cameras)?;
    give_depths(&mut rig, &choice.depth)?;
    Ok(Box::new(rig))
}

/// A simulated rig seen by one camera, for a film: the scene's last if none is named. A scene may
/// have none.
pub(crate) fn filmed(scene: &str, camera: Option<&str>) -> Result<Box<dyn EpisodeRig>> {
    let scene = compiled(scene)?;
    let camera = camera.or_else(|| scene.camera_names().last()).map(str::to_owned);
    Ok(Box::new(SimRig::new(scene, Some(camera.as_slice()))?))
}

/// The rig of a tape: exactly the model it was recorded with, seen by the cameras named.
///
/// # Errors
/// When the tape is of a real robot, or the model is not the one recorded.
pub fn rig_of(tape: &Episode, cameras: Option<&[String]>) -> Result<Box<dyn EpisodeRig>> {
    let cameras = cameras.map(<[String]>::to_vec);
    recorded_rig(tape, &RigChoice { cameras, ..RigChoice::default() })
}

fn scene_of(tape: &Episode) -> Result<Arc<CompiledScene>> {
    let header = &tape.header;
    let scene = header.scene.clone().context("the tape is of a real robot: it has no scene")?;
    let scene =
        CompiledScene::from_mjb(scene, header.robots.clone(), &tape.model, &header.model_hash)?;
    Ok(Arc::new(scene))
}

/// The text of a tape's model, if the scene still compiles to it.
pub(crate) fn model_xml(header: &TapeHeader) -> Option<String> {
    let source = SceneSource { scene: header.scene.clone()?, folder: PathBuf::from(".") };
    let same = CompiledScene::new(&source).ok();
    let same = same.filter(|s| s.model_hash == header.model_hash && !s.xml.is_empty());
    same.map(|scene| scene.xml)
}

/// A scene as it is written now.
pub(crate) fn scene_file(scene: &str) -> Result<Scene> {
    Ok(load_scene(scene)?.scene)
}

impl EpisodeRig for SimRig {
    fn robot(&self) -> &str {
        Self::robot(self)
    }

    fn robots(&self) -> Vec<String> {
        Self::robots(self).to_vec()
    }

    fn scene(&self) -> &Scene {
        &self.world().scene().scene
    }

    fn identity(&self) -> Result<RigIdentity> {
        let scene = self.world().scene();
        Ok(RigIdentity {
            engine: self.world().snapshot(0)?.engine,
            model_hash: scene.model_hash.clone(),
            model: scene.to_mjb()?,
            robots: scene.robots.clone(),
        })
    }

    fn arm(&self) -> Result<ArmDescription> {
        let (scene, robot) = (self.world().scene(), Self::robot(self));
        let description = scene.robots.get(robot).context("the robot has no description")?;
        let named = scene.scene.robots[robot].pose.as_ref().unwrap_or(&description.home);
        let home = description.pose(named).map(<[f64]>::to_vec).map_err(EpisodesError::Failed)?;
        let (chain, floor_z_m) = (scene.chain(robot)?, scene.floor_z_m(robot)?);
        let shapes = scene.link_shapes(robot)?;
        Ok(ArmDescription { chain, shapes, floor_z_m, home })
    }

    fn plan_scene(&self) -> Result<PlanScene> {
        plan_scene::plan_scene(self)
    }

    fn fixtures(&self) -> Result<Vec<PosedShape>> {
        let solids = self.world().solids_around(0, Self::robot(self))?.into_iter();
        Ok(solids.filter(|solid| !solid.can_move).map(|solid| solid.solid).collect())
    }

    fn stand_at(&mut self, joints: &[f64]) -> Result<()> {
        plan_scene::stand_at(self, joints)
    }

    fn camera_view(&mut self, camera: &str) -> Result<View> {
        plan_scene::camera_view(self.world_mut(), camera)
    }

    fn scene_info(&self) -> Result<SceneInfo> {
        let scene = self.world().scene();
        let robot = Self::robot(self);
        let reach_m = scene.chain(robot).map_or(USUAL_REACH_M, |chain| reach_m(&chain));
        let (bodies, shapes) = (scene.body_names(), scene.shapes()?);
        Ok(scene_info_of(&scene.scene, (robot, reach_m), self.spec(), bodies, shapes))
    }

    fn reset(&mut self, seed: u64, episode: u64) -> Result<()> {
        Ok(self.world_mut().reset_env(0, seed, episode)?)
    }

    fn go_to(&mut self, tape: &Episode, frame: usize) -> Result<()> {
        let snapshot = tape
            .snapshot(frame)
            .with_context(|| format!("frame {frame} of the tape has no complete state"))?;
        self.world_mut().restore(0, &snapshot)?;
        // Such an episode is no motion that physics made: every frame is set.
        let by_states = tape.header.imported().is_some_and(|i| i.play == Play::States);
        let states = (frame..tape.len()).filter(|_| by_states).filter_map(|f| tape.snapshot(f));
        self.follow(states.collect());
        Ok(())
    }

    fn restore_start(&mut self, start: &StartData) -> Result<RestoreReport> {
        Ok(self.world_mut().restore_best(0, start)?)
    }

    fn let_go(&mut self) {
        self.follow(Vec::new());
    }

    fn targets(&mut self) -> Vec<f64> {
        Self::targets(self)
    }

    fn knows_wrist(&self) -> bool {
        Self::knows_wrist(self)
    }

    fn leave_pictures_out(&mut self, when_behind: bool) {
        Self::leave_pictures_out(self, when_behind);
    }

    fn body_poses(&self) -> Result<Vec<BodyPose>> {
        Ok(self.world().body_poses(0)?)
    }

    fn free_objects(&self) -> BTreeMap<String, usize> {
        self.world().scene().free_objects()
    }

    fn object_errors_m(&self, was: &Snapshot) -> BTreeMap<String, f64> {
        let world = self.world();
        let (Some(was), Ok(data)) = (was.fields.get("mujoco/qpos"), world.data(0)) else {
            return BTreeMap::new();
        };
        let is = data.qpos();
        let distance = |at: usize| {
            let square = |i: usize| Some((is.get(i)? - was.get(i)?).powi(2));
            Some((square(at)? + square(at + 1)? + square(at + 2)?).sqrt())
        };
        let objects = world.scene().free_objects().into_iter();
        objects.filter_map(|(name, at)| Some((name, distance(at)?))).collect()
    }

    fn look(&self, shown: &mut Shown) -> Result<()> {
        let world = self.world();
        world.shown_poses(0, &mut shown.bodies)?;
        shown.joint_pos = self.joint_positions();
        shown.time_s = world.steps(0) as f64 / f64::from(self.spec().rates.physics_hz);
        Ok(())
    }
}

/// Of an arm that does not say how long its links are.
const USUAL_REACH_M: f64 = 1.2;

/// How far a stretched arm would reach: its links, one after the other, and its tool.
fn reach_m(chain: &Chain) -> f64 {
    let length = |pos_m: &[f64; 3]| pos_m.iter().map(|v| v * v).sum::<f64>().sqrt();
    let links = chain.joints.iter().take(chain.arm_joints);
    let links_m: f64 = links.map(|joint| length(&joint.parent_from_link.pos_m)).sum();
    links_m + length(&chain.tool.link_from_site.pos_m)
}

/// A scene of the simulator, drawn anew for every episode if that is asked for.
#[derive(Debug)]
pub(crate) struct SimulatedCell {
    scene: Arc<CompiledScene>,
    spec: RigSpec,
    choice: RigChoice,
    seed: u64,
    randomise: Option<(Randomise, SceneSource)>,
}

impl SimulatedCell {
    /// A scene by name or file; `ranges` are those that every episode is drawn from.
    pub(crate) fn of_scene(
        scene: &str,
        ranges: Option<Randomise>,
        choice: RigChoice,
        seed: u64,
    ) -> Result<Self> {
        let source = load_scene(scene)?;
        let scene = Arc::new(CompiledScene::new(&source)?);
        let spec = chosen(Arc::clone(&scene), &choice)?.spec().clone();
        let randomise = ranges.map(|ranges| (ranges, source));
        Ok(Self { scene, spec, choice, seed, randomise })
    }

    /// The scene of a tape, with the arms that the tape has.
    pub(crate) fn of_tape(tape: &Episode, choice: RigChoice, seed: u64) -> Result<Self> {
        let scene = scene_of(tape)?;
        let cameras = choice.cameras.as_deref();
        let mut rig = SimRig::like(Arc::clone(&scene), &tape.header.rig, cameras)?;
        give_depths(&mut rig, &choice.depth)?;
        // Cameras that measured depths go on to do so.
        let measures = rig.spec().cameras.iter().filter(|camera| camera.kind.has_depth());
        let depth = DepthChoice::Of(measures.map(|camera| camera.name.clone()).collect());
        let choice = RigChoice { depth, ..choice };
        let choice = RigChoice { robots: Some(rig.robots().to_vec()), ..choice };
        let spec = rig.spec().clone();
        Ok(Self { scene, spec, choice, seed, randomise: None })
    }

    /// Names of the robots in the scene, in the order of the arms, where they were chosen.
    pub(crate) fn robots(&self) -> &[String] {
        self.choice.robots.as_deref().unwrap_or_default()
    }
}

impl RigSource for SimulatedCell {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }

    fn scene(&self) -> &Scene {
        &self.scene.scene
    }

    fn identity(&self) -> Value {
        let scene = &self.scene;
        json!({
            "model_hash": scene.model_hash, "scene": scene.scene, "robots": scene.robots,
        })
    }

    fn is_new_for_every_episode(&self) -> bool {
        self.randomise.is_some()
    }

    fn rig(&self, episode: u64) -> Result<Box<dyn EpisodeRig>> {
        let scene = match &self.randomise {
            None => Arc::clone(&self.scene),
            Some((ranges, source)) => {
                let robots = &self.scene.robots;
                let scene = randomised(&source.scene, robots, ranges, self.seed, episode);
                let source = SceneSource { scene, folder: source.folder.clone() };
                Arc::new(CompiledScene::new(&source)?)
            }
        };
        Ok(Box::new(chosen(scene, &self.choice)?))
    }
}

/// Ranges by the name `default`, or from a file.
pub(crate) fn ranges(name_or_path: &str) -> Result<Randomise> {
    let wrong = |reason: String| SimError::Scene { scene: name_or_path.to_owned(), reason };
    let ranges: Randomise = match name_or_path {
        "default" => Randomise::built_in().map_err(SimError::from)?,
        path => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("--randomise: cannot read {path}"))?;
            from_yaml(&text, path).map_err(SimError::from)?
        }
    };
    ranges.check().map_err(wrong)?;
    Ok(ranges)
}
