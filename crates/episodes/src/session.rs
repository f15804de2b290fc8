//! What recording and replaying verbs share: the rig of a tape, headers, interruption.

use std::collections::BTreeSet;
use std::sync::Arc;

use citrange_core::Rig as _;
use citrange_sim::{CompiledScene, SimRig, load_scene};
use citrange_tape::{Episode, Header, Parent, Play, Unit, new_uid, utc_now};

use crate::error::{Context as _, Result};

/// A compiled scene by name or file.
///
/// # Errors
/// When there is no such scene, or it cannot be built.
pub fn compiled(scene: &str) -> Result<Arc<CompiledScene>> {
    Ok(Arc::new(CompiledScene::new(&load_scene(scene)?)?))
}

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
pub(crate) fn header(rig: &SimRig, choice: Choice<'_>) -> Result<(Header, Vec<u8>)> {
    let scene = rig.world().scene();
    let snapshot = rig.world().snapshot(0)?;
    let task = choice.task.unwrap_or(&scene.scene.task);
    let task = if task.trim().is_empty() { &scene.scene.title } else { task };
    let header = Header {
        uid: new_uid(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: snapshot.engine,
        model_hash: scene.model_hash.clone(),
        began_utc: utc_now(),
        repeatable: false,
        features: Default::default(),
        task: task.to_owned(),
        pilot: choice.pilot.to_owned(),
        seed: choice.seed,
        episode: choice.episode,
        rig: rig.spec().clone(),
        scene: Some(scene.scene.clone()),
        robots: scene.robots.clone(),
        unit: choice.unit,
        images: choice.images.clone(),
        config: choice.config,
        bodies: rig.world().body_poses(0)?,
        parent: choice.parent,
    };
    Ok((header, scene.to_mjb()?))
}

/// The rig of a tape: exactly the model it was recorded with, seen by the cameras named.
///
/// # Errors
/// When the tape is of a real robot, or the model is not the one recorded.
pub fn rig_of(tape: &Episode, cameras: Option<&[String]>) -> Result<SimRig> {
    let header = &tape.header;
    let scene = header.scene.clone().context("the tape is of a real robot: it has no scene")?;
    let scene =
        CompiledScene::from_mjb(scene, header.robots.clone(), &tape.model, &header.model_hash)?;
    Ok(SimRig::like(Arc::new(scene), &header.rig, cameras)?)
}

/// Puts a rig into a frame of its tape.
pub(crate) fn go_to(rig: &mut SimRig, tape: &Episode, frame: usize) -> Result<()> {
    let snapshot = tape
        .snapshot(frame)
        .with_context(|| format!("frame {frame} of the tape has no complete state"))?;
    rig.world_mut().restore(0, &snapshot)?;
    // Such an episode is no motion that physics made: every frame is set.
    let by_states = tape.header.imported().is_some_and(|i| i.play == Play::States);
    let states = (frame..tape.len()).filter(|_| by_states).filter_map(|f| tape.snapshot(f));
    rig.follow(states.collect());
    Ok(())
}
