//! Which vector instructions the processor has.

/// The instruction set that a kernel uses. All give the same answers; tests hold them to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// Plain Rust.
    Portable,
    /// 8 lanes: AVX2 and FMA.
    Avx2,
    /// 16 lanes: AVX-512 F, BW, DQ, VL.
    Avx512,
}

impl Isa {
    /// The widest that this processor has.
    #[must_use]
    pub fn best() -> Self {
        Self::available().last().copied().unwrap_or(Self::Portable)
    }

    /// All that this processor has, narrowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        let mut found = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            found.push(Self::Avx2);
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                found.push(Self::Avx512);
            }
        }
        found
    }
}
