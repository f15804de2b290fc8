//! The kernels, compiled for each instruction set. All give the same bits.

use citrange_space::Isa;

use super::World;
use super::block::{Block, Verdict, check};
use super::sweep::Sweep;
use super::vector::Plain;
use crate::config::MAX_JOINTS;

/// Calls the version of a kernel that an instruction set has.
macro_rules! with_isa {
    ($isa:expr, $plain:ident, $avx2:ident, $avx512:ident, ($($argument:expr),*)) => {
        match $isa {
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls across the feature edge")]
            // SAFETY: a collider keeps only instruction sets that the processor has.
            Isa::Avx2 => unsafe { x86::$avx2($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls across the feature edge")]
            // SAFETY: as above.
            Isa::Avx512 => unsafe { x86::$avx512($($argument),*) },
            _ => $plain($($argument),*),
        }
    };
}

/// [`check`] for a block. `isa` must be one that the processor has.
pub(super) fn check_block(
    isa: Isa,
    world: &mut World,
    sweep: &Sweep,
    block: &mut Block,
) -> Verdict {
    with_isa!(isa, check_plain, check_avx2, check_avx512, (world, sweep, block))
}

/// [`Sweep::set`]. `isa` must be one that the processor has.
pub(super) fn set_sweep(
    isa: Isa,
    sweep: &mut Sweep,
    world: &World,
    rates: [f32; MAX_JOINTS],
    has_direction: bool,
) {
    with_isa!(isa, set_plain, set_avx2, set_avx512, (sweep, world, rates, has_direction));
}

fn check_plain(world: &mut World, sweep: &Sweep, block: &mut Block) -> Verdict {
    check::<Plain>(world, sweep, block)
}

#[inline(always)]
fn set_plain(sweep: &mut Sweep, world: &World, rates: [f32; MAX_JOINTS], has_direction: bool) {
    sweep.set(&world.robot, rates, has_direction);
}

/// The same code, compiled for wider vectors.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::vector::{Wide, Widest};
    use super::{Block, MAX_JOINTS, Sweep, Verdict, World, check, set_plain};

    /// Kernels compiled for one instruction set.
    macro_rules! compiled {
        ($features:literal, $vector:ty, $check:ident, $set:ident) => {
            #[target_feature(enable = $features)]
            pub(super) fn $check(world: &mut World, sweep: &Sweep, block: &mut Block) -> Verdict {
                check::<$vector>(world, sweep, block)
            }

            #[target_feature(enable = $features)]
            pub(super) fn $set(
                sweep: &mut Sweep,
                world: &World,
                rates: [f32; MAX_JOINTS],
                has_direction: bool,
            ) {
                set_plain(sweep, world, rates, has_direction);
            }
        };
    }

    compiled!("avx2", Wide, check_avx2, set_avx2);
    compiled!("avx512f,avx512bw,avx512dq,avx512vl", Widest, check_avx512, set_avx512);
}
