//! The `citrange` command. All of it is in the library, so that other programs can be entered by it
//! too: the Python package's `citrange` is the same command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    ExitCode::from(citrange_cli::main_from(&words))
}
