//! What is in the arm's way: fixtures that are known, and the map of everything else.

use std::sync::Arc;

use citrange_core::shape::{PosedLinkShape, PosedShape, Shape};
use citrange_plan::{
    Collider, ColliderSettings, Collision, Config, ObstacleNames, Obstacles, PlanScene, PlannedArm,
    Touched,
};
use citrange_space::{MapSnapshot, Track};

use crate::error::TwinError;

/// Unknown cells this near to the arm or to a fixture count as theirs, in voxels: a camera does
/// not see through a surface, and not under a flat angle just above it.
const OWN_VOXELS: f64 = 1.5;
/// A fixture farther than this from the workspace is not looked at in pictures.
const NEAR_M: f64 = 0.1;
/// Longest time that a thing is thought ahead.
const AHEAD_S: f64 = 1.0;
/// What has been followed for less long, or is slower, is noise of a velocity.
const SURE_AFTER_S: f64 = 0.3;
const SURE_M_S: f64 = 0.1;
/// A cell that had points in no more frames than this is new.
const NEW_HITS: u8 = 7;
/// Cells that one moving thing may have.
const MOST_CELLS: usize = 20_000;

/// What does not move, as planner and cameras need it.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Grown by what is taken out of pictures around them, but for what the robot stands on.
    solids: Vec<PosedShape>,
    names: ObstacleNames,
    /// As they are.
    fixtures: Vec<PosedLinkShape>,
    /// What the robot stands on.
    mounts: Vec<String>,
    own_m: f64,
}

impl Surroundings {
    /// Of a scene: everything in it that cannot be moved. Points within `filter_m` of it are taken
    /// out of pictures, so it is that much larger for the planner.
    ///
    /// # Errors
    /// When the scene makes no sense.
    pub fn new(
        scene: &PlanScene,
        arm: &PlannedArm,
        filter_m: f64,
        voxel_m: f64,
        workspace: [[f64; 3]; 2],
    ) -> Result<Self, TwinError> {
        let fixed: Vec<_> = scene.solids.iter().filter(|solid| !solid.can_move).collect();
        let solids: Vec<PosedShape> = fixed.iter().map(|solid| solid.solid.clone()).collect();
        let bare = Obstacles::of(solids.clone());
        let mounts: Vec<usize> = Collider::new(arm, &bare, &ColliderSettings::default())?
            .mounts()
            .iter()
            .map(|mount| mount.number)
            .collect();
        let grown = solids.iter().enumerate().map(|(number, solid)| {
            if mounts.contains(&number) { solid.clone() } else { grown(solid, filter_m) }
        });
        let near = |shape: &PosedLinkShape| {
            let [low, high] = shape.bounds_m(NEAR_M);
            (0..3).all(|a| low[a] <= workspace[1][a] && high[a] >= workspace[0][a])
        };
        let fixtures = solids.iter().map(|s| PosedLinkShape::new(0, &s.pose, &s.shape));
        Ok(Self {
            solids: grown.collect(),
            names: ObstacleNames { solids: fixed.iter().map(|s| s.name.clone()).collect() },
            fixtures: fixtures.filter(near).collect(),
            mounts: mounts.iter().map(|number| fixed[*number].name.clone()).collect(),
            own_m: OWN_VOXELS * voxel_m,
        })
    }

    /// As they are, for cameras.
    #[must_use]
    pub fn fixtures(&self) -> &[PosedLinkShape] {
        &self.fixtures
    }

    /// What the robot stands on, by name.
    #[must_use]
    pub fn mounts(&self) -> &[String] {
        &self.mounts
    }

    /// Them and a map.
    #[must_use]
    pub fn with(&self, map: Arc<MapSnapshot>) -> Obstacles {
        Obstacles { solids: self.solids.clone(), map: Some(map), ..Obstacles::default() }
    }

    /// Them and a map in which cells that no camera has seen are solid, but for the arm's own.
    ///
    /// # Errors
    /// When the arm's joints make no sense.
    pub fn with_unknown(
        &self,
        map: &MapSnapshot,
        arm: &PlannedArm,
        at: &[f64],
    ) -> Result<Obstacles, TwinError> {
        let mut joints = Vec::new();
        arm.all_joints(&Config::of(at), &mut joints);
        let mut own = Vec::new();
        arm.body().shapes_at(&joints, &mut own)?;
        own.extend_from_slice(&self.fixtures);
        Ok(self.with(Arc::new(map.with_unknown_blocked(&own, self.own_m)?)))
    }

    /// What is touched, in words.
    #[must_use]
    pub fn words(&self, contact: &Collision) -> String {
        let thing = match &contact.with {
            Touched::Voxel { centre_m: [x, y, z], .. } => {
                format!("something at {x:.2} {y:.2} {z:.2} m")
            }
            Touched::Solid { number, shape } => {
                self.names.solids.get(*number).map_or(*shape, String::as_str).to_owned()
            }
            Touched::Link(link) => format!("its own {link}"),
        };
        format!("{thing} ({})", contact.link)
    }

    /// Names of the fixtures, by their numbers.
    #[must_use]
    pub fn names(&self) -> &ObstacleNames {
        &self.names
    }
}

/// A shape that is larger by a distance all around; meshes, frustums and rings stay.
fn grown(solid: &PosedShape, by_m: f64) -> PosedShape {
    let shape = match &solid.shape {
        Shape::Box { half_m } => Shape::Box { half_m: half_m.map(|half| half + by_m) },
        Shape::Sphere { radius_m } => Shape::Sphere { radius_m: radius_m + by_m },
        Shape::Cylinder { radius_m, half_height_m } => {
            Shape::Cylinder { radius_m: radius_m + by_m, half_height_m: half_height_m + by_m }
        }
        Shape::Capsule { radius_m, half_height_m } => {
            Shape::Capsule { radius_m: radius_m + by_m, half_height_m: *half_height_m }
        }
        Shape::Ellipsoid { radii_m } => Shape::Ellipsoid { radii_m: radii_m.map(|r| r + by_m) },
        other => other.clone(),
    };
    PosedShape::new(solid.pose, shape)
}

/// The map with what moves where it may be within a time: its cells, moved on by its velocity.
/// `None` where nothing moves.
///
/// # Errors
/// When the map itself makes no sense.
pub(crate) fn thought_ahead(
    map: &MapSnapshot,
    ahead_s: f64,
    more_m_s: f64,
) -> Result<Option<MapSnapshot>, TwinError> {
    let moving: Vec<&Track> = map.tracks().iter().filter(|track| moves(map, track)).collect();
    if moving.is_empty() {
        return Ok(None);
    }
    let grid = map.grid();
    let mut keys: Vec<u32> = map.voxels().iter().map(|voxel| voxel.key).collect();
    let known = keys.len();
    for track in moving {
        let speed = norm(track.velocity_m_s);
        if speed <= 0.0 {
            continue;
        }
        let cells = cells_of(map, track);
        let way_m = (speed + more_m_s) * ahead_s.min(AHEAD_S);
        let steps = (way_m / grid.voxel_m()).ceil() as usize;
        for step in 1..=steps {
            let along = way_m * step as f64 / steps as f64 / speed;
            for cell in &cells {
                let centre = grid.centre_m(*cell);
                let moved = std::array::from_fn(|a| centre[a] + track.velocity_m_s[a] * along);
                keys.extend(grid.cell(moved).map(|cell| grid.key(cell)));
            }
        }
    }
    if keys.len() == known {
        return Ok(None);
    }
    keys.sort_unstable();
    keys.dedup();
    Ok(Some(MapSnapshot::from_voxels_within(grid, &keys, map.reach_m())?))
}

/// A map with the occupied cells of another one of the same grid on top.
///
/// # Errors
/// When the map itself makes no sense.
pub(crate) fn map_with(map: &MapSnapshot, other: &MapSnapshot) -> Result<MapSnapshot, TwinError> {
    let mut keys: Vec<u32> =
        map.voxels().iter().chain(other.voxels()).map(|voxel| voxel.key).collect();
    keys.sort_unstable();
    keys.dedup();
    if keys.len() == map.voxels().len() {
        return Ok(map.clone());
    }
    Ok(MapSnapshot::from_voxels_within(map.grid(), &keys, map.reach_m())?)
}

/// Occupied cells in the box around a track.
fn cells_of(map: &MapSnapshot, track: &Track) -> Vec<[usize; 3]> {
    let grid = map.grid();
    let [low, high] = track.bounds_m;
    let half_m = 0.5 * grid.voxel_m();
    let is_in = |cell: &[usize; 3]| {
        let centre = grid.centre_m(*cell);
        (0..3).all(|a| low[a] - half_m <= centre[a] && centre[a] <= high[a] + half_m)
    };
    let cells = map.voxels().iter().map(|voxel| grid.cell_of(voxel.key));
    cells.filter(is_in).take(MOST_CELLS).collect()
}

/// Whether a group of voxels moves, as far as that can be told by now: it has been followed for
/// long enough, and its cells are new. A thing that the arm hides more and more of seems to move,
/// too, but where it is it has been for long.
pub(crate) fn moves(map: &MapSnapshot, track: &Track) -> bool {
    if !(track.is_moving && track.age_s >= SURE_AFTER_S && norm(track.velocity_m_s) >= SURE_M_S) {
        return false;
    }
    let cells = cells_of(map, track);
    let is_new = |cell: &&[usize; 3]| {
        let key = map.grid().key(**cell);
        let at = map.voxels().binary_search_by_key(&key, |voxel| voxel.key);
        at.is_ok_and(|at| map.voxels()[at].hits <= NEW_HITS)
    };
    2 * cells.iter().filter(is_new).count() >= cells.len().max(1)
}

pub(crate) fn norm(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}
