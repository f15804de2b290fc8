//! Numbers for tests.
#![allow(dead_code, reason = "not every test needs all of it")]

use citrange_core::rng::Rng;
use citrange_lanes::LANES;

/// Numbers from a seed: of all sizes, with the odd ones among them.
pub(crate) struct Numbers(Rng);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64() >> 16
    }

    pub(crate) fn f32(&mut self) -> f32 {
        const ODD: [f32; 8] =
            [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.5, -2.5, 1e9];
        match self.bits() % 12 {
            at @ 0..8 => ODD[at as usize],
            8 => (self.bits() % 4000) as f32 - 2000.0,
            _ => ((self.bits() % 2_000_000) as f32 - 1e6) * 3.3e-4,
        }
    }

    pub(crate) fn f32s(&mut self) -> [f32; LANES] {
        std::array::from_fn(|_| self.f32())
    }

    pub(crate) fn i32s(&mut self) -> [i32; LANES] {
        std::array::from_fn(|_| match self.bits() % 4 {
            0 => (self.bits() % 40) as i32 - 20,
            _ => self.bits() as u32 as i32,
        })
    }
}
