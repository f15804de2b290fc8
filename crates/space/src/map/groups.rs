//! Where the groups of a frame are: centroids of their points, not of their voxels.
//!
//! Centres of voxels jump by a whole voxel when a flat side of a thing crosses a border, which
//! would look like speed. So points are looked up in the frame's voxels and summed as they are.

use nalgebra::{Isometry3, Point3};

use crate::frame::VoxelFrame;
use crate::grid::Grid;
use crate::map::bits::Bits;
use crate::map::tracks::Group;

/// Points that are looked up in a frame, about.
const SAMPLES: usize = 20_000;

/// Sums of the points of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    points: f64,
    place_m: [f64; 3],
    /// The same with centres of voxels, for groups that no sample meets.
    voxel_points: f64,
    voxel_place_m: [f64; 3],
    voxels: u32,
}

/// Sums up the groups of one frame after the other.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    grid: Grid,
    /// Group of each cell with points in this frame.
    of_cell: Vec<u32>,
    sums: Vec<Sum>,
    groups: Vec<Group>,
}

impl Groups {
    pub(crate) fn new(grid: &Grid) -> Self {
        let of_cell = vec![0; grid.cells()];
        Self { grid: *grid, of_cell, sums: Vec::new(), groups: Vec::new() }
    }

    /// Begins with the voxels of a frame.
    pub(crate) fn begin(&mut self, frame: &VoxelFrame) {
        self.sums.clear();
        let groups = frame.voxels.iter().map(|v| v.cluster as usize + 1).max().unwrap_or(0);
        self.sums.resize(groups.min(frame.voxels.len()), Sum::default());
        for voxel in &frame.voxels {
            self.of_cell[voxel.key as usize] = voxel.cluster;
            let centre_m = self.grid.centre_m(self.grid.cell_of(voxel.key));
            let Some(sum) = self.sums.get_mut(voxel.cluster as usize) else { continue };
            let weight = f64::from(voxel.points.max(1));
            sum.voxels += 1;
            sum.voxel_points += weight;
            for a in 0..3 {
                sum.voxel_place_m[a] += weight * centre_m[a];
            }
        }
    }

    /// Takes in points `start..` of `total` in the camera's frame. `hit` are the frame's voxels.
    pub(crate) fn add(
        &mut self,
        hit: &Bits,
        world_from_camera: &Isometry3<f64>,
        [start, total]: [usize; 2],
        [x, y, z]: [&[f32]; 3],
    ) {
        // Odd steps meet all columns of a picture in turn.
        let step = (total / SAMPLES) | 1;
        let first = (step - start % step) % step;
        for i in (first..x.len()).step_by(step) {
            let point = Point3::new(f64::from(x[i]), f64::from(y[i]), f64::from(z[i]));
            let place_m: [f64; 3] = (world_from_camera * point).coords.into();
            let Some(cell) = self.grid.cell(place_m).filter(|cell| hit.get(*cell)) else {
                continue;
            };
            let group = self.of_cell[self.grid.key(cell) as usize] as usize;
            let Some(sum) = self.sums.get_mut(group) else { continue };
            sum.points += 1.0;
            for a in 0..3 {
                sum.place_m[a] += place_m[a];
            }
        }
    }

    /// The groups that have voxels.
    pub(crate) fn finish(&mut self) -> &[Group] {
        self.groups.clear();
        for sum in self.sums.iter().filter(|sum| sum.voxels > 0) {
            let centroid_m = if sum.points >= 8.0 {
                sum.place_m.map(|p| p / sum.points)
            } else {
                sum.voxel_place_m.map(|p| p / sum.voxel_points)
            };
            self.groups.push(Group { centroid_m, voxels: sum.voxels });
        }
        &self.groups
    }
}
