//! Where a camera stands, adjusted by hand: step by step, watching how well the robot's links are
//! met.

use std::path::Path;
use std::str::FromStr;

use citrange_calibrate::{Drift, DriftSettings, DriftWatch};
use citrange_cloud::{Adjust, Axis, CameraPose, Step};
use citrange_space::{CellFrame, Pipeline};

use crate::error::CellError;
use crate::reader::CellReader;

/// What a person can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOrder {
    /// A step of one of the six numbers: `x+`, `yaw--`.
    Adjust(Adjust),
    /// The robot's points onto its links: `fit`.
    Fit,
    /// The pose before: `undo`.
    Undo,
    /// Write the pose: `save`.
    Save,
    /// Enough: `quit`.
    Quit,
}

/// A camera's pose while it is adjusted.
#[derive(Debug)]
pub struct HandCalibration {
    frame: CellFrame,
    pipeline: Pipeline,
    past: Vec<CameraPose>,
    now: CameraPose,
}

/// How a frame looks from a pose.
#[derive(Clone, Debug)]
pub struct HandView {
    /// The pose.
    pub pose: CameraPose,
    /// Voxels that are left of the frame.
    pub voxels: usize,
    /// How far off the robot is seen.
    pub drift: Drift,
}

impl FromStr for HandOrder {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.trim() {
            "quit" | "q" => Ok(Self::Quit),
            "save" => Ok(Self::Save),
            "undo" => Ok(Self::Undo),
            "fit" => Ok(Self::Fit),
            words => step(words).map(Self::Adjust).ok_or(()),
        }
    }
}

/// `x+`, `yaw--`.
fn step(words: &str) -> Option<Adjust> {
    let name = words.trim_end_matches(['+', '-']);
    let (step, rise) = match &words[name.len()..] {
        "+" => (Step::Fine, true),
        "++" => (Step::Coarse, true),
        "-" => (Step::Fine, false),
        "--" => (Step::Coarse, false),
        _ => return None,
    };
    let axis = match name {
        "x" => Axis::X,
        "y" => Axis::Y,
        "z" => Axis::Z,
        "roll" => Axis::Roll,
        "pitch" => Axis::Pitch,
        "yaw" => Axis::Yaw,
        _ => return None,
    };
    Some(Adjust { axis, step, rise })
}

impl HandCalibration {
    /// Begins where the frame says that it was taken.
    ///
    /// # Errors
    /// When the frame cannot be read.
    pub fn open(reader: &mut CellReader, path: &Path) -> Result<Self, CellError> {
        let frame = reader.read(path)?;
        let pipeline = Pipeline::new(reader.cell().pipeline.clone())?;
        let now = CameraPose::from(frame.view.world_from_camera);
        let mut calibration = Self { frame, pipeline, past: Vec::new(), now };
        calibration.put(now);
        Ok(calibration)
    }

    /// The pose now.
    #[must_use]
    pub fn pose(&self) -> &CameraPose {
        &self.now
    }

    /// Moves the camera a step.
    pub fn adjust(&mut self, adjust: Adjust) {
        self.set(self.now.adjusted(adjust));
    }

    /// Moves the camera so that the robot's points lie on its links; whether the robot is seen well
    /// enough.
    pub fn fit(&mut self) -> bool {
        let Some(offset) = self.drift().offset else { return false };
        self.set(CameraPose::from(offset.world_from_camera));
        true
    }

    /// Goes back to the pose before; whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(before) = self.past.pop() else { return false };
        self.put(before);
        true
    }

    /// How the frame looks from the pose now.
    ///
    /// # Errors
    /// When the frame makes no sense.
    pub fn look(&mut self) -> Result<HandView, CellError> {
        let frame = &self.frame;
        let made =
            self.pipeline.run(&frame.cloud, &frame.view.world_from_camera, &frame.robot())?;
        let voxels = made.voxels.len();
        Ok(HandView { pose: self.now, voxels, drift: self.drift() })
    }

    fn drift(&self) -> Drift {
        let frame = &self.frame;
        let mut watch = DriftWatch::new(DriftSettings::default());
        watch.look(&frame.cloud, &frame.view, &frame.looks)
    }

    fn set(&mut self, pose: CameraPose) {
        self.past.push(self.now);
        self.put(pose);
    }

    fn put(&mut self, pose: CameraPose) {
        self.now = pose;
        self.frame.view.world_from_camera = pose.pose();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read() {
        let step = |axis, step, rise| Ok(HandOrder::Adjust(Adjust { axis, step, rise }));
        assert_eq!("x+".parse(), step(Axis::X, Step::Fine, true));
        assert_eq!(" yaw-- ".parse(), step(Axis::Yaw, Step::Coarse, false));
        assert_eq!("q".parse(), Ok(HandOrder::Quit));
        for wrong in ["x", "x+++", "+", "w+", "save it"] {
            assert_eq!(wrong.parse::<HandOrder>(), Err(()), "{wrong}");
        }
    }
}
