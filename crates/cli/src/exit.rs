//! Errors become one message on stderr and an exit code.

use std::fmt;
use std::process::ExitCode;

use citrange_sim::SimError;

use crate::say;

/// A check ran and found problems (exit code 4). The details are printed already.
#[derive(Debug)]
pub(crate) struct ProblemsFound(pub(crate) String);

impl fmt::Display for ProblemsFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ProblemsFound {}

/// Prints the error and chooses the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A reader that closed the pipe (`citrange … | head`) wants no more: that is no failure.
    if let Some(io) = error.downcast_ref::<std::io::Error>()
        && io.kind() == std::io::ErrorKind::BrokenPipe
    {
        return ExitCode::SUCCESS;
    }
    say::talk(&format!("citrange: {error:#}"));
    let code = if error.downcast_ref::<ProblemsFound>().is_some() {
        4
    } else if error.downcast_ref::<SimError>().is_some_and(is_bad_input) {
        3
    } else {
        1
    };
    ExitCode::from(code)
}

fn is_bad_input(error: &SimError) -> bool {
    !matches!(
        error,
        SimError::Engine(_)
            | SimError::Mujoco(_)
            | SimError::Diverged { .. }
            | SimError::NoGl { .. }
            | SimError::Gl(_)
    )
}
