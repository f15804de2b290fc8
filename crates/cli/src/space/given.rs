//! A frame on disk, and what the cell says about it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use citrange_cloud::{Cloud, CloudFile, Sidecar, View};
use citrange_space::{Cell, Solid, SpaceError};

use super::robot::{Bodies, body_of};

/// Which cell the frames are of, on the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct CellArgs {
    /// The cell: cameras, robot, stages (YAML). Without it a JSON file beside each frame says
    /// where it was taken, and defaults do the rest.
    #[arg(long, value_name = "YAML")]
    config: Option<PathBuf>,
    /// Camera of the cell that took the frames, if it has several and the JSON beside a frame does
    /// not name it.
    #[arg(long)]
    camera: Option<String>,
    /// Columns of the picture, for files that do not say.
    #[arg(long)]
    width: Option<usize>,
}

/// Reads frames of one cell.
pub(super) struct Loader {
    pub(super) cell: Cell,
    configured: bool,
    camera: Option<String>,
    width: Option<usize>,
    body: Option<Bodies>,
}

/// A frame and where everything was when it was taken.
pub(super) struct Given {
    pub(super) name: String,
    /// Number of the camera in the cell.
    pub(super) camera: u16,
    pub(super) cloud: Cloud,
    pub(super) view: View,
    /// The robot's parts, as it collides.
    pub(super) solids: Vec<Solid>,
    /// The robot's parts, as it is seen.
    pub(super) looks: Vec<Solid>,
    /// Where its hand is.
    pub(super) hand_m: Option<[f64; 3]>,
}

impl Loader {
    pub(super) fn new(args: &CellArgs) -> anyhow::Result<Self> {
        let cell = args.config.as_deref().map(Cell::load).transpose()?.unwrap_or_default();
        let folder = args.config.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let body = cell.robot.as_ref().map(|robot| body_of(robot, folder)).transpose()?;
        Ok(Self {
            configured: args.config.is_some(),
            cell,
            camera: args.camera.clone(),
            width: args.width,
            body,
        })
    }

    /// Reads a frame. Without a config its own workspace replaces the default, so ask for the
    /// cell's settings afterwards.
    pub(super) fn read(&mut self, path: &Path) -> anyhow::Result<Given> {
        let CloudFile { cloud, sidecar, .. } = CloudFile::read(path, self.width)?;
        if let Some(workspace) = sidecar.workspace().filter(|_| !self.configured) {
            self.cell.pipeline.workspace = workspace;
        }
        let (camera, view) = self.view(path, &sidecar)?;
        let (solids, looks, hand_m) =
            self.robot(&sidecar).with_context(|| path.display().to_string())?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Given { name, camera, cloud, view, solids, looks, hand_m })
    }

    /// Which camera of the cell took the frame, and from where.
    fn view(&self, path: &Path, sidecar: &Sidecar) -> Result<(u16, View), SpaceError> {
        let named = self.camera.as_deref().or(sidecar.camera.as_deref());
        let known = named.filter(|_| !self.cell.cameras.is_empty());
        if let Some((name, camera)) = self.cell.camera(known)? {
            let pinhole = camera.pinhole.or_else(|| sidecar.pinhole());
            let number = self.cell.cameras.keys().take_while(|other| *other != name).count();
            let world_from_camera = camera.world_from_camera();
            return Ok((number as u16, View { world_from_camera, pinhole }));
        }
        let view = sidecar.view()?.ok_or_else(|| SpaceError::BadInput {
            what: path.display().to_string(),
            reason: "where was it taken? Give --config with a camera, or a JSON file of the same \
                     name with T_cam_to_world (four rows of four numbers)"
                .to_owned(),
        })?;
        Ok((0, view))
    }

    /// The robot as it collides and as it is seen, and where its hand is.
    #[expect(clippy::type_complexity, reason = "three things that are used once")]
    fn robot(
        &mut self,
        sidecar: &Sidecar,
    ) -> anyhow::Result<(Vec<Solid>, Vec<Solid>, Option<[f64; 3]>)> {
        if self.body.is_none()
            && let Some(robot) = &sidecar.robot
        {
            self.body = Some(body_of(robot, Path::new(""))?);
        }
        let Some(Bodies { body, seen }) = &self.body else {
            let capsules = sidecar.robot_capsules();
            return Ok((capsules.clone(), capsules, sidecar.hand_m));
        };
        let said = self.cell.robot.as_ref().and_then(|r| r.joints_rad.as_ref());
        let joints = sidecar.joints_rad.as_ref().or(said).ok_or_else(|| SpaceError::BadInput {
            what: "robot".to_owned(),
            reason: "where were its joints? Give joints_rad in the config, or joints in a JSON \
                     file beside the frame"
                .to_owned(),
        })?;
        let (mut solids, mut looks) = (Vec::new(), Vec::new());
        body.solids_at(joints, &mut solids)?;
        body.place(seen, joints, &mut looks)?;
        Ok((solids, looks, Some(body.tool_at(joints)?)))
    }
}
