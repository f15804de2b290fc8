//! What was sent is proved again, against every new map, from where the arm is measured to be.

use std::sync::Arc;

use citrange_core::shape::PosedLinkShape;
use citrange_plan::{
    Collider, ColliderSettings, Config, JointLimit, Obstacles, PlannedArm, Tracking, Trajectory,
};
use citrange_space::{CellState, MapSnapshot};
use nalgebra::Point3;

use crate::error::TwinError;
use crate::settings::{GuardSettings, Unknown};
use crate::surroundings::{Surroundings, moves};

/// Places of the arm at which cells ahead are looked up.
const PLACES: usize = 6;
/// Steps to the nearest points of a shape and a box.
const NEAREST_STEPS: usize = 6;
/// Places of the arm that must be unknown before it counts: single cells are noise.
const FEW_CELLS: usize = 3;

/// What is in the way of the rest of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocked {
    /// Time until the arm would be there.
    pub in_s: f64,
    /// Whether that is too soon for anything but a stop.
    pub is_near: bool,
    /// What it is, in words.
    pub what: String,
    /// The joints there.
    pub at: Vec<f64>,
}

/// Proves what was sent.
pub struct Guard {
    arm: PlannedArm,
    collider: Collider,
    settings: GuardSettings,
    surroundings: Surroundings,
    map: Option<Arc<MapSnapshot>>,
}

impl Guard {
    /// For an arm in its surroundings.
    ///
    /// # Errors
    /// When the arm makes no sense.
    pub fn new(
        arm: &PlannedArm,
        surroundings: &Surroundings,
        settings: &GuardSettings,
    ) -> Result<Self, TwinError> {
        let collider = ColliderSettings { margin_m: settings.margin_m, ..Default::default() };
        Ok(Self {
            arm: arm.clone(),
            collider: Collider::new(arm, &Obstacles::default(), &collider)?,
            settings: settings.clone(),
            surroundings: surroundings.clone(),
            map: None,
        })
    }

    /// The world is this from now on. `ahead` is the map with what moves where it may be soon.
    ///
    /// # Errors
    /// When the map makes no sense; nothing counts as free then.
    pub fn set_map(
        &mut self,
        map: Arc<MapSnapshot>,
        ahead: Option<Arc<MapSnapshot>>,
    ) -> Result<(), TwinError> {
        let counts = ahead.unwrap_or_else(|| Arc::clone(&map));
        self.collider.set_obstacles(&self.surroundings.with(counts))?;
        self.map = Some(map);
        Ok(())
    }

    /// The collider, with the newest map: for seams that must be proved.
    pub fn collider(&mut self) -> &mut Collider {
        &mut self.collider
    }

    /// The arm's limits.
    #[must_use]
    pub fn limits(&self) -> &[JointLimit] {
        self.arm.limits()
    }

    /// The first place of the rest of a motion that is not proved free; `lag_s` is how late the
    /// arm was measured on top of what it usually lags.
    ///
    /// # Errors
    /// When numbers make no sense.
    pub fn prove(
        &mut self,
        motion: &Trajectory,
        now_s: f64,
        measured: &[f64],
        lag_s: f64,
    ) -> Result<Option<Blocked>, TwinError> {
        let tracking = Tracking {
            measured: measured.to_vec(),
            lag_s: self.settings.lag_s + lag_s,
            off_rad: self.settings.off_rad,
        };
        let span = [now_s, motion.duration_s()];
        let rest = motion.prove_remainder(span, &tracking, &mut self.collider)?;
        let (Some(blocked_s), Some(at)) = (rest.blocked_s, rest.blocked_at) else {
            return Ok(None);
        };
        let in_s = (blocked_s - now_s).max(0.0);
        let is_near = in_s <= self.settings.t_react_s + self.stopping_s(motion, now_s);
        let contact = self.collider.contact(&at);
        let what = contact.map_or_else(
            || "something close".to_owned(),
            |contact| self.surroundings.words(&contact),
        );
        Ok(Some(Blocked { in_s, is_near, what, at }))
    }

    /// How long the arm takes to come to rest from how it moves once it reacts: of every joint at
    /// its speed with constant jerk, the longest.
    #[must_use]
    pub fn stopping_s(&self, motion: &Trajectory, now_s: f64) -> f64 {
        let then = motion.sample(now_s + self.settings.t_react_s);
        let now = motion.sample(now_s);
        let speeds = now.velocities.iter().zip(&then.velocities);
        let times = speeds.zip(self.arm.limits()).map(|((now, then), limit)| {
            let (v, a, j) = (now.abs().max(then.abs()), limit.acceleration, limit.jerk);
            if v * j >= a * a { v / a + a / j } else { 2.0 * (v / j).sqrt() }
        });
        times.fold(0.0, f64::max)
    }

    /// How many places that the arm enters within its reaction and stopping time were not seen
    /// free lately, and are not where it was itself.
    ///
    /// # Errors
    /// When joints make no sense.
    pub fn unseen_ahead(
        &self,
        motion: &Trajectory,
        now_s: f64,
        now_ns: u64,
        is_static: bool,
        unknown: Unknown,
    ) -> Result<usize, TwinError> {
        let Some(map) = self.map.as_ref().filter(|_| unknown != Unknown::Free) else {
            return Ok(0);
        };
        let grid = map.grid();
        let ahead_s = self.settings.t_react_s + self.stopping_s(motion, now_s);
        let own = self.cells_at(&motion.sample(now_s).positions, map)?;
        let mut unseen = std::collections::BTreeSet::new();
        for place in 1..=PLACES {
            let time_s = now_s + ahead_s * place as f64 / PLACES as f64;
            for key in self.cells_at(&motion.sample(time_s).positions, map)? {
                if own.contains(&key) {
                    continue;
                }
                let is_seen = match map.state(key) {
                    CellState::Unknown => false,
                    CellState::Occupied => true,
                    CellState::Free => {
                        let age_s = map
                            .seen_ns(key)
                            .map_or(f64::INFINITY, |ns| now_ns.saturating_sub(ns) as f64 * 1e-9);
                        is_static || age_s <= self.settings.see_again_s
                    }
                };
                let centre = grid.centre_m(grid.cell_of(key));
                let is_fixture = || {
                    let near_m = 1.5 * grid.voxel_m();
                    self.surroundings.fixtures().iter().any(|f| f.distance_m(centre) <= near_m)
                };
                if !is_seen && !is_fixture() {
                    unseen.insert(key);
                }
            }
        }
        Ok(if unseen.len() < FEW_CELLS { 0 } else { unseen.len() })
    }

    /// Cells of the map in which the middles of the arm's spheres are.
    fn cells_at(
        &self,
        at: &[f64],
        map: &MapSnapshot,
    ) -> Result<std::collections::BTreeSet<u32>, TwinError> {
        let mut joints = Vec::new();
        self.arm.all_joints(&Config::of(at), &mut joints);
        let links = self.arm.body().forward_kinematics(&joints)?;
        let grid = map.grid();
        let cells = self.arm.body().spheres().iter().filter_map(|sphere| {
            let link = links.get(usize::from(sphere.link))?;
            let centre = link * Point3::from(sphere.centre_m);
            grid.cell(centre.coords.into()).map(|cell| grid.key(cell))
        });
        Ok(cells.collect())
    }

    /// How near what moves is to the arm, and how fast it is: the nearest.
    ///
    /// # Errors
    /// When joints make no sense.
    pub fn nearest_moving(&self, at: &[f64]) -> Result<Option<[f64; 2]>, TwinError> {
        let Some(map) = &self.map else { return Ok(None) };
        let mut joints = Vec::new();
        self.arm.all_joints(&Config::of(at), &mut joints);
        let mut shapes = Vec::new();
        self.arm.body().shapes_at(&joints, &mut shapes)?;
        let nearest = map.tracks().iter().filter(|track| moves(map, track)).map(|track| {
            // The nearest point of the box around it, from the arm's own shapes.
            let [low, high] = track.bounds_m;
            let from = |shape: &PosedLinkShape| {
                let at = shape.world_from_shape.translation.vector;
                let mut near: [f64; 3] = std::array::from_fn(|a| at[a].clamp(low[a], high[a]));
                // Back and forth between box and shape: both are convex.
                for _ in 0..NEAREST_STEPS {
                    let inverse = shape.world_from_shape.inverse();
                    let local = inverse * Point3::from(near);
                    let on = shape.world_from_shape
                        * Point3::from(shape.shape.nearest_m(local.coords.into()));
                    near = std::array::from_fn(|a| on[a].clamp(low[a], high[a]));
                }
                shape.distance_m(near)
            };
            let distance_m = shapes.iter().map(from).fold(f64::INFINITY, f64::min);
            [distance_m, crate::surroundings::norm(track.velocity_m_s)]
        });
        Ok(nearest.min_by(|a, b| a[0].total_cmp(&b[0])))
    }
}
