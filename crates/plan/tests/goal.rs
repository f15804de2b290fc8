//! Goals are checked before anything is planned: what is wrong is said, with figures, and
//! nothing that touches is ever handed on.

use std::f64::consts::{FRAC_PI_2, PI};

use citrange_core::rng::Rng;
use citrange_core::shape::PosedShape;
use citrange_plan::{
    Collider, ColliderSettings, Collision, Config, Contacts, GoalReport, GoalSettings, JointLimit,
    Motions, Obstacles, PathEnd, PlanGoal, PlanOutcome, PlannedArm, Touched, check_goal,
};
use citrange_robot::Robot;
use nalgebra::{Isometry3, Point3, Rotation3, Vector3};

/// Up and bent, in front of the robot's base.
const START: [f64; 6] = [0.0, -1.2, 1.4, -1.7, -FRAC_PI_2, 0.0];

fn arm_of(range: [f64; 2]) -> PlannedArm {
    let body: Robot =
        serde_json::from_str(include_str!("../../../benches/plan/ur5_robotiq.json")).unwrap();
    let limit = JointLimit { range, velocity: 3.0, acceleration: 10.0, jerk: 100.0 };
    PlannedArm::new(body, vec![limit; 6], &[0.0; 6]).unwrap()
}

fn arm() -> PlannedArm {
    arm_of([-PI, PI])
}

/// The robot's balls among other balls, one by one and in double precision.
struct Balls {
    arm: PlannedArm,
    spheres: Vec<([f64; 3], f64)>,
}

impl Balls {
    fn new(arm: &PlannedArm, balls: &[([f64; 3], f64)]) -> Self {
        Self { arm: arm.clone(), spheres: balls.to_vec() }
    }

    fn obstacles(&self) -> Obstacles {
        let sphere =
            |(centre_m, radius_m): &([f64; 3], f64)| PosedShape::sphere(*centre_m, *radius_m);
        Obstacles::of(self.spheres.iter().map(sphere).collect())
    }
}

impl Contacts for Balls {
    fn contact(&mut self, at: &[f64]) -> Option<Collision> {
        let body = self.arm.body();
        let mut poses = [Isometry3::identity(); 8];
        body.link_poses(at, &mut poses).unwrap();
        let mut deepest: Option<Collision> = None;
        for sphere in body.spheres() {
            let at = poses[usize::from(sphere.link)] * Point3::from(sphere.centre_m);
            for (number, (centre_m, radius_m)) in self.spheres.iter().enumerate() {
                let gap = (at.coords - Vector3::from(*centre_m)).norm();
                let depth_m = sphere.radius_m + radius_m - gap;
                if depth_m > deepest.as_ref().map_or(0.0, |d| d.depth_m) {
                    let link = body.links().nth(usize::from(sphere.link)).unwrap().to_owned();
                    let with = Touched::Solid { number, shape: "sphere" };
                    deepest = Some(Collision { link, with, depth_m });
                }
            }
        }
        deepest
    }
}

impl Motions for Balls {
    fn joints(&self) -> usize {
        6
    }

    fn is_free(&mut self, at: &Config) -> bool {
        self.contact(&at.positions(6)).is_none()
    }

    fn is_motion_free(&mut self, from: &Config, to: &Config) -> bool {
        (0..=100).all(|step| self.is_free(&from.toward(to, step as f32 / 100.0)))
    }

    fn is_box_free(&mut self, _: &Config, _: &Config) -> bool {
        false
    }
}

fn tool(arm: &PlannedArm, joints: &[f64]) -> Vector3<f64> {
    Vector3::from(arm.body().tool_at(joints).unwrap())
}

fn away(at: &Config, start: &[f64]) -> f64 {
    let at = at.positions(6);
    at.iter().zip(start).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// What must hold of every report, whatever was asked.
fn check_report(arm: &PlannedArm, world: &mut Balls, report: &GoalReport, wanted: &Vector3<f64>) {
    assert_eq!(report.candidates.is_empty(), report.outcome.is_some(), "{report:?}");
    let from = report.escape.map_or(START.to_vec(), |e| e.positions(6));
    for pair in report.candidates.windows(2) {
        assert!(away(&pair[0], &from) <= away(&pair[1], &from) + 1e-6);
    }
    for at in &report.candidates {
        let joints = at.positions(6);
        assert_eq!(arm.outside(PathEnd::Goal, &joints), None);
        assert!(world.is_free(at), "{joints:?} touches something");
        let miss = (tool(arm, &joints) - wanted).norm();
        assert!(miss <= report.reached_m.unwrap() + 1e-9, "{miss} m");
    }
}

#[test]
fn goals_are_read_and_mistakes_are_named() {
    assert_eq!(PlanGoal::parse("0.5 0.2 0.4").unwrap(), PlanGoal::Point { at_m: [0.5, 0.2, 0.4] });
    assert_eq!(
        PlanGoal::parse(" .5,2e-1\t-4 ").unwrap(),
        PlanGoal::Point { at_m: [0.5, 0.2, -4.0] }
    );
    let pose = PlanGoal::parse("1 2 3 0.1 0.2 0.3").unwrap();
    let roll_pitch_yaw_rad = [0.1, 0.2, 0.3];
    assert_eq!(pose, PlanGoal::Pose { at_m: [1.0, 2.0, 3.0], roll_pitch_yaw_rad });
    let arm = arm();
    let joints = PlanGoal::parse_joints("0 -0.78 0 1 2 3", &arm).unwrap();
    assert_eq!(joints, PlanGoal::Joints(vec![0.0, -0.78, 0.0, 1.0, 2.0, 3.0]));
    for (text, words) in [
        ("", ["0 numbers", "3"]),
        ("0.5 0.2", ["2 numbers", "\"0.5 0.2 0.4\""]),
        ("1 2 3 4 5", ["5 numbers", "roll pitch yaw"]),
        ("1 2 3 4 5 6 7", ["7 numbers", "6"]),
        ("0.5 up 0.4", ["word 2, \"up\"", "0.25"]),
        ("0.5 0.2 NaN", ["word 3, \"NaN\"", "finite"]),
        ("inf 0.2 0", ["word 1, \"inf\"", "finite"]),
        ("0.5 0.2 1e400", ["word 3, \"1e400\"", "finite"]),
        ("0.5 0.2 400000", ["400000 m", "1000 m"]),
    ] {
        let error = PlanGoal::parse(text).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{text:?}: {error}");
    }
    let error = PlanGoal::parse_joints("0 1 2", &arm).unwrap_err().to_string();
    assert!(error.contains("3 numbers") && error.contains("wrist_3_joint"), "{error}");
    assert!(PlanGoal::parse_joints("0 1 2 x 4 5", &arm).is_err());
}

#[test]
fn numbers_that_are_none_are_errors_wherever_they_come_from() {
    let arm = arm();
    let mut world = Balls::new(&arm, &[]);
    let settings = GoalSettings::default();
    let good = PlanGoal::Point { at_m: [0.4, 0.2, 1.2] };
    let mut start = START;
    start[3] = f64::NAN;
    assert!(check_goal(&arm, &mut world, &start, &good, &settings).is_err());
    assert!(check_goal(&arm, &mut world, &START[..5], &good, &settings).is_err());
    for goal in [
        PlanGoal::Point { at_m: [f64::NAN, 0.0, 1.0] },
        PlanGoal::Pose { at_m: [0.4, 0.0, 1.0], roll_pitch_yaw_rad: [0.0, f64::INFINITY, 0.0] },
        PlanGoal::Joints(vec![f64::NAN; 6]),
        PlanGoal::Joints(vec![0.0; 5]),
    ] {
        assert!(check_goal(&arm, &mut world, &START, &goal, &settings).is_err(), "{goal:?}");
    }
    for wrong in [-0.01, f64::NAN] {
        let settings = GoalSettings { tolerance_m: wrong, ..settings.clone() };
        assert!(check_goal(&arm, &mut world, &START, &good, &settings).is_err());
    }
}

#[test]
fn points_and_poses_in_the_open_are_reached_exactly_and_nearest_first() {
    let arm = arm();
    let mut world = Balls::new(&arm, &[([0.3, 0.3, 1.9], 0.2)]);
    let mut rng = Rng::new(5);
    for round in 0..60 {
        // Where some joints bring it, so that it can be reached.
        let joints: Vec<f64> = (0..6).map(|_| rng.uniform(-PI, PI)).collect();
        let mut poses = [Isometry3::identity(); 8];
        arm.body().link_poses(&joints, &mut poses).unwrap();
        let hand = poses[6] * arm.body().chain().tool.link_from_site.isometry();
        let at_m: [f64; 3] = hand.translation.vector.into();
        let (roll, pitch, yaw) = hand.rotation.euler_angles();
        let goal = match round % 2 {
            0 => PlanGoal::Point { at_m },
            _ => PlanGoal::Pose { at_m, roll_pitch_yaw_rad: [roll, pitch, yaw] },
        };
        let report = check_goal(&arm, &mut world, &START, &goal, &GoalSettings::default()).unwrap();
        check_report(&arm, &mut world, &report, &hand.translation.vector);
        if !world.is_free(&Config::of(&joints)) {
            continue;
        }
        assert_eq!(report.outcome, None, "{joints:?}");
        assert!(report.reached_m.unwrap() < 1e-4, "{report:?}");
        assert_eq!(report.escape, None);
        assert!(report.warnings.is_empty(), "{report:?}");
        if round % 2 == 1 {
            for at in &report.candidates {
                arm.body().link_poses(&at.positions(6), &mut poses).unwrap();
                let there = poses[6] * arm.body().chain().tool.link_from_site.isometry();
                assert!(there.rotation.angle_to(&hand.rotation) < 1e-4);
            }
        }
    }
}

#[test]
fn what_is_too_far_is_unreachable_by_as_much_as_brute_force_says() {
    let arm = arm();
    let mut world = Balls::new(&arm, &[]);
    let mut rng = Rng::new(9);
    for proceed_anyway in [false, true] {
        for _ in 0..4 {
            let turn = rng.uniform(-PI, PI);
            let at = Vector3::new(1.5 * turn.cos(), 1.5 * turn.sin(), rng.uniform(0.8, 1.6));
            let settings = GoalSettings { proceed_anyway, ..GoalSettings::default() };
            let goal = PlanGoal::Point { at_m: at.into() };
            let report = check_goal(&arm, &mut world, &START, &goal, &settings).unwrap();
            let Some(PlanOutcome::GoalUnreachable { nearest_m, tolerance_m, .. }) = report.outcome
            else {
                panic!("{report:?}");
            };
            assert_eq!(tolerance_m, 1e-4);
            let mut best = (f64::INFINITY, START);
            for trial in 0..40_000 {
                let width = 0.5 * 0.9995_f64.powi((trial - 20_000).max(0));
                let mut joints = START;
                for (joint, kept) in joints.iter_mut().zip(best.1) {
                    *joint = match trial < 20_000 {
                        true => rng.uniform(-PI, PI),
                        false => (kept + width * rng.uniform(-1.0, 1.0)).clamp(-PI, PI),
                    };
                }
                let miss = (tool(&arm, &joints) - at).norm();
                if miss < best.0 {
                    best = (miss, joints);
                }
            }
            assert!((nearest_m - best.0).abs() < 0.01, "{nearest_m} m, by force {} m", best.0);
            assert!(report.candidates.is_empty() && report.escape.is_none());
        }
    }
}

#[test]
fn just_out_of_reach_is_near_enough_on_request_and_said() {
    let arm = arm();
    let mut world = Balls::new(&arm, &[]);
    // Straight out: no pose reaches farther from the shoulder.
    let at = tool(&arm, &[0.0, 0.0, 0.0, -FRAC_PI_2, 0.0, 0.0]);
    let shoulder = Vector3::new(0.0, 0.0, 0.9144 + 0.089159);
    let out = (at - shoulder).normalize();
    let far = PlanGoal::Point { at_m: (shoulder + out * 1.5).into() };
    let report = check_goal(&arm, &mut world, &START, &far, &GoalSettings::default()).unwrap();
    let Some(PlanOutcome::GoalUnreachable { nearest_m, .. }) = report.outcome else {
        panic!("{report:?}");
    };
    let wanted = shoulder + out * (1.5 - nearest_m + 0.03);
    let goal = PlanGoal::Point { at_m: wanted.into() };
    let report = check_goal(&arm, &mut world, &START, &goal, &GoalSettings::default()).unwrap();
    assert!(matches!(report.outcome, Some(PlanOutcome::GoalUnreachable { .. })), "{report:?}");
    let about = GoalSettings { tolerance_m: 0.05, ..GoalSettings::default() };
    let report = check_goal(&arm, &mut world, &START, &goal, &about).unwrap();
    check_report(&arm, &mut world, &report, &wanted);
    let reached_m = report.reached_m.unwrap();
    assert!((0.029..0.0311).contains(&reached_m), "{reached_m}");
    assert!(report.warnings.iter().any(|w| w.contains("exactly")), "{report:?}");
}

#[test]
fn a_turn_that_cannot_be_had_is_not_passed_over() {
    let arm = arm();
    let mut world = Balls::new(&arm, &[]);
    let outward = Rotation3::from_euler_angles(0.0, FRAC_PI_2, 0.0);
    let (roll, pitch, yaw) = (outward * Rotation3::from_euler_angles(0.0, PI, 0.0)).euler_angles();
    // At the end of its reach the hand cannot look back at the robot.
    let goal = PlanGoal::Pose { at_m: [0.85, 0.0, 1.0], roll_pitch_yaw_rad: [roll, pitch, yaw] };
    for (tolerance_m, tolerance_rad) in [(0.0, 0.0), (0.05, 0.1)] {
        let settings = GoalSettings { tolerance_m, tolerance_rad, ..GoalSettings::default() };
        let report = check_goal(&arm, &mut world, &START, &goal, &settings).unwrap();
        let Some(PlanOutcome::GoalUnreachable { nearest_m, nearest_rad, .. }) = report.outcome
        else {
            panic!("{report:?}");
        };
        let off_rad = nearest_rad.unwrap();
        assert!(nearest_m > tolerance_m || off_rad > tolerance_rad, "{nearest_m} {off_rad}");
        assert!(nearest_m < 0.5, "{nearest_m}");
    }
}

/// The tool as nearly turned as it can be: refused, unless that is near enough.
#[test]
fn a_turn_is_exact_unless_asked_otherwise() {
    // Five joints cannot have every turn: the last one does not move.
    let body: Robot =
        serde_json::from_str(include_str!("../../../benches/plan/ur5_robotiq.json")).unwrap();
    let limit = |range| JointLimit { range, velocity: 3.0, acceleration: 10.0, jerk: 100.0 };
    let mut limits = vec![limit([-PI, PI]); 6];
    limits[5] = limit([-1e-4, 1e-4]);
    let arm = PlannedArm::new(body, limits, &[0.0; 6]).unwrap();
    let mut world = Balls::new(&arm, &[]);
    let mut poses = [Isometry3::identity(); 8];
    arm.body().link_poses(&[0.3, -1.0, 1.2, -1.5, -1.4, 0.05], &mut poses).unwrap();
    let hand = poses[6] * arm.body().chain().tool.link_from_site.isometry();
    let (roll, pitch, yaw) = hand.rotation.euler_angles();
    let at_m = hand.translation.vector.into();
    let goal = PlanGoal::Pose { at_m, roll_pitch_yaw_rad: [roll, pitch, yaw] };
    let exact = check_goal(&arm, &mut world, &START, &goal, &GoalSettings::default()).unwrap();
    let Some(PlanOutcome::GoalUnreachable { nearest_m, nearest_rad: Some(off_rad), .. }) =
        exact.outcome
    else {
        panic!("{exact:?}");
    };
    // Turned as asked it is off its place, or the other way round.
    assert!(nearest_m > 1e-4 || off_rad > 1.8e-3, "{nearest_m} {off_rad}");
    assert!(nearest_m < 0.1 && off_rad < 0.1, "{nearest_m} {off_rad}");
    let about = GoalSettings { tolerance_m: 0.01, tolerance_rad: 0.1, ..GoalSettings::default() };
    let report = check_goal(&arm, &mut world, &START, &goal, &about).unwrap();
    assert!(report.outcome.is_none(), "{report:?}");
    let (off_m, off_rad) = (report.reached_m.unwrap(), report.reached_rad.unwrap());
    assert!(off_m <= 0.01 && (0.002..0.1).contains(&off_rad), "{off_m} {off_rad}");
    assert!(report.warnings[0].contains("degrees"), "{report:?}");
}

#[test]
fn joints_outside_of_their_limits_are_named() {
    let arm = arm_of([-2.0, 2.0]);
    let mut world = Balls::new(&arm, &[]);
    let settings = GoalSettings { proceed_anyway: true, ..GoalSettings::default() };
    let goal = PlanGoal::Joints(vec![0.0, -1.0, 2.5, 0.0, 0.0, 0.0]);
    let report = check_goal(&arm, &mut world, &START, &goal, &settings).unwrap();
    let expected = PlanOutcome::OutsideLimits {
        end: PathEnd::Goal,
        joint: "elbow_joint".into(),
        position: 2.5,
        range: [-2.0, 2.0],
    };
    assert_eq!(report.outcome, Some(expected));
    let start = [0.0, -1.0, 0.0, -2.5, 0.0, 0.0];
    let goal = PlanGoal::Point { at_m: [0.4, 0.2, 1.2] };
    let report = check_goal(&arm, &mut world, &start, &goal, &settings).unwrap();
    let Some(PlanOutcome::OutsideLimits { end: PathEnd::Start, joint, .. }) = report.outcome else {
        panic!("{report:?}");
    };
    assert_eq!(joint, "wrist_1_joint");
    let report = check_goal(&arm, &mut world, &START, &goal, &settings).unwrap();
    check_report(&arm, &mut world, &report, &Vector3::new(0.4, 0.2, 1.2));
}

#[test]
fn a_goal_in_an_obstacle_is_refused_or_on_demand_kept_away_from() {
    let arm = arm();
    let wanted = Vector3::new(0.1, 0.55, 1.2);
    let mut world = Balls::new(&arm, &[(wanted.into(), 0.08)]);
    assert!(world.is_free(&Config::of(&START)));
    let goal = PlanGoal::Point { at_m: wanted.into() };
    let report = check_goal(&arm, &mut world, &START, &goal, &GoalSettings::default()).unwrap();
    let Some(PlanOutcome::GoalInCollision { contact }) = &report.outcome else {
        panic!("{report:?}");
    };
    assert!(
        matches!(contact.with, Touched::Solid { number: 0, .. }) && contact.depth_m > 0.01,
        "{contact:?}"
    );
    assert!(report.candidates.is_empty());

    let anyway = GoalSettings { proceed_anyway: true, ..GoalSettings::default() };
    let report = check_goal(&arm, &mut world, &START, &goal, &anyway).unwrap();
    check_report(&arm, &mut world, &report, &wanted);
    let reached_m = report.reached_m.unwrap();
    // The tool's point is inside of the hand: it stays out of the ball by more than its radius.
    assert!((0.08..0.3).contains(&reached_m), "{reached_m}");
    assert!(report.warnings.iter().any(|w| w.contains(&format!("{reached_m:.3} m"))));

    let inside = vec![START[0], START[1] + 0.6, START[2], START[3], START[4], START[5]];
    let hand = tool(&arm, &inside);
    let mut world = Balls::new(&arm, &[(hand.into(), 0.05)]);
    let goal = PlanGoal::Joints(inside);
    let report = check_goal(&arm, &mut world, &START, &goal, &GoalSettings::default()).unwrap();
    assert!(matches!(report.outcome, Some(PlanOutcome::GoalInCollision { .. })), "{report:?}");
    let report = check_goal(&arm, &mut world, &START, &goal, &anyway).unwrap();
    check_report(&arm, &mut world, &report, &hand);
    assert!(report.reached_m.unwrap() > 0.02);
}

#[test]
fn nothing_free_for_far_around_stays_refused() {
    let arm = arm();
    // On the other side of the robot.
    let hand = tool(&arm, &START);
    let wanted = Vector3::new(-1.5 * hand.x, -1.5 * hand.y, hand.z);
    let mut world = Balls::new(&arm, &[(wanted.into(), 0.45)]);
    assert!(world.is_free(&Config::of(&START)));
    let anyway =
        GoalSettings { proceed_anyway: true, tolerance_m: 0.05, ..GoalSettings::default() };
    let goal = PlanGoal::Point { at_m: wanted.into() };
    let report = check_goal(&arm, &mut world, &START, &goal, &anyway).unwrap();
    assert!(matches!(report.outcome, Some(PlanOutcome::GoalInCollision { .. })), "{report:?}");
    assert!(report.candidates.is_empty() && report.warnings.len() == 1);
}

#[test]
fn a_start_in_an_obstacle_is_refused_or_on_demand_backed_out_of() {
    let arm = arm();
    let goal = PlanGoal::Point { at_m: [0.4, 0.2, 1.3] };
    let anyway = GoalSettings { proceed_anyway: true, ..GoalSettings::default() };
    let hand = tool(&arm, &START);
    let (mut backed_out, mut too_deep) = (0, 0);
    for at_least_m in [0.0005, 0.005, 0.015, 0.027, 0.035] {
        // From below, until the hand is that deep in it.
        let mut down_m = 0.6;
        let (mut world, contact) = loop {
            let below = hand - Vector3::new(0.0, 0.0, down_m);
            let mut world = Balls::new(&arm, &[(below.into(), 0.1)]);
            match world.contact(&START) {
                Some(contact) if contact.depth_m > at_least_m => break (world, contact),
                _ => down_m -= 0.001,
            }
        };
        let report = check_goal(&arm, &mut world, &START, &goal, &GoalSettings::default()).unwrap();
        assert_eq!(
            report.outcome,
            Some(PlanOutcome::StartInCollision { contact: contact.clone() })
        );
        assert!(report.candidates.is_empty() && report.escape.is_none());

        let report = check_goal(&arm, &mut world, &START, &goal, &anyway).unwrap();
        if contact.depth_m > 0.03 {
            assert_eq!(report.outcome, Some(PlanOutcome::StartInCollision { contact }));
            assert!(report.warnings[0].contains("0.03 m"), "{report:?}");
            too_deep += 1;
            continue;
        }
        check_report(&arm, &mut world, &report, &Vector3::new(0.4, 0.2, 1.3));
        let out = report.escape.unwrap();
        assert!(world.is_free(&out) && away(&out, &START) < 0.3);
        let mut last_m = contact.depth_m;
        for step in 1..=2000 {
            let share = f64::from(step) / 2000.0;
            let at: Vec<f64> =
                out.positions(6).iter().zip(&START).map(|(o, s)| s + (o - s) * share).collect();
            let depth_m = world.contact(&at).map_or(0.0, |c| c.depth_m);
            assert!(depth_m <= last_m + 1e-6, "{down_m}: step {step}, {depth_m} m");
            last_m = depth_m;
        }
        backed_out += 1;
    }
    assert_eq!((backed_out, too_deep), (4, 1));
}

#[test]
fn a_start_held_from_all_sides_stays_refused() {
    let arm = arm();
    // What does not move cannot be moved out: something is in the base by 1 cm.
    let fixed = *arm.body().spheres().iter().find(|s| s.link == 0).unwrap();
    let base = arm.body().chain().world_from_base.isometry();
    let centre = base * Point3::from(fixed.centre_m);
    let below = centre.coords - Vector3::z() * fixed.radius_m;
    let mut world = Balls::new(&arm, &[(below.into(), 0.01)]);
    let contact = world.contact(&START).unwrap();
    assert!((contact.depth_m - 0.01).abs() < 1e-9);
    let anyway = GoalSettings { proceed_anyway: true, ..GoalSettings::default() };
    let goal = PlanGoal::Joints(START.to_vec());
    let report = check_goal(&arm, &mut world, &START, &goal, &anyway).unwrap();
    assert_eq!(report.outcome, Some(PlanOutcome::StartInCollision { contact }));
    assert!(report.escape.is_none() && report.warnings[0].contains("no way out"), "{report:?}");
}

#[test]
fn the_collider_answers_as_well() {
    let arm = arm();
    let wanted = Vector3::new(0.1, 0.55, 1.2);
    let mut plain = Balls::new(&arm, &[(wanted.into(), 0.08)]);
    let obstacles = plain.obstacles();
    let mut collider = Collider::new(&arm, &obstacles, &ColliderSettings::default()).unwrap();
    let goal = PlanGoal::Point { at_m: wanted.into() };
    let report = check_goal(&arm, &mut collider, &START, &goal, &GoalSettings::default()).unwrap();
    assert!(matches!(report.outcome, Some(PlanOutcome::GoalInCollision { .. })), "{report:?}");
    let anyway = GoalSettings { proceed_anyway: true, ..GoalSettings::default() };
    let report = check_goal(&arm, &mut collider, &START, &goal, &anyway).unwrap();
    check_report(&arm, &mut plain, &report, &wanted);
    assert!((0.08..0.3).contains(&report.reached_m.unwrap()), "{report:?}");
    assert!(report.candidates.iter().all(|at| collider.is_free(at)));
    // Backed out of a ball that reaches 2 cm into the hand.
    let hand = tool(&arm, &START);
    let mut down_m = 0.6;
    let touching = loop {
        let below = hand - Vector3::new(0.0, 0.0, down_m);
        let mut world = Balls::new(&arm, &[(below.into(), 0.1)]);
        match world.contact(&START) {
            Some(contact) if contact.depth_m > 0.02 => break world,
            _ => down_m -= 0.001,
        }
    };
    let obstacles = touching.obstacles();
    let mut collider = Collider::new(&arm, &obstacles, &ColliderSettings::default()).unwrap();
    let goal = PlanGoal::Joints(vec![1.5, -1.2, 1.4, -1.7, -FRAC_PI_2, 0.0]);
    let report = check_goal(&arm, &mut collider, &START, &goal, &anyway).unwrap();
    assert!(report.outcome.is_none() && report.candidates.len() == 1, "{report:?}");
    assert!(collider.is_free(&report.escape.unwrap()));
}

/// A place leaves an arm half of its joints' freedom: among the goals is one about as near to the
/// start as any that many more starts find.
#[test]
fn goals_of_a_place_are_as_near_as_can_be() {
    let arm = arm();
    let mut worst = Vec::new();
    let mut rng = Rng::new(11);
    for _ in 0..30 {
        let at_m = [rng.uniform(-0.5, 0.5), rng.uniform(0.3, 0.6), rng.uniform(1.0, 1.5)];
        let nearest_rad = |settings: &GoalSettings| {
            let mut world = Balls::new(&arm, &[]);
            let goal = PlanGoal::Point { at_m };
            let report = check_goal(&arm, &mut world, &START, &goal, settings).unwrap();
            let start = Config::of(&START);
            report.candidates.iter().map(|at| start.distance(at)).fold(f32::INFINITY, f32::min)
        };
        let usual = nearest_rad(&GoalSettings::default());
        let hard = nearest_rad(&GoalSettings { starts: 1000, seed: 9, ..GoalSettings::default() });
        if hard.is_finite() {
            worst.push(usual / hard);
        }
    }
    assert!(worst.len() > 20);
    worst.sort_by(f32::total_cmp);
    assert!(worst[worst.len() / 2] < 1.02 && worst[worst.len() * 9 / 10] < 1.15, "{worst:?}");
}
