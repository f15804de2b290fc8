//! `citrange setup`: fetch the engine once per machine.

use crate::output;

pub(crate) fn run() -> anyhow::Result<()> {
    if citrange_mujoco::is_fetched() {
        output::talk(&format!("MuJoCo {} is there", citrange_mujoco::VERSION));
    }
    let path = citrange_mujoco::fetch(output::talk)?;
    output::data(&path.display().to_string())
}
