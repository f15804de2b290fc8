//! Frames on disk with the robot of their cell: from its description where it has one, else
//! compiled from its model.

use std::path::Path;

use citrange_cloud::{CellRobot, CloudFile, Workspace};
use citrange_core::Pose;
use citrange_robot::{LinkShape, Robot};
use citrange_sim::compiled_robot;
use citrange_space::{Cell, CellBody, CellFrame, CellFrames};

use crate::error::CellError;

/// Reads frames of one cell.
#[derive(Debug)]
pub struct CellReader {
    frames: CellFrames,
}

impl CellReader {
    /// Frames of the cell in the file `config`; without one, files beside the frames and defaults
    /// say everything. `camera` took them, where the cell has several; `width`: columns of their
    /// pictures, for files that do not say.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open(
        config: Option<&Path>,
        camera: Option<String>,
        width: Option<usize>,
    ) -> Result<Self, CellError> {
        Ok(Self { frames: CellFrames::new(config, camera, width)? })
    }

    /// Reads a frame: .npz, .ply, .pcd or a depth .png.
    ///
    /// # Errors
    /// When the frame or what belongs to it cannot be read, or the robot cannot be built.
    pub fn read(&mut self, path: &Path) -> Result<CellFrame, CellError> {
        self.frames.read(path, told_body_of(path))
    }

    /// The same of a cloud that is read already; the name of `path` is the frame's.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn take(&mut self, path: &Path, file: CloudFile) -> Result<CellFrame, CellError> {
        self.frames.take(path, file, told_body_of(path))
    }

    /// Names of the robot's joints, in the order in which frames give them; none without a robot.
    ///
    /// # Errors
    /// When the robot cannot be built; `path` is for the error.
    pub fn joint_names(&mut self, path: &Path) -> Result<Vec<String>, CellError> {
        self.frames.joint_names(told_body_of(path))
    }

    /// Every frame has this workspace, whatever stands beside it.
    pub fn fix_workspace(&mut self, workspace: Workspace) {
        self.frames.fix_workspace(workspace);
    }

    /// Numbers of the pipeline and the map, to be changed before the first frame.
    pub fn cell_mut(&mut self) -> &mut Cell {
        &mut self.frames.cell
    }

    /// The cell. Without a file of its own it has the workspace of the last frame.
    #[must_use]
    pub fn cell(&self) -> &Cell {
        &self.frames.cell
    }
}

/// Builds a cell's robot, with errors that name the frame that needs it.
fn told_body_of(path: &Path) -> impl FnOnce(&CellRobot, &Path) -> Result<CellBody, CellError> {
    |robot, folder| {
        body_of(robot, folder)
            .map_err(|error| CellError::Body { frame: path.to_owned(), source: Box::new(error) })
    }
}

/// Builds a cell's robot; `folder` is where its relative paths start.
fn body_of(robot: &CellRobot, folder: &Path) -> Result<CellBody, CellError> {
    let alone = if Robot::names().any(|name| name == robot.model) {
        Robot::load(&robot.model)?
    } else if Robot::is_described(&robot.model) {
        Robot::load(&folder.join(&robot.model).to_string_lossy())?
    } else {
        compiled_robot(&robot.model, folder)?
    };
    let tool = robot.tool.iter().enumerate().map(|(number, part)| LinkShape {
        name: format!("tool {}", number + 1),
        link: alone.chain().arm_joints.checked_sub(1),
        link_from_shape: Pose { pos_m: part.pos_m, quat_wxyz: part.quat_wxyz },
        shape: part.shape.clone(),
    });
    let tool: Vec<LinkShape> = tool.collect();
    let body = alone.carrying(&tool)?.standing_at(robot.pos_m, robot.yaw_deg.to_radians());
    Ok(CellBody { seen: body.details().seen.clone(), body })
}
