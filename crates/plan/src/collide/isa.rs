//! The kernels, compiled for each instruction set. All give the same bits.

use citrange_space::Isa;

use super::World;
use super::block::{Block, Verdict, check};
use super::sweep::Sweep;
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
    with_isa!(isa, check, check_avx2, check_avx512, (world, sweep, block))
}

/// [`Sweep::set`]. `isa` must be one that the processor has.
pub(super) fn set_sweep(
    isa: Isa,
    sweep: &mut Sweep,
    world: &World,
    rates: [f32; MAX_JOINTS],
    has_direction: bool,
) {
    with_isa!(isa, set, set_avx2, set_avx512, (sweep, world, rates, has_direction));
}

#[inline(always)]
fn set(sweep: &mut Sweep, world: &World, rates: [f32; MAX_JOINTS], has_direction: bool) {
    sweep.set(&world.robot, rates, has_direction);
}

/// The same code, compiled for wider vectors.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Block, MAX_JOINTS, Sweep, Verdict, World};

    /// One function compiled for two instruction sets.
    macro_rules! compiled {
        ($plain:ident, $avx2:ident, $avx512:ident,
         ($($name:ident: $kind:ty),*) -> $answer:ty) => {
            #[target_feature(enable = "avx2")]
            pub(super) fn $avx2($($name: $kind),*) -> $answer {
                super::$plain($($name),*)
            }

            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            pub(super) fn $avx512($($name: $kind),*) -> $answer {
                super::$plain($($name),*)
            }
        };
    }

    compiled!(
        check, check_avx2, check_avx512,
        (world: &mut World, sweep: &Sweep, block: &mut Block) -> Verdict
    );
    compiled!(
        set, set_avx2, set_avx512,
        (sweep: &mut Sweep, world: &World, rates: [f32; MAX_JOINTS], has_direction: bool) -> ()
    );
}
