//! Arm: a simulated arm that lives in time, as LeRobot's robots do; moved by named actions, by keys
//! of the page, or by the autopilot.

use std::collections::BTreeMap;
use std::sync::{Arc as Shared, Mutex};
use std::time::Instant;

use citrange_control::{ControllerSettings, NamedAction, Velocity};
use citrange_core::{Classified, ErrorKind, Rig as _};
use citrange_episodes::{EpisodeRig as _, PilotOptions, Shown};
use citrange_sim::{CompiledScene, Feature, load_scene};
use citrange_studio::{ServeOptions, Server, serve};
use citrange_tape::JointUnit;
use citrange_teleop::telemetry::Telemetry;
use citrange_teleop::{DriverLock, Speeds};
use ndarray::Array3;
use numpy::IntoPyArray as _;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::guard::{guarded, locked};
use crate::snapshot::Snapshot;
use crate::verbs::unit as unit_named;

/// End of the names of positions.
const POSITION: &str = ".pos";

/// What can go wrong with an arm, in words.
#[derive(Debug)]
struct ArmError(String, ErrorKind);

impl std::fmt::Display for ArmError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ArmError {}

impl Classified for ArmError {
    fn kind(&self) -> ErrorKind {
        self.1
    }
}

fn own<E: Classified + std::error::Error>(error: E) -> ArmError {
    ArmError(error.to_string(), error.kind())
}

/// A page with keys.
struct Page {
    board: Shared<Telemetry>,
    driver_lock: Shared<DriverLock>,
    server: Server,
    shown: Shown,
}

struct Live {
    arm: citrange_sim::Arm,
    units: Vec<JointUnit>,
    settings: ControllerSettings,
    page: Option<Page>,
    episode: (u64, u64),
}

impl Live {
    /// A number by its name, as the user's unit has it.
    fn shown(&self, name: &str, value: f64) -> f64 {
        let unit = self.units.iter().find(|unit| unit.name == name);
        unit.map_or(value, |unit| unit.show(value))
    }

    fn targets(&self) -> BTreeMap<String, f64> {
        let names = self.arm.action_features();
        let targets = self.arm.targets().iter().copied();
        names.into_iter().zip(targets).map(|(n, v)| (n.clone(), self.shown(&n, v))).collect()
    }

    /// Lets time pass, with what the keys ask for at every frame.
    fn advance(&mut self, ticks: u32) -> Result<(), ArmError> {
        let per_frame = self.arm.rig().spec().rates.ticks_per_frame();
        let mut left = ticks;
        while left > 0 {
            let now = left.min(per_frame);
            if let Some(page) = &self.page
                && self.arm.outcome().is_none()
            {
                let grip = page.driver_lock.grip(Instant::now());
                let speeds = Speeds::of(&self.settings, self.arm.controller().chain());
                let wanted: Velocity = speeds.velocity(&grip.held);
                self.arm.set_action(&NamedAction::Velocity(wanted)).map_err(own)?;
            }
            self.arm.advance(now).map_err(own)?;
            left -= now;
        }
        self.show()
    }

    /// Writes onto the page's board.
    fn show(&mut self) -> Result<(), ArmError> {
        let Some(page) = &mut self.page else { return Ok(()) };
        self.arm.rig().look(&mut page.shown).map_err(own)?;
        let (targets, shown) = (self.arm.targets(), &page.shown);
        page.board.write(|live| {
            live.time_s = shown.time_s;
            live.bodies.clone_from(&shown.bodies);
            live.joint_pos = shown.joint_pos.iter().map(|q| *q as f32).collect();
            live.targets = targets.iter().map(|q| *q as f32).collect();
        });
        Ok(())
    }
}

/// A simulated arm with named numbers in and out.
#[pyclass(frozen, module = "citrange._citrange")]
pub(crate) struct Arm {
    inner: Mutex<Live>,
}

#[pymethods]
impl Arm {
    #[new]
    fn new(
        py: Python<'_>,
        scene: &str,
        settings: &str,
        unit: &str,
        cameras: Option<Vec<String>>,
        picture_px: Option<[u32; 2]>,
    ) -> PyResult<Self> {
        let unit = unit_named(py, unit)?;
        let live = guarded(py, || {
            let mut source = load_scene(scene).map_err(own)?;
            if let Some([width, height]) = picture_px {
                if width == 0 || height == 0 {
                    let text = format!("picture size: {width} x {height}; 1 or more are needed");
                    return Err(ArmError(text, ErrorKind::BadInput));
                }
                for camera in source.scene.cameras.values_mut() {
                    (camera.width_px, camera.height_px) = (width, height);
                }
            }
            let scene = Shared::new(CompiledScene::new(&source).map_err(own)?);
            let settings = ControllerSettings::parse(settings, "settings").map_err(own)?;
            let arm = citrange_sim::Arm::connect(scene, &settings, cameras.as_deref());
            let arm = arm.map_err(own)?;
            let units = unit.of(arm.rig().spec());
            let units = units.map_err(|text| ArmError(text, ErrorKind::BadInput))?;
            Ok(Live { arm, units, settings, page: None, episode: (0, 0) })
        })?;
        Ok(Self { inner: Mutex::new(live) })
    }

    /// Joints, their units, cameras with their sizes, rates.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (joints, cameras, rates, task) = locked(py, &self.inner, |live| {
            let cameras = live.arm.observation_features().into_iter().filter_map(|(name, of)| {
                let Feature::Picture { height_px, width_px } = of else { return None };
                Some((name, [height_px, width_px]))
            });
            let (spec, scene) = (live.arm.rig().spec(), live.arm.rig().world().scene());
            let task =
                if scene.scene.task.is_empty() { &scene.scene.title } else { &scene.scene.task };
            Ok::<_, ArmError>((
                live.arm.joints().to_vec(),
                cameras.collect::<BTreeMap<_, _>>(),
                spec.rates,
                task.clone(),
            ))
        })?;
        let dict = PyDict::new(py);
        dict.set_item("joints", joints)?;
        dict.set_item("cameras", cameras)?;
        dict.set_item("control_hz", rates.control_hz)?;
        dict.set_item("frame_hz", rates.frame_hz)?;
        dict.set_item("task", task)?;
        Ok(dict)
    }

    /// Named numbers (positions in the unit that was chosen, the rest in SI) and pictures.
    fn observe<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(BTreeMap<String, f64>, Bound<'py, PyDict>)> {
        let (values, seen) = locked(py, &self.inner, |live| {
            let seen = live.arm.observe().map_err(own)?;
            let shown = |(name, value): (&String, &f64)| (name.clone(), live.shown(name, *value));
            let values: BTreeMap<String, f64> = seen.values.iter().map(shown).collect();
            let sizes: BTreeMap<String, [u32; 2]> = live
                .arm
                .observation_features()
                .into_iter()
                .filter_map(|(name, of)| match of {
                    Feature::Picture { height_px, width_px } => Some((name, [height_px, width_px])),
                    Feature::Number => None,
                })
                .collect();
            let mut pictures = Vec::new();
            for (name, picture) in seen.pictures {
                let Some([height, width]) = sizes.get(&name).copied() else { continue };
                let pixels = picture.pixels().map_err(|error| {
                    ArmError(format!("camera {name}: {error}"), ErrorKind::Failed)
                })?;
                pictures.push((name, pixels.to_vec(), [height as usize, width as usize]));
            }
            Ok::<_, ArmError>((values, pictures))
        })?;
        let dict = PyDict::new(py);
        for (name, pixels, [height, width]) in seen {
            let picture = Array3::from_shape_vec((height, width, 3), pixels);
            let picture = picture.map_err(|e| crate::raise::bad_input(py, e.to_string()))?;
            dict.set_item(name, picture.into_pyarray(py))?;
        }
        Ok((values, dict))
    }

    /// What is carried out from now on: speeds or positions, told apart by their names.
    fn set_action(&self, py: Python<'_>, action: BTreeMap<String, f64>) -> PyResult<()> {
        locked(py, &self.inner, |live| {
            let units = &live.units;
            let read = |(name, value): (String, f64)| {
                let unit = units.iter().find(|u| u.name == name && name.ends_with(POSITION));
                (name, unit.map_or(value, |unit| unit.read(value)))
            };
            let action: BTreeMap<String, f64> = action.into_iter().map(read).collect();
            let action = NamedAction::from_named(&action, live.arm.joints()).map_err(own)?;
            live.arm.set_action(&action).map_err(own)
        })
    }

    /// Lets so many control ticks pass.
    fn advance(&self, py: Python<'_>, ticks: u32) -> PyResult<()> {
        locked(py, &self.inner, |live| live.advance(ticks))
    }

    /// The joint targets in force.
    fn targets(&self, py: Python<'_>) -> PyResult<BTreeMap<String, f64>> {
        locked(py, &self.inner, |live| Ok::<_, ArmError>(live.targets()))
    }

    fn reset(&self, py: Python<'_>, seed: u64, episode: u64) -> PyResult<()> {
        locked(py, &self.inner, |live| {
            live.arm.reset(seed, episode).map_err(own)?;
            live.episode = (seed, episode);
            Ok::<_, ArmError>(())
        })
    }

    /// Gives the arm to the autopilot of the scene's job, from now on.
    fn autopilot(&self, py: Python<'_>, profile: Option<String>) -> PyResult<()> {
        locked(py, &self.inner, |live| {
            let (scene, objects) = {
                let rig = live.arm.rig();
                (rig.world().scene().scene.clone(), rig.spec().objects.clone())
            };
            let options = PilotOptions { autopilot: profile, ..PilotOptions::default() };
            let plan = options.plan(&scene, &objects).map_err(own)?;
            let pilot = plan.pilot(live.arm.rig_mut(), live.episode, None).map_err(own)?;
            live.arm.hand_over(Some(pilot));
            Ok::<_, ArmError>(())
        })
    }

    /// Takes the arm back from the autopilot.
    fn take_back(&self, py: Python<'_>) -> PyResult<()> {
        locked(py, &self.inner, |live| {
            live.arm.hand_over(None);
            Ok::<_, ArmError>(())
        })
    }

    /// How the autopilot's work ended: whether it was done, and why.
    fn outcome(&self, py: Python<'_>) -> PyResult<Option<(Option<bool>, String)>> {
        locked(py, &self.inner, |live| {
            let outcome = live.arm.outcome().cloned();
            Ok::<_, ArmError>(outcome.map(|outcome| (outcome.success, outcome.reason)))
        })
    }

    /// Opens the page with keys; answers how people get there.
    fn open_page(&self, py: Python<'_>, listen: Option<String>) -> PyResult<Vec<String>> {
        let mut options = ServeOptions::default();
        if let Some(listen) = listen {
            options.listen = listen.parse().map_err(|_| {
                crate::raise::bad_input(py, format!("listen: \"{listen}\" is no ADDRESS:PORT"))
            })?;
        }
        locked(py, &self.inner, |live| {
            let stage = live.arm.rig().scene_info().map_err(own)?;
            let board = Telemetry::new(stage);
            let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
            let server = serve(Shared::clone(&board), Shared::clone(&driver_lock), &options);
            let server = server.map_err(own)?;
            let said = server.invitation();
            live.page = Some(Page { board, driver_lock, server, shown: Shown::default() });
            live.show()?;
            Ok::<_, ArmError>(said)
        })
    }

    /// What was ordered on the page since the last question: save, discard, stop, …
    fn orders(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        locked(py, &self.inner, |live| {
            let mut orders = Vec::new();
            while let Some(order) =
                live.page.as_ref().and_then(|page| page.driver_lock.next_order())
            {
                orders.push(format!("{order:?}").to_lowercase());
            }
            Ok::<_, ArmError>(orders)
        })
    }

    fn close_page(&self, py: Python<'_>) -> PyResult<()> {
        locked(py, &self.inner, |live| {
            if let Some(page) = live.page.take() {
                page.server.stop();
            }
            Ok::<_, ArmError>(())
        })
    }

    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let inner = locked(py, &self.inner, |live| live.arm.rig().world().snapshot(0))?;
        Ok(Snapshot { inner })
    }
}
