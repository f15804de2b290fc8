//! What a robot touches, looked at after every physics step: the truth that a guard is held to.

use std::ops::Range;

use nalgebra::Vector3;
use serde::Serialize;

use crate::compile::CompiledScene;
use crate::error::SimError;
use crate::world::World;

/// Contacts of a robot with anything but what it stands on.
#[derive(Clone, Debug)]
pub struct TouchWatch {
    /// The robot's bodies.
    own: Range<usize>,
    /// Of every body: whether touching it counts.
    counts: Vec<bool>,
    /// The robot's geoms that collide, and all others that do.
    geoms: [Vec<usize>; 2],
    /// Whether the step before had a touch.
    is_touching: bool,
    tally: TouchTally,
}

/// What was touched since the watch began.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TouchTally {
    /// Physics steps with a contact.
    pub steps: u64,
    /// Each time that it came to touch something.
    pub touches: Vec<Touch>,
}

/// One touch, when it begins.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Touch {
    /// Physics steps since the episode began.
    pub step: u64,
    /// The robot's body.
    pub link: String,
    /// What it touches.
    pub with: String,
    /// Where, in the world.
    pub at_m: [f64; 3],
    /// How deep.
    pub depth_m: f64,
    /// Speed of the robot's body there.
    pub robot_m_s: f64,
    /// Speed of the other thing there.
    pub thing_m_s: f64,
}

impl TouchWatch {
    /// Watches a robot. Touching what belongs to `stands_on` (fixtures, by name) does not count.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn new(scene: &CompiledScene, robot: &str, stands_on: &[String]) -> Result<Self, SimError> {
        let own = scene.layout.robot(robot)?.bodies.clone();
        let counts = scene.layout.owners.iter().map(|owner| !stands_on.contains(owner)).collect();
        let model = &scene.model;
        let collides =
            |geom: &usize| model.geom_contype()[*geom] != 0 || model.geom_conaffinity()[*geom] != 0;
        let geoms = (0..model.ffi().ngeom as usize).filter(collides);
        let body = |geom: &usize| model.geom_bodyid()[*geom] as usize;
        let (robots, others): (Vec<usize>, _) = geoms.partition(|geom| own.contains(&body(geom)));
        // What of it does not move is no nearer to anything than it was set up.
        let moves = |geom: &usize| model.body_weldid()[body(geom)] != 0;
        let geoms = [robots.into_iter().filter(moves).collect(), others];
        Ok(Self { own, counts, geoms, is_touching: false, tally: TouchTally::default() })
    }

    /// What was touched.
    #[must_use]
    pub fn tally(&self) -> &TouchTally {
        &self.tally
    }

    /// Forgets what was touched.
    pub fn clear(&mut self) {
        (self.is_touching, self.tally) = (false, TouchTally::default());
    }

    /// Looks at the contacts of the step that was just made.
    pub(crate) fn look(&mut self, world: &World) {
        let touch = self.deepest(world);
        let touched = std::mem::replace(&mut self.is_touching, touch.is_some());
        self.tally.steps += u64::from(self.is_touching);
        self.tally.touches.extend(touch.filter(|_| !touched));
    }

    fn deepest(&self, world: &World) -> Option<Touch> {
        let data = &world.envs.first()?.data;
        let bodies = world.scene.model.geom_bodyid();
        let body = |geom: i32| usize::try_from(geom).ok().map(|geom| bodies[geom] as usize);
        let mut deepest: Option<(f64, usize, usize, [f64; 3])> = None;
        for contact in data.contact() {
            let (Some(a), Some(b)) = (body(contact.geom[0]), body(contact.geom[1])) else {
                continue;
            };
            let (link, with) = match (self.own.contains(&a), self.own.contains(&b)) {
                (true, _) => (a, b),
                (false, true) => (b, a),
                (false, false) => continue,
            };
            let depth_m = -contact.dist;
            if depth_m >= 0.0
                && self.counts.get(with) == Some(&true)
                && deepest.is_none_or(|(most, ..)| depth_m > most)
            {
                deepest = Some((depth_m, link, with, contact.pos));
            }
        }
        let (depth_m, link, with, at_m) = deepest?;
        let name = |body: usize| world.scene.layout.body_names[body].clone();
        Some(Touch {
            step: world.steps(0),
            link: name(link),
            with: name(with),
            at_m,
            depth_m,
            robot_m_s: speed_m_s(world, link, at_m),
            thing_m_s: speed_m_s(world, with, at_m),
        })
    }

    /// How far the robot is from everything that counts, at most `most_m`.
    ///
    /// # Errors
    /// When the engine cannot tell.
    pub fn least_distance_m(&self, world: &mut World, most_m: f64) -> Result<f64, SimError> {
        let scene = std::sync::Arc::clone(&world.scene);
        let model = &scene.model;
        let mut least_m = most_m;
        let Some(env) = world.envs.first_mut() else { return Ok(least_m) };
        let [robots, others] = &self.geoms;
        for thing in others {
            if self.counts.get(model.geom_bodyid()[*thing] as usize) != Some(&true) {
                continue;
            }
            for own in robots {
                let [a, b] = [*own, *thing].map(|geom| {
                    (Vector3::from(env.data.geom_xpos()[geom]), model.geom_rbound()[geom])
                });
                // A plane has no bounding sphere: its radius is 0.
                if a.1 > 0.0 && b.1 > 0.0 && (a.0 - b.0).norm() - a.1 - b.1 >= least_m {
                    continue;
                }
                let found = env.data.try_geom_distance(*own, *thing, least_m, None);
                let found = found.map_err(|e| SimError::Mujoco(e.to_string()))?;
                least_m = least_m.min(found);
            }
        }
        Ok(least_m)
    }
}

/// How fast a point of a body moves.
fn speed_m_s(world: &World, body: usize, at_m: [f64; 3]) -> f64 {
    let Some(env) = world.envs.first() else { return 0.0 };
    let velocity = env.data.cvel()[body];
    let root = world.scene.model.body_rootid()[body] as usize;
    let from = Vector3::from(env.data.subtree_com()[root]);
    let [x, y, z, u, v, w] = velocity;
    (Vector3::new(u, v, w) + Vector3::new(x, y, z).cross(&(Vector3::from(at_m) - from))).norm()
}
