//! Frames on disk, and what the cell says about them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use citrange_cloud::{
    CameraModel, CellRobot, Cloud, CloudFile, PointOrder, Sidecar, View, Workspace, put_into_pixels,
};
use citrange_core::shape::PosedLinkShape;
use citrange_robot::{LinkShape, Robot};

use crate::cell::Cell;
use crate::error::SpaceError;
use crate::frame::FrameWarning;
use crate::front::self_filter::PosedRobot;

/// A robot: what it collides with, and what cameras see of it.
#[derive(Clone, Debug)]
pub struct CellBody {
    /// As it collides.
    pub body: Robot,
    /// As it is seen.
    pub seen: Vec<LinkShape>,
}

/// Reads frames of one cell.
#[derive(Debug)]
pub struct CellFrames {
    /// The cell. Without a file of its own it has the workspace of the last frame.
    pub cell: Cell,
    folder: PathBuf,
    configured: bool,
    camera: Option<String>,
    width: Option<usize>,
    body: Option<CellBody>,
}

/// A frame and where everything was when it was taken.
#[derive(Clone, Debug)]
pub struct CellFrame {
    /// Name of its file.
    pub name: String,
    /// Number of the camera in the cell.
    pub camera: u16,
    /// What was seen, as a picture where the points are one.
    pub cloud: Cloud,
    /// In which order the points came.
    pub order: PointOrder,
    /// Of each point that came: where it is in `cloud`; empty where they are as they came.
    pub pixel_of: Vec<u32>,
    /// How long putting them into pixels took.
    pub order_time: Duration,
    /// What somebody should know.
    pub warnings: Vec<FrameWarning>,
    /// From where.
    pub view: View,
    /// The robot's parts, as it collides.
    pub shapes: Vec<PosedLinkShape>,
    /// The robot's parts, as it is seen.
    pub looks: Vec<PosedLinkShape>,
    /// Where its hand is.
    pub hand_m: Option<[f64; 3]>,
}

impl CellFrame {
    /// The robot as it is filtered out.
    #[must_use]
    pub fn robot(&self) -> PosedRobot<'_> {
        PosedRobot { shapes: &self.shapes, end_effector_m: self.hand_m }
    }
}

impl CellFrames {
    /// Frames of the cell in the file `config`; without one, files beside the frames and defaults
    /// say everything. `camera` took them, where the cell has several; `width`: columns of their
    /// pictures, for files that do not say.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn new(
        config: Option<&Path>,
        camera: Option<String>,
        width: Option<usize>,
    ) -> Result<Self, SpaceError> {
        let cell = config.map(Cell::load).transpose()?.unwrap_or_default();
        let folder = config.and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
        Ok(Self { configured: config.is_some(), cell, folder, camera, width, body: None })
    }

    /// Reads a frame. Without a config its own workspace replaces the default, so ask for the
    /// cell's settings afterwards. `body_of` builds the robot, once; its folder is where relative
    /// paths start.
    ///
    /// # Errors
    /// When the frame or what belongs to it cannot be read, or the robot cannot be built.
    pub fn read<E: From<SpaceError>>(
        &mut self,
        path: &Path,
        body_of: impl FnOnce(&CellRobot, &Path) -> Result<CellBody, E>,
    ) -> Result<CellFrame, E> {
        let known = self.cell.camera(self.camera.as_deref()).ok().flatten();
        let known = known.and_then(|(_, camera)| camera.model());
        let file =
            CloudFile::read_of(path, self.width, known.as_ref()).map_err(SpaceError::from)?;
        self.take(path, file, body_of)
    }

    /// Every frame has this workspace, whatever stands beside it.
    pub fn fix_workspace(&mut self, workspace: Workspace) {
        self.cell.pipeline.workspace = workspace;
        self.configured = true;
    }

    /// Names of the robot's joints, in the order in which frames give them; none without a robot.
    ///
    /// # Errors
    /// When the robot cannot be built.
    pub fn joint_names<E: From<SpaceError>>(
        &mut self,
        body_of: impl FnOnce(&CellRobot, &Path) -> Result<CellBody, E>,
    ) -> Result<Vec<String>, E> {
        if let (None, Some(robot)) = (&self.body, &self.cell.robot) {
            self.body = Some(body_of(robot, &self.folder)?);
        }
        let names = self.body.iter().flat_map(|body| body.body.chain().joint_names());
        Ok(names.map(str::to_owned).collect())
    }

    /// The same as [`Self::read`] of a cloud that is read already; the name of `path` is the
    /// frame's.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn take<E: From<SpaceError>>(
        &mut self,
        path: &Path,
        file: CloudFile,
        body_of: impl FnOnce(&CellRobot, &Path) -> Result<CellBody, E>,
    ) -> Result<CellFrame, E> {
        let CloudFile { cloud, sidecar, .. } = file;
        if let Some(workspace) = sidecar.workspace().filter(|_| !self.configured) {
            self.cell.pipeline.workspace = workspace;
        }
        let (camera, mut view, model) = self.view(path, &sidecar)?;
        let began = Instant::now();
        let (order, placed) = put_into_pixels(&cloud, model.as_ref());
        let order_time = began.elapsed();
        let mut warnings = FrameWarning::of_order(&order, cloud.xyz_m.len());
        warnings.extend(sidecar.mended().map(FrameWarning::mended));
        let (cloud, pixel_of) = match placed {
            Some(placed) => {
                view.pinhole = Some(placed.placement.pinhole);
                (placed.cloud, placed.pixel_of)
            }
            None => (cloud, Vec::new()),
        };
        if self.body.is_none() {
            self.body = match (&self.cell.robot, &sidecar.robot) {
                (Some(robot), _) => Some(body_of(robot, &self.folder)?),
                (None, Some(robot)) => Some(body_of(robot, Path::new(""))?),
                (None, None) => None,
            };
        }
        let [shapes, looks] = self.robot(path, &sidecar)?;
        let hand_m = self.hand_m(path, &sidecar)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(CellFrame {
            name,
            camera,
            cloud,
            order,
            pixel_of,
            order_time,
            warnings,
            view,
            shapes,
            looks,
            hand_m,
        })
    }

    /// Which camera of the cell took the frame, and from where.
    fn view(
        &self,
        path: &Path,
        sidecar: &Sidecar,
    ) -> Result<(u16, View, Option<CameraModel>), SpaceError> {
        let named = self.camera.as_deref().or(sidecar.camera.as_deref());
        let known = named.filter(|_| !self.cell.cameras.is_empty());
        if let Some((name, camera)) = self.cell.camera(known)? {
            let model = camera.model().or_else(|| sidecar.camera_model());
            let number = self.cell.cameras.keys().take_while(|other| *other != name).count();
            let world_from_camera = camera.world_from_camera();
            let pinhole = model.map(|model| model.pinhole);
            let distortion = model.map(|model| model.distortion).unwrap_or_default();
            return Ok((number as u16, View { world_from_camera, pinhole, distortion }, model));
        }
        let view = sidecar.view()?.ok_or_else(|| {
            SpaceError::bad(
                path.display().to_string(),
                "where was it taken? Give --config with a camera, or a JSON file of the same \
                 name with T_cam_to_world (four rows of four numbers)",
            )
        })?;
        Ok((0, view, sidecar.camera_model()))
    }

    /// The robot as it collides and as it is seen.
    fn robot(
        &self,
        path: &Path,
        sidecar: &Sidecar,
    ) -> Result<[Vec<PosedLinkShape>; 2], SpaceError> {
        let Some(CellBody { body, seen }) = &self.body else {
            let capsules = sidecar.robot_capsules();
            return Ok([capsules.clone(), capsules]);
        };
        let joints = self.joints(path, sidecar)?;
        let (mut shapes, mut looks) = (Vec::new(), Vec::new());
        body.shapes_at(joints, &mut shapes)?;
        body.place(seen, joints, &mut looks)?;
        Ok([shapes, looks])
    }

    /// Where the robot's hand is.
    fn hand_m(&self, path: &Path, sidecar: &Sidecar) -> Result<Option<[f64; 3]>, SpaceError> {
        match &self.body {
            Some(CellBody { body, .. }) => Ok(Some(body.tool_at(self.joints(path, sidecar)?)?)),
            None => Ok(sidecar.hand_m),
        }
    }

    fn joints<'a>(&'a self, path: &Path, sidecar: &'a Sidecar) -> Result<&'a [f64], SpaceError> {
        let said = self.cell.robot.as_ref().and_then(|robot| robot.joints_rad.as_deref());
        sidecar.joints_rad.as_deref().or(said).ok_or_else(|| {
            SpaceError::bad(
                format!("{}: robot", path.display()),
                "where were its joints? Give joints_rad in the config, or joints in a JSON file \
                 beside the frame",
            )
        })
    }
}
