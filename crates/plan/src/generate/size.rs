//! How large a robot is: what worlds for it are measured in.

use citrange_core::rng::Rng;

use crate::arm::PlannedArm;
use crate::error::PlanError;

/// Configurations that are tried.
const TRIED: u64 = 2000;

/// Lengths of a robot that stands at its base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RobotSize {
    /// Where its first joint is, in the world.
    pub(super) shoulder_m: [f64; 3],
    /// Height of the base.
    pub(super) base_z_m: f64,
    /// How far from the shoulder the tool comes.
    pub(super) reach_m: f64,
    /// Radius of a ball around its hand: the last link of the arm and what it carries.
    pub(super) hand_m: f64,
}

impl RobotSize {
    pub(super) fn of(arm: &PlannedArm) -> Result<Self, PlanError> {
        let chain = arm.body().chain();
        let mut rng = Rng::for_episode(0, 0, "size");
        let base = chain.world_from_base.isometry();
        let shoulder = chain.joints.first().map_or(base.translation.vector, |joint| {
            (base * joint.parent_from_link.isometry()).translation.vector
        });
        let mut joints = arm.held().to_vec();
        let mut reach_m = 0.0_f64;
        for _ in 0..TRIED {
            for (joint, limit) in joints.iter_mut().zip(arm.limits()) {
                *joint = rng.uniform(limit.range[0], limit.range[1]);
            }
            let tool = arm.body().tool_at(&joints)?;
            let away = (0..3).map(|a| (tool[a] - shoulder[a]).powi(2)).sum::<f64>().sqrt();
            reach_m = reach_m.max(away);
        }
        let last = arm.joints() as u16;
        let hand: Vec<_> = arm.body().spheres().iter().filter(|s| s.link >= last).collect();
        let mut hand_m = reach_m / 20.0;
        if let (Some(_), true) = (hand.first(), chain.joints.len() == arm.joints()) {
            hand_m = hand_m.max(around(hand.iter().map(|s| (s.centre_m, s.radius_m))));
        } else if !hand.is_empty() {
            // Fingers are links of their own: the last link of the arm alone has one frame.
            let palm = hand.iter().filter(|s| s.link == last);
            hand_m = hand_m.max(around(palm.map(|s| (s.centre_m, s.radius_m))));
        }
        Ok(Self {
            shoulder_m: shoulder.into(),
            base_z_m: base.translation.vector.z,
            reach_m,
            hand_m,
        })
    }
}

/// Radius of a ball around balls.
fn around(balls: impl Iterator<Item = ([f64; 3], f64)> + Clone) -> f64 {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for (centre, radius) in balls.clone() {
        for axis in 0..3 {
            low[axis] = low[axis].min(centre[axis] - radius);
            high[axis] = high[axis].max(centre[axis] + radius);
        }
    }
    let middle: [f64; 3] = std::array::from_fn(|axis| (low[axis] + high[axis]) / 2.0);
    let away = |(centre, radius): ([f64; 3], f64)| {
        radius + (0..3).map(|a| (centre[a] - middle[a]).powi(2)).sum::<f64>().sqrt()
    };
    balls.map(away).fold(0.0, f64::max)
}
