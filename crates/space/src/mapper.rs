//! Depth pictures in, a map out: pipeline and map in one, without a file and without a copy.

use std::sync::Arc;

use citrange_cloud::{DepthImage, Points, View};
use citrange_core::rig::CameraSpec;
use citrange_core::{CameraImage, Pose};

use crate::error::SpaceError;
use crate::front::self_filter::PosedRobot;
use crate::map::{Map, MapReport, MapSettings, MapSnapshot};
use crate::pipeline::Pipeline;
use crate::settings::PipelineSettings;

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
    pub fn new(settings: PipelineSettings, map: &MapSettings) -> Result<Self, SpaceError> {
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
        robot: &PosedRobot<'_>,
    ) -> Result<MapReport, SpaceError> {
        let view = View::new(*world_from_camera, Some(image.pinhole));
        self.see(camera, &image.points()?, &view, robot)
    }

    /// Takes in what a camera of a rig shows; `None` where that is nothing new, has no depths, or
    /// comes from nobody knows where. Waits for pixels that are still being drawn.
    ///
    /// # Errors
    /// As [`Self::see_depth`], and when the picture could not be drawn.
    pub fn see_image(
        &mut self,
        camera: u16,
        spec: &CameraSpec,
        image: &CameraImage,
        robot: &PosedRobot<'_>,
    ) -> Result<Option<MapReport>, SpaceError> {
        let (Some(depth), Some(pose), Some(intrinsics)) =
            (&image.depth, &image.world_from_camera, spec.intrinsics)
        else {
            return Ok(None);
        };
        if !image.fresh || depth.is_left_out() {
            return Ok(None);
        }
        let depth_m = depth.pixels().map_err(|e| SpaceError::bad(&spec.name, e.to_string()))?;
        let size = [spec.width_px, spec.height_px].map(|pixels| pixels as usize);
        let image = DepthImage::metres(size, depth_m, intrinsics.into(), image.at_ns);
        self.see_depth(camera, &image, pose, robot).map(Some)
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
        robot: &PosedRobot<'_>,
    ) -> Result<MapReport, SpaceError> {
        let frame = self.pipeline.run(points, &view.world_from_camera, robot)?;
        self.map.integrate_with_robot(camera, points, view, frame, robot.shapes)
    }

    /// What is known now, to be asked by planners and pilots on any thread.
    #[must_use]
    pub fn snapshot(&self) -> Arc<MapSnapshot> {
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
