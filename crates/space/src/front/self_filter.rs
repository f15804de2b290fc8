//! Which points are the robot's own, or in the spheres around its hand.

use super::self_filter_quick::{Lanes, Quick};
use super::transform::CellTransform;
use crate::error::SpaceError;
use crate::frame::Fate;
use crate::grid::Grid;
use crate::settings::PipelineSettings;
use citrange_core::shape::{PosedLinkShape, Shape};
use citrange_lanes::Isa;

/// Bits of [`super::slots::Slot::near`]; part `i` has bit `i % BITS`.
const BITS: usize = 32;

/// The robot as posed when the cloud was taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct PosedRobot<'a> {
    /// The shapes of its links.
    pub shapes: &'a [PosedLinkShape],
    /// Where its hand is in the world, for `end_effector_spheres`.
    pub end_effector_m: Option<[f64; 3]>,
}

/// Everything that takes points away, ready for one frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct RobotVolume {
    parts: Vec<RobotPart>,
    /// Cells that the parts reach, all together.
    reach: CellBox,
    half_diagonal_m: f64,
}

#[derive(Clone, Debug)]
struct RobotPart {
    shape: PosedLinkShape,
    /// Points within this distance of the surface are taken away...
    reach_m: f64,
    /// ...with this fate.
    fate: Fate,
    cells: CellBox,
    quick: Quick,
}

/// A box of cells: its first cell, and how many more there are along each axis.
#[derive(Clone, Copy, Debug)]
struct CellBox {
    low: [u32; 3],
    more: [u32; 3],
}

impl RobotVolume {
    /// Gets ready for a frame.
    ///
    /// # Errors
    /// When a shape or the hand is not at finite numbers.
    pub(crate) fn pose(
        &mut self,
        settings: &PipelineSettings,
        robot: &PosedRobot<'_>,
        to_cell: &CellTransform,
    ) -> Result<(), SpaceError> {
        self.parts.clear();
        self.half_diagonal_m = to_cell.grid().voxel_m() * 0.75_f64.sqrt();
        if let Some(filter) = &settings.self_filter {
            for (number, shape) in robot.shapes.iter().enumerate() {
                if matches!(shape.shape, Shape::Plane { .. })
                    || shape.bounds_m(0.0).iter().flatten().any(|v| !v.is_finite())
                {
                    let reason =
                        format!("shape {number} must have an end and finite numbers: {shape:?}");
                    return Err(SpaceError::bad("robot", reason));
                }
                self.parts.push(RobotPart::new(shape, filter.padding_m, Fate::Robot, to_cell));
            }
        }
        if let (Some(spheres), Some(hand)) = (&settings.end_effector_spheres, robot.end_effector_m)
        {
            for offset in &spheres.offsets_m {
                let centre: [f64; 3] = std::array::from_fn(|a| hand[a] + offset[a]);
                if centre.iter().any(|v| !v.is_finite()) {
                    let reason = format!("end_effector_m {hand:?} must be three finite numbers");
                    return Err(SpaceError::bad("robot", reason));
                }
                let sphere = PosedLinkShape::capsule(0, centre, centre, spheres.radius_m);
                self.parts.push(RobotPart::new(&sphere, 0.0, Fate::EndEffector, to_cell));
            }
        }
        let bounds = self.parts.iter().map(|part| part.shape.bounds_m(part.reach_m));
        let all = bounds.reduce(|a, b| {
            let pick = |i: usize, of: fn(f64, f64) -> f64| {
                std::array::from_fn(|axis| of(a[i][axis], b[i][axis]))
            };
            [pick(0, f64::min), pick(1, f64::max)]
        });
        self.reach = all.map_or(CellBox::NONE, |bounds| CellBox::around(to_cell.grid(), bounds));
        Ok(())
    }

    /// Which parts points of a cell may belong to, as bits.
    pub(crate) fn near(&self, to_cell: &CellTransform, key: u32) -> u32 {
        if self.parts.is_empty() {
            return 0;
        }
        let cell = to_cell.grid().cell_of(key);
        let narrow = cell.map(|v| v as u32);
        if !self.reach.contains(narrow) {
            return 0;
        }
        let centre_m = to_cell.grid().centre_m(cell);
        let mut bits = 0;
        for (i, part) in self.parts.iter().enumerate() {
            let limit_m = part.reach_m + self.half_diagonal_m + 1e-9;
            if part.cells.contains(narrow) && part.shape.distance_m(centre_m) <= limit_m {
                bits |= 1 << (i % BITS);
            }
        }
        bits
    }

    /// Which of `these` points belong to the robot and which are in spheres, as bits. Only parts
    /// in `near` are looked at.
    pub(crate) fn taken(
        &self,
        near: u32,
        these: u16,
        points: &Lanes,
        to_cell: &CellTransform,
        isa: Isa,
    ) -> (u16, u16) {
        let (mut robot, mut spheres) = (0_u16, 0_u16);
        for (i, part) in self.parts.iter().enumerate() {
            if near >> (i % BITS) & 1 == 0 {
                continue;
            }
            let (mut within, unsure) = part.quick.within(points, isa);
            within &= these;
            let mut ask = unsure & these & !(robot | spheres);
            while ask != 0 {
                let lane = ask.trailing_zeros() as usize;
                ask &= ask - 1;
                let point_m = to_cell.world_m(points.map(|axis| axis[lane]));
                within |= u16::from(part.takes(point_m)) << lane;
            }
            match part.fate {
                Fate::Robot => robot |= within,
                _ => spheres |= within & !robot,
            }
            if robot == these {
                break;
            }
        }
        (robot, spheres)
    }

    /// What becomes of one point of the world, by asking every part.
    pub(crate) fn fate(&self, point_m: [f64; 3]) -> Option<Fate> {
        self.parts.iter().find(|part| part.takes(point_m)).map(|part| part.fate)
    }
}

impl RobotPart {
    fn new(shape: &PosedLinkShape, reach_m: f64, fate: Fate, to_cell: &CellTransform) -> Self {
        let cells = CellBox::around(to_cell.grid(), shape.bounds_m(reach_m));
        let quick = Quick::new(shape, reach_m, to_cell);
        Self { shape: shape.clone(), reach_m, fate, cells, quick }
    }

    fn takes(&self, point_m: [f64; 3]) -> bool {
        self.shape.distance_m(point_m) <= self.reach_m
    }
}

impl CellBox {
    /// No cell at all.
    const NONE: Self = Self { low: [u32::MAX; 3], more: [0; 3] };

    /// The cells of a box in the world, and one more around.
    fn around(grid: &Grid, [low_m, high_m]: [[f64; 3]; 2]) -> Self {
        let (mut low, mut more) = ([0; 3], [0; 3]);
        for a in 0..3 {
            let cell = |at_m: f64| ((at_m - grid.lower_m()[a]) / grid.voxel_m()).floor();
            let (first, last) = ((cell(low_m[a]) - 1.0).max(0.0), cell(high_m[a]) + 1.0);
            let last = last.min(grid.size()[a] as f64 - 1.0);
            if last < first {
                return Self::NONE;
            }
            low[a] = first as u32;
            more[a] = last as u32 - low[a];
        }
        Self { low, more }
    }

    /// Without branches: which cells are near is hard to guess.
    fn contains(&self, cell: [u32; 3]) -> bool {
        let within = |a: usize| cell[a].wrapping_sub(self.low[a]) <= self.more[a];
        within(0) & within(1) & within(2)
    }
}

impl Default for CellBox {
    fn default() -> Self {
        Self::NONE
    }
}
