//! All figures of an evaluation.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use super::attempts::{Attempt, AttemptEnd, Roller, Tries};
use super::episodes::{Episode, EpisodeSet};
use super::proof::{Prover, touching_postures};
use crate::env::{Aabb, Disturbance, Family, ReachArm, ReachSettings, Rung};
use crate::error::PolicyError;
use crate::file::PolicyFile;
use crate::ppo::cpu_s;

/// What is to be evaluated.
#[derive(Clone, Debug)]
pub struct EvaluateSettings {
    /// Rungs, one after the other; that of the training where there is none.
    pub rungs: Vec<Rung>,
    /// Episodes of each.
    pub episodes: usize,
    /// Which episodes.
    pub seed: u64,
    /// Most attempts at an episode: the mean action first, then with noise.
    pub attempts: usize,
    /// What is not as it should be.
    pub disturbance: Disturbance,
    /// How many threads; 0 for all cores.
    pub threads: usize,
}

impl Default for EvaluateSettings {
    fn default() -> Self {
        Self {
            rungs: Vec::new(),
            episodes: 2000,
            seed: 1,
            attempts: 16,
            disturbance: Disturbance::default(),
            threads: 0,
        }
    }
}

/// A share of many, and where it truly is with 95 % (Wilson, 1927).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// How many.
    pub count: usize,
    /// Of how many.
    pub of: usize,
    /// The share.
    pub share: f64,
    /// From where to where.
    pub interval: [f64; 2],
}

impl Share {
    /// So many of so many.
    #[must_use]
    pub fn new(count: usize, of: usize) -> Self {
        const Z: f64 = 1.959_964;
        let (k, n) = (count as f64, (of as f64).max(1.0));
        let share = k / n;
        let middle = share + Z * Z / (2.0 * n);
        let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        let of_all = 1.0 + Z * Z / n;
        let interval = [((middle - half) / of_all).max(0.0), ((middle + half) / of_all).min(1.0)];
        Self { count, of, share, interval }
    }

    /// As percents.
    #[must_use]
    pub fn text(&self) -> String {
        let [low, high] = self.interval;
        format!("{:.2} % ({:.2} to {:.2})", 100.0 * self.share, 100.0 * low, 100.0 * high)
    }
}

/// Mean, and what a half and 95 of 100 are below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The middle one.
    pub median: f64,
    /// 95 of 100 are below.
    pub p95: f64,
}

impl Spread {
    /// Of numbers.
    #[must_use]
    pub fn of(mut numbers: Vec<f64>) -> Self {
        numbers.sort_by(f64::total_cmp);
        let Some(last) = numbers.len().checked_sub(1) else { return Self::default() };
        let at = |share: f64| numbers[(share * last as f64).round() as usize];
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        Self { mean, median: at(0.5), p95: at(0.95) }
    }
}

/// How single attempts ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// At the goal.
    pub reached: usize,
    /// Touched a box.
    pub boxes: usize,
    /// Touched the floor.
    pub floor: usize,
    /// Touched itself.
    pub itself: usize,
    /// Too slow.
    pub late: usize,
}

/// A family of worlds.
#[derive(Clone, Debug, Serialize)]
pub struct FamilyFigures {
    /// Which.
    pub family: &'static str,
    /// Single attempts that reached.
    pub success: Share,
}

/// Attempts until one reaches.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BestOf {
    /// How many attempts at most.
    pub attempts: usize,
    /// Episodes in which one of them reached.
    pub success: Share,
}

/// What was found on a rung.
#[derive(Clone, Debug, Serialize)]
pub struct RungFigures {
    /// Which.
    pub rung: Rung,
    /// Single attempts by the mean action that reached.
    pub success: Share,
    /// How they ended.
    pub ended: Ended,
    /// By family of worlds.
    pub families: Vec<FamilyFigures>,
    /// With more attempts.
    pub best_of: Vec<BestOf>,
    /// Steps of those that reached.
    pub steps: Spread,
    /// Their way in joint space, rad.
    pub length_rad: Spread,
    /// The tool's way, m.
    pub tool_m: Spread,
    /// Their least clearance, m.
    pub clearance_m: Spread,
    /// Processor time of one attempt in a batch of sixteen, µs.
    pub attempt_us: f64,
    /// What the planner did on the same episodes; none where things move.
    pub planner: Option<PlannerFigures>,
    /// What the proof said; none where things move.
    pub proof: Option<ProofFigures>,
}

/// The planner beside it, from posture to posture.
#[derive(Clone, Debug, Serialize)]
pub struct PlannerFigures {
    /// Episodes with a way; all of them, as others were drawn anew.
    pub solved: Share,
    /// Draws in which it found none.
    pub refused: u64,
    /// Episodes in which the straight line in joint space was free.
    pub straight: Share,
    /// Its way in joint space, rad.
    pub length_rad: Spread,
    /// Time of the search and the shortening, µs, wall.
    pub time_us: Spread,
    /// The policy's way over the planner's, where the policy reached: the middle one.
    pub ratio: f64,
}

/// Attempts that reached, looked at by the planner's proof and by a second checker.
#[derive(Clone, Debug, Serialize)]
pub struct ProofFigures {
    /// Single attempts that reached and were proved free.
    pub single: Share,
    /// Episodes in which one of all attempts reached and was proved.
    pub best: Share,
    /// Attempts that reached and were refused by the proof.
    pub refused: usize,
    /// Motions that were proved, and looked at by the second checker.
    pub checked: usize,
    /// Those of them that it found to touch something: must be 0.
    pub touching: usize,
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Version of this description.
    pub format: u32,
    /// The policy.
    pub policy: String,
    /// Its robot.
    pub robot: String,
    /// The worlds that it was trained in.
    pub trained_on: Option<Rung>,
    /// Steps and processor time of its training.
    pub training: crate::file::Record,
    /// Seed of the training.
    pub training_seed: u64,
    /// Which episodes.
    pub seed: u64,
    /// What was not as it should be.
    pub disturbance: Disturbance,
    /// Rung by rung.
    pub rungs: Vec<RungFigures>,
    /// Processor time of the evaluation, s.
    pub cpu_s: f64,
}

/// Evaluates a policy. `say` is told what is being done.
///
/// # Errors
/// When the policy's robot is not as it was, or settings make no sense.
pub fn evaluate(
    path: &Path,
    settings: &EvaluateSettings,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Figures, PolicyError> {
    let file = PolicyFile::load(path)?;
    let arm = Arc::new(file.arm()?);
    if settings.episodes == 0 || settings.attempts == 0 {
        return Err(PolicyError::bad("episodes and attempts", "they must be above 0"));
    }
    let mut rungs = settings.rungs.clone();
    if rungs.is_empty() {
        rungs.push(file.about.rung.unwrap_or(Rung::A));
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.threads)
        .build()
        .map_err(|e| PolicyError::bad("threads", e.to_string()))?;
    let began = cpu_s();
    let mut found = Vec::new();
    for rung in rungs {
        say(&format!("rung {}: {} episodes", rung.name(), settings.episodes));
        found.push(pool.install(|| on_rung(&file, &arm, rung, settings))?);
    }
    Ok(Figures {
        format: 1,
        policy: path.display().to_string(),
        robot: file.about.robot.clone(),
        trained_on: file.about.rung,
        training: file.about.record.clone(),
        training_seed: file.about.train.seed,
        seed: settings.seed,
        disturbance: settings.disturbance.clone(),
        rungs: found,
        cpu_s: cpu_s() - began,
    })
}

/// Seeds of evaluations and of trainings are apart: this purpose is never trained in.
const PURPOSE: &str = "evaluation";

fn on_rung(
    file: &PolicyFile,
    arm: &Arc<ReachArm>,
    rung: Rung,
    settings: &EvaluateSettings,
) -> Result<RungFigures, PolicyError> {
    let reach = Arc::new(ReachSettings {
        world: rung.evaluation(),
        disturbance: settings.disturbance.clone(),
        ..file.about.reach.clone()
    });
    let set = EpisodeSet::draw(arm, &reach, (settings.seed, PURPOSE), settings.episodes)?;
    let roller = Roller::new(arm, &reach);
    let moves = reach.world.speed_m_s[1] > 0.0;
    let mut attempts: Vec<Vec<Attempt>> = Vec::new();
    let began = cpu_s();
    for number in 0..settings.attempts {
        let noise = (number > 0).then_some(file.about.log_sigma.as_slice());
        let tries = Tries {
            log_sigma: noise,
            seed: settings.seed ^ (number as u64) << 32,
            keep_paths: !moves,
        };
        attempts.push(roller.roll(&file.network, &set, tries));
    }
    let spent_s = cpu_s() - began;
    let attempt_us = 1e6 * spent_s / (settings.episodes * settings.attempts) as f64;
    let single = &attempts[0];
    let reached = |attempt: &Attempt| attempt.end == AttemptEnd::Reached;
    let total = set.episodes.len();
    let best_of = [1, 4, 16].into_iter().filter(|n| *n <= settings.attempts).map(|count| {
        let any = |at: usize| attempts[..count].iter().any(|all| reached(&all[at]));
        BestOf {
            attempts: count,
            success: Share::new((0..total).filter(|at| any(*at)).count(), total),
        }
    });
    let of = |number: &dyn Fn(&Attempt) -> f64| {
        Spread::of(single.iter().filter(|a| reached(a)).map(number).collect())
    };
    Ok(RungFigures {
        rung,
        success: Share::new(single.iter().filter(|a| reached(a)).count(), total),
        ended: ended(single),
        families: families(&set, single),
        best_of: best_of.collect(),
        steps: of(&|a| f64::from(a.steps)),
        length_rad: of(&|a| a.length_rad),
        tool_m: of(&|a| a.tool_m),
        clearance_m: of(&|a| a.clearance_m),
        attempt_us,
        planner: (!moves).then(|| planner(&set, single)),
        proof: if moves { None } else { Some(proof(arm, &set, &attempts)?) },
    })
}

fn ended(attempts: &[Attempt]) -> Ended {
    let count = |end: AttemptEnd| attempts.iter().filter(|a| a.end == end).count();
    Ended {
        reached: count(AttemptEnd::Reached),
        boxes: count(AttemptEnd::Box),
        floor: count(AttemptEnd::Floor),
        itself: count(AttemptEnd::Itself),
        late: count(AttemptEnd::Late),
    }
}

fn families(set: &EpisodeSet, single: &[Attempt]) -> Vec<FamilyFigures> {
    let of = |family: Family| {
        let own = set.episodes.iter().zip(single).filter(|(e, _)| e.family == family);
        let (count, all) = own.fold((0, 0), |(count, all), (_, attempt)| {
            (count + usize::from(attempt.end == AttemptEnd::Reached), all + 1)
        });
        (all > 0).then(|| FamilyFigures { family: family.name(), success: Share::new(count, all) })
    };
    Family::ALL.into_iter().filter_map(of).collect()
}

fn planner(set: &EpisodeSet, single: &[Attempt]) -> PlannerFigures {
    let total = set.episodes.len();
    let lengths = set.episodes.iter().filter_map(|e| e.planned_rad);
    let pairs = set.episodes.iter().zip(single);
    let ratios = pairs
        .filter(|(_, a)| a.end == AttemptEnd::Reached)
        .filter_map(|(e, a)| e.planned_rad.filter(|rad| *rad > 0.05).map(|rad| a.length_rad / rad));
    let count = |is: &dyn Fn(&Episode) -> bool| set.episodes.iter().filter(|e| is(e)).count();
    PlannerFigures {
        solved: Share::new(count(&|e| e.planned_rad.is_some()), total),
        refused: set.episodes.iter().map(|e| e.refused).sum(),
        straight: Share::new(count(&|e| e.is_straight), total),
        length_rad: Spread::of(lengths.collect()),
        time_us: Spread::of(set.episodes.iter().map(|e| 1e6 * e.planned_s).collect()),
        ratio: Spread::of(ratios.collect()).median,
    }
}

/// What the proof says of one episode's attempts: of the first, of any, refused, touching.
#[derive(Clone, Copy, Default)]
struct Proved {
    single: bool,
    any: bool,
    refused: usize,
    touching: bool,
}

fn proof(
    arm: &ReachArm,
    set: &EpisodeSet,
    attempts: &[Vec<Attempt>],
) -> Result<ProofFigures, PolicyError> {
    let prover = Prover::new(arm)?;
    let look = |prover: &mut Prover, (at, episode): (usize, &Episode)| {
        let mut proved = Proved::default();
        prover.set(episode)?;
        for (number, all) in attempts.iter().enumerate() {
            let attempt = &all[at];
            if attempt.end != AttemptEnd::Reached {
                continue;
            }
            if !prover.is_free(&attempt.path) {
                proved.refused += 1;
                continue;
            }
            proved.single |= number == 0;
            if !proved.any {
                let boxes: Vec<Aabb> = episode.boxes().iter().map(|(of, _)| *of).collect();
                proved.touching = touching_postures(arm, &boxes, &attempt.path)? > 0;
            }
            proved.any = true;
            // The first that is proved is taken.
            break;
        }
        Ok(proved)
    };
    let all: Result<Vec<Proved>, PolicyError> = set
        .episodes
        .par_iter()
        .enumerate()
        .map_init(|| prover.clone(), |prover, each| look(prover, each))
        .collect();
    let all = all?;
    let count = |is: &dyn Fn(&Proved) -> bool| all.iter().filter(|p| is(p)).count();
    Ok(ProofFigures {
        single: Share::new(count(&|p| p.single), all.len()),
        best: Share::new(count(&|p| p.any), all.len()),
        refused: all.iter().map(|p| p.refused).sum(),
        checked: count(&|p| p.any),
        touching: count(&|p| p.touching),
    })
}

impl Figures {
    /// In lines.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for rung in &self.rungs {
            let ended = &rung.ended;
            lines.push(format!(
                "rung {}: reached {} of {} episodes; touched a box {}, the floor {}, itself {}; \
                 too slow {}",
                rung.rung.name(),
                rung.success.text(),
                rung.success.of,
                ended.boxes,
                ended.floor,
                ended.itself,
                ended.late
            ));
            for best in rung.best_of.iter().skip(1) {
                lines.push(format!("  best of {}: {}", best.attempts, best.success.text()));
            }
            lines.push(format!(
                "  {:.1} steps, {:.2} rad, {:.2} m of the tool, {:.0} us of a processor each",
                rung.steps.mean, rung.length_rad.mean, rung.tool_m.mean, rung.attempt_us
            ));
            if rung.families.len() > 1 {
                for family in &rung.families {
                    lines.push(format!("  {}: {}", family.family, family.success.text()));
                }
            }
            if let Some(planner) = &rung.planner {
                lines.push(format!(
                    "  planner: {} solved in {:.0} us (median), {:.2} rad, {} straight; the \
                     policy's way is {:.2} times as long (median)",
                    planner.solved.text(),
                    planner.time_us.median,
                    planner.length_rad.mean,
                    planner.straight.text(),
                    planner.ratio
                ));
            }
            if let Some(proof) = &rung.proof {
                lines.push(format!(
                    "  proved before it is sent: {} at once, {} of all attempts; {} refused; {} of \
                     {} proved touch something for the second checker",
                    proof.single.text(),
                    proof.best.text(),
                    proof.refused,
                    proof.touching,
                    proof.checked
                ));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        let share = Share::new(99, 100);
        // From the formula, by hand.
        assert!((share.interval[0] - 0.94554).abs() < 1e-4, "{share:?}");
        assert!((share.interval[1] - 0.99823).abs() < 1e-4, "{share:?}");
        assert_eq!(Share::new(0, 10).interval[0], 0.0);
        assert!(Share::new(10, 10).interval[1] <= 1.0);
    }

    #[test]
    fn spreads_are_of_sorted_numbers() {
        let spread = Spread::of((0..101).rev().map(f64::from).collect());
        assert_eq!((spread.mean, spread.median, spread.p95), (50.0, 50.0, 95.0));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }
}
