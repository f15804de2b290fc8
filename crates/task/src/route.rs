//! A way around what stands between two places: where something tall is near, the motion that the
//! hand would make is checked as a whole, the thing in hand with it, and where it would touch
//! something a path is planned for it.
//!
//! That takes longer than a tick, so a thread does it while the arm holds still. Its answer is
//! taken after a fixed number of ticks, never earlier: what the arm does depends on what was seen
//! and never on how fast the processor is.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use citrange_core::Pose;
use citrange_core::shape::{PosedShape, Shape};
use citrange_plan::{
    Collider, ColliderSettings, Config, Effort, GoalSettings, HeldThing, JointLimit, Motions,
    Obstacles, PlanError, PlanGoal, PlanOutcome, PlanRequest, PlannedArm, Planner, SearchSettings,
    SimplifySettings, ToolCone, make_plan,
};
use citrange_robot::{Chain, LinkShape, Robot, RobotSettings};

/// How long the arm holds still for an answer, s.
const THINKS_S: f64 = 0.3;
/// What keeps away from things; less where there is no way otherwise.
const MARGINS_M: [f64; 2] = [0.012, 0.004];
/// How far the tool may tilt on the way, rad; any way where there is none.
const TILT_RAD: f64 = 0.6;
/// The same number of samples on every machine.
const MOST_SAMPLES: usize = 4000;
/// What is in the hand is taken a little smaller than its box: jaws press into it.
const SHRINK: f64 = 0.9;
/// Most way-points that are kept.
const MOST_POINTS: usize = 48;

/// What is asked: everything that decides the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RouteQuestion {
    /// Positions of all joints, and where the arm would go from there.
    pub(crate) way: Vec<Vec<f64>>,
    /// The thing in the hand: its box's pose in the world and half of its edges.
    pub(crate) held: Option<[f64; 10]>,
    /// Boxes of the other things, the same.
    pub(crate) things: Vec<[f64; 10]>,
}

/// How far an autopilot is with a way around.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Route {
    /// Nothing is asked.
    #[default]
    None,
    /// So many ticks are left.
    Thinking(u64, RouteQuestion),
    /// Joints of the arm to go through.
    Points(Vec<Vec<f64>>),
}

/// The answer that a thread works at.
type Answer = JoinHandle<Vec<Vec<f64>>>;

/// Finds ways around.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    parts: Arc<Parts>,
    answer: Arc<Mutex<Option<Answer>>>,
}

#[derive(Debug)]
struct Parts {
    chain: Chain,
    shapes: Vec<LinkShape>,
    home: Vec<f64>,
    fixtures: Vec<PosedShape>,
}

impl Router {
    pub(crate) fn new(
        chain: &Chain,
        shapes: &[LinkShape],
        home: &[f64],
        fixtures: &[PosedShape],
    ) -> Self {
        let parts = Parts {
            chain: chain.clone(),
            shapes: shapes.to_vec(),
            home: home.to_vec(),
            fixtures: fixtures.to_vec(),
        };
        Self { parts: Arc::new(parts), answer: Arc::default() }
    }

    /// Whether anything that stands fixed is above a height.
    pub(crate) fn has_tall(&self, z_m: f64) -> bool {
        self.parts.fixtures.iter().any(|fixture| top_m(fixture) > z_m)
    }

    /// Begins to look; how many ticks it takes.
    pub(crate) fn ask(&self, question: &RouteQuestion, tick_s: f64) -> u64 {
        self.start(question);
        (THINKS_S / tick_s).ceil() as u64
    }

    fn start(&self, question: &RouteQuestion) {
        let (parts, question) = (Arc::clone(&self.parts), question.clone());
        let answer = std::thread::spawn(move || parts.answer(&question));
        if let Ok(mut kept) = self.answer.lock() {
            *kept = Some(answer);
        }
    }

    /// The answer: joints of the arm to go through, none where the way is free, or where no other
    /// is known.
    pub(crate) fn take(&self, question: &RouteQuestion) -> Vec<Vec<f64>> {
        let started = self.answer.lock().ok().and_then(|mut answer| answer.take());
        // After a snapshot nobody has begun yet.
        started
            .map_or_else(|| self.parts.answer(question), |answer| answer.join().unwrap_or_default())
    }
}

impl Parts {
    fn answer(&self, question: &RouteQuestion) -> Vec<Vec<f64>> {
        self.search(question).unwrap_or_else(|error| {
            tracing::debug!("no way around: {error}");
            Vec::new()
        })
    }

    fn search(&self, question: &RouteQuestion) -> Result<Vec<Vec<f64>>, PlanError> {
        let (Some(start), Some(end)) = (question.way.first(), question.way.last()) else {
            return Ok(Vec::new());
        };
        let arm = self.arm(question, start)?;
        let count = arm.joints();
        let boxes = question.things.iter().map(|numbers| {
            let (pose, half_m) = posed_box(numbers);
            PosedShape::new(pose, Shape::Box { half_m })
        });
        let solids: Vec<PosedShape> = self.fixtures.iter().cloned().chain(boxes).collect();
        let obstacles = Obstacles::of(solids);
        for margin_m in MARGINS_M {
            let settings = ColliderSettings { margin_m, ..ColliderSettings::default() };
            let mut collider = Collider::new(&arm, &obstacles, &settings)?;
            let way: Vec<Config> = question.way.iter().map(|at| Config::of(&at[..count])).collect();
            if way.windows(2).all(|ends| collider.is_motion_free(&ends[0], &ends[1])) {
                return Ok(Vec::new());
            }
            for cone in [Some(ToolCone::upright(&arm, &start[..count], TILT_RAD)), None] {
                let search = SearchSettings {
                    max_iterations: MOST_SAMPLES,
                    simplify: SimplifySettings { max_rounds: 8, ..SimplifySettings::default() },
                    ..SearchSettings::default()
                };
                let request = PlanRequest {
                    goal: GoalSettings::default(),
                    search,
                    effort: Effort { rounds: 1, time_limit: None },
                    cone,
                    ..PlanRequest::default()
                };
                let mut planner = Planner::new(arm.limits(), request.search.clone())?;
                let goal = PlanGoal::Joints(end[..count].to_vec());
                let from = &start[..count];
                let made = make_plan(&arm, &mut collider, &mut planner, from, &goal, &request)?;
                if let PlanOutcome::Found(path) = made.outcome
                    && path.waypoints.len() <= MOST_POINTS
                {
                    return Ok(path.waypoints.into_iter().skip(1).collect());
                }
            }
        }
        Ok(Vec::new())
    }

    /// The arm with its jaws as they are, and what they hold.
    fn arm(&self, question: &RouteQuestion, start: &[f64]) -> Result<PlannedArm, PlanError> {
        let settings = RobotSettings { home: Some(self.home.clone()), ..RobotSettings::default() };
        let body = Robot::new(&self.chain, &self.shapes, &settings)?;
        let limit = |range: Option<[f64; 2]>| JointLimit {
            range: range.unwrap_or([-std::f64::consts::TAU, std::f64::consts::TAU]),
            velocity: 1.0,
            acceleration: 5.0,
            jerk: 50.0,
        };
        let count = self.chain.arm_joints;
        let limits = self.chain.joints[..count].iter().map(|joint| limit(joint.range)).collect();
        // Links that touch where the arm stands are made so, or their shapes are too coarse.
        let names: Vec<String> = body.links().map(str::to_owned).collect();
        let touching = body.touching_pairs(start)?.into_iter();
        let touching = touching.map(|pair| pair.map(|link| names[usize::from(link)].clone()));
        let touching: Vec<[String; 2]> = touching.collect();
        let arm = PlannedArm::new(body, limits, start)?.allowing(&touching)?;
        let Some(held) = &question.held else { return Ok(arm) };
        let (pose, half_m) = posed_box(held);
        let tool = arm.tool_at(&start[..count]).isometry();
        let in_tool = Pose::from(tool.inverse() * pose.isometry());
        let shape = Shape::Box { half_m: half_m.map(|half| SHRINK * half) };
        let thing = HeldThing::in_tool(&arm, "the thing in hand", &[(in_tool, shape)])?;
        arm.holding(vec![thing])
    }
}

impl Route {
    /// As numbers, for a snapshot; none where there is nothing to keep.
    pub(crate) fn save(&self) -> Option<Vec<f64>> {
        let lists = |lists: &[Vec<f64>], out: &mut Vec<f64>| {
            out.push(lists.len() as f64);
            out.push(lists.first().map_or(0, Vec::len) as f64);
            out.extend(lists.iter().flatten());
        };
        let mut out = Vec::new();
        match self {
            Self::None => return None,
            Self::Points(points) => {
                out.push(1.0);
                lists(points, &mut out);
            }
            Self::Thinking(ticks, question) => {
                out.extend([2.0, *ticks as f64]);
                lists(&question.way, &mut out);
                out.push(f64::from(u8::from(question.held.is_some())));
                out.extend(question.held.unwrap_or_default());
                out.push(question.things.len() as f64);
                out.extend(question.things.iter().flatten());
            }
        }
        Some(out)
    }

    /// Takes back what [`Route::save`] wrote.
    pub(crate) fn load(numbers: &[f64]) -> Option<Self> {
        fn count(numbers: &mut impl Iterator<Item = f64>) -> Option<usize> {
            let n = numbers.next()?;
            (n >= 0.0 && n <= 1e6 && n.fract() == 0.0).then_some(n as usize)
        }
        fn lists(numbers: &mut impl Iterator<Item = f64>) -> Option<Vec<Vec<f64>>> {
            let (rows, width) = (count(numbers)?, count(numbers)?);
            let mut all = Vec::new();
            for _ in 0..rows {
                let row: Vec<f64> = numbers.take(width).collect();
                all.push(Some(row).filter(|row| row.len() == width)?);
            }
            Some(all)
        }
        fn ten(numbers: &mut impl Iterator<Item = f64>) -> Option<[f64; 10]> {
            let row: Vec<f64> = numbers.take(10).collect();
            row.try_into().ok()
        }
        let mut numbers = numbers.iter().copied().filter(|n| n.is_finite());
        let made = match count(&mut numbers)? {
            1 => Self::Points(lists(&mut numbers)?),
            2 => {
                let ticks = count(&mut numbers)? as u64;
                let way = lists(&mut numbers)?;
                let has_held = count(&mut numbers)? == 1;
                let held = ten(&mut numbers)?;
                let things: Option<Vec<_>> =
                    (0..count(&mut numbers)?).map(|_| ten(&mut numbers)).collect();
                let held = has_held.then_some(held);
                Self::Thinking(ticks, RouteQuestion { way, held, things: things? })
            }
            _ => return None,
        };
        numbers.next().is_none().then_some(made)
    }
}

/// A box around a thing, as numbers: place and orientation of its middle, half of its edges.
pub(crate) fn box_numbers(pose: &Pose, [low, high]: [[f64; 3]; 2]) -> [f64; 10] {
    let middle: [f64; 3] = std::array::from_fn(|a| f64::midpoint(low[a], high[a]));
    let at = pose.isometry() * nalgebra::Translation3::from(nalgebra::Vector3::from(middle));
    let Pose { pos_m: [x, y, z], quat_wxyz: [w, i, j, k] } = Pose::from(at);
    let [a, b, c] = std::array::from_fn(|axis| (high[axis] - low[axis]) / 2.0);
    [x, y, z, w, i, j, k, a, b, c]
}

fn posed_box(numbers: &[f64; 10]) -> (Pose, [f64; 3]) {
    let [x, y, z, w, i, j, k, a, b, c] = *numbers;
    (Pose { pos_m: [x, y, z], quat_wxyz: [w, i, j, k] }, [a, b, c])
}

/// How high a fixture reaches at most.
fn top_m(fixture: &PosedShape) -> f64 {
    let Some((centre_m, half_m)) = fixture.shape.bounds_m() else {
        // What has no end is a floor.
        return fixture.pose.pos_m[2];
    };
    let at = fixture.pose.isometry();
    let rotation = at.rotation.to_rotation_matrix();
    let middle = at * nalgebra::Point3::from(centre_m);
    middle.z + (0..3).map(|a| rotation[(2, a)].abs() * half_m[a]).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_kept_in_snapshots() {
        let question = RouteQuestion {
            way: vec![vec![0.1, 0.2], vec![0.3, 0.4]],
            held: Some([1.0; 10]),
            things: vec![[2.0; 10], [3.0; 10]],
        };
        for route in [Route::Points(vec![vec![0.5, 0.6]]), Route::Thinking(7, question)] {
            let numbers = route.save().unwrap();
            assert_eq!(Route::load(&numbers), Some(route));
            assert_eq!(Route::load(&numbers[..numbers.len() - 1]), None);
            assert_eq!(Route::load(&[numbers, vec![0.0]].concat()), None);
        }
        assert_eq!(Route::None.save(), None);
    }
}
