//! Which points are the robot's own, or in the spheres around its hand.

use nalgebra::{Isometry3, Matrix3, Rotation3, UnitQuaternion};

use super::block::LANES;
use super::transform::CellTransform;
use crate::error::SpaceError;
use crate::frame::Fate;
use crate::settings::Settings;
use crate::solid::{Form, Solid};

/// Bits of [`super::slots::Slot::near`]; part `i` has bit `i % BITS`.
const BITS: usize = 32;

/// Half the distance between 1 and the next f32.
const ROUNDING: f64 = 0.5 * f32::EPSILON as f64;

/// The robot as posed when the cloud was taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Robot<'a> {
    /// Its links.
    pub solids: &'a [Solid],
    /// Where its hand is in the world, for `end_effector_spheres`.
    pub end_effector_m: Option<[f64; 3]>,
}

/// Everything that takes points away, ready for one frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Own {
    parts: Vec<Part>,
    /// Cells that the parts reach, all together.
    reach: CellBox,
    half_diagonal_m: f64,
}

#[derive(Clone, Debug)]
struct Part {
    solid: Solid,
    /// Points within this distance of the surface are taken away...
    reach_m: f64,
    /// ...with this fate.
    fate: Fate,
    cells: CellBox,
    quick: Quick,
}

/// Corners of a box of cells, both in it.
#[derive(Clone, Copy, Debug, Default)]
struct CellBox {
    low: [i64; 3],
    high: [i64; 3],
}

/// A part in f32, seen from the camera.
#[derive(Clone, Copy, Debug)]
struct Quick {
    part_from_camera: [[f32; 4]; 3],
    form: QuickForm,
    /// A squared distance below this is surely within reach.
    surely_in: f32,
    /// A squared distance above this is surely not.
    surely_out: f32,
}

#[derive(Clone, Copy, Debug)]
enum QuickForm {
    /// Distance to a box.
    Box([f32; 3]),
    /// Distance to a cylinder: radius and half height.
    Cylinder(f32, f32),
}

/// Up to [`LANES`] points of the camera.
pub(crate) type Lanes = [[f32; LANES]; 3];

impl Own {
    /// Gets ready for a frame.
    ///
    /// # Errors
    /// When a solid or the hand is not at finite numbers.
    pub(crate) fn pose(
        &mut self,
        settings: &Settings,
        robot: &Robot<'_>,
        to_cell: &CellTransform,
    ) -> Result<(), SpaceError> {
        self.parts.clear();
        self.half_diagonal_m = to_cell.grid().voxel_m() * 0.75_f64.sqrt();
        if let Some(filter) = &settings.self_filter {
            for (number, solid) in robot.solids.iter().enumerate() {
                if solid.bounds_m(0.0).iter().flatten().any(|v| !v.is_finite()) {
                    let reason = format!("solid {number} must have finite numbers: {solid:?}");
                    return Err(SpaceError::bad("robot", reason));
                }
                self.parts.push(Part::new(*solid, filter.padding_m, Fate::Robot, to_cell));
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
                let sphere = Solid::capsule(0, centre, centre, spheres.radius_m);
                self.parts.push(Part::new(sphere, 0.0, Fate::EndEffector, to_cell));
            }
        }
        self.reach = self.parts.iter().map(|p| p.cells).reduce(CellBox::around).unwrap_or_default();
        Ok(())
    }

    /// Which parts points of a cell may belong to, as bits.
    pub(crate) fn near(&self, to_cell: &CellTransform, key: u32) -> u32 {
        if self.parts.is_empty() {
            return 0;
        }
        let cell = to_cell.grid().cell_of(key);
        if !self.reach.contains(cell) {
            return 0;
        }
        let centre_m = to_cell.grid().centre_m(cell);
        let mut bits = 0;
        for (i, part) in self.parts.iter().enumerate() {
            let limit_m = part.reach_m + self.half_diagonal_m + 1e-9;
            if part.cells.contains(cell) && part.solid.distance_m(centre_m) <= limit_m {
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
    ) -> (u16, u16) {
        let (mut robot, mut spheres) = (0_u16, 0_u16);
        for (i, part) in self.parts.iter().enumerate() {
            if near >> (i % BITS) & 1 == 0 {
                continue;
            }
            let (mut within, unsure) = part.quick.within(points);
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
        }
        (robot, spheres)
    }

    /// What becomes of one point of the world, by asking every part.
    pub(crate) fn fate(&self, point_m: [f64; 3]) -> Option<Fate> {
        self.parts.iter().find(|part| part.takes(point_m)).map(|part| part.fate)
    }
}

impl Part {
    fn new(solid: Solid, reach_m: f64, fate: Fate, to_cell: &CellTransform) -> Self {
        let grid = to_cell.grid();
        let [low, high] = solid.bounds_m(reach_m).map(|corner| {
            let cell = |a: usize| ((corner[a] - grid.lower_m()[a]) / grid.voxel_m()).floor() as i64;
            std::array::from_fn::<i64, 3, _>(cell)
        });
        let cells = CellBox {
            low: low.map(|v| v.saturating_sub(1)),
            high: high.map(|v| v.saturating_add(1)),
        };
        Self { solid, reach_m, fate, cells, quick: Quick::new(&solid, reach_m, to_cell) }
    }

    fn takes(&self, point_m: [f64; 3]) -> bool {
        self.solid.distance_m(point_m) <= self.reach_m
    }
}

impl CellBox {
    fn contains(&self, cell: [usize; 3]) -> bool {
        (0..3).all(|a| self.low[a] <= cell[a] as i64 && cell[a] as i64 <= self.high[a])
    }

    fn around(self, other: Self) -> Self {
        Self {
            low: std::array::from_fn(|a| self.low[a].min(other.low[a])),
            high: std::array::from_fn(|a| self.high[a].max(other.high[a])),
        }
    }
}

impl Quick {
    fn new(solid: &Solid, reach_m: f64, to_cell: &CellTransform) -> Self {
        let (rotation, translation_m) = to_cell.parts();
        let turn = Rotation3::from_matrix_unchecked(Matrix3::from_fn(|r, c| rotation[r][c]));
        let world_from_camera = Isometry3::from_parts(
            translation_m.into(),
            UnitQuaternion::from_rotation_matrix(&turn),
        );
        let local = solid.world_from_solid.inverse() * world_from_camera;
        let turn = local.rotation.to_rotation_matrix();
        let (form, limit_m, size_m) = match solid.form {
            Form::RoundedBox { half_m, radius_m } => {
                let largest = half_m[0].max(half_m[1]).max(half_m[2]);
                (QuickForm::Box(half_m.map(|v| v as f32)), radius_m + reach_m, largest + radius_m)
            }
            Form::Cylinder { radius_m, half_height_m } => {
                let form = QuickForm::Cylinder(radius_m as f32, half_height_m as f32);
                (form, reach_m, radius_m + half_height_m)
            }
        };
        // Every number on the way is below this sum for a point of the workspace; a dozen
        // roundings, in three coordinates.
        let largest = to_cell.farthest_m() + local.translation.vector.norm() + size_m + limit_m;
        let doubt_m = 40.0 * ROUNDING * largest + 1e-9;
        let inner = limit_m - doubt_m;
        let at = local.translation.vector;
        Self {
            part_from_camera: std::array::from_fn(|r| {
                [turn[(r, 0)], turn[(r, 1)], turn[(r, 2)], at[r]].map(|v| v as f32)
            }),
            form,
            surely_in: if inner > 0.0 { (inner * inner) as f32 } else { -1.0 },
            surely_out: (limit_m + doubt_m).powi(2) as f32,
        }
    }

    /// Points surely within reach, and points that f32 cannot tell, as bits.
    #[inline(always)]
    fn within(&self, [x, y, z]: &Lanes) -> (u16, u16) {
        let mut squared = [0.0_f32; LANES];
        for i in 0..LANES {
            let p: [f32; 3] = std::array::from_fn(|a| {
                let row = self.part_from_camera[a];
                row[0] * x[i] + row[1] * y[i] + row[2] * z[i] + row[3]
            });
            squared[i] = match self.form {
                QuickForm::Box(half) => {
                    let out: [f32; 3] = std::array::from_fn(|a| (p[a].abs() - half[a]).max(0.0));
                    out[0] * out[0] + out[1] * out[1] + out[2] * out[2]
                }
                QuickForm::Cylinder(radius, half_height) => {
                    let across = ((p[0] * p[0] + p[1] * p[1]).sqrt() - radius).max(0.0);
                    let along = (p[2].abs() - half_height).max(0.0);
                    across * across + along * along
                }
            };
        }
        let (mut within, mut unsure) = (0_u16, 0_u16);
        for (i, d) in squared.iter().enumerate() {
            let (inside, outside) = (*d < self.surely_in, *d > self.surely_out);
            within |= u16::from(inside) << i;
            unsure |= u16::from(!(inside | outside)) << i;
        }
        (within, unsure)
    }
}
