//! Places a robot's balls for many configurations at once.

use super::lanes::Lane;
use super::tree::{LaneFrame, Tree};
use super::{Body, Configs};
use crate::error::SpaceError;
use crate::simd::Isa;

/// Answers for many configurations of one robot; one per thread. All memory is its own and is
/// used again by the next call.
///
/// Centres of balls are computed in single precision and are off by less than 5e-6 m for arms
/// that reach up to 2 m.
#[derive(Clone, Debug)]
pub struct Checker {
    tree: Tree,
    isa: Isa,
    frames: Vec<LaneFrame>,
    centres: Vec<[Lane; 3]>,
}

impl Checker {
    /// For a robot, with an instruction set that this processor has.
    #[must_use]
    pub fn new(body: &Body, isa: Isa) -> Self {
        let tree = Tree::new(body);
        let frames = tree.frames();
        let centres = vec![[Lane::splat(0.0); 3]; tree.balls.len()];
        // An instruction set that is not there would be undefined behaviour.
        let isa = isa.min(Isa::best());
        Self { tree, isa, frames, centres }
    }

    /// Centres of all balls, in the world: those of the first configuration in the order of
    /// [`Body::spheres`], then those of the next. `centres_m` is emptied first.
    ///
    /// # Errors
    /// When the configurations have another number of joints than the robot.
    pub fn centres(
        &mut self,
        configs: &Configs,
        centres_m: &mut Vec<[f32; 3]>,
    ) -> Result<(), SpaceError> {
        self.check(configs)?;
        centres_m.clear();
        let mut left = configs.len();
        for block in configs.blocks() {
            self.place(block);
            for lane in 0..left.min(super::lanes::LANES) {
                centres_m.extend(self.centres.iter().map(|c| c.map(|axis| axis.0[lane])));
            }
            left = left.saturating_sub(super::lanes::LANES);
        }
        Ok(())
    }

    fn check(&self, configs: &Configs) -> Result<(), SpaceError> {
        let joints = self.frames.len() - 1;
        if configs.joints() == joints {
            return Ok(());
        }
        let reason = format!("{} joints each, the robot has {joints}", configs.joints());
        Err(SpaceError::bad("configurations", reason))
    }

    /// Fills `centres` for one block.
    fn place(&mut self, block: &[Lane]) {
        let Self { tree, isa, frames, centres } = self;
        match isa {
            Isa::Portable => place(tree, block, frames, centres),
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls across the feature edge")]
            // SAFETY: `new` keeps only instruction sets that the processor has.
            Isa::Avx2 => unsafe { x86::place_avx2(tree, block, frames, centres) },
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls across the feature edge")]
            // SAFETY: as above.
            Isa::Avx512 => unsafe { x86::place_avx512(tree, block, frames, centres) },
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => place(tree, block, frames, centres),
        }
    }
}

#[inline(always)]
fn place(tree: &Tree, block: &[Lane], frames: &mut [LaneFrame], centres: &mut [[Lane; 3]]) {
    tree.place(block, frames);
    for (ball, centre) in tree.balls.iter().zip(centres) {
        *centre = tree.centre(ball, frames);
    }
}

/// The same code, compiled for wider vectors.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lane, LaneFrame, Tree};

    #[target_feature(enable = "avx2")]
    pub(super) fn place_avx2(
        tree: &Tree,
        block: &[Lane],
        frames: &mut [LaneFrame],
        centres: &mut [[Lane; 3]],
    ) {
        super::place(tree, block, frames, centres);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn place_avx512(
        tree: &Tree,
        block: &[Lane],
        frames: &mut [LaneFrame],
        centres: &mut [[Lane; 3]],
    ) {
        super::place(tree, block, frames, centres);
    }
}
