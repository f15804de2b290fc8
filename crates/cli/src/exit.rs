//! Errors become one message on stderr and an exit code; with `--json` also an object on stdout.
//!
//! Every error of a library knows its own [`ErrorKind`]; here is only which number that is. A new
//! crate's error needs no line here: [`Classified`] is enough.

use std::error::Error;

use citrange_core::{Classified, ErrorKind};

use crate::output;

/// Why a verb did not do what it was asked to: what is said, and what decides the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: ErrorKind,
    pub(crate) text: String,
}

/// What a verb answers with.
pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

impl<E: Classified + Error> From<E> for Failure {
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            text = format!("{text}: {error}");
            source = error.source();
        }
        Self { kind: error.kind(), text }
    }
}

/// Says where something went wrong.
pub(crate) trait Context<T> {
    /// With a text that is made when it is needed.
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<Failure>> Context<T> for Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| {
            let Failure { kind, text } = error.into();
            Failure { kind, text: format!("{}: {text}", what()) }
        })
    }
}

/// The program or the machine.
pub(crate) fn failed(text: impl Into<String>) -> Failure {
    Failure { kind: ErrorKind::Failed, text: text.into() }
}

/// A check ran and found problems. The details are printed already.
pub(crate) fn problems_found(text: impl Into<String>) -> Failure {
    Failure { kind: ErrorKind::ProblemsFound, text: text.into() }
}

/// The command line lacks something that no parser can know.
pub(crate) fn usage(text: impl Into<String>) -> Failure {
    Failure { kind: ErrorKind::Usage, text: text.into() }
}

/// A value on the command line makes no sense.
pub(crate) fn bad_input(text: impl Into<String>) -> Failure {
    Failure { kind: ErrorKind::BadInput, text: text.into() }
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
pub(crate) fn report(failure: &Failure) -> u8 {
    // A reader that closed the pipe (`citrange … | head`) wants no more: that is no failure.
    if output::is_closed() {
        return 0;
    }
    output::talk(&format!("citrange: {}", failure.text));
    output::error(failure.kind, &failure.text);
    code(failure.kind)
}

/// A command line that cannot be parsed, or a question about it.
pub(crate) fn report_usage(error: &clap::Error) -> u8 {
    // Help and version are answers, not errors. A closed stderr is nobody listening.
    let _nobody_listens = error.print();
    if !error.use_stderr() {
        return 0;
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    output::error(ErrorKind::Usage, first.strip_prefix("error: ").unwrap_or(first));
    code(ErrorKind::Usage)
}
