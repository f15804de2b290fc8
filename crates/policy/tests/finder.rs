//! A policy as a planner: what it answers is proved, and what it cannot answer the planner does.

use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_core::shape::PosedShape;
use citrange_plan::{
    Collider, ColliderSettings, JointLimit, Obstacles, PlanGoal, PlanOutcome, PlanRequest,
    PlannedArm, Planner, make_plan, make_plan_with,
};
use citrange_policy::{
    EpisodeSet, ReachArm, ReachFinder, ReachSettings, Rung, TrainSettings, Trainer,
    touching_postures,
};

/// A policy that was trained for a few seconds.
fn trained(folder: &std::path::Path) -> ReachFinder {
    let train = TrainSettings {
        total_steps: 204_800,
        learning_rate: 1e-3,
        evaluation_episodes: 128,
        ..TrainSettings::default()
    };
    let arm = Arc::new(ReachArm::load("ur5e").unwrap());
    let reach = ReachSettings::default();
    let mut trainer = Trainer::begin(folder, arm, (reach, train, Some(Rung::A)), 0).unwrap();
    while !trainer.is_done() {
        trainer.iterate().unwrap();
    }
    ReachFinder::load(folder, 1).unwrap()
}

#[test]
fn plans_with_a_policy_touch_nothing_and_end_where_the_planners_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut finder = trained(&folder.path().join("reach"));
    let arm = Arc::new(ReachArm::load("ur5e").unwrap());
    let planned = arm.planned();
    for rung in [Rung::A, Rung::B] {
        let reach =
            Arc::new(ReachSettings { world: rung.evaluation(), ..ReachSettings::default() });
        let set = EpisodeSet::draw(&arm, &reach, (3, "test"), 40).unwrap();
        let settings = ColliderSettings::default();
        let mut collider = Collider::new(planned, &Obstacles::default(), &settings).unwrap();
        let request = PlanRequest::default();
        let mut planner = Planner::new(planned.limits(), request.search.clone()).unwrap();
        let mut by_policy = 0;
        for episode in &set.episodes {
            collider.set_obstacles(&episode.obstacles()).unwrap();
            let goal = PlanGoal::Point { at_m: episode.goal_m() };
            let start = episode.start();
            let tools = (&mut collider, &mut planner);
            let made =
                make_plan_with(planned, tools, &mut finder, &start, &goal, &request).unwrap();
            let PlanOutcome::Found(path) = &made.outcome else {
                // A point may have no free posture that the search comes to in time.
                let alone =
                    make_plan(planned, &mut collider, &mut planner, &start, &goal, &request);
                assert!(!matches!(alone.unwrap().outcome, PlanOutcome::Found(_)));
                continue;
            };
            by_policy += usize::from(made.found_by == "policy");
            assert_eq!(path.waypoints[0], start);
            assert!(made.goal.reached_m.unwrap() < 2e-4, "{:?}", made.goal.reached_m);
            let boxes: Vec<_> = episode.boxes().iter().map(|(of, _)| *of).collect();
            assert_eq!(touching_postures(&arm, &boxes, &path.waypoints).unwrap(), 0);
            // The motion that is sent, not only the path.
            let motion = made.trajectory.unwrap();
            let moments: Vec<Vec<f64>> = motion.moments(100.0).map(|m| m.positions).collect();
            assert_eq!(touching_postures(&arm, &boxes, &moments).unwrap(), 0);
        }
        assert!(by_policy >= 30, "rung {}: {by_policy} of 40", rung.name());
    }
}

/// The second checker finds what touches: it is not blind.
#[test]
fn the_second_checker_sees_what_the_collider_sees() {
    let arm = ReachArm::load("ur5e").unwrap();
    let reach = Arc::new(ReachSettings { world: Rung::B.evaluation(), ..ReachSettings::default() });
    let set = EpisodeSet::draw(&Arc::new(arm.clone()), &reach, (5, "test"), 60).unwrap();
    let planned = arm.planned();
    let settings = ColliderSettings::default();
    let mut collider = Collider::new(planned, &Obstacles::default(), &settings).unwrap();
    let (mut touching, mut rng) = (0, Rng::new(2));
    for episode in &set.episodes {
        collider.set_obstacles(&episode.obstacles()).unwrap();
        let boxes: Vec<_> = episode.boxes().iter().map(|(of, _)| *of).collect();
        for _ in 0..20 {
            let posture: Vec<f64> = episode
                .start()
                .iter()
                .zip(episode.goal())
                .map(|(a, b)| a + (b - a) * rng.unit() + rng.uniform(-0.3, 0.3))
                .collect();
            let gap = collider.clearance_m(&citrange_plan::Config::of(&posture));
            let found = touching_postures(&arm, &boxes, &[posture]).unwrap() > 0;
            if gap.abs() > 1e-3 {
                assert_eq!(found, gap < 0.0, "{gap}");
                touching += usize::from(found);
            }
        }
    }
    assert!(touching > 50, "{touching}");
}

#[test]
fn another_robot_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let arm = Arc::new(ReachArm::load("ur5e").unwrap());
    let train = TrainSettings {
        environments: 16,
        minibatch: 512,
        total_steps: 512,
        evaluate_every: 1,
        evaluation_episodes: 16,
        ..TrainSettings::default()
    };
    let reach = ReachSettings::default();
    let mut trainer = Trainer::begin(folder.path(), arm, (reach, train, None), 1).unwrap();
    trainer.iterate().unwrap();
    let mut finder = ReachFinder::load(folder.path(), 0).unwrap();
    let panda = ReachArm::load("panda").unwrap();
    let planned: &PlannedArm = panda.planned();
    let limits: Vec<JointLimit> = planned.limits().to_vec();
    assert_eq!(limits.len(), 7);
    let far = Obstacles::of(vec![PosedShape::sphere([3.0, 3.0, 3.0], 0.1)]);
    let mut collider = Collider::new(planned, &far, &ColliderSettings::default()).unwrap();
    let request = PlanRequest::default();
    let mut planner = Planner::new(planned.limits(), request.search.clone()).unwrap();
    let start = panda.home()[..7].to_vec();
    let mut goal = start.clone();
    goal[0] += 0.5;
    let goal = PlanGoal::Joints(goal);
    let tools = (&mut collider, &mut planner);
    let error = make_plan_with(planned, tools, &mut finder, &start, &goal, &request).unwrap_err();
    assert!(error.to_string().contains("ur5e"), "{error}");
}
