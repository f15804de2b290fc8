//! World: N environments of a scene.

use std::sync::{Arc, Mutex, PoisonError};

use citrange_core::{DictState, TensorState};
use citrange_sim::{CompiledScene, SetReport, SimError, StateQuery, Threads, load_scene};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::guard::{Broken, guarded, locked, patient};
use crate::live::Table;
use crate::raise::bad_input;
use crate::snapshot::Snapshot;
use crate::states::{Precision, cameras, from_py, names_of, numbers, to_py};
use crate::{dicts, live};

/// Physics steps between two looks for Ctrl-C: as many as take some milliseconds.
const STEPS_AT_ONCE: u32 = 64;

/// N environments of a scene: states in, states out.
#[pyclass(frozen, subclass, module = "citrange._citrange")]
pub(crate) struct World {
    inner: Mutex<citrange_sim::World>,
    scene: Arc<CompiledScene>,
    num_envs: usize,
    /// Names of everything, for states that leave them out.
    names: TensorState,
}

impl World {
    pub(crate) fn of(
        scene: Arc<CompiledScene>,
        num_envs: usize,
        threads: Option<usize>,
    ) -> Result<Self, SimError> {
        let threads = threads.map_or(Threads::Auto, Threads::Exactly);
        let mut world = citrange_sim::World::new(Arc::clone(&scene), num_envs, threads)?;
        let names = names_of(&mut world)?;
        Ok(Self { inner: Mutex::new(world), scene, num_envs, names })
    }

    pub(crate) fn restore_now(&self, snapshot: &citrange_core::Snapshot) -> Result<(), SimError> {
        let mut world = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        world.restore(0, snapshot)
    }
}

/// What a state that was set did not take, as words.
pub(crate) fn left_out(report: SetReport) -> Vec<String> {
    report.observations
}

/// Reads the state of a world, in one of two modes.
pub(crate) struct Asked {
    pub(crate) env_ids: Option<Vec<usize>>,
    pub(crate) query: StateQuery,
    pub(crate) precision: Precision,
    pub(crate) is_dict: bool,
}

impl Asked {
    pub(crate) fn new(
        py: Python<'_>,
        env_ids: Option<Vec<usize>>,
        mode: &str,
        named: Option<&Bound<'_, PyAny>>,
        extras: Option<Vec<String>>,
        dtype: &str,
    ) -> PyResult<Self> {
        let is_dict = match mode {
            "tensor" => false,
            "dict" => true,
            other => {
                let text = format!("mode: \"{other}\"; tensor or dict are possible");
                return Err(bad_input(py, text));
            }
        };
        let query = StateQuery { cameras: cameras(named)?, extras: extras.unwrap_or_default() };
        Ok(Self { env_ids, query, precision: Precision::named(py, dtype)?, is_dict })
    }

    /// What Python gets of a state.
    pub(crate) fn shown<'py>(
        &self,
        py: Python<'py>,
        state: TensorState,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !self.is_dict {
            return Ok(to_py(py, state, self.precision)?.into_any());
        }
        let states: Vec<DictState> =
            state.to_dicts().map_err(|error| bad_input(py, error.to_string()))?;
        let states = states.into_iter().map(|state| dicts::to_py(py, state));
        Ok(PyList::new(py, states.collect::<PyResult<Vec<_>>>()?)?.into_any())
    }
}

/// A state from Python, of either kind.
pub(crate) enum Given {
    Tensor(TensorState),
    Dicts(Vec<DictState>),
}

impl Given {
    pub(crate) fn read(state: &Bound<'_, PyAny>, known: &TensorState) -> PyResult<Self> {
        if state.is_instance_of::<PyList>() {
            let states = state.try_iter()?.enumerate();
            let states =
                states.map(|(env, state)| dicts::from_py(&state?, &format!("state[{env}]")));
            return states.collect::<PyResult<Vec<_>>>().map(Self::Dicts);
        }
        from_py(state, known).map(Self::Tensor)
    }

    pub(crate) fn set(
        &self,
        world: &mut citrange_sim::World,
        env_ids: Option<&[usize]>,
    ) -> Result<SetReport, SimError> {
        match self {
            Self::Tensor(state) => world.set_state(state, env_ids),
            Self::Dicts(states) => world.set_dict_states(states, env_ids),
        }
    }
}

/// Numbers of an array, row by row, with their shape.
fn block(array: &Bound<'_, PyAny>, name: &str) -> PyResult<(Vec<f64>, Vec<usize>)> {
    if let Ok(array) = array.extract::<PyReadonlyArrayDyn<'_, f64>>()
        && let Ok(numbers) = array.as_slice()
        && array.is_c_contiguous()
    {
        return Ok((numbers.to_vec(), array.shape().to_vec()));
    }
    let array = numbers(array, name)?;
    let shape = array.shape().to_vec();
    Ok((array.iter().copied().collect(), shape))
}

#[pymethods]
impl World {
    #[new]
    #[pyo3(signature = (scene, num_envs = 1, threads = None))]
    fn new(py: Python<'_>, scene: &str, num_envs: usize, threads: Option<usize>) -> PyResult<Self> {
        guarded(py, || {
            let scene = Arc::new(CompiledScene::new(&load_scene(scene)?)?);
            Self::of(scene, num_envs, threads)
        })
    }

    #[getter]
    fn num_envs(&self) -> usize {
        self.num_envs
    }

    #[getter]
    fn scene(&self) -> &str {
        &self.scene.scene.name
    }

    #[getter]
    fn model_hash(&self) -> &str {
        &self.scene.model_hash
    }

    #[getter]
    fn robots(&self) -> Vec<String> {
        self.scene.robot_names().map(str::to_owned).collect()
    }

    #[getter]
    fn objects(&self) -> Vec<String> {
        self.scene.object_names().map(str::to_owned).collect()
    }

    #[getter]
    fn cameras(&self) -> Vec<String> {
        self.scene.camera_names().map(str::to_owned).collect()
    }

    #[getter]
    fn rates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rates = self.scene.scene.rates;
        let dict = PyDict::new(py);
        dict.set_item("physics_hz", rates.physics_hz)?;
        dict.set_item("control_hz", rates.control_hz)?;
        dict.set_item("frame_hz", rates.frame_hz)?;
        Ok(dict)
    }

    #[getter]
    fn xml(&self) -> &str {
        &self.scene.xml
    }

    fn joint_names(&self, py: Python<'_>, robot: &str) -> PyResult<Vec<String>> {
        let names = self.scene.joint_names(robot);
        let names = names.map_err(|error| crate::raise::raise(py, &error))?;
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    #[pyo3(signature = (env_ids, mode, cameras, extras, dtype))]
    fn get_state<'py>(
        &self,
        py: Python<'py>,
        env_ids: Option<Vec<usize>>,
        mode: &str,
        cameras: Option<&Bound<'py, PyAny>>,
        extras: Option<Vec<String>>,
        dtype: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let asked = Asked::new(py, env_ids, mode, cameras, extras, dtype)?;
        let state = locked(py, &self.inner, |world| {
            world.get_state(asked.env_ids.as_deref(), &asked.query)
        })?;
        asked.shown(py, state)
    }

    fn set_state(
        &self,
        py: Python<'_>,
        state: &Bound<'_, PyAny>,
        env_ids: Option<Vec<usize>>,
    ) -> PyResult<Vec<String>> {
        let given = Given::read(state, &self.names)?;
        let report = locked(py, &self.inner, |world| given.set(world, env_ids.as_deref()))?;
        Ok(left_out(report))
    }

    fn live<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let this = slf.get();
        let table = locked(slf.py(), &this.inner, |world| Ok::<_, SimError>(Table::of(world)))?;
        // SAFETY: the world is part of this object from its beginning to its end.
        #[allow(unsafe_code)]
        unsafe {
            live::shown(slf.as_any(), table, &this.scene)
        }
    }

    fn reset(
        &self,
        py: Python<'_>,
        seed: u64,
        episodes: Vec<u64>,
        env_ids: Option<Vec<usize>>,
    ) -> PyResult<()> {
        let envs = env_ids.unwrap_or_else(|| (0..self.num_envs).collect());
        if envs.len() != episodes.len() {
            let text = format!("episodes: {} for {} environments", episodes.len(), envs.len());
            return Err(bad_input(py, text));
        }
        locked(py, &self.inner, |world| {
            let mut all = envs.iter().zip(&episodes);
            all.try_for_each(|(env, episode)| world.reset_env(*env, seed, *episode))
        })
    }

    fn set_joint_targets(
        &self,
        py: Python<'_>,
        robot: &str,
        targets: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (numbers, shape) = block(targets, "targets")?;
        let joints = self.names.robots.get(robot).map_or(0, |robot| robot.joint_names.len());
        // One row for all environments is a row for each.
        let all = match shape.as_slice() {
            [only] if *only == joints => numbers.repeat(self.num_envs),
            [1, only] if *only == joints => numbers.repeat(self.num_envs),
            _ => numbers,
        };
        locked(py, &self.inner, |world| world.set_joint_targets(robot, &all))
    }

    fn step(&self, py: Python<'_>, count: u32) -> PyResult<()> {
        patient(py, &self.inner, |world, patience| {
            let mut left = count;
            while left > 0 {
                let now = left.min(STEPS_AT_ONCE);
                world.step(now).map_err(Broken::Failed)?;
                left -= now;
                patience.check().map_err(Broken::Signal)?;
            }
            Ok(())
        })
    }

    fn rollout(&self, py: Python<'_>, count: u32, commands: &Bound<'_, PyAny>) -> PyResult<()> {
        let (numbers, _) = block(commands, "commands")?;
        locked(py, &self.inner, |world| world.rollout(count, &numbers))
    }

    fn steps(&self, py: Python<'_>, env: usize) -> PyResult<u64> {
        locked(py, &self.inner, |world| Ok::<_, SimError>(world.steps(env)))
    }

    fn snapshot(&self, py: Python<'_>, env: usize) -> PyResult<Snapshot> {
        let inner = locked(py, &self.inner, |world| world.snapshot(env))?;
        Ok(Snapshot { inner })
    }

    fn restore(&self, py: Python<'_>, env: usize, snapshot: &Bound<'_, PyAny>) -> PyResult<()> {
        let snapshot = Snapshot::of(snapshot)?;
        locked(py, &self.inner, |world| world.restore(env, &snapshot))
    }

    fn energy(&self, py: Python<'_>, env: usize) -> PyResult<f64> {
        locked(py, &self.inner, |world| world.energy(env))
    }

    fn __repr__(&self) -> String {
        format!("<citrange.World of {}, {} environments>", self.scene.scene.name, self.num_envs)
    }
}
