//! Kinds of motion: straight lines and kept directions, over random problems of several robots,
//! judged by dense sampling with forward kinematics that the planner does not use; things in the
//! hand, allowed pairs, goals of which any will do.

mod support;

use citrange_core::rng::Rng;
use citrange_core::shape::PosedShape;
use citrange_plan::{
    AllowedTouch, Collider, ColliderSettings, Config, HeldThing, Motions, Obstacles, PathEnd,
    PlanGoal, PlanOutcome, PlanRequest, PlannedArm, Planner, StraightSettings, StraightStop,
    ToolCone, Touched, Trajectory, make_plan,
};
use citrange_robot::Robot;
use citrange_sim::catalog::robot_description;
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use support::Brute;

const ROBOTS: [&str; 3] = ["ur5e", "panda", "so101"];

/// Problems of each robot; more with `CITRANGE_EPISODES`.
fn rounds() -> usize {
    let asked = std::env::var("CITRANGE_EPISODES").ok().and_then(|n| n.parse().ok());
    asked.unwrap_or(12)
}

fn arm_of(name: &str) -> PlannedArm {
    let described = robot_description(name).unwrap();
    let home = described.pose(&described.home).unwrap().to_vec();
    PlannedArm::described(Robot::load(name).unwrap(), &described, &home).unwrap()
}

/// Where the tool is, by the chain alone.
fn tool(arm: &PlannedArm, joints: &[f64]) -> Isometry3<f64> {
    let mut all = arm.held().to_vec();
    all[..joints.len()].copy_from_slice(joints);
    let poses = arm.body().forward_kinematics(&all).unwrap();
    let site = &arm.body().chain().tool;
    poses[site.link + 1] * site.link_from_site.isometry()
}

/// A free configuration whose tool is above the floor that the arm stands on.
fn free(rng: &mut Rng, arm: &PlannedArm, collider: &mut Collider) -> Vec<f64> {
    loop {
        let limits = arm.limits().iter();
        let part = limits.map(|l| [0.1, 0.9].map(|f| l.range[0] + f * (l.range[1] - l.range[0])));
        let at: Vec<f64> = part.map(|[low, high]| rng.uniform(low, high)).collect();
        if collider.is_free(&Config::of(&at)) && tool(arm, &at).translation.z > 0.1 {
            return at;
        }
    }
}

/// Spheres here and there.
fn clutter(rng: &mut Rng, count: usize, reach_m: f64) -> Obstacles {
    let mut solids = Vec::new();
    while solids.len() < count {
        let mut at = || rng.uniform(-reach_m, reach_m);
        let at_m = [at(), at(), at().abs() + 0.1 * reach_m];
        // Not where the arm stands.
        if at_m[0].hypot(at_m[1]) > 0.4 * reach_m {
            solids.push(PosedShape::sphere(at_m, 0.07 * reach_m));
        }
    }
    Obstacles::of(solids)
}

fn collider_of(arm: &PlannedArm, obstacles: &Obstacles) -> Collider {
    Collider::new(arm, obstacles, &ColliderSettings::default()).unwrap()
}

fn planner(arm: &PlannedArm, request: &PlanRequest) -> Planner {
    Planner::new(arm.limits(), request.search.clone()).unwrap()
}

fn plan(
    arm: &PlannedArm,
    collider: &mut Collider,
    start: &[f64],
    goal: &PlanGoal,
    request: &PlanRequest,
) -> citrange_plan::MadePlan {
    make_plan(arm, collider, &mut planner(arm, request), start, goal, request).unwrap()
}

fn limits_hold(arm: &PlannedArm, motion: &Trajectory, what: &str) {
    let mut last: Option<citrange_plan::Moment> = None;
    for moment in motion.moments(1000.0) {
        for (j, limit) in arm.limits().iter().enumerate() {
            let [low, high] = limit.range;
            let slack = 1e-5;
            assert!((low - slack..=high + slack).contains(&moment.positions[j]), "{what}");
            assert!(moment.velocities[j].abs() <= limit.velocity * (1.0 + slack), "{what} v");
            let most = limit.acceleration * (1.0 + slack);
            assert!(moment.accelerations[j].abs() <= most, "{what} a");
            assert!(moment.jerks[j].abs() <= limit.jerk * (1.0 + slack), "{what} j");
            if let Some(last) = &last {
                let jump = (moment.accelerations[j] - last.accelerations[j]).abs();
                let dt = moment.time_s - last.time_s;
                assert!(jump <= limit.jerk * dt * (1.0 + slack) + 1e-6, "{what}: jumps");
            }
        }
        last = Some(moment);
    }
}

#[test]
fn straight_lines_are_straight_and_free_or_say_why_not() {
    let mut rng = Rng::new(31);
    for name in ROBOTS {
        let arm = arm_of(name);
        let reach_m = if name == "so101" { 0.4 } else { 0.9 };
        let has_wrist = arm.joints() >= 6;
        let (mut found, mut blocked, mut limited, mut singular, mut beyond) = (0, 0, 0, 0, 0);
        for round in 0..3 * rounds() {
            let obstacles = clutter(&mut rng, 6, reach_m);
            let mut collider = collider_of(&arm, &obstacles);
            let start = free(&mut rng, &arm, &mut collider);
            let from = tool(&arm, &start);
            let by = Vector3::from_fn(|_, _| rng.uniform(-0.4, 0.4) * reach_m);
            let to = from.translation.vector + by;
            // Every other one turns on the way.
            let turns = has_wrist && round % 2 == 1;
            let axis = Vector3::from_fn(|_, _| rng.uniform(-0.4, 0.4));
            let turned = UnitQuaternion::from_scaled_axis(axis) * from.rotation;
            let end = if turns { turned } else { from.rotation };
            let (roll, pitch, yaw) = end.euler_angles();
            let goal = match turns {
                true => PlanGoal::Pose { at_m: to.into(), roll_pitch_yaw_rad: [roll, pitch, yaw] },
                false => PlanGoal::Point { at_m: to.into() },
            };
            let straight = StraightSettings::default();
            let request = PlanRequest { straight: Some(straight), ..PlanRequest::default() };
            let made = plan(&arm, &mut collider, &start, &goal, &request);
            let what = format!("{name} {round}");
            let motion = match &made.outcome {
                PlanOutcome::Found(_) => made.trajectory.as_ref().unwrap(),
                PlanOutcome::NotStraight { fault } => {
                    match &fault.why {
                        StraightStop::Collision { .. } => blocked += 1,
                        StraightStop::JointLimit { .. } => limited += 1,
                        StraightStop::Singularity => singular += 1,
                        StraightStop::OutOfReach => beyond += 1,
                        other => panic!("{what}: {other:?}"),
                    }
                    assert!((0.0..=1.0).contains(&fault.fraction), "{what}");
                    continue;
                }
                other => panic!("{what}: {other:?}"),
            };
            found += 1;
            limits_hold(&arm, motion, &what);
            let (off_m, turned_rad) = made.straight.unwrap();
            assert!(off_m <= straight.deviation_m, "{what}: {off_m}");
            assert_eq!(motion.sample(0.0).positions, start, "{what}");
            let brute = Brute::new(&arm, &obstacles);
            let mut last_fraction = 0.0;
            for moment in motion.moments(2000.0) {
                let at = tool(&arm, &moment.positions);
                let along = at.translation.vector - from.translation.vector;
                let fraction = (along.dot(&by) / by.norm_squared()).clamp(0.0, 1.0);
                let off = (along - by * fraction).norm();
                assert!(off <= off_m + 1e-9, "{what}: {off} off, {off_m} was proved");
                // It goes on, never back by more than it may be off.
                assert!(fraction > last_fraction - 2e-3, "{what}");
                last_fraction = fraction;
                if has_wrist {
                    let wanted = from.rotation.slerp(&end, fraction);
                    let off = wanted.angle_to(&at.rotation);
                    assert!(off <= turned_rad + 1e-6, "{what}: turned {off}, {turned_rad}");
                    assert!(turned_rad <= straight.turn_rad + 1e-9, "{what}");
                }
                let mut all = arm.held().to_vec();
                all[..arm.joints()].copy_from_slice(&moment.positions);
                assert!(brute.gaps_m(&all)[0] > -1e-6, "{what}: touches at {}", moment.time_s);
            }
            let end = tool(&arm, motion.goal()).translation.vector;
            assert!((end - to).norm() < 1e-5, "{what}");
        }
        eprintln!(
            "{name}: {found} straight, {blocked} blocked, {limited} at limits, {singular} \
             singular, {beyond} out of reach"
        );
        assert!(found >= rounds() / 2 && blocked + limited + singular + beyond > 0, "{name}");
    }
}

#[test]
fn a_direction_is_kept_all_the_way() {
    let mut rng = Rng::new(32);
    for name in ROBOTS {
        let arm = arm_of(name);
        let reach_m = if name == "so101" { 0.4 } else { 0.9 };
        let (mut found, mut tried, mut longer) = (0, 0, 0);
        // An arm of five joints seldom reaches a place with a direction.
        for _ in 0..20 * rounds() {
            if tried == rounds() {
                break;
            }
            let mut obstacles = clutter(&mut rng, 6, reach_m);
            let mut collider = collider_of(&arm, &obstacles);
            let start = free(&mut rng, &arm, &mut collider);
            let half_angle_rad = rng.uniform(3.0, 15.0_f64).to_radians();
            let cone = ToolCone::upright(&arm, &start, half_angle_rad);
            let from = tool(&arm, &start).translation.vector;
            let turn =
                nalgebra::Rotation3::from_axis_angle(&Vector3::z_axis(), rng.uniform(-2.0, 2.0));
            let mut to = turn * from * rng.uniform(0.7, 1.1);
            to.z = (from.z + rng.uniform(-0.2, 0.2) * reach_m).max(0.1);
            // Something between the two, where the tool would pass.
            let half_turned = nalgebra::Rotation3::from_scaled_axis(turn.scaled_axis() / 2.0);
            let between = half_turned * (from * 0.5 + turn.inverse() * to * 0.5);
            let ball = PosedShape::sphere(between.into(), 0.12 * reach_m);
            obstacles.solids.push(ball);
            collider.set_obstacles(&obstacles).unwrap();
            if !collider.is_free(&Config::of(&start)) {
                continue;
            }
            let request = PlanRequest { cone: Some(cone.clone()), ..PlanRequest::default() };
            let goal = PlanGoal::Point { at_m: to.into() };
            let made = plan(&arm, &mut collider, &start, &goal, &request);
            let what = format!("{name} {tried}");
            match &made.outcome {
                PlanOutcome::GoalUnreachable { .. }
                | PlanOutcome::GoalInCollision { .. }
                | PlanOutcome::OffCone { end: PathEnd::Goal, .. } => continue,
                PlanOutcome::NoPath { .. } => {
                    tried += 1;
                    continue;
                }
                PlanOutcome::Found(path) => longer += usize::from(path.waypoints.len() > 2),
                other => panic!("{what}: {other:?}"),
            }
            (found, tried) = (found + 1, tried + 1);
            let motion = made.trajectory.as_ref().unwrap();
            limits_hold(&arm, motion, &what);
            let brute = Brute::new(&arm, &obstacles);
            let axis = Vector3::from(cone.axis_in_tool);
            for moment in motion.moments(1000.0) {
                let at = tool(&arm, &moment.positions);
                let off = (at.rotation * axis).angle(&Vector3::z());
                assert!(off <= half_angle_rad, "{what}: {off} off, {half_angle_rad} allowed");
                let mut all = arm.held().to_vec();
                all[..arm.joints()].copy_from_slice(&moment.positions);
                assert!(brute.gaps_m(&all)[0] > -1e-6, "{what}: touches");
            }
            let end = tool(&arm, motion.goal()).translation.vector;
            assert!((end - to).norm() < 2e-4, "{what}: {}", (end - to).norm());
        }
        eprintln!("{name}: {found} of {tried} found, {longer} around something");
        assert!(found * 10 >= tried * 8 && found > 0, "{name}: {found} of {tried}");
        assert!(longer > 0, "{name}: all of {found} are straight");
    }
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let arm = arm_of("ur5e");
    let mut collider = collider_of(&arm, &Obstacles::default());
    let mut rng = Rng::new(3);
    let start = free(&mut rng, &arm, &mut collider);
    let toward = tool(&arm, &start).rotation * -Vector3::z();
    let cone = ToolCone {
        axis_in_tool: [0.0, 0.0, 1.0],
        axis_in_world: toward.into(),
        half_angle_rad: 0.2,
    };
    let request = PlanRequest { cone: Some(cone.clone()), ..PlanRequest::default() };
    let goal = PlanGoal::Joints(free(&mut rng, &arm, &mut collider));
    let made = plan(&arm, &mut collider, &start, &goal, &request);
    let PlanOutcome::OffCone { end: PathEnd::Start, off_rad, .. } = made.outcome else {
        panic!("{:?}", made.outcome)
    };
    assert!((off_rad - std::f64::consts::PI).abs() < 1e-6);
    for text in ["0 0 1 0 0 1", "0 0 0 0 0 1 5", "0 0 1 0 0 1 0", "0 0 1 0 0 1 x"] {
        assert!(ToolCone::parse(text).is_err(), "{text}");
    }
    assert!(ToolCone::parse("0 0 2 0 0 -1 10").unwrap().axis_in_tool == [0.0, 0.0, 1.0]);
    // A line of no length, and one to several places.
    let request =
        PlanRequest { straight: Some(StraightSettings::default()), ..PlanRequest::default() };
    let here: [f64; 3] = tool(&arm, &start).translation.vector.into();
    let ask = |goal: &PlanGoal, collider: &mut Collider| {
        make_plan(&arm, collider, &mut planner(&arm, &request), &start, goal, &request)
    };
    let error = ask(&PlanGoal::Point { at_m: here }, &mut collider).unwrap_err().to_string();
    assert!(error.contains("there already"), "{error}");
    let either = PlanGoal::parse("0.4 0 0.4 | 0.4 0.1 0.4").unwrap();
    let error = ask(&either, &mut collider).unwrap_err().to_string();
    assert!(error.contains("one place"), "{error}");
}

/// The least gap of held things to solids, and to links that they are not carried by.
fn held_gap_m(arm: &PlannedArm, obstacles: &Obstacles, joints: &[f64]) -> f64 {
    let mut all = arm.held().to_vec();
    all[..joints.len()].copy_from_slice(joints);
    let poses = arm.body().forward_kinematics(&all).unwrap();
    let mut least = f64::INFINITY;
    for thing in arm.things() {
        for sphere in thing.spheres() {
            let centre = poses[thing.link()] * Point3::from(sphere.centre_m);
            for solid in &obstacles.solids {
                let at = solid.pose.isometry().inverse_transform_point(&centre);
                let gap = solid.shape.signed_m(at.coords.into()).0 - sphere.radius_m;
                least = least.min(gap);
            }
        }
    }
    least
}

#[test]
fn what_is_held_touches_nothing_either() {
    let mut rng = Rng::new(33);
    let bare = arm_of("panda");
    let stick = HeldThing::parse(&bare, "capsule 0.015 0.3 at 0 0 0.15").unwrap();
    let arm = bare.clone().holding(vec![stick]).unwrap();
    let (mut found, mut matters, mut own) = (0, 0, 0);
    for round in 0..3 * rounds() {
        let obstacles = clutter(&mut rng, 8, 0.7);
        let mut collider = collider_of(&arm, &obstacles);
        let mut without = collider_of(&bare, &obstacles);
        let start = free(&mut rng, &arm, &mut collider);
        let goal = free(&mut rng, &arm, &mut collider);
        let request = PlanRequest::default();
        let made = plan(&arm, &mut collider, &start, &PlanGoal::Joints(goal.clone()), &request);
        let Some(motion) = &made.trajectory else { continue };
        found += 1;
        for moment in motion.moments(500.0) {
            let gap = held_gap_m(&arm, &obstacles, &moment.positions);
            assert!(gap > -1e-6, "{round}: {gap}");
        }
        // Who does not know of it hits something with it.
        let blind = plan(&bare, &mut without, &start, &PlanGoal::Joints(goal), &request);
        if let Some(motion) = &blind.trajectory {
            let mut moments = motion.moments(200.0);
            matters +=
                usize::from(moments.any(|m| held_gap_m(&arm, &obstacles, &m.positions) < -0.005));
        }
        // Contacts are named, and agree with what is free.
        for _ in 0..40 {
            let at: Vec<f64> =
                arm.limits().iter().map(|l| rng.uniform(l.range[0], l.range[1])).collect();
            let gap = held_gap_m(&arm, &obstacles, &at);
            let contact = collider.contact(&at);
            assert_eq!(contact.is_none(), collider.is_free(&Config::of(&at)), "{contact:?}");
            if gap < -1e-4 {
                assert!(contact.is_some(), "{gap}");
            }
            if let Some(contact) = contact
                && contact.link == "held"
                && let Touched::Link(_) = contact.with
            {
                own += 1;
            }
        }
    }
    eprintln!("{found} found, {matters} where the stick matters, {own} against the arm itself");
    assert!(found >= rounds() && matters > 0 && own > 0, "{found} {matters} {own}");
}

#[test]
fn what_may_touch_may_touch_and_nothing_else() {
    let bare = arm_of("ur5e");
    let thing = HeldThing::parse(&bare, "box 0.04 0.04 0.04 at 0 0 0.02").unwrap();
    let arm = bare.holding(vec![thing]).unwrap();
    let mut rng = Rng::new(34);
    let held = arm.link("held").unwrap();
    let (mut only_held, mut others) = (0, 0);
    for _ in 0..4000 {
        let at: Vec<f64> =
            arm.limits().iter().map(|l| rng.uniform(l.range[0], l.range[1])).collect();
        let middle = tool(&arm, &at) * Point3::new(0.0, 0.0, 0.03);
        let ball = PosedShape::sphere(middle.coords.into(), rng.uniform(0.005, 0.25));
        let plain = Obstacles::of(vec![ball]);
        let mut collider = collider_of(&arm, &plain);
        let own = collider_of(&arm, &Obstacles::default()).is_free(&Config::of(&at));
        if !own {
            continue;
        }
        assert!(!collider.is_free(&Config::of(&at)), "the ball is in the thing");
        let allowed = vec![AllowedTouch { link: held, solid: 0 }];
        let lenient = Obstacles { allowed, ..plain.clone() };
        collider.set_obstacles(&lenient).unwrap();
        // The rest of the arm still counts: as if there were no thing in the hand.
        let mut bare = collider_of(&arm_of("ur5e"), &plain);
        assert_eq!(collider.is_free(&Config::of(&at)), bare.is_free(&Config::of(&at)));
        match collider.contact(&at) {
            None => only_held += 1,
            Some(contact) => {
                assert_ne!(contact.link, "held");
                others += 1;
            }
        }
        if only_held > 20 && others > 20 {
            break;
        }
    }
    assert!(only_held > 20 && others > 20, "{only_held} {others}");
    // Links of the arm: the same with a wrist that may touch.
    let wrist = arm.link("wrist_2_link").or_else(|_| arm.link("wrist_2_joint")).unwrap();
    let at = vec![0.3, -1.2, 1.4, -1.7, -1.5, 0.2];
    let mut all = arm.held().to_vec();
    all[..6].copy_from_slice(&at);
    let centre = arm.body().forward_kinematics(&all).unwrap()[wrist] * Point3::origin();
    let plain = Obstacles::of(vec![PosedShape::sphere(centre.coords.into(), 0.004)]);
    let mut collider = collider_of(&arm, &plain);
    let contact = collider.contact(&at).unwrap();
    let allowed = arm.link_names().enumerate().filter(|(link, _)| *link != 3);
    let allowed = allowed.map(|(link, _)| AllowedTouch { link, solid: 0 }).collect();
    collider.set_obstacles(&Obstacles { allowed, ..plain }).unwrap();
    assert!(collider.contact(&at).is_none(), "{contact:?}");
    assert!(collider.is_free(&Config::of(&at)));
    assert!(arm.clone().allowing(&[["held".to_owned(), "no such".to_owned()]]).is_err());
    assert!(
        HeldThing::parse(&arm, "bxo 1 1 1").is_err() && HeldThing::parse(&arm, "box 1 1").is_err()
    );
}

#[test]
fn any_of_several_goals_will_do() {
    let arm = arm_of("ur5e");
    let mut collider = collider_of(&arm, &Obstacles::default());
    let start = free(&mut Rng::new(8), &arm, &mut collider);
    let request = PlanRequest::default();
    let [far, near] = ["-0.5 0.3 0.4", "0.4 0.3 0.4"].map(|text| PlanGoal::parse(text).unwrap());
    let length = |goal: &PlanGoal, collider: &mut Collider| {
        let made = plan(&arm, collider, &start, goal, &request);
        let PlanOutcome::Found(path) = &made.outcome else { panic!("{:?}", made.outcome) };
        assert!(made.goal.reached_m.unwrap() < 1e-4);
        path.length_rad
    };
    let each = [length(&far, &mut collider), length(&near, &mut collider)];
    let both = PlanGoal::parse("-0.5 0.3 0.4 | 0.4 0.3 0.4 | 9 9 9").unwrap();
    let best = length(&both, &mut collider);
    assert!(best <= each[0].min(each[1]) + 1e-9, "{best} of {each:?}");
    let region = PlanGoal::parse("0.3..0.5 -0.4..0.4 0.3").unwrap();
    let made = plan(&arm, &mut collider, &start, &region, &request);
    let end = tool(&arm, made.trajectory.unwrap().goal()).translation.vector;
    assert!((0.3..=0.5).contains(&end.x) && end.y.abs() <= 0.4 && (end.z - 0.3).abs() < 1e-4);
    assert!(made.goal.reached_m.unwrap() < 1e-4);
    for text in ["0.3..x 0 0", "0.5..0.3 0 0", "0.3..0.4 0", "0.3..0.4 0 0 0..1 0 0", "1 2 3 | "] {
        assert!(PlanGoal::parse(text).is_err(), "{text}");
    }
    let nowhere = PlanGoal::parse("9 9 9 | 8 8 8").unwrap();
    let made = plan(&arm, &mut collider, &start, &nowhere, &request);
    assert!(matches!(made.outcome, PlanOutcome::GoalUnreachable { .. }), "{:?}", made.outcome);
}
