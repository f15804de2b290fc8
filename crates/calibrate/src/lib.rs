//! Where the camera is: found from pairs of points or from a cube, and watched for drift.
//!
//! ```
//! use citrange_calibrate::from_pairs;
//!
//! // The camera stands 1 m above the world's origin and looks as the world's axes do.
//! let camera_m = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.3]];
//! let world_m = camera_m.map(|[x, y, z]| [x, y, z + 1.0]);
//! let found = from_pairs(&camera_m, &world_m)?;
//! assert!((found.world_from_camera.pos_m[2] - 1.0).abs() < 1e-9);
//! # Ok::<(), citrange_calibrate::CalibrateError>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | pairs of points, with outliers or without | `pairs.rs` |
//! | a cube in sight | `cube.rs`, `cube_points.rs` |
//! | whether a camera drifted | `drift.rs`; fitting points to surfaces `align.rs`, `surface.rs` |
//!
//! The pose itself, adjusted by hand and kept in a file, is [`citrange_cloud::CameraPose`].

mod align;
mod cube;
mod cube_points;
mod drift;
mod error;
mod pairs;
mod surface;

pub use align::{Certainty, Freedom};
pub use cube::{Cube, CubeCalibration, CubeSettings, from_cube};
pub use cube_points::cube_points;
pub use drift::{Drift, DriftSettings, DriftVerdict, DriftWatch, Offset};
pub use error::CalibrateError;
pub use pairs::{Calibration, from_pairs, from_pairs_robust};
