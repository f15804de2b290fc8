//! A real arm to collect with: one rig for all episodes, and what it needs before each.

use std::sync::{Arc, Mutex, PoisonError};

use citrange_core::run::run as run_episode;
use citrange_core::tape::NoTape;
use citrange_core::{Pace, Rig as _, RigSpec, RunSettings, Scene};
use serde_json::{Value, json};

use super::{Approach, LinkChoice, LinkedRig, linked};
use crate::cell::{EpisodeRig, RigSource};
use crate::context::RunContext;
use crate::error::{EpisodesError, Result, bad_input};
use crate::simulated::compiled;

/// The arm that a collection is made with.
#[derive(Debug)]
pub(crate) struct LinkedCell {
    spec: RigSpec,
    scene: Scene,
    choice: LinkChoice,
    /// Until it is asked for.
    rig: Mutex<Option<LinkedRig>>,
}

impl LinkedCell {
    /// Connects to an arm that stands in a scene.
    pub(crate) fn connect(scene: &str, choice: &LinkChoice) -> Result<Self> {
        if choice.things.is_none() {
            bad_input!(
                "{}: nobody says where things are, and the autopilot does not see: --things SOCKET \
                 of a stand-in (citrange rig emulate so101 --socket SOCKET)",
                choice.address
            );
        }
        let rig = linked(Arc::clone(&compiled(scene)?), choice)?;
        let (spec, scene) = (rig.spec().clone(), EpisodeRig::scene(&rig).clone());
        Ok(Self { spec, scene, choice: choice.clone(), rig: Mutex::new(Some(rig)) })
    }
}

impl RigSource for LinkedCell {
    fn spec(&self) -> &RigSpec {
        &self.spec
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn identity(&self) -> Value {
        json!({ "rig": self.choice.address.to_string(), "scene": self.scene })
    }

    fn is_new_for_every_episode(&self) -> bool {
        false
    }

    fn rig(&self, _episode: u64) -> Result<Box<dyn EpisodeRig>> {
        let mut own = self.rig.lock().unwrap_or_else(PoisonError::into_inner);
        match own.take() {
            Some(rig) => Ok(Box::new(rig)),
            None => bad_input!("{} makes one episode at a time", self.choice.address),
        }
    }
}

/// Brings a real arm somewhere, slowly.
///
/// # Errors
/// When it was stopped on the way, or does not come there.
pub(crate) fn bring(rig: &mut dyn EpisodeRig, joints: &[f64], ctx: RunContext<'_>) -> Result<()> {
    let settings =
        RunSettings { pace: Pace::REAL_TIME, stop: Some(ctx.stop), ..RunSettings::default() };
    let pilot = Approach::to(joints, rig.spec());
    let came = run_episode(pilot, &mut *rig, NoTape, &settings)?;
    if ctx.stopped() {
        return Err(EpisodesError::Interrupted);
    }
    check_goes_on(rig)?;
    if came.outcome.success != Some(true) {
        let why = came.outcome.reason;
        return Err(EpisodesError::Failed(format!("the arm was not brought there: {why}")));
    }
    Ok(())
}

/// Brings a real arm to where it rests, where that was said; its torque goes afterwards.
///
/// # Errors
/// When it was stopped on the way, or does not come there.
pub(crate) fn park(rig: &mut dyn EpisodeRig, ctx: RunContext<'_>) -> Result<()> {
    let Some(joints) = rig.rest().filter(|_| !ctx.stopped()) else { return Ok(()) };
    ctx.say("bringing the arm to where it rests");
    bring(rig, &joints, ctx)
}

/// Refuses to go on with a real arm that was stopped: a person looks first.
pub(crate) fn check_goes_on(rig: &dyn EpisodeRig) -> Result<()> {
    let stopped = rig.troubles().into_iter().find(|why| why.starts_with("the arm stopped"));
    match stopped.filter(|_| rig.is_real()) {
        Some(why) => Err(citrange_link::LinkError::NotReady { why }.into()),
        None => Ok(()),
    }
}
