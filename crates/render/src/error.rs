//! What can be wrong with a request to render.

use citrange_core::shape::MeshError;

/// Why a mesh, texture or frame could not be made. Nothing is drawn when one is returned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RenderError {
    /// The number of placements differs from the number of instances.
    #[error("{got} placements for {want} instances: give exactly one placement per instance")]
    PlacementCount {
        /// Placements given.
        got: usize,
        /// Instances in the model.
        want: usize,
    },
    /// A pose holds NaN, infinity or a coordinate too far away for single precision.
    #[error(
        "{what} has a position that is not finite or beyond {limit_m:e} m: coordinates must be finite metres"
    )]
    BadPosition {
        /// Which instance, light or camera.
        what: String,
        /// Largest coordinate accepted.
        limit_m: f64,
    },
    /// A pose's matrix is not a rotation.
    #[error(
        "{what} has a rotation matrix that is not orthonormal and right-handed: give world_from_body, row-major"
    )]
    BadRotation {
        /// Which instance or camera.
        what: String,
    },
    /// A shape's size is zero, negative, not finite, or absurdly small or large.
    #[error("instance {instance}: a {shape} needs sizes between {min_m:e} m and {max_m:e} m")]
    BadSize {
        /// Index in `SceneModel::instances`.
        instance: usize,
        /// Name of the shape.
        shape: &'static str,
        /// Smallest size accepted.
        min_m: f64,
        /// Largest size accepted.
        max_m: f64,
    },
    /// A material or light parameter is not finite or out of its range.
    #[error("{what} must be {valid}")]
    BadParameter {
        /// Which parameter of what.
        what: String,
        /// The values that would be right.
        valid: &'static str,
    },
    /// The camera's image size, focal lengths or depth range make no image.
    #[error("camera: {what} must be {valid}")]
    BadCamera {
        /// Which field.
        what: &'static str,
        /// The values that would be right.
        valid: &'static str,
    },
    /// A shape that is drawn as its pieces.
    #[error("instance {instance}: a {shape} is not drawn by itself: give the pieces it is made of")]
    NotDrawn {
        /// Index in `SceneModel::instances`.
        instance: usize,
        /// Name of the shape.
        shape: &'static str,
    },
    /// A mesh whose numbers do not fit together.
    #[error(transparent)]
    BadMesh(#[from] MeshError),
    /// A texture whose pixel data do not fit its size.
    #[error("texture: {what}")]
    BadTexture {
        /// What is wrong.
        what: String,
    },
    /// A batch whose list of frames has another length than its list of jobs.
    #[error("{frames} frames for {jobs} jobs: give exactly one frame per job")]
    BatchCount {
        /// Jobs given.
        jobs: usize,
        /// Frames given.
        frames: usize,
    },
    /// One job of a batch failed; the others were drawn.
    #[error("job {job} of the batch: {source}")]
    InJob {
        /// Index in the list of jobs; the lowest, if several failed.
        job: usize,
        /// What was wrong with it.
        source: Box<RenderError>,
    },
}
