//! Who moves the arm when no person does: the autopilot where the scene has work for it, else a
//! wave that shows that everything moves.

use std::collections::BTreeMap;

use citrange_core::one_arm::OneArm;
use citrange_core::scene::{Job, Scene};
use citrange_core::script::{Move, Script};
use citrange_core::{ObjectSpec, Pilot};
use citrange_task::{Autopilot, AutopilotSettings, PoseNoise, Setup};
use serde::Serialize;

use crate::cell::EpisodeRig;
use crate::error::{EpisodesError, Result, bad_input};
use crate::job_hint::no_job;

/// What an autopilot can be told.
#[derive(Clone, Debug, Default)]
pub struct PilotOptions {
    /// Numbers of the autopilot: a profile (default, panda, seed) or a YAML file; by default what
    /// the scene says.
    pub autopilot: Option<String>,
    /// How often a thing that failed is tried again.
    pub retries: Option<u32>,
    /// Things to fetch, by number from 1 or by name; all when empty.
    pub targets: Vec<String>,
    /// Standard deviation of the errors with which the autopilot sees where things are,
    /// millimetres.
    pub pose_noise_mm: Option<f64>,
}

/// What the pilots of a run have in common; stored with every episode.
#[derive(Clone, Debug, Serialize)]
pub struct PilotPlan {
    job: Option<Job>,
    settings: Option<AutopilotSettings>,
    /// Runs without noise have the names they always had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pose_noise_mm: Option<f64>,
}

/// Checks the noise on places that was asked for.
pub(crate) fn check_noise(pose_noise_mm: Option<f64>) -> Result<Option<f64>> {
    match pose_noise_mm {
        Some(mm) if !(mm >= 0.0 && mm.is_finite()) => {
            bad_input!("--pose-noise-mm {mm}: must be a number, 0 or above")
        }
        // None at all is the same as no noise.
        mm => Ok(mm.filter(|mm| *mm > 0.0)),
    }
}

/// Noise for an episode.
pub(crate) fn noise(pose_noise_mm: Option<f64>, seed: u64, episode: u64) -> Option<PoseNoise> {
    pose_noise_mm.map(|mm| PoseNoise { sigma_m: mm / 1000.0, seed, episode })
}

impl PilotOptions {
    /// What to do in a scene with these objects.
    ///
    /// # Errors
    /// When the scene has no job for an autopilot that was asked for, or the options make no sense.
    pub fn plan(&self, scene: &Scene, objects: &[ObjectSpec]) -> Result<PilotPlan> {
        let Some(job) = &scene.job else {
            let is_told = self.autopilot.is_some()
                || self.retries.is_some()
                || !self.targets.is_empty()
                || self.pose_noise_mm.is_some();
            if is_told {
                bad_input!("{}", no_job(scene, objects));
            }
            return Ok(PilotPlan { job: None, settings: None, pose_noise_mm: None });
        };
        let mut job = job.clone();
        if !self.targets.is_empty() {
            job.targets =
                self.targets.iter().map(|name| target(&job, name)).collect::<Result<_, _>>()?;
        }
        let profile = self.autopilot.as_deref().or(job.profile.as_deref()).unwrap_or("default");
        let mut settings = AutopilotSettings::load(profile)?;
        settings.retries = self.retries.unwrap_or(settings.retries);
        let pose_noise_mm = check_noise(self.pose_noise_mm)?;
        Ok(PilotPlan { job: Some(job), settings: Some(settings), pose_noise_mm })
    }
}

/// A target by its number or name.
fn target(job: &Job, name: &str) -> Result<String> {
    let by_number = name.parse::<usize>().ok().and_then(|n| job.targets.get(n.checked_sub(1)?));
    let found = by_number.or_else(|| job.targets.iter().find(|known| *known == name));
    found.cloned().ok_or_else(|| {
        let known = job.targets.iter().map(String::as_str);
        let hint = citrange_core::names::suggestion(name, known);
        EpisodesError::BadInput(format!("there is no target \"{name}\", {hint}"))
    })
}

impl PilotPlan {
    /// The pilot for an episode of a run, from the state the rig is in. `memory` is that of a
    /// frame to go on from.
    ///
    /// # Errors
    /// When the robot cannot do it.
    pub fn pilot(
        &self,
        rig: &mut dyn EpisodeRig,
        (seed, episode): (u64, u64),
        memory: Option<&BTreeMap<String, Vec<f64>>>,
    ) -> Result<Box<dyn Pilot>> {
        let (Some(job), Some(settings)) = (&self.job, &self.settings) else {
            return Ok(Box::new(wave(rig)));
        };
        let noise = noise(self.pose_noise_mm, seed, episode);
        let mut pilot = first_arm(rig, autopilot(rig, job, settings)?.with_noise(noise));
        if let Some(memory) = memory {
            // A frame that somebody else flew begins the work anew.
            let _of_another_pilot = pilot.load(memory);
        }
        Ok(pilot)
    }

    /// Whether there is work for an autopilot.
    pub(crate) fn works(&self) -> bool {
        self.job.is_some()
    }
}

/// A pilot of the first arm; the others hold still.
fn first_arm(rig: &dyn EpisodeRig, pilot: Autopilot) -> Box<dyn Pilot> {
    match rig.spec().arms().as_slice() {
        [first, _, ..] => Box::new(OneArm::new(pilot, first.joints.clone())),
        _ => Box::new(pilot),
    }
}

/// An autopilot for a rig's robot.
pub(crate) fn autopilot(
    rig: &dyn EpisodeRig,
    job: &Job,
    settings: &AutopilotSettings,
) -> Result<Autopilot> {
    let arm = rig.arm()?;
    // What has no solid shape is not gone around.
    let fixtures = rig.fixtures().unwrap_or_default();
    Ok(Autopilot::new(Setup {
        fixtures: &fixtures,
        chain: &arm.chain,
        shapes: &arm.shapes,
        home: &arm.home,
        floor_z_m: arm.floor_z_m,
        spec: rig.spec(),
        job,
        settings: settings.clone(),
    })?)
}

/// Every joint a little to and fro.
fn wave(rig: &mut dyn EpisodeRig) -> Script {
    let start = rig.targets();
    let ticks = (0.8 * f64::from(rig.spec().rates.control_hz)).round() as u64;
    let moves = [1.0, -1.0, 0.0].map(|sign| {
        let joints = rig.spec().joints.iter().zip(&start).map(|(joint, from)| {
            let reach = if joint.is_slide { 0.005 } else { 0.2 };
            let [low, high] = joint.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            (from + sign * reach).clamp(low, high)
        });
        Move { joints: joints.collect(), ticks, phase: "wave" }
    });
    Script::new(moves.to_vec())
}
