//! Recorded datasets: rows, pictures, and tapes with the complete state of every frame.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use citrange_core::{Classified, ErrorKind};
use citrange_lerobot::Column;
use citrange_sim::CompiledScene;
use citrange_tape::{Episode, TapeError};
use ndarray::{Array2, Array3};
use numpy::{IntoPyArray as _, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::guard::{guarded, locked};
use crate::json;
use crate::raise::{bad_input, exception};
use crate::snapshot::Snapshot;
use crate::world::World;

/// A dataset on disk.
#[pyclass(frozen, module = "citrange._citrange")]
pub(crate) struct Dataset {
    inner: Mutex<citrange_tape::Dataset>,
    root: PathBuf,
}

/// A column as an array, a row per frame.
fn column<'py>(py: Python<'py>, column: Column, frames: usize) -> PyResult<Bound<'py, PyAny>> {
    fn rows<'py, T: numpy::Element>(
        py: Python<'py>,
        numbers: Vec<T>,
        frames: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let width = numbers.len() / frames.max(1);
        if width <= 1 {
            return Ok(PyArray1::from_vec(py, numbers).into_any());
        }
        let array = Array2::from_shape_vec((frames, width), numbers);
        let array = array.map_err(|error| bad_input(py, error.to_string()))?;
        Ok(array.into_pyarray(py).into_any())
    }
    match column {
        Column::F32(numbers) => rows(py, numbers, frames),
        Column::F64(numbers) => rows(py, numbers, frames),
        Column::I64(numbers) => rows(py, numbers, frames),
        Column::Bool(flags) => rows(py, flags, frames),
        Column::Text(texts) => Ok(PyList::new(py, texts)?.into_any()),
        Column::Png(pictures) => {
            let all = pictures.iter().map(|png| pyo3::types::PyBytes::new(py, png));
            Ok(PyList::new(py, all)?.into_any())
        }
    }
}

/// Why a picture cannot be had.
#[derive(Debug)]
struct NoPicture(String, ErrorKind);

impl std::fmt::Display for NoPicture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoPicture {}

impl Classified for NoPicture {
    fn kind(&self) -> ErrorKind {
        self.1
    }
}

impl From<TapeError> for NoPicture {
    fn from(error: TapeError) -> Self {
        Self(error.to_string(), error.kind())
    }
}

#[pymethods]
impl Dataset {
    #[new]
    fn new(py: Python<'_>, root: PathBuf) -> PyResult<Self> {
        let inner = guarded(py, || citrange_tape::Dataset::open(&root))?;
        Ok(Self { inner: Mutex::new(inner), root })
    }

    #[getter]
    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    fn __len__(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// What info.json says, and the units of joints.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dataset = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (dict, info) = (PyDict::new(py), dataset.lerobot.info());
        dict.set_item("fps", info.fps)?;
        dict.set_item("robot_type", info.robot_type.clone())?;
        dict.set_item("cameras", dataset.camera_names())?;
        dict.set_item("tasks", dataset.lerobot.tasks())?;
        let lengths = dataset.lerobot.episodes().iter().map(|episode| episode.length);
        dict.set_item("lengths", lengths.collect::<Vec<_>>())?;
        let units = dataset.index.units.iter().map(|u| (u.name.clone(), u.unit.to_string()));
        dict.set_item("units", units.collect::<Vec<_>>())?;
        Ok(dict)
    }

    /// Rows of an episode by feature.
    fn rows<'py>(&self, py: Python<'py>, episode: usize) -> PyResult<Bound<'py, PyDict>> {
        let data = locked(py, &self.inner, |dataset| {
            Ok::<_, TapeError>(dataset.lerobot.read_episode(episode)?)
        })?;
        let dict = PyDict::new(py);
        for (name, numbers) in data.columns {
            dict.set_item(name, column(py, numbers, data.length)?)?;
        }
        Ok(dict)
    }

    /// What our side knows of an episode; `None` for one of others.
    fn entry<'py>(&self, py: Python<'py>, episode: usize) -> PyResult<Bound<'py, PyAny>> {
        let entry = locked(py, &self.inner, |dataset| {
            dataset.check_episode(episode)?;
            Ok::<_, TapeError>(dataset.entry(episode).cloned())
        })?;
        let value = serde_json::to_value(entry).unwrap_or_default();
        json::to_py(py, &value)
    }

    fn task(&self, py: Python<'_>, episode: usize) -> PyResult<String> {
        locked(py, &self.inner, |dataset| {
            dataset.check_episode(episode)?;
            let tasks = &dataset.lerobot.episodes()[episode].tasks;
            Ok::<_, TapeError>(tasks.first().cloned().unwrap_or_default())
        })
    }

    /// The picture of a camera at a frame, (height, width, 3).
    fn picture<'py>(
        &self,
        py: Python<'py>,
        episode: usize,
        camera: &str,
        frame: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (rgb, height, width) = locked(py, &self.inner, |dataset| {
            let pictures = dataset.pictures(episode, camera)?;
            let mut rgb = vec![0; pictures.frame_bytes()];
            pictures
                .read_frame(frame, &mut rgb)
                .map_err(|error| NoPicture(error.to_string(), ErrorKind::BadInput))?;
            Ok::<_, NoPicture>((rgb, pictures.height(), pictures.width()))
        })?;
        let picture = Array3::from_shape_vec((height, width, 3), rgb);
        let picture = picture.map_err(|error| bad_input(py, error.to_string()))?;
        Ok(picture.into_pyarray(py).into_any())
    }

    /// The tape of an episode; `None` where it has none.
    fn tape(&self, py: Python<'_>, episode: usize) -> PyResult<Option<Tape>> {
        let tape = locked(py, &self.inner, |dataset| dataset.tape(episode))?;
        Ok(tape.map(|(tape, shown)| Tape { inner: Arc::new(tape), shown }))
    }
}

/// An episode with everything that was kept.
#[pyclass(frozen, module = "citrange._citrange")]
pub(crate) struct Tape {
    inner: Arc<Episode>,
    shown: Range<usize>,
}

impl Tape {
    fn snapshot_at(&self, py: Python<'_>, frame: usize) -> PyResult<citrange_core::Snapshot> {
        let at = (frame <= self.shown.len()).then(|| self.shown.start + frame);
        let snapshot = at.and_then(|at| self.inner.snapshot(at));
        snapshot.ok_or_else(|| {
            let len = self.shown.len();
            bad_input(py, format!("frame {frame}: there are 0 to {len}, the last is the end"))
        })
    }
}

#[pymethods]
impl Tape {
    fn __len__(&self) -> usize {
        self.shown.len()
    }

    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = serde_json::to_value(&self.inner.header).unwrap_or_default();
        json::to_py(py, &value)
    }

    /// Events with the control tick that each belongs to.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = serde_json::to_value(&self.inner.events).unwrap_or_default();
        json::to_py(py, &value)
    }

    /// Joint positions and velocities at frames; targets asked for and sent at ticks.
    fn motion<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let put = |name: &str, rows: &mut dyn Iterator<Item = &Vec<f64>>| -> PyResult<()> {
            let (mut numbers, mut count) = (Vec::new(), 0);
            for row in rows {
                numbers.extend_from_slice(row);
                count += 1;
            }
            let array = Array2::from_shape_vec((count, numbers.len() / count.max(1)), numbers);
            let array = array.map_err(|error| bad_input(py, error.to_string()))?;
            dict.set_item(name, array.into_pyarray(py))
        };
        let rates = self.inner.header.rig.rates;
        let frames = &self.inner.frames[self.shown.clone()];
        let first = rates.first_tick(self.shown.start as u64) as usize;
        let last = rates.first_tick(self.shown.end as u64) as usize;
        let ticks = self.inner.ticks.get(first..last.min(self.inner.ticks.len()));
        let ticks = ticks.unwrap_or_default();
        put("joint_pos", &mut frames.iter().map(|frame| &frame.joint_pos))?;
        put("joint_vel", &mut frames.iter().map(|frame| &frame.joint_vel))?;
        put("requested", &mut ticks.iter().map(|tick| &tick.requested))?;
        put("limited", &mut ticks.iter().map(|tick| &tick.limited))?;
        put("executed", &mut ticks.iter().map(|tick| &tick.executed))?;
        let names = self.inner.header.rig.joints.iter().map(|joint| joint.name.clone());
        dict.set_item("joint_names", names.collect::<Vec<_>>())?;
        Ok(dict)
    }

    /// The complete state at a frame; the one after the last is the end.
    fn snapshot(&self, py: Python<'_>, frame: usize) -> PyResult<Snapshot> {
        Ok(Snapshot { inner: self.snapshot_at(py, frame)? })
    }

    /// A world in exactly the model of the recording, in the state of a frame.
    fn world(&self, py: Python<'_>, frame: usize) -> PyResult<World> {
        let snapshot = self.snapshot_at(py, frame)?;
        let header = &self.inner.header;
        let Some(scene) = header.scene.clone() else {
            let text = "the episode is of a real robot: it has no model to simulate";
            return Err(exception(py, ErrorKind::BadInput, text));
        };
        let model = &self.inner.model;
        let world = guarded(py, || {
            let robots = header.robots.clone();
            let scene = CompiledScene::from_mjb(scene, robots, model, &header.model_hash)?;
            let world = World::of(Arc::new(scene), 1, Some(1))?;
            world.restore_now(&snapshot)?;
            Ok::<_, citrange_sim::SimError>(world)
        })?;
        Ok(world)
    }

    fn __repr__(&self) -> String {
        format!("<tape of {} frames, {}>", self.shown.len(), self.inner.header.uid)
    }
}

/// Puts datasets together; parts of one run in the order of their indices.
#[pyfunction]
pub(crate) fn merge(py: Python<'_>, datasets: Vec<PathBuf>, out: PathBuf) -> PyResult<()> {
    crate::guard::stoppable(py, |stop| {
        let opened = datasets.iter().map(|path| citrange_tape::Dataset::open(path));
        let opened = opened.collect::<Result<Vec<_>, _>>()?;
        let ctx = citrange_episodes::RunContext { reporter: &citrange_episodes::Silent, stop };
        citrange_episodes::edit::merge(&opened, &out, false, ctx).map(|_| ())
    })
}
