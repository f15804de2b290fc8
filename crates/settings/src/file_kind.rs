//! The kinds of files that people write, with their schemas.

use citrange_cloud::CameraPose;
use citrange_control::ControllerSettings;
use citrange_core::randomise::Randomise;
use citrange_core::schema::schema_of;
use citrange_core::{RobotDescription, Scene};
use citrange_link::RigFile;
use citrange_plan::WorldFile;
use citrange_space::Cell;
use citrange_task::AutopilotSettings;
use citrange_twin::{GoalFile, TwinSettings};
use serde_json::Value;

/// A kind of file.
#[derive(Clone, Copy, Debug)]
pub struct FileKind {
    /// Its name, as people write it.
    pub name: &'static str,
    /// What it says, and where it is used.
    pub about: &'static str,
    schema: fn() -> Value,
}

/// All kinds, but those whose keys are the options of a command: see [`crate::options_schema`].
pub const FILE_KINDS: [FileKind; 11] = [
    FileKind {
        name: "scene",
        about: "What stands where: scenes/*.yaml",
        schema: || schema_of::<Scene>("A scene"),
    },
    FileKind {
        name: "robot",
        about: "What a robot is: models/*/robot.yaml",
        schema: || schema_of::<RobotDescription>("A robot"),
    },
    FileKind {
        name: "control",
        about: "How an arm answers to keys: drive --profile",
        schema: ControllerSettings::schema,
    },
    FileKind {
        name: "task",
        about: "Numbers of the autopilot: collect --autopilot",
        schema: AutopilotSettings::schema,
    },
    FileKind {
        name: "randomise",
        about: "What differs from episode to episode: collect --randomise",
        schema: || schema_of::<Randomise>("What differs from episode to episode"),
    },
    FileKind {
        name: "cell",
        about: "Cameras and robot of a cell: space --config",
        schema: || schema_of::<Cell>("A cell"),
    },
    FileKind {
        name: "rig",
        about: "A real arm: topics, limits: --rig-file",
        schema: || schema_of::<RigFile>("A real arm"),
    },
    FileKind {
        name: "world",
        about: "What is in the way: plan --obstacles",
        schema: || schema_of::<WorldFile>("What is in the way"),
    },
    FileKind {
        name: "camera-pose",
        about: "Where a camera stands: `pose_file` of a cell",
        schema: CameraPose::schema,
    },
    FileKind {
        name: "twin",
        about: "All numbers of a twin: twin --config",
        schema: TwinSettings::schema,
    },
    FileKind { name: "goals", about: "Goals of a twin: twin --goals", schema: GoalFile::schema },
];

impl FileKind {
    /// The JSON schema of such a file, for editors.
    #[must_use]
    pub fn schema(&self) -> Value {
        (self.schema)()
    }
}

/// A kind by its name.
#[must_use]
pub fn file_kind(name: &str) -> Option<&'static FileKind> {
    FILE_KINDS.iter().find(|kind| kind.name == name)
}
