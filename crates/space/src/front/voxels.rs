//! From sums to voxels: which stay, with which colour.

use super::gap;
use super::slots::{Slot, Slots};
use crate::frame::{Counts, Fate, Voxel};
use crate::grid::Grid;
use citrange_core::shape::PosedLinkShape;

/// Which voxels stay.
pub(crate) struct Rules<'a> {
    /// Where they are.
    pub(crate) grid: &'a Grid,
    /// Whether a voxel needs a point that its neighbours confirm.
    pub(crate) confirmed: bool,
    /// Whether a voxel needs more points than one.
    pub(crate) min_points: u32,
    /// How near to the robot a voxel may be.
    pub(crate) safe_distance_m: Option<f64>,
    /// The robot.
    pub(crate) shapes: &'a [PosedLinkShape],
}

impl Rules<'_> {
    /// Writes voxels that stay, in the order of keys, and counts the points of the others.
    pub(crate) fn collect(&self, slots: &mut Slots, voxels: &mut Vec<Voxel>, counts: &mut Counts) {
        voxels.clear();
        slots.for_each_in_order(|slot| {
            if slot.points == 0 {
                return;
            }
            slot.fate = self.fate(slot);
            if slot.fate == Fate::Kept {
                let rgb = slot.rgb();
                voxels.push(Voxel { key: slot.key, points: slot.points, rgb, cluster: 0 });
            } else {
                counts.add(slot.fate, u64::from(slot.points));
            }
        });
    }

    fn fate(&self, slot: &Slot) -> Fate {
        if self.confirmed && slot.confirmed() == 0 {
            Fate::Unsupported
        } else if slot.points < self.min_points {
            Fate::Sparse
        } else if self.safe_distance_m.is_some_and(|limit_m| self.near_robot(slot.key, limit_m)) {
            Fate::NearRobot
        } else {
            Fate::Kept
        }
    }

    fn near_robot(&self, key: u32, limit_m: f64) -> bool {
        let centre_m = self.grid.centre_m(self.grid.cell_of(key));
        let half_m = 0.5 * self.grid.voxel_m();
        self.shapes.iter().any(|shape| gap::nearer_than(centre_m, half_m, shape, limit_m))
    }
}
