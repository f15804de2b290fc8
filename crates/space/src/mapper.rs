//! Depth pictures in, a map out: pipeline and map in one, without a file and without a copy.

use std::sync::Arc;

use citrange_cloud::{DepthImage, Points, View};
use citrange_core::Pose;

use crate::error::SpaceError;
use crate::front::self_filter::Robot;
use crate::map::{Map, MapReport, MapSettings, Snapshot};
use crate::pipeline::Pipeline;
use crate::settings::Settings;

/// A map that is fed with what cameras deliver. Depths are read where they lie: only voxels and
/// the map's own picture of them are kept.
#[derive(Debug)]
pub struct Mapper {
    pipeline: Pipeline,
    map: Map,
}

impl Mapper {
    /// A map that knows nothing yet.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn new(settings: Settings, map: &MapSettings) -> Result<Self, SpaceError> {
        let pipeline = Pipeline::new(settings)?;
        let map = Map::new(map, pipeline.grid())?;
        Ok(Self { pipeline, map })
    }

    /// Takes in the next depth picture of a camera (a number of one's own choice), taken from
    /// `world_from_camera` while the robot was as given.
    ///
    /// # Errors
    /// When sizes, intrinsics, the pose or the robot make no sense, the picture is not newer than
    /// the camera's last, or there are more voxels than the pool holds. The map is as it was then.
    pub fn see_depth(
        &mut self,
        camera: u16,
        image: &DepthImage<'_>,
        world_from_camera: &Pose,
        robot: &Robot<'_>,
    ) -> Result<MapReport, SpaceError> {
        let view = View { world_from_camera: *world_from_camera, pinhole: Some(image.pinhole) };
        self.see(camera, &image.points()?, &view, robot)
    }

    /// The same for points of any kind: messages, files.
    ///
    /// # Errors
    /// As [`Self::see_depth`].
    pub fn see<P: Points>(
        &mut self,
        camera: u16,
        points: &P,
        view: &View,
        robot: &Robot<'_>,
    ) -> Result<MapReport, SpaceError> {
        let frame = self.pipeline.run(points, &view.world_from_camera, robot)?;
        self.map.integrate(camera, points, view, frame)
    }

    /// What is known now, to be asked by planners and pilots on any thread.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.map.snapshot()
    }

    /// The map, for ages of cameras and for tracks.
    #[must_use]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The pipeline, for what became of the last picture's points.
    #[must_use]
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }
}
