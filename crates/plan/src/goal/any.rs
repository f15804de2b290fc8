//! Goals of which any will do: a list, or all places within a box.

use nalgebra::Vector3;

use citrange_core::rng::Rng;

use super::check::{check_goal, reach_of};
use super::report::{GoalReport, GoalSettings};
use super::{Contacts, PlanGoal};
use crate::arm::PlannedArm;
use crate::error::PlanError;
use crate::motions::Motions;

/// Places of a region that are tried, besides its middle and the one nearest to the tool.
const PLACES: usize = 14;

/// A region from words of which some are ranges.
pub(super) fn region(text: &str) -> Result<PlanGoal, PlanError> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
    let bad = |reason: String| PlanError::bad(format!("goal {text:?}"), reason);
    let ends: Result<Vec<[f64; 2]>, PlanError> = words
        .map(|word| {
            let (low, high) = word.split_once("..").unwrap_or((word, word));
            let ends = [low, high].map(|end| end.parse::<f64>().ok().filter(|n| n.is_finite()));
            match ends {
                [Some(low), Some(high)] if low <= high => Ok([low, high]),
                _ => Err(bad(format!("{word:?} is no range, such as 0.3..0.5, and no number"))),
            }
        })
        .collect();
    let ends = ends?;
    let (place, angles) = ends.split_at(ends.len().min(3));
    let fixed: Option<Vec<f64>> = angles.iter().map(|[l, h]| (l == h).then_some(*l)).collect();
    let roll_pitch_yaw_rad = match (place.len(), fixed.as_deref()) {
        (3, Some([])) => None,
        (3, Some([roll, pitch, yaw])) => Some([*roll, *pitch, *yaw]),
        _ => {
            let reason = "right are x y z, each a number or a range such as 0.3..0.5, and roll \
                          pitch yaw as numbers if they matter";
            return Err(bad(reason.to_owned()));
        }
    };
    let corner = |end: usize| std::array::from_fn(|axis| place[axis][end]);
    let goal = PlanGoal::Region { low_m: corner(0), high_m: corner(1), roll_pitch_yaw_rad };
    goal.check_numbers()?;
    Ok(goal)
}

impl PlanGoal {
    /// Goals of which any will do; `None` where there is only this one.
    pub(super) fn alternatives(
        &self,
        arm: &PlannedArm,
        start: &[f64],
        seed: u64,
    ) -> Result<Option<Vec<Self>>, PlanError> {
        let (low_m, high_m) = match self {
            Self::Any(goals) if goals.is_empty() => {
                return Err(PlanError::bad("goal", "a list of goals has at least one"));
            }
            Self::Any(goals) => return Ok(Some(goals.clone())),
            Self::Region { low_m, high_m, .. } => (low_m, high_m),
            _ => return Ok(None),
        };
        let tool_m = reach_of(arm)?.aim_of(start).at_m;
        let nearest = self.nearest_in_region(tool_m);
        let places = Self::places_of(*low_m, *high_m, seed).map(|at_m| self.in_region(at_m));
        Ok(Some(nearest.into_iter().chain(places).collect()))
    }

    /// Places within a box: its middle, then some that the seed decides.
    pub(crate) fn places_of(
        low_m: [f64; 3],
        high_m: [f64; 3],
        seed: u64,
    ) -> impl Iterator<Item = [f64; 3]> {
        let middle = std::array::from_fn(|a| f64::midpoint(low_m[a], high_m[a]));
        let mut rng = Rng::for_episode(seed, 0, "goal region");
        let place = move |_| std::array::from_fn(|a| rng.uniform(low_m[a], high_m[a]));
        std::iter::once(middle).chain((0..PLACES).map(place))
    }

    /// The goal within this region that is nearest to a point.
    pub(super) fn nearest_in_region(&self, point_m: Vector3<f64>) -> Option<Self> {
        let Self::Region { low_m, high_m, .. } = self else { return None };
        let at_m = std::array::from_fn(|a| point_m[a].clamp(low_m[a], high_m[a]));
        Some(self.in_region(at_m))
    }

    fn in_region(&self, at_m: [f64; 3]) -> Self {
        match self {
            Self::Region { roll_pitch_yaw_rad: Some(turns), .. } => {
                Self::Pose { at_m, roll_pitch_yaw_rad: *turns }
            }
            _ => Self::Point { at_m },
        }
    }
}

/// As [`check_goal`], for several goals: what leads to any of them, nearest first.
pub(super) fn any<W: Motions + Contacts>(
    arm: &PlannedArm,
    world: &mut W,
    start: &[f64],
    goals: &[PlanGoal],
    settings: &GoalSettings,
) -> Result<GoalReport, PlanError> {
    let mut all = GoalReport::default();
    let mut refused: Option<GoalReport> = None;
    // Only where no goal is free is one given up for what is near to it.
    for proceed_anyway in [false, true] {
        if proceed_anyway && (!settings.proceed_anyway || !all.candidates.is_empty()) {
            continue;
        }
        let settings = GoalSettings { proceed_anyway, ..settings.clone() };
        for goal in goals {
            let mut report = check_goal(arm, world, start, goal, &settings)?;
            if report.outcome.is_some() {
                refused.get_or_insert(report);
                continue;
            }
            all.candidates.append(&mut report.candidates);
            all.reached_m = larger(all.reached_m, report.reached_m);
            all.reached_rad = larger(all.reached_rad, report.reached_rad);
            all.escape = all.escape.or(report.escape);
            all.warnings.append(&mut report.warnings);
        }
    }
    if all.candidates.is_empty() {
        return Ok(refused.unwrap_or_default());
    }
    all.warnings.dedup();
    let from = crate::config::Config::of(start);
    all.candidates.sort_by(|a, b| from.distance(a).total_cmp(&from.distance(b)));
    all.candidates.dedup();
    all.candidates.truncate(settings.most);
    Ok(all)
}

fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}
