//! What recording and replaying verbs share: the rig of a tape, headers, interruption.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use citrange_core::Rig as _;
use citrange_sim::{CompiledScene, SimRig};
use citrange_tape::{Episode, Header, Parent, Unit, new_uid, utc_now};

/// Becomes true when the user asks to stop (Ctrl-C, or a polite kill).
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);

/// Catches Ctrl-C from here on: the episode in hand is ended and kept. A second one ends at once.
pub(crate) fn catch_stop() -> anyhow::Result<&'static AtomicBool> {
    let set = ctrlc::try_set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        crate::say::talk("\nstopping; what was recorded is kept (press again to leave at once)");
    });
    match set {
        // Whoever started us decided about signals, as `nohup` and `&` in scripts do.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(&STOP),
        Err(error) => Err(error).context("cannot catch Ctrl-C"),
    }
}

/// Whether the user asked to stop.
pub(crate) fn stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// What the user chose for a recording.
pub(crate) struct Choice<'a> {
    pub(crate) task: Option<&'a str>,
    pub(crate) pilot: &'a str,
    pub(crate) seed: u64,
    pub(crate) episode: u64,
    pub(crate) unit: Unit,
    pub(crate) images: &'a BTreeSet<String>,
    pub(crate) parent: Option<Parent>,
    pub(crate) config: serde_json::Value,
}

/// The header of an episode that begins now, and its model.
pub(crate) fn header(rig: &SimRig, choice: Choice<'_>) -> anyhow::Result<(Header, Vec<u8>)> {
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
pub(crate) fn rig_of(tape: &Episode, cameras: Option<&[String]>) -> anyhow::Result<SimRig> {
    let header = &tape.header;
    let scene = header.scene.clone().context("the tape is of a real robot: it has no scene")?;
    let scene =
        CompiledScene::from_mjb(scene, header.robots.clone(), &tape.model, &header.model_hash)?;
    Ok(SimRig::new(Arc::new(scene), cameras)?)
}

/// Puts a rig into a frame of its tape; answers the joint targets in force.
pub(crate) fn go_to(rig: &mut SimRig, tape: &Episode, frame: usize) -> anyhow::Result<Vec<f64>> {
    let snapshot = tape
        .snapshot(frame)
        .with_context(|| format!("frame {frame} of the tape has no complete state"))?;
    rig.world_mut().restore(0, &snapshot)?;
    Ok(rig.begin())
}
