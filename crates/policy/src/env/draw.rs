//! Episodes: a world, a start in it and a goal that some posture reaches.

use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_lanes::{Isa, LANES, Lanes};

use super::arm::ReachArm;
use super::boxes::Aabb;
use super::copies::Copies;
use super::settings::{Family, ReachSettings};
use super::world::{self, Obstacle, Site};

/// Worlds in which no start and goal are found are given up after so many times sixteen postures.
const TRIES: usize = 6;

/// And so many worlds are tried at most; the last one is taken without boxes.
const WORLDS: usize = 40;

/// Tools are at least so high above the floor, and so far from the first axis.
const TOOL_HEIGHT_M: f64 = 0.08;
const TOOL_RADIUS_M: f64 = 0.2;

/// Where a box between start and goal is on the line, and how far beside it.
const BETWEEN: [f64; 2] = [0.3, 0.7];
const BESIDE_M: f64 = 0.05;

/// An episode.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drawn {
    pub(crate) family: Family,
    /// The floor first.
    pub(crate) boxes: Vec<Obstacle>,
    /// All joints.
    pub(crate) start: Vec<f32>,
    /// A posture that reaches the goal.
    pub(crate) goal: Vec<f32>,
    pub(crate) goal_m: [f32; 3],
}

/// A free posture: all joints, and where they have the tool.
type Posture = (Vec<f32>, [f32; 3]);

/// Draws episodes; keeps its memory.
#[derive(Clone, Debug)]
pub(crate) struct Drawer {
    site: Site,
    settings: Arc<ReachSettings>,
    trial: Copies,
    /// Of the world in hand.
    free: Vec<Posture>,
}

impl Drawer {
    pub(crate) fn new(arm: &Arc<ReachArm>, settings: &Arc<ReachSettings>, isa: Isa) -> Self {
        let trial = Copies::new(arm, settings, isa);
        Self { site: Site::of(arm), settings: settings.clone(), trial, free: Vec::new() }
    }

    /// Draws one.
    pub(crate) fn draw(&mut self, rng: &mut Rng) -> Drawn {
        for world in 0..WORLDS {
            let (family, mut boxes) = world::draw(self.site, &self.settings.world, rng);
            if world + 1 == WORLDS {
                boxes.truncate(1);
            }
            if let Some((start, goal)) = self.ends(&boxes, rng) {
                self.put_between(&start, &goal, &mut boxes, rng);
                return Drawn { family, boxes, start: start.0, goal: goal.0, goal_m: goal.1 };
            }
        }
        // Nothing stands around: home is as good as anything.
        let arm = self.trial.arm.clone();
        let home: Vec<f32> = arm.home().iter().map(|x| *x as f32).collect();
        let tool = arm.robot().tool_at(arm.home()).unwrap_or_default().map(|x| x as f32);
        let boxes = vec![(Aabb::floor(0.0), [0.0; 3])];
        Drawn { family: Family::Clutter, boxes, start: home.clone(), goal: home, goal_m: tool }
    }

    /// A start and a goal, free with the margin and as far apart as they should be.
    fn ends(&mut self, boxes: &[Obstacle], rng: &mut Rng) -> Option<(Posture, Posture)> {
        self.trial.boxes.set_all(boxes);
        self.free.clear();
        let [near, far] = self.settings.world.apart_m.map(|x| (x * self.site.scale) as f32);
        for _ in 0..TRIES {
            let known = self.free.len();
            self.postures(rng);
            for new in known..self.free.len() {
                for old in 0..new {
                    let (a, b) = (&self.free[old], &self.free[new]);
                    let apart = (0..3).map(|i| (a.1[i] - b.1[i]).powi(2)).sum::<f32>().sqrt();
                    if (near..=far).contains(&apart) {
                        let (a, b) = (a.clone(), b.clone());
                        return Some(if rng.unit() < 0.5 { (a, b) } else { (b, a) });
                    }
                }
            }
        }
        None
    }

    /// Adds the free ones of sixteen postures.
    fn postures(&mut self, rng: &mut Rng) {
        let arm = self.trial.arm.clone();
        for (joint, [low, high]) in arm.starts().iter().enumerate() {
            let is_moved = arm.controlled().contains(&joint);
            for lane in 0..LANES {
                let at = if is_moved { rng.uniform(*low, *high) } else { arm.home()[joint] };
                self.trial.joints[joint].0[lane] = at as f32;
            }
        }
        let taken = self.taken();
        let [x, y] = self.site.axis_m;
        for lane in (0..LANES).filter(|lane| taken >> lane & 1 == 0) {
            let tool = self.trial.tool_m.map(|axis| axis.0[lane]);
            let radius = (f64::from(tool[0]) - x).hypot(f64::from(tool[1]) - y);
            let scale = self.site.scale;
            if f64::from(tool[2]) > TOOL_HEIGHT_M * scale && radius > TOOL_RADIUS_M * scale {
                let joints = self.trial.joints.iter().map(|joint| joint.0[lane]).collect();
                self.free.push((joints, tool));
            }
        }
    }

    /// Lanes that are too near to something, or to themselves.
    fn taken(&mut self) -> u16 {
        self.trial.look();
        let margin = (self.settings.world.margin_m * self.site.scale) as f32;
        let near = self.trial.sensed.least_m.0.iter().enumerate();
        let near = near.filter(|(_, least)| **least < margin).fold(0, |bits, (l, _)| bits | 1 << l);
        let taken = near | self.trial.sensed.touches;
        taken | self.trial.kinematics.self_hits(0.0, !taken)
    }

    /// One box more on the way, if both ends stay free.
    fn put_between(
        &mut self,
        start: &Posture,
        goal: &Posture,
        boxes: &mut Vec<Obstacle>,
        rng: &mut Rng,
    ) {
        let settings = self.settings.clone();
        if rng.unit() >= settings.world.between {
            return;
        }
        let at = rng.uniform(BETWEEN[0], BETWEEN[1]);
        let middle = std::array::from_fn(|a| {
            let beside = rng.uniform(-BESIDE_M, BESIDE_M) * self.site.scale;
            f64::from(start.1[a]) * (1.0 - at) + f64::from(goal.1[a]) * at + beside
        });
        let Some(of) = world::box_at(self.site, &settings.world, middle, rng) else { return };
        let more = (of, world::velocity(self.site, &settings.world, rng));
        self.trial.boxes.set_all(&[(Aabb::floor(0.0), [0.0; 3]), more]);
        for (joint, to) in self.trial.joints.iter_mut().enumerate() {
            *to = Lanes::splat(start.0[joint]);
            to.0[1] = goal.0[joint];
        }
        if self.taken() & 0b11 == 0 {
            boxes.push(more);
        }
    }
}
