//! Lower bounds of distances for sixteen configurations at once. One code in plain Rust, compiled
//! for each instruction set; all give the same bits.

use citrange_robot::lanes::{LANES, Lane, TO_WHOLE};

use crate::map::Snapshot;
use crate::simd::Isa;

/// Calls one of three functions with the same arguments.
macro_rules! with_isa {
    ($isa:expr, $plain:ident, $avx2:ident, $avx512:ident, ($($argument:expr),*)) => {
        match $isa {
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls across the feature edge")]
            // SAFETY: a checker keeps only instruction sets that the processor has.
            Isa::Avx2 => unsafe { x86::$avx2($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls across the feature edge")]
            // SAFETY: as above.
            Isa::Avx512 => unsafe { x86::$avx512($($argument),*) },
            _ => $plain($($argument),*),
        }
    };
}

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
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
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

/// Lower bounds of the distance between every sphere and the map, in metres; and per configuration
/// the sphere whose bound is least.
pub(crate) fn bounds(
    isa: Isa,
    lookup: &Lookup,
    centres: &[[Lane; 3]],
    radii_m: &[f32],
    out: &mut [Lane],
) -> [u32; LANES] {
    with_isa!(isa, bounds_plain, bounds_avx2, bounds_avx512, (lookup, centres, radii_m, out))
}

#[inline(always)]
fn bounds_plain(
    lookup: &Lookup,
    centres: &[[Lane; 3]],
    radii_m: &[f32],
    out: &mut [Lane],
) -> [u32; LANES] {
    let mut least = [f32::INFINITY; LANES];
    let mut first = [0_u32; LANES];
    let spheres = centres.iter().zip(radii_m).zip(out).enumerate();
    for (index, ((centre, radius_m), out)) in spheres {
        let mut keys = [0_i32; LANES];
        for axis in 0..3 {
            for lane in 0..LANES {
                let at = (centre[axis].0[lane] - lookup.lower_m[axis]) * lookup.per_m;
                // Points outside belong to the nearest cell. Half a cell less and rounded to the
                // nearest is rounded down.
                let whole = at.max(0.0).min(lookup.last[axis]) - 0.5 + TO_WHOLE;
                let cell = whole.to_bits().wrapping_sub(TO_WHOLE.to_bits()) as i32;
                keys[lane] = keys[lane].wrapping_add(cell.wrapping_mul(lookup.strides[axis]));
            }
        }
        let mut gap2 = [0.0_f32; LANES];
        for lane in 0..LANES {
            gap2[lane] = lookup.gap2.get(keys[lane] as usize).map_or(0.0, |g| f32::from(*g));
        }
        for lane in 0..LANES {
            let bound = gap2[lane].sqrt() * lookup.voxel_m - radius_m;
            out.0[lane] = bound;
            let is_less = bound < least[lane];
            least[lane] = if is_less { bound } else { least[lane] };
            first[lane] = if is_less { index as u32 } else { first[lane] };
        }
    }
    first
}

/// The same code, compiled for wider vectors.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LANES, Lane, Lookup};

    /// One function compiled for two instruction sets.
    macro_rules! compiled {
        ($plain:ident, $avx2:ident, $avx512:ident,
         ($($name:ident: $kind:ty),*) -> $answer:ty) => {
            #[target_feature(enable = "avx2")]
            pub(super) fn $avx2($($name: $kind),*) -> $answer {
                super::$plain($($name),*)
            }

            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            pub(super) fn $avx512($($name: $kind),*) -> $answer {
                super::$plain($($name),*)
            }
        };
    }

    compiled!(
        bounds_plain, bounds_avx2, bounds_avx512,
        (lookup: &Lookup, centres: &[[Lane; 3]], radii_m: &[f32], out: &mut [Lane]) -> [u32; LANES]
    );
}
