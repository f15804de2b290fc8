//! A simulated cell, ready to be run: scene, arm, cameras, controller, twin.

use std::sync::Arc;

use citrange_core::{CameraKind, Rates, Rig as _};
use citrange_episodes::EpisodeRig as _;
use citrange_plan::{Config, Feedforward, PlanScene, PlannedArm};
use citrange_sim::{CompiledScene, DepthSensor, SceneSource, SimRig, load_scene};

use crate::controller::{Controller, DriverFault, SimDriver};
use crate::error::TwinError;
use crate::eyes::Eyes;
use crate::faults::Faults;
use crate::finder::{Birrt, Finder};
use crate::happenings::{Happenings, Quiet};
use crate::orders::Orders;
use crate::rig::{TwinRig, TwinRigParts};
use crate::settings::{FinderKind, TwinSettings};
use crate::surroundings::Surroundings;
use crate::twin::{Twin, TwinMode, TwinParts};

/// Physics steps in a tick of the joints.
const STEPS_PER_TICK: u32 = 4;
/// Margin of plans on top of the guard's: what flickers in the map must not stop the arm.
const PLAN_MARGIN_M: f64 = 0.01;

/// How a simulated cell differs from its scene.
pub struct CellOptions {
    /// Scene by name or file.
    pub scene: String,
    /// Where its things are.
    pub seed: u64,
    /// See `seed`.
    pub episode: u64,
    /// What goes wrong with joints and pictures.
    pub faults: Faults,
    /// What goes wrong at the driver.
    pub driver_faults: Vec<DriverFault>,
    /// What happens beside the arm.
    pub happenings: Box<dyn Happenings>,
    /// Changes of the scene before it is built.
    pub change: Option<fn(&mut citrange_core::Scene)>,
    /// Whether the true distance is measured.
    pub measures_distance: bool,
    /// What the cameras do to the truth.
    pub sensor: DepthSensor,
}

impl Default for CellOptions {
    fn default() -> Self {
        Self {
            scene: "ur5_cell".to_owned(),
            seed: 0,
            episode: 0,
            faults: Faults::default(),
            driver_faults: Vec::new(),
            happenings: Box::new(Quiet),
            change: None,
            measures_distance: true,
            sensor: DepthSensor::d435(),
        }
    }
}

/// A compiled scene with the rates and cameras of a twin's settings: made once, used for many runs.
#[derive(Clone, Debug)]
pub struct CellScene {
    scene: Arc<CompiledScene>,
    cameras: Vec<String>,
}

/// A simulated cell and what is known of it.
pub struct SimCell {
    /// The rig.
    pub rig: TwinRig,
    /// The controller of its arm.
    pub driver: SimDriver,
    /// The arm as the planner sees it.
    pub arm: PlannedArm,
    /// What stands around it, things included: the truth.
    pub scene: PlanScene,
    /// What does not move.
    pub surroundings: Surroundings,
    settings: TwinSettings,
    seed: u64,
}

impl CellScene {
    /// Builds a scene.
    ///
    /// # Errors
    /// When there is none of that name, or it has no camera.
    pub fn new(
        scene: &str,
        settings: &TwinSettings,
        change: Option<fn(&mut citrange_core::Scene)>,
    ) -> Result<Self, TwinError> {
        let SceneSource { mut scene, folder } = load_scene(scene)?;
        if let Some(change) = change {
            change(&mut scene);
        }
        let embedded = &settings.embedded;
        let control_hz = embedded.joints_hz;
        let physics_hz = control_hz * STEPS_PER_TICK;
        scene.rates = Rates { physics_hz, control_hz, frame_hz: embedded.frames_hz };
        let cameras = match embedded.depth_cameras.as_slice() {
            [] => scene.cameras.keys().next().cloned().into_iter().collect(),
            named => named.to_vec(),
        };
        if cameras.is_empty() {
            let reason = format!("{} has no camera: the twin would be blind", scene.name);
            return Err(TwinError::bad("embedded.depth_cameras", reason));
        }
        for name in &cameras {
            let Some(camera) = scene.cameras.get_mut(name) else {
                let known = scene.cameras.keys().map(String::as_str);
                let hint = citrange_core::names::suggestion(name, known);
                return Err(TwinError::bad(format!("no camera {name}"), hint));
            };
            let rows = u64::from(camera.height_px) * u64::from(embedded.width_px);
            camera.height_px = (rows / u64::from(camera.width_px.max(1))) as u32;
            camera.width_px = embedded.width_px;
        }
        let scene = Arc::new(CompiledScene::new(&SceneSource { scene, folder })?);
        Ok(Self { scene, cameras })
    }
}

impl SimCell {
    /// A cell of its own.
    ///
    /// # Errors
    /// When the scene, its robot or the settings make no sense.
    pub fn new(settings: &TwinSettings, options: CellOptions) -> Result<Self, TwinError> {
        let scene = CellScene::new(&options.scene, settings, options.change)?;
        Self::of(&scene, settings, options)
    }

    /// A cell of a scene that is built already.
    ///
    /// # Errors
    /// As [`SimCell::new`].
    pub fn of(
        built: &CellScene,
        settings: &TwinSettings,
        options: CellOptions,
    ) -> Result<Self, TwinError> {
        settings.check()?;
        let mut sim = SimRig::new(Arc::clone(&built.scene), Some(&built.cameras))?;
        for camera in &built.cameras {
            sim.set_camera_kind(camera, CameraKind::Depth)?;
        }
        sim.world_mut().reset_env(0, options.seed, options.episode)?;
        let scene = sim.plan_scene()?;
        let robot = &scene.description;
        let home = robot.pose(&robot.home).map_err(|reason| TwinError::bad("home", reason))?;
        let arm = PlannedArm::described(scene.robot.clone(), robot, home)?;
        let pipeline = settings.pipeline()?;
        let bounds = [pipeline.workspace.lower_m, pipeline.workspace.upper_m];
        let surroundings =
            Surroundings::new(&scene, &arm, settings.self_filter_m, settings.voxel_size_m, bounds)?;
        sim.watch_touches(surroundings.mounts())?;
        let inertias = Some(scene.robot.details().inertias.as_slice()).filter(|i| !i.is_empty());
        let servo = scene.servo.as_ref();
        let feedforward = servo
            .map(|servo| Feedforward::new(scene.robot.chain(), servo, inertias))
            .transpose()?;
        let held = Config::of(&scene.joints).positions(arm.joints());
        let mut controller = Controller::new(
            held,
            arm.limits().to_vec(),
            feedforward,
            settings.embedded.joints_hz,
            settings.embedded.driver_latency_s,
        );
        options.driver_faults.into_iter().for_each(|fault| controller.spoil(fault));
        let driver = SimDriver::new(controller);
        let rig = TwinRig::new(TwinRigParts {
            sim,
            driver: driver.clone(),
            sensor: options.sensor,
            seed: options.seed ^ options.episode.rotate_left(32),
            latency_s: settings.embedded.camera_latency_s,
            faults: options.faults,
            happenings: options.happenings,
            measures_distance: options.measures_distance,
        });
        let (settings, seed) = (settings.clone(), options.seed ^ (options.episode << 16));
        Ok(Self { rig, driver, arm, scene, surroundings, settings, seed })
    }

    /// Names of its cameras.
    #[must_use]
    pub fn cameras(&self) -> Vec<String> {
        self.rig.spec().cameras.iter().map(|camera| camera.name.clone()).collect()
    }

    /// Way of the tool between two rows of a log.
    pub(crate) fn waypoint_m(&self) -> f64 {
        self.settings.horizon.waypoint_m
    }

    /// A twin of it.
    ///
    /// # Errors
    /// When its cameras or the finder make no sense.
    pub fn twin(&self, orders: &Orders, mode: TwinMode) -> Result<Twin, TwinError> {
        let fixtures = self.surroundings.fixtures().to_vec();
        let eyes = Eyes::new(&self.settings, &self.rig.spec().cameras, &self.arm, fixtures)?;
        let parts = TwinParts {
            settings: self.settings.clone(),
            arm: self.arm.clone(),
            description: self.scene.description.clone(),
            surroundings: self.surroundings.clone(),
            eyes,
            finder: finder(&self.settings, &self.arm)?,
            driver: Box::new(self.driver.clone()),
            orders: orders.clone(),
            seed: self.seed,
        };
        Twin::new(parts, mode)
    }
}

/// Who finds ways, as the settings say.
fn finder(settings: &TwinSettings, arm: &PlannedArm) -> Result<Box<dyn Finder>, TwinError> {
    let margin_m = settings.guard.margin_m + PLAN_MARGIN_M;
    match settings.finder {
        FinderKind::Birrt => Ok(Box::new(Birrt::new(arm, margin_m)?)),
        FinderKind::Policy | FinderKind::PolicyThenBirrt => {
            let reason = "this needs a trained policy; birrt works without one";
            Err(TwinError::bad("finder", reason))
        }
    }
}
