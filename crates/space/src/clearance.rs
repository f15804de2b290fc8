//! How far a robot is from everything in a map, for many configurations.
//!
//! The gap field gives a lower bound for every sphere, sixteen configurations at once. Then only
//! spheres whose bound is below the best answer so far are looked at exactly.

mod checker;
mod kernel;
mod near;

pub use checker::Checker;
use citrange_lanes::LANES;
use citrange_robot::Configs;

use crate::error::SpaceError;
use crate::map::MapSnapshot;
use kernel::{Lookup, below};
use near::Near;

/// How far a robot is from the nearest occupied cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearance {
    /// Distance of a sphere's centre to the nearest cube, less its radius, for the sphere where that
    /// is least. Negative where a sphere reaches into a cube; never below minus its radius. A
    /// centre counts as no further away than the map's reach.
    pub distance_m: f64,
    /// The link of that sphere.
    pub link: u16,
    /// Number of that sphere in [`citrange_robot::Robot::spheres`].
    pub sphere: u16,
    /// Key of the cube; `None` when nothing is within the map's reach.
    pub voxel: Option<u32>,
}

/// When a configuration collides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CollisionSettings {
    /// Cubes must stay further than this from every sphere.
    pub margin_m: f64,
    /// Links that must not touch must stay further than this from each other; `None` where that
    /// is not looked at.
    pub self_margin_m: Option<f64>,
}

/// Bounds are computed in single precision: less than this wrong.
const SLACK_M: f32 = 2e-5;

impl Checker {
    /// How far the robot is from the map in every configuration. Exact with respect to spheres and
    /// cubes, up to the accuracy of the centres.
    ///
    /// # Errors
    /// When the configurations have another number of joints than the robot, there is not one
    /// answer for each, or the robot has no sphere.
    pub fn clearance(
        &mut self,
        snapshot: &MapSnapshot,
        configs: &Configs,
        out: &mut [Clearance],
    ) -> Result<(), SpaceError> {
        self.batch.check(configs)?;
        configs.check_room(out.len())?;
        let Some(widest) = self.widest() else {
            return Err(SpaceError::bad("clearance", "the robot has no shapes"));
        };
        self.roots.prepare(snapshot);
        let lookup = Lookup::new(snapshot);
        let near = Near::new(snapshot, &self.roots);
        let voxel_m = snapshot.grid().voxel_m();
        // Nothing is known beyond the reach: there, the widest sphere decides.
        let mut start = Clearance {
            distance_m: snapshot.reach_m() - self.spheres.radii_m[widest],
            link: self.spheres.links[widest],
            sphere: widest as u16,
            voxel: None,
        };
        let spheres = &self.spheres;
        let answer = |sphere: usize, (distance, cell): (f32, [usize; 3])| Clearance {
            distance_m: f64::from(distance) * voxel_m - spheres.radii_m[sphere],
            link: spheres.links[sphere],
            sphere: sphere as u16,
            voxel: Some(snapshot.grid().key(cell)),
        };
        // How near a cube must be to a sphere to be the best so far, in cells.
        let limit = |sphere: usize, best: &Clearance| {
            ((best.distance_m + spheres.radii_m[sphere]) / voxel_m) as f32
        };
        // Spheres of the base stand still: they are looked at once.
        let still = spheres.links.partition_point(|link| *link == 0);
        for (sphere, centre) in self.batch.block_centres()[..still].iter().enumerate() {
            let probe = near.probe(centre.map(|axis| axis.0[0]));
            let found = near.nearest::<false>(&probe, limit(sphere, &start));
            start = found.map_or(start, |f| answer(sphere, f));
        }
        for (block, out) in configs.blocks().zip(out.chunks_mut(LANES)) {
            self.batch.place(block);
            let moving = still..spheres.links.len();
            let first = kernel::bounds(
                self.isa,
                &lookup,
                &self.batch.block_centres()[moving.clone()],
                &spheres.radii_f32[moving.clone()],
                &mut self.bounds[moving.clone()],
            );
            out.fill(start);
            let mut bests_m = [f32::NEG_INFINITY; LANES];
            bests_m[..out.len()].fill(start.distance_m as f32 + SLACK_M);
            self.waiting.clear();
            // First the guesses, which cost little and shorten the search.
            let mut guess = |sphere: usize, lane: usize, best_m: &mut f32| {
                let best = &mut out[lane];
                let probe = near.probe(self.batch.block_centres()[sphere].map(|axis| axis.0[lane]));
                let limit = limit(sphere, best);
                if probe.least >= limit {
                    return;
                }
                if let Some(guess) = probe.guess.filter(|(distance, _)| *distance < limit) {
                    *best = answer(sphere, guess);
                    *best_m = best.distance_m as f32 + SLACK_M;
                }
                if !probe.is_certain() {
                    self.waiting.push((lane, sphere, probe));
                }
            };
            // The sphere with the least bound is likely to be the one.
            for (lane, best_m) in bests_m.iter_mut().enumerate() {
                let sphere = still + first[lane] as usize;
                if let Some(bound) = self.bounds.get_mut(sphere) {
                    if bound.0[lane] < *best_m {
                        guess(sphere, lane, best_m);
                    }
                    bound.0[lane] = f32::INFINITY;
                }
            }
            for sphere in moving {
                let mut open = below(&self.bounds[sphere], &bests_m);
                while open != 0 {
                    let lane = open.trailing_zeros() as usize;
                    open &= open - 1;
                    guess(sphere, lane, &mut bests_m[lane]);
                }
            }
            for (lane, sphere, probe) in &self.waiting {
                let limit = limit(*sphere, &out[*lane]);
                if let Some(found) = near.nearest::<false>(probe, limit) {
                    out[*lane] = answer(*sphere, found);
                }
            }
        }
        Ok(())
    }

    /// Which configurations touch the map or, if asked for, themselves.
    ///
    /// # Errors
    /// When the configurations have another number of joints than the robot, there is not one
    /// answer for each, or a margin is no number or beyond the map's reach.
    pub fn collides(
        &mut self,
        snapshot: &MapSnapshot,
        configs: &Configs,
        settings: &CollisionSettings,
        out: &mut [bool],
    ) -> Result<(), SpaceError> {
        self.batch.check(configs)?;
        configs.check_room(out.len())?;
        let margins = [settings.margin_m, settings.self_margin_m.unwrap_or(0.0)];
        if let Some(margin) = margins.iter().find(|m| !m.is_finite()) {
            let reason = format!("{margin} is not a length in metres, such as 0.01");
            return Err(SpaceError::setting("margin_m", reason));
        }
        let farthest_m = self.widest().map_or(0.0, |w| self.spheres.radii_m[w]) + settings.margin_m;
        if farthest_m > snapshot.reach_m() {
            let reason = format!(
                "{} and the widest sphere reach {farthest_m} m from its centre, the map knows {} m",
                settings.margin_m,
                snapshot.reach_m()
            );
            return Err(SpaceError::setting("margin_m", reason));
        }
        self.roots.prepare(snapshot);
        let lookup = Lookup::new(snapshot);
        let near = Near::new(snapshot, &self.roots);
        let voxel_m = snapshot.grid().voxel_m();
        let margins_m = [settings.margin_m as f32 + SLACK_M; LANES];
        for (block, out) in configs.blocks().zip(out.chunks_mut(LANES)) {
            self.batch.place(block);
            let used = u16::MAX >> (LANES - out.len());
            let mut hit = 0_u16;
            let (centres, spheres) = (self.batch.block_centres(), &self.spheres);
            let radii = &spheres.radii_f32;
            let first = kernel::bounds(self.isa, &lookup, centres, radii, &mut self.bounds);
            let touches = |sphere: usize, lane: usize| {
                let limit = ((spheres.radii_m[sphere] + settings.margin_m) / voxel_m) as f32;
                let probe = near.probe(centres[sphere].map(|axis| axis.0[lane]));
                near.nearest::<true>(&probe, limit).is_some()
            };
            // Where the bound is least, a touch is most likely.
            for lane in 0..out.len() {
                let sphere = first[lane] as usize;
                let bound = self.bounds.get(sphere).map_or(f32::INFINITY, |b| b.0[lane]);
                if bound < margins_m[lane] && touches(sphere, lane) {
                    hit |= 1 << lane;
                }
            }
            // From the hand to the base: the hand is where things are.
            for sphere in (0..self.bounds.len()).rev() {
                let mut open = below(&self.bounds[sphere], &margins_m) & used & !hit;
                while open != 0 {
                    let lane = open.trailing_zeros() as usize;
                    open &= open - 1;
                    if first[lane] as usize != sphere && touches(sphere, lane) {
                        hit |= 1 << lane;
                    }
                }
                if hit == used {
                    break;
                }
            }
            if let Some(margin_m) = settings.self_margin_m {
                hit |= self.batch.self_hits(margin_m, used & !hit);
            }
            for (lane, answer) in out.iter_mut().enumerate() {
                *answer = hit >> lane & 1 == 1;
            }
        }
        Ok(())
    }

    /// The sphere with the largest radius.
    fn widest(&self) -> Option<usize> {
        let radii = &self.spheres.radii_m;
        (0..radii.len()).max_by(|a, b| radii[*a].total_cmp(&radii[*b]))
    }
}
