//! Cells as people write them.

use citrange_space::{Cell, OutlierMode};

fn load(text: &str) -> Result<Cell, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cell.yaml");
    std::fs::write(&path, text).unwrap();
    Cell::load(&path).map_err(|e| e.to_string())
}

#[test]
fn the_cell_in_the_manual_is_one() {
    let manual = include_str!("../../../../docs/space.md");
    let (_, rest) = manual.split_once("```yaml\n").unwrap();
    let cell = load(rest.split_once("```").unwrap().0).unwrap();
    assert_eq!(cell.cameras["depth"].xyz_m, [0.15, 1.7, 0.9]);
    assert_eq!(cell.robot.unwrap().tool.len(), 1);
    assert!(cell.pipeline.support.is_some() && cell.pipeline.outliers.is_none());
    assert_eq!(cell.map.clear_frames, 2);
}

#[test]
fn keys_of_the_first_system_work_and_wrong_ones_are_named() {
    let cell = load(
        "cameras: {d: {camera_xyz: [0.15, 1.7, 0.9], camera_rpy: [90, 90, 0]}}\n\
         pipeline:\n  voxel_size: 0.1\n  robot_voxel_safe_distance: 0.15\n  \
         workspace: {points_lower_bound: [-0.5, -1, -0.1], points_upper_bound: [1.2, 1.25, 1.5]}\n  \
         clusters: {voxel_cluster_threshold: 5}\n  outliers: {mode: exact}\n",
    )
    .unwrap();
    assert_eq!(cell.pipeline.voxel_size_m, 0.1);
    assert_eq!(cell.pipeline.robot_voxel_safe_distance_m, Some(0.15));
    assert_eq!(cell.pipeline.clusters.unwrap().min_voxels, 5);
    let outliers = cell.pipeline.outliers.unwrap();
    assert_eq!((outliers.neighbours, outliers.mode), (20, OutlierMode::Exact));
    let m = cell.cameras["d"].world_from_camera();
    assert_eq!(m.pos_m, [0.15, 1.7, 0.9]);

    let told = load("pipeline:\n  self_filter: {pading_m: 0.02}\n").unwrap_err();
    assert!(told.contains("cell.yaml:2: ") && told.contains("padding_m"), "{told}");
    let told = load("cameras: {d: {pose_file: nowhere.yaml}}\n").unwrap_err();
    assert!(told.contains("nowhere.yaml"), "{told}");
}
