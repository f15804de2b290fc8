//! A Python function as a Pilot of our loop: what it decides is recorded and exact.

use citrange_core::pilot::{Notes, Start, Verdict};
use citrange_core::{BoxError, Command, Observation, Outcome, Pilot, RigSpec};
use citrange_episodes::RunContext;
use citrange_episodes::fly::{FlyOptions, fly};
use ndarray::Array3;
use numpy::{IntoPyArray as _, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::guard::stoppable;
use crate::verbs::{Listener, Record};

/// Calls a Python function once a frame (or tick); its answer holds until the next call.
struct Function {
    function: Py<PyAny>,
    /// Told that an episode begins, if it wants to be.
    reset: Option<Py<PyAny>>,
    name: String,
    every_tick: bool,
    spec: Option<RigSpec>,
    held: Vec<f64>,
}

impl Function {
    /// What the function is shown.
    fn shown<'py>(
        &self,
        py: Python<'py>,
        spec: &RigSpec,
        seen: &Observation,
    ) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("tick", seen.tick)?;
        dict.set_item("frame", spec.rates.frame_of(seen.tick))?;
        dict.set_item("time_s", seen.at_ns as f64 * 1e-9)?;
        dict.set_item("joint_pos", PyArray1::from_slice(py, &seen.joint_pos))?;
        dict.set_item("joint_vel", PyArray1::from_slice(py, &seen.joint_vel))?;
        dict.set_item("targets", PyArray1::from_slice(py, &self.held))?;
        dict.set_item("tool_m", seen.wrist_pos_m)?;
        let objects = PyDict::new(py);
        for (of, object) in spec.objects.iter().zip(&seen.objects) {
            let Some(object) = object else { continue };
            let state = PyDict::new(py);
            state.set_item("pos", PyArray1::from_slice(py, &object.pose.pos_m))?;
            state.set_item("rot", PyArray1::from_slice(py, &object.pose.quat_wxyz))?;
            state.set_item("vel", PyArray1::from_slice(py, &object.lin_vel_m_s))?;
            objects.set_item(&of.name, state)?;
        }
        dict.set_item("objects", objects)?;
        let pictures = PyDict::new(py);
        for (camera, image) in spec.cameras.iter().zip(&seen.images) {
            let Some(picture) = &image.rgb else { continue };
            let Ok(pixels) = picture.pixels() else { continue };
            let shape = (camera.height_px as usize, camera.width_px as usize, 3);
            if let Ok(array) = Array3::from_shape_vec(shape, pixels.to_vec()) {
                pictures.set_item(&camera.name, array.into_pyarray(py))?;
            }
        }
        dict.set_item("pictures", pictures)?;
        Ok(dict)
    }

    /// What the function answered: targets, or how the episode ended.
    fn answer(&mut self, answer: &Bound<'_, PyAny>) -> PyResult<Option<Outcome>> {
        let py = answer.py();
        if answer.is_none() {
            return Ok(None);
        }
        if let Ok(done) = answer.extract::<bool>() {
            let reason = if done { "done" } else { "gave_up" };
            return Ok(Some(Outcome { success: Some(done), reason: reason.to_owned() }));
        }
        let numbers = crate::states::numbers(answer, "the pilot's answer")?;
        if numbers.len() != self.held.len() {
            let (found, needed) = (numbers.len(), self.held.len());
            let text = format!("the pilot's answer: {found} numbers; {needed} targets are needed");
            return Err(crate::raise::bad_input(py, text));
        }
        self.held = numbers.iter().copied().collect();
        Ok(None)
    }
}

impl Pilot for Function {
    fn name(&self) -> &str {
        &self.name
    }

    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        self.spec = Some(start.spec.clone());
        self.held = start.targets.to_vec();
        let Some(reset) = &self.reset else { return Ok(()) };
        Python::attach(|py| reset.call0(py).map(|_| ())).map_err(|error| error.to_string().into())
    }

    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        let Some(spec) = self.spec.take() else { return Err("no episode has begun".into()) };
        let mut verdict = Verdict::Go;
        if self.every_tick || spec.rates.is_frame(seen.tick) {
            let outcome = Python::attach(|py| {
                let shown = self.shown(py, &spec, seen)?;
                let answer = self.function.call1(py, (shown,))?;
                self.answer(answer.bind(py))
            });
            if let Some(outcome) = outcome.map_err(|error| error.to_string())? {
                verdict = Verdict::Done(outcome);
            }
        }
        command.pos.copy_from_slice(&self.held);
        self.spec = Some(spec);
        Ok(verdict)
    }
}

/// Where the episodes of a function go.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Flight {
    scene: Option<String>,
    out: Option<std::path::PathBuf>,
    resume: bool,
    first: u64,
    episodes: u64,
    seconds: Option<f64>,
    speed: Option<f64>,
    pictures: bool,
    name: String,
    every_tick: bool,
}

/// Lets a Python function fly episodes; answers how each went.
#[pyfunction]
pub(crate) fn run<'py>(
    py: Python<'py>,
    function: Py<PyAny>,
    reset: Option<Py<PyAny>>,
    flight: Flight,
    record: Record,
    on_event: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let options = FlyOptions {
        scene: flight.scene,
        record: record.options(py)?,
        out: flight.out,
        resume: flight.resume,
        first: flight.first,
        episodes: flight.episodes,
        seconds: flight.seconds,
        speed: flight.speed,
        pictures: flight.pictures,
    };
    let (name, every_tick) = (flight.name, flight.every_tick);
    let mut pilot = Function { function, reset, name, every_tick, spec: None, held: Vec::new() };
    let listener = Listener { on_event };
    let reports = stoppable(py, |stop| {
        let ctx = RunContext { reporter: &listener, stop };
        fly(&options, &mut pilot, ctx)
    })?;
    let rows = reports.iter().map(|report| {
        let dict = PyDict::new(py);
        dict.set_item("success", report.outcome.success)?;
        dict.set_item("reason", &report.outcome.reason)?;
        dict.set_item("frames", report.frames)?;
        dict.set_item("ticks", report.ticks)?;
        Ok(dict)
    });
    PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
}
