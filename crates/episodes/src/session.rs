//! What is chosen for a recording, and the header that its tape begins with.

use std::collections::BTreeSet;

use citrange_tape::{Parent, TapeHeader, Unit, all_depths, new_uid, utc_now};

use crate::cell::{EpisodeRig, RigIdentity};
use crate::error::Result;

/// What the user chose for a recording.
#[derive(Clone, Debug)]
pub struct Choice<'a> {
    /// The task in words; by default the scene's.
    pub task: Option<&'a str>,
    /// Who moves the arm.
    pub pilot: &'a str,
    /// Seed of the run.
    pub seed: u64,
    /// Index of the episode.
    pub episode: u64,
    /// What joint values in the dataset mean.
    pub unit: Unit,
    /// Cameras whose pictures are kept without loss.
    pub images: &'a BTreeSet<String>,
    /// What it goes on from.
    pub parent: Option<Parent>,
    /// Settings, as they are stored with the episode.
    pub config: serde_json::Value,
}

/// The header of an episode that begins now, and its model.
pub(crate) fn header(rig: &dyn EpisodeRig, choice: Choice<'_>) -> Result<(TapeHeader, Vec<u8>)> {
    let scene = rig.scene();
    let RigIdentity { engine, model_hash, model, robots } = rig.identity()?;
    let task = choice.task.unwrap_or(&scene.task);
    let task = if task.trim().is_empty() { &scene.title } else { task };
    let header = TapeHeader {
        uid: new_uid(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        engine,
        model_hash,
        began_utc: utc_now(),
        repeatable: false,
        features: Default::default(),
        task: task.to_owned(),
        pilot: choice.pilot.to_owned(),
        seed: choice.seed,
        episode: choice.episode,
        rig: rig.spec().clone(),
        // What nobody can simulate again has no scene.
        scene: (!model.is_empty()).then(|| scene.clone()),
        robots,
        unit: choice.unit,
        images: choice.images.clone(),
        depth: all_depths(rig.spec()),
        config: choice.config,
        bodies: rig.body_poses()?,
        parent: choice.parent,
    };
    Ok((header, model))
}
