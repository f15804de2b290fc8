//! Motion for simulated sequences: the arm sways around where it starts, things are pushed one after
//! the other. Everything is a function of seed, episode and time.

use std::f64::consts::TAU;

use citrange_core::TensorState;
use citrange_core::rng::Rng;
use citrange_core::state::BODY_STATE;
use citrange_sim::{CompiledScene, SimError, StateQuery, World};
use ndarray::Array2;

/// Pushes begin so far apart, and last so long.
const PUSH_EVERY_S: f64 = 2.0;
const PUSH_S: f64 = 1.3;
/// The first begins then.
const FIRST_PUSH_S: f64 = 0.7;
/// Speeds of pushes.
const PUSH_M_S: [f64; 2] = [0.10, 0.35];
/// Directions of pushes differ from the middle of all things by up to this.
const PUSH_OFF_RAD: f64 = 0.6;
/// The largest sway of a joint, and how much of the way to its limit.
const SWAY_RAD: f64 = 0.25;
const SWAY_PART: f64 = 0.5;
/// The sway grows to its size in this time.
const SWAY_BEGINS_S: f64 = 1.0;
/// Slowest sway, and how much faster each further joint is.
const SWAY_HZ: [f64; 2] = [0.11, 0.04];

/// What moves in a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stirring {
    /// The arms sway.
    pub arms: bool,
    /// Things are pushed.
    pub things: bool,
}

/// One environment whose things move.
#[derive(Debug)]
pub(crate) struct Stir {
    arms: Vec<Sway>,
    /// In the order in which they are pushed.
    things: Vec<String>,
    rng: Rng,
    push: Option<Push>,
    pushes: u32,
}

/// An arm that sways.
#[derive(Debug)]
struct Sway {
    robot: String,
    /// Targets at the start, and how far they sway.
    home: Vec<f64>,
    amplitude: Vec<f64>,
}

/// A thing that is pushed.
#[derive(Debug)]
struct Push {
    thing: String,
    velocity_m_s: [f64; 2],
    until_s: f64,
}

impl Stir {
    /// Of an episode that has just begun.
    pub(crate) fn new(
        stirring: Stirring,
        scene: &CompiledScene,
        world: &mut World,
        (seed, episode): (u64, u64),
    ) -> Result<Self, SimError> {
        let mut rng = Rng::for_episode(seed, episode, "stir");
        let state = world.get_state(None, &StateQuery::default())?;
        let mut arms = Vec::new();
        for (robot, at) in state.robots.iter().filter(|_| stirring.arms) {
            arms.extend(Sway::new(scene, robot, at.joint_pos_target.as_ref(), &at.joint_names)?);
        }
        let mut things: Vec<String> = scene.free_objects().into_keys().collect();
        things.retain(|_| stirring.things);
        for at in (1..things.len()).rev() {
            things.swap(at, rng.below(at + 1));
        }
        Ok(Self { arms, things, rng, push: None, pushes: 0 })
    }

    /// Moves everything on, `time_s` after the beginning.
    pub(crate) fn act(&mut self, world: &mut World, time_s: f64) -> Result<(), SimError> {
        for arm in &self.arms {
            world.set_driven_targets(&arm.robot, &arm.targets(time_s))?;
        }
        if self.push.as_ref().is_some_and(|push| time_s >= push.until_s) {
            self.push = None;
        }
        let begin_s = FIRST_PUSH_S + PUSH_EVERY_S * f64::from(self.pushes);
        if self.things.is_empty() || (self.push.is_none() && time_s < begin_s) {
            return Ok(());
        }
        let mut state = world.get_state(None, &StateQuery::default())?;
        if self.push.is_none() {
            self.push = self.next_push(&state, time_s);
            self.pushes += 1;
        }
        let Some(push) = &self.push else { return Ok(()) };
        let Some(mut thing) = state.objects.remove(&push.thing) else { return Ok(()) };
        if let Some(root) = &mut thing.root_state {
            // Along the ground as it is pushed, up and down as it falls; it does not tip over.
            (root[[0, 7]], root[[0, 8]]) = (push.velocity_m_s[0], push.velocity_m_s[1]);
            (10..BODY_STATE).for_each(|at| root[[0, at]] = 0.0);
        }
        thing.body_state = None;
        let objects = [(push.thing.clone(), thing)].into();
        let set = TensorState { num_envs: 1, objects, ..TensorState::default() };
        world.set_state(&set, None)?;
        Ok(())
    }

    /// The next thing is pushed towards the middle of all things, so that it stays among them.
    fn next_push(&mut self, state: &TensorState, time_s: f64) -> Option<Push> {
        let thing = self.things[self.pushes as usize % self.things.len()].clone();
        let place = |name: &String| {
            let root = state.objects.get(name)?.root_state.as_ref()?;
            Some([root[[0, 0]], root[[0, 1]]])
        };
        let places: Vec<[f64; 2]> = self.things.iter().filter_map(place).collect();
        let mean = |a: usize| places.iter().map(|p| p[a]).sum::<f64>() / places.len() as f64;
        let at = place(&thing)?;
        let way = [mean(0) - at[0], mean(1) - at[1]];
        let turn = self.rng.uniform(-PUSH_OFF_RAD, PUSH_OFF_RAD);
        let speed = self.rng.uniform(PUSH_M_S[0], PUSH_M_S[1]);
        let angle = way[1].atan2(way[0]) + turn;
        let velocity_m_s = [speed * angle.cos(), speed * angle.sin()];
        Some(Push { thing, velocity_m_s, until_s: time_s + PUSH_S })
    }
}

impl Sway {
    fn new(
        scene: &CompiledScene,
        robot: &str,
        targets: Option<&Array2<f64>>,
        names: &[String],
    ) -> Result<Option<Self>, SimError> {
        let Some(targets) = targets else { return Ok(None) };
        let slots = scene.joint_slots();
        let (mut home, mut amplitude) = (Vec::new(), Vec::new());
        for driven in scene.driven_joints(robot)? {
            let at = names.iter().position(|name| name == driven);
            let start = at.map_or(f64::NAN, |at| targets[[0, at]]);
            let slot = slots.iter().find(|slot| slot.name == format!("{robot}/{driven}"));
            let room = slot
                .and_then(|slot| slot.range)
                .map_or(f64::INFINITY, |[low, high]| (start - low).min(high - start).max(0.0));
            if !start.is_finite() {
                return Ok(None);
            }
            home.push(start);
            amplitude.push(SWAY_RAD.min(SWAY_PART * room));
        }
        Ok(Some(Self { robot: robot.to_owned(), home, amplitude }))
    }

    fn targets(&self, time_s: f64) -> Vec<f64> {
        let grown = (time_s / SWAY_BEGINS_S).clamp(0.0, 1.0);
        let joints = self.home.iter().zip(&self.amplitude).enumerate();
        let target = |(joint, (home, amplitude)): (usize, (&f64, &f64))| {
            let hz = SWAY_HZ[0] + SWAY_HZ[1] * joint as f64;
            home + grown * amplitude * (TAU * hz * time_s).sin()
        };
        joints.map(target).collect()
    }
}
