//! What every episode of a run is made from.

use std::collections::{BTreeMap, BTreeSet};

use citrange_core::{Outcome, Pilot, RigSpec};
use citrange_tape::{Dataset, RunName, StateFeatures, TapeHeader, Unit};
use serde_json::{Value, json};

use super::journal::first_of;
use crate::cell::{EpisodeRig, RigSource};
use crate::context::RunContext;
use crate::error::{Result, bad_input};
use crate::job_hint::no_job;
use crate::linked::LinkChoice;
use crate::linked::cell::{LinkedCell, bring};
use crate::pilots::{PilotOptions, PilotPlan};
use crate::recording::{Origin, RecordOptions};
use crate::session::{Choice, header};
use crate::simulated::{SimulatedCell, ranges};

/// What a collection can be told.
#[derive(Clone, Debug, Default)]
pub struct CollectOptions {
    /// What is recorded.
    pub record: RecordOptions,
    /// Who moves the arm.
    pub pilot: PilotOptions,
    /// Ranges that every episode's looks, masses and frictions are drawn from: a file, or
    /// `default`.
    pub randomise: Option<String>,
    /// Longest episode.
    pub seconds: Option<f64>,
    /// Times real time, one episode at a time; `None`: as fast as it goes.
    pub speed: Option<f64>,
}

/// Everything but the index: all that decides an episode's files.
#[derive(Debug)]
pub struct Plan {
    cell: Box<dyn RigSource>,
    origin: Option<Origin>,
    pilot: PilotPlan,
    task: Option<String>,
    pub(crate) seed: u64,
    pub(crate) unit: Unit,
    pub(crate) features: StateFeatures,
    pub(crate) images: BTreeSet<String>,
    pub(crate) max_frames: Option<u64>,
    pub(crate) speed: Option<f64>,
    /// It is no simulation: nothing is made up for.
    pub(crate) is_real: bool,
    /// Settings, as they are stored with every episode.
    config: Value,
    pub(crate) name: RunName,
}

/// What an earlier start of a run left in a dataset.
pub(crate) struct Found {
    /// Index of the run's first episode.
    pub(crate) first: u64,
    /// Outcomes of those that were saved, by index.
    pub(crate) saved: BTreeMap<u64, Outcome>,
}

impl Plan {
    /// Settles everything that does not depend on an episode's index.
    ///
    /// # Errors
    /// When there is no such scene, frame, range or pilot.
    pub fn new(scene: Option<&str>, options: &CollectOptions, ctx: RunContext<'_>) -> Result<Self> {
        let CollectOptions { record, pilot, randomise, seconds, speed } = options;
        let (seconds, speed) = (*seconds, *speed);
        let is_real = record.link.is_some();
        let (choice, seed) = (record.choice(), record.seed);
        let origin = record.from.as_deref().map(Origin::read).transpose()?;
        let ranges = randomise.as_deref().map(ranges).transpose()?;
        let cell: Box<dyn RigSource> = match (&origin, &record.link) {
            (_, Some(link)) => {
                check_link(link, options)?;
                Box::new(LinkedCell::connect(scene.unwrap_or_default(), link)?)
            }
            (Some(origin), None) => {
                origin.check_scene(scene, ctx)?;
                let cell = SimulatedCell::of_tape(&origin.tape, choice, seed)?;
                record.check_robots(cell.robots())?;
                Box::new(cell)
            }
            (None, None) => {
                let scene = scene.unwrap_or_default();
                Box::new(SimulatedCell::of_scene(scene, ranges.clone(), choice, seed)?)
            }
        };
        // What is real makes its own time.
        let speed = if record.link.is_some() { Some(1.0) } else { speed };
        let pilot = pilot.plan(cell.scene(), &cell.spec().objects)?;
        if !pilot.works() && origin.is_none() {
            ctx.say(&no_job(cell.scene(), &cell.spec().objects));
            ctx.say("without it the arm waves");
        }
        if pilot.works() && cell.spec().arms().len() > 1 {
            let (first, others) =
                (&cell.spec().robots_in_scene[0], &cell.spec().robots_in_scene[1..]);
            ctx.say(&format!("{first} works; {} hold still", others.join(", ")));
        }
        let mut config = json!({ "seconds": seconds, "speed": speed, "pilot": pilot });
        if let Some(ranges) = &ranges {
            config["randomise"] = serde_json::to_value(ranges)?;
        }
        if record.features.ee {
            record.check_features(cell.rig(0)?.as_ref())?;
        }
        let (unit, images, features) = (record.unit, record.images.clone(), record.features);
        let spec = cell.spec();
        let mut name = cell.identity();
        for (key, value) in [
            ("tool_version", json!(env!("CARGO_PKG_VERSION"))),
            ("rig", json!(spec)),
            ("task", json!(record.task)),
            ("unit", json!(unit)),
            ("images", json!(images)),
            ("config", config.clone()),
            ("parent", json!(origin.as_ref().map(Origin::parent))),
        ] {
            name[key] = value;
        }
        // Runs of positions only have the names they always had.
        if !features.is_plain() {
            name["features"] = serde_json::to_value(features)?;
        }
        let max_frames =
            seconds.map(|s| (s * f64::from(spec.rates.frame_hz)).ceil().max(1.0) as u64);
        Ok(Self {
            cell,
            origin,
            pilot,
            task: record.task.clone(),
            seed,
            unit,
            features,
            images,
            max_frames,
            speed,
            is_real,
            config,
            name: RunName::new(seed, &name),
        })
    }

    /// Joints, rates, cameras: the same for all episodes.
    #[must_use]
    pub fn spec(&self) -> &RigSpec {
        self.cell.spec()
    }

    /// Whether every episode has a scene of its own.
    pub(crate) fn is_randomised(&self) -> bool {
        self.cell.is_new_for_every_episode()
    }

    /// A rig for an episode; without randomisation it serves for all of them.
    pub(crate) fn rig(&self, episode: u64) -> Result<Box<dyn EpisodeRig>> {
        let mut rig = self.cell.rig(episode)?;
        // Only a loop that keeps time may leave pictures out rather than wait.
        rig.leave_pictures_out(self.speed.is_some());
        Ok(rig)
    }

    /// Brings a real arm to where its episodes begin.
    pub(crate) fn bring(&self, rig: &mut dyn EpisodeRig, ctx: RunContext<'_>) -> Result<()> {
        if !rig.is_real() {
            return Ok(());
        }
        let home = rig.arm()?.home;
        bring(rig, &home, ctx)
    }

    /// Puts everything to where the episode begins.
    pub(crate) fn set(&self, rig: &mut dyn EpisodeRig, episode: u64) -> Result<()> {
        match &self.origin {
            Some(origin) => origin.set(rig),
            None => rig.reset(self.seed, episode),
        }
    }

    /// The pilot for a rig that was set to where an episode begins.
    pub(crate) fn pilot(
        &self,
        rig: &mut dyn EpisodeRig,
        episode: u64,
    ) -> Result<Box<dyn Pilot + Send>> {
        let from = self.origin.as_ref().and_then(|o| o.tape.snapshot(o.frame));
        self.pilot.pilot(rig, (self.seed, episode), from.as_ref().map(|snapshot| &snapshot.fields))
    }

    /// What is recorded. It does not say with which index the run began: parts of a run that
    /// were made apart are the same, byte for byte.
    pub(crate) fn choice<'a>(&'a self, pilot: &'a str, episode: u64) -> Choice<'a> {
        Choice {
            task: self.task.as_deref(),
            pilot,
            seed: self.seed,
            episode,
            unit: self.unit,
            images: &self.images,
            parent: self.origin.as_ref().map(Origin::parent),
            config: self.config.clone(),
        }
    }

    /// The header and the model of an episode that is the same whenever it is made.
    pub(crate) fn header(
        &self,
        rig: &dyn EpisodeRig,
        pilot: &str,
        episode: u64,
    ) -> Result<(TapeHeader, Vec<u8>)> {
        let (mut header, model) = header(rig, self.choice(pilot, episode))?;
        header.features = self.features;
        Ok((header.repeatable_as(self.name.uid(episode)), model))
    }

    /// What there is of this run; `None` when nothing is.
    pub(crate) fn found(&self, dataset: &Dataset) -> Option<Found> {
        let mut saved = BTreeMap::new();
        let mut last = None;
        for (number, entry) in dataset.index.episodes.iter().enumerate() {
            let Some(entry) = entry else { continue };
            if let Some(episode) = self.name.episode_of(&entry.uid) {
                saved.insert(episode, entry.outcome.clone());
                last = Some(number);
            }
        }
        let (number, (lowest, _)) = (last?, saved.first_key_value()?);
        let said = first_of(dataset.root(), &self.name).or_else(|| {
            // Tapes of older versions say it; one that was damaged since says nothing.
            let tape = dataset.tape(number).ok().flatten();
            tape.and_then(|(tape, _)| tape.header.config["first"].as_u64())
        });
        let first = said.unwrap_or(*lowest).min(*lowest);
        Some(Found { first, saved })
    }
}

/// Refuses what a real arm cannot do.
fn check_link(link: &LinkChoice, options: &CollectOptions) -> Result<()> {
    let CollectOptions { record, randomise, speed, .. } = options;
    if record.from.is_some() {
        bad_input!("{}: episodes do not go on from a frame on a real arm", link.address);
    }
    if randomise.is_some() {
        bad_input!("{}: what is real is not drawn anew: leave --randomise out", link.address);
    }
    if speed.is_some_and(|speed| speed != 1.0) {
        bad_input!("{}: a real arm makes its own time: leave --speed out", link.address);
    }
    Ok(())
}
