//! Fine near the robot, coarse elsewhere: two maps that answer as one.

use std::sync::Arc;

use crate::error::SpaceError;
use crate::frame::VoxelFrame;
use crate::grid::Grid;
use crate::map::settings::MapSettings;
use crate::map::snapshot::MapSnapshot;
use crate::map::writer::{Map, MapReport};
use crate::query::{NO_VOXEL, Nearest, RayBatch, same_length};
use citrange_cloud::Workspace;
use citrange_cloud::{Points, View};

/// Rays that are asked at once of the second layer.
const CHUNK: usize = 256;

/// Which map a voxel is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapLayer {
    /// The fine one.
    #[default]
    Fine,
    /// The coarse one.
    Coarse,
}

/// A fine map in a box and a coarse one that leaves this box out.
#[derive(Debug)]
pub struct LayeredMap {
    fine: Map,
    coarse: Map,
}

/// Snapshots of both, asked as one. The cubes are those of both.
#[derive(Clone, Debug)]
pub struct LayeredSnapshot {
    fine: Arc<MapSnapshot>,
    coarse: Arc<MapSnapshot>,
}

impl LayeredMap {
    /// Both maps with the same settings; the coarse one leaves out what is in the fine grid.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn new(settings: &MapSettings, fine: &Grid, coarse: &Grid) -> Result<Self, SpaceError> {
        let left_out = Workspace { lower_m: fine.lower_m(), upper_m: fine.upper_m() };
        let around = MapSettings { left_out: Some(left_out), ..*settings };
        Ok(Self { fine: Map::new(settings, fine)?, coarse: Map::new(&around, coarse)? })
    }

    /// [`Map::integrate`] for both, with the voxels that the same points make in both grids.
    ///
    /// # Errors
    /// As [`Map::integrate`]; then both maps are as they were.
    pub fn integrate<P: Points>(
        &mut self,
        camera: u16,
        points: &P,
        view: &View,
        [fine, coarse]: [&VoxelFrame; 2],
    ) -> Result<[MapReport; 2], SpaceError> {
        self.coarse.check(camera, view, coarse)?;
        let fine = self.fine.integrate(camera, points, view, fine)?;
        Ok([fine, self.coarse.integrate(camera, points, view, coarse)?])
    }

    /// What both maps know now.
    #[must_use]
    pub fn snapshot(&self) -> LayeredSnapshot {
        LayeredSnapshot::new(self.fine.snapshot(), self.coarse.snapshot())
    }
}

impl LayeredSnapshot {
    /// Two snapshots whose cubes are asked together.
    #[must_use]
    pub fn new(fine: Arc<MapSnapshot>, coarse: Arc<MapSnapshot>) -> Self {
        Self { fine, coarse }
    }

    /// The snapshot of a layer.
    #[must_use]
    pub fn layer(&self, layer: MapLayer) -> &MapSnapshot {
        match layer {
            MapLayer::Fine => &self.fine,
            MapLayer::Coarse => &self.coarse,
        }
    }

    /// Beyond this distance questions are answered with "at least".
    #[must_use]
    pub fn reach_m(&self) -> f64 {
        self.fine.reach_m().min(self.coarse.reach_m())
    }

    /// As [`MapSnapshot::lower_bound_m`].
    #[must_use]
    pub fn lower_bound_m(&self, point_m: [f64; 3]) -> f64 {
        self.fine.lower_bound_m(point_m).min(self.coarse.lower_bound_m(point_m))
    }

    /// As [`MapSnapshot::distance`], and the layer that the voxel is in.
    #[must_use]
    pub fn distance(&self, point_m: [f64; 3]) -> (Nearest, MapLayer) {
        let fine = self.fine.distance(point_m);
        // Nothing can be nearer than 0.
        if fine.distance_m == 0.0 {
            return (fine, MapLayer::Fine);
        }
        let coarse = self.coarse.distance(point_m);
        let (nearest, layer) = if coarse.distance_m < fine.distance_m {
            (coarse, MapLayer::Coarse)
        } else {
            (fine, MapLayer::Fine)
        };
        let reach_m = self.reach_m();
        if nearest.distance_m >= reach_m {
            return (Nearest { distance_m: reach_m, ..Nearest::default() }, layer);
        }
        (nearest, layer)
    }

    /// As [`MapSnapshot::rays`], and the layers that the voxels are in.
    ///
    /// # Errors
    /// As [`MapSnapshot::rays`].
    pub fn rays(
        &self,
        batch: &RayBatch,
        distances_m: &mut [f64],
        voxels: &mut [u32],
        layers: &mut [MapLayer],
    ) -> Result<(), SpaceError> {
        same_length("layers of rays", layers.len(), batch.max_m.len())?;
        self.fine.rays(batch, distances_m, voxels)?;
        layers.fill(MapLayer::Fine);
        for start in (0..layers.len()).step_by(CHUNK) {
            let part = start..(start + CHUNK).min(layers.len());
            let some = RayBatch {
                origins_m: batch.origins_m.map(|o| &o[part.clone()]),
                directions: batch.directions.map(|d| &d[part.clone()]),
                max_m: &batch.max_m[part.clone()],
            };
            let (mut coarse_m, mut keys) = ([f64::INFINITY; CHUNK], [NO_VOXEL; CHUNK]);
            let (coarse_m, keys) = (&mut coarse_m[..part.len()], &mut keys[..part.len()]);
            self.coarse.rays(&some, coarse_m, keys)?;
            for (i, at) in part.enumerate() {
                if coarse_m[i] < distances_m[at] {
                    distances_m[at] = coarse_m[i];
                    voxels[at] = keys[i];
                    layers[at] = MapLayer::Coarse;
                }
            }
        }
        Ok(())
    }

    /// As [`MapSnapshot::sphere_hit`].
    #[must_use]
    pub fn sphere_hit(&self, centre_m: [f64; 3], radius_m: f64) -> bool {
        self.fine.sphere_hit(centre_m, radius_m) || self.coarse.sphere_hit(centre_m, radius_m)
    }

    /// As [`MapSnapshot::spheres_hit`].
    ///
    /// # Errors
    /// As [`MapSnapshot::spheres_hit`].
    pub fn spheres_hit(
        &self,
        centres_m: &[[f64; 3]],
        radii_m: &[f64],
        out: &mut [bool],
    ) -> Result<(), SpaceError> {
        self.fine.spheres_hit(centres_m, radii_m, out)?;
        for ((hit, centre_m), radius_m) in out.iter_mut().zip(centres_m).zip(radii_m) {
            *hit = *hit || self.coarse.sphere_hit(*centre_m, *radius_m);
        }
        Ok(())
    }

    /// As [`MapSnapshot::capsule_hit`].
    #[must_use]
    pub fn capsule_hit(&self, from_m: [f64; 3], to_m: [f64; 3], radius_m: f64) -> bool {
        self.fine.capsule_hit(from_m, to_m, radius_m)
            || self.coarse.capsule_hit(from_m, to_m, radius_m)
    }
}
