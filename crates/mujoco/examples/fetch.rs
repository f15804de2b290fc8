//! Fetches the engine without building the rest of Citrange: what `citrange setup` does.
//! With `--check` it only says, by its exit code, whether a verified copy is there.
#![allow(clippy::print_stderr)] // an example talks to its user

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args().any(|a| a == "--check") {
        return if citrange_mujoco::is_fetched() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    match citrange_mujoco::fetch(|line| eprintln!("setup: {line}")) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("setup: {error}");
            ExitCode::FAILURE
        }
    }
}
