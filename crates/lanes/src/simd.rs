//! What an instruction set can do, whichever it is.

use crate::f32x16::F32x16;
use crate::isa::{Avx2, Avx512, Scalar};
use crate::kernel::Kernel;
use crate::registers::Registers;
use crate::{LANES, Lanes};

/// A token of an instruction set, which vectors are made with. Nobody else can implement it.
pub trait Simd: Registers + Copy + std::fmt::Debug + Send + Sync + 'static {
    /// Whether sixteen lanes are one register and masks, compressing, gathering and scattering
    /// are instructions. Where not, a kernel that lives on these is better written as loops.
    const IS_WIDE: bool;

    /// Runs a kernel compiled for this set.
    fn run<K: Kernel>(self, kernel: K) -> K::Output;

    /// The same number in all lanes.
    #[inline(always)]
    fn splat(self, number: f32) -> F32x16<Self> {
        F32x16::splat(self, number)
    }

    /// Sixteen numbers from memory.
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> F32x16<Self> {
        F32x16::load(self, from)
    }

    /// Three vectors from memory: a point or direction in each lane.
    #[inline(always)]
    fn load3(self, from: &[Lanes; 3]) -> [F32x16<Self>; 3] {
        [self.load(&from[0].0), self.load(&from[1].0), self.load(&from[2].0)]
    }

    /// The same point or direction in all lanes.
    #[inline(always)]
    fn splat3(self, from: &[f32; 3]) -> [F32x16<Self>; 3] {
        [self.splat(from[0]), self.splat(from[1]), self.splat(from[2])]
    }
}

impl Simd for Scalar {
    const IS_WIDE: bool = false;

    // A function of its own, as with the other sets: inlined into the place that chooses, its
    // stack would be set up for every call.
    #[inline(never)]
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}

/// Compiles what a kernel inlines for the features of a set.
macro_rules! compiled_for {
    ($set:ty, $features:literal, $is_wide:literal) => {
        impl Simd for $set {
            const IS_WIDE: bool = $is_wide;

            #[inline(always)]
            fn run<K: Kernel>(self, kernel: K) -> K::Output {
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = $features)]
                    fn inner<K: Kernel>(simd: $set, kernel: K) -> K::Output {
                        kernel.run(simd)
                    }
                    // SAFETY: the token was made by asking the processor for these features.
                    #[expect(unsafe_code, reason = "the call into code for an instruction set")]
                    unsafe {
                        inner(self, kernel)
                    }
                }
                #[cfg(not(target_arch = "x86_64"))]
                kernel.run(self)
            }
        }
    };
}

compiled_for!(Avx2, "avx2,fma", false);
compiled_for!(Avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", true);
