//! Convex hulls of meshes in lanes: planes for all sixteen points, and the nearest point in double
//! precision where these do not tell.

use std::sync::Arc;

use citrange_core::shape::Mesh;
use citrange_lanes::{F32x16, I32x16, LANES, Simd, Triple, dot, rotated};
use nalgebra::{Isometry3, Point3, Vector3};

use super::{LaneShape, axes_of, from, outside, rounding_m};

/// The hull of a mesh.
#[derive(Clone, Debug)]
pub(in crate::collide) struct LaneHull {
    mesh: Arc<Mesh>,
    /// Middle of the box around the mesh: in the world, and in the mesh's own frame.
    centre_m: [f32; 3],
    mesh_centre_m: [f64; 3],
    axes: [[f32; 3]; 3],
    /// Half extents of the box.
    half_m: [f32; 3],
    /// What the hull is rounded by, and what single precision can do.
    radius_m: f32,
}

impl LaneHull {
    pub(super) fn new(at: &Isometry3<f64>, mesh: &Arc<Mesh>) -> Self {
        let (mesh_centre_m, half_m) = mesh.bounds_m();
        let centre_m: [f64; 3] = (at * Point3::from(mesh_centre_m)).coords.into();
        let slack_m =
            2.0 * (rounding_m(&centre_m) + rounding_m(&half_m) + rounding_m(&mesh_centre_m));
        // A flat mesh is thickened by its hull.
        let thick_m = |axis: usize| {
            let way = Vector3::ith(axis, 1.0);
            let reach = |way: Vector3<f64>| mesh.hull().farthest_m(&way).dot(&way);
            let middle = mesh_centre_m[axis];
            half_m[axis].max(reach(way) - middle).max(reach(-way) + middle)
        };
        Self {
            mesh: mesh.clone(),
            centre_m: centre_m.map(|c| c as f32),
            mesh_centre_m,
            axes: axes_of(at),
            half_m: [0, 1, 2].map(|axis| thick_m(axis) as f32),
            radius_m: (mesh.hull().rounding_m() + slack_m) as f32,
        }
    }

    /// The way from the nearest point to one that is given from the middle of the box.
    #[inline(never)]
    fn nearest(&self, p: [f32; 3]) -> [f32; 3] {
        let local = Vector3::from_fn(|a, _| f64::from(p[a]) + self.mesh_centre_m[a]);
        let (distance_m, out) = self.mesh.hull().core_signed_m(&local);
        (out * distance_m.max(0.0)).map(|c| c as f32).into()
    }
}

impl LaneShape for LaneHull {
    #[inline(always)]
    fn away<S: Simd>(&self, points_m: &Triple<S>, within: F32x16<S>) -> Triple<S> {
        let p = self.in_axes(&from(&self.centre_m, points_m));
        let simd = within.simd();
        let zero = simd.splat(0.0);
        // Far from the box around it, that is enough.
        let around = outside(p, &self.half_m);
        let limit = within.max(zero);
        if dot(&around, &around).all_at_least(limit * limit) {
            return around;
        }
        // The plane that is farthest below each point.
        let planes = self.mesh.hull().planes();
        let centre_m = self.mesh_centre_m;
        let mut most = simd.splat(f32::NEG_INFINITY);
        let mut which = I32x16::splat(simd, 0);
        for (index, plane) in planes.iter().enumerate() {
            let [nx, ny, nz] = plane.normal;
            let offset = plane.offset_m - nx * centre_m[0] - ny * centre_m[1] - nz * centre_m[2];
            let beyond =
                p[0] * (nx as f32) + p[1] * (ny as f32) + p[2] * (nz as f32) - (offset as f32);
            let is_more = most.lt(beyond);
            which = is_more.select_i32(I32x16::splat(simd, index as i32), which);
            most = beyond.max(most);
        }
        let points = [p[0].to_array(), p[1].to_array(), p[2].to_array()];
        let (beyond, limit) = (most.to_array(), limit.to_array());
        let mut away = [[0.0; LANES]; 3];
        for (lane, index) in which.to_u32_array().into_iter().enumerate() {
            let found = if beyond[lane] >= limit[lane] {
                let normal = planes.get(index as usize).map_or([0.0; 3], |plane| plane.normal);
                normal.map(|n| n as f32 * beyond[lane])
            } else {
                self.nearest([points[0][lane], points[1][lane], points[2][lane]])
            };
            for axis in 0..3 {
                away[axis][lane] = found[axis];
            }
        }
        [simd.load(&away[0]), simd.load(&away[1]), simd.load(&away[2])]
    }

    #[inline(always)]
    fn in_axes<S: Simd>(&self, directions: &Triple<S>) -> Triple<S> {
        rotated(&self.axes, directions)
    }

    #[inline(always)]
    fn radius_m(&self) -> f32 {
        self.radius_m
    }
}
