//! Instruction sets as tokens: who holds one has asked the processor.

use std::sync::OnceLock;

use crate::kernel::Kernel;
use crate::simd::Simd;

/// No vector instructions beyond what every processor of the target has. It is the reference:
/// every other set gives its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Scalar;

impl Scalar {
    /// The token: there is nothing to ask for.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

/// AVX2 and FMA: sixteen lanes are two registers. Only [`Avx2::detect`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Avx2(());

impl Avx2 {
    /// The token, if the processor has the instructions.
    #[must_use]
    pub fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Some(Self(()));
        }
        None
    }
}

/// AVX-512 F, BW, DQ and VL: sixteen lanes are one register, with masks, compressed stores,
/// gathers and scatters. Only [`Avx512::detect`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Avx512(());

impl Avx512 {
    /// The token, if the processor has the instructions.
    #[must_use]
    pub fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if Avx2::detect().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
        {
            return Some(Self(()));
        }
        None
    }
}

/// An instruction set chosen at run time, with its token: one that the processor lacks cannot be
/// named. Narrower sets are less than wider ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// See [`Scalar`].
    Scalar(Scalar),
    /// See [`Avx2`].
    Avx2(Avx2),
    /// See [`Avx512`].
    Avx512(Avx512),
}

impl Isa {
    /// The reference that tests compare the others to.
    pub const SCALAR: Self = Self::Scalar(Scalar);

    /// The widest that this processor has, asked once.
    #[must_use]
    pub fn best() -> Self {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| match (Avx512::detect(), Avx2::detect()) {
            (Some(token), _) => Self::Avx512(token),
            (None, Some(token)) => Self::Avx2(token),
            (None, None) => Self::SCALAR,
        })
    }

    /// All that this processor has, narrowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        let wider = [Avx2::detect().map(Self::Avx2), Avx512::detect().map(Self::Avx512)];
        std::iter::once(Self::SCALAR).chain(wider.into_iter().flatten()).collect()
    }

    /// Runs a kernel that is compiled for each set with this one.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            Self::Scalar(simd) => simd.run(kernel),
            Self::Avx2(simd) => simd.run(kernel),
            Self::Avx512(simd) => simd.run(kernel),
        }
    }
}

impl std::fmt::Debug for Isa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Scalar(_) => "Scalar",
            Self::Avx2(_) => "Avx2",
            Self::Avx512(_) => "Avx512",
        })
    }
}

impl Default for Isa {
    fn default() -> Self {
        Self::best()
    }
}
