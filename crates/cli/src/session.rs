//! What recording and replaying verbs share: the rig of a tape, headers, interruption.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use citrange_core::Rig as _;
use citrange_sim::{CompiledScene, SimRig};
use citrange_tape::{Episode, Header, Parent, Play, Unit, new_uid, utc_now};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Becomes true when the user asks to stop (Ctrl-C, or a polite kill).
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);

/// Catches Ctrl-C, polite kills and hang-ups from here on: the episode in hand is ended and kept.
/// A second one ends at once. What whoever started us chose to ignore stays ignored, as hang-ups
/// under `nohup`.
pub(crate) fn catch_stop() -> anyhow::Result<&'static AtomicBool> {
    static CAUGHT: OnceLock<()> = OnceLock::new();
    if CAUGHT.set(()).is_err() {
        return Ok(&STOP);
    }
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored >> (s - 1) & 1 == 0);
    let mut signals = Signals::new(wanted).context("cannot catch Ctrl-C")?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for _ in signals.forever() {
                if STOP.swap(true, Ordering::Relaxed) {
                    std::process::exit(130);
                }
                crate::output::talk(
                    "\nstopping; what was saved is kept (press again to leave at once)",
                );
            }
        })
        .context("no thread to catch Ctrl-C")?;
    Ok(&STOP)
}

/// A bit per signal that is ignored; none where the system does not tell.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
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
pub(crate) fn rig_of(tape: &Episode, cameras: Option<&[String]>) -> anyhow::Result<SimRig> {
    let header = &tape.header;
    let scene = header.scene.clone().context("the tape is of a real robot: it has no scene")?;
    let scene =
        CompiledScene::from_mjb(scene, header.robots.clone(), &tape.model, &header.model_hash)?;
    Ok(SimRig::like(Arc::new(scene), &header.rig, cameras)?)
}

/// Puts a rig into a frame of its tape.
pub(crate) fn go_to(rig: &mut SimRig, tape: &Episode, frame: usize) -> anyhow::Result<()> {
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
