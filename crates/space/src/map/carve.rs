//! Which voxels a camera with a depth picture has looked through.
//!
//! A voxel was looked through when the pixel of its centre saw something, and every pixel of its
//! footprint that saw anything saw it behind the voxel's far side and a margin. The footprint is
//! that of a box around the voxel along the camera's axes, and must lie in the picture. Blocks of
//! voxels are tried first: a block that is free, or hidden, decides for all of its voxels.

use nalgebra::{Isometry3, Vector3};

use crate::cloud::Pinhole;
use crate::grid::Grid;
use crate::map::depth::DepthPicture;

/// Nearer than this to the camera's plane, voxels have no footprint.
const NEAREST_M: f32 = 0.02;

/// Room for rounding of pixel coordinates.
const ROUNDING_PX: f32 = 0.01;

/// Edge of the blocks that are tried first, in cells; a power of 2.
const LARGEST: usize = 16;

/// A box of cells: the first one and how many along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellBox {
    pub(crate) first: [usize; 3],
    pub(crate) size: [usize; 3],
}

/// What the picture says of all voxels of a block.
enum Verdict {
    Free,
    /// None of them is free.
    Hidden,
    Mixed,
}

/// A picture, seen from a grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carver<'a> {
    grid: &'a Grid,
    picture: &'a DepthPicture,
    pinhole: [f32; 4],
    /// Centre of cell `(0, 0, 0)` in the camera's frame, and the way to the next cell along each
    /// axis of the grid.
    corner_m: Vector3<f64>,
    along_m: [Vector3<f64>; 3],
    margin_m: f32,
}

impl<'a> Carver<'a> {
    pub(crate) fn new(
        grid: &'a Grid,
        picture: &'a DepthPicture,
        pinhole: &Pinhole,
        world_from_camera: &Isometry3<f64>,
        margin_m: f64,
    ) -> Self {
        let camera_from_world = world_from_camera.inverse();
        let corner_m = camera_from_world * nalgebra::Point3::from(grid.centre_m([0; 3]));
        let axis = |a: usize| camera_from_world.rotation * (Vector3::ith(a, 1.0) * grid.voxel_m());
        Self {
            grid,
            picture,
            pinhole: [pinhole.fx, pinhole.fy, pinhole.cx, pinhole.cy].map(|v| v as f32),
            corner_m: corner_m.coords,
            along_m: [axis(0), axis(1), axis(2)],
            margin_m: margin_m as f32,
        }
    }

    /// Calls `free` with boxes that hold all voxels that were looked through, and no other.
    pub(crate) fn carve(&self, free: &mut impl FnMut(CellBox)) {
        let size = self.grid.size();
        for z in (0..size[2]).step_by(LARGEST) {
            for y in (0..size[1]).step_by(LARGEST) {
                for x in (0..size[0]).step_by(LARGEST) {
                    self.visit([x, y, z], LARGEST, free);
                }
            }
        }
    }

    fn visit(&self, first: [usize; 3], edge: usize, free: &mut impl FnMut(CellBox)) {
        let size = self.grid.size();
        match self.judge(first, edge) {
            Verdict::Hidden => {}
            Verdict::Free => {
                let inside = std::array::from_fn(|a| edge.min(size[a] - first[a]));
                free(CellBox { first, size: inside });
            }
            Verdict::Mixed if edge == 1 => {}
            Verdict::Mixed => {
                let half = edge / 2;
                for part in 0..8 {
                    let at = std::array::from_fn(|a| first[a] + half * (part >> a & 1));
                    if (0..3).all(|a| at[a] < size[a]) {
                        self.visit(at, half, free);
                    }
                }
            }
        }
    }

    fn judge(&self, first: [usize; 3], edge: usize) -> Verdict {
        let middle = (edge - 1) as f64 / 2.0;
        let mut centre_m = self.corner_m;
        let mut half_m = Vector3::zeros();
        for a in 0..3 {
            centre_m += self.along_m[a] * (first[a] as f64 + middle);
            half_m += self.along_m[a].abs() * (edge as f64 / 2.0);
        }
        let [cx, cy, cz] = [centre_m.x, centre_m.y, centre_m.z].map(|v| v as f32);
        let [hx, hy, hz] = [half_m.x, half_m.y, half_m.z].map(|v| v as f32);
        let (near, far) = (cz - hz, cz + hz);
        if far < NEAREST_M {
            return Verdict::Hidden;
        }
        if near < NEAREST_M {
            return Verdict::Mixed;
        }
        let [fx, fy, px, py] = self.pinhole;
        let (width, height) = self.picture.size();
        if edge == 1 {
            // One look at the pixel of the centre decides most voxels.
            let (u, v) = ((fx * cx / cz + px).round(), (fy * cy / cz + py).round());
            if !(u >= 0.0 && v >= 0.0 && u < width as f32 && v < height as f32) {
                return Verdict::Hidden;
            }
            let depth_m = self.picture.depth_m(u as usize, v as usize);
            if depth_m == f32::INFINITY || depth_m <= far + self.margin_m {
                return Verdict::Hidden;
            }
        }
        let (inverse_near, inverse_far) = (1.0 / near, 1.0 / far);
        let range = |centre: f32, half: f32, focal: f32, axis: f32| {
            let (low, high) = (centre - half, centre + half);
            let low = low * if low < 0.0 { inverse_near } else { inverse_far };
            let high = high * if high > 0.0 { inverse_near } else { inverse_far };
            [focal * low + axis - ROUNDING_PX, focal * high + axis + ROUNDING_PX]
        };
        let (u, v) = (range(cx, hx, fx, px), range(cy, hy, fy, py));
        let (right, bottom) = ((width - 1) as f32, (height - 1) as f32);
        if u[1] < 0.0 || v[1] < 0.0 || u[0] > right || v[0] > bottom {
            return Verdict::Hidden;
        }
        if !(u[0] >= 0.0 && v[0] >= 0.0 && u[1] <= right && v[1] <= bottom) {
            return Verdict::Mixed;
        }
        let seen = self
            .picture
            .look([u[0] as usize, v[0] as usize], [u[1].ceil() as usize, v[1].ceil() as usize]);
        if seen.nearest_m > far + self.margin_m && seen.nearest_m < f32::INFINITY {
            if !seen.holes || edge == 1 { Verdict::Free } else { Verdict::Mixed }
        } else if seen.furthest_m <= near {
            Verdict::Hidden
        } else {
            Verdict::Mixed
        }
    }
}
