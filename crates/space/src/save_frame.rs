//! Voxels and fates as files.

use std::path::Path;

use citrange_cloud::{Cloud, NpzArray, write_cloud, write_npz};
use serde_json::Value;

use crate::error::SpaceError;
use crate::frame::{Fate, VoxelFrame};

/// Writes `<name>.voxels.npz`, `<name>.voxels.ply`, `<name>.fates.npz` and `<name>.json`.
///
/// # Errors
/// When a file cannot be written.
pub fn save_frame(
    folder: &Path,
    name: &str,
    frame: &VoxelFrame,
    fates: &[Fate],
    pixel_of: &[u32],
    told: &Value,
) -> Result<(), SpaceError> {
    let io = |path: &Path| {
        let path = path.display().to_string();
        move |cause| SpaceError::Io { path, cause }
    };
    std::fs::create_dir_all(folder).map_err(io(folder))?;
    let grid = &frame.grid;
    let cells: Vec<[u32; 3]> =
        frame.voxels.iter().map(|v| grid.cell_of(v.key).map(|c| c as u32)).collect();
    let centres: Vec<[f64; 3]> =
        frame.voxels.iter().map(|v| grid.centre_m(grid.cell_of(v.key))).collect();
    let rgb: Vec<[u8; 3]> = frame.voxels.iter().map(|v| v.rgb).collect();
    let points: Vec<u32> = frame.voxels.iter().map(|v| v.points).collect();
    let cluster: Vec<u32> = frame.voxels.iter().map(|v| v.cluster).collect();
    write_npz(
        &folder.join(format!("{name}.voxels.npz")),
        &[
            ("cell", NpzArray::U32(cells.as_flattened(), &[cells.len(), 3])),
            ("centre_m", NpzArray::F64(centres.as_flattened(), &[centres.len(), 3])),
            ("rgb", NpzArray::U8(rgb.as_flattened(), &[rgb.len(), 3])),
            ("points", NpzArray::U32(&points, &[points.len()])),
            ("cluster", NpzArray::U32(&cluster, &[cluster.len()])),
        ],
    )?;
    let bytes: Vec<u8> = if pixel_of.is_empty() {
        fates.iter().map(|fate| *fate as u8).collect()
    } else {
        // In the order in which the points came.
        let fate = |pixel: &u32| fates.get(*pixel as usize).copied().unwrap_or(Fate::NotSeen);
        pixel_of.iter().map(|pixel| fate(pixel) as u8).collect()
    };
    let path = folder.join(format!("{name}.fates.npz"));
    write_npz(&path, &[("fate", NpzArray::U8(&bytes, &[bytes.len()]))])?;
    let width = centres.len();
    let xyz_m = centres.iter().map(|c| c.map(|v| v as f32)).collect();
    let cloud = Cloud::new(xyz_m, rgb, width, frame.stamp_ns)?;
    write_cloud(&folder.join(format!("{name}.voxels.ply")), &cloud)?;
    let path = folder.join(format!("{name}.json"));
    std::fs::write(&path, format!("{told:#}\n")).map_err(io(&path))
}
