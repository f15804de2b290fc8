//! Training, iteration by iteration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_lanes::{Isa, LANES};
use rayon::prelude::*;
use serde::Serialize;

use super::actor_critic::ActorCritic;
use super::actors::Actors;
use super::settings::TrainSettings;
use super::update::{self, Tally, Workspace};
use crate::env::{ReachArm, ReachSettings, Rung};
use crate::error::PolicyError;
use crate::evaluate::{AttemptEnd, EpisodeSet, Roller, Tries};
use crate::file::{BEST, PolicyFile, Record};
use crate::network::Adam;

/// A policy whose success falls by more than this below the best has collapsed.
const COLLAPSE: f64 = 0.25;

/// Seed of the episodes that decide which policy is best; evaluations use others.
const VALIDATION_SEED: u64 = 0x5eed_0001;

/// A training: its folder holds the checkpoint, the best policy and the curve.
#[derive(Debug)]
pub struct Trainer {
    pub(super) arm: Arc<ReachArm>,
    pub(super) reach: Arc<ReachSettings>,
    pub(super) train: TrainSettings,
    pub(super) rung: Option<Rung>,
    pub(super) folder: PathBuf,
    pub(super) net: ActorCritic,
    pub(super) adam: Adam,
    pub(super) actors: Vec<Actors>,
    pub(super) shuffle: Rng,
    pub(super) iteration: u64,
    pub(super) best: Option<Record>,
    pub(super) curve: Vec<Progress>,
    pub(super) smooth_success: f64,
    /// Processor seconds of the sessions before, and at the beginning of this one.
    pub(super) cpu_s: [f64; 2],
    workspace: Workspace,
    validation: Option<EpisodeSet>,
    pool: rayon::ThreadPool,
    isa: Isa,
}

/// How far a training is.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
pub struct Progress {
    /// Iterations that are done.
    pub iteration: u64,
    /// Steps of all environments together.
    pub steps: u64,
    /// Processor time of the training, in seconds, evaluations in it.
    pub cpu_s: f64,
    /// Share of the training's attempts that reached, of late.
    pub training_success: f64,
    /// Share of the evaluation's, where one was just made.
    pub success: Option<f64>,
    /// Share of them that collided.
    pub collided: Option<f64>,
    /// Mean divergence of the policy from the one before, in the last iteration.
    pub divergence: f64,
    /// Share of samples that were clipped.
    pub clipped: f64,
    /// Mean squared error of the value.
    pub value_loss: f64,
    /// Mean deviation of actions.
    pub sigma: f64,
}

impl Trainer {
    /// Begins a training in a folder, which is made. `threads`: 0 for all cores.
    ///
    /// # Errors
    /// When settings make no sense, or the folder holds a training already.
    pub fn begin(
        folder: &Path,
        arm: Arc<ReachArm>,
        (reach, train, rung): (ReachSettings, TrainSettings, Option<Rung>),
        threads: usize,
    ) -> Result<Self, PolicyError> {
        reach.check()?;
        train.check()?;
        if folder.join(super::checkpoint::NAME).exists() {
            let reason = "there is a training already: go on with --resume, or name another folder";
            return Err(PolicyError::bad(folder.display().to_string(), reason));
        }
        std::fs::create_dir_all(folder).map_err(PolicyError::file(folder))?;
        Self::fresh(folder, arm, (reach, train, rung), threads)
    }

    /// As it is before the first iteration.
    pub(super) fn fresh(
        folder: &Path,
        arm: Arc<ReachArm>,
        (reach, train, rung): (ReachSettings, TrainSettings, Option<Rung>),
        threads: usize,
    ) -> Result<Self, PolicyError> {
        let isa = Isa::best();
        let reach = Arc::new(reach);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| PolicyError::Training(format!("no threads to train with: {e}")))?;
        let blocks = train.environments / LANES;
        let seed = train.seed;
        let first = Actors::new(&arm, &reach, seed, 0, isa);
        let inputs = first.copies.inputs();
        let mut actors = vec![first];
        actors
            .extend((1..blocks as u64).map(|number| Actors::new(&arm, &reach, seed, number, isa)));
        let net = ActorCritic::fresh(inputs, arm.controlled().len(), &train);
        let workspace = Workspace::new(&net, train.minibatch);
        Ok(Self {
            adam: net.optimiser(),
            shuffle: Rng::for_episode(seed, 0, "shuffle"),
            workspace,
            arm,
            reach,
            train,
            rung,
            folder: folder.to_owned(),
            net,
            actors,
            iteration: 0,
            best: None,
            curve: Vec::new(),
            smooth_success: 0.0,
            cpu_s: [0.0, cpu_s()],
            validation: None,
            pool,
            isa,
        })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How it is trained.
    #[must_use]
    pub fn settings(&self) -> &TrainSettings {
        &self.train
    }

    /// The robot that learns.
    #[must_use]
    pub fn robot(&self) -> &str {
        &self.arm.robot().chain().robot
    }

    /// Whether all steps are done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.iteration >= self.train.iterations()
    }

    /// What was best, if anything was evaluated.
    #[must_use]
    pub fn best(&self) -> Option<&Record> {
        self.best.as_ref()
    }

    /// All evaluations so far.
    #[must_use]
    pub fn curve(&self) -> &[Progress] {
        &self.curve
    }

    /// One iteration: experience, then steps of the optimiser; an evaluation where one is due.
    ///
    /// # Errors
    /// When the weights are no numbers any more or the policy has collapsed; what was good before
    /// stays on disk.
    pub fn iterate(&mut self) -> Result<Progress, PolicyError> {
        let tally = self.learn();
        if !self.net.is_finite() {
            return Err(PolicyError::Training(format!(
                "the weights are no numbers any more after {} steps (a smaller learning_rate may \
                 help); {} and the checkpoint before are kept",
                self.steps(),
                self.folder.join(BEST).display()
            )));
        }
        let mut progress = self.progress(&tally);
        if self.iteration % self.train.evaluate_every == 0 || self.is_done() {
            let [success, collided] = self.evaluate()?;
            progress.success = Some(success);
            progress.collided = Some(collided);
            progress.cpu_s = self.spent_s();
            let best = self.best.as_ref().map_or(0.0, |best| best.success);
            self.curve.push(progress.clone());
            if success > best || self.best.is_none() {
                self.keep_best(success)?;
            } else if success < best - COLLAPSE {
                return Err(PolicyError::Training(format!(
                    "the policy has collapsed: {:.1} % of episodes after {} steps, {:.1} % before; \
                     {} is kept, another seed or a smaller learning_rate may help",
                    100.0 * success,
                    self.steps(),
                    100.0 * best,
                    self.folder.join(BEST).display()
                )));
            }
        }
        Ok(progress)
    }

    /// Steps that are done.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.iteration * self.train.iteration_steps()
    }

    /// Processor time of this training so far, all of its sessions.
    #[must_use]
    pub fn spent_s(&self) -> f64 {
        self.cpu_s[0] + cpu_s() - self.cpu_s[1]
    }

    fn learn(&mut self) -> Tally {
        let Self { net, adam, actors, train, workspace, shuffle, isa, pool, .. } = self;
        let isa = *isa;
        let done = self.iteration as f64 / train.iterations().max(1) as f64;
        let rate = train.learning_rate * (1.0 - (1.0 - train.final_rate) * done);
        let mut samples: Vec<u32> =
            (0..(train.environments * train.rollout_steps) as u32).collect();
        let tally = pool.install(|| {
            let shared = &*net;
            actors.par_iter_mut().for_each(|actors| actors.gather(shared, train, isa));
            let mut last = Tally::default();
            for _ in 0..train.epochs {
                for at in (1..samples.len()).rev() {
                    samples.swap(at, shuffle.below(at + 1));
                }
                for batch in samples.chunks(train.minibatch) {
                    let done =
                        update::step(net, adam, actors, batch, workspace, train, (rate, isa));
                    last = done.0;
                }
            }
            last
        });
        let ended: u32 = actors.iter().map(|a| a.gathered.ended).sum();
        let reached: u32 = actors.iter().map(|a| a.gathered.reached).sum();
        if ended > 0 {
            let now = f64::from(reached) / f64::from(ended);
            let keep = if self.iteration == 0 { 0.0 } else { 0.9 };
            self.smooth_success = keep * self.smooth_success + (1.0 - keep) * now;
        }
        self.iteration += 1;
        tally
    }

    fn progress(&self, tally: &Tally) -> Progress {
        let samples = tally.samples.max(1.0);
        let sigma = self.net.log_sigma.iter().map(|log| f64::from(log.exp())).sum::<f64>();
        Progress {
            iteration: self.iteration,
            steps: self.steps(),
            cpu_s: self.spent_s(),
            training_success: self.smooth_success,
            success: None,
            collided: None,
            divergence: tally.divergence / samples,
            clipped: tally.clipped / samples,
            value_loss: tally.value_loss / samples,
            sigma: sigma / self.net.log_sigma.len().max(1) as f64,
        }
    }

    /// Shares of validation episodes that are reached and that end in a collision.
    fn evaluate(&mut self) -> Result<[f64; 2], PolicyError> {
        if self.validation.is_none() {
            let world = self.rung.map_or(self.reach.world.clone(), Rung::evaluation);
            let reach = Arc::new(ReachSettings { world, ..(*self.reach).clone() });
            let count = self.train.evaluation_episodes;
            let purpose = (VALIDATION_SEED, "validation");
            let draw = || EpisodeSet::draw(&self.arm, &reach, purpose, count);
            self.validation = Some(self.pool.install(draw)?);
        }
        let Some(set) = &self.validation else { return Ok([0.0; 2]) };
        let roller = Roller::new(&self.arm, &self.reach);
        let attempts = self.pool.install(|| roller.roll(&self.net.policy, set, Tries::MEAN));
        let share = |is: &dyn Fn(AttemptEnd) -> bool| {
            attempts.iter().filter(|a| is(a.end)).count() as f64 / attempts.len().max(1) as f64
        };
        let reached = share(&|end| end == AttemptEnd::Reached);
        Ok([reached, 1.0 - reached - share(&|end| end == AttemptEnd::Late)])
    }

    fn keep_best(&mut self, success: f64) -> Result<(), PolicyError> {
        let record = Record {
            steps: self.steps(),
            cpu_s: self.spent_s(),
            success,
            episodes: self.train.evaluation_episodes,
        };
        self.policy(record.clone()).save(&self.folder.join(BEST))?;
        self.best = Some(record);
        Ok(())
    }

    /// The policy as it is now.
    #[must_use]
    pub fn policy(&self, record: Record) -> PolicyFile {
        let learned = (self.net.policy.clone(), self.net.log_sigma.clone());
        PolicyFile::new(&self.arm, &self.reach, &self.train, self.rung, learned, record)
    }

    /// All weights, for comparisons.
    #[must_use]
    pub fn weights(&self) -> Vec<f32> {
        self.net.parameters().flatten().copied().collect()
    }
}

/// Processor time of this process, in seconds.
pub(crate) fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
