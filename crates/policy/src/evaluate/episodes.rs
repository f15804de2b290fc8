//! Episodes for evaluations: the planner has found a way in each.

use std::sync::Arc;
use std::time::Instant;

use citrange_core::rng::Rng;
use citrange_lanes::Isa;
use citrange_plan::{
    Collider, ColliderSettings, Config, Obstacles, Planner, SearchResult, SearchSettings,
    path_length_rad,
};
use rayon::prelude::*;

use crate::env::{Drawer, Drawn, Family, Obstacle, ReachArm, ReachSettings};
use crate::error::PolicyError;

/// Samples of the search that shows an episode to be possible.
const MOST_ITERATIONS: usize = 4000;

/// Worlds that are drawn until one is possible.
const TRIES: u64 = 50;

/// One task for a person or a policy: from here to there, around this.
#[derive(Clone, Debug)]
pub struct Episode {
    /// Family of its world.
    pub family: Family,
    pub(crate) drawn: Drawn,
    /// The planner's way in joint space, shortened; none where it was not asked (things move).
    pub planned_rad: Option<f64>,
    /// What the search and the shortening took.
    pub planned_s: f64,
    /// Whether the straight line in joint space was free.
    pub is_straight: bool,
    /// Draws that the planner found no way in before this one.
    pub refused: u64,
}

impl Episode {
    /// What is in the way, the floor first.
    #[must_use]
    pub fn boxes(&self) -> &[Obstacle] {
        &self.drawn.boxes
    }

    /// All joints at the start.
    #[must_use]
    pub fn start(&self) -> Vec<f64> {
        self.drawn.start.iter().map(|x| f64::from(*x)).collect()
    }

    /// A posture that reaches the goal, all joints.
    #[must_use]
    pub fn goal(&self) -> Vec<f64> {
        self.drawn.goal.iter().map(|x| f64::from(*x)).collect()
    }

    /// Where the tool should come.
    #[must_use]
    pub fn goal_m(&self) -> [f64; 3] {
        self.drawn.goal_m.map(f64::from)
    }

    /// For the planner.
    #[must_use]
    pub fn obstacles(&self) -> Obstacles {
        Obstacles::of(self.drawn.boxes.iter().map(|(of, _)| of.solid()).collect())
    }
}

/// Episodes that a seed stands for.
#[derive(Clone, Debug)]
pub struct EpisodeSet {
    /// Them.
    pub episodes: Vec<Episode>,
}

impl EpisodeSet {
    /// Draws them, each from its own number, so that the first ones do not depend on how many
    /// follow. `purpose` keeps sets apart: no two purposes share a world.
    ///
    /// # Errors
    /// When the settings make no sense.
    pub fn draw(
        arm: &Arc<ReachArm>,
        settings: &Arc<ReachSettings>,
        (seed, purpose): (u64, &str),
        count: usize,
    ) -> Result<Self, PolicyError> {
        settings.check()?;
        let maker = Maker::new(arm, settings)?;
        let make = |maker: &mut Maker, index: usize| maker.make(seed, index as u64, purpose);
        let episodes: Result<_, _> =
            (0..count).into_par_iter().map_init(|| maker.clone(), make).collect();
        Ok(Self { episodes: episodes? })
    }
}

/// Draws and proves.
#[derive(Clone)]
struct Maker {
    drawer: Drawer,
    collider: Collider,
    joints: usize,
    arm: Arc<ReachArm>,
    moves: bool,
}

impl Maker {
    fn new(arm: &Arc<ReachArm>, settings: &Arc<ReachSettings>) -> Result<Self, PolicyError> {
        let planned = arm.planned();
        Ok(Self {
            drawer: Drawer::new(arm, settings, Isa::best()),
            collider: Collider::new(planned, &Obstacles::default(), &ColliderSettings::default())?,
            joints: planned.joints(),
            arm: arm.clone(),
            moves: settings.world.speed_m_s[1] > 0.0,
        })
    }

    fn make(&mut self, seed: u64, index: u64, purpose: &str) -> Result<Episode, PolicyError> {
        let mut rng = Rng::for_episode(seed, index, purpose);
        let mut refused = 0;
        loop {
            let drawn = self.drawer.draw(&mut rng);
            let mut episode = Episode {
                family: drawn.family,
                drawn,
                planned_rad: None,
                planned_s: 0.0,
                is_straight: false,
                refused,
            };
            if self.moves || self.prove(&mut episode)? || refused + 1 == TRIES {
                return Ok(episode);
            }
            refused += 1;
        }
    }

    /// Whether the planner finds a way.
    fn prove(&mut self, episode: &mut Episode) -> Result<bool, PolicyError> {
        self.collider.set_obstacles(&episode.obstacles())?;
        let settings =
            SearchSettings { max_iterations: MOST_ITERATIONS, ..SearchSettings::default() };
        let mut planner = Planner::new(self.arm.planned().limits(), settings)?;
        let start = Config::of(&episode.start()[..self.joints]);
        let goal = Config::of(&episode.goal()[..self.joints]);
        let began = Instant::now();
        let SearchResult::Found { mut path, iterations, .. } =
            planner.plan(&mut self.collider, &start, &[goal])
        else {
            return Ok(false);
        };
        planner.simplify(&mut self.collider, &mut path);
        episode.planned_s = began.elapsed().as_secs_f64();
        episode.planned_rad = Some(path_length_rad(&path));
        episode.is_straight = iterations == 0;
        Ok(true)
    }
}
