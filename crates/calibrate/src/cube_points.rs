//! The points of a cube, out of a whole frame.

use citrange_core::Pose;
use nalgebra::Point3;

use super::cube::Cube;

/// Points (camera frame) within `beside_m` of where the cube is believed to be, at least
/// `above_m` above its bottom: so without what it stands on.
#[must_use]
pub fn cube_points(
    points_m: &[[f32; 3]],
    cube: &Cube,
    guess: &Pose,
    beside_m: f64,
    above_m: f64,
) -> Vec<[f32; 3]> {
    let cube_from_camera = cube.world_from_cube.isometry().inverse() * guess.isometry();
    let half = cube.edge_m / 2.0;
    let inside = |point: &&[f32; 3]| {
        let at = cube_from_camera * Point3::from(point.map(f64::from));
        (0..3).all(|a| at[a].abs() <= half + beside_m) && at[2] >= above_m - half
    };
    points_m.iter().filter(inside).copied().collect()
}
