//! Clouds to voxels.

use citrange_cloud::{Cloud, CloudError};
use citrange_core::{Classified, ErrorKind, Pose};
use citrange_space::{Fate, Pipeline, PipelineSettings, PosedRobot, SpaceError};
use ndarray::Array2;
use numpy::{IntoPyArray as _, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::guard::guarded;
use crate::json;
use crate::raise::bad_input;
use crate::states::numbers;

#[derive(Debug, PartialEq)]
struct NoVoxels(String, ErrorKind);

impl std::fmt::Display for NoVoxels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoVoxels {}

impl Classified for NoVoxels {
    fn kind(&self) -> ErrorKind {
        self.1
    }
}

impl From<CloudError> for NoVoxels {
    fn from(error: CloudError) -> Self {
        Self(error.to_string(), error.kind())
    }
}

impl From<SpaceError> for NoVoxels {
    fn from(error: SpaceError) -> Self {
        Self(error.to_string(), error.kind())
    }
}

/// Voxels of a cloud: points (N, 3) or (height, width, 3) in the camera's frame, the camera's pose
/// in the world, and settings as in a cell's file.
#[pyfunction]
pub(crate) fn voxels<'py>(
    py: Python<'py>,
    points: &Bound<'py, PyAny>,
    pos_m: [f64; 3],
    quat_wxyz: [f64; 4],
    settings: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let array = numbers(points, "cloud")?;
    let width = match array.shape() {
        [_, 3] => 1,
        [_, width, 3] => *width,
        other => {
            let text = format!("cloud: shape {other:?}; (N, 3) or (height, width, 3) is needed");
            return Err(bad_input(py, text));
        }
    };
    let flat: Vec<f64> = array.iter().copied().collect();
    let xyz: Vec<[f32; 3]> = flat
        .chunks_exact(3)
        .map(|point| [point[0] as f32, point[1] as f32, point[2] as f32])
        .collect();
    let settings: PipelineSettings =
        serde_json::from_value(json::from_py(settings, "settings")?)
            .map_err(|error| bad_input(py, format!("settings: {error}")))?;
    let frame = guarded(py, || {
        let cloud = Cloud::new(xyz, Vec::new(), width.max(1), 0)?;
        let mut pipeline = Pipeline::new(settings)?;
        let pose = Pose { pos_m, quat_wxyz };
        Ok::<_, NoVoxels>(pipeline.run(&cloud, &pose, &PosedRobot::default())?.clone())
    })?;
    let dict = PyDict::new(py);
    let centers: Vec<f64> = frame
        .voxels
        .iter()
        .flat_map(|voxel| frame.grid.centre_m(frame.grid.cell_of(voxel.key)))
        .collect();
    let centers = Array2::from_shape_vec((frame.voxels.len(), 3), centers);
    let centers = centers.map_err(|error| bad_input(py, error.to_string()))?;
    dict.set_item("centers_m", centers.into_pyarray(py))?;
    let counts = frame.voxels.iter().map(|voxel| voxel.points);
    dict.set_item("points", PyArray1::from_iter(py, counts))?;
    let groups = frame.voxels.iter().map(|voxel| voxel.cluster);
    dict.set_item("cluster", PyArray1::from_iter(py, groups))?;
    let counts = PyDict::new(py);
    for fate in Fate::ALL {
        counts.set_item(fate.name(), frame.counts.of(fate))?;
    }
    dict.set_item("counts", counts)?;
    Ok(dict)
}
