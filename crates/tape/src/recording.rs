//! A finished recording, and the rows that it becomes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use citrange_core::Outcome;

use crate::coded::{Coded, CodedPictures};
use crate::episode::Episode;
use crate::error::TapeError;
use crate::features::SeenState;
use crate::header::TapeHeader;
use crate::recorder::TAPE_LOG;

/// What a LeRobot row needs, in radians and metres.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) joint_pos: Vec<f64>,
    pub(crate) joint_vel: Vec<f64>,
    pub(crate) wrist_pos_m: Option<[f64; 3]>,
    pub(crate) action: Vec<f64>,
}

impl Row {
    pub(crate) fn seen(&self) -> SeenState<'_> {
        SeenState {
            joint_pos: &self.joint_pos,
            joint_vel: &self.joint_vel,
            wrist_pos_m: self.wrist_pos_m,
        }
    }
}

/// A recording that is complete on disk, but not yet part of a dataset.
#[derive(Debug)]
pub struct Recording {
    pub(crate) folder: PathBuf,
    pub(crate) tape: PathBuf,
    pub(crate) header: TapeHeader,
    pub(crate) rows: Vec<Row>,
    /// By stream: colours in the order of the cameras, then depths.
    pub(crate) cameras: Vec<CodedPictures>,
    pub(crate) outcome: Outcome,
    /// The frame of the tape with which the rows begin.
    pub(crate) first: usize,
    /// Pictures dropped by camera.
    pub dropped: BTreeMap<String, Vec<u64>>,
}

impl Recording {
    /// Keeps another tape than the one that was just written: that of an episode which this
    /// recording repeated from frame `first` on, byte for byte.
    ///
    /// # Errors
    /// When it is no tape, is another episode's, does not have the frames, or cannot be written.
    pub fn keep_tape(&mut self, bytes: &[u8], first: usize) -> Result<(), TapeError> {
        let path = self.folder.join(TAPE_LOG);
        let tape = Episode::from_bytes(bytes, &path)?;
        let wrong = |reason: String| Err(TapeError::Log { path: path.clone(), reason });
        // An import can be made again; the tape that it brings keeps its own word.
        let repeatable = self.header.repeatable;
        if (TapeHeader { repeatable, ..tape.header.clone() }) != self.header {
            return wrong("the tape to keep is of another episode".into());
        }
        if first.checked_add(self.rows.len()).is_none_or(|end| end > tape.len()) {
            let (rows, has) = (self.rows.len(), tape.len());
            return wrong(format!("{rows} frames from {first} on are not among its {has}"));
        }
        let new = self.folder.join("tape.new");
        std::fs::write(&new, bytes)
            .and_then(|()| std::fs::File::open(&new)?.sync_all())
            .and_then(|()| std::fs::rename(&new, &path))
            .map_err(|e| TapeError::file("write", &path, e))?;
        for camera in &mut self.cameras {
            if let Coded::Beside(head) = &mut camera.how
                && first > 0
            {
                head["first"] = first.into();
                let part = camera.log.with_extension("part");
                camera.write_log(&part)?;
                *camera = CodedPictures::read(&part)?;
            }
        }
        self.first = first;
        self.header = tape.header;
        Ok(())
    }

    /// Length in frames.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.rows.len()
    }

    /// How it ended.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }
}
