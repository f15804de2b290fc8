//! `citrange setup`: fetch the engine once per machine.

use crate::say;

pub(crate) fn run() -> anyhow::Result<()> {
    if citrange_mujoco::is_fetched() {
        say::talk(&format!("MuJoCo {} is there", citrange_mujoco::VERSION));
    }
    let path = citrange_mujoco::fetch(say::talk)?;
    say::data(&path.display().to_string())
}
