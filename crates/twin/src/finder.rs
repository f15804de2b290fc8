//! From here to there around what is known: whoever can.

use citrange_plan::{
    Collider, ColliderSettings, Effort, GoalSettings, JointLimit, MadePlan, Obstacles, PlanGoal,
    PlanOutcome, PlanRequest, PlannedArm, Planner, SearchSettings, TimingSettings, Touched,
    Trajectory, make_plan,
};

use crate::error::TwinError;

/// A question for a way.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// Where the arm begins, at rest.
    pub start: &'a [f64],
    /// Where it should come.
    pub goal: &'a PlanGoal,
    /// What is in the way.
    pub obstacles: &'a Obstacles,
    /// Fraction of full speed.
    pub speed: f64,
    /// Whether the nearest free place will do.
    pub nearest: bool,
    /// Decides what is tried.
    pub seed: u64,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Way {
    /// A path, or the reason why there is none.
    pub outcome: PlanOutcome,
    /// The motion; it begins and ends at rest and is proved free.
    pub trajectory: Option<Trajectory>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// Something that finds ways: a search, a policy, one after the other.
pub trait Finder: Send {
    /// Its name, for tapes.
    fn name(&self) -> &str;

    /// Finds a way, or says why there is none.
    ///
    /// # Errors
    /// When the question makes no sense.
    fn find(&mut self, ask: &Ask<'_>) -> Result<Way, TwinError>;
}

/// A start deeper in something than this is not backed out of.
const DEEPEST_M: f64 = 0.03;
/// A goal that was moved by more than this is another one.
const SAME_M: f64 = 2e-4;
/// Samples of a search, in place of a time: the same in every run.
const SAMPLES: usize = 4_000;

/// A search with two trees.
pub struct Birrt {
    arm: PlannedArm,
    collider: Collider,
    planner: Planner,
}

impl Birrt {
    /// For an arm; everything must keep `margin_m` from it.
    ///
    /// # Errors
    /// When the arm makes no sense.
    pub fn new(arm: &PlannedArm, margin_m: f64) -> Result<Self, TwinError> {
        let settings = ColliderSettings { margin_m, ..ColliderSettings::default() };
        let search = search(0);
        Ok(Self {
            collider: Collider::new(arm, &Obstacles::default(), &settings)?,
            planner: Planner::new(arm.limits(), search)?,
            arm: arm.clone(),
        })
    }

    fn make(&mut self, ask: &Ask<'_>, proceed_anyway: bool) -> Result<MadePlan, TwinError> {
        let request = PlanRequest {
            goal: GoalSettings { seed: ask.seed, proceed_anyway, ..GoalSettings::default() },
            search: search(ask.seed),
            effort: Effort::default(),
            timing: TimingSettings { scale: ask.speed, ..TimingSettings::default() },
            ..PlanRequest::default()
        };
        self.planner.set_seed(ask.seed);
        let Self { arm, collider, planner } = self;
        Ok(make_plan(arm, collider, planner, ask.start, ask.goal, &request)?)
    }
}

fn search(seed: u64) -> SearchSettings {
    SearchSettings {
        seed,
        time_limit_s: None,
        max_iterations: SAMPLES,
        ..SearchSettings::default()
    }
}

impl Finder for Birrt {
    fn name(&self) -> &str {
        "birrt"
    }

    fn find(&mut self, ask: &Ask<'_>) -> Result<Way, TwinError> {
        self.collider.set_obstacles(ask.obstacles)?;
        let mut made = self.make(ask, ask.nearest)?;
        // What stands a little in something is led out of it, slowly: the goal stays what it is.
        let is_slightly_in = matches!(
            &made.outcome,
            PlanOutcome::StartInCollision { contact }
                if contact.depth_m <= DEEPEST_M && !matches!(contact.with, Touched::Link(_))
        );
        if is_slightly_in && !ask.nearest {
            let out = self.make(ask, true)?;
            if out.goal.reached_m.is_some_and(|reached| reached <= SAME_M) {
                made = out;
            }
        }
        let limits = self.arm.limits().to_vec();
        let trajectory = whole(&made, &limits, &mut self.collider)?;
        Ok(Way { outcome: made.outcome, trajectory, warnings: made.goal.warnings })
    }
}

/// The way out of a collision, where there is one, and the way behind it as one motion.
fn whole(
    made: &MadePlan,
    limits: &[JointLimit],
    collider: &mut Collider,
) -> Result<Option<Trajectory>, TwinError> {
    Ok(match (&made.escape, &made.trajectory) {
        (Some(escape), Some(rest)) => {
            Some(escape.joined(escape.duration_s(), rest, limits, collider)?.trajectory)
        }
        (_, trajectory) => trajectory.clone(),
    })
}
