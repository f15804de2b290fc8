//! Errors become one message on stderr and an exit code.

use std::fmt;
use std::process::ExitCode;

use citrange_control::ControlError;
use citrange_lerobot::LerobotError;
use citrange_plan::PlanError;
use citrange_sim::SimError;
use citrange_space::SpaceError;
use citrange_tape::TapeError;
use citrange_task::TaskError;

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

/// The user asked to stop (exit code 130). What was recorded is kept.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped by the user")
    }
}

impl std::error::Error for Interrupted {}

/// Prints the error and chooses the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A reader that closed the pipe (`citrange … | head`) wants no more: that is no failure.
    if let Some(io) = error.downcast_ref::<std::io::Error>()
        && io.kind() == std::io::ErrorKind::BrokenPipe
    {
        return ExitCode::SUCCESS;
    }
    say::talk(&format!("citrange: {error:#}"));
    ExitCode::from(code(error))
}

/// The exit code of an error.
pub(crate) fn code(error: &anyhow::Error) -> u8 {
    if error.downcast_ref::<ProblemsFound>().is_some() {
        4
    } else if error.downcast_ref::<Interrupted>().is_some() {
        130
    } else if error.downcast_ref::<SimError>().is_some_and(is_bad_input)
        || error.downcast_ref::<TapeError>().is_some_and(is_bad_file)
        || error.downcast_ref::<LerobotError>().is_some_and(is_bad_dataset)
        || error.downcast_ref::<ControlError>().is_some()
        || error.downcast_ref::<TaskError>().is_some()
        || error.downcast_ref::<PlanError>().is_some_and(is_bad_question)
        || error.downcast_ref::<SpaceError>().is_some_and(is_bad_space)
    {
        3
    } else {
        1
    }
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

fn is_bad_file(error: &TapeError) -> bool {
    match error {
        TapeError::File { .. } | TapeError::Busy(_) | TapeError::Recording(_) => false,
        TapeError::Log { .. }
        | TapeError::Missing(_)
        | TapeError::Hdf5(_)
        | TapeError::Video(_) => true,
        TapeError::LeRobot(error) => is_bad_dataset(error),
    }
}

fn is_bad_question(error: &PlanError) -> bool {
    match error {
        PlanError::Space(error) => is_bad_space(error),
        PlanError::Bad { .. } => true,
    }
}

fn is_bad_space(error: &SpaceError) -> bool {
    match error {
        SpaceError::Io { cause, .. } => cause.kind() == std::io::ErrorKind::NotFound,
        _ => true,
    }
}

fn is_bad_dataset(error: &LerobotError) -> bool {
    !matches!(error, LerobotError::Io { .. })
}
