//! Plain Rust on arrays. The compiler makes what vectors it can of the loops.

use super::Registers;
use super::eights::lane_by_lane;
use crate::LANES;

#[inline(always)]
fn zip<A: Copy, B: Copy, T: Copy + Default>(
    a: [A; LANES],
    b: [B; LANES],
    f: impl Fn(A, B) -> T,
) -> [T; LANES] {
    let mut out = [T::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane]);
    }
    out
}

// Loops, not `map` and `from_fn`: these are not always inlined.
#[inline(always)]
fn each<A: Copy, T: Copy + Default>(a: [A; LANES], f: impl Fn(A) -> T) -> [T; LANES] {
    let mut out = [T::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane]);
    }
    out
}

#[inline(always)]
fn select<T: Copy>(mask: I, yes: [T; LANES], no: [T; LANES]) -> [T; LANES] {
    let mut out = no;
    for lane in 0..LANES {
        out[lane] = if mask[lane] != 0 { yes[lane] } else { no[lane] };
    }
    out
}

/// All bits where it holds, none where not: masks as wide as the numbers cost least to apply.
#[inline(always)]
fn mask(holds: bool) -> i32 {
    -i32::from(holds)
}

const COUNT: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

type F = [f32; LANES];
type I = [i32; LANES];

macro_rules! scalar_registers {
    ($set:ty) => {
        impl Registers for $set {
            type F32 = F;
            type I32 = I;
            type Mask = I;

            lane_by_lane! {
                splat_f32(number: f32) -> F = [number; LANES];
                load_f32(from: &F) -> F = *from;
                store_f32(v: F, to: &mut F) -> () = *to = v;
                add_f32(a: F, b: F) -> F = zip(a, b, |a, b| a + b);
                sub_f32(a: F, b: F) -> F = zip(a, b, |a, b| a - b);
                mul_f32(a: F, b: F) -> F = zip(a, b, |a, b| a * b);
                div_f32(a: F, b: F) -> F = zip(a, b, |a, b| a / b);
                min_f32(a: F, b: F) -> F = zip(a, b, |a, b| if a < b { a } else { b });
                max_f32(a: F, b: F) -> F = zip(a, b, |a, b| if a > b { a } else { b });
                sqrt_f32(a: F) -> F = each(a, f32::sqrt);
                abs_f32(a: F) -> F = each(a, f32::abs);
                fma_f32(a: F, b: F, c: F) -> F = zip(zip(a, b, |a, b| a * b), c, |ab, c| ab + c);
                ceil_f32(a: F) -> F = each(a, f32::ceil);
                lt_f32(a: F, b: F) -> I = zip(a, b, |a, b| mask(a < b));
                le_f32(a: F, b: F) -> I = zip(a, b, |a, b| mask(a <= b));
                eq_f32(a: F, b: F) -> I = zip(a, b, |a, b| mask(a == b));
                select_f32(mask: I, yes: F, no: F) -> F =
                    select(mask, yes, no);
                bits_of_f32(a: F) -> I = each(a, |a| a.to_bits().cast_signed());
                f32_of_bits(a: I) -> F = each(a, |a| f32::from_bits(a.cast_unsigned()));
                truncate_f32(a: F) -> I = each(a, |a| {
                    let fits = (-2_147_483_648.0..2_147_483_648.0).contains(&a);
                    if fits { a as i32 } else { i32::MIN }
                });
                f32_of_i32(a: I) -> F = each(a, |a| a as f32);

                splat_i32(number: i32) -> I = [number; LANES];
                load_i32(from: &I) -> I = *from;
                store_i32(v: I, to: &mut I) -> () = *to = v;
                load_u32(from: &[u32; LANES]) -> I = each(*from, u32::cast_signed);
                store_u32(v: I, to: &mut [u32; LANES]) -> () = *to = each(v, i32::cast_unsigned);
                add_i32(a: I, b: I) -> I = zip(a, b, i32::wrapping_add);
                sub_i32(a: I, b: I) -> I = zip(a, b, i32::wrapping_sub);
                mul_i32(a: I, b: I) -> I = zip(a, b, i32::wrapping_mul);
                max_i32(a: I, b: I) -> I = zip(a, b, i32::max);
                and_i32(a: I, b: I) -> I = zip(a, b, |a, b| a & b);
                or_i32(a: I, b: I) -> I = zip(a, b, |a, b| a | b);
                xor_i32(a: I, b: I) -> I = zip(a, b, |a, b| a ^ b);
                shl_i32(a: I, by: u32) -> I = each(a, |a| a.wrapping_shl(by));
                shr_u32(a: I, by: u32) -> I =
                    each(a, |a| a.cast_unsigned().wrapping_shr(by).cast_signed());
                shr_i32(a: I, by: u32) -> I = each(a, |a| a.wrapping_shr(by));
                shlv_i32(a: I, by: I) -> I =
                    zip(a, by, |a, by| a.checked_shl(by.cast_unsigned()).unwrap_or(0));
                lt_i32(a: I, b: I) -> I = zip(a, b, |a, b| mask(a < b));
                eq_i32(a: I, b: I) -> I = zip(a, b, |a, b| mask(a == b));
                select_i32(mask: I, yes: I, no: I) -> I =
                    select(mask, yes, no);

                and_mask(a: I, b: I) -> I = zip(a, b, |a, b| a & b);
                or_mask(a: I, b: I) -> I = zip(a, b, |a, b| a | b);
                not_mask(a: I) -> I = each(a, |a| !a);
                bits_of_mask(a: I) -> u16 =
                    (0..LANES).fold(0, |bits, lane| bits | ((a[lane] & 1) as u16) << lane);
                mask_of_bits(bits: u16) -> I =
                    each(COUNT, |lane| mask(bits >> lane & 1 == 1));
            }
        }
    };
}
#[cfg(not(target_arch = "x86_64"))]
pub(super) use scalar_registers;

scalar_registers!(crate::isa::Scalar);

impl super::eights::Eights for crate::isa::Scalar {
    super::eights::array_eights!();
}
