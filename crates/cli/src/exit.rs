//! Errors become one message on stderr and an exit code; with `--json` also an object on stdout.
//!
//! Every error knows its own [`ErrorKind`]; here is only which number that is.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use citrange_calibrate::CalibrateError;
use citrange_cloud::CloudError;
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
        .or_else(|| of::<CloudError>(error))
        .or_else(|| of::<CalibrateError>(error))
        .or_else(|| of::<ReportError>(error))
        .or_else(|| of::<io::Error>(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;
    use citrange_core::run::RunError;
    use citrange_hdf5::Hdf5Error;
    use citrange_lerobot::LerobotError;
    use citrange_video::VideoError;

    /// The same refusal of the system, as every part of the program hands it on.
    fn everywhere(kind: io::ErrorKind) -> Vec<anyhow::Error> {
        let io = || io::Error::from(kind);
        let path = || std::path::PathBuf::from("x");
        let tape = || TapeError::File { what: "write", path: path(), reason: io() };
        let lerobot = || LerobotError::Io { what: "write", path: path(), source: io() };
        let hdf5 = || Hdf5Error::Io { doing: "write", path: path(), source: io() };
        let space = || SpaceError::Io { path: "x".into(), cause: io() };
        let cloud = || CloudError::Io { path: "x".into(), cause: io() };
        let video = || VideoError::Io { doing: "write", path: path(), source: io() };
        let run = RunError::Tape { tick: 3, fault: Box::new(tape()) };
        vec![
            io().into(),
            anyhow::Error::from(io()).context("cannot write x"),
            tape().into(),
            EpisodesError::from(lerobot()).into(),
            TapeError::LeRobot(lerobot()).into(),
            TapeError::LeRobot(LerobotError::Side(Box::new(tape()))).into(),
            EpisodesError::from(hdf5()).into(),
            TapeError::Hdf5(hdf5()).into(),
            EpisodesError::from(video()).into(),
            TapeError::Video(video()).into(),
            space().into(),
            cloud().into(),
            SpaceError::Cloud(cloud()).into(),
            PlanError::Space(space()).into(),
            EpisodesError::from(run).into(),
            ReportError::File { what: "write", path: path(), reason: io() }.into(),
        ]
    }

    #[test]
    fn the_same_fault_has_the_same_code_everywhere() {
        use io::ErrorKind as Io;
        for (refused, right) in [
            (Io::StorageFull, ErrorKind::Failed),
            (Io::QuotaExceeded, ErrorKind::Failed),
            (Io::PermissionDenied, ErrorKind::Failed),
            (Io::NotFound, ErrorKind::BadInput),
            (Io::AlreadyExists, ErrorKind::BadInput),
        ] {
            for error in everywhere(refused) {
                assert_eq!(kind(&error), right, "{refused:?}: {error:?}");
                assert_eq!(kind(&error.context("episode 3")), right, "{refused:?}");
            }
        }
    }

    #[test]
    fn what_was_found_or_asked_for_is_no_failure() {
        let told = Err::<(), _>(problems_found("2 of 3")).context("all").unwrap_err();
        assert_eq!(code(kind(&told)), 4);
        assert_eq!(code(kind(&EpisodesError::Interrupted.into())), 130);
        assert_eq!(code(kind(&usage("give one"))), 2);
        assert_eq!(code(kind(&TapeError::Missing("episode 9".into()).into())), 3);
        assert_eq!(code(kind(&TapeError::Busy("set".into()).into())), 1);
        assert_eq!(code(kind(&anyhow::anyhow!("what nobody foresaw"))), 1);
    }
}
