//! Sixteen numbers in registers, for each instruction set. All operations round alike and are
//! never fused, so every instruction set gives the same bits.

use citrange_robot::lanes::{LANES, Lane};

/// Added to a number below 2^22, leaves its nearest whole number in the low bits.
const TO_WHOLE: f32 = 12_582_912.0;

/// A quarter turn in three parts; the first two have few bits, so that multiples are exact.
const QUARTER: [f32; 3] = [201.0 / 128.0, 2029.0 / 4_194_304.0, 7.549_79e-8];

/// Polynomials of the sine and the cosine up to an eighth of a turn, highest power first.
const SINE: [f32; 3] = [-1.951_648e-4, 8.332_172e-3, -0.166_666_55];
const COSINE: [f32; 3] = [2.443_753_3e-5, -1.388_736e-3, 4.166_664_7e-2];

/// What kernels do with sixteen numbers.
pub(super) trait Vector: Copy {
    fn splat(number: f32) -> Self;
    fn load(lanes: &Lane) -> Self;
    fn store(self, lanes: &mut Lane);
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// `a < b ? a : b`
    fn lesser(self, other: Self) -> Self;
    /// `a > b ? a : b`
    fn greater(self, other: Self) -> Self;
    fn root(self) -> Self;
    /// Without its sign.
    fn size(self) -> Self;
    /// Bits of the lanes where `self >= other` does not hold; it never does for NaN.
    fn not_at_least(self, other: Self) -> u16;
    /// The two, swapped where the lowest bit of `whole` is set.
    fn swapped(pair: (Self, Self), whole: Self) -> (Self, Self);
    /// With the sign turned where the second bit of `whole` plus `more` is set.
    fn turned(self, whole: Self, more: i32) -> Self;

    /// Whether `self >= other` everywhere.
    #[inline(always)]
    fn all_at_least(self, other: Self) -> bool {
        self.not_at_least(other) == 0
    }

    /// All of them by the same number.
    #[inline(always)]
    fn by(self, number: f32) -> Self {
        self.times(Self::splat(number))
    }

    /// The nearest whole numbers, with their bits in the low bits of the first.
    #[inline(always)]
    fn whole(self) -> (Self, Self) {
        let bits = self.plus(Self::splat(TO_WHOLE));
        (bits, bits.minus(Self::splat(TO_WHOLE)))
    }

    /// Sine and cosine, each off by at most 2e-7 for angles up to 10,000.
    #[inline(always)]
    fn sine_cosine(self) -> (Self, Self) {
        let (bits, quarters) = self.by(std::f32::consts::FRAC_2_PI).whole();
        let rest = self.minus(quarters.by(QUARTER[0])).minus(quarters.by(QUARTER[1]));
        let x = rest.minus(quarters.by(QUARTER[2]));
        let x2 = x.times(x);
        let polynomial = |of: [f32; 3]| {
            x2.by(of[0]).plus(Self::splat(of[1])).times(x2).plus(Self::splat(of[2])).times(x2)
        };
        let sine = polynomial(SINE).times(x).plus(x);
        let cosine = polynomial(COSINE).times(x2).minus(x2.by(0.5)).plus(Self::splat(1.0));
        let (sine, cosine) = Self::swapped((sine, cosine), bits);
        (sine.turned(bits, 0), cosine.turned(bits, 1))
    }
}

/// Plain Rust.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain([f32; LANES]);

impl Plain {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }
}

impl Vector for Plain {
    #[inline(always)]
    fn splat(number: f32) -> Self {
        Self([number; LANES])
    }

    #[inline(always)]
    fn load(lanes: &Lane) -> Self {
        Self(lanes.0)
    }

    #[inline(always)]
    fn store(self, lanes: &mut Lane) {
        lanes.0 = self.0;
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn root(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }

    #[inline(always)]
    fn size(self) -> Self {
        Self(self.0.map(f32::abs))
    }

    #[inline(always)]
    fn not_at_least(self, other: Self) -> u16 {
        let mut bits = 0;
        for lane in 0..LANES {
            let is_at_least = self.0[lane] >= other.0[lane];
            bits |= u16::from(!is_at_least) << lane;
        }
        bits
    }

    #[inline(always)]
    fn swapped((a, b): (Self, Self), whole: Self) -> (Self, Self) {
        let (mut c, mut d) = (a, b);
        for lane in 0..LANES {
            if whole.0[lane].to_bits() & 1 == 1 {
                (c.0[lane], d.0[lane]) = (b.0[lane], a.0[lane]);
            }
        }
        (c, d)
    }

    #[inline(always)]
    fn turned(self, whole: Self, more: i32) -> Self {
        self.zip(whole, |a, w| {
            let sign = (w.to_bits().wrapping_add(more.cast_unsigned()) & 2) << 30;
            f32::from_bits(a.to_bits() ^ sign)
        })
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Wide, Widest};

/// Registers of 8 and of 16 numbers.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector instructions")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Lane, Vector};

    /// Two registers of AVX2.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Wide([__m256; 2]);

    /// One register of AVX-512.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Widest(__m512);

    macro_rules! instruction {
        ($call:expr) => {
            // SAFETY: these types are used only in functions that are compiled for the
            // instruction set, which run only on processors that have it; a `Lane` is aligned
            // and as long as what is read or written.
            unsafe { $call }
        };
    }

    impl Wide {
        #[inline(always)]
        fn each(self, f: impl Fn(__m256) -> __m256) -> Self {
            Self([f(self.0[0]), f(self.0[1])])
        }

        #[inline(always)]
        fn zip(self, other: Self, f: impl Fn(__m256, __m256) -> __m256) -> Self {
            Self([f(self.0[0], other.0[0]), f(self.0[1], other.0[1])])
        }
    }

    impl Vector for Wide {
        #[inline(always)]
        fn splat(number: f32) -> Self {
            instruction!(Self([_mm256_set1_ps(number); 2]))
        }

        #[inline(always)]
        fn load(lanes: &Lane) -> Self {
            let from = lanes.0.as_ptr();
            instruction!(Self([_mm256_load_ps(from), _mm256_load_ps(from.add(8))]))
        }

        #[inline(always)]
        fn store(self, lanes: &mut Lane) {
            let to = lanes.0.as_mut_ptr();
            instruction!({
                _mm256_store_ps(to, self.0[0]);
                _mm256_store_ps(to.add(8), self.0[1]);
            });
        }

        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            self.zip(other, |a, b| instruction!(_mm256_add_ps(a, b)))
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            self.zip(other, |a, b| instruction!(_mm256_sub_ps(a, b)))
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            self.zip(other, |a, b| instruction!(_mm256_mul_ps(a, b)))
        }

        #[inline(always)]
        fn lesser(self, other: Self) -> Self {
            self.zip(other, |a, b| instruction!(_mm256_min_ps(a, b)))
        }

        #[inline(always)]
        fn greater(self, other: Self) -> Self {
            self.zip(other, |a, b| instruction!(_mm256_max_ps(a, b)))
        }

        #[inline(always)]
        fn root(self) -> Self {
            self.each(|a| instruction!(_mm256_sqrt_ps(a)))
        }

        #[inline(always)]
        fn size(self) -> Self {
            self.each(|a| instruction!(_mm256_andnot_ps(_mm256_set1_ps(-0.0), a)))
        }

        #[inline(always)]
        fn not_at_least(self, other: Self) -> u16 {
            let bits = |half: usize| {
                instruction!({
                    let not = _mm256_cmp_ps::<_CMP_NGE_UQ>(self.0[half], other.0[half]);
                    _mm256_movemask_ps(not) as u16
                })
            };
            bits(0) | bits(1) << 8
        }

        #[inline(always)]
        fn swapped((a, b): (Self, Self), whole: Self) -> (Self, Self) {
            // Blends look at the highest bit.
            let odd = whole.each(|w| {
                instruction!(_mm256_castsi256_ps(_mm256_slli_epi32::<31>(_mm256_castps_si256(w))))
            });
            let pick = |a: Self, b: Self| {
                Self(std::array::from_fn(|half| {
                    instruction!(_mm256_blendv_ps(a.0[half], b.0[half], odd.0[half]))
                }))
            };
            (pick(a, b), pick(b, a))
        }

        #[inline(always)]
        fn turned(self, whole: Self, more: i32) -> Self {
            self.zip(whole, |a, w| {
                instruction!({
                    let sum = _mm256_add_epi32(_mm256_castps_si256(w), _mm256_set1_epi32(more));
                    let bit = _mm256_and_si256(sum, _mm256_set1_epi32(2));
                    _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_slli_epi32::<30>(bit)))
                })
            })
        }
    }

    impl Vector for Widest {
        #[inline(always)]
        fn splat(number: f32) -> Self {
            instruction!(Self(_mm512_set1_ps(number)))
        }

        #[inline(always)]
        fn load(lanes: &Lane) -> Self {
            instruction!(Self(_mm512_load_ps(lanes.0.as_ptr())))
        }

        #[inline(always)]
        fn store(self, lanes: &mut Lane) {
            instruction!(_mm512_store_ps(lanes.0.as_mut_ptr(), self.0));
        }

        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            instruction!(Self(_mm512_add_ps(self.0, other.0)))
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            instruction!(Self(_mm512_sub_ps(self.0, other.0)))
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            instruction!(Self(_mm512_mul_ps(self.0, other.0)))
        }

        #[inline(always)]
        fn lesser(self, other: Self) -> Self {
            instruction!(Self(_mm512_min_ps(self.0, other.0)))
        }

        #[inline(always)]
        fn greater(self, other: Self) -> Self {
            instruction!(Self(_mm512_max_ps(self.0, other.0)))
        }

        #[inline(always)]
        fn root(self) -> Self {
            instruction!(Self(_mm512_sqrt_ps(self.0)))
        }

        #[inline(always)]
        fn size(self) -> Self {
            instruction!(Self(_mm512_abs_ps(self.0)))
        }

        #[inline(always)]
        fn not_at_least(self, other: Self) -> u16 {
            instruction!(_mm512_cmp_ps_mask::<_CMP_NGE_UQ>(self.0, other.0))
        }

        #[inline(always)]
        fn swapped((a, b): (Self, Self), whole: Self) -> (Self, Self) {
            instruction!({
                let bits = _mm512_castps_si512(whole.0);
                let odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(1));
                let swapped = |a: Self, b: Self| Self(_mm512_mask_blend_ps(odd, a.0, b.0));
                (swapped(a, b), swapped(b, a))
            })
        }

        #[inline(always)]
        fn turned(self, whole: Self, more: i32) -> Self {
            instruction!({
                let sum = _mm512_add_epi32(_mm512_castps_si512(whole.0), _mm512_set1_epi32(more));
                let bit = _mm512_and_si512(sum, _mm512_set1_epi32(2));
                Self(_mm512_xor_ps(self.0, _mm512_castsi512_ps(_mm512_slli_epi32::<30>(bit))))
            })
        }
    }
}

/// Three coordinates at once.
pub(super) type Triple<V> = [V; 3];

#[inline(always)]
pub(super) fn load<V: Vector>(lanes: &[Lane; 3]) -> Triple<V> {
    [V::load(&lanes[0]), V::load(&lanes[1]), V::load(&lanes[2])]
}

#[inline(always)]
pub(super) fn store<V: Vector>(numbers: &Triple<V>, lanes: &mut [Lane; 3]) {
    for axis in 0..3 {
        numbers[axis].store(&mut lanes[axis]);
    }
}

#[inline(always)]
pub(super) fn sub<V: Vector>(a: &Triple<V>, b: &Triple<V>) -> Triple<V> {
    [a[0].minus(b[0]), a[1].minus(b[1]), a[2].minus(b[2])]
}

#[inline(always)]
pub(super) fn add<V: Vector>(a: &Triple<V>, b: &Triple<V>) -> Triple<V> {
    [a[0].plus(b[0]), a[1].plus(b[1]), a[2].plus(b[2])]
}

#[inline(always)]
pub(super) fn dot<V: Vector>(a: &Triple<V>, b: &Triple<V>) -> V {
    a[0].times(b[0]).plus(a[1].times(b[1])).plus(a[2].times(b[2]))
}

#[inline(always)]
pub(super) fn cross<V: Vector>(a: &Triple<V>, b: &Triple<V>) -> Triple<V> {
    let part = |i: usize, j: usize| a[i].times(b[j]).minus(a[j].times(b[i]));
    [part(1, 2), part(2, 0), part(0, 1)]
}
