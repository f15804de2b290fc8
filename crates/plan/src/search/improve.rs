//! A better path, given more checks: what was found is drawn tight, while further searches look
//! for other ways, only where shorter ones can be.
//!
//! Drawing tight finds the shortest path of its kind and never another kind; a search finds
//! other kinds and never a tight path. So both take turns, on a handful of candidates.

use std::time::Duration;

use citrange_core::rng::Rng;
use serde::Serialize;

use crate::config::Config;
use crate::motions::Motions;
use crate::search::counted::Counted;
use crate::search::informed::Informed;
use crate::search::path_length_rad;
use crate::search::planner::{Planner, SearchResult};
use crate::search::simplify::reduce;
use crate::search::tighten::Tightener;
use crate::search::tree::Tree;

/// Paths that are drawn tight at a time.
const CANDIDATES: usize = 4;
/// Checks that a path is drawn tight with before another has its turn.
const SLICE: u64 = 100;
/// Share of the budget that one search may use, and the least and the most checks of it.
const SEARCH_SHARE: u64 = 4;
const SEARCH_LEAST: u64 = 400;
const SEARCH_MOST: u64 = 20_000;
/// Share of the searches that go from end to end.
const WHOLE_SHARE: f64 = 0.3;
/// At its end the budget's last part is for drawing tight alone.
const LAST_SHARE: u64 = 8;
/// A new path that is longer than the best one by more than this is not looked at any further.
const FAR_LONGER: f64 = 1.3;
/// A path is tight where a turn shortens it by less than this fraction.
const TIGHT: f64 = 2e-3;
/// As near to the straight way as numbers tell.
const STRAIGHT: f64 = 1.0 + 1e-5;

/// How much may be spent on a better path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Collision checks, each of up to sixteen configurations. Together with the seed they decide
    /// the path: time and threads do not.
    pub checks: u64,
    /// Ends it earlier. The path is another one on every machine, and every time.
    pub time_limit: Option<Duration>,
}

/// What became of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Improved {
    /// Its length.
    pub length_rad: f64,
    /// Checks that were spent.
    pub checks: u64,
    /// Searches for other paths.
    pub searches: usize,
    /// Whether time ended it. Then the path is not the same every time.
    pub is_timed_out: bool,
}

/// A path on its way to be tight.
struct Candidate {
    path: Vec<Config>,
    length_rad: f64,
    /// What its last turn gained.
    gain_rad: f64,
    /// Which number it has: the earlier of equals is first.
    number: usize,
}

impl Default for Effort {
    /// About 2 ms.
    fn default() -> Self {
        Self { checks: Self::DEFAULT_CHECKS, time_limit: None }
    }
}

impl Effort {
    /// What about 2 ms are, on one core of a PC.
    pub const DEFAULT_CHECKS: u64 = 4000;

    /// The path as it was found.
    pub const NONE: Self = Self { checks: 0, time_limit: None };
}

impl Candidate {
    /// How long it may become in its next turn.
    fn promise_rad(&self) -> f64 {
        self.length_rad - 2.0 * self.gain_rad
    }

    fn is_tight(&self) -> bool {
        self.gain_rad < TIGHT * self.length_rad
    }
}

impl Planner {
    /// Makes a path whose edges are all free shorter; they stay so. It begins where it began and
    /// ends at one of the goals, which may be another one than before. What is found is remembered
    /// for [`Planner::replan`]. Never longer than before.
    pub fn improve<M: Motions>(
        &mut self,
        motions: &mut M,
        goals: &[Config],
        path: &mut Vec<Config>,
        effort: &Effort,
    ) -> Improved {
        let mut motions = Counted::new(motions);
        let mut improving = Improving::new(self, goals, path.clone(), effort);
        let is_timed_out = improving.run(&mut motions);
        let searches = improving.searches;
        if let Some(best) = improving.into_best()
            && best.length_rad < path_length_rad(path)
        {
            *path = best.path;
        }
        self.last.clone_from(path);
        Improved {
            length_rad: path_length_rad(path),
            checks: motions.checks(),
            searches,
            is_timed_out,
        }
    }

    /// Another planner with the same settings and no memory.
    fn fresh(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            ranges: self.ranges.clone(),
            trees: std::array::from_fn(|_| Tree::new(self.ranges.joints())),
            last: Vec::new(),
            informed: None,
        }
    }
}

/// One path being improved.
struct Improving<'a> {
    planner: Planner,
    goals: &'a [Config],
    effort: Effort,
    candidates: Vec<Candidate>,
    tightener: Tightener,
    rng: Rng,
    searches: usize,
    /// Candidates so far.
    made: usize,
    /// Shorter than this is no path.
    least_rad: f64,
    /// Of the settings: what searches do with long paths.
    range_rad: f32,
    around_rad: f32,
}

impl<'a> Improving<'a> {
    fn new(planner: &Planner, goals: &'a [Config], path: Vec<Config>, effort: &Effort) -> Self {
        let planner = planner.fresh();
        let mut rng = Rng::for_episode(planner.settings.seed, 0, "improve");
        let tightener = Tightener::new(Rng::new(rng.next_u64()), planner.ranges.joints());
        let goals_rad = goals.iter().filter_map(|goal| Some(path.first()?.distance(goal)));
        let least_rad = f64::from(goals_rad.fold(f32::INFINITY, f32::min));
        let (range_rad, around_rad) = (planner.settings.range_rad, planner.settings.around_rad);
        let mut made = Self {
            planner,
            range_rad,
            around_rad,
            goals,
            effort: *effort,
            candidates: Vec::new(),
            tightener,
            rng,
            searches: 0,
            made: 0,
            least_rad: if least_rad.is_finite() { least_rad } else { 0.0 },
        };
        made.add(path);
        made
    }

    /// Until all is spent, or nothing can be better. Whether time ended it.
    fn run<M: Motions>(&mut self, motions: &mut Counted<'_, M>) -> bool {
        let mut searched = 0;
        loop {
            let spent = motions.checks();
            if spent >= self.effort.checks || self.cannot_be_better() {
                return false;
            }
            if motions.is_late(self.effort.time_limit) {
                return true;
            }
            motions.tried(1);
            let left = self.effort.checks - spent;
            let may_search = left > self.effort.checks / LAST_SHARE;
            let is_due = may_search && spent > SLICE && 2 * searched <= spent;
            let draw = if is_due { None } else { self.next_to_draw(may_search) };
            match draw {
                Some(candidate) => self.draw(motions, candidate, left.min(SLICE)),
                None => {
                    let most = (self.effort.checks / SEARCH_SHARE).clamp(SEARCH_LEAST, SEARCH_MOST);
                    self.search(motions, most.min(left));
                    searched += motions.checks() - spent;
                }
            }
        }
    }

    fn best(&self) -> Option<&Candidate> {
        let order = |a: &&Candidate, b: &&Candidate| {
            a.length_rad.total_cmp(&b.length_rad).then(a.number.cmp(&b.number))
        };
        self.candidates.iter().min_by(order)
    }

    fn into_best(self) -> Option<Candidate> {
        let best = self.best()?.number;
        self.candidates.into_iter().find(|candidate| candidate.number == best)
    }

    fn best_rad(&self) -> f64 {
        self.best().map_or(f64::INFINITY, |best| best.length_rad)
    }

    fn cannot_be_better(&self) -> bool {
        self.best_rad() <= self.least_rad * STRAIGHT
    }

    /// The candidate that is to be drawn tight now; none when it is time for a search.
    fn next_to_draw(&self, may_search: bool) -> Option<usize> {
        let numbered = self.candidates.iter().enumerate();
        let loose = numbered.clone().filter(|(_, c)| !c.is_tight() && c.path.len() > 2);
        let promise = |(_, a): &(usize, &Candidate), (_, b): &(usize, &Candidate)| {
            a.promise_rad().total_cmp(&b.promise_rad()).then(a.number.cmp(&b.number))
        };
        // All are tight: look for others, or go on with the best where there is no time for that.
        let chosen = loose.min_by(promise).or_else(|| {
            let shorter = |(_, a): &(usize, &Candidate), (_, b): &(usize, &Candidate)| {
                a.length_rad.total_cmp(&b.length_rad)
            };
            numbered.min_by(shorter).filter(|_| !may_search)
        });
        chosen.map(|(index, _)| index)
    }

    fn draw<M: Motions>(&mut self, motions: &mut Counted<'_, M>, index: usize, most: u64) {
        let candidate = &mut self.candidates[index];
        let until = motions.checks() + most;
        let ranges = &self.planner.ranges;
        while motions.checks() < until && candidate.path.len() > 2 {
            self.tightener.step(motions, ranges, &mut candidate.path);
            motions.tried(1);
        }
        let before_rad = candidate.length_rad;
        candidate.length_rad = path_length_rad(&candidate.path);
        candidate.gain_rad = before_rad - candidate.length_rad;
        self.drop_hopeless();
    }

    /// Looks for another path: between the best one's first and last parts, which reach out of
    /// narrow places, or from end to end.
    fn search<M: Motions>(&mut self, motions: &mut Counted<'_, M>, most: u64) {
        self.searches += 1;
        let Some(best) = self.best() else { return };
        let (path, best_rad) = (best.path.clone(), best.length_rad as f32);
        let [Some(start), Some(end)] = [path.first(), path.last()] else { return };
        let joints = self.planner.ranges.joints();
        let parts = (self.rng.unit() >= WHOLE_SHARE).then(|| {
            let [a, b] = [self.rng.unit() as f32, self.rng.unit() as f32];
            [a.min(b) * best_rad, (1.0 - a.max(b)) * best_rad]
        });
        let goals = match parts {
            Some(_) => vec![*end],
            None => self.some_goals(start, best_rad),
        };
        let Some(informed) = Informed::new(start, &goals, best_rad, joints) else { return };
        let planner = &mut self.planner;
        planner.settings.seed = self.rng.next_u64();
        planner.settings.max_checks = Some(most);
        planner.settings.max_iterations = most as usize;
        // Short paths have short steps.
        planner.settings.range_rad = self.range_rad.min(best_rad / 2.0);
        planner.settings.around_rad = self.around_rad.min(best_rad);
        planner.settings.time_limit_s = self.effort.time_limit.map(|limit| limit.as_secs_f64());
        planner.informed = Some(informed);
        planner.trees.iter_mut().for_each(Tree::clear);
        planner.trees[0].add_root(start);
        goals.iter().for_each(|goal| _ = planner.trees[1].add_root(goal));
        if let Some([first_rad, last_rad]) = parts {
            planner.trees[0].add_old_way(&path, first_rad, &planner.ranges);
            let back: Vec<Config> = path.iter().rev().copied().collect();
            planner.trees[1].add_old_way(&back, last_rad, &planner.ranges);
        }
        let result = planner.grow(motions, &goals);
        let (SearchResult::Found { iterations, .. } | SearchResult::NoPath { iterations, .. }) =
            result
        else {
            return;
        };
        motions.tried(iterations);
        let SearchResult::Found { path: mut found, .. } = result else { return };
        reduce(motions, &mut found);
        self.add(found);
    }

    /// All goals that are near enough, or one of them: what is reached easily is not always near.
    fn some_goals(&mut self, start: &Config, best_rad: f32) -> Vec<Config> {
        let near = |goal: &&Config| start.distance(goal) < best_rad;
        let mut all: Vec<Config> = self.goals.iter().filter(near).copied().collect();
        all.retain(|goal| self.planner.ranges.contain(goal));
        if all.len() < 2 || self.rng.unit() < 0.5 {
            return all;
        }
        all.sort_by(|a, b| start.distance(a).total_cmp(&start.distance(b)));
        let one = self.rng.below(all.len()).min(self.rng.below(all.len()));
        vec![all[one]]
    }

    fn add(&mut self, path: Vec<Config>) {
        let length_rad = path_length_rad(&path);
        // A new one has everything before it.
        let gain_rad = 0.1 * length_rad;
        self.candidates.push(Candidate { path, length_rad, gain_rad, number: self.made });
        self.made += 1;
        self.drop_hopeless();
    }

    fn drop_hopeless(&mut self) {
        let best_rad = self.best_rad();
        self.candidates.retain(|c| {
            let tight = c.is_tight() && c.length_rad > best_rad;
            !tight && c.length_rad <= FAR_LONGER * best_rad
        });
        while self.candidates.len() > CANDIDATES {
            let worst = self.candidates.iter().enumerate().max_by(|(_, a), (_, b)| {
                a.promise_rad().total_cmp(&b.promise_rad()).then(a.number.cmp(&b.number))
            });
            let Some((worst, _)) = worst else { return };
            self.candidates.remove(worst);
        }
    }
}
