//! The kernels, compiled for each instruction set. All give the same bits.

use citrange_lanes::kernel;

use super::World;
use super::block::{Block, Verdict, check};
use super::sweep::Sweep;
use crate::config::MAX_JOINTS;

kernel! {
    /// [`check`] for a block.
    pub(super) fn check_block(
        simd, world: &mut World, sweep: &Sweep, block: &mut Block,
    ) -> Verdict {
        check(simd, world, sweep, block)
    }
}

kernel! {
    /// [`Sweep::set`].
    pub(super) fn set_sweep(
        simd, sweep: &mut Sweep, world: &World, rates: [f32; MAX_JOINTS], has_direction: bool,
    ) {
        sweep.set(&world.robot, rates, has_direction);
    }
}
