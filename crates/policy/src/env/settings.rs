//! Every number of the environment. Lengths are for an arm that reaches 0.9 m; for others they are
//! multiplied by [`super::ReachArm::scale`].

use serde::{Deserialize, Serialize};

use crate::error::PolicyError;

/// How an arm learns to reach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReachSettings {
    /// How near the tool must come to the goal.
    pub tolerance_m: f64,
    /// Steps until an attempt counts as too slow.
    pub max_steps: u32,
    /// Time between two actions.
    pub step_s: f64,
    /// What an action of 1 turns a joint by, in one step (metres for slides).
    pub action_rad: f64,
    /// How far spheres sense.
    pub sense_m: f64,
    /// How far ahead, on the straight line to the goal, is looked.
    pub ahead_m: f64,
    /// Reward for every metre that the tool comes nearer.
    pub progress_reward: f64,
    /// Cost of every step.
    pub step_cost: f64,
    /// Nearer than this to anything costs something.
    pub near_m: f64,
    /// What a step in touch would cost; less in proportion farther away.
    pub near_cost: f64,
    /// Reward at the goal.
    pub success_reward: f64,
    /// Cost of a collision, which ends the attempt.
    pub collision_cost: f64,
    /// What is in the way.
    pub world: WorldSettings,
    /// What is not as it should be.
    pub disturbance: Disturbance,
}

impl Default for ReachSettings {
    fn default() -> Self {
        Self {
            tolerance_m: 0.05,
            max_steps: 100,
            step_s: 0.1,
            action_rad: 0.1,
            sense_m: 0.3,
            ahead_m: 0.5,
            progress_reward: 5.0,
            step_cost: 0.01,
            near_m: 0.08,
            near_cost: 0.05,
            success_reward: 5.0,
            collision_cost: 5.0,
            world: WorldSettings::default(),
            disturbance: Disturbance::default(),
        }
    }
}

/// What stands around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Boxes anywhere.
    Clutter,
    /// Boards one above the other, with sides.
    Shelf,
    /// Posts and beams around the arm.
    Cage,
    /// Long thin bars.
    Bars,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Clutter, Self::Shelf, Self::Cage, Self::Bars];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clutter => "clutter",
            Self::Shelf => "shelf",
            Self::Cage => "cage",
            Self::Bars => "bars",
        }
    }
}

/// Random worlds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorldSettings {
    /// Families, of which one is drawn for each world.
    pub families: Vec<Family>,
    /// Fewest and most boxes of clutter.
    pub boxes: [u32; 2],
    /// Smallest and largest half of a box's edges.
    pub half_edge_m: [f64; 2],
    /// Largest half of its height.
    pub half_height_m: f64,
    /// Between which distances from the arm's first axis the middles of boxes are.
    pub radius_m: [f64; 2],
    /// Between which heights.
    pub height_m: [f64; 2],
    /// Nothing is nearer to the first axis than this.
    pub axis_m: f64,
    /// How often one box more is put between start and goal.
    pub between: f64,
    /// How far start and goal are from everything.
    pub margin_m: f64,
    /// How far start and goal are apart, at least and at most.
    pub apart_m: [f64; 2],
    /// How often boxes are cut into voxels, as a map would have them.
    pub voxels: f64,
    /// Edge of a voxel.
    pub voxel_m: f64,
    /// Slowest and fastest speed of boxes, m/s.
    pub speed_m_s: [f64; 2],
}

impl Default for WorldSettings {
    fn default() -> Self {
        Self {
            families: vec![Family::Clutter],
            boxes: [1, 3],
            half_edge_m: [0.02, 0.06],
            half_height_m: 0.09,
            radius_m: [0.35, 0.95],
            height_m: [0.05, 0.8],
            axis_m: 0.2,
            between: 0.7,
            margin_m: 0.03,
            apart_m: [0.3, 0.8],
            voxels: 1.0,
            voxel_m: 0.05,
            speed_m_s: [0.0, 0.0],
        }
    }
}

/// What a real arm and a real camera do not do right.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Disturbance {
    /// Actions come up to so many steps late; how many is drawn for each attempt.
    pub latency_steps: u32,
    /// Standard deviation of the joints that are seen.
    pub joint_noise_rad: f64,
    /// How often a box is not seen in a step.
    pub drop_out: f64,
    /// How often a box is seen in a step where none is.
    pub ghosts: f64,
}

impl Disturbance {
    /// What a trained policy should put up with.
    #[must_use]
    pub fn usual() -> Self {
        Self { latency_steps: 2, joint_noise_rad: 0.002, drop_out: 0.05, ghosts: 0.05 }
    }

    /// Whether everything is as it should be.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Rungs of the ladder of difficulty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// One to three small boxes, often one in the way.
    A,
    /// One to six larger boxes, less room at the ends.
    B,
    /// Twenty of them; fewer in a part of the training.
    C,
    /// One to six boxes that move at 0.1 to 0.5 m/s.
    E,
    /// Clutter, shelves, cages and bars.
    Mixed,
}

impl Rung {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::A, Self::B, Self::C, Self::E, Self::Mixed];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::C => "c",
            Self::E => "e",
            Self::Mixed => "mixed",
        }
    }

    /// The rung of a name.
    ///
    /// # Errors
    /// When there is none, with those that there are.
    pub fn named(name: &str) -> Result<Self, PolicyError> {
        Self::ALL.into_iter().find(|rung| rung.name() == name).ok_or_else(|| {
            PolicyError::bad(format!("rung {name}"), "there are a, b, c, e and mixed")
        })
    }

    /// Its worlds, as they are trained in.
    #[must_use]
    pub fn training(self) -> WorldSettings {
        let a = WorldSettings::default();
        let b = WorldSettings {
            boxes: [1, 6],
            half_edge_m: [0.02, 0.1],
            half_height_m: 0.1,
            margin_m: 0.02,
            ..a.clone()
        };
        match self {
            Self::A => a,
            Self::B => b,
            Self::C => WorldSettings { boxes: [4, 20], ..b },
            Self::E => WorldSettings { speed_m_s: [0.1, 0.5], voxels: 0.0, margin_m: 0.05, ..b },
            Self::Mixed => {
                WorldSettings { families: Family::ALL.to_vec(), voxels: 0.5, boxes: [1, 12], ..b }
            }
        }
    }

    /// Its worlds, as they are evaluated in.
    #[must_use]
    pub fn evaluation(self) -> WorldSettings {
        let training = self.training();
        match self {
            Self::C => WorldSettings { boxes: [20, 20], ..training },
            _ => training,
        }
    }
}

impl ReachSettings {
    /// Whether the numbers make sense.
    ///
    /// # Errors
    /// Names the first that does not.
    pub fn check(&self) -> Result<(), PolicyError> {
        let world = &self.world;
        let positive = [
            ("tolerance_m", self.tolerance_m),
            ("step_s", self.step_s),
            ("action_rad", self.action_rad),
            ("sense_m", self.sense_m),
            ("ahead_m", self.ahead_m),
            ("near_m", self.near_m),
            ("world.voxel_m", world.voxel_m),
            ("world.half_edge_m", world.half_edge_m[0]),
        ];
        for (name, number) in positive {
            if !(number.is_finite() && number > 0.0) {
                return Err(PolicyError::bad(name, format!("{number} must be above 0")));
            }
        }
        let shares = [
            ("between", world.between),
            ("voxels", world.voxels),
            ("drop_out", self.disturbance.drop_out),
            ("ghosts", self.disturbance.ghosts),
        ];
        for (name, share) in shares {
            if !(0.0..=1.0).contains(&share) {
                return Err(PolicyError::bad(name, format!("{share} is not a share of 0 to 1")));
            }
        }
        let ranges = [
            ("world.half_edge_m", world.half_edge_m),
            ("world.radius_m", world.radius_m),
            ("world.height_m", world.height_m),
            ("world.apart_m", world.apart_m),
            ("world.speed_m_s", world.speed_m_s),
            ("world.boxes", world.boxes.map(f64::from)),
        ];
        for (name, [low, high]) in ranges {
            if !(low <= high && low >= 0.0 && high < 1e3) {
                let reason = format!("[{low}, {high}] must be two numbers from 0 on, lower first");
                return Err(PolicyError::bad(name, reason));
            }
        }
        if self.max_steps == 0 || self.max_steps > 10_000 {
            let reason = format!("{}: 1 to 10000 are right", self.max_steps);
            return Err(PolicyError::bad("max_steps", reason));
        }
        if world.boxes[1] > 200 || world.families.is_empty() || self.disturbance.latency_steps > 2 {
            let reason = "at most 200 boxes, at least one family, at most 2 steps of latency";
            return Err(PolicyError::bad("world and disturbance", reason));
        }
        Ok(())
    }
}
