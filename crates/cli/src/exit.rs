//! Errors become one message on stderr and an exit code; with `--json` also an object on stdout.
//!
//! Every error knows its own [`ErrorKind`]; here is only which number that is.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use citrange_control::ControlError;
use citrange_core::{Classified, ErrorKind};
use citrange_episodes::EpisodesError;
use citrange_plan::PlanError;
use citrange_report::ReportError;
use citrange_sim::SimError;
use citrange_space::SpaceError;
use citrange_tape::TapeError;

use crate::output;

/// A check ran and found problems. The details are printed already.
pub(crate) fn problems_found(text: impl Into<String>) -> anyhow::Error {
    EpisodesError::ProblemsFound(text.into()).into()
}

/// The command line lacks something that no parser can know.
pub(crate) fn usage(text: impl Into<String>) -> anyhow::Error {
    EpisodesError::Usage(text.into()).into()
}

/// A value on the command line makes no sense.
pub(crate) fn bad_input(text: impl Into<String>) -> anyhow::Error {
    EpisodesError::BadInput(text.into()).into()
}

/// The number of a kind of trouble.
pub(crate) fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Failed => 1,
        ErrorKind::Usage => 2,
        ErrorKind::BadInput => 3,
        ErrorKind::ProblemsFound => 4,
        ErrorKind::Robot => 5,
        ErrorKind::Interrupted => 130,
    }
}

/// Prints the error and chooses the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A reader that closed the pipe (`citrange … | head`) wants no more: that is no failure.
    let closed = |e: &(dyn Error + 'static)| {
        e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
            || matches!(e.downcast_ref(), Some(EpisodesError::Io(e)) if e.kind() == io::ErrorKind::BrokenPipe)
    };
    if closed(error.as_ref()) {
        return ExitCode::SUCCESS;
    }
    let (kind, text) = (kind(error), format!("{error:#}"));
    output::talk(&format!("citrange: {text}"));
    output::error(kind, &text);
    ExitCode::from(code(kind))
}

/// A command line that cannot be parsed, or a question about it.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    // Help and version are answers, not errors. A closed stderr is nobody listening.
    let _nobody_listens = error.print();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    output::error(ErrorKind::Usage, first.strip_prefix("error: ").unwrap_or(first));
    ExitCode::from(code(ErrorKind::Usage))
}

/// The kind of the first error of ours in the chain.
fn kind(error: &anyhow::Error) -> ErrorKind {
    error.chain().find_map(kind_of).unwrap_or(ErrorKind::Failed)
}

fn kind_of(error: &(dyn Error + 'static)) -> Option<ErrorKind> {
    fn of<E: Classified + Error + 'static>(error: &(dyn Error + 'static)) -> Option<ErrorKind> {
        error.downcast_ref::<E>().map(Classified::kind)
    }
    of::<EpisodesError>(error)
        .or_else(|| of::<TapeError>(error))
        .or_else(|| of::<SimError>(error))
        .or_else(|| of::<ControlError>(error))
        .or_else(|| of::<PlanError>(error))
        .or_else(|| of::<SpaceError>(error))
        .or_else(|| of::<ReportError>(error))
        .or_else(|| of::<io::Error>(error))
}
