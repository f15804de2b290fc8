//! Registers of 8 numbers of 64 bits, and 8 of 32 beside them; their masks are bits. AVX-512 has
//! instructions for all of it; elsewhere they are arrays, which compilers make vectors of.

/// See the module.
pub trait Eights: Copy {
    type F64: Copy;
    type I32Half: Copy;
    type U64: Copy;

    methods! {
        fn splat_f64(number: f64) -> Self::F64;
        fn load_f64(from: &[f64; 8]) -> Self::F64;
        fn store_f64(v: Self::F64, to: &mut [f64; 8]);
        fn add_f64(a: Self::F64, b: Self::F64) -> Self::F64;
        fn sub_f64(a: Self::F64, b: Self::F64) -> Self::F64;
        fn mul_f64(a: Self::F64, b: Self::F64) -> Self::F64;
        fn div_f64(a: Self::F64, b: Self::F64) -> Self::F64;
        /// `a < b ? a : b`
        fn min_f64(a: Self::F64, b: Self::F64) -> Self::F64;
        /// `a > b ? a : b`
        fn max_f64(a: Self::F64, b: Self::F64) -> Self::F64;
        fn abs_f64(a: Self::F64) -> Self::F64;
        fn sqrt_f64(a: Self::F64) -> Self::F64;
        fn floor_f64(a: Self::F64) -> Self::F64;
        fn lt_f64(a: Self::F64, b: Self::F64) -> u8;
        fn le_f64(a: Self::F64, b: Self::F64) -> u8;
        fn select_f64(mask: u8, yes: Self::F64, no: Self::F64) -> Self::F64;
        /// Towards zero; `i32::MIN` for what does not fit.
        fn truncate_f64(a: Self::F64) -> Self::I32Half;
        /// Numbers one after the other into the lanes of the mask; 0 elsewhere.
        fn expand_f64(mask: u8, from: &[f64]) -> Self::F64;
        fn scatter_f64(v: Self::F64, to: &mut [f64], index: Self::I32Half, mask: u8);

        fn splat_half(number: i32) -> Self::I32Half;
        fn load_half(from: &[i32; 8]) -> Self::I32Half;
        fn store_half(v: Self::I32Half, to: &mut [i32; 8]);
        fn add_half(a: Self::I32Half, b: Self::I32Half) -> Self::I32Half;
        fn mul_half(a: Self::I32Half, b: Self::I32Half) -> Self::I32Half;
        fn and_half(a: Self::I32Half, b: Self::I32Half) -> Self::I32Half;
        fn shr_half(a: Self::I32Half, by: u32) -> Self::I32Half;
        fn shrv_half(a: Self::I32Half, by: Self::I32Half) -> Self::I32Half;
        fn nonzero_half(a: Self::I32Half) -> u8;
        /// Roots in single precision.
        fn roots_half(a: Self::I32Half) -> Self::F64;
        /// The first lanes of `from` one after the other into the lanes of the mask.
        fn expand_half(mask: u8, from: Self::I32Half, old: Self::I32Half) -> Self::I32Half;
        /// The last number is padding: places from there on are that of the one before it.
        fn gather_u16(table: &[u16], index: Self::I32Half, mask: u8) -> Self::I32Half;
        /// From words of 64 bits as pairs of 32, the lower first.
        fn gather_half(table: &[u64], index: Self::I32Half, mask: u8) -> Self::I32Half;
        fn gather_u32(table: &[u32], index: Self::I32Half, mask: u8) -> Self::I32Half;
        fn scatter_half(v: Self::I32Half, to: &mut [u32], index: Self::I32Half, mask: u8);
        fn splat_u64(number: u64) -> Self::U64;
        fn store_u64(v: Self::U64, to: &mut [u64; 8]);
        /// Of each number the four bytes in four fields of 16 bits.
        fn bytes_apart(a: Self::I32Half) -> Self::U64;
        fn add_u64(a: Self::U64, b: Self::U64) -> Self::U64;
        /// Sums of each lane and all before it.
        fn running_sums_u64(a: Self::U64) -> Self::U64;
        /// The last lane in all.
        fn last_u64(a: Self::U64) -> Self::U64;
    }
}

/// What all sets but AVX-512 do, lane by lane.
macro_rules! array_eights {
    () => {
        type F64 = [f64; 8];
        type I32Half = [i32; 8];
        type U64 = [u64; 8];

        $crate::registers::eights::lane_by_lane! {
            splat_f64(number: f64) -> [f64; 8] = [number; 8];
            load_f64(from: &[f64; 8]) -> [f64; 8] = *from;
            store_f64(v: [f64; 8], to: &mut [f64; 8]) -> () = *to = v;
            add_f64(a: [f64; 8], b: [f64; 8]) -> [f64; 8] = $crate::registers::eights::eight(|i| a[i] + b[i]);
            sub_f64(a: [f64; 8], b: [f64; 8]) -> [f64; 8] = $crate::registers::eights::eight(|i| a[i] - b[i]);
            mul_f64(a: [f64; 8], b: [f64; 8]) -> [f64; 8] = $crate::registers::eights::eight(|i| a[i] * b[i]);
            div_f64(a: [f64; 8], b: [f64; 8]) -> [f64; 8] = $crate::registers::eights::eight(|i| a[i] / b[i]);
            min_f64(a: [f64; 8], b: [f64; 8]) -> [f64; 8] =
                $crate::registers::eights::eight(|i| if a[i] < b[i] { a[i] } else { b[i] });
            max_f64(a: [f64; 8], b: [f64; 8]) -> [f64; 8] =
                $crate::registers::eights::eight(|i| if a[i] > b[i] { a[i] } else { b[i] });
            abs_f64(a: [f64; 8]) -> [f64; 8] = $crate::registers::eights::eight(|i| a[i].abs());
            sqrt_f64(a: [f64; 8]) -> [f64; 8] = $crate::registers::eights::eight(|i| a[i].sqrt());
            floor_f64(a: [f64; 8]) -> [f64; 8] = $crate::registers::eights::eight(|i| a[i].floor());
            lt_f64(a: [f64; 8], b: [f64; 8]) -> u8 =
                (0..8).fold(0, |bits, i| bits | u8::from(a[i] < b[i]) << i);
            le_f64(a: [f64; 8], b: [f64; 8]) -> u8 =
                (0..8).fold(0, |bits, i| bits | u8::from(a[i] <= b[i]) << i);
            select_f64(mask: u8, yes: [f64; 8], no: [f64; 8]) -> [f64; 8] =
                $crate::registers::eights::eight(|i| if mask >> i & 1 == 1 { yes[i] } else { no[i] });
            truncate_f64(a: [f64; 8]) -> [i32; 8] = $crate::registers::eights::eight(|i| {
                let fits = a[i] > -2_147_483_649.0 && a[i] < 2_147_483_648.0;
                if fits { a[i] as i32 } else { i32::MIN }
            });
            expand_f64(mask: u8, from: &[f64]) -> [f64; 8] = {
                let mut out = [0.0; 8];
                for (number, lane) in from.iter().zip((0..8).filter(|i| mask >> i & 1 == 1)) {
                    out[lane] = *number;
                }
                out
            };
            scatter_f64(v: [f64; 8], to: &mut [f64], index: [i32; 8], mask: u8) -> () = {
                for lane in (0..8).filter(|i| mask >> i & 1 == 1) {
                    if let Some(to) = to.get_mut(index[lane].cast_unsigned() as usize) {
                        *to = v[lane];
                    }
                }
            };

            splat_half(number: i32) -> [i32; 8] = [number; 8];
            load_half(from: &[i32; 8]) -> [i32; 8] = *from;
            store_half(v: [i32; 8], to: &mut [i32; 8]) -> () = *to = v;
            add_half(a: [i32; 8], b: [i32; 8]) -> [i32; 8] =
                $crate::registers::eights::eight(|i| a[i].wrapping_add(b[i]));
            mul_half(a: [i32; 8], b: [i32; 8]) -> [i32; 8] =
                $crate::registers::eights::eight(|i| a[i].wrapping_mul(b[i]));
            and_half(a: [i32; 8], b: [i32; 8]) -> [i32; 8] = $crate::registers::eights::eight(|i| a[i] & b[i]);
            shr_half(a: [i32; 8], by: u32) -> [i32; 8] =
                $crate::registers::eights::eight(|i| {
                    a[i].cast_unsigned().wrapping_shr(by).cast_signed()
                });
            shrv_half(a: [i32; 8], by: [i32; 8]) -> [i32; 8] = $crate::registers::eights::eight(|i| {
                let bits = a[i].cast_unsigned().checked_shr(by[i].cast_unsigned());
                bits.unwrap_or(0).cast_signed()
            });
            nonzero_half(a: [i32; 8]) -> u8 =
                (0..8).fold(0, |bits, i| bits | u8::from(a[i] != 0) << i);
            roots_half(a: [i32; 8]) -> [f64; 8] = $crate::registers::eights::eight(|i| f64::from((a[i] as f32).sqrt()));
            expand_half(mask: u8, from: [i32; 8], old: [i32; 8]) -> [i32; 8] = {
                let mut out = old;
                for (number, lane) in from.iter().zip((0..8).filter(|i| mask >> i & 1 == 1)) {
                    out[lane] = *number;
                }
                out
            };
            gather_u16(table: &[u16], index: [i32; 8], mask: u8) -> [i32; 8] =
                $crate::registers::eights::gathered(index, mask, |at| {
                    let last = table.len().checked_sub(2)?;
                    table.get(at.min(last)).copied().map(i32::from)
                });
            gather_half(table: &[u64], index: [i32; 8], mask: u8) -> [i32; 8] =
                $crate::registers::eights::gathered(index, mask, |at| {
                    table.get(at / 2).map(|word| (word >> (32 * (at % 2))) as u32 as i32)
                });
            gather_u32(table: &[u32], index: [i32; 8], mask: u8) -> [i32; 8] =
                $crate::registers::eights::gathered(index, mask, |at| {
                    table.get(at).map(|number| number.cast_signed())
                });
            scatter_half(v: [i32; 8], to: &mut [u32], index: [i32; 8], mask: u8) -> () = {
                for lane in (0..8).filter(|i| mask >> i & 1 == 1) {
                    if let Some(to) = to.get_mut(index[lane].cast_unsigned() as usize) {
                        *to = v[lane].cast_unsigned();
                    }
                }
            };
            splat_u64(number: u64) -> [u64; 8] = [number; 8];
            store_u64(v: [u64; 8], to: &mut [u64; 8]) -> () = *to = v;
            bytes_apart(a: [i32; 8]) -> [u64; 8] = $crate::registers::eights::eight(|i| {
                let wide = u64::from(a[i].cast_unsigned());
                let wide = (wide | wide << 16) & 0x0000_ffff_0000_ffff;
                (wide | wide << 8) & 0x00ff_00ff_00ff_00ff
            });
            add_u64(a: [u64; 8], b: [u64; 8]) -> [u64; 8] =
                $crate::registers::eights::eight(|i| a[i].wrapping_add(b[i]));
            running_sums_u64(a: [u64; 8]) -> [u64; 8] = {
                let mut sums = a;
                for lane in 1..8 {
                    sums[lane] = sums[lane].wrapping_add(sums[lane - 1]);
                }
                sums
            };
            last_u64(a: [u64; 8]) -> [u64; 8] = [a[7]; 8];
        }
    };
}
pub(super) use array_eights;

/// Eight of a function, by a loop: `from_fn` is not always inlined.
#[inline(always)]
pub(super) fn eight<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; 8] {
    let mut out = [T::default(); 8];
    for lane in 0..8 {
        out[lane] = f(lane);
    }
    out
}

/// One by one; 0 for what is outside of a table and for lanes that the mask lacks.
#[inline(always)]
pub(super) fn gathered(index: [i32; 8], mask: u8, at: impl Fn(usize) -> Option<i32>) -> [i32; 8] {
    eight(|lane| {
        let place = index[lane].cast_unsigned() as usize;
        if mask >> lane & 1 == 1 { at(place).unwrap_or(0) } else { 0 }
    })
}

/// Methods with their bodies.
macro_rules! lane_by_lane {
    ($($name:ident($($argument:ident: $type:ty),*) -> $output:ty = $body:expr;)*) => {
        $(
            #[inline(always)]
            fn $name(self, $($argument: $type),*) -> $output {
                $body
            }
        )*
    };
}
pub(super) use lane_by_lane;
