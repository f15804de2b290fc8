//! TensorState between Rust and Python: arrays are handed over, not copied.

use std::collections::BTreeMap;

use citrange_core::{CameraState, Contact, Extra, ObjectState, RobotState, TensorState};
use citrange_sim::{CameraQuery, SimError, StateQuery, World};
use ndarray::{Array, Axis, Dimension};
use numpy::{IntoPyArray as _, PyArrayDyn, PyArrayMethods as _, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::raise::bad_input;

/// What numbers of a state are handed out as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    F64,
    F32,
}

impl Precision {
    pub(crate) fn named(py: Python<'_>, name: &str) -> PyResult<Self> {
        match name {
            "f64" | "float64" => Ok(Self::F64),
            "f32" | "float32" => Ok(Self::F32),
            other => Err(bad_input(py, format!("dtype: \"{other}\"; f64 or f32 are possible"))),
        }
    }
}

/// An array for Python: the same memory, or rounded anew.
fn handed<'py, D: Dimension>(
    py: Python<'py>,
    array: Array<f64, D>,
    precision: Precision,
) -> Bound<'py, PyAny> {
    match precision {
        Precision::F64 => array.into_pyarray(py).into_any(),
        Precision::F32 => array.mapv(|number| number as f32).into_pyarray(py).into_any(),
    }
}

fn set_array<'py, D: Dimension>(
    to: &Bound<'py, PyDict>,
    name: &str,
    array: Option<Array<f64, D>>,
    precision: Precision,
) -> PyResult<()> {
    match array {
        Some(array) => to.set_item(name, handed(to.py(), array, precision)),
        None => Ok(()),
    }
}

fn object<'py>(
    py: Python<'py>,
    state: ObjectState,
    precision: Precision,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    set_array(&dict, "root_state", state.root_state, precision)?;
    dict.set_item("body_names", state.body_names)?;
    set_array(&dict, "body_state", state.body_state, precision)?;
    dict.set_item("joint_names", state.joint_names)?;
    set_array(&dict, "joint_pos", state.joint_pos, precision)?;
    set_array(&dict, "joint_vel", state.joint_vel, precision)?;
    Ok(dict)
}

/// Contacts as dictionaries.
pub(crate) fn contacts<'py>(py: Python<'py>, list: &[Contact]) -> PyResult<Bound<'py, PyList>> {
    let rows = list.iter().map(|contact| {
        let dict = PyDict::new(py);
        dict.set_item("body_a", &contact.body_a)?;
        dict.set_item("body_b", &contact.body_b)?;
        dict.set_item("pos_m", contact.pos_m)?;
        dict.set_item("normal", contact.normal)?;
        dict.set_item("depth_m", contact.depth_m)?;
        dict.set_item("force_n", contact.force_n)?;
        Ok(dict)
    });
    PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
}

/// A camera's arrays; of one environment without the first axis.
pub(crate) fn camera<'py>(
    py: Python<'py>,
    state: CameraState,
    env: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    fn put<'py, T: numpy::Element, D: Dimension + ndarray::RemoveAxis>(
        dict: &Bound<'py, PyDict>,
        name: &str,
        array: Option<Array<T, D>>,
        env: Option<usize>,
    ) -> PyResult<()> {
        let (Some(array), py) = (array, dict.py()) else { return Ok(()) };
        match env {
            Some(env) => dict.set_item(name, array.index_axis_move(Axis(0), env).into_pyarray(py)),
            None => dict.set_item(name, array.into_pyarray(py)),
        }
    }
    let dict = PyDict::new(py);
    put(&dict, "rgb", state.rgb, env)?;
    put(&dict, "depth", state.depth, env)?;
    put(&dict, "instance_id_seg", state.instance_id_seg, env)?;
    dict.set_item("instance_id_seg_id2label", state.instance_id_seg_id2label)?;
    put(&dict, "instance_seg", state.instance_seg, env)?;
    dict.set_item("instance_seg_id2label", state.instance_seg_id2label)?;
    put(&dict, "pos", state.pos, env)?;
    put(&dict, "quat_world", state.quat_world, env)?;
    put(&dict, "intrinsics", state.intrinsics, env)?;
    Ok(dict)
}

/// The nested dictionary that `citrange.TensorState` wraps.
pub(crate) fn to_py<'py>(
    py: Python<'py>,
    state: TensorState,
    precision: Precision,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("num_envs", state.num_envs)?;
    let objects = PyDict::new(py);
    for (name, of) in state.objects {
        objects.set_item(name, object(py, of, precision)?)?;
    }
    let robots = PyDict::new(py);
    for (name, of) in state.robots {
        let dict = object(py, of.object, precision)?;
        set_array(&dict, "joint_pos_target", of.joint_pos_target, precision)?;
        set_array(&dict, "joint_vel_target", of.joint_vel_target, precision)?;
        set_array(&dict, "joint_effort_target", of.joint_effort_target, precision)?;
        robots.set_item(name, dict)?;
    }
    let cameras = PyDict::new(py);
    for (name, of) in state.cameras {
        cameras.set_item(name, camera(py, of, None)?)?;
    }
    let extras = PyDict::new(py);
    for (name, of) in state.extras {
        match of {
            Extra::Tensor(numbers) => extras.set_item(name, handed(py, numbers, precision))?,
            Extra::Contacts(lists) => {
                let lists = lists.iter().map(|list| contacts(py, list));
                extras.set_item(name, PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)?)?;
            }
        }
    }
    for (name, part) in
        [("objects", objects), ("robots", robots), ("cameras", cameras), ("extras", extras)]
    {
        all.set_item(name, part)?;
    }
    Ok(all)
}

/// An array of numbers from Python, whatever its type and strides.
pub(crate) fn numbers(
    object: &Bound<'_, PyAny>,
    path: &str,
) -> PyResult<Array<f64, ndarray::IxDyn>> {
    let py = object.py();
    if let Ok(array) = object.extract::<PyReadonlyArrayDyn<'_, f64>>() {
        return Ok(array.as_array().to_owned());
    }
    let asked = py.import("numpy")?.call_method1("asarray", (object, "f8"));
    let array =
        asked.map_err(|error| bad_input(py, format!("{path}: no array of numbers: {error}")))?;
    let array = array.cast::<PyArrayDyn<f64>>();
    let array = array.map_err(|_| bad_input(py, format!("{path}: no array of numbers")))?;
    Ok(array.readonly().as_array().to_owned())
}

/// Reads fields of one thing and refuses those that nobody knows.
struct Fields<'a, 'py> {
    of: &'a Bound<'py, PyAny>,
    path: String,
}

impl Fields<'_, '_> {
    fn array<D: Dimension>(&self, name: &str) -> PyResult<Option<Array<f64, D>>> {
        let py = self.of.py();
        if !self.of.contains(name)? || self.of.get_item(name)?.is_none() {
            return Ok(None);
        }
        let path = format!("{}.{name}", self.path);
        let array = numbers(&self.of.get_item(name)?, &path)?;
        let (found, wanted) = (array.ndim(), D::NDIM.unwrap_or_default());
        array.into_dimensionality::<D>().map(Some).map_err(|_| {
            bad_input(py, format!("{path}: {found} axes, {wanted} are needed (environments first)"))
        })
    }

    fn names(&self, name: &str) -> PyResult<Option<Vec<String>>> {
        if !self.of.contains(name)? || self.of.get_item(name)?.is_none() {
            return Ok(None);
        }
        let names = self.of.get_item(name)?.extract();
        names.map(Some).map_err(|_| {
            bad_input(self.of.py(), format!("{}.{name}: a list of names is needed", self.path))
        })
    }

    fn check(&self, known: &[&str]) -> PyResult<()> {
        for key in self.of.call_method0("keys")?.try_iter()? {
            let key = key?.to_string();
            if !known.contains(&key.as_str()) {
                let hint = citrange_core::names::suggestion(&key, known.iter().copied());
                let text = format!("{}: there is no field \"{key}\", {hint}", self.path);
                return Err(bad_input(self.of.py(), text));
            }
        }
        Ok(())
    }
}

const OBJECT: [&str; 6] =
    ["root_state", "body_names", "body_state", "joint_names", "joint_pos", "joint_vel"];
const TARGETS: [&str; 3] = ["joint_pos_target", "joint_vel_target", "joint_effort_target"];

fn object_from(fields: &Fields<'_, '_>, known: Option<&ObjectState>) -> PyResult<ObjectState> {
    let names = |given: Option<Vec<String>>, known: Option<&Vec<String>>| {
        given.filter(|names| !names.is_empty()).or_else(|| known.cloned()).unwrap_or_default()
    };
    Ok(ObjectState {
        root_state: fields.array("root_state")?,
        body_names: names(fields.names("body_names")?, known.map(|k| &k.body_names)),
        body_state: fields.array("body_state")?,
        joint_names: names(fields.names("joint_names")?, known.map(|k| &k.joint_names)),
        joint_pos: fields.array("joint_pos")?,
        joint_vel: fields.array("joint_vel")?,
    })
}

/// The TensorState that a nested dictionary says; names that it leaves out are those of `known`.
pub(crate) fn from_py(state: &Bound<'_, PyAny>, known: &TensorState) -> PyResult<TensorState> {
    let py = state.py();
    let mut all = TensorState::default();
    let things = |key: &str| -> PyResult<Vec<(String, Bound<'_, PyAny>)>> {
        if !state.contains(key)? {
            return Ok(Vec::new());
        }
        let items = state.get_item(key)?.call_method0("items")?;
        items.try_iter()?.map(|item| item?.extract()).collect()
    };
    for (name, of) in things("objects")? {
        let fields = Fields { of: &of, path: format!("objects.{name}") };
        fields.check(&OBJECT)?;
        all.objects.insert(name.clone(), object_from(&fields, known.objects.get(&name))?);
    }
    for (name, of) in things("robots")? {
        let fields = Fields { of: &of, path: format!("robots.{name}") };
        fields.check(&[&OBJECT[..], &TARGETS[..]].concat())?;
        let robot = RobotState {
            object: object_from(&fields, known.robots.get(&name).map(|robot| &robot.object))?,
            joint_pos_target: fields.array("joint_pos_target")?,
            joint_vel_target: fields.array("joint_vel_target")?,
            joint_effort_target: fields.array("joint_effort_target")?,
        };
        all.robots.insert(name, robot);
    }
    let rows = |object: &ObjectState| {
        let (root, bodies) = (&object.root_state, &object.body_state);
        let joints = object.joint_pos.as_ref().or(object.joint_vel.as_ref());
        root.as_ref().or(joints).map(|a| a.nrows()).or(bodies.as_ref().map(|a| a.shape()[0]))
    };
    let targets = |robot: &RobotState| {
        let all = [&robot.joint_pos_target, &robot.joint_vel_target, &robot.joint_effort_target];
        all.into_iter().flatten().next().map(|array| array.nrows())
    };
    let of_robot = |robot: &RobotState| rows(&robot.object).or(targets(robot));
    let count = all.objects.values().find_map(rows).or(all.robots.values().find_map(of_robot));
    let said = state.contains("num_envs")?.then(|| state.get_item("num_envs")).transpose()?;
    let said: Option<usize> = match said {
        Some(said) if !said.is_none() => Some(said.extract().map_err(|_| {
            bad_input(py, "num_envs: a number of environments, 1 or more, is needed")
        })?),
        _ => None,
    };
    all.num_envs = said.or(count).unwrap_or_default();
    Ok(all)
}

/// Which cameras, and what of each: names, or names with `rgb`, `depth`, `segmentation`, `pose`.
pub(crate) fn cameras(asked: Option<&Bound<'_, PyAny>>) -> PyResult<BTreeMap<String, CameraQuery>> {
    let mut all = BTreeMap::new();
    let Some(asked) = asked.filter(|asked| !asked.is_none()) else { return Ok(all) };
    let py = asked.py();
    if let Ok(dict) = asked.cast::<PyDict>() {
        for (name, kinds) in dict.iter() {
            let name: String = name.extract()?;
            let kinds: Vec<String> = match kinds.extract::<String>() {
                Ok(one) => one.split('+').map(str::to_owned).collect(),
                Err(_) => kinds.extract().map_err(|_| {
                    bad_input(py, format!("cameras.{name}: a list of kinds is needed"))
                })?,
            };
            let mut query = CameraQuery::POSE;
            for kind in kinds {
                match kind.as_str() {
                    "rgb" => query.rgb = true,
                    "depth" => query.depth = true,
                    "segmentation" | "ids" => query.segmentation = true,
                    "pose" => {}
                    "all" => query = CameraQuery::ALL,
                    other => {
                        let right = "rgb, depth, segmentation, pose and all are possible";
                        let text = format!("cameras.{name}: \"{other}\"; {right}");
                        return Err(bad_input(py, text));
                    }
                }
            }
            all.insert(name, query);
        }
        return Ok(all);
    }
    let names: Vec<String> = match asked.extract::<String>() {
        Ok(one) => vec![one],
        Err(_) => asked.extract().map_err(|_| {
            bad_input(py, "cameras: names, or a dictionary of names and kinds, are needed")
        })?,
    };
    all.extend(names.into_iter().map(|name| (name, CameraQuery::RGB)));
    Ok(all)
}

/// Names of everything in a world, without its numbers.
pub(crate) fn names_of(world: &mut World) -> Result<TensorState, SimError> {
    world.get_state(Some(&[0]), &StateQuery::default())
}
