//! DictState: one environment by name, as plain Python dictionaries.

use citrange_core::{DictState, Extra};
use ndarray::Axis;
use numpy::IntoPyArray as _;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::json;
use crate::raise::bad_input;
use crate::states::{camera, contacts};

/// The dictionary of one environment's state.
pub(crate) fn to_py<'py>(py: Python<'py>, mut state: DictState) -> PyResult<Bound<'py, PyAny>> {
    let (cameras, extras) = (std::mem::take(&mut state.cameras), std::mem::take(&mut state.extras));
    let plain = serde_json::to_value(&state)
        .map_err(|error| bad_input(py, format!("a state has no dictionary: {error}")))?;
    let all = json::to_py(py, &plain)?;
    let seen = PyDict::new(py);
    for (name, images) in cameras {
        seen.set_item(name, camera(py, images, Some(0))?)?;
    }
    all.set_item("cameras", seen)?;
    let answers = PyDict::new(py);
    for (name, extra) in extras {
        match extra {
            Extra::Tensor(numbers) => {
                let row = numbers.index_axis(Axis(0), 0).to_owned();
                answers.set_item(name, row.into_pyarray(py))?;
            }
            Extra::Contacts(lists) => {
                answers.set_item(name, contacts(py, lists.first().map_or(&[], Vec::as_slice))?)?;
            }
        }
    }
    all.set_item("extras", answers)?;
    Ok(all)
}

/// The state that a dictionary says; pictures and extras in it are no state and are left out.
pub(crate) fn from_py(object: &Bound<'_, PyAny>, path: &str) -> PyResult<DictState> {
    let py = object.py();
    let settable = PyDict::new(py);
    for key in ["objects", "robots"] {
        if object.contains(key)? {
            settable.set_item(key, object.get_item(key)?)?;
        }
    }
    let keys = object.call_method0("keys")?;
    for key in keys.try_iter()? {
        let key = key?.to_string();
        if !["objects", "robots", "cameras", "extras"].contains(&key.as_str()) {
            let right = "objects, robots (cameras and extras are not set)";
            return Err(bad_input(py, format!("{path}: there is no \"{key}\"; it has {right}")));
        }
    }
    let value = json::from_py(&settable, path)?;
    serde_json::from_value(value).map_err(|error| bad_input(py, format!("{path}: {error}")))
}
