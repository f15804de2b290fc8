//! Snapshot: everything that decides the future of one environment, as bytes.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::raise::{bad_input, exception};

/// Everything that decides the future of one environment.
#[pyclass(frozen, module = "citrange._citrange")]
pub(crate) struct Snapshot {
    pub(crate) inner: citrange_core::Snapshot,
}

impl Snapshot {
    /// A snapshot, or the bytes of one.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<citrange_core::Snapshot> {
        if let Ok(snapshot) = object.cast::<Self>() {
            return Ok(snapshot.get().inner.clone());
        }
        let py = object.py();
        let bytes: Vec<u8> = object
            .extract()
            .map_err(|_| bad_input(py, "snapshot: a Snapshot or its bytes are needed"))?;
        parse(py, &bytes)
    }
}

fn parse(py: Python<'_>, bytes: &[u8]) -> PyResult<citrange_core::Snapshot> {
    citrange_core::Snapshot::from_bytes(bytes)
        .map_err(|error| exception(py, citrange_core::ErrorKind::BadInput, &error.to_string()))
}

#[pymethods]
impl Snapshot {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Ok(Self { inner: parse(py, data)? })
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.to_bytes())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.__bytes__(py),)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().inner == self.inner)
    }

    fn __hash__(&self) -> u64 {
        let numbers: Vec<f64> = self.inner.fields.values().flatten().copied().collect();
        citrange_core::rig::state_digest(&numbers)
    }

    fn __repr__(&self) -> String {
        let of = &self.inner;
        format!("<citrange.Snapshot of {} at step {}, {}>", of.scene, of.step, of.engine)
    }

    #[getter]
    fn step(&self) -> u64 {
        self.inner.step
    }

    #[getter]
    fn scene(&self) -> &str {
        &self.inner.scene
    }

    #[getter]
    fn engine(&self) -> &str {
        &self.inner.engine
    }

    #[getter]
    fn model_hash(&self) -> &str {
        &self.inner.model_hash
    }

    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, numbers) in &self.inner.fields {
            dict.set_item(name, PyArray1::from_slice(py, numbers))?;
        }
        Ok(dict)
    }
}
