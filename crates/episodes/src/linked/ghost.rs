//! The leader as people see it: a see-through arm beside the one that follows.

use std::sync::Arc;

use citrange_core::shape::ShownShape;
use citrange_link::Leader;
use citrange_sim::{CompiledScene, SimRig};
use citrange_teleop::telemetry::SceneInfo;

use crate::cell::{EpisodeRig as _, Shown};
use crate::error::Result;

/// Red, green, blue, alpha.
const GLASS: [f32; 4] = [0.30, 0.62, 1.0, 0.35];

/// A twin of the scene whose arm is where the leader is.
pub(super) struct Ghost {
    leader: Arc<Leader>,
    twin: SimRig,
    /// Bodies of the arm among those of the scene.
    bodies: Vec<usize>,
    shapes: Vec<ShownShape>,
}

impl Ghost {
    /// Of the first robot of a scene.
    pub(super) fn new(leader: Leader, scene: &Arc<CompiledScene>) -> Result<Self> {
        let twin = SimRig::new(Arc::clone(scene), Some(&[]))?;
        let own = format!("{}/", twin.robot());
        let names = scene.body_names().iter().enumerate();
        let bodies: Vec<usize> =
            names.filter(|(_, name)| name.starts_with(&own)).map(|(at, _)| at).collect();
        let shapes = scene.shapes()?.into_iter().filter_map(|shape| {
            let body = bodies.iter().position(|body| *body == shape.body)?;
            Some(ShownShape { body, rgba: GLASS, ..shape })
        });
        let shapes = shapes.collect();
        let mut ghost = Self { leader: Arc::new(leader), twin, bodies, shapes };
        ghost.mirror()?;
        Ok(ghost)
    }

    pub(super) fn leader(&self) -> Arc<Leader> {
        Arc::clone(&self.leader)
    }

    /// Puts it where the leader is; one that is not heard stays.
    pub(super) fn mirror(&mut self) -> Result<()> {
        match self.leader.joints() {
            Ok(joints) => self.twin.stand_at(&joints),
            Err(_) => Ok(()),
        }
    }

    /// Its bodies behind those of the scene.
    pub(super) fn add_to(&self, info: &mut SceneInfo) {
        let first = info.bodies.len();
        let shapes = self.shapes.iter().cloned();
        info.shapes.extend(shapes.map(|shape| ShownShape { body: first + shape.body, ..shape }));
        let name = |body: &usize| format!("leader: {}", info.bodies[*body]);
        let names: Vec<String> = self.bodies.iter().map(name).collect();
        info.bodies.extend(names);
    }

    /// Where they are.
    pub(super) fn look(&self, shown: &mut Shown) -> Result<()> {
        let mut own = Shown::default();
        self.twin.look(&mut own)?;
        shown.bodies.extend(self.bodies.iter().filter_map(|body| own.bodies.get(*body)));
        Ok(())
    }
}
