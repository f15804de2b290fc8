//! JSON values to Python objects and back.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::raise::bad_input;

/// Most that things may be inside each other.
const DEEPEST: u32 = 64;

/// The Python object of a JSON value.
pub(crate) fn to_py<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(is) => PyBool::new(py, *is).to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| to_py(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (key, value) in fields {
                dict.set_item(key, to_py(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// The JSON value of a Python object; `path` names it in messages.
pub(crate) fn from_py(object: &Bound<'_, PyAny>, path: &str) -> PyResult<Value> {
    from_py_at(object, path, 0)
}

fn from_py_at(object: &Bound<'_, PyAny>, path: &str, depth: u32) -> PyResult<Value> {
    let py = object.py();
    if depth > DEEPEST {
        return Err(bad_input(py, format!("{path}: lists in lists, deeper than {DEEPEST}")));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(is) = object.cast::<PyBool>() {
        return Ok(Value::Bool(is.is_true()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::String(text.to_string()));
    }
    if let Ok(whole) = object.cast::<PyInt>() {
        let whole: i64 = whole
            .extract()
            .map_err(|_| bad_input(py, format!("{path}: {object} is too large a number")))?;
        return Ok(Value::Number(whole.into()));
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        let mut fields = Map::new();
        for item in mapping.items()?.iter() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let key: String = key
                .extract()
                .map_err(|_| bad_input(py, format!("{path}: the key {key} is no text")))?;
            let value = from_py_at(&value, &format!("{path}.{key}"), depth + 1)?;
            fields.insert(key, value);
        }
        return Ok(Value::Object(fields));
    }
    let is_sequence = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    // Arrays of numpy and torch say what they hold as lists.
    if !is_sequence && object.hasattr("tolist")? {
        return from_py_at(&object.call_method0("tolist")?, path, depth + 1);
    }
    if is_sequence {
        let mut items = Vec::new();
        for (index, item) in object.try_iter()?.enumerate() {
            items.push(from_py_at(&item?, &format!("{path}[{index}]"), depth + 1)?);
        }
        return Ok(Value::Array(items));
    }
    let number: f64 = object.extract().map_err(|_| {
        let kind = object.get_type();
        bad_input(py, format!("{path}: {kind} is neither number, text, list nor mapping"))
    })?;
    let finite = || bad_input(py, format!("{path}: {number} is not a finite number"));
    Number::from_f64(number).map(Value::Number).ok_or_else(finite)
}
