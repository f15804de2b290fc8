//! A policy as a planner: sixteen attempts at once, the best one that is proved.

use std::path::Path;
use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_lanes::{Isa, LANES, Lanes};
use citrange_plan::{
    BiRrt, Collider, Config, FoundPath, Motions as _, PathFinder, PathQuestion, PlanError,
    PlanGoal, Planner, SearchResult, path_length_rad,
};
use citrange_robot::{IkSettings, IkTarget, InverseKinematics, Orientation};
use nalgebra::{Point3, Vector3};

use crate::env::{Aabb, Copies, boxes_around};
use crate::error::PolicyError;
use crate::evaluate::{AttemptEnd, end_of};
use crate::file::PolicyFile;
use crate::network::{MlpScratch, normal};

/// What is farther from the base than this, in reaches, is not looked at.
const WITHIN_REACHES: f64 = 2.0;

/// Candidates of the goal that an attempt's end is joined to.
const ENDS: usize = 4;

/// How near inverse kinematics must come.
const EXACT_M: f64 = 1e-4;

/// A policy that answers questions for paths; where it finds none, the planner is asked.
#[derive(Debug)]
pub struct ReachFinder {
    file: PolicyFile,
    seed: u64,
    asked: u64,
}

/// What became of the attempts.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    reached: usize,
    proved: usize,
}

impl ReachFinder {
    /// Reads a policy: its file, or the folder of its training. `seed` decides the noise of all
    /// attempts but the first.
    ///
    /// # Errors
    /// When there is none, or it is damaged.
    pub fn load(path: &Path, seed: u64) -> Result<Self, PolicyError> {
        Ok(Self::new(PolicyFile::load(path)?, seed))
    }

    /// With a policy.
    #[must_use]
    pub fn new(file: PolicyFile, seed: u64) -> Self {
        Self { file, seed, asked: 0 }
    }

    /// Sixteen attempts: the way of each, the shortest that reached first.
    fn attempts(
        &mut self,
        question: &PathQuestion<'_>,
        collider: &Collider,
        goal_m: [f64; 3],
    ) -> Result<Vec<Vec<Config>>, PolicyError> {
        let arm = Arc::new(self.file.arm()?.standing(question.arm)?);
        let reach = Arc::new(self.file.about.reach.clone());
        let mut copies = Copies::new(&arm, &reach, Isa::best());
        copies.pass_first_link();
        let base_m = arm.robot().chain().world_from_base.pos_m;
        let (within_m, voxel_m) =
            (WITHIN_REACHES * arm.reach_m(), reach.world.voxel_m * arm.scale());
        let boxes = boxes_around(collider.obstacles(), base_m, within_m, voxel_m);
        let still: Vec<(Aabb, [f32; 3])> = boxes.into_iter().map(|of| (of, [0.0; 3])).collect();
        copies.boxes.set_all(&still);
        let mut joints = Vec::new();
        arm.planned().all_joints(question.from, &mut joints);
        let start: Vec<f32> = joints.iter().map(|at| *at as f32).collect();
        (0..LANES).for_each(|lane| copies.put(lane, &start, goal_m.map(|x| x as f32)));
        copies.look();
        self.asked += 1;
        let mut rng = Rng::for_episode(self.seed, self.asked, "attempts");
        let (count, inputs) = (arm.controlled().len(), copies.inputs());
        let sigma: Vec<f32> = self.file.about.log_sigma.iter().map(|log| log.exp()).collect();
        let mut row = vec![0.0; inputs * LANES];
        let mut scratch = MlpScratch::default();
        let mut actions = vec![Lanes::splat(0.0); count];
        let mut ways: [Vec<Config>; LANES] = std::array::from_fn(|_| vec![*question.from]);
        let mut open = u16::MAX;
        let mut reached = 0_u16;
        let tolerance_m = (reach.tolerance_m * arm.scale()) as f32;
        // Whoever stands at the goal need not move.
        let is_there = (0..LANES).filter(|lane| copies.distance_m.0[*lane] < tolerance_m);
        let there = is_there.fold(0_u16, |bits, lane| bits | 1 << lane);
        reached |= there;
        open &= !there;
        while open != 0 {
            copies.observe(&mut row);
            let means = self.file.network.forward(Isa::best(), LANES, &row, &mut scratch);
            let stride = self.file.network.stride();
            for lane in 0..LANES {
                for action in 0..count {
                    // The first attempt is by the mean action.
                    let noise = if lane == 0 { 0.0 } else { normal(&mut rng) as f32 };
                    let mean = means[lane * stride + action];
                    actions[action].0[lane] = mean + sigma[action] * noise;
                }
            }
            let ends = copies.advance(&actions);
            let walking = open;
            for lane in (0..LANES).filter(|lane| walking >> lane & 1 == 1) {
                ways[lane].push(Config::of(&copies.posture(lane)[..question.arm.joints()]));
                if ends.over() >> lane & 1 == 1 {
                    open &= !(1 << lane);
                    let has_reached = end_of(&ends, lane) == AttemptEnd::Reached;
                    reached |= u16::from(has_reached) << lane;
                }
            }
        }
        let lanes = (0..LANES).filter(|lane| reached >> lane & 1 == 1);
        let mut ways: Vec<Vec<Config>> =
            lanes.map(|lane| std::mem::take(&mut ways[lane])).collect();
        ways.sort_by(|a, b| path_length_rad(a).total_cmp(&path_length_rad(b)));
        Ok(ways)
    }

    /// The first way that is proved, up to the goal itself.
    fn proved(
        ways: &[Vec<Config>],
        question: &PathQuestion<'_>,
        collider: &mut Collider,
        goal_m: [f64; 3],
        told: &mut Told,
    ) -> Result<Option<(Vec<Config>, usize)>, PolicyError> {
        for way in ways {
            if !way.windows(2).all(|edge| collider.is_motion_free(&edge[0], &edge[1])) {
                continue;
            }
            told.proved += 1;
            let Some(end) = way.last() else { continue };
            for (goal, last) in ends(question, end, goal_m)? {
                if collider.is_motion_free(end, &last) {
                    let mut path = way.clone();
                    path.push(last);
                    path.dedup();
                    if path.len() == 1 {
                        path.push(last);
                    }
                    return Ok(Some((path, goal)));
                }
            }
        }
        Ok(None)
    }
}

/// Where an attempt may be led to, the nearest first: for a place joints near to its end, else
/// the nearest candidates.
fn ends(
    question: &PathQuestion<'_>,
    end: &Config,
    goal_m: [f64; 3],
) -> Result<Vec<(usize, Config)>, PolicyError> {
    let mut found = Vec::new();
    if matches!(question.goal, PlanGoal::Point { .. }) {
        let (arm, joints) = (question.arm, question.arm.joints());
        let mut reach = InverseKinematics::new(arm.body().chain(), arm.held())?;
        reach.set_ranges(arm.limits().iter().map(|limit| limit.range))?;
        let aim = IkTarget { at_m: Vector3::from(goal_m), orientation: Orientation::Free };
        let settings = IkSettings { starts: 1, turns: false, most: 1, ..IkSettings::default() };
        let near = end.positions(joints);
        let solved = reach.solve(&aim, &near, &settings);
        let near = solved.solutions.first().filter(|solution| solution.error_m < EXACT_M);
        found.extend(near.map(|solution| (0, Config::of(&solution.joints))));
    }
    let mut others: Vec<(usize, Config)> =
        question.candidates.iter().copied().enumerate().collect();
    others.sort_by(|a, b| end.distance(&a.1).total_cmp(&end.distance(&b.1)));
    found.extend(others.into_iter().take(ENDS));
    Ok(found)
}

/// Where the tool is at a configuration.
fn tool_m(question: &PathQuestion<'_>, at: &Config) -> Result<[f64; 3], PolicyError> {
    let mut joints = Vec::new();
    question.arm.all_joints(at, &mut joints);
    Ok(Point3::from(question.arm.body().tool_at(&joints)?).coords.into())
}

impl PathFinder for ReachFinder {
    fn find(
        &mut self,
        question: &PathQuestion<'_>,
        collider: &mut Collider,
        planner: &mut Planner,
    ) -> Result<FoundPath, PlanError> {
        let plan_error = |error: PolicyError| match error {
            PolicyError::Plan(error) => error,
            PolicyError::Robot(error) => error.into(),
            PolicyError::Space(error) => error.into(),
            other => PlanError::Bad { what: "the policy".into(), reason: other.to_string() },
        };
        let mut told = Told::default();
        let Some(first) = question.candidates.first() else {
            return BiRrt.find(question, collider, planner);
        };
        let goal_m = tool_m(question, first).map_err(plan_error)?;
        let ways = self.attempts(question, collider, goal_m).map_err(plan_error)?;
        told.reached = ways.len();
        let proved = Self::proved(&ways, question, collider, goal_m, &mut told);
        if let Some((mut path, goal)) = proved.map_err(plan_error)? {
            planner.simplify(collider, &mut path);
            let result = SearchResult::Found { path, goal, iterations: 0 };
            return Ok(FoundPath::new(result, "policy"));
        }
        let note = format!(
            "the policy found no way: of {LANES} attempts {} reached the goal, {} of these were \
             proved free, none was joined to it; the planner was asked",
            told.reached, told.proved
        );
        let mut found = BiRrt.find(question, collider, planner)?;
        found.notes.push(note);
        Ok(found)
    }
}
