//! What people write about a real arm: names of its topics, how it is driven, its cameras.

use std::path::Path;

use citrange_core::yaml::from_yaml;
use serde::{Deserialize, Serialize};

use crate::driver::DriverSettings;
use crate::error::LinkError;
use crate::ros1::Ros1Settings;

/// A real arm. Everything has a default: an empty file is the arm as its makers ship it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RigFile {
    /// On ROS 1.
    pub ros1: Ros1Settings,
    /// Cycles, limits, how it is let go; by default 125 cycles a second on ROS, 180 on a bus.
    pub driver: Option<DriverSettings>,
}

impl RigFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or a key or value is wrong: with file and line.
    pub fn load(path: &Path) -> Result<Self, LinkError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|cause| LinkError::Io { path: name.clone(), cause })?;
        from_yaml(&text, &name).map_err(|error| LinkError::bad("rig", error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_the_default_and_a_wrong_key_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rig.yaml");
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            RigFile::load(&file)
        };
        assert_eq!(read("{}").unwrap(), RigFile::default());
        let told = read("ros1: {joint_prefix: left_, delay_s: 0.2}\n").unwrap();
        assert_eq!((told.ros1.joint_prefix.as_str(), told.ros1.delay_s), ("left_", 0.2));
        let error = read("ros1:\n  joint_prefx: left_\n").unwrap_err().to_string();
        assert!(error.contains("joint_prefx") && error.contains("rig.yaml"), "{error}");
    }
}
