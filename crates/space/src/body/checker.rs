//! Places a robot's balls for many configurations at once.

use nalgebra::Isometry3;

use super::kernel;
use super::lanes::{LANES, Lane};
use super::near::{Probe, Roots};
use super::self_filter::{self, LinkPair};
use super::tree::{LaneFrame, Tree};
use super::{Body, Configs};
use crate::error::SpaceError;
use crate::simd::Isa;
use crate::solid::Form;

/// Answers for many configurations of one robot; one per thread. All memory is its own and is
/// used again by the next call.
///
/// Centres of balls are computed in single precision and are off by less than 5e-6 m for arms
/// that reach up to 2 m.
#[derive(Clone, Debug)]
pub struct Checker {
    pub(crate) tree: Tree,
    pub(crate) isa: Isa,
    pub(crate) balls: Balls,
    pub(crate) pairs: Vec<LinkPair>,
    /// Shapes of every link, in its frame.
    pub(crate) shapes: Vec<Vec<(Isometry3<f64>, Form)>>,
    pub(crate) frames: Vec<LaneFrame>,
    pub(crate) centres: Vec<[Lane; 3]>,
    pub(crate) bounds: Vec<Lane>,
    pub(crate) roots: Roots,
    /// Lane, ball and what is known of it, for balls that must be looked at closely.
    pub(crate) waiting: Vec<(usize, usize, Probe)>,
}

/// Balls of a robot, in the order of their links.
#[derive(Clone, Debug)]
pub(crate) struct Balls {
    pub(crate) links: Vec<u16>,
    pub(crate) radii_m: Vec<f64>,
    pub(crate) radii_f32: Vec<f32>,
}

impl Checker {
    /// For a robot, with an instruction set that this processor has.
    #[must_use]
    pub fn new(body: &Body, isa: Isa) -> Self {
        let tree = Tree::new(body);
        let nothing = Lane::splat(0.0);
        let frames = tree.frames();
        let mut made = Self {
            // An instruction set that is not there would be undefined behaviour.
            isa: isa.min(Isa::best()),
            balls: Balls {
                links: body.spheres.iter().map(|s| s.link).collect(),
                radii_m: body.spheres.iter().map(|s| s.radius_m).collect(),
                radii_f32: body.spheres.iter().map(|s| s.radius_m as f32).collect(),
            },
            pairs: LinkPair::all(body),
            shapes: self_filter::shapes(body),
            centres: vec![[nothing; 3]; tree.balls.len()],
            bounds: vec![nothing; tree.balls.len()],
            roots: Roots::default(),
            waiting: Vec::with_capacity(tree.balls.len() * LANES),
            frames,
            tree,
        };
        // Balls of the base are placed once and for all.
        made.place(&vec![nothing; body.chain.joints.len()]);
        made
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
            for lane in 0..left.min(LANES) {
                centres_m.extend(self.centres.iter().map(|c| c.map(|axis| axis.0[lane])));
            }
            left = left.saturating_sub(LANES);
        }
        Ok(())
    }

    pub(crate) fn check(&self, configs: &Configs) -> Result<(), SpaceError> {
        let joints = self.frames.len() - 1;
        if configs.joints() == joints {
            return Ok(());
        }
        let reason = format!("{} joints each, the robot has {joints}", configs.joints());
        Err(SpaceError::bad("configurations", reason))
    }

    /// Fills `centres` for one block.
    fn place(&mut self, block: &[Lane]) {
        kernel::place(self.isa, &self.tree, block, &mut self.frames, &mut self.centres);
    }
}
