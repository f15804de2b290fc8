//! From the camera to cells: quickly in f32 where that is sure, in f64 where it is not.

use citrange_core::Pose;

use crate::error::SpaceError;
use crate::grid::Grid;

/// Half the distance between 1 and the next f32: the largest relative error of one rounding.
const ROUNDING: f64 = 0.5 * f32::EPSILON as f64;

/// Above this error, in cells, f32 says nothing useful and every point is decided in f64.
const LARGEST_DOUBT: f64 = 0.2;

/// Takes points of the camera to cells of a grid.
///
/// The answer is that of f64: `world = rotation * point + translation`, then [`Grid::cell`].
/// The f32 numbers give the same cell times `voxel` with an error of at most `doubt` cells for
/// every point in or next to the workspace; whoever uses them must ask [`Self::cell_key`] where a
/// coordinate is nearer than that to a border.
#[derive(Clone, Debug)]
pub(crate) struct CellTransform {
    rotation: [[f64; 3]; 3],
    translation_m: [f64; 3],
    grid: Grid,
    /// Cell coordinates are `rows[a] * (x, y, z, 1)`.
    pub(crate) rows: [[f32; 4]; 3],
    /// Most that the f32 cell coordinates may be wrong.
    pub(crate) doubt: f32,
    /// Below or at this a point is surely outside.
    pub(crate) low: f32,
    /// At or above this a point is surely outside.
    pub(crate) high: [f32; 3],
    /// At or above this a point is not surely inside.
    pub(crate) sure_high: [f32; 3],
    /// Steps of a key along x, y, z.
    pub(crate) stride: [i32; 3],
    /// No point of the workspace is farther from the camera than this.
    farthest_m: f64,
}

impl CellTransform {
    /// The way from a camera at this pose to the grid's cells.
    ///
    /// # Errors
    /// When the pose is not one: numbers that are not finite, or a quaternion of length 0.
    pub(crate) fn new(grid: &Grid, world_from_camera: &Pose) -> Result<Self, SpaceError> {
        let bad = |reason: String| Err(SpaceError::bad("pose of the camera", reason));
        let (pos_m, quat) = (world_from_camera.pos_m, world_from_camera.quat_wxyz);
        if pos_m.iter().any(|v| !v.is_finite()) {
            return bad(format!("position {pos_m:?} must be three finite numbers in metres"));
        }
        let length = quat.iter().map(|v| v * v).sum::<f64>().sqrt();
        if !(length.is_finite() && length > 1e-9) {
            return bad(format!("quaternion {quat:?} (w, x, y, z) must have a length, 1 at best"));
        }
        let rotation = world_from_camera.isometry().rotation.to_rotation_matrix();
        let rotation: [[f64; 3]; 3] =
            std::array::from_fn(|row| std::array::from_fn(|col| rotation[(row, col)]));
        let (lower, upper, voxel) = (grid.lower_m(), grid.upper_m(), grid.voxel_m());
        let farthest_m = (0..3)
            .map(|a| (lower[a] - pos_m[a]).abs().max((upper[a] - pos_m[a]).abs()) + 2.0 * voxel)
            .map(|v| v * v)
            .sum::<f64>()
            .sqrt();
        let offset: [f64; 3] = std::array::from_fn(|a| (pos_m[a] - lower[a]) / voxel);
        let extent: [f64; 3] = std::array::from_fn(|a| (upper[a] - lower[a]) / voxel);
        // Coefficients are rounded once, products and sums six times, borders once more; none of
        // these numbers is larger than this sum (Cauchy-Schwarz for the rotated part).
        let largest = farthest_m / voxel
            + offset.iter().chain(&extent).fold(0.0_f64, |most, v| most.max(v.abs()));
        let doubt = 10.0 * ROUNDING * largest + 1e-9;
        let size = grid.size();
        let mut made = Self {
            rotation,
            translation_m: pos_m,
            grid: *grid,
            rows: std::array::from_fn(|a| {
                let r = rotation[a].map(|v| (v / voxel) as f32);
                [r[0], r[1], r[2], offset[a] as f32]
            }),
            doubt: doubt as f32,
            low: -doubt as f32,
            high: extent.map(|e| (e + doubt) as f32),
            sure_high: extent.map(|e| (e - doubt) as f32),
            stride: [1, size[0] as i32, (size[0] * size[1]) as i32],
            farthest_m,
        };
        if doubt.is_nan() || doubt > LARGEST_DOUBT {
            made.doubt_everything();
        }
        Ok(made)
    }

    /// Every seen point gets a coordinate in the middle of the doubt.
    fn doubt_everything(&mut self) {
        self.rows = [[0.0; 4]; 3];
        self.doubt = 1.0;
        self.low = -1.0;
        self.high = [1.0; 3];
        self.sure_high = [-1.0; 3];
    }

    /// A point of the camera in the world.
    pub(crate) fn world_m(&self, point: [f32; 3]) -> [f64; 3] {
        let p = point.map(f64::from);
        std::array::from_fn(|a| {
            let r = self.rotation[a];
            r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + self.translation_m[a]
        })
    }

    /// Key of the cell of a point of the camera, decided in f64; `None` outside.
    pub(crate) fn cell_key(&self, point: [f32; 3]) -> Option<u32> {
        self.grid.cell(self.world_m(point)).map(|cell| self.grid.key(cell))
    }

    /// Rotation and translation of the camera in the world.
    pub(crate) fn parts(&self) -> ([[f64; 3]; 3], [f64; 3]) {
        (self.rotation, self.translation_m)
    }

    /// No point of the workspace is farther from the camera than this.
    pub(crate) fn farthest_m(&self) -> f64 {
        self.farthest_m
    }

    /// The cells.
    pub(crate) fn grid(&self) -> &Grid {
        &self.grid
    }
}
