//! The Python module `citrange._citrange`: thin classes around the libraries. What Python users see
//! is `python/citrange`, which wraps what is here.
//!
//! | to change | look in |
//! |---|---|
//! | how errors become exceptions | `raise.rs`, `/python/citrange/errors.py` |
//! | Ctrl-C, threads, forks, panics | `guard.rs` |
//! | states between Rust and Python | `states.rs`, `dicts.rs`, `json.rs` |
//! | worlds, snapshots | `world.rs`, `snapshot.rs`, `live.rs` |
//! | environments for learners | `envs.rs` |
//! | recorded datasets | `dataset.rs` |
//! | what the verbs do | `verbs.rs` |
//! | clouds to voxels | `space.rs` |
//! | a Python function as a Pilot | `pilot.rs` |
//! | an arm that lives in time, for LeRobot | `arm.rs` |

mod arm;
mod dataset;
mod dicts;
mod envs;
mod guard;
mod json;
mod live;
mod pilot;
mod raise;
mod snapshot;
mod space;
mod states;
mod verbs;
mod world;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the `citrange` command with these words; answers the exit code.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<OsString>) -> PyResult<u8> {
    guard::guarded(py, move || Ok::<_, citrange_sim::SimError>(citrange_cli::main_from(&words)))
}

/// Names of the built-in scenes.
#[pyfunction]
fn scene_names() -> Vec<&'static str> {
    citrange_sim::catalog::scene_names().collect()
}

/// Names of the cameras of a scene.
#[pyfunction]
fn scene_cameras(py: Python<'_>, scene: &str) -> PyResult<Vec<String>> {
    let source = guard::guarded(py, || citrange_sim::load_scene(scene))?;
    Ok(source.scene.cameras.into_keys().collect())
}

/// The libraries of Citrange.
#[pymodule]
fn _citrange(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ENGINE_VERSION", citrange_mujoco::VERSION)?;
    module.add_class::<world::World>()?;
    module.add_class::<snapshot::Snapshot>()?;
    module.add_class::<envs::Envs>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(scene_names, module)?)?;
    module.add_function(wrap_pyfunction!(scene_cameras, module)?)?;
    module.add_class::<arm::Arm>()?;
    module.add_class::<dataset::Dataset>()?;
    module.add_class::<dataset::Tape>()?;
    module.add_function(wrap_pyfunction!(dataset::merge, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::collect, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::replay, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::report, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::plan, module)?)?;
    module.add_function(wrap_pyfunction!(pilot::run, module)?)?;
    module.add_function(wrap_pyfunction!(space::voxels, module)?)?;
    Ok(())
}
