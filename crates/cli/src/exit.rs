//! Errors become one message on stderr and an exit code; with `--json` also an object on stdout.
//!
//! The same fault has the same code in every verb. What the system refused decides first: a full
//! disk is 1 wherever it fills up, a file that is not there is 3 whoever looked for it.

use std::error::Error;
use std::fmt;
use std::io::ErrorKind;
use std::process::ExitCode;

use citrange_calibrate::CalibrateError;
use citrange_cloud::CloudError;
use citrange_control::ControlError;
use citrange_core::run::RunError;
use citrange_hdf5::Hdf5Error;
use citrange_lerobot::LerobotError;
use citrange_plan::PlanError;
use citrange_report::ReportError;
use citrange_robot::RobotError;
use citrange_sim::SimError;
use citrange_space::SpaceError;
use citrange_tape::TapeError;
use citrange_task::TaskError;
use citrange_video::VideoError;

use crate::output;

/// How a run ended when it did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The machine or the program: a full disk, no permission, no engine.
    Failed = 1,
    /// The command line itself.
    Usage = 2,
    /// A file or value that is not there or not as it should be.
    BadInput = 3,
    /// A check ran and found problems.
    ProblemsFound = 4,
    /// The user asked to stop.
    Interrupted = 130,
}

impl Code {
    /// The word for it in JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::BadInput => "bad_input",
            Self::ProblemsFound => "problems_found",
            Self::Interrupted => "interrupted",
        }
    }
}

/// An error that is a text and a code.
macro_rules! said {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $name(pub(crate) String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Error for $name {}
    };
}

said! {
    /// A check ran and found problems (exit code 4). The details are printed already.
    ProblemsFound
}
said! {
    /// The command line lacks something that no parser can know (exit code 2).
    Usage
}

/// The user asked to stop (exit code 130). What was recorded is kept.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped by the user")
    }
}

impl Error for Interrupted {}

/// Prints the error and chooses the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // A reader that closed the pipe (`citrange … | head`) wants no more: that is no failure.
    if let Some(io) = error.downcast_ref::<std::io::Error>()
        && io.kind() == ErrorKind::BrokenPipe
    {
        return ExitCode::SUCCESS;
    }
    let (code, text) = (code(error), format!("{error:#}"));
    output::talk(&format!("citrange: {text}"));
    output::error(code, &text);
    ExitCode::from(code as u8)
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
    output::error(Code::Usage, first.strip_prefix("error: ").unwrap_or(first));
    ExitCode::from(Code::Usage as u8)
}

/// The exit code of an error.
pub(crate) fn code(error: &anyhow::Error) -> Code {
    if error.chain().any(|e| e.is::<Interrupted>()) {
        return Code::Interrupted;
    }
    if error.chain().any(|e| e.is::<ProblemsFound>()) {
        return Code::ProblemsFound;
    }
    if error.chain().any(|e| e.is::<Usage>()) {
        return Code::Usage;
    }
    if let Some(kind) = error.chain().find_map(refused) {
        return if is_bad_name(kind) { Code::BadInput } else { Code::Failed };
    }
    match error.chain().any(is_bad_input) {
        true => Code::BadInput,
        false => Code::Failed,
    }
}

/// Whether the system refused because of what it was given, not because of what it has.
fn is_bad_name(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::InvalidData
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename
            | ErrorKind::UnexpectedEof
    )
}

/// What the system refused, in whatever error of ours it lies.
fn refused(error: &(dyn Error + 'static)) -> Option<ErrorKind> {
    if let Some(io) = error.downcast_ref::<std::io::Error>() {
        return Some(io.kind());
    }
    if let Some(error) = error.downcast_ref::<TapeError>() {
        return match error {
            TapeError::File { reason, .. } => Some(reason.kind()),
            TapeError::LeRobot(error) => refused(error),
            TapeError::Hdf5(error) => refused(error),
            TapeError::Video(error) => refused(error),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<LerobotError>() {
        return match error {
            LerobotError::Io { source, .. } => Some(source.kind()),
            LerobotError::Side(error) => refused(error.as_ref()),
            _ => None,
        };
    }
    if let Some(
        RunError::Pilot { fault, .. } | RunError::Rig { fault, .. } | RunError::Tape { fault, .. },
    ) = error.downcast_ref::<RunError>()
    {
        return refused(fault.as_ref());
    }
    if let Some(Hdf5Error::Io { source, .. }) = error.downcast_ref::<Hdf5Error>() {
        return Some(source.kind());
    }
    if let Some(VideoError::Io { source, .. }) = error.downcast_ref::<VideoError>() {
        return Some(source.kind());
    }
    match error.downcast_ref::<SpaceError>() {
        Some(SpaceError::Io { cause, .. }) => return Some(cause.kind()),
        Some(SpaceError::Cloud(error)) => return refused(error),
        _ => {}
    }
    if let Some(CloudError::Io { cause, .. }) = error.downcast_ref::<CloudError>() {
        return Some(cause.kind());
    }
    if let Some(PlanError::Space(error)) = error.downcast_ref::<PlanError>() {
        return refused(error);
    }
    match error.downcast_ref::<ReportError>() {
        Some(ReportError::File { reason, .. }) => Some(reason.kind()),
        Some(ReportError::Dataset(error)) => refused(error),
        _ => None,
    }
}

/// Whether an error says that a file or value is not as it should be.
fn is_bad_input(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<SimError>() {
        return !matches!(
            error,
            SimError::Engine(_)
                | SimError::Mujoco(_)
                | SimError::Diverged { .. }
                | SimError::NoGl { .. }
                | SimError::Gl(_)
        );
    }
    if let Some(error) = error.downcast_ref::<TapeError>() {
        return !matches!(error, TapeError::Busy(_) | TapeError::Recording(_));
    }
    error.is::<LerobotError>()
        || error.is::<Hdf5Error>()
        || error.is::<ControlError>()
        || error.is::<RobotError>()
        || error.is::<TaskError>()
        || error.is::<PlanError>()
        || error.is::<SpaceError>()
        || error.is::<CloudError>()
        || error.is::<CalibrateError>()
        || error
            .downcast_ref::<ReportError>()
            .is_some_and(|e| matches!(e, ReportError::Dataset(error) if is_bad_input(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;

    fn io(kind: ErrorKind) -> std::io::Error {
        std::io::Error::from(kind)
    }

    /// The same refusal of the system, as every part of the program hands it on.
    fn everywhere(kind: ErrorKind) -> Vec<anyhow::Error> {
        let path = || std::path::PathBuf::from("x");
        let tape = || TapeError::File { what: "write", path: path(), reason: io(kind) };
        let lerobot = || LerobotError::Io { what: "write", path: path(), source: io(kind) };
        let hdf5 = || Hdf5Error::Io { doing: "write", path: path(), source: io(kind) };
        let space = || SpaceError::Io { path: "x".into(), cause: io(kind) };
        let cloud = || CloudError::Io { path: "x".into(), cause: io(kind) };
        let video = || VideoError::Io { doing: "write", path: path(), source: io(kind) };
        let run = RunError::Tape { tick: 3, fault: Box::new(tape()) };
        vec![
            io(kind).into(),
            anyhow::Error::from(io(kind)).context("cannot write x"),
            tape().into(),
            lerobot().into(),
            TapeError::LeRobot(lerobot()).into(),
            LerobotError::Side(Box::new(tape())).into(),
            hdf5().into(),
            TapeError::Hdf5(hdf5()).into(),
            video().into(),
            TapeError::Video(video()).into(),
            space().into(),
            cloud().into(),
            SpaceError::Cloud(cloud()).into(),
            PlanError::Space(space()).into(),
            run.into(),
            ReportError::File { what: "write", path: path(), reason: io(kind) }.into(),
        ]
    }

    #[test]
    fn the_same_fault_has_the_same_code_everywhere() {
        for (kind, right) in [
            (ErrorKind::StorageFull, Code::Failed),
            (ErrorKind::QuotaExceeded, Code::Failed),
            (ErrorKind::PermissionDenied, Code::Failed),
            (ErrorKind::NotFound, Code::BadInput),
            (ErrorKind::AlreadyExists, Code::BadInput),
        ] {
            for error in everywhere(kind) {
                assert_eq!(code(&error), right, "{kind:?}: {error:?}");
                assert_eq!(code(&error.context("episode 3")), right, "{kind:?}");
            }
        }
    }

    #[test]
    fn what_was_found_or_asked_for_is_no_failure() {
        let told = Err::<(), _>(ProblemsFound("2 of 3".into())).context("all").unwrap_err();
        assert_eq!(code(&told), Code::ProblemsFound);
        assert_eq!(code(&Interrupted.into()), Code::Interrupted);
        assert_eq!(code(&Usage("give one".into()).into()), Code::Usage);
        assert_eq!(code(&TapeError::Missing("episode 9".into()).into()), Code::BadInput);
        assert_eq!(code(&TapeError::Busy("set".into()).into()), Code::Failed);
        assert_eq!(code(&anyhow::anyhow!("what nobody foresaw")), Code::Failed);
    }
}
