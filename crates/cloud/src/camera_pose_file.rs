//! Camera poses on disk: never half written, the one before is kept.

use std::path::{Path, PathBuf};

use citrange_core::schema::schema_of;
use citrange_core::yaml::from_yaml;
use serde::Deserialize;

use crate::camera_pose::CameraPose;
use crate::error::CloudError;

/// Version of the file's format.
const FORMAT: u32 = 1;

/// The file as it is written.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct PoseFile {
    format: u32,
    /// Who wrote it; for people.
    #[serde(rename = "tool")]
    _tool: String,
    xyz_m: [f64; 3],
    rpy_deg: [f64; 3],
}

impl CameraPose {
    /// Saves the pose as YAML. At every moment the file holds the old pose or the new one; the
    /// old one is kept beside it with `.bak` at the end.
    ///
    /// # Errors
    /// When a number is not finite or a file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), CloudError> {
        let name = path.display().to_string();
        if !self.xyz_m.iter().chain(&self.rpy_deg).all(|v| v.is_finite()) {
            return Err(CloudError::bad(name, format!("{self:?} is no pose: must be finite")));
        }
        // Rust prints the shortest digits that give the same number back.
        let text = format!(
            "format: {FORMAT}\ntool: citrange {}\nxyz_m: {:?}\nrpy_deg: {:?}\n",
            env!("CARGO_PKG_VERSION"),
            self.xyz_m,
            self.rpy_deg
        );
        let io = |cause| CloudError::Io { path: name.clone(), cause };
        match std::fs::read(path) {
            Ok(old) => crate::whole_file::write_whole(&beside(path, ".bak"), &old)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(io(error)),
        }
        crate::whole_file::write_whole(path, text.as_bytes())
    }

    /// Reads a pose that was saved, bit for bit.
    ///
    /// # Errors
    /// Names the file, the line and the key.
    pub fn load(path: &Path) -> Result<Self, CloudError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|cause| CloudError::Io { path: name.clone(), cause })?;
        Self::from_yaml(&text, &name)
    }

    /// The JSON schema of the file.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schema_of::<PoseFile>("Where a camera stands")
    }

    /// The same from text; `name` is for errors.
    ///
    /// # Errors
    /// Names the line and the key.
    pub fn from_yaml(text: &str, name: &str) -> Result<Self, CloudError> {
        let file: PoseFile = from_yaml(text, name).map_err(|e| {
            let line = e.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            let key = if e.key.is_empty() { String::new() } else { format!("{}: ", e.key) };
            CloudError::bad(name, format!("{line}{key}{}", e.message))
        })?;
        if file.format != FORMAT {
            let reason = format!("format {}, this program reads {FORMAT}", file.format);
            return Err(CloudError::bad(name, reason));
        }
        Ok(Self { xyz_m: file.xyz_m, rpy_deg: file.rpy_deg })
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
