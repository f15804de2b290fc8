//! `citrange setup`: fetch the engine once per machine.

use citrange_sim::SimError;

use crate::exit::Result;
use crate::output;

pub(crate) fn run() -> Result {
    if citrange_mujoco::is_fetched() {
        output::talk(&format!("MuJoCo {} is there", citrange_mujoco::VERSION));
    }
    let path = citrange_mujoco::fetch(output::talk).map_err(SimError::from)?;
    output::data(&path.display().to_string())
}
