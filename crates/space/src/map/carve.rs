//! Which voxels a camera with a depth picture has looked through.
//!
//! A voxel was looked through when some pixel at its centre saw something, and every pixel of its
//! footprint that saw anything saw it behind the voxel's far side and a margin. The footprint is
//! that of a box around the voxel along the camera's axes, and must lie in the picture. "At its
//! centre" is a patch of pixels that lies in every voxel's footprint, so that single pixels that
//! saw nothing do no harm. Blocks of voxels are tried first: a block that is free, or hidden,
//! decides for all of its voxels.

use nalgebra::{Isometry3, Vector3};

use crate::grid::Grid;
use crate::map::depth::DepthPicture;
use crate::map::leaves;
use citrange_cloud::Pinhole;
use citrange_lanes::Isa;

/// Nearer than this to the camera's plane, voxels have no footprint.
pub(super) const NEAREST_M: f32 = 0.02;

/// Room for rounding of pixel coordinates.
pub(super) const ROUNDING_PX: f32 = 0.01;

/// Edge of the blocks that are tried first, in cells; a power of 2.
const LARGEST: usize = 16;

/// Edge of the smallest blocks; their voxels are tried one by one.
pub(super) const SMALLEST: usize = 4;

/// A box of cells: the first one and how many along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellBox {
    pub(crate) first: [usize; 3],
    pub(crate) size: [usize; 3],
}

/// What the picture says of all voxels of a block.
enum BlockView {
    Free,
    /// None of them is free.
    Hidden,
    Mixed,
}

/// A picture, seen from a grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carver<'a> {
    pub(super) grid: &'a Grid,
    pub(super) picture: &'a DepthPicture,
    /// Focal lengths and the pixel of the optical axis.
    pub(super) pinhole: [f32; 4],
    /// Centre of cell `(0, 0, 0)` in the camera's frame, and the way to the next cell along each
    /// axis of the grid.
    corner_m: Vector3<f64>,
    pub(super) along_m: [Vector3<f64>; 3],
    pub(super) margin_m: f32,
    pub(super) isa: Isa,
}

/// Edge of patches of pixels such that the one at the centre of a voxel, wherever that is, lies
/// in its footprint.
pub(crate) fn patch_px(grid: &Grid, pinhole: &Pinhole, world_from_camera: &Isometry3<f64>) -> f64 {
    let size = grid.size();
    let furthest_m = (0..8)
        .map(|corner| {
            let cell = std::array::from_fn(|a| if corner >> a & 1 == 1 { size[a] } else { 0 });
            world_from_camera.inverse_transform_point(&grid.centre_m(cell).into()).z
        })
        .fold(f64::from(NEAREST_M), f64::max);
    // A footprint is at least as large as a side that faces the camera.
    pinhole.fx.min(pinhole.fy) * grid.voxel_m() / furthest_m / 2.0
}

impl<'a> Carver<'a> {
    pub(crate) fn new(
        grid: &'a Grid,
        picture: &'a DepthPicture,
        pinhole: &Pinhole,
        world_from_camera: &Isometry3<f64>,
        margin_m: f64,
        isa: Isa,
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
            isa,
        }
    }

    /// Centre of a block in the camera's frame.
    pub(super) fn centre_m(&self, first: [usize; 3], edge: usize) -> Vector3<f64> {
        let middle = (edge - 1) as f64 / 2.0;
        (0..3).fold(self.corner_m, |at, a| at + self.along_m[a] * (first[a] as f64 + middle))
    }

    /// Half of the extent of a block along the camera's axes.
    pub(super) fn half_m(&self, edge: usize) -> Vector3<f64> {
        let sum = self.along_m[0].abs() + self.along_m[1].abs() + self.along_m[2].abs();
        sum * (edge as f64 / 2.0)
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
            BlockView::Hidden => {}
            BlockView::Free => {
                let inside = std::array::from_fn(|a| edge.min(size[a] - first[a]));
                free(CellBox { first, size: inside });
            }
            BlockView::Mixed if edge == SMALLEST => leaves::carve(self, first, free),
            BlockView::Mixed => {
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

    fn judge(&self, first: [usize; 3], edge: usize) -> BlockView {
        let (centre_m, half_m) = (self.centre_m(first, edge), self.half_m(edge));
        let [cx, cy, cz] = [centre_m.x, centre_m.y, centre_m.z].map(|v| v as f32);
        let [hx, hy, hz] = [half_m.x, half_m.y, half_m.z].map(|v| v as f32);
        let (near, far) = (cz - hz, cz + hz);
        if far < NEAREST_M {
            return BlockView::Hidden;
        }
        if near < NEAREST_M {
            return BlockView::Mixed;
        }
        let [fx, fy, px, py] = self.pinhole;
        let (width, height) = self.picture.size();
        let (inverse_near, inverse_far) = (1.0 / near, 1.0 / far);
        let inverse = [inverse_near, inverse_far];
        let u = leaves::range(cx, hx, inverse, [fx, px]);
        let v = leaves::range(cy, hy, inverse, [fy, py]);
        let (right, bottom) = ((width - 1) as f32, (height - 1) as f32);
        if u[1] < 0.0 || v[1] < 0.0 || u[0] > right || v[0] > bottom {
            return BlockView::Hidden;
        }
        if !(u[0] >= 0.0 && v[0] >= 0.0 && u[1] <= right && v[1] <= bottom) {
            return BlockView::Mixed;
        }
        let first = [u[0] as usize, v[0] as usize];
        let last = [u[1].ceil() as usize, v[1].ceil() as usize];
        let nearest_m = self.picture.nearest_m(first, last);
        let seen = self.picture.look(first, last);
        if nearest_m > far + self.margin_m && nearest_m < f32::INFINITY {
            if seen.blind { BlockView::Mixed } else { BlockView::Free }
        } else if seen.furthest_m <= near {
            BlockView::Hidden
        } else {
            BlockView::Mixed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps, slopes and holes before a tilted camera.
    fn picture(width: usize, height: usize) -> DepthPicture {
        let mut picture = DepthPicture::default();
        picture.resize(width, height);
        let depth = |i: usize| {
            let (column, row) = (i % width, i / width);
            match (i * 7919 % 4001, column / 40 % 3) {
                (0..300, _) => f32::NAN,
                (300, _) => 0.5,
                (_, 0) => 0.9 + row as f32 * 0.004,
                (_, 1) => 2.5,
                _ => f32::NAN,
            }
        };
        let depths_m: Vec<f32> = (0..width * height).map(depth).collect();
        picture.set(0, &depths_m);
        picture
    }

    #[test]
    fn all_instruction_sets_carve_the_same_voxels() {
        let mut picture = picture(320, 240);
        let pinhole = Pinhole { fx: 290.0, fy: 288.0, cx: 160.0, cy: 119.0 };
        let rotation = nalgebra::UnitQuaternion::from_euler_angles(0.3, -0.2, 0.4);
        // The nearest voxels have footprints larger than any square.
        let pose = Isometry3::from_parts(nalgebra::Translation3::new(0.0, 0.05, -0.1), rotation);
        for voxel_m in [0.02, 0.05] {
            let grid = Grid::new([-0.7, -0.6, -0.2], [0.71, 0.8, 1.5], voxel_m).unwrap();
            picture.finish(patch_px(&grid, &pinhole, &pose));
            let mut expected: Option<Vec<u32>> = None;
            for isa in Isa::available() {
                let carver = Carver::new(&grid, &picture, &pinhole, &pose, 0.02, isa);
                let mut free = Vec::new();
                carver.carve(&mut |CellBox { first, size }| {
                    for z in first[2]..first[2] + size[2] {
                        for y in first[1]..first[1] + size[1] {
                            let row = first[0]..first[0] + size[0];
                            free.extend(row.map(|x| grid.key([x, y, z])));
                        }
                    }
                });
                free.sort_unstable();
                assert!(free.len() > 500 && free.is_sorted_by(|a, b| a < b), "{}", free.len());
                assert_eq!(&free, expected.get_or_insert(free.clone()), "{isa:?}");
            }
        }
    }
}
