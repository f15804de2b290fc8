//! Why a cell's frames were of no use.

use std::path::{Path, PathBuf};

use citrange_calibrate::CalibrateError;
use citrange_cloud::CloudError;
use citrange_core::{Classified, ErrorKind};
use citrange_render::{ImageError, RenderError};
use citrange_robot::RobotError;
use citrange_sim::SimError;
use citrange_space::SpaceError;

/// What can go wrong with a cell.
#[derive(Debug, thiserror::Error)]
pub enum CellError {
    /// A frame, a cell's file or a map.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// Points that say nothing about a camera's pose.
    #[error(transparent)]
    Calibrate(#[from] CalibrateError),
    /// A cloud or a camera's pose.
    #[error(transparent)]
    Cloud(#[from] CloudError),
    /// A robot, or what is asked of it.
    #[error(transparent)]
    Robot(#[from] RobotError),
    /// The simulator.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// A picture that cannot be drawn.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A picture that cannot be written.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The robot of a frame cannot be built.
    #[error("{}", .frame.display())]
    Body {
        /// The frame.
        frame: PathBuf,
        /// Why.
        source: Box<Self>,
    },
    /// The system refused something.
    #[error("{what} {}", .path.display())]
    File {
        /// What could not be done.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl CellError {
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::File { what, path: path.to_owned(), source }
    }
}

impl Classified for CellError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Space(error) => error.kind(),
            Self::Calibrate(error) => error.kind(),
            Self::Cloud(error) => error.kind(),
            Self::Robot(error) => error.kind(),
            Self::Sim(error) => error.kind(),
            Self::Render(_) => ErrorKind::Failed,
            Self::Image(error) => ErrorKind::of_io(error.source.kind()),
            Self::Body { source, .. } => source.kind(),
            Self::File { source, .. } => ErrorKind::of_io(source.kind()),
        }
    }
}
