//! Why an episode was not made, played, taken in or written out.

use std::io;

use citrange_control::ControlError;
use citrange_core::run::RunError;
use citrange_core::{BoxError, Classified, ErrorKind};
use citrange_hdf5::Hdf5Error;
use citrange_lerobot::LerobotError;
use citrange_link::LinkError;
use citrange_plan::PlanError;
use citrange_policy::PolicyError;
use citrange_render::ImageError;
use citrange_sim::SimError;
use citrange_tape::TapeError;
use citrange_task::TaskError;
use citrange_video::VideoError;

/// What can go wrong with episodes; [`Classified::kind`] says what sort of trouble it is.
#[derive(Debug, thiserror::Error)]
pub enum EpisodesError {
    /// The request lacks something, or has too much.
    #[error("{0}")]
    Usage(String),
    /// A file or value that is not there or not as it should be.
    #[error("{0}")]
    BadInput(String),
    /// A check ran and found problems. The details were told already.
    #[error("{0}")]
    ProblemsFound(String),
    /// The user asked to stop. What was recorded is kept.
    #[error("stopped by the user")]
    Interrupted,
    /// The program or the machine.
    #[error("{0}")]
    Failed(String),
    /// The tape or the dataset.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// The simulator.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// The controller of an arm.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A real arm.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The autopilot.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A motion that cannot be planned as asked.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A policy that cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The loop: pilot, rig or tape gave up.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A film that cannot be coded.
    #[error(transparent)]
    Video(#[from] VideoError),
    /// A picture that cannot be written.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The system refused something.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What a pilot, rig or picture says of itself.
    #[error("{0}")]
    Part(BoxError),
    /// Where it went wrong; why is the source.
    #[error("{what}")]
    Context {
        /// Where, or what was tried.
        what: String,
        /// Why.
        source: Box<Self>,
    },
}

/// What this crate answers with.
pub type Result<T, E = EpisodesError> = std::result::Result<T, E>;

impl EpisodesError {
    /// All of it in one line: where, and why.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            text += &format!(": {error}");
            source = error.source();
        }
        text
    }
}

impl Classified for EpisodesError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Usage(_) => ErrorKind::Usage,
            Self::BadInput(_) => ErrorKind::BadInput,
            Self::ProblemsFound(_) => ErrorKind::ProblemsFound,
            Self::Interrupted => ErrorKind::Interrupted,
            Self::Failed(_) => ErrorKind::Failed,
            Self::Tape(error) => error.kind(),
            Self::Sim(error) => error.kind(),
            Self::Link(error) => error.kind(),
            Self::Control(error) => error.kind(),
            Self::Task(error) => error.kind(),
            Self::Plan(error) => error.kind(),
            Self::Policy(error) => error.kind(),
            Self::Run(
                RunError::Pilot { fault, .. }
                | RunError::Rig { fault, .. }
                | RunError::Tape { fault, .. },
            )
            | Self::Part(fault) => refused(fault),
            Self::Video(VideoError::Io { source, .. }) | Self::Io(source) => source.classify(),
            Self::Image(error) => error.source.classify(),
            Self::Video(_) => ErrorKind::Failed,
            Self::Context { source, .. } => source.kind(),
        }
    }
}

/// What a part of the loop gave up for is a failure, unless the system refused what it was given.
fn refused(fault: &BoxError) -> ErrorKind {
    if let Some(TapeError::File { reason, .. }) = fault.downcast_ref::<TapeError>() {
        return reason.classify();
    }
    if let Some(link) = fault.downcast_ref::<LinkError>() {
        return link.kind();
    }
    fault.downcast_ref::<io::Error>().map_or(ErrorKind::Failed, Classify::classify)
}

/// `kind` by a name that `io::Error` does not have already.
trait Classify {
    fn classify(&self) -> ErrorKind;
}

impl Classify for io::Error {
    fn classify(&self) -> ErrorKind {
        ErrorKind::of_io(self.kind())
    }
}

impl From<LerobotError> for EpisodesError {
    fn from(error: LerobotError) -> Self {
        Self::Tape(error.into())
    }
}

impl From<Hdf5Error> for EpisodesError {
    fn from(error: Hdf5Error) -> Self {
        Self::Tape(error.into())
    }
}

impl From<serde_json::Error> for EpisodesError {
    fn from(error: serde_json::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<BoxError> for EpisodesError {
    fn from(error: BoxError) -> Self {
        Self::Part(error)
    }
}

impl From<citrange_core::PictureError> for EpisodesError {
    fn from(error: citrange_core::PictureError) -> Self {
        Self::Part(error.into())
    }
}

/// Says where something went wrong.
pub(crate) trait Context<T> {
    /// With a fixed text.
    fn context(self, what: &str) -> Result<T>;
    /// With a text that is made when it is needed.
    fn with_context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<EpisodesError>> Context<T> for std::result::Result<T, E> {
    fn context(self, what: &str) -> Result<T> {
        self.with_context(|| what.to_owned())
    }

    fn with_context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| EpisodesError::Context {
            what: what(),
            source: Box::new(error.into()),
        })
    }
}

impl<T> Context<T> for Option<T> {
    fn context(self, what: &str) -> Result<T> {
        self.ok_or_else(|| EpisodesError::Failed(what.to_owned()))
    }

    fn with_context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.ok_or_else(|| EpisodesError::Failed(what()))
    }
}

/// Returns with [`EpisodesError::BadInput`].
macro_rules! bad_input {
    ($($text:tt)*) => {
        return Err($crate::error::EpisodesError::BadInput(format!($($text)*)))
    };
}
pub(crate) use bad_input;

#[cfg(test)]
mod tests {
    use super::*;

    /// The same refusal of the system, as every part hands it on.
    fn everywhere(kind: io::ErrorKind) -> Vec<EpisodesError> {
        let io = || io::Error::from(kind);
        let path = || std::path::PathBuf::from("x");
        let tape = || TapeError::File { what: "write", path: path(), reason: io() };
        let lerobot = || LerobotError::Io { what: "write", path: path(), source: io() };
        let beside = || LerobotError::Side(Box::new(tape()));
        vec![
            io().into(),
            tape().into(),
            lerobot().into(),
            TapeError::LeRobot(beside()).into(),
            Hdf5Error::Io { doing: "write", path: path(), source: io() }.into(),
            VideoError::Io { doing: "write", path: path(), source: io() }.into(),
            RunError::Tape { tick: 3, fault: Box::new(tape()) }.into(),
            EpisodesError::Context { what: "episode 3".into(), source: Box::new(tape().into()) },
        ]
    }

    #[test]
    fn a_full_disk_and_a_missing_file_are_the_same_everywhere() {
        for error in everywhere(io::ErrorKind::StorageFull) {
            assert_eq!(error.kind(), ErrorKind::Failed, "{error:?}");
        }
        for error in everywhere(io::ErrorKind::NotFound) {
            assert_eq!(error.kind(), ErrorKind::BadInput, "{error:?}");
        }
    }

    #[test]
    fn what_was_asked_for_is_bad_input_and_what_broke_is_not() {
        let why = || "no such episode".to_owned();
        assert_eq!(EpisodesError::from(TapeError::Missing(why())).kind(), ErrorKind::BadInput);
        assert_eq!(EpisodesError::from(TapeError::Recording(why())).kind(), ErrorKind::Failed);
        let fault = RunError::Pilot { tick: 0, fault: why().into() };
        assert_eq!(EpisodesError::from(fault).kind(), ErrorKind::Failed);
        let stopped: Result<()> = Err(EpisodesError::Interrupted).context("2 of 5 episodes");
        let stopped = stopped.unwrap_err();
        assert_eq!(stopped.kind(), ErrorKind::Interrupted);
        assert_eq!(stopped.to_string(), "2 of 5 episodes");
    }
}
