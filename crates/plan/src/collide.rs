//! One robot among obstacles: whether configurations and whole motions touch anything.
//!
//! "Free" is proved for every configuration of a motion, not only for samples of it; see
//! `collide/block.rs` for how. All memory is kept, so that questions allocate nothing.

mod block;
mod bricks;
mod exact;
mod field;
mod isa;
mod joints;
mod lane_shapes;
mod mount;
mod near;
mod obstacle;
mod robot;
mod self_collision;
mod sweep;
mod voxels;

use std::sync::Arc;

use citrange_lanes::{Isa, LANES, Lanes};

use crate::arm::PlannedArm;
use crate::config::{Config, MAX_JOINTS};
use crate::error::PlanError;
use crate::motions::Motions;
use crate::obstacles::{AllowedTouch, Obstacles};
use crate::outcome::Collision;
use block::{Block, Verdict};
use exact::{Around, Gap};
use field::Field;
use lane_shapes::ReachableShapes;
use mount::Relation;
use obstacle::Obstacle;
use robot::KernelRobot;
use sweep::Sweep;

pub use mount::Mount;

/// Kernels compute in single precision and are off by a quarter of this: nothing that is nearer
/// counts as free.
const SLACK_M: f64 = 2e-5;

/// Positions beyond this are mistakes: sines of them are not accurate.
const ABSURD_POSITION: f32 = 200.0;

/// Cuts of a box in four joints, one after the other, before it counts as not free.
const MOST_BOX_CUTS: usize = 3;

/// How a [`Collider`] looks at things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColliderSettings {
    /// Obstacles must stay further than this from every sphere of the robot.
    pub margin_m: f64,
    /// Links that must not touch must stay further than this from each other.
    pub self_margin_m: f64,
    /// A part of a motion that is shorter than this in joint space and still not proved free
    /// counts as not free.
    pub finest_rad: f64,
    /// The instruction set to use; a lesser one where the processor does not have it.
    pub isa: Isa,
}

impl Default for ColliderSettings {
    fn default() -> Self {
        Self { margin_m: 0.0, self_margin_m: 0.0, finest_rad: 2.5e-4, isa: Isa::best() }
    }
}

/// A robot among obstacles; one per thread. A clone shares what does not change.
#[derive(Clone, Debug)]
pub struct Collider {
    arm: PlannedArm,
    settings: ColliderSettings,
    obstacles: Obstacles,
    /// Whether the obstacles could all be taken in.
    has_obstacles: bool,
    homes_m: Vec<([f64; 3], f64)>,
    /// The solids of `obstacles`, as the collider takes them.
    solids: Vec<Obstacle>,
    /// Of every solid: whether the first moving link need not care for it.
    passes: Vec<bool>,
    mounts: Vec<Mount>,
    world: World,
    sweep: Sweep,
    block: Block,
    /// Middles and halves of parts of a motion that are still open.
    parts: Vec<(f32, f32)>,
    /// Of the lanes of the block: where on the motion they are.
    middles: Lanes,
    /// Boxes of joint positions that are still open, and how often they were cut.
    boxes: Vec<(Config, Config, usize)>,
    /// Blocks that were checked.
    checks: u64,
}

/// What the kernels read.
#[derive(Clone, Debug)]
struct World {
    robot: Arc<KernelRobot>,
    /// For each link.
    reachable: Vec<ReachableShapes>,
    field: Option<Arc<Field>>,
    /// Margin and slack.
    reach_m: f32,
    self_reach_m: f32,
}

impl Collider {
    /// For a robot among obstacles. Preparing the robot takes a millisecond or more: keep the
    /// collider and use [`Collider::set_obstacles`] when only these change.
    ///
    /// # Errors
    /// When a setting or an obstacle makes no sense, the arm's joints are not one chain, or a
    /// sphere of the robot is wider than what the map knows.
    pub fn new(
        arm: &PlannedArm,
        obstacles: &Obstacles,
        settings: &ColliderSettings,
    ) -> Result<Self, PlanError> {
        let ColliderSettings { margin_m, self_margin_m, finest_rad, .. } = *settings;
        if [margin_m, self_margin_m].iter().any(|m| !(0.0..10.0).contains(m)) {
            let reason = format!("{margin_m} and {self_margin_m} must be lengths from 0 on");
            return Err(PlanError::bad("margin_m and self_margin_m", reason));
        }
        if !(finest_rad.is_finite() && finest_rad >= 1e-5) {
            let reason = format!("{finest_rad} must be an angle from 1e-5 rad on");
            return Err(PlanError::bad("finest_rad", reason));
        }
        let mut alone: Vec<usize> = obstacles.allowed.iter().map(|touch| touch.link).collect();
        alone.dedup();
        let robot = KernelRobot::new(arm, &alone)?;
        let reach_m = margin_m + SLACK_M;
        let homes_m = robot.links.iter().map(|link| {
            let (centre, radius_m) = link.home_m;
            (centre, radius_m + f64::from(robot.spheres[link.around].radius_m) + 2.0 * reach_m)
        });
        let mut made = Self {
            arm: arm.clone(),
            settings: *settings,
            obstacles: Obstacles::default(),
            has_obstacles: false,
            homes_m: homes_m.collect(),
            solids: Vec::new(),
            passes: Vec::new(),
            mounts: Vec::new(),
            sweep: Sweep::new(&robot),
            block: Block::new(&robot),
            world: World {
                reachable: vec![ReachableShapes::default(); robot.links.len()],
                field: None,
                reach_m: reach_m as f32,
                self_reach_m: (self_margin_m + SLACK_M) as f32,
                robot: Arc::new(robot),
            },
            parts: Vec::with_capacity(256),
            middles: Lanes::splat(0.0),
            boxes: Vec::with_capacity(LANES * MOST_BOX_CUTS),
            checks: 0,
        };
        made.set_obstacles(obstacles)?;
        Ok(made)
    }

    /// The same robot among other obstacles. A map is prepared only if it is another one than
    /// before.
    ///
    /// # Errors
    /// When an obstacle makes no sense, the map has more than 16 million cells, or a sphere of the
    /// robot is wider than what the map knows. Nothing counts as free then.
    pub fn set_obstacles(&mut self, obstacles: &Obstacles) -> Result<(), PlanError> {
        if !obstacles.allowed.iter().all(|touch| self.is_alone(touch.link)) {
            *self = Self::new(&self.arm, obstacles, &self.settings)?;
            return Ok(());
        }
        self.has_obstacles = false;
        self.obstacles.allowed.clone_from(&obstacles.allowed);
        self.obstacles.solids.clone_from(&obstacles.solids);
        self.obstacles.map.clone_from(&obstacles.map);
        self.solids.clear();
        for (number, posed) in obstacles.solids.iter().enumerate() {
            self.solids.push(Obstacle::new(number, posed)?);
        }
        self.find_mounts();
        let (robot, passes) = (&self.world.robot, &self.passes);
        let allowed = &obstacles.allowed;
        let may_pass = |link: usize, number: usize| {
            // Not what it holds: that may reach anywhere.
            let is_first =
                robot.links.get(link).is_some_and(|link| link.frame == 1) && !robot.is_held(link);
            let is_allowed = |touch: &AllowedTouch| {
                touch.solid == number && robot.groups.get(touch.link) == Some(&link)
            };
            (is_first && passes.get(number) == Some(&true)) || allowed.iter().any(is_allowed)
        };
        lane_shapes::fill(&mut self.world.reachable, &self.homes_m, &self.solids, may_pass);
        let Some(map) = &obstacles.map else {
            self.world.field = None;
            self.has_obstacles = true;
            return Ok(());
        };
        let spheres = &self.world.robot.spheres[..self.world.robot.own_spheres];
        let widest_m = spheres.iter().fold(0.0_f32, |most, sphere| most.max(sphere.radius_m));
        let needed_m = f64::from(widest_m) + self.settings.margin_m + 2.0 * SLACK_M;
        if needed_m > map.reach_m() {
            let reason = format!(
                "the widest sphere and the margin need {needed_m} m, the map knows {} m",
                map.reach_m()
            );
            return Err(PlanError::bad("map", reason));
        }
        if map.grid().cells() > Field::MOST_VOXELS {
            let reason = format!(
                "{} cells, at most {} are possible",
                map.grid().cells(),
                Field::MOST_VOXELS
            );
            return Err(PlanError::bad("map", reason));
        }
        let is_known = self.world.field.as_ref().is_some_and(|f| Arc::ptr_eq(f.snapshot(), map));
        if !is_known {
            self.world.field = Some(Arc::new(Field::new(map, needed_m)));
        }
        self.has_obstacles = true;
        Ok(())
    }

    /// Whether a link is one that can be allowed to touch what others must not.
    fn is_alone(&self, link: usize) -> bool {
        let robot = &self.world.robot;
        let group = robot.groups.get(link);
        // The base is not held against obstacles at all.
        group.is_none_or(|group| *group == 0 || *group > self.arm.joints())
    }

    /// What is in the way.
    #[must_use]
    pub fn obstacles(&self) -> &Obstacles {
        &self.obstacles
    }

    /// What the robot is mounted on, so closely that its first moving link would count as touching
    /// it wherever it turns. That link alone passes them.
    #[must_use]
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    fn find_mounts(&mut self) {
        self.passes.clear();
        self.mounts.clear();
        for (number, solid) in self.solids.iter().enumerate() {
            let reach_m = self.settings.margin_m + SLACK_M;
            let relation = self.world.robot.stand.relation(solid, reach_m);
            if let Relation::Mounted(gap_m) = relation {
                self.mounts.push(Mount { number, gap_m });
            }
            self.passes.push(relation != Relation::Open);
        }
    }

    /// What the robot touches most deeply, in double precision; also what it nearly touches,
    /// where single precision cannot tell. `None` where nothing is touched, or positions are
    /// not numbers.
    pub fn contact(&mut self, at: &[f64]) -> Option<Collision> {
        let gap = self.least_gap(at).filter(|gap| gap.gap_m < 1.5 * SLACK_M)?;
        let link = self.arm.link_names().nth(gap.link)?.to_owned();
        Some(Collision { link, with: gap.with, depth_m: (-gap.gap_m).max(0.0) })
    }

    /// How far the robot is from touching anything, margins taken off; negative where it
    /// touches, infinite where there is nothing, NaN where positions are not numbers. In double
    /// precision; slow.
    pub fn clearance_m(&mut self, at: &Config) -> f64 {
        if !at.0.iter().all(|p| p.is_finite()) {
            return f64::NAN;
        }
        let positions = at.positions(self.arm.joints());
        self.least_gap(&positions).map_or(f64::INFINITY, |gap| gap.gap_m)
    }

    fn least_gap(&self, at: &[f64]) -> Option<Gap> {
        let mut joints = self.arm.held().to_vec();
        for (joint, planned) in joints.iter_mut().zip(at.iter().take(self.arm.joints())) {
            *joint = *planned;
        }
        let margins = [self.settings.margin_m, self.settings.self_margin_m];
        let passes = |link: usize, number: usize| {
            self.world.robot.carriers.get(link) == Some(&1)
                && self.passes.get(number) == Some(&true)
                || self.obstacles.allowed.contains(&AllowedTouch { link, solid: number })
        };
        let around = Around { solids: &self.solids, obstacles: &self.obstacles };
        exact::least_gap(&self.arm, &joints, &around, margins, passes).ok().flatten()
    }

    /// Whether a configuration is one that the kernels can be asked about.
    fn is_usable(&self, at: &Config) -> bool {
        at.0.iter().all(|p| p.abs() <= ABSURD_POSITION)
            && self.world.robot.joints.is_within_slides(&at.0)
            && self.has_obstacles
            && !self.world.robot.touches_always
    }

    fn check(&mut self) -> Verdict {
        self.checks += 1;
        isa::check_block(self.settings.isa, &mut self.world, &self.sweep, &mut self.block)
    }

    fn set_sweep(&mut self, rates: [f32; MAX_JOINTS], has_direction: bool) {
        isa::set_sweep(self.settings.isa, &mut self.sweep, &self.world, rates, has_direction);
    }

    /// Cuts open parts of a motion into 16 lanes.
    fn fill_lanes(&mut self, from: &Config, rates: &[f32; MAX_JOINTS]) {
        let taken = match self.parts.len() {
            0 | 1 => 1,
            2 | 3 => 2,
            _ => 4,
        };
        let ways = LANES / taken;
        let mut middles = Lanes::splat(0.0);
        let first = self.parts.len().saturating_sub(taken);
        for (part, (middle, half)) in self.parts.drain(first..).enumerate() {
            for way in 0..ways {
                let lane = part * ways + way;
                let cut = half / ways as f32;
                middles.0[lane] = middle - half + cut * (2 * way + 1) as f32;
                self.block.half.0[lane] = cut;
            }
        }
        for joint in 0..self.world.robot.joints.len() {
            let at = |middle: f32| middle * rates[joint] + from.0[joint];
            self.block.positions[joint] = Lanes(middles.0.map(at));
        }
        self.middles = middles;
    }
}

impl Motions for Collider {
    fn joints(&self) -> usize {
        self.arm.joints()
    }

    fn checks(&self) -> u64 {
        self.checks
    }

    fn is_free(&mut self, at: &Config) -> bool {
        if !self.is_usable(at) {
            return false;
        }
        self.set_sweep([0.0; MAX_JOINTS], false);
        self.block.half = Lanes::splat(0.0);
        self.block.positions = at.0.map(Lanes::splat);
        self.check() == Verdict::Open(0)
    }

    fn is_motion_free(&mut self, from: &Config, to: &Config) -> bool {
        if !(self.is_usable(from) && self.is_usable(to)) {
            return false;
        }
        let rates = std::array::from_fn(|joint| to.0[joint] - from.0[joint]);
        self.set_sweep(rates, true);
        let finest = self.settings.finest_rad as f32 / from.distance(to).max(f32::MIN_POSITIVE);
        self.parts.clear();
        self.parts.push((0.5, 0.5));
        while !self.parts.is_empty() {
            self.fill_lanes(from, &rates);
            let Verdict::Open(mut open) = self.check() else { return false };
            while open != 0 {
                let lane = open.trailing_zeros() as usize;
                open &= open - 1;
                let half = self.block.half.0[lane];
                if half < finest {
                    return false;
                }
                self.parts.push((self.middles.0[lane], half));
            }
        }
        true
    }

    fn is_box_free(&mut self, at: &Config, half_width: &Config) -> bool {
        let is_width = half_width.0.iter().all(|h| (0.0..=ABSURD_POSITION).contains(h));
        let ends = [1.0, -1.0].map(|side: f32| {
            Config(std::array::from_fn(|joint| at.0[joint] + side * half_width.0[joint]))
        });
        if !(is_width && ends.iter().all(|end| self.is_usable(end))) {
            return false;
        }
        self.block.half = Lanes::splat(1.0);
        self.boxes.clear();
        self.boxes.push((*at, *half_width, 0));
        while let Some((at, half_width, cuts)) = self.boxes.pop() {
            let smaller = self.cut_box(&at, &half_width);
            self.set_sweep(smaller.0, false);
            let Verdict::Open(mut open) = self.check() else { return false };
            if open != 0 && cuts + 1 >= MOST_BOX_CUTS {
                return false;
            }
            while open != 0 {
                let lane = open.trailing_zeros() as usize;
                open &= open - 1;
                let at = Config(self.block.positions.map(|joint| joint.0[lane]));
                self.boxes.push((at, smaller, cuts + 1));
            }
        }
        true
    }
}

impl Collider {
    /// Cuts a box in half in the four joints that matter most: one part for each lane. Their
    /// half widths.
    fn cut_box(&mut self, at: &Config, half_width: &Config) -> Config {
        let robot = &self.world.robot;
        let mut weights = [0.0_f32; MAX_JOINTS];
        for (joint, levers) in robot.levers.iter().enumerate() {
            let longest = levers[..robot.own_spheres].iter().fold(0.0_f32, |most, l| most.max(*l));
            weights[joint] = longest * half_width.0[joint];
        }
        let mut smaller = *half_width;
        self.block.positions = at.0.map(Lanes::splat);
        for bit in 0..LANES.trailing_zeros() {
            let heaviest = (0..MAX_JOINTS).max_by(|a, b| weights[*a].total_cmp(&weights[*b]));
            let Some(joint) = heaviest else { break };
            weights[joint] = -1.0;
            // A little more than half, so that rounding leaves no gap.
            smaller.0[joint] *= 0.5 + 1e-6;
            let half = half_width.0[joint] * 0.5;
            for lane in 0..LANES {
                let side = if lane >> bit & 1 == 1 { half } else { -half };
                self.block.positions[joint].0[lane] = at.0[joint] + side;
            }
        }
        smaller
    }
}
