//! Lower bounds of distances for sixteen configurations at once. One code, compiled for each
//! instruction set; all give the same bits.

use citrange_lanes::{I32x16, LANES, Lanes, Scalar, Simd, TO_WHOLE, kernel};

use crate::map::MapSnapshot;

/// Where the cells of a map are, in single precision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup<'a> {
    gap2: &'a [u16],
    lower_m: [f32; 3],
    per_m: f32,
    voxel_m: f32,
    last: [f32; 3],
    strides: [i32; 3],
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(snapshot: &'a MapSnapshot) -> Self {
        let (lower_m, per_m) = snapshot.lookup_f32();
        let size = snapshot.grid().size();
        Self {
            gap2: snapshot.gap2(),
            lower_m,
            per_m,
            voxel_m: snapshot.grid().voxel_m() as f32,
            last: size.map(|n| n as f32 - 0.5),
            strides: [1, size[0] as i32, (size[0] * size[1]) as i32],
        }
    }
}

kernel! {
    /// Lower bounds of the distance between every sphere and the map, in metres; and per
    /// configuration the sphere whose bound is least.
    pub(crate) fn bounds(
        simd, lookup: &Lookup<'_>, centres: &[[Lanes; 3]], radii_m: &[f32], out: &mut [Lanes],
    ) -> [u32; LANES] {
        bounds_of(simd, lookup, centres, radii_m, out)
    }
}

#[inline(always)]
fn bounds_of<S: Simd>(
    simd: S,
    lookup: &Lookup,
    centres: &[[Lanes; 3]],
    radii_m: &[f32],
    out: &mut [Lanes],
) -> [u32; LANES] {
    let mut least = simd.splat(f32::INFINITY);
    let mut first = I32x16::splat(simd, 0);
    let spheres = centres.iter().zip(radii_m).zip(out).enumerate();
    for (index, ((centre, radius_m), out)) in spheres {
        let mut keys = I32x16::splat(simd, 0);
        for axis in 0..3 {
            let at = (simd.load(&centre[axis].0) - lookup.lower_m[axis]) * lookup.per_m;
            // Points outside belong to the nearest cell. Half a cell less and rounded to the
            // nearest is rounded down.
            let (whole, _) = (at.clamp(0.0, lookup.last[axis]) - 0.5).whole();
            let cell = whole.to_bits() - TO_WHOLE.to_bits().cast_signed();
            keys = keys + cell * lookup.strides[axis];
        }
        let mut gap2 = [0.0; LANES];
        for (gap2, key) in gap2.iter_mut().zip(keys.to_array()) {
            *gap2 = lookup.gap2.get(key as usize).map_or(0.0, |g| f32::from(*g));
        }
        let bound = simd.load(&gap2).sqrt() * lookup.voxel_m - *radius_m;
        bound.store(&mut out.0);
        let is_less = bound.lt(least);
        least = is_less.select(bound, least);
        first = is_less.select_i32(I32x16::splat(simd, index as i32), first);
    }
    first.to_u32_array()
}

/// Which numbers are below their limits, as bits.
#[inline]
pub(crate) fn below(numbers: &Lanes, limits: &[f32; LANES]) -> u16 {
    let simd = Scalar::new();
    simd.load(&numbers.0).lt(simd.load(limits)).bits()
}
