//! Where the camera is: found from pairs of points or from a cube, adjusted by hand, watched.

mod align;
mod camera_pose;
mod cube;
mod cube_points;
mod drift;
mod pairs;
mod store;
mod surface;

pub use align::{Certainty, Freedom};
pub use camera_pose::{Adjust, Axis, CameraPose, Step};
pub use cube::{Cube, CubeCalibration, CubeSettings, from_cube};
pub use cube_points::cube_points;
pub use drift::{Drift, DriftSettings, DriftWatch, Offset, Verdict};
pub use pairs::{Calibration, from_pairs, from_pairs_robust};
