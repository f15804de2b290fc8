//! Places a robot's spheres for many configurations at once: forward kinematics in lanes.

use citrange_lanes::{Isa, LANES, Lanes};
use nalgebra::{Isometry3, Point3};

use super::kernel;
use super::self_collision::{self, LinkPair};
use super::sphere_chain::SphereChain;
use super::{Configs, Robot};
use crate::error::RobotError;
use crate::lane_chain::LaneFrame;
use citrange_core::shape::Shape;

/// Forward kinematics and self-collision of one robot, sixteen configurations at a time; one per
/// thread. All memory is its own and is used again by the next call.
///
/// Centres of spheres are computed in single precision and are off by less than 5e-6 m for arms
/// that reach up to 2 m.
#[derive(Clone, Debug)]
pub struct BatchKinematics {
    pub(crate) robot: SphereChain,
    pub(crate) isa: Isa,
    /// Radii of the spheres.
    pub(crate) radii_m: Vec<f32>,
    pub(crate) pairs: Vec<LinkPair>,
    /// Shapes of every link, in its frame.
    pub(crate) shapes: Vec<Vec<(Isometry3<f64>, Shape)>>,
    pub(crate) frames: Vec<LaneFrame<Lanes>>,
    pub(crate) centres: Vec<[Lanes; 3]>,
}

impl BatchKinematics {
    /// For a robot, with an instruction set that this processor has.
    #[must_use]
    pub fn new(body: &Robot, isa: Isa) -> Self {
        let robot = SphereChain::new(body);
        let nothing = Lanes::splat(0.0);
        let frames = robot.frames();
        let mut made = Self {
            isa,
            radii_m: body.spheres.iter().map(|s| s.radius_m as f32).collect(),
            pairs: LinkPair::all(body),
            shapes: self_collision::shapes(body, &robot),
            centres: vec![[nothing; 3]; robot.spheres.len()],
            frames,
            robot,
        };
        // Spheres of the base are placed once and for all.
        made.place(&vec![nothing; body.chain.joints.len()]);
        made
    }

    /// Centres of all spheres, in the world: those of the first configuration in the order of
    /// [`Robot::spheres`], then those of the next. `centres_m` is emptied first.
    ///
    /// # Errors
    /// When the configurations have another number of joints than the robot.
    pub fn centres(
        &mut self,
        configs: &Configs,
        centres_m: &mut Vec<[f32; 3]>,
    ) -> Result<(), RobotError> {
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

    /// Whether configurations have as many joints as the robot.
    ///
    /// # Errors
    /// When they have not.
    pub fn check(&self, configs: &Configs) -> Result<(), RobotError> {
        let joints = self.frames.len() - 1;
        if configs.joints() == joints {
            return Ok(());
        }
        let reason = format!("{} joints each, the robot has {joints}", configs.joints());
        Err(RobotError::bad("configurations", reason))
    }

    /// Places the robot in the sixteen configurations of a block of [`Configs::blocks`].
    pub fn place(&mut self, block: &[Lanes]) {
        kernel::place(self.isa, &self.robot, block, &mut self.frames, &mut self.centres);
    }

    /// Centres of all spheres in the block that was placed last, in the order of [`Robot::spheres`].
    #[must_use]
    pub fn block_centres(&self) -> &[[Lanes; 3]] {
        &self.centres
    }

    /// Where a point of a link is in the block that was placed last. The point is in the frame of
    /// the link; link 0 is the base.
    #[must_use]
    pub fn block_point(&self, link: usize, point_m: [f64; 3]) -> [Lanes; 3] {
        let mut at = [Lanes::splat(0.0); 3];
        if let Some(frame) = self.frames.get(link) {
            let point = self.robot.ours_from_link(link) * Point3::from(point_m);
            kernel::place_point(self.isa, frame, point.coords.map(|c| c as f32).into(), &mut at);
        }
        at
    }

    /// Direction of a joint's axis and a point on it, in the world, in the block that was placed
    /// last.
    #[must_use]
    pub fn block_axis(&self, joint: usize) -> Option<([Lanes; 3], [Lanes; 3])> {
        self.frames.get(joint + 1).map(|frame| (frame.axes[2], frame.origin_m))
    }

    /// The instruction set that is used.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.isa
    }
}
