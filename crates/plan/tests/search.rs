//! Paths are proved, exact at their ends, repeatable; what has no path gets none.

use std::time::Duration;

use citrange_core::rng::Rng;
use citrange_plan::{
    Config, Effort, JointLimit, Motions, Planner, Reused, SearchResult, SearchSettings, Spent,
    path_length_rad,
};
use proptest::prelude::*;

/// A point in joint space among balls and boxes of joint space.
#[derive(Clone, Default)]
struct Toy {
    joints: usize,
    balls: Vec<(Config, f64)>,
    boxes: Vec<(Config, Config)>,
    asked: usize,
}

impl Toy {
    fn new(joints: usize) -> Self {
        Self { joints, ..Self::default() }
    }

    /// Random balls that leave the given points free.
    fn random(joints: usize, balls: usize, rng: &mut Rng, free: &[Config]) -> Self {
        let mut toy = Self::new(joints);
        while toy.balls.len() < balls {
            let ball = (random(joints, rng), rng.uniform(0.3, 1.8));
            if free.iter().all(|at| distance(&ball.0, at, at) > ball.1 + 0.05) {
                toy.balls.push(ball);
            }
        }
        toy
    }

    /// Exact: the segment's distance to each middle, and its cut with each box.
    fn free(&self, from: &Config, to: &Config) -> bool {
        let numbers = from.0.iter().chain(&to.0).all(|p| p.is_finite());
        numbers
            && self.balls.iter().all(|(middle, radius)| distance(middle, from, to) > *radius)
            && !self.boxes.iter().any(|(low, high)| self.cuts(low, high, from, to))
    }

    fn cuts(&self, low: &Config, high: &Config, from: &Config, to: &Config) -> bool {
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for j in 0..self.joints {
            let [a, b, low, high] = [from.0[j], to.0[j], low.0[j], high.0[j]].map(f64::from);
            if a == b {
                if a < low || a > high {
                    return false;
                }
            } else {
                let (s, t) = ((low - a) / (b - a), (high - a) / (b - a));
                enter = enter.max(s.min(t));
                leave = leave.min(s.max(t));
            }
        }
        enter <= leave
    }

    fn assert_free(&self, path: &[Config]) {
        for edge in path.windows(2) {
            assert!(self.free(&edge[0], &edge[1]), "blocked: {edge:?}");
            for step in 0..=50 {
                let at = edge[0].toward(&edge[1], step as f32 / 50.0);
                let inside = |(middle, radius): &(Config, f64)| {
                    f64::from(at.distance(middle)) < radius - 1e-5
                };
                assert!(!self.balls.iter().any(inside), "inside at step {step} of {edge:?}");
                assert!(at.0.iter().all(|p| p.abs() <= 3.0), "out of range: {at:?}");
            }
        }
    }
}

impl Motions for Toy {
    fn joints(&self) -> usize {
        self.joints
    }

    fn is_free(&mut self, at: &Config) -> bool {
        self.free(at, at)
    }

    fn is_motion_free(&mut self, from: &Config, to: &Config) -> bool {
        self.asked += 1;
        self.free(from, to)
    }

    fn is_box_free(&mut self, _: &Config, _: &Config) -> bool {
        false
    }
}

/// Of a point to a segment.
fn distance(point: &Config, a: &Config, b: &Config) -> f64 {
    let (mut along, mut whole) = (0.0, 0.0);
    for j in 0..8 {
        let [p, a, b] = [point.0[j], a.0[j], b.0[j]].map(f64::from);
        along += (b - a) * (p - a);
        whole += (b - a) * (b - a);
    }
    let share = if whole > 0.0 { (along / whole).clamp(0.0, 1.0) } else { 0.0 };
    let squares = (0..8).map(|j| {
        let [p, a, b] = [point.0[j], a.0[j], b.0[j]].map(f64::from);
        (a + (b - a) * share - p).powi(2)
    });
    squares.sum::<f64>().sqrt()
}

fn random(joints: usize, rng: &mut Rng) -> Config {
    Config::of(&(0..joints).map(|_| rng.uniform(-3.0, 3.0)).collect::<Vec<_>>())
}

fn planner(joints: usize, settings: SearchSettings) -> Planner {
    let limit = JointLimit { range: [-3.0, 3.0], velocity: 1.0, acceleration: 1.0, jerk: 1.0 };
    Planner::new(&vec![limit; joints], settings).unwrap()
}

fn with_seed(seed: u64) -> SearchSettings {
    SearchSettings { seed, ..SearchSettings::default() }
}

fn path_of(result: SearchResult) -> Vec<Config> {
    match result {
        SearchResult::Found { path, .. } => path,
        other => panic!("no path: {other:?}"),
    }
}

/// A wall across the second joint from -3 to 3, with a gap or without.
fn wall(gap: Option<[f64; 2]>) -> Toy {
    let mut toy = Toy::new(2);
    let parts = match gap {
        Some([low, high]) => vec![[-4.0, low], [high, 4.0]],
        None => vec![[-4.0, 4.0]],
    };
    for [low, high] in parts {
        toy.boxes.push((Config::of(&[-0.1, low]), Config::of(&[0.1, high])));
    }
    toy
}

#[test]
fn a_path_goes_through_the_gap_in_a_wall() {
    let (start, goal) = (Config::of(&[-2.0, -2.0]), Config::of(&[2.0, -2.0]));
    for seed in 0..50 {
        let mut toy = wall(Some([1.0, 1.1]));
        let mut planner = planner(2, with_seed(seed));
        let mut path = path_of(planner.plan(&mut toy, &start, &[goal]));
        toy.assert_free(&path);
        assert_eq!((path.first(), path.last()), (Some(&start), Some(&goal)));
        planner.simplify(&mut toy, &mut path);
        toy.assert_free(&path);
        // Around the two corners of the gap's lower side.
        let around = 2.0 * (1.9_f64.powi(2) + 3.0_f64.powi(2)).sqrt() + 0.2;
        let length_rad = path_length_rad(&path);
        assert!((around..around * 1.05).contains(&length_rad), "{length_rad} for {around}");
    }
}

#[test]
fn a_closed_wall_has_no_path() {
    let mut toy = wall(None);
    let settings = SearchSettings { max_iterations: 5_000, ..SearchSettings::default() };
    let result =
        planner(2, settings).plan(&mut toy, &Config::of(&[-2.0, 0.0]), &[Config::of(&[2.0, 0.0])]);
    let reason = Spent::Iterations;
    assert_eq!(result, SearchResult::NoPath { iterations: 5_000, reason });
}

#[test]
fn nodes_and_time_run_out_too() {
    let ends = (Config::of(&[-2.0, 0.0]), [Config::of(&[2.0, 0.0])]);
    let few = SearchSettings { max_nodes: 100, ..SearchSettings::default() };
    let result = planner(2, few).plan(&mut wall(None), &ends.0, &ends.1);
    assert!(matches!(result, SearchResult::NoPath { reason: Spent::Nodes, .. }), "{result:?}");
    let short = SearchSettings { time_limit_s: Some(0.0), ..SearchSettings::default() };
    let result = planner(2, short).plan(&mut wall(None), &ends.0, &ends.1);
    assert!(matches!(result, SearchResult::NoPath { reason: Spent::Time, .. }), "{result:?}");
}

#[test]
fn blocked_ends_are_said() {
    let mut toy = wall(None);
    let (free, blocked) = (Config::of(&[-2.0, 0.0]), Config::of(&[0.0, 0.0]));
    let mut planner = planner(2, SearchSettings::default());
    assert_eq!(planner.plan(&mut toy, &blocked, &[free]), SearchResult::StartBlocked);
    assert_eq!(planner.plan(&mut toy, &free, &[blocked, blocked]), SearchResult::GoalBlocked);
    assert_eq!(planner.plan(&mut toy, &free, &[]), SearchResult::GoalBlocked);
    for wrong in [f64::NAN, f64::INFINITY, 3.001] {
        let outside = Config::of(&[-2.0, wrong]);
        assert_eq!(planner.plan(&mut toy, &outside, &[free]), SearchResult::StartBlocked);
        assert_eq!(planner.plan(&mut toy, &free, &[outside]), SearchResult::GoalBlocked);
        assert_eq!(planner.replan(&mut toy, &outside, &[free]), SearchResult::StartBlocked);
        assert_eq!(planner.replan(&mut toy, &free, &[outside]), SearchResult::GoalBlocked);
    }
}

#[test]
fn a_straight_way_needs_no_search() {
    let (start, goal) = (Config::of(&[-2.0, 0.0]), Config::of(&[-1.0, 2.0]));
    let result = planner(2, SearchSettings::default()).plan(&mut wall(None), &start, &[goal]);
    let path = vec![start, goal];
    assert_eq!(result, SearchResult::Found { path, goal: 0, iterations: 0 });
}

#[test]
fn a_start_that_is_the_goal_is_a_path() {
    let at = Config::of(&[-2.0, 0.0]);
    let mut planner = planner(2, SearchSettings::default());
    let mut path = path_of(planner.plan(&mut wall(None), &at, &[at]));
    assert_eq!(path, [at, at]);
    assert_eq!(planner.simplify(&mut wall(None), &mut path), 0.0);
}

#[test]
fn of_many_goals_one_that_can_be_reached_is_chosen() {
    // Behind the wall, in the wall, out of range, and on this side but around a corner.
    let mut toy = wall(None);
    toy.boxes.push((Config::of(&[-4.0, -0.1]), Config::of(&[-0.5, 0.1])));
    let goals = [[2.0, 0.0], [0.0, 0.0], [-2.0, 4.0], [-2.0, 2.0]].map(|g| Config::of(&g));
    let start = Config::of(&[-2.0, -2.0]);
    for seed in 0..20 {
        match planner(2, with_seed(seed)).plan(&mut toy, &start, &goals) {
            SearchResult::Found { path, goal, .. } => {
                assert_eq!(goal, 3);
                assert_eq!(path.last(), Some(&goals[3]));
                toy.assert_free(&path);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let limit = JointLimit { range: [-3.0, 3.0], velocity: 1.0, acceleration: 1.0, jerk: 1.0 };
    let good = SearchSettings::default();
    let bad = [
        SearchSettings { range_rad: 0.0, ..good.clone() },
        SearchSettings { range_rad: f32::NAN, ..good.clone() },
        SearchSettings { time_limit_s: Some(f64::NAN), ..good.clone() },
        SearchSettings { around_rad: -1.0, ..good.clone() },
    ];
    for settings in bad {
        assert!(Planner::new(&[limit; 2], settings).is_err());
    }
    assert!(Planner::new(&[limit; 9], good.clone()).is_err());
    assert!(Planner::new(&[], good).is_err());
    assert!(serde_json::from_str::<SearchSettings>(r#"{"sed": 3}"#).is_err());
}

#[test]
fn more_checks_are_rarely_longer_and_the_same_every_time() {
    let (mut first_rad, mut last_rad, mut longer) = (0.0, 0.0, 0);
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let (start, goal) = (Config::of(&[-2.5; 4]), Config::of(&[2.5; 4]));
        let toy = Toy::random(4, 60, &mut rng, &[start, goal]);
        let mut planner = planner(4, with_seed(seed));
        let SearchResult::Found { mut path, .. } = planner.plan(&mut toy.clone(), &start, &[goal])
        else {
            continue;
        };
        planner.simplify(&mut toy.clone(), &mut path);
        let improved = |checks: u64| {
            let mut better = path.clone();
            let mut planner = self::planner(4, with_seed(seed));
            let effort = Effort { checks, time_limit: None };
            let said = planner.improve(&mut toy.clone(), &[goal], &mut better, &effort);
            toy.assert_free(&better);
            assert_eq!((better.first(), better.last()), (Some(&start), Some(&goal)));
            assert_eq!(said.length_rad, path_length_rad(&better));
            // The last question may be one too many, and shortcuts of a search are a handful.
            assert!(said.checks <= checks + 400, "{} of {checks}", said.checks);
            assert!(!said.is_timed_out);
            better
        };
        assert_eq!(improved(0), path);
        let lengths = [500, 2000, 8000].map(|checks| {
            let better = improved(checks);
            assert_eq!(better, improved(checks), "{checks}");
            path_length_rad(&better)
        });
        assert!(lengths.iter().all(|length| *length <= path_length_rad(&path)));
        first_rad += path_length_rad(&path);
        last_rad += lengths[2];
        longer += usize::from(lengths[2] > 1.01 * lengths[0]);
    }
    assert!(last_rad < 0.97 * first_rad, "{last_rad} of {first_rad}");
    assert!(longer <= 2, "{longer}");
}

#[test]
fn a_better_way_on_the_other_side_is_found() {
    // A wall with a near gap and a far one: a path through the far one is given.
    let mut toy = Toy::new(2);
    for [low, high] in [[-4.0, -2.2], [-2.0, 0.2], [0.4, 4.0]] {
        toy.boxes.push((Config::of(&[-0.1, low]), Config::of(&[0.1, high])));
    }
    let (start, goal) = (Config::of(&[-2.0, 1.0]), Config::of(&[2.0, 1.0]));
    let through = |y: f64| vec![start, Config::of(&[-0.1, y]), Config::of(&[0.1, y]), goal];
    let (far, near) = (through(-2.1), path_length_rad(&through(0.4)));
    for seed in 0..20 {
        let mut path = far.clone();
        let effort = Effort::default();
        planner(2, with_seed(seed)).improve(&mut toy.clone(), &[goal], &mut path, &effort);
        toy.assert_free(&path);
        assert!(path_length_rad(&path) < 1.01 * near, "{seed}: {}", path_length_rad(&path));
    }
}

#[test]
fn of_many_goals_the_one_with_the_shortest_path_wins() {
    // A far goal was reached; a nearer one is behind a corner.
    let mut toy = Toy::new(2);
    toy.boxes.push((Config::of(&[-0.1, -0.5]), Config::of(&[0.1, 4.0])));
    let start = Config::of(&[-0.5, 0.0]);
    let goals = [Config::of(&[-0.5, -2.9]), Config::of(&[0.5, 0.0])];
    for seed in 0..20 {
        let mut path = vec![start, goals[0]];
        planner(2, with_seed(seed)).improve(
            &mut toy.clone(),
            &goals,
            &mut path,
            &Effort::default(),
        );
        assert_eq!(path.last(), Some(&goals[1]), "{seed}");
        toy.assert_free(&path);
    }
}

#[test]
fn what_cannot_be_better_costs_nothing_and_time_is_said() {
    let (start, goal) = (Config::of(&[-2.0, 0.0]), Config::of(&[-1.0, 2.0]));
    let mut path = vec![start, goal];
    let mut planner = planner(2, with_seed(1));
    let said = planner.improve(&mut wall(None), &[goal], &mut path, &Effort::default());
    assert_eq!((said.checks, path.len()), (0, 2));
    let mut path = vec![start, Config::of(&[-2.0, 2.0]), goal];
    let hurry = Effort { checks: u64::MAX, time_limit: Some(Duration::ZERO) };
    assert!(planner.improve(&mut wall(None), &[goal], &mut path, &hurry).is_timed_out);
    assert_eq!(path.len(), 3);
}

#[test]
fn a_search_ends_after_its_checks() {
    // Nobody counts checks here: questions are what is counted.
    let ends = (Config::of(&[-2.0, 0.0]), [Config::of(&[2.0, 0.0])]);
    struct Counting(Toy);
    impl Motions for Counting {
        fn joints(&self) -> usize {
            self.0.joints()
        }
        fn is_free(&mut self, at: &Config) -> bool {
            self.0.is_free(at)
        }
        fn is_motion_free(&mut self, from: &Config, to: &Config) -> bool {
            self.0.is_motion_free(from, to)
        }
        fn is_box_free(&mut self, at: &Config, half_width: &Config) -> bool {
            self.0.is_box_free(at, half_width)
        }
        fn checks(&self) -> u64 {
            self.0.asked as u64
        }
    }
    let settings = SearchSettings { max_checks: Some(100), ..SearchSettings::default() };
    let mut world = Counting(wall(None));
    let result = planner(2, settings).plan(&mut world, &ends.0, &ends.1);
    assert!(matches!(result, SearchResult::NoPath { reason: Spent::Checks, .. }), "{result:?}");
    assert!((100..130).contains(&world.checks()), "{}", world.checks());
}

#[test]
fn an_old_path_is_kept_mended_or_replaced_and_it_is_said() {
    let (start, goal) = (Config::of(&[-2.0, -2.0]), Config::of(&[2.0, -2.0]));
    let mut toy = wall(Some([1.0, 1.1]));
    let mut old = path_of(planner(2, with_seed(0)).plan(&mut toy, &start, &[goal]));
    planner(2, with_seed(0)).simplify(&mut toy, &mut old);
    let replanned = |toy: &Toy, start: &Config| {
        let mut planner = planner(2, with_seed(3));
        planner.remember(&old);
        let (result, reused) = planner.replan_from(&mut toy.clone(), start, &[goal]);
        let path = path_of(result);
        toy.assert_free(&path);
        (path, reused)
    };
    assert_eq!(replanned(&toy, &start), (old.clone(), Reused::Kept));
    // On its way, and still free.
    let here = old[0].toward(&old[1], 0.5);
    let (rest, reused) = replanned(&toy, &here);
    assert_eq!((rest[0], &rest[1..], reused), (here, &old[1..], Reused::Kept));
    // A ball on its last edge.
    let mut newer = toy.clone();
    let last = old[old.len() - 2].toward(&goal, 0.5);
    newer.balls.push((last, 0.2));
    assert_eq!(replanned(&newer, &start).1, Reused::Mended);
    // The gap is elsewhere.
    let elsewhere = wall(Some([-2.6, -2.5]));
    assert_ne!(replanned(&elsewhere, &start).1, Reused::Kept);
}

#[test]
fn a_path_that_is_still_free_costs_only_its_proof() {
    let (start, goal) = (Config::of(&[-2.0, -2.0]), Config::of(&[2.0, -2.0]));
    let mut toy = wall(Some([1.0, 1.1]));
    let mut planner = planner(2, SearchSettings::default());
    let mut path = path_of(planner.plan(&mut toy, &start, &[goal]));
    planner.simplify(&mut toy, &mut path);
    toy.asked = 0;
    assert_eq!(path_of(planner.replan(&mut toy, &start, &[goal])), path);
    assert_eq!(toy.asked, path.len() - 1);
    // The robot is on its way: what is behind it is left out.
    let here = path[1].toward(&path[2], 0.5);
    let rest = path_of(planner.replan(&mut toy, &here, &[goal]));
    assert_eq!(rest[0], here);
    assert_eq!(rest[1..], path[2..]);
}

#[test]
fn mending_a_path_asks_less_than_a_new_search() {
    let (mut mended, mut anew) = (0, 0);
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let (start, goal) = (Config::of(&[-2.5; 5]), Config::of(&[2.5; 5]));
        let mut toy = Toy::random(5, 150, &mut rng, &[start, goal]);
        let mut old = planner(5, with_seed(seed));
        let SearchResult::Found { mut path, .. } = old.plan(&mut toy, &start, &[goal]) else {
            continue;
        };
        old.simplify(&mut toy, &mut path);
        let middle = path.len() / 2;
        toy.balls.push((path[middle - 1].toward(&path[middle], 0.5), 0.1));
        toy.asked = 0;
        let path = path_of(old.replan(&mut toy, &start, &[goal]));
        toy.assert_free(&path);
        mended += std::mem::take(&mut toy.asked);
        path_of(planner(5, with_seed(seed)).plan(&mut toy, &start, &[goal]));
        anew += toy.asked;
    }
    assert!(mended < anew, "{mended} motions asked to mend, {anew} anew");
}

#[test]
fn a_way_that_is_closed_is_not_taken_again() {
    let (start, goal) = (Config::of(&[-2.0, -2.0]), Config::of(&[2.0, -2.0]));
    let settings = SearchSettings { max_iterations: 3_000, ..SearchSettings::default() };
    let mut planner = planner(2, settings);
    path_of(planner.plan(&mut wall(Some([1.0, 1.2])), &start, &[goal]));
    let closed = planner.replan(&mut wall(None), &start, &[goal]);
    assert!(matches!(closed, SearchResult::NoPath { iterations: 3_000, .. }), "{closed:?}");
    let mut elsewhere = wall(Some([-1.5, -1.3]));
    let path = path_of(planner.replan(&mut elsewhere, &start, &[goal]));
    elsewhere.assert_free(&path);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_path_is_proved_exact_and_repeatable(
        seed in any::<u64>(), joints in 2_usize..=6, balls in 0_usize..120,
    ) {
        let mut rng = Rng::new(seed);
        let (start, goal) = (random(joints, &mut rng), random(joints, &mut rng));
        let mut toy = Toy::random(joints, balls, &mut rng, &[start, goal]);
        let mut planner = planner(joints, SearchSettings { max_iterations: 3_000, ..with_seed(seed) });
        let result = planner.plan(&mut toy, &start, &[goal]);
        prop_assert_eq!(&result, &planner.plan(&mut toy, &start, &[goal]));
        if let SearchResult::Found { mut path, .. } = result {
            toy.assert_free(&path);
            let before_rad = path_length_rad(&path);
            let again = &mut path.clone();
            let length_rad = planner.simplify(&mut toy, &mut path);
            toy.assert_free(&path);
            prop_assert_eq!(length_rad, path_length_rad(&path));
            prop_assert!(length_rad <= before_rad * (1.0 + 1e-6));
            prop_assert_eq!((path[0], path[path.len() - 1]), (start, goal));
            planner.simplify(&mut toy, again);
            prop_assert_eq!(&path, again);
        }
    }

    #[test]
    fn replanning_is_right_whatever_has_changed(
        seed in any::<u64>(), joints in 2_usize..=6, balls in 1_usize..60,
    ) {
        let mut rng = Rng::new(seed);
        let mut start = random(joints, &mut rng);
        let mut goals = vec![random(joints, &mut rng), random(joints, &mut rng)];
        let mut toy = Toy::random(joints, balls, &mut rng, &[start, goals[0], goals[1]]);
        let mut planner = planner(joints, SearchSettings { max_iterations: 1_000, ..with_seed(seed) });
        let mut path = Vec::new();
        for step in 0..12 {
            match planner.replan(&mut toy, &start, &goals) {
                SearchResult::Found { path: found, goal, .. } => {
                    path = found;
                    toy.assert_free(&path);
                    prop_assert_eq!((path[0], path[path.len() - 1]), (start, goals[goal]));
                    if step % 2 == 0 {
                        planner.simplify(&mut toy, &mut path);
                        toy.assert_free(&path);
                    }
                }
                SearchResult::NoPath { .. } => {}
                blocked => prop_assert!(false, "{:?}", blocked),
            }
            match rng.next_u64() % 5 {
                // The robot moves along its path, or is elsewhere.
                0 if path.len() > 1 => start = path[0].toward(&path[1], 0.5),
                1 => start = random(joints, &mut rng),
                2 => goals = vec![random(joints, &mut rng); 1 + step % 3],
                _ => {}
            }
            let mut kept = goals.clone();
            kept.push(start);
            toy = match rng.next_u64() % 3 {
                0 => Toy::random(joints, balls, &mut rng, &kept),
                _ => {
                    let more = Toy::random(joints, 2, &mut rng, &kept);
                    toy.balls.extend(more.balls);
                    toy.balls.retain(|(at, radius)| {
                        kept.iter().all(|k| distance(at, k, k) > radius + 0.05)
                    });
                    toy
                }
            };
        }
    }
}
