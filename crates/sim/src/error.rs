//! Everything that can go wrong in a simulation, each with what would be right.

use std::path::PathBuf;

use citrange_cloud::CloudError;
use citrange_control::ControlError;
use citrange_core::placement::PlacementError;
use citrange_core::snapshot::SnapshotError;
use citrange_core::state::ShapeError;
use citrange_core::yaml::YamlError;
use citrange_core::{Classified, ErrorKind};
use citrange_mujoco::EngineError;
use citrange_render::RenderError;
use citrange_robot::RobotError;

/// Why a simulation command failed.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The engine is missing or wrong.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A YAML file is not as it should be.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// Objects found no room.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// Bytes that are not a snapshot.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Arrays of a state do not fit together.
    #[error("state: {0}")]
    Shape(#[from] ShapeError),
    /// An arm cannot be controlled as asked.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A robot makes no sense.
    #[error(transparent)]
    Robot(#[from] RobotError),
    /// A cloud could not be made of a picture.
    #[error(transparent)]
    Cloud(#[from] CloudError),
    /// A picture or setting that a depth sensor cannot work with.
    #[error("depth sensor: {what}: {reason}")]
    Sensor {
        /// The picture or setting.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A picture could not be made.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A name that is not known.
    #[error("unknown {kind} \"{name}\", {suggestion}")]
    Unknown {
        /// What kind of thing was looked for.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The nearest known name, and all of them.
        suggestion: String,
    },
    /// A scene that cannot be built.
    #[error("scene {scene}: {reason}")]
    Scene {
        /// Scene name or file.
        scene: String,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {reason}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        reason: String,
    },
    /// A state that cannot be set.
    #[error("state of environment {env}: {field}: {reason}")]
    State {
        /// Which environment.
        env: usize,
        /// Which field.
        field: String,
        /// Why not, and what would be right.
        reason: String,
    },
    /// An environment index out of range or given twice.
    #[error("environment {env} {reason}; there are {count}, numbered from 0")]
    Env {
        /// The index.
        env: usize,
        /// What is wrong with it.
        reason: &'static str,
        /// Number of environments.
        count: usize,
    },
    /// Numbers of the wrong length.
    #[error("{what}: {found} given, {expected} needed")]
    Length {
        /// What was given.
        what: String,
        /// How many.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// A snapshot of another engine version or model.
    #[error("the snapshot cannot be restored here: {0}")]
    Mismatch(String),
    /// The physics blew up.
    #[error(
        "environment {env} diverged at step {step}: {what}; lower the gains, shorten the time \
         step, or check the last targets"
    )]
    Diverged {
        /// Which environment.
        env: usize,
        /// Physics step since the episode began.
        step: u64,
        /// Which numbers are not finite.
        what: String,
    },
    /// No OpenGL to draw with.
    #[error(
        "no OpenGL on this machine. Tried {tried}. On Debian or Ubuntu: `apt-get install libegl1 \
         libgl1-mesa-dri` or `apt-get install libosmesa6`. The default software renderer needs \
         none of it"
    )]
    NoGl {
        /// What was tried, and why each failed.
        tried: String,
    },
    /// The OpenGL renderer cannot do what was asked.
    #[error("OpenGL renderer: {0}")]
    Gl(String),
    /// Pictures that could not be drawn beside the loop.
    #[error("pictures: {0}")]
    Drawing(String),
    /// The engine refused something.
    #[error("MuJoCo: {0}")]
    Mujoco(String),
}

impl SimError {
    /// Setting `key` of a depth sensor is out of range.
    pub(crate) fn sensor(key: &str, reason: String) -> Self {
        Self::Sensor { what: key.to_owned(), reason }
    }

    /// An unknown name, with the nearest known one.
    pub(crate) fn unknown<'a>(
        kind: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Self {
        let suggestion = citrange_core::names::suggestion(name, known);
        Self::Unknown { kind, name: name.to_owned(), suggestion }
    }
}

impl Classified for SimError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Engine(_)
            | Self::Mujoco(_)
            | Self::Diverged { .. }
            | Self::NoGl { .. }
            | Self::Gl(_) => ErrorKind::Failed,
            _ => ErrorKind::BadInput,
        }
    }
}
