//! Envs: N environments with a job, as `citrange.gym` steps them.

use std::sync::{Mutex, PoisonError};

use citrange_core::TensorState;
use citrange_env::{
    Actions, Autoreset, Batch, CameraPictures, EnvError, EnvSettings, Hold, Reward, Seeding,
};
use citrange_sim::{StateQuery, Threads, load_scene};
use ndarray::ArrayView1;
use numpy::{Element, PyArrayDyn, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::guard::{guarded, locked};
use crate::live;
use crate::raise::bad_input;
use crate::snapshot::Snapshot;
use crate::states::{cameras, names_of};
use crate::world::{Asked, Given, left_out};

/// N environments with a job.
#[pyclass(frozen, module = "citrange._citrange")]
pub(crate) struct Envs {
    inner: Mutex<Batch>,
    num_envs: usize,
    width: usize,
    joints: usize,
    names: TensorState,
}

/// One of several words.
fn word<T: Copy>(py: Python<'_>, what: &str, given: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(name, _)| *name == given).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let hint = citrange_core::names::suggestion(given, known.iter().map(|(name, _)| *name));
        bad_input(py, format!("{what}: \"{given}\", {hint}"))
    })
}

/// What is chosen of environments.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Chosen<'py> {
    robots: Option<Vec<String>>,
    hold: String,
    actions: String,
    reward: String,
    autoreset: String,
    max_steps: Option<u32>,
    ends_when_done: bool,
    cameras: Option<Bound<'py, PyAny>>,
    picture_px: Option<[u32; 2]>,
    threads: Option<usize>,
}

impl Chosen<'_> {
    fn settings(self, py: Python<'_>) -> PyResult<EnvSettings> {
        let holds = [("frame", Hold::Frame), ("tick", Hold::Tick)];
        let actions = [("targets", Actions::Targets), ("deltas", Actions::Deltas)];
        let rewards = [("sparse", Reward::Sparse), ("dense", Reward::Dense)];
        let modes = [
            ("SameStep", Autoreset::SameStep),
            ("NextStep", Autoreset::NextStep),
            ("Disabled", Autoreset::Disabled),
        ];
        Ok(EnvSettings {
            robots: self.robots,
            hold: word(py, "step", &self.hold, &holds)?,
            actions: word(py, "action", &self.actions, &actions)?,
            reward: word(py, "reward", &self.reward, &rewards)?,
            autoreset: word(py, "autoreset_mode", &self.autoreset, &modes)?,
            max_steps: self.max_steps,
            ends_when_done: self.ends_when_done,
            cameras: cameras(self.cameras.as_ref())?,
            picture_px: self.picture_px,
            threads: self.threads.map_or(Threads::Auto, Threads::Exactly),
        })
    }
}

impl Envs {
    /// An array of a block of the batch: its memory itself, or a copy of it.
    fn array<'py, T: Element + Copy>(
        slf: &Bound<'py, Self>,
        numbers: &[T],
        shape: &[usize],
        copy: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy {
            let array = ArrayView1::from(numbers)
                .into_dyn()
                .to_shape(shape)
                .map(|array| PyArrayDyn::from_array(slf.py(), &array).into_any());
            return array.map_err(|error| bad_input(slf.py(), error.to_string()));
        }
        // SAFETY: the blocks of a batch stay where they are while it lives, and it is part of this
        // object from its beginning to its end.
        #[allow(unsafe_code)]
        unsafe {
            live::rows(slf.as_any(), numbers, shape)
        }
    }

    fn shown_pictures<'py>(
        slf: &Bound<'py, Self>,
        pictures: &CameraPictures,
        copy: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(slf.py());
        let ([down, across], count) = (pictures.size_px, slf.get().num_envs);
        if !pictures.rgb.is_empty() {
            let rgb = Self::array(slf, &pictures.rgb, &[count, down, across, 3], copy)?;
            dict.set_item("rgb", rgb)?;
        }
        if !pictures.depth.is_empty() {
            let depth = Self::array(slf, &pictures.depth, &[count, down, across], copy)?;
            dict.set_item("depth", depth)?;
        }
        if !pictures.ids.is_empty() {
            dict.set_item("ids", Self::array(slf, &pictures.ids, &[count, down, across], copy)?)?;
        }
        Ok(dict)
    }
}

#[pymethods]
impl Envs {
    #[new]
    fn new(py: Python<'_>, scene: &str, num_envs: usize, chosen: Chosen<'_>) -> PyResult<Self> {
        let settings = chosen.settings(py)?;
        guarded(py, move || {
            let source = load_scene(scene)?;
            let mut batch = Batch::new(source, num_envs, settings)?;
            let (width, joints) = (batch.observation_names().len(), batch.action_limits().len());
            let names = names_of(batch.world_mut())?;
            Ok::<_, EnvError>(Self { inner: Mutex::new(batch), num_envs, width, joints, names })
        })
    }

    #[getter]
    fn num_envs(&self) -> usize {
        self.num_envs
    }

    /// Scene, task, rates, names and limits: all that does not change.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let batch = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (dict, scene) = (PyDict::new(py), batch.world().scene());
        let task = if scene.scene.task.is_empty() { &scene.scene.title } else { &scene.scene.task };
        dict.set_item("scene", &scene.scene.name)?;
        dict.set_item("task", task)?;
        dict.set_item("model_hash", &scene.model_hash)?;
        dict.set_item("has_job", scene.scene.job.is_some())?;
        dict.set_item("steps_per_second", batch.steps_per_second())?;
        dict.set_item("cameras", scene.camera_names().collect::<Vec<_>>())?;
        let seen = batch.observation_names().iter().map(|e| (e.name.clone(), e.unit));
        dict.set_item("observation", seen.collect::<Vec<_>>())?;
        let limits = batch.action_limits().iter().map(|l| (l.name.clone(), l.unit, l.low, l.high));
        dict.set_item("action", limits.collect::<Vec<_>>())?;
        let sizes = PyDict::new(py);
        for (name, pictures) in batch.pictures() {
            sizes.set_item(name, pictures.size_px)?;
        }
        dict.set_item("picture_px", sizes)?;
        Ok(dict)
    }

    /// What joint values are as a recorded dataset shows them: name, zero and scale of each,
    /// `shown = (position - zero) * scale`.
    fn units(&self, py: Python<'_>, unit: &str) -> PyResult<Vec<(String, f64, f64)>> {
        let unit = crate::verbs::unit(py, unit)?;
        let batch = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let units = unit.of(batch.spec()).map_err(|text| bad_input(py, text))?;
        Ok(units.into_iter().map(|unit| (unit.name, unit.zero, unit.scale)).collect())
    }

    #[pyo3(signature = (seed = None, seeds = None))]
    fn reset(&self, py: Python<'_>, seed: Option<u64>, seeds: Option<Vec<u64>>) -> PyResult<()> {
        let seeding = match (seed, seeds) {
            (_, Some(seeds)) => Seeding::Each(seeds),
            (Some(seed), None) => Seeding::Run(seed),
            (None, None) => Seeding::Next,
        };
        locked(py, &self.inner, |batch| batch.reset(&seeding))
    }

    #[pyo3(signature = (env_ids, seeds = None))]
    fn reset_envs(
        &self,
        py: Python<'_>,
        env_ids: Vec<usize>,
        seeds: Option<Vec<u64>>,
    ) -> PyResult<()> {
        locked(py, &self.inner, |batch| batch.reset_envs(&env_ids, seeds.as_deref()))
    }

    fn begin_episode(&self, py: Python<'_>, env: usize, seed: u64, episode: u64) -> PyResult<()> {
        locked(py, &self.inner, |batch| batch.begin_episode(env, seed, episode))
    }

    /// Steps physics, looks and judges; ends and beginnings come with `settle`.
    fn advance(&self, py: Python<'_>, actions: PyReadonlyArrayDyn<'_, f32>) -> PyResult<()> {
        let numbers = actions.as_slice().map_err(|_| {
            bad_input(py, "actions: the array has gaps; numpy.ascontiguousarray closes them")
        })?;
        locked(py, &self.inner, |batch| batch.advance(numbers))
    }

    #[pyo3(signature = (terminated = None))]
    fn settle(&self, py: Python<'_>, terminated: Option<Vec<bool>>) -> PyResult<bool> {
        locked(py, &self.inner, |batch| {
            batch.settle(terminated.as_deref())?;
            Ok::<_, EnvError>(batch.ended().contains(&true))
        })
    }

    /// Both at once; whether an episode ended.
    fn step(&self, py: Python<'_>, actions: PyReadonlyArrayDyn<'_, f32>) -> PyResult<bool> {
        let numbers = actions.as_slice().map_err(|_| {
            bad_input(py, "actions: the array has gaps; numpy.ascontiguousarray closes them")
        })?;
        locked(py, &self.inner, |batch| {
            batch.step(numbers)?;
            Ok::<_, EnvError>(batch.ended().contains(&true))
        })
    }

    /// Observations, rewards, terminated, truncated.
    fn results<'py>(slf: &Bound<'py, Self>, copy: bool) -> PyResult<Bound<'py, PyTuple>> {
        let this = slf.get();
        let batch = this.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, width) = (this.num_envs, this.width);
        PyTuple::new(
            slf.py(),
            [
                Self::array(slf, batch.observations(), &[count, width], copy)?,
                Self::array(slf, batch.rewards(), &[count], copy)?,
                Self::array(slf, batch.terminated(), &[count], copy)?,
                Self::array(slf, batch.truncated(), &[count], copy)?,
            ],
        )
    }

    /// One of the blocks by its name.
    fn block<'py>(slf: &Bound<'py, Self>, name: &str, copy: bool) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        let batch = this.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let count = this.num_envs;
        let wide = [count, this.width];
        match name {
            "observations" => Self::array(slf, batch.observations(), &wide, copy),
            "final_observations" => Self::array(slf, batch.final_observations(), &wide, copy),
            "rewards" => Self::array(slf, batch.rewards(), &[count], copy),
            "terminated" => Self::array(slf, batch.terminated(), &[count], copy),
            "truncated" => Self::array(slf, batch.truncated(), &[count], copy),
            "success" => Self::array(slf, batch.success(), &[count], copy),
            "ended" => Self::array(slf, batch.ended(), &[count], copy),
            "targets" => Self::array(slf, batch.targets(), &[count, this.joints], true),
            other => Err(bad_input(slf.py(), format!("there is no block \"{other}\""))),
        }
    }

    fn pictures<'py>(
        slf: &Bound<'py, Self>,
        last: bool,
        copy: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let batch = slf.get().inner.lock().unwrap_or_else(PoisonError::into_inner);
        let all = if last { batch.final_pictures() } else { batch.pictures() };
        let dict = PyDict::new(slf.py());
        for (name, pictures) in all {
            dict.set_item(name, Self::shown_pictures(slf, pictures, copy)?)?;
        }
        Ok(dict)
    }

    fn episodes(&self) -> Vec<(u64, u64)> {
        let batch = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (0..self.num_envs).filter_map(|env| batch.episode(env)).collect()
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
        let state = locked(py, &self.inner, |batch| {
            batch.world_mut().get_state(asked.env_ids.as_deref(), &asked.query)
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
        let report = locked(py, &self.inner, |batch| {
            let report = given.set(batch.world_mut(), env_ids.as_deref())?;
            batch.look_again()?;
            Ok::<_, EnvError>(report)
        })?;
        Ok(left_out(report))
    }

    fn snapshot(&self, py: Python<'_>, env: usize) -> PyResult<Snapshot> {
        let inner = locked(py, &self.inner, |batch| batch.world().snapshot(env))?;
        Ok(Snapshot { inner })
    }

    fn restore(&self, py: Python<'_>, env: usize, snapshot: &Bound<'_, PyAny>) -> PyResult<()> {
        let snapshot = Snapshot::of(snapshot)?;
        locked(py, &self.inner, |batch| {
            batch.world_mut().restore(env, &snapshot)?;
            batch.look_again()
        })
    }

    /// The picture of a camera in one environment, for people.
    fn render<'py>(
        &self,
        py: Python<'py>,
        env: usize,
        camera: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let name = camera.to_owned();
        let query = StateQuery {
            cameras: [(name, citrange_sim::CameraQuery::RGB)].into(),
            ..StateQuery::default()
        };
        let mut state =
            locked(py, &self.inner, |batch| batch.world_mut().get_state(Some(&[env]), &query))?;
        let rgb = state.cameras.remove(camera).and_then(|camera| camera.rgb);
        let rgb = rgb.ok_or_else(|| bad_input(py, format!("camera: {camera} gave no picture")))?;
        let picture = rgb.index_axis_move(ndarray::Axis(0), 0);
        Ok(PyArrayDyn::from_owned_array(py, picture.into_dyn()).into_any())
    }

    fn __repr__(&self) -> String {
        format!("<citrange environments: {} of {} numbers>", self.num_envs, self.width)
    }
}
