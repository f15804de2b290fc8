//! The autopilot's own body: its arm, its jaws, and where it stands.

use citrange_robot::{Chain, Fit, HandGoal, HandPose, LinkShape, Tolerance, ToolDownIk, wrapped};
use nalgebra::Vector3;

use crate::error::TaskError;
use crate::hand::{Hand, Side};
use crate::moves::HandTarget;
use crate::settings::{AutopilotSettings, HeightsOf};

/// A fit may miss its point by this much.
const REACH_M: f64 = 0.0005;
/// Distances from the axis that are tried.
const RING_STEP_M: f64 = 0.01;
const RING_STEPS: u32 = 100;
/// Distances from the axis at which a way around is tried.
const HALF_WAYS: u32 = 8;
/// And its yaw by this much: near the end of its reach an arm cannot do better.
const REACH_YAW_RAD: f64 = 0.15;

/// Each jaw presses with at least this, if its servo can: it holds 0.4 kg at a friction of 0.5.
const LEAST_GRIP_N: f64 = 4.0;

#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) chain: Chain,
    pub(crate) ik: ToolDownIk,
    pub(crate) home: Vec<f64>,
    pub(crate) floor_z_m: f64,
    /// What a height of the settings is to be lowered by to be one of the grasp point.
    hang_m: f64,
    /// The first joint's axis, on the floor.
    axis_m: [f64; 2],
    /// Yaw of the jaws against the arm's direction in the home pose.
    home_yaw_rad: f64,
    /// Grasp point for a thing of no width, in the frame of the tool as the axes.
    pub(crate) grasp_m: Vector3<f64>,
    pub(crate) jaw_axis: Vector3<f64>,
    pub(crate) tool_axis: Vector3<f64>,
    pub(crate) from_face: bool,
    pub(crate) hand_shape: Hand,
    /// How far the jaws' tips are beyond the grasp point, along the tool.
    pub(crate) tip_m: f64,
    pub(crate) within: Tolerance,
    /// Smallest and largest distance from the first joint's axis that the hand reaches at the
    /// height things are carried at.
    pub(crate) ring_m: [f64; 2],
    /// How far the jaws must be sent beyond where they meet a thing, as a fraction of their range,
    /// for their servo to press with [`LEAST_GRIP_N`].
    pub(crate) least_squeeze: f64,
    /// How far behind its targets the slowest servo of the arm is, in time.
    pub(crate) lag_s: f64,
    /// Largest speeds of all joints.
    pub(crate) speeds: Vec<f64>,
}

impl Body {
    pub(crate) fn new(
        chain: &Chain,
        shapes: &[LinkShape],
        home: &[f64],
        floor_z_m: f64,
        settings: &AutopilotSettings,
    ) -> Result<Self, TaskError> {
        let mut ik = ToolDownIk::new(chain, home)?;
        let grasp = *ik.grasp();
        let hand = ik.hand(home);
        let anchor = ik.kinematics().anchor(0);
        let wrist_m = ik.kinematics().site(&chain.wrist).pos_m;
        let hang_m = match settings.heights_of {
            HeightsOf::Tool => 0.0,
            HeightsOf::Wrist => wrist_m.z - hand.at_m.z,
        };
        let fraction = settings.joint_speed_fraction;
        let mut body = Self {
            chain: chain.clone(),
            home: home.to_vec(),
            floor_z_m,
            hang_m,
            axis_m: [anchor.x, anchor.y],
            home_yaw_rad: 0.0,
            grasp_m: Vector3::from(grasp.point_m),
            jaw_axis: Vector3::from(grasp.jaw_axis).normalize(),
            tool_axis: Vector3::from(grasp.tool_axis).normalize(),
            from_face: grasp.from_face,
            hand_shape: Hand::new(chain, shapes),
            tip_m: 0.0,
            within: Tolerance {
                error_m: REACH_M,
                tilt_rad: settings.max_tilt_deg.to_radians(),
                yaw_rad: REACH_YAW_RAD,
            },
            ring_m: [0.0, f64::INFINITY],
            least_squeeze: 0.0,
            lag_s: lag_s(chain),
            speeds: chain.joints.iter().map(|j| j.max_speed.unwrap_or(1.0) * fraction).collect(),
            ik,
        };
        if !body.hand_shape.is_known() {
            return Err(TaskError::NoHand(chain.robot.clone()));
        }
        body.tip_m = body.tip();
        body.least_squeeze = body.squeeze(&hand);
        body.home_yaw_rad = hand.jaw_yaw_rad() - body.azimuth(&hand.at_m);
        body.ring_m = body.ring(body.height(settings.transport_height), &hand.at_m);
        Ok(body)
    }

    /// Measures how near to the axis and how far from it the hand gets at a height, with what it
    /// holds.
    pub(crate) fn measure_ring(&mut self, z_m: f64) {
        let home = self.home.clone();
        let towards = self.hand(&home).at_m;
        self.ring_m = self.ring(z_m, &towards);
    }

    /// Distances from the axis that are reached at a height, in the direction of `towards`.
    fn ring(&mut self, z_m: f64, towards: &Vector3<f64>) -> [f64; 2] {
        let out = (towards - self.base(towards.z)).xy();
        let (radius, out) = (out.norm(), out.normalize());
        let home = self.home.clone();
        // From where the hand is at home, inwards and outwards until it ends; each step from the
        // joints of the one before.
        let mut last = |step: f64| {
            let mut near = home.clone();
            let mut reaches = |radius: f64| {
                let at_m = self.base(z_m) + Vector3::new(out.x, out.y, 0.0) * radius;
                let found = self.reach(&HandTarget { at_m, relative_yaw_rad: 0.0 }, &near);
                found.map(|joints| near = joints).is_some()
            };
            let radii = (0..RING_STEPS).map(|n| radius + f64::from(n) * step);
            radii.take_while(|radius| *radius > 0.0 && reaches(*radius)).last().unwrap_or(radius)
        };
        [last(-RING_STEP_M), last(RING_STEP_M)]
    }

    /// Places between two at the same height, so that no straight line comes nearer to the axis
    /// than the arm can: none, or one on the way around.
    pub(crate) fn way_around(
        &self,
        from: &Vector3<f64>,
        to: &Vector3<f64>,
    ) -> Option<Vector3<f64>> {
        let base = self.base(from.z);
        let (a, b) = ((from - base).xy(), (to - base).xy());
        let along = b - a;
        let nearest = (-a.dot(&along) / along.norm_squared().max(1e-12)).clamp(0.0, 1.0);
        if (a + along * nearest).norm() >= self.ring_m[0] + RING_STEP_M {
            return None;
        }
        let turn = wrapped(b.y.atan2(b.x) - a.y.atan2(a.x));
        let least = (self.ring_m[0] + RING_STEP_M) / (turn / 4.0).cos().max(0.5);
        let radius = least.max((a.norm() + b.norm()) / 2.0).min(self.ring_m[1]);
        Some(self.between(from, to, radius))
    }

    /// A place in the direction half way between two, so far from the axis.
    fn between(&self, from: &Vector3<f64>, to: &Vector3<f64>, radius_m: f64) -> Vector3<f64> {
        let (a, b) = (self.azimuth(from), self.azimuth(to));
        let middle = a + wrapped(b - a) / 2.0;
        let out = Vector3::new(middle.cos(), middle.sin(), 0.0) * radius_m;
        self.base(from.z.max(to.z)) + out
    }

    /// Places half way between two, from near the axis outwards.
    pub(crate) fn half_way(&self, from: &Vector3<f64>, to: &Vector3<f64>) -> Vec<Vector3<f64>> {
        let [near, far] = self.ring_m;
        let radii =
            (1..=HALF_WAYS).map(|k| near + (far - near) * f64::from(k) / f64::from(HALF_WAYS));
        radii.map(|radius| self.between(from, to, radius)).collect()
    }

    /// Soft servos press only when they are sent far.
    fn squeeze(&self, hand: &HandPose) -> f64 {
        let joints = self.chain.joints.iter().enumerate();
        let driven = joints.filter_map(|(index, joint)| {
            let ([closed, open], stiffness) = (joint.gripper?, joint.stiffness?);
            let kinematics = self.ik.kinematics();
            let lever_m =
                if joint.is_slide { 1.0 } else { (hand.at_m - kinematics.anchor(index)).norm() };
            Some(stiffness * (open - closed).abs() / lever_m)
        });
        let driven: Vec<f64> = driven.filter(|force_n| *force_n > 0.0).collect();
        // One servo that closes both jaws shares its force between them.
        let shared = if driven.len() == 1 && !self.from_face { 2.0 } else { 1.0 };
        driven.iter().map(|force_n| LEAST_GRIP_N * shared / force_n).fold(0.0, f64::max)
    }

    /// How far the tips of the jaws, closed, are beyond the grasp point.
    fn tip(&mut self) -> f64 {
        let mut joints = self.home.clone();
        self.set_jaws(0.0, &mut joints);
        self.ik.set_point(self.grasp_m);
        let hand = self.hand(&joints);
        let bodies = self.hand_shape.bodies(self.ik.kinematics());
        let jaws = bodies.iter().filter(|(side, _)| *side != Side::Palm);
        let ends = jaws.map(|(_, part)| part.extent(&hand.tool_axis)[1]);
        ends.fold(f64::NEG_INFINITY, f64::max) - hand.at_m.dot(&hand.tool_axis)
    }

    /// Where in the hand the middle of the thing is that is to be held, in the tool's frame.
    pub(crate) fn hold(&mut self, point_m: &Vector3<f64>) {
        self.ik.set_point(*point_m);
    }

    /// A height of the settings as a height of the grasp point in the world.
    pub(crate) fn height(&self, setting: f64) -> f64 {
        self.floor_z_m + setting - self.hang_m
    }

    fn azimuth(&self, at_m: &Vector3<f64>) -> f64 {
        (at_m.y - self.axis_m[1]).atan2(at_m.x - self.axis_m[0])
    }

    /// Middle of the base, at a height.
    pub(crate) fn base(&self, z_m: f64) -> Vector3<f64> {
        Vector3::new(self.axis_m[0], self.axis_m[1], z_m)
    }

    pub(crate) fn goal(&self, place: &HandTarget) -> HandGoal {
        HandGoal { at_m: place.at_m, jaw_yaw_rad: self.yaw(place) }
    }

    /// Yaw of the jaws in the world.
    pub(crate) fn yaw(&self, place: &HandTarget) -> f64 {
        self.azimuth(&place.at_m) + self.home_yaw_rad + place.relative_yaw_rad
    }

    /// The yaw against the arm's direction that makes a yaw in the world.
    pub(crate) fn relative_yaw(&self, at_m: &Vector3<f64>, yaw_rad: f64) -> f64 {
        wrapped(yaw_rad - self.azimuth(at_m) - self.home_yaw_rad)
    }

    /// Where the hand is for some joints.
    pub(crate) fn place(&mut self, joints: &[f64]) -> HandTarget {
        let hand = self.ik.hand(joints);
        HandTarget {
            at_m: hand.at_m,
            relative_yaw_rad: self.relative_yaw(&hand.at_m, hand.jaw_yaw_rad()),
        }
    }

    pub(crate) fn hand(&mut self, joints: &[f64]) -> HandPose {
        self.ik.hand(joints)
    }

    /// Joints for a place, if the arm gets there from `near` or from home.
    pub(crate) fn reach(&mut self, place: &HandTarget, near: &[f64]) -> Option<Vec<f64>> {
        self.reach_or_fit(place, near).ok()
    }

    /// The same; otherwise how near it comes.
    pub(crate) fn reach_or_fit(
        &mut self,
        place: &HandTarget,
        near: &[f64],
    ) -> Result<Vec<f64>, Fit> {
        let mut joints = near.to_vec();
        let goal = self.goal(place);
        let within = self.within;
        let fit = self.ik.find(&goal, &within, &mut joints);
        if fit.keeps(&within) { Ok(joints) } else { Err(fit) }
    }

    /// Writes the gripper's joints for a fraction of its opening.
    pub(crate) fn set_jaws(&self, fraction: f64, joints: &mut [f64]) {
        for (joint, target) in self.chain.joints.iter().zip(joints) {
            if let Some([closed, open]) = joint.gripper {
                *target = closed + fraction * (open - closed);
            }
        }
    }

    /// How far the jaws are open: 0 closed, 1 open.
    pub(crate) fn jaws(&self, joints: &[f64]) -> f64 {
        let fractions = self.chain.joints.iter().zip(joints).filter_map(|(joint, at)| {
            joint.gripper.map(|[closed, open]| (at - closed) / (open - closed))
        });
        let (sum, count) = fractions.fold((0.0, 0), |(sum, n), fraction| (sum + fraction, n + 1));
        sum / f64::from(count.max(1))
    }
}

fn lag_s(chain: &Chain) -> f64 {
    let arm = chain.joints.iter().take(chain.arm_joints);
    let lags = arm.filter_map(|joint| Some(joint.damping? / joint.stiffness.filter(|k| *k > 0.0)?));
    lags.fold(0.0, f64::max)
}
