//! What is known when an episode begins.

use std::collections::{BTreeMap, BTreeSet};

use citrange_core::restore::BodyPose;
use citrange_core::rig::CameraSpec;
use citrange_core::time::Utc;
use citrange_core::{RigSpec, RobotDescription, Scene};
use serde::{Deserialize, Serialize};

use crate::features::StateFeatures;
use crate::stream::DepthFormat;
use crate::units::Unit;

/// The first record of every tape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TapeHeader {
    /// Name of the episode, unique in the world.
    pub uid: String,
    /// Citrange version that recorded it.
    pub tool_version: String,
    /// Engine and version; empty for a real robot.
    pub engine: String,
    /// sha256 of the compiled model, which is kept on the tape too.
    pub model_hash: String,
    /// When it began (UTC, RFC 3339); empty for an episode that is repeatable.
    pub began_utc: String,
    /// Whether whoever recorded it makes it again, byte for byte, if it is cut off: what there is
    /// of it is then thrown away instead of repaired.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
    /// The task in words.
    pub task: String,
    /// Who decided.
    pub pilot: String,
    /// Seed of the run.
    pub seed: u64,
    /// Episode index within the run: with the random seed it decides everything random.
    pub episode: u64,
    /// Joints, rates, cameras.
    pub rig: RigSpec,
    /// The scene as written, with all its values.
    pub scene: Option<Scene>,
    /// Descriptions of its robots.
    pub robots: BTreeMap<String, RobotDescription>,
    /// Unit of joint values in the LeRobot dataset.
    pub unit: Unit,
    /// What rows of the LeRobot dataset hold beside joint positions.
    #[serde(default, skip_serializing_if = "StateFeatures::is_plain")]
    pub features: StateFeatures,
    /// Cameras whose pictures are kept without loss.
    pub images: BTreeSet<String>,
    /// Cameras whose depths are kept, and in which unit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub depth: BTreeMap<String, DepthFormat>,
    /// Settings of whoever recorded it.
    pub config: serde_json::Value,
    /// Where the bodies were at the start, to check a restore by.
    pub bodies: Vec<BodyPose>,
    /// The episode that this one continues.
    pub parent: Option<Parent>,
}

impl TapeHeader {
    /// The header of an episode that is made again, byte for byte, if it is cut off: without the
    /// time at which it happens to be made, under a name that is given.
    #[must_use]
    pub fn repeatable_as(self, uid: String) -> Self {
        Self { uid, began_utc: String::new(), repeatable: true, ..self }
    }

    /// Cameras of which something is kept, in the rig's order.
    pub(crate) fn kept_cameras(&self) -> impl Iterator<Item = &CameraSpec> {
        let is_kept =
            |spec: &&CameraSpec| spec.kind.has_rgb() || self.depth.contains_key(&spec.name);
        self.rig.cameras.iter().filter(is_kept)
    }
}

impl TapeHeader {
    /// Where an imported episode comes from; `None` for one that was recorded here.
    #[must_use]
    pub fn imported(&self) -> Option<Imported> {
        if self.pilot != IMPORT {
            return None;
        }
        serde_json::from_value(self.config.clone()).ok()
    }
}

/// Who decided in an episode that was imported.
pub const IMPORT: &str = "import";

/// Where an imported episode comes from, and how it became one of ours: the settings of its tape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// Name of the file.
    pub file: Option<String>,
    /// sha256 of the file; empty on tapes of older versions.
    #[serde(default)]
    pub sha256: String,
    /// Name of the episode in it.
    pub episode: String,
    /// How it was played.
    #[serde(default)]
    pub play: Play,
    /// The level by which its start was restored.
    #[serde(default)]
    pub start: Option<citrange_core::Level>,
    /// Where its targets come from, for people.
    #[serde(default)]
    pub targets: String,
    /// Whether the file says that the task was done.
    #[serde(default)]
    pub success_in_file: Option<bool>,
}

/// How a file of others becomes an episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Play {
    /// Its targets move a simulated arm: what happens to objects is simulated anew.
    #[default]
    Targets,
    /// Every frame is set to its recorded state.
    States,
    /// Its rows and pictures are taken as they are; nothing is simulated.
    AsRecorded,
}

/// An episode goes on from a frame of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The other's name.
    pub uid: String,
    /// The frame of the other with which this one begins.
    pub frame: u64,
}

/// A new episode name: time first, so that names sort by age, then chance.
#[must_use]
pub fn new_uid() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    // The standard library's hasher is keyed by the system's randomness.
    let chance = std::collections::hash_map::RandomState::new().build_hasher().finish();
    let stamp = utc_now().replace(['-', ':'], "");
    format!("{}-{:08x}", stamp.trim_end_matches('Z').replace('T', "-"), chance as u32)
}

/// Now, as RFC 3339 in UTC with seconds.
#[must_use]
pub fn utc_now() -> String {
    Utc::now().rfc3339()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ() {
        let (a, b) = (new_uid(), new_uid());
        assert_ne!(a, b);
        assert_eq!(a.len(), "20251115-120000-01234567".len());
    }
}
