//! Errors of the libraries as Python exceptions: a class for each kind, with our message.

use citrange_core::{Classified, ErrorKind};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The class of a kind in `citrange.errors`.
fn class(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Failed => "Failed",
        ErrorKind::Usage => "UsageError",
        ErrorKind::BadInput => "BadInput",
        ErrorKind::ProblemsFound => "ProblemsFound",
        ErrorKind::Robot => "RobotError",
        ErrorKind::Interrupted => "Interrupted",
    }
}

/// An exception of a kind with a message.
pub(crate) fn exception(py: Python<'_>, kind: ErrorKind, text: &str) -> PyErr {
    let made = py
        .import("citrange.errors")
        .and_then(|errors| errors.getattr(class(kind)))
        .and_then(|class| class.call1((text,)));
    match made {
        Ok(error) => PyErr::from_value(error),
        // The package is not there: the module was loaded alone.
        Err(_) => PyRuntimeError::new_err(text.to_owned()),
    }
}

/// An argument that makes no sense.
pub(crate) fn bad_input(py: Python<'_>, text: impl AsRef<str>) -> PyErr {
    exception(py, ErrorKind::BadInput, text.as_ref())
}

/// The exception for an error, with what it comes from.
pub(crate) fn raise<E: Classified + std::error::Error>(py: Python<'_>, error: &E) -> PyErr {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    exception(py, error.kind(), &text)
}
