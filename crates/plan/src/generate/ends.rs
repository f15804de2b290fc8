//! Starts and goals of problems: joints that bring the tool where the world wants it, and are free.

use citrange_core::rng::Rng;
use citrange_robot::{IkSettings, IkTarget, InverseKinematics, Orientation, RobotError};
use nalgebra::Vector3;

use super::families::World;
use crate::arm::PlannedArm;
use crate::collide::Collider;
use crate::config::Config;
use crate::error::PlanError;
use crate::motions::Motions;

/// Places that are tried for an end.
const PLACES: usize = 24;
/// Starts of inverse kinematics for each.
const STARTS: usize = 8;
/// Ends that are nearer than this make no problem.
const LEAST_APART_RAD: f32 = 0.6;
/// So far from the ends of a joint's range.
const INSIDE_RAD: f64 = 1e-3;

pub(super) struct Ends<'a> {
    arm: &'a PlannedArm,
    reach: InverseKinematics,
}

impl<'a> Ends<'a> {
    pub(super) fn new(arm: &'a PlannedArm) -> Result<Self, PlanError> {
        let bad = |why: RobotError| PlanError::bad("inverse kinematics", why.to_string());
        let mut reach = InverseKinematics::new(arm.body().chain(), arm.held()).map_err(bad)?;
        let ranges =
            arm.limits().iter().map(|l| [l.range[0] + INSIDE_RAD, l.range[1] - INSIDE_RAD]);
        reach.set_ranges(ranges).map_err(bad)?;
        Ok(Self { arm, reach })
    }

    /// A free start and a free goal.
    pub(super) fn pair(
        &mut self,
        clear: &mut Collider,
        world: &World,
        rng: &mut Rng,
    ) -> Option<[Config; 2]> {
        let start = self.end(clear, rng, None, |rng| world.place(0, rng))?;
        let goal = self.end(clear, rng, Some(&start), |rng| world.place(1, rng))?;
        Some([start, goal])
    }

    fn end(
        &mut self,
        clear: &mut Collider,
        rng: &mut Rng,
        other: Option<&Config>,
        mut place: impl FnMut(&mut Rng) -> Vector3<f64>,
    ) -> Option<Config> {
        for _ in 0..PLACES {
            let target = IkTarget { at_m: place(rng), orientation: Orientation::Free };
            let from: Vec<f64> = self
                .arm
                .limits()
                .iter()
                .map(|limit| rng.uniform(limit.range[0], limit.range[1]))
                .collect();
            let settings = IkSettings {
                starts: STARTS,
                seed: rng.next_u64(),
                turns: false,
                ..IkSettings::default()
            };
            let found = self.reach.solve(&target, &from, &settings).solutions;
            let free = found.iter().map(|solution| Config::of(&solution.joints)).find(|at| {
                clear.is_free(at) && other.is_none_or(|o| o.distance(at) > LEAST_APART_RAD)
            });
            if free.is_some() {
                return free;
            }
        }
        None
    }
}
