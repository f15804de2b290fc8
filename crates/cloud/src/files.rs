//! Clouds in files: the kind is told by the content, and by the name where that is not enough.

use std::path::Path;

use super::depth_file::{self, DepthCamera};
use super::sidecar::Sidecar;
use super::{npz, organised, pcd, ply};
use crate::cloud::Cloud;
use crate::error::CloudError;
use crate::pixel_order::CameraModel;

/// Larger files are refused before memory is taken for them.
const MAX_FILE_BYTES: u64 = 1 << 31;

/// Everything that a file and its sidecar say.
#[derive(Clone, Debug, PartialEq)]
pub struct CloudFile {
    /// The points.
    pub cloud: Cloud,
    /// What each point is, where somebody has said so (`.npz` only).
    pub labels: Option<Vec<u8>>,
    /// The JSON of the same name.
    pub sidecar: Sidecar,
}

/// Reads the cloud of an `.npz`, `.ply`, `.pcd` or depth `.png` file.
///
/// # Errors
/// Names the file, the byte or line, and what would be right.
pub fn read_cloud(path: &Path) -> Result<Cloud, CloudError> {
    Ok(CloudFile::read(path, None)?.cloud)
}

/// Writes a cloud as `.npz`, `.ply` (binary, little-endian) or `.pcd` (binary), by extension.
///
/// # Errors
/// When the extension is another, or the file cannot be written.
pub fn write_cloud(path: &Path, cloud: &Cloud) -> Result<(), CloudError> {
    let name = path.display().to_string();
    let bytes = match extension(path).as_str() {
        "npz" => npz::write(&name, cloud, None)?,
        "ply" => ply::write(cloud),
        "pcd" => pcd::write(cloud),
        other => {
            let reason = format!("extension \"{other}\", must be npz, ply or pcd");
            return Err(CloudError::bad(name, reason));
        }
    };
    crate::whole_file::write_whole(path, &bytes)
}

impl CloudFile {
    /// Reads a file and its sidecar. `width` says how many columns the picture has, where the
    /// file does not; without it only points that fit a pinhole are taken for a picture.
    ///
    /// # Errors
    /// Names the file, the byte or line, and what would be right.
    pub fn read(path: &Path, width: Option<usize>) -> Result<Self, CloudError> {
        Self::read_of(path, width, None)
    }

    /// The same of a camera that is known: files of depths need it. What stands beside the file
    /// counts where it is not.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_of(
        path: &Path,
        width: Option<usize>,
        camera: Option<&CameraModel>,
    ) -> Result<Self, CloudError> {
        let name = path.display().to_string();
        let io = |cause| CloudError::Io { path: name.clone(), cause };
        let size = std::fs::metadata(path).map_err(io)?.len();
        if size > MAX_FILE_BYTES {
            let reason = format!("has {size} bytes, more than {MAX_FILE_BYTES} are not read");
            return Err(CloudError::bad(name, reason));
        }
        let bytes = std::fs::read(path).map_err(io)?;
        let sidecar = Sidecar::beside(path)?;
        Self::from_bytes_of(&name, &bytes, width, sidecar, camera)
    }

    /// The same from bytes in memory; `name` is for errors and, where the content does not
    /// tell, its extension says the kind.
    ///
    /// # Errors
    /// Names the byte or line, and what would be right.
    pub fn from_bytes(
        name: &str,
        bytes: &[u8],
        width: Option<usize>,
        sidecar: Sidecar,
    ) -> Result<Self, CloudError> {
        Self::from_bytes_of(name, bytes, width, sidecar, None)
    }

    fn from_bytes_of(
        name: &str,
        bytes: &[u8],
        width: Option<usize>,
        sidecar: Sidecar,
        camera: Option<&CameraModel>,
    ) -> Result<Self, CloudError> {
        let beside = sidecar.camera_model();
        let scale_m = sidecar.depth_scale_m.unwrap_or(depth_file::MILLIMETRE_M);
        let camera = DepthCamera { model: camera.or(beside.as_ref()), scale_m };
        let mut contents = match format_of(name, bytes)? {
            FileFormat::Npz => npz::read(name, bytes, camera)?,
            FileFormat::Png => depth_file::read_png(name, bytes, camera)?,
            FileFormat::Ply => ply::read(name, bytes)?,
            FileFormat::Pcd => pcd::read(name, bytes)?,
        };
        if let Some(stamp_ns) = sidecar.stamp_ns {
            contents.cloud.stamp_ns = stamp_ns;
        }
        let points = contents.cloud.xyz_m.len();
        let said =
            sidecar.width.zip(sidecar.height).filter(|(w, h)| w.checked_mul(*h) == Some(points));
        if let Some(width) = width {
            if width == 0 || !points.is_multiple_of(width) {
                let reason = format!("{points} points do not make rows of {width}");
                return Err(CloudError::bad(name, reason));
            }
            contents.cloud.width = width;
        } else if !contents.organised && points > 0 {
            let width = said.map(|(width, _)| width);
            let width = width.or_else(|| organised::picture_width(&contents.cloud.xyz_m));
            contents.cloud.width = width.unwrap_or(points);
        }
        Ok(Self { cloud: contents.cloud, labels: contents.labels, sidecar })
    }

    /// Writes cloud and labels as `.npz`.
    ///
    /// # Errors
    /// When there are labels for some points only, or the file cannot be written.
    pub fn write_npz(&self, path: &Path) -> Result<(), CloudError> {
        let name = path.display().to_string();
        let points = self.cloud.xyz_m.len();
        if let Some(labels) = self.labels.as_ref().filter(|l| l.len() != points) {
            let reason = format!("{} labels for {points} points", labels.len());
            return Err(CloudError::bad(name, reason));
        }
        let bytes = npz::write(&name, &self.cloud, self.labels.as_deref())?;
        crate::whole_file::write_whole(path, &bytes)
    }
}

enum FileFormat {
    Npz,
    Png,
    Ply,
    Pcd,
}

fn format_of(name: &str, bytes: &[u8]) -> Result<FileFormat, CloudError> {
    if bytes.starts_with(b"PK") {
        return Ok(FileFormat::Npz);
    }
    if bytes.starts_with(b"\x89PNG") {
        return Ok(FileFormat::Png);
    }
    if bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r") {
        return Ok(FileFormat::Ply);
    }
    let extension = extension(Path::new(name));
    if bytes.starts_with(b"# .PCD") || bytes.starts_with(b"VERSION") || extension == "pcd" {
        return Ok(FileFormat::Pcd);
    }
    let begin = match extension.as_str() {
        "npz" => "byte 0: an .npz archive begins with PK",
        "ply" => "byte 0: a .ply file begins with a line \"ply\"",
        "png" => "byte 0: is no .png file",
        _ => "is neither .npz, .ply, .pcd nor a depth .png",
    };
    Err(CloudError::bad(name, begin))
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}
