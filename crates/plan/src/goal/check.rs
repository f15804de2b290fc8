//! Which joints lead to a goal, and the reason when a search cannot begin.

use citrange_robot::{
    IkSettings, IkSolution, IkTarget, InverseKinematics, Orientation, RobotError,
};

use super::any::any;
use super::escape::escape;
use super::nearer::with_nearer;
use super::report::{GoalReport, GoalSettings, Kept};
use super::retreat::retreat;
use super::{Contacts, PlanGoal};
use crate::arm::PlannedArm;
use crate::config::Config;
use crate::error::PlanError;
use crate::motions::Motions;
use crate::outcome::{PathEnd, PlanOutcome};

/// Misses that are this near to the best one are as good.
const AS_GOOD_M: f64 = 1e-3;
/// How much harder is looked when what was found first is not exact, or touches something.
const HARDER: usize = 4;
/// What is said instead of an infinite distance: no turn of the arm comes near what was asked.
const FAR_M: f64 = 1000.0;

/// What the parts of a check share.
pub(super) struct Asked<'a, W> {
    pub(super) arm: &'a PlannedArm,
    pub(super) world: &'a mut W,
    pub(super) reach: InverseKinematics,
    pub(super) settings: &'a GoalSettings,
    /// Where the search begins.
    pub(super) from: Vec<f64>,
}

/// Checks start and goal, and finds the goal's configurations.
///
/// # Errors
/// When start, goal or settings are not sensible numbers, or as many as the arm has joints.
/// Everything else is an answer: see [`GoalReport::outcome`].
pub fn check_goal<W: Motions + Contacts>(
    arm: &PlannedArm,
    world: &mut W,
    start: &[f64],
    goal: &PlanGoal,
    settings: &GoalSettings,
) -> Result<GoalReport, PlanError> {
    check_numbers(arm, start, settings)?;
    goal.check_count(arm)?;
    goal.check_numbers()?;
    if let Some(goals) = goal.alternatives(arm, start, settings.seed)? {
        return any(arm, world, start, &goals, settings);
    }
    let mut report = GoalReport::default();
    if let Some(outside) = arm.outside(PathEnd::Start, start) {
        return Ok(report.refuse(outside));
    }
    let reach = reach_of(arm)?;
    let mut asked = Asked { arm, world, reach, settings, from: start.to_vec() };
    if !asked.world.is_free(&Config::of(start)) {
        let why = asked.touched(start, |contact| PlanOutcome::StartInCollision { contact });
        if !settings.proceed_anyway {
            return Ok(report.refuse(why));
        }
        match escape(arm, asked.world, start, settings.seed) {
            Ok(out) => {
                asked.from = out.positions(arm.joints());
                report.escape = Some(out);
                report.warnings.push(
                    "the start touches something: the path begins by backing out slowly".into(),
                );
            }
            Err(reason) => {
                report.warnings.push(reason);
                return Ok(report.refuse(why));
            }
        }
    }
    Ok(match (goal, goal.aim()) {
        (_, Some(aim)) => asked.at_aim(&aim, report),
        (PlanGoal::Joints(joints), _) => asked.at_joints(joints, report),
        _ => report,
    })
}

pub(crate) fn reach_of(arm: &PlannedArm) -> Result<InverseKinematics, PlanError> {
    let bad = |why: RobotError| PlanError::bad("inverse kinematics", why.to_string());
    let mut reach = InverseKinematics::new(arm.body().chain(), arm.held()).map_err(bad)?;
    reach.set_ranges(arm.limits().iter().map(|l| l.range)).map_err(bad)?;
    Ok(reach)
}

/// How far joints leave the tool from a goal: its place, and its orientation where that matters.
pub(crate) fn miss(
    arm: &PlannedArm,
    goal: &PlanGoal,
    joints: &[f64],
) -> Result<(f64, Option<f64>), PlanError> {
    let mut reach = reach_of(arm)?;
    if let PlanGoal::Any(goals) = goal {
        let each: Result<Vec<_>, _> = goals.iter().map(|goal| miss(arm, goal, joints)).collect();
        let far = |(m, rad): &(f64, Option<f64>)| m + rad.unwrap_or(0.0);
        let best = each?.into_iter().min_by(|a, b| far(a).total_cmp(&far(b)));
        return Ok(best.unwrap_or((FAR_M, None)));
    }
    let nearest = goal.nearest_in_region(reach.aim_of(joints).at_m);
    let goal = nearest.as_ref().unwrap_or(goal);
    let aim = match (goal, goal.aim()) {
        (_, Some(aim)) => aim,
        (PlanGoal::Joints(wanted), _) => reach.aim_of(wanted),
        _ => reach.aim_of(joints),
    };
    let fit = reach.measure(&aim, joints);
    Ok((fit.error_m, rotation_error_rad(&aim, &fit)))
}

/// The miss of an orientation, where it is not free.
fn rotation_error_rad(aim: &IkTarget, fit: &IkSolution) -> Option<f64> {
    (aim.orientation != Orientation::Free).then_some(fit.angle_rad)
}

impl<W: Motions + Contacts> Asked<'_, W> {
    fn at_joints(&mut self, joints: &[f64], report: GoalReport) -> GoalReport {
        if let Some(outside) = self.arm.outside(PathEnd::Goal, joints) {
            return report.refuse(outside);
        }
        let aim = self.reach.aim_of(joints);
        let goal = self.reach.measure(&aim, joints);
        let why = match self.keep_free(&aim, std::slice::from_ref(&goal)) {
            Ok(kept) => return kept.into_report(report),
            Err(why) => why,
        };
        self.collides(&aim, why, std::slice::from_ref(&goal), report)
    }

    fn at_aim(&mut self, aim: &IkTarget, mut report: GoalReport) -> GoalReport {
        let mut search = IkSettings {
            starts: self.settings.starts,
            seed: self.settings.seed,
            rotation_weight_m: self.settings.rotation_weight_m(),
            ..IkSettings::default()
        };
        let mut found = self.reach.solve(aim, &self.from, &search);
        let mut touching = None;
        for effort in [1, HARDER] {
            if effort > 1 {
                search.starts *= effort;
                search.seed = search.seed.wrapping_add(1);
                found = self.reach.solve(aim, &self.from, &search);
            } else if found.solutions.is_empty() {
                // A miss is good enough only when nothing better is found.
                continue;
            }
            let goals = if found.solutions.is_empty() { &found.misses } else { &found.solutions };
            let good = self.good_enough(goals);
            for goals in good.iter().filter(|goals| !goals.is_empty()) {
                match self.keep_free(aim, goals).map(|kept| with_nearer(self, aim, goals, kept)) {
                    Ok(kept) if !kept.is_exact() => {
                        let turned = kept.reached_rad.map_or(String::new(), |rad| {
                            format!(" and {:.2} degrees turned away", rad.to_degrees())
                        });
                        report.warnings.push(format!(
                            "the goal cannot be reached exactly: the path ends {:.4} m from it\
                             {turned}",
                            kept.reached_m
                        ));
                        return kept.into_report(report);
                    }
                    Ok(kept) => return kept.into_report(report),
                    Err(why) => touching = touching.or(Some((why, goals.clone()))),
                }
            }
        }
        match touching {
            Some((why, goals)) => self.collides(aim, why, &goals, report),
            None => {
                let (nearest_m, nearest_rad) = self.nearest(aim, &search, found.misses.first());
                let nearest_rad = (aim.orientation != Orientation::Free).then_some(nearest_rad);
                let (tolerance_m, tolerance_rad) = self.settings.allowed();
                report.refuse(PlanOutcome::GoalUnreachable {
                    nearest_m,
                    nearest_rad,
                    tolerance_m,
                    tolerance_rad,
                })
            }
        }
    }

    /// Goals within tolerance: those as good as the best, then the others; each sorted by
    /// their distance from where the search begins.
    fn good_enough(&self, goals: &[IkSolution]) -> [Vec<IkSolution>; 2] {
        let (tolerance_m, tolerance_rad) = self.settings.allowed();
        let within = |s: &&IkSolution| s.error_m <= tolerance_m && s.angle_rad <= tolerance_rad;
        let mut all: Vec<IkSolution> = goals.iter().filter(within).cloned().collect();
        nearest_first(&mut all, &self.from);
        let best = all.iter().map(|s| s.error_m).fold(f64::INFINITY, f64::min);
        let (good, rest) = all.into_iter().partition(|s| s.error_m <= best + AS_GOOD_M);
        [good, rest]
    }

    /// How near the tool comes when it is turned as asked, and how it is turned there; the best
    /// miss where it cannot be turned so.
    fn nearest(
        &mut self,
        aim: &IkTarget,
        search: &IkSettings,
        miss: Option<&IkSolution>,
    ) -> (f64, f64) {
        let (tolerance_m, tolerance_rad) = self.settings.allowed();
        let Some(miss) = miss else { return (FAR_M, std::f64::consts::PI) };
        if miss.angle_rad <= tolerance_rad && miss.error_m > tolerance_m {
            return (miss.error_m, miss.angle_rad);
        }
        let strict = IkSettings { rotation_weight_m: 20.0 * search.rotation_weight_m, ..*search };
        let turned = self.reach.solve(aim, &self.from, &strict).misses;
        let turned = turned.iter().filter(|m| m.angle_rad <= tolerance_rad);
        let best = turned.min_by(|a, b| a.error_m.total_cmp(&b.error_m)).unwrap_or(miss);
        (best.error_m, best.angle_rad)
    }

    fn collides(
        &mut self,
        aim: &IkTarget,
        why: PlanOutcome,
        goals: &[IkSolution],
        mut report: GoalReport,
    ) -> GoalReport {
        if !self.settings.proceed_anyway {
            return report.refuse(why);
        }
        match retreat(self, aim, goals) {
            Some(kept) => {
                report.warnings.push(format!(
                    "the goal touches something: the path ends {:.3} m from it",
                    kept.reached_m
                ));
                kept.into_report(report)
            }
            None => {
                report.warnings.push("no free place near the goal was found".into());
                report.refuse(why)
            }
        }
    }

    /// Those goals that are free, in their order; or what the first one touches.
    pub(super) fn keep_free(
        &mut self,
        aim: &IkTarget,
        goals: &[IkSolution],
    ) -> Result<Kept, PlanOutcome> {
        let mut kept = Kept::default();
        for goal in goals {
            let at = self.within(&goal.joints);
            if kept.candidates.len() < self.settings.most && self.world.is_free(&at) {
                let fit = self.reach.measure(aim, &at.positions(self.arm.joints()));
                kept.reached_m = kept.reached_m.max(fit.error_m);
                let turned = rotation_error_rad(aim, &fit);
                kept.reached_rad = turned.map(|rad| kept.reached_rad.unwrap_or(0.0).max(rad));
                kept.candidates.push(at);
            }
        }
        match goals.first() {
            Some(first) if kept.candidates.is_empty() => {
                Err(self.touched(&first.joints, |contact| PlanOutcome::GoalInCollision { contact }))
            }
            _ => Ok(kept),
        }
    }

    /// In single precision, and still within the limits.
    fn within(&self, joints: &[f64]) -> Config {
        let mut at = Config::of(joints);
        for (position, limit) in at.0.iter_mut().zip(self.arm.limits()) {
            if f64::from(*position) > limit.range[1] {
                *position = position.next_down();
            }
            if f64::from(*position) < limit.range[0] {
                *position = position.next_up();
            }
        }
        at
    }

    /// What is touched there, as an answer.
    fn touched(
        &mut self,
        at: &[f64],
        why: impl Fn(crate::Collision) -> PlanOutcome,
    ) -> PlanOutcome {
        // A checker may refuse what it cannot prove free and yet name nothing that is touched.
        let unnamed = PlanOutcome::NoPath { iterations: 0, spent_s: 0.0 };
        self.world.contact(at).map_or(unnamed, why)
    }
}

/// Sorts goals by their distance from some joints.
pub(super) fn nearest_first(goals: &mut [IkSolution], from: &[f64]) {
    let away =
        |s: &IkSolution| -> f64 { s.joints.iter().zip(from).map(|(a, b)| (a - b).powi(2)).sum() };
    goals.sort_by(|a, b| away(a).total_cmp(&away(b)));
}

fn check_numbers(
    arm: &PlannedArm,
    start: &[f64],
    settings: &GoalSettings,
) -> Result<(), PlanError> {
    if start.len() != arm.joints() || start.iter().any(|q| !q.is_finite()) {
        let reason = format!("{start:?}; right are {} finite numbers", arm.joints());
        return Err(PlanError::bad("start", reason));
    }
    let tolerances = [settings.tolerance_m, settings.tolerance_rad];
    if tolerances.iter().any(|t| !(t.is_finite() && *t >= 0.0)) || settings.starts == 0 {
        let reason = format!("tolerances must be from 0 on, starts above 0: {settings:?}");
        return Err(PlanError::bad("goal settings", reason));
    }
    Ok(())
}
