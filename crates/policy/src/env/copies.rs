//! Sixteen copies of an arm: where they are, what a step does, and what it earns.

use std::sync::Arc;

use citrange_lanes::{Isa, LANES, Lanes};
use citrange_robot::BatchKinematics;

use super::arm::ReachArm;
use super::boxes::LaneBoxes;
use super::sense::{self, Sensed, SphereTable};
use super::settings::ReachSettings;

/// Sixteen copies of one arm, each in its own world.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    pub(crate) arm: Arc<ReachArm>,
    pub(super) settings: Arc<ReachSettings>,
    pub(crate) kinematics: BatchKinematics,
    pub(super) table: Arc<SphereTable>,
    /// Positions of all joints.
    pub(crate) joints: Vec<Lanes>,
    /// Where the tools should come.
    pub(crate) goal_m: [Lanes; 3],
    pub(crate) boxes: LaneBoxes,
    pub(crate) steps: [u32; LANES],
    /// Of the last [`Copies::look`]: tools, distances to the goal, what is sensed.
    pub(crate) tool_m: [Lanes; 3],
    pub(crate) distance_m: Lanes,
    pub(crate) sensed: Sensed,
    pub(super) features: Vec<Lanes>,
}

/// What became of the copies in a step, as bits, and what it earned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ends {
    pub(crate) success: u16,
    /// Touched a box, or the floor.
    pub(crate) boxes: u16,
    pub(crate) floor: u16,
    /// Touched itself.
    pub(crate) own: u16,
    pub(crate) late: u16,
    pub(crate) reward: [f32; LANES],
}

impl Ends {
    /// Copies that collided.
    pub(crate) fn collided(&self) -> u16 {
        self.boxes | self.floor | self.own
    }

    /// Copies whose attempt is over.
    pub(crate) fn over(&self) -> u16 {
        self.success | self.collided() | self.late
    }
}

impl Copies {
    pub(crate) fn new(arm: &Arc<ReachArm>, settings: &Arc<ReachSettings>, isa: Isa) -> Self {
        let spheres = arm.robot().spheres();
        let table = SphereTable {
            radii_m: spheres.iter().map(|s| s.radius_m as f32).collect(),
            links: spheres.iter().map(|s| s.link).collect(),
            groups: arm.groups().to_vec(),
            count: arm.group_links().len(),
        };
        let nothing = Lanes::splat(0.0);
        Self {
            kinematics: BatchKinematics::new(arm.robot(), isa),
            joints: arm.home().iter().map(|at| Lanes::splat(*at as f32)).collect(),
            goal_m: [nothing; 3],
            boxes: LaneBoxes::default(),
            steps: [0; LANES],
            tool_m: [nothing; 3],
            distance_m: nothing,
            sensed: Sensed::new(table.count),
            features: Vec::new(),
            table: Arc::new(table),
            arm: arm.clone(),
            settings: settings.clone(),
        }
    }

    /// The first moving link is not looked at: it stands on what it may touch. Proofs look at it.
    pub(crate) fn pass_first_link(&mut self) {
        let links = self.table.links.iter().map(|link| if *link == 1 { 0 } else { *link });
        self.table = Arc::new(SphereTable { links: links.collect(), ..(*self.table).clone() });
    }

    /// Senses where the arms are now.
    pub(crate) fn look(&mut self) {
        self.kinematics.place(&self.joints);
        let (centres, isa) = (self.kinematics.block_centres(), self.kinematics.isa());
        sense::sense(isa, &self.table, centres, &self.boxes, &mut self.sensed);
        self.see_tools();
    }

    fn see_tools(&mut self) {
        let (link, point_m) = self.arm.tool();
        self.tool_m = self.kinematics.block_point(link, point_m);
        for lane in 0..LANES {
            let off = |a: usize| self.goal_m[a].0[lane] - self.tool_m[a].0[lane];
            self.distance_m.0[lane] = (off(0) * off(0) + off(1) * off(1) + off(2) * off(2)).sqrt();
        }
    }

    /// Joint positions of a copy.
    pub(crate) fn posture(&self, lane: usize) -> Vec<f64> {
        self.joints.iter().map(|joint| f64::from(joint.0[lane])).collect()
    }

    /// Puts a copy somewhere.
    pub(crate) fn put(&mut self, lane: usize, joints: &[f32], goal_m: [f32; 3]) {
        for (to, from) in self.joints.iter_mut().zip(joints) {
            to.0[lane] = *from;
        }
        for axis in 0..3 {
            self.goal_m[axis].0[lane] = goal_m[axis];
        }
        self.steps[lane] = 0;
    }

    /// One step: actions of the controlled joints, clamped to -1 to 1. The way there is looked at
    /// in the middle and at its end. Ends with [`Copies::look`].
    pub(crate) fn advance(&mut self, actions: &[Lanes]) -> Ends {
        let settings = self.settings.clone();
        let moving = settings.world.speed_m_s[1] > 0.0;
        let before_m = self.distance_m;
        let mut after = self.joints.clone();
        for (action, joint) in actions.iter().zip(self.arm.controlled()) {
            let [low, high] = self.arm.ranges()[*joint].map(|x| x as f32);
            for lane in 0..LANES {
                let step = settings.action_rad as f32 * action.0[lane].clamp(-1.0, 1.0);
                let from = self.joints[*joint].0[lane];
                let to = (from + step).clamp(low, high);
                after[*joint].0[lane] = to;
                self.joints[*joint].0[lane] = 0.5 * (from + to);
            }
        }
        if moving {
            self.boxes.pass(0.5 * settings.step_s as f32);
        }
        self.kinematics.place(&self.joints);
        let isa = self.kinematics.isa();
        let halfway =
            sense::touches(isa, &self.table, self.kinematics.block_centres(), &self.boxes);
        self.joints = after;
        if moving {
            self.boxes.pass(0.5 * settings.step_s as f32);
        }
        self.look();
        let mut ends = Ends {
            boxes: (self.sensed.touches | halfway) & !self.sensed.floor,
            floor: self.sensed.floor,
            own: self.kinematics.self_hits(0.0, u16::MAX),
            ..Ends::default()
        };
        let scale = self.arm.scale() as f32;
        for lane in 0..LANES {
            self.steps[lane] += 1;
            let (bit, distance_m) = (1_u16 << lane, self.distance_m.0[lane]);
            let collided = ends.collided() & bit != 0;
            if !collided && distance_m < settings.tolerance_m as f32 * scale {
                ends.success |= bit;
            } else if !collided && self.steps[lane] >= settings.max_steps {
                ends.late |= bit;
            }
            let nearer = (before_m.0[lane] - distance_m) / scale;
            let mut reward = settings.progress_reward as f32 * nearer - settings.step_cost as f32;
            let (clearance, near_m) = (self.sensed.least_m.0[lane] / scale, settings.near_m as f32);
            if clearance < near_m {
                reward -= settings.near_cost as f32 * (1.0 - clearance.max(0.0) / near_m);
            }
            if ends.success & bit != 0 {
                reward += settings.success_reward as f32;
            }
            if collided {
                reward -= settings.collision_cost as f32;
            }
            ends.reward[lane] = reward;
        }
        ends
    }
}
