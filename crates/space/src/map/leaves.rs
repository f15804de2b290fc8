//! The voxels of the smallest blocks, a layer of sixteen at a time.

use citrange_lanes::kernel;
use nalgebra::Vector3;

use crate::map::carve::{Carver, CellBox, NEAREST_M, ROUNDING_PX, SMALLEST};
use crate::map::leaves_wide;

/// Voxels of a layer.
pub(super) const LANES: usize = SMALLEST * SMALLEST;

pub(super) type Lanes = [f32; LANES];

/// Calls `free` with the voxels of a block that were looked through.
pub(super) fn carve(carver: &Carver, first: [usize; 3], free: &mut impl FnMut(CellBox)) {
    let size = carver.grid.size();
    let inside: [usize; 3] = std::array::from_fn(|a| SMALLEST.min(size[a] - first[a]));
    for z in first[2]..first[2] + inside[2] {
        let layer = layer(carver.isa, [first[0], first[1], z], carver);
        for y in 0..inside[1] {
            let mut row = layer >> (SMALLEST * y) & ((1 << inside[0]) - 1);
            while row != 0 {
                let start = row.trailing_zeros() as usize;
                let length = (row >> start).trailing_ones() as usize;
                let at = [first[0] + start, first[1] + y, z];
                free(CellBox { first: at, size: [length, 1, 1] });
                row &= !(((1 << length) - 1) << start);
            }
        }
    }
}

kernel! {
    /// One bit for each voxel of a layer of a block: it was looked through.
    fn layer(simd, first: [usize; 3], carver: &Carver<'_>) -> u16 {
        if S::IS_WIDE { leaves_wide::layer(simd, first, carver) } else { layer_plain(first, carver) }
    }
}

/// Sums and products are in loops over lanes that the compiler makes vectors of; looks at the
/// picture are one by one, and only where they are needed.
#[inline(always)]
fn layer_plain(first: [usize; 3], carver: &Carver) -> u16 {
    let (start_m, half_m) = (carver.centre_m(first, 1), carver.half_m(1));
    let [hx, hy, hz] = single(half_m);
    let [x, y, z] = centres_m(start_m, &carver.along_m);
    let [fx, fy, px, py] = carver.pinhole;
    let (width, height) = carver.picture.size();
    let (right, bottom) = ((width - 1) as f32, (height - 1) as f32);

    // The pixel of the centre decides most voxels.
    let [mut u, mut v, mut behind] = [[0.0; LANES]; 3];
    let mut left = 0_u16;
    for lane in 0..LANES {
        let inverse = 1.0 / z[lane];
        u[lane] = fx * x[lane] * inverse + px;
        v[lane] = fy * y[lane] * inverse + py;
        behind[lane] = z[lane] + hz + carver.margin_m;
        let in_picture =
            (u[lane] >= 0.0) & (v[lane] >= 0.0) & (u[lane] <= right) & (v[lane] <= bottom);
        left |= u16::from(in_picture & (z[lane] - hz >= NEAREST_M)) << lane;
    }
    for lane in lanes(left) {
        let (column, row) = ((u[lane] + 0.5) as usize, (v[lane] + 0.5) as usize);
        let hidden = carver.picture.is_hidden(column, row, behind[lane]);
        left &= !(u16::from(hidden) << lane);
    }
    if left == 0 {
        return 0;
    }

    let [mut u1, mut v1] = [[0.0; LANES]; 2];
    for lane in 0..LANES {
        let (near, far) = (1.0 / (z[lane] - hz), 1.0 / (z[lane] + hz));
        [u[lane], u1[lane]] = range(x[lane], hx, [near, far], [fx, px]);
        [v[lane], v1[lane]] = range(y[lane], hy, [near, far], [fy, py]);
    }
    for lane in lanes(left) {
        let in_picture =
            u[lane] >= 0.0 && v[lane] >= 0.0 && u1[lane] <= right && v1[lane] <= bottom;
        let looked_through = in_picture && {
            // Upwards to the next pixel; it is in the picture, for its edge is a whole number.
            let last = [u1[lane], v1[lane]].map(|at| (at as usize) + usize::from(at.fract() > 0.0));
            carver.picture.nearest_m([u[lane] as usize, v[lane] as usize], last) > behind[lane]
        };
        left &= !(u16::from(!looked_through) << lane);
    }
    left
}

/// Centres of the voxels of a layer in the camera's frame, x fastest.
#[inline(always)]
pub(super) fn centres_m(start_m: Vector3<f64>, along_m: &[Vector3<f64>; 3]) -> [Lanes; 3] {
    let (start, [right, up, _]) = (single(start_m), along_m.map(single));
    std::array::from_fn(|a| {
        let mut centres = [0.0; LANES];
        for (lane, centre) in centres.iter_mut().enumerate() {
            let (x, y) = ((lane % SMALLEST) as f32, (lane / SMALLEST) as f32);
            *centre = start[a] + right[a] * x + up[a] * y;
        }
        centres
    })
}

/// Pixels between which a voxel with this centre and half extent is seen.
#[inline(always)]
pub(super) fn range(
    centre_m: f32,
    half_m: f32,
    [inverse_near, inverse_far]: [f32; 2],
    [focal, axis]: [f32; 2],
) -> [f32; 2] {
    let (low, high) = (centre_m - half_m, centre_m + half_m);
    let low = low * if low < 0.0 { inverse_near } else { inverse_far };
    let high = high * if high > 0.0 { inverse_near } else { inverse_far };
    [focal * low + axis - ROUNDING_PX, focal * high + axis + ROUNDING_PX]
}

pub(super) fn single(v: Vector3<f64>) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

pub(super) fn lanes(mask: u16) -> impl Iterator<Item = usize> {
    crate::map::bits::ones(u64::from(mask))
}
