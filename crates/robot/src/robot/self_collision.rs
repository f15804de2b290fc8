//! Whether a robot touches itself, for many configurations: first the spheres, sixteen at once;
//! where they touch, the shapes themselves.

use citrange_lanes::LANES;
use nalgebra::Isometry3;

use super::batch::BatchKinematics;
use super::convex::Convex;
use super::kernel;
use super::sphere_chain::SphereChain;
use super::{Configs, Robot, link_of};
use crate::error::RobotError;
use citrange_core::shape::Shape;

/// Links are placed in single precision: shapes nearer than this count as touching.
const SLACK_M: f64 = 2e-5;

/// Two links that must not touch: their numbers and their spheres.
#[derive(Clone, Debug)]
pub(crate) struct LinkPair {
    links: [usize; 2],
    pub(crate) first: std::ops::Range<usize>,
    pub(crate) second: std::ops::Range<usize>,
}

impl LinkPair {
    /// All pairs of a robot.
    pub(crate) fn all(body: &Robot) -> Vec<Self> {
        let range = |link: u16| {
            let from = body.spheres.partition_point(|s| s.link < link);
            from..body.spheres.partition_point(|s| s.link <= link)
        };
        let pair = |[a, b]: &[u16; 2]| Self {
            links: [usize::from(*a), usize::from(*b)],
            first: range(*a),
            second: range(*b),
        };
        body.pairs.iter().map(pair).collect()
    }
}

/// Shapes of every link, in the frames that a checker places.
pub(crate) fn shapes(body: &Robot, robot: &SphereChain) -> Vec<Vec<(Isometry3<f64>, Shape)>> {
    let mut links = vec![Vec::new(); body.links.len()];
    for shape in &body.shapes {
        let link = link_of(shape);
        let at = robot.ours_from_link(link) * shape.link_from_shape.isometry();
        links[link].push((at, shape.shape.clone()));
    }
    links
}

impl BatchKinematics {
    /// Which configurations have links that touch each other and must not. Exact with respect to
    /// the shapes, up to 0.02 mm: never free where they touch.
    ///
    /// # Errors
    /// When the configurations have another number of joints than the robot, there is not one
    /// answer for each, or the margin is no number.
    pub fn self_collides(
        &mut self,
        configs: &Configs,
        margin_m: f64,
        out: &mut [bool],
    ) -> Result<(), RobotError> {
        self.check(configs)?;
        configs.check_room(out.len())?;
        if !margin_m.is_finite() {
            let reason = format!("{margin_m} is not a length in metres, such as 0.01");
            return Err(RobotError::setting("margin_m", reason));
        }
        for (block, out) in configs.blocks().zip(out.chunks_mut(LANES)) {
            self.place(block);
            let hit = self.self_hits(margin_m, u16::MAX >> (LANES - out.len()));
            for (lane, answer) in out.iter_mut().enumerate() {
                *answer = hit >> lane & 1 == 1;
            }
        }
        Ok(())
    }

    /// Which of the wanted lanes of the block that was placed last touch themselves, as bits.
    #[must_use]
    pub fn self_hits(&self, margin_m: f64, wanted: u16) -> u16 {
        let radii = &self.radii_m;
        let margin = (margin_m + SLACK_M) as f32;
        let near = kernel::self_hits(self.isa, &self.pairs, &self.centres, radii, margin);
        let lanes = (0..LANES).filter(|lane| (near & wanted) >> lane & 1 == 1);
        let touches = lanes.filter(|lane| {
            let mut pairs = self.pairs.iter();
            pairs.any(|p| {
                self.spheres_touch(p, *lane, margin) && self.shapes_touch(p, *lane, margin_m)
            })
        });
        touches.fold(0, |hit, lane| hit | 1 << lane)
    }

    fn spheres_touch(&self, pair: &LinkPair, lane: usize, margin_m: f32) -> bool {
        let radii = &self.radii_m;
        pair.first.clone().any(|a| {
            let from = self.centres[a].map(|axis| axis.0[lane]);
            pair.second.clone().any(|b| {
                let apart = |axis: usize| (from[axis] - self.centres[b][axis].0[lane]).powi(2);
                let reach = (radii[a] + radii[b] + margin_m).max(0.0);
                apart(0) + apart(1) + apart(2) < reach * reach
            })
        })
    }

    fn shapes_touch(&self, pair: &LinkPair, lane: usize, margin_m: f64) -> bool {
        let [first, second] = pair.links.map(|link| {
            let (rot, pos_m) = self.frames[link].of_lane(lane);
            self.shapes[link].iter().map(move |(at, shape)| {
                let rotation = at.rotation.to_rotation_matrix().into_inner();
                Convex { rot: rot * rotation, pos_m: pos_m + rot * at.translation.vector, shape }
            })
        });
        first.into_iter().any(|a| second.clone().any(|b| !a.is_apart(&b, margin_m + SLACK_M)))
    }
}
