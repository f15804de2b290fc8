//! Which points are within reach of a part of the robot, 16 at a time in f32.

use citrange_lanes::{Isa, LANES, Simd, kernel};
use nalgebra::{Isometry3, Matrix3, Rotation3, UnitQuaternion};

use super::transform::CellTransform;
use crate::solid::{Form, Solid};

/// Half the distance between 1 and the next f32.
const ROUNDING: f64 = 0.5 * f32::EPSILON as f64;

/// Points of the camera: x, y, z.
pub(crate) type Lanes = [[f32; LANES]; 3];

/// A part in f32, seen from the camera.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quick {
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

impl Quick {
    /// A part and what counts as within reach of it.
    pub(crate) fn new(solid: &Solid, reach_m: f64, to_cell: &CellTransform) -> Self {
        let (rotation, translation_m) = to_cell.parts();
        let rotation = Rotation3::from_matrix_unchecked(Matrix3::from_fn(|r, c| rotation[r][c]));
        let world_from_camera = Isometry3::from_parts(
            translation_m.into(),
            UnitQuaternion::from_rotation_matrix(&rotation),
        );
        let local = solid.world_from_solid.inverse() * world_from_camera;
        let rotation = local.rotation.to_rotation_matrix();
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
                [rotation[(r, 0)], rotation[(r, 1)], rotation[(r, 2)], at[r]].map(|v| v as f32)
            }),
            form,
            surely_in: if inner > 0.0 { (inner * inner) as f32 } else { -1.0 },
            surely_out: (limit_m + doubt_m).powi(2) as f32,
        }
    }

    /// Points surely within reach, and points that f32 cannot tell, as bits.
    pub(crate) fn within(&self, points: &Lanes, isa: Isa) -> (u16, u16) {
        within(isa, self, points)
    }

    /// Sums are fused here: what is near a limit is decided again in f64.
    #[inline(always)]
    fn within_wide<S: Simd>(&self, simd: S, points: &Lanes) -> (u16, u16) {
        let (x, y, z) = (simd.load(&points[0]), simd.load(&points[1]), simd.load(&points[2]));
        let mut p = [x; 3];
        for a in 0..3 {
            let row = &self.part_from_camera[a];
            let sum = z.mul_add_relaxed(simd.splat(row[2]), simd.splat(row[3]));
            let sum = y.mul_add_relaxed(simd.splat(row[1]), sum);
            p[a] = x.mul_add_relaxed(simd.splat(row[0]), sum).abs();
        }
        let zero = simd.splat(0.0);
        let mut squared = zero;
        match self.form {
            QuickForm::Box(half) => {
                for a in 0..3 {
                    let out = (p[a] - half[a]).max(zero);
                    squared = out.mul_add_relaxed(out, squared);
                }
            }
            QuickForm::Cylinder(radius, half_height) => {
                let across = p[0].mul_add_relaxed(p[0], p[1] * p[1]);
                for (far, size) in [(across.sqrt(), radius), (p[2], half_height)] {
                    let out = (far - size).max(zero);
                    squared = out.mul_add_relaxed(out, squared);
                }
            }
        }
        let inside = squared.lt(simd.splat(self.surely_in));
        let outside = squared.gt(simd.splat(self.surely_out));
        (inside.bits(), !(inside | outside).bits())
    }

    #[inline(always)]
    fn squared_distances(&self, [x, y, z]: &Lanes) -> [f32; LANES] {
        let mut p = [[0.0_f32; LANES]; 3];
        for a in 0..3 {
            let row = self.part_from_camera[a];
            for i in 0..LANES {
                p[a][i] = (row[0] * x[i] + row[1] * y[i] + row[2] * z[i] + row[3]).abs();
            }
        }
        let mut squared = [0.0_f32; LANES];
        match self.form {
            QuickForm::Box(half) => {
                for a in 0..3 {
                    for i in 0..LANES {
                        let out = (p[a][i] - half[a]).max(0.0);
                        squared[i] += out * out;
                    }
                }
            }
            QuickForm::Cylinder(radius, half_height) => {
                for i in 0..LANES {
                    let across = (p[0][i] * p[0][i] + p[1][i] * p[1][i]).sqrt() - radius;
                    let (across, along) = (across.max(0.0), (p[2][i] - half_height).max(0.0));
                    squared[i] = across * across + along * along;
                }
            }
        }
        squared
    }

    #[inline(always)]
    fn compare(&self, squared: &[f32; LANES]) -> (u16, u16) {
        let (mut within, mut unsure) = (0_u16, 0_u16);
        for (i, d) in squared.iter().enumerate() {
            let (inside, outside) = (*d < self.surely_in, *d > self.surely_out);
            within |= u16::from(inside) << i;
            unsure |= u16::from(!(inside | outside)) << i;
        }
        (within, unsure)
    }
}

kernel! {
    fn within(simd, quick: &Quick, points: &Lanes) -> (u16, u16) {
        if S::IS_WIDE {
            quick.within_wide(simd, points)
        } else {
            quick.compare(&quick.squared_distances(points))
        }
    }
}
