//! Which points are within reach of a part of the robot, 16 at a time in f32.

use std::sync::Arc;

use citrange_lanes::{Isa, LANES, Simd, kernel};
use nalgebra::{Isometry3, Matrix3, Rotation3, UnitQuaternion};

use super::transform::CellTransform;
use citrange_core::shape::{Mesh, PosedLinkShape, Shape};

/// Half the distance between 1 and the next f32.
const ROUNDING: f64 = 0.5 * f32::EPSILON as f64;

/// Points of the camera: x, y, z.
pub(crate) type Lanes = [[f32; LANES]; 3];

/// A part in f32, seen from the camera.
#[derive(Clone, Debug)]
pub(crate) struct Quick {
    part_from_camera: [[f32; 4]; 3],
    core: Core,
    /// A squared distance below this is surely within reach.
    surely_in: f32,
    /// A squared distance above this is surely not.
    surely_out: f32,
}

/// What distances are measured to; spheres and capsules are boxes without width whose limit is
/// their radius more.
#[derive(Clone, Debug)]
enum Core {
    /// Half extents of a box.
    Box([f32; 3]),
    /// Radius and half height of a cylinder.
    Cylinder(f32, f32),
    /// Behind all planes of a mesh's hull, moved outwards by so much.
    Hull(Arc<Mesh>, f32),
}

impl Quick {
    /// A part and what counts as within reach of it.
    pub(crate) fn new(part: &PosedLinkShape, reach_m: f64, to_cell: &CellTransform) -> Self {
        let (rotation, translation_m) = to_cell.parts();
        let rotation = Rotation3::from_matrix_unchecked(Matrix3::from_fn(|r, c| rotation[r][c]));
        let world_from_camera = Isometry3::from_parts(
            translation_m.into(),
            UnitQuaternion::from_rotation_matrix(&rotation),
        );
        let local = part.world_from_shape.inverse() * world_from_camera;
        let rotation = local.rotation.to_rotation_matrix();
        let thin_box = |half_m: [f64; 3], rounding_m: f64| {
            let largest = half_m[0].max(half_m[1]).max(half_m[2]);
            (Core::Box(half_m.map(|v| v as f32)), rounding_m + reach_m, largest + rounding_m, true)
        };
        // The last: whether all within the limit are within reach. Where the core is only
        // around the shape, double precision decides.
        let (core, limit_m, size_m, is_exact) = match part.shape {
            Shape::Box { half_m } => thin_box(half_m, 0.0),
            Shape::Sphere { radius_m } => thin_box([0.0; 3], radius_m),
            Shape::Capsule { radius_m, half_height_m } => {
                thin_box([0.0, 0.0, half_height_m], radius_m)
            }
            Shape::Cylinder { radius_m, half_height_m } => {
                let core = Core::Cylinder(radius_m as f32, half_height_m as f32);
                (core, reach_m, radius_m + half_height_m, true)
            }
            Shape::Frustum { .. } | Shape::Ring { .. } => {
                let [radius_m, _, half_m] = part.shape.reach_m();
                let core = Core::Cylinder(radius_m as f32, half_m as f32);
                (core, reach_m, radius_m + half_m, false)
            }
            // A point behind all planes is within reach.
            Shape::Mesh(ref mesh) => {
                let size_m = part.shape.reach_m().iter().sum();
                (Core::Hull(mesh.clone(), 0.0), mesh.hull().rounding_m() + reach_m, size_m, false)
            }
            Shape::Ellipsoid { .. } | Shape::Plane { .. } => {
                let (core, limit_m, size_m, _) = thin_box(part.shape.reach_m(), 0.0);
                (core, limit_m, size_m, false)
            }
        };
        // Every number on the way is below this sum for a point of the workspace; a dozen
        // roundings, in three coordinates.
        let largest = to_cell.farthest_m() + local.translation.vector.norm() + size_m + limit_m;
        let doubt_m = 40.0 * ROUNDING * largest + 1e-9;
        let at = local.translation.vector;
        // Points inside of a hull are surely in; moved outwards, they have a distance to square.
        let (core, inner, outer) = match core {
            Core::Hull(mesh, _) => {
                let shift_m = 2.0 * doubt_m;
                (Core::Hull(mesh, shift_m as f32), doubt_m, limit_m + shift_m + doubt_m)
            }
            _ if is_exact => (core, limit_m - doubt_m, limit_m + doubt_m),
            _ => (core, -1.0, limit_m + doubt_m),
        };
        Self {
            part_from_camera: std::array::from_fn(|r| {
                [rotation[(r, 0)], rotation[(r, 1)], rotation[(r, 2)], at[r]].map(|v| v as f32)
            }),
            core,
            surely_in: if inner > 0.0 { (inner * inner) as f32 } else { -1.0 },
            surely_out: outer.powi(2) as f32,
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
            p[a] = x.mul_add_relaxed(simd.splat(row[0]), sum);
        }
        let zero = simd.splat(0.0);
        let mut squared = zero;
        match &self.core {
            Core::Box(half) => {
                for a in 0..3 {
                    let out = (p[a].abs() - half[a]).max(zero);
                    squared = out.mul_add_relaxed(out, squared);
                }
            }
            Core::Cylinder(radius, half_height) => {
                let across = p[0].mul_add_relaxed(p[0], p[1] * p[1]);
                for (far, size) in [(across.sqrt(), *radius), (p[2].abs(), *half_height)] {
                    let out = (far - size).max(zero);
                    squared = out.mul_add_relaxed(out, squared);
                }
            }
            Core::Hull(mesh, shift) => {
                let mut beyond = simd.splat(f32::NEG_INFINITY);
                for plane in mesh.hull().planes() {
                    let [nx, ny, nz] = plane.normal.map(|n| simd.splat(n as f32));
                    let sum = p[2].mul_add_relaxed(nz, simd.splat(-plane.offset_m as f32));
                    let sum = p[1].mul_add_relaxed(ny, sum);
                    beyond = p[0].mul_add_relaxed(nx, sum).max(beyond);
                }
                let out = (beyond + *shift).max(zero);
                squared = out * out;
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
                p[a][i] = row[0] * x[i] + row[1] * y[i] + row[2] * z[i] + row[3];
            }
        }
        let mut squared = [0.0_f32; LANES];
        match &self.core {
            Core::Box(half) => {
                for a in 0..3 {
                    for i in 0..LANES {
                        let out = (p[a][i].abs() - half[a]).max(0.0);
                        squared[i] += out * out;
                    }
                }
            }
            Core::Cylinder(radius, half_height) => {
                for i in 0..LANES {
                    let across = (p[0][i] * p[0][i] + p[1][i] * p[1][i]).sqrt() - radius;
                    let (across, along) = (across.max(0.0), (p[2][i].abs() - half_height).max(0.0));
                    squared[i] = across * across + along * along;
                }
            }
            Core::Hull(mesh, shift) => {
                let mut beyond = [f32::NEG_INFINITY; LANES];
                for plane in mesh.hull().planes() {
                    let [nx, ny, nz] = plane.normal.map(|n| n as f32);
                    for i in 0..LANES {
                        let out = nx * p[0][i] + ny * p[1][i] + nz * p[2][i];
                        beyond[i] = beyond[i].max(out - plane.offset_m as f32);
                    }
                }
                for i in 0..LANES {
                    squared[i] = (beyond[i] + shift).max(0.0).powi(2);
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
