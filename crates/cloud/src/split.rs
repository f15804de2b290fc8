//! Little-endian float32 points taken apart into x, y and z: most cameras' layout.

use std::sync::OnceLock;

use crate::simd::Isa;

/// The widest instruction set, looked up once.
pub(super) fn best_isa() -> Isa {
    static BEST: OnceLock<Isa> = OnceLock::new();
    *BEST.get_or_init(Isa::best)
}

/// Takes points with x, y, z at bytes 0, 4, 8 apart. Says no to distances between points that
/// have no loop of their own.
pub(super) fn split(
    isa: Isa,
    step: usize,
    points: &[u8],
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
) -> bool {
    match step {
        12 => on::<12>(isa, points, x, y, z),
        16 => on::<16>(isa, points, x, y, z),
        20 => on::<20>(isa, points, x, y, z),
        32 => on::<32>(isa, points, x, y, z),
        _ => return false,
    }
    true
}

#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls functions compiled for wider instruction sets")
)]
fn on<const STEP: usize>(isa: Isa, points: &[u8], x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
    match isa {
        Isa::Portable => plain::<STEP>(points, x, y, z),
        // SAFETY: an `Isa` other than Portable names what the processor was found to have.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2::<STEP>(points, x, y, z) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512::<STEP>(points, x, y, z) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => plain::<STEP>(points, x, y, z),
    }
}

#[inline(always)]
fn plain<const STEP: usize>(points: &[u8], x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
    let (points, _) = points.as_chunks::<STEP>();
    let axis =
        |p: &[u8; STEP], at: usize| f32::from_le_bytes([p[at], p[at + 1], p[at + 2], p[at + 3]]);
    for (((point, x), y), z) in points.iter().zip(x).zip(y).zip(z) {
        *x = axis(point, 0);
        *y = axis(point, 4);
        *z = axis(point, 8);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<const STEP: usize>(points: &[u8], x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
    plain::<STEP>(points, x, y, z);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512<const STEP: usize>(points: &[u8], x: &mut [f32], y: &mut [f32], z: &mut [f32]) {
    plain::<STEP>(points, x, y, z);
}
