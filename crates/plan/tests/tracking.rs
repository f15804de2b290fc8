//! Simulated arms follow motions, and pilots stop where an arm does not.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use citrange_core::rig::JointSpec;
use citrange_core::rng::Rng;
use citrange_core::yaml::from_yaml;
use citrange_core::{
    Command, Commanded, DictObjectState, DictRobotState, DictState, Event, Observation, Outcome,
    Pilot, Rates, Rig, RigSpec, Verdict, Want,
};
use citrange_plan::{
    Config, Feedforward, JointLimit, Moment, Motions, PilotSettings, PlanPilot, TimingSettings,
    Trajectory,
};
use citrange_sim::{CompiledScene, SceneSource, SimRig};

/// A world with nothing in it.
struct Open(usize);

impl Motions for Open {
    fn joints(&self) -> usize {
        self.0
    }
    fn is_free(&mut self, _: &Config) -> bool {
        true
    }
    fn is_motion_free(&mut self, _: &Config, _: &Config) -> bool {
        true
    }
    fn is_box_free(&mut self, _: &Config, _: &Config) -> bool {
        true
    }
}

/// A robot alone, far above the floor.
struct Alone {
    scene: Arc<CompiledScene>,
    rig: SimRig,
    limits: Vec<JointLimit>,
    home: Vec<f64>,
}

impl Alone {
    fn new(robot: &str, rates: &str) -> Self {
        let text = format!(
            "name: t\ntitle: t\nrates: {rates}\nrobots: {{robot0: {{model: {robot}}}}}\n\
             look: {{floor_z_m: -5}}\n"
        );
        let source =
            SceneSource { scene: from_yaml(&text, "t.yaml").unwrap(), folder: PathBuf::new() };
        let scene = Arc::new(CompiledScene::new(&source).unwrap());
        let rig = SimRig::new(Arc::clone(&scene), Some(&[])).unwrap();
        let chain = scene.chain("robot0").unwrap();
        let known = &scene.robots["robot0"];
        let limit = |j: &citrange_robot::ChainJoint| {
            let limits = &known.joint_limits[&j.name];
            JointLimit {
                range: j.range.unwrap(),
                velocity: limits.velocity_rad_s.unwrap(),
                acceleration: limits.acceleration_rad_s2.unwrap(),
                jerk: limits.jerk_rad_s3.unwrap(),
            }
        };
        let limits = chain.joints[..chain.arm_joints].iter().map(limit).collect();
        let home = known.pose(&known.home).unwrap().to_vec();
        Self { rig, limits, home, scene }
    }

    fn feedforward(&self) -> Feedforward {
        let chain = self.scene.chain("robot0").unwrap();
        let servo = &self.scene.robots["robot0"].servos["default"];
        let inertias = self.scene.link_inertias("robot0").unwrap();
        Feedforward::new(&chain, servo, Some(&inertias)).unwrap()
    }

    fn trajectory(&self, points: &[Vec<f64>]) -> Trajectory {
        let settings = TimingSettings::default();
        Trajectory::along(points, &self.limits, &settings, &mut Open(self.limits.len())).unwrap()
    }

    fn pilot(&self, trajectory: Trajectory) -> PlanPilot {
        let (spec, settings) = (self.rig.spec(), PilotSettings::default());
        PlanPilot::new(trajectory, spec, Some(self.feedforward()), settings).unwrap()
    }

    /// Way-points around home, within the middle of the ranges.
    fn waypoints(&self, count: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        let mut draw = |(limit, home): (&JointLimit, &f64)| {
            let [low, high] = limit.range;
            let inside = 0.03 * (high - low);
            rng.uniform((home - 1.6).max(low + inside), (home + 1.6).min(high - inside))
        };
        (0..count).map(|_| self.limits.iter().zip(&self.home).map(&mut draw).collect()).collect()
    }

    /// Puts the arm to a place, with speeds.
    fn place(&mut self, arm: &[f64], speeds: &[f64]) -> Vec<f64> {
        let all = arm.iter().chain(&self.home[arm.len()..]);
        let names = || self.rig.spec().joints.iter().map(|j| j.name.clone());
        let object = DictObjectState {
            dof_pos: Some(names().zip(all.copied()).collect()),
            dof_vel: Some(
                names().zip(speeds.iter().copied().chain(std::iter::repeat(0.0))).collect(),
            ),
            ..DictObjectState::default()
        };
        let robot = DictRobotState { object, ..DictRobotState::default() };
        let state = DictState { robots: [("robot0".into(), robot)].into(), ..Default::default() };
        self.rig.world_mut().set_dict_states(&[state], None).unwrap();
        self.rig.targets()
    }

    /// Follows a plan to its end: the largest error of a joint at every tick, and the outcome.
    /// `None` when the arm ran into itself, which is not what is measured here.
    fn follow(&mut self, pilot: &mut PlanPilot) -> Option<(Vec<f64>, Outcome)> {
        let start = pilot.trajectory().sample(0.0);
        let mut command = Command::at(&self.place(&start.positions, &start.velocities));
        let (mut seen, mut commanded) = (Observation::default(), Commanded::default());
        let (mut errors, mut events) = (Vec::new(), Vec::new());
        loop {
            self.rig.observe(Want::Joints, &mut seen).unwrap();
            let wanted = pilot.wanted().positions;
            let off = wanted.iter().zip(&seen.joint_pos).map(|(w, s)| (w - s).abs());
            errors.push(off.fold(0.0, f64::max).to_degrees());
            if let Verdict::Done(outcome) = pilot.decide(&seen, &mut command, &mut events).unwrap()
            {
                return Some((errors, outcome));
            }
            self.rig.tick(&command, &mut commanded).unwrap();
            if self.rig.world().contact_summary(0).unwrap().0 > 0 {
                // Not because it had left its way before.
                assert!(errors.iter().all(|e| *e < 1.0), "{errors:?}");
                return None;
            }
        }
    }
}

/// Follows random plans at full limits, 30 or `CITRANGE_PLANS` of them: none is left by a degree.
/// The share that had to be slowed down.
fn follows(robot: &str, rates: &str) -> f64 {
    let wanted = std::env::var("CITRANGE_PLANS").map_or(30, |count| count.parse().unwrap());
    let mut alone = Alone::new(robot, rates);
    let (mut plans, mut slowed, mut largest_deg) = (0, 0, 0.0_f64);
    for seed in 0..5 * wanted {
        let points = alone.waypoints(4, &mut Rng::new(seed));
        let mut pilot = alone.pilot(alone.trajectory(&points));
        let Some((errors_deg, outcome)) = alone.follow(&mut pilot) else { continue };
        let worst_deg = errors_deg.iter().copied().fold(0.0, f64::max);
        assert!(worst_deg < 1.0, "{robot}, seed {seed}: {worst_deg} degrees");
        largest_deg = largest_deg.max(worst_deg);
        assert_eq!((outcome.success, outcome.reason.as_str()), (Some(true), "reached"));
        assert_eq!(pilot.trajectory().stops(), 0);
        slowed += i32::from(pilot.slowed() < 1.0);
        plans += 1;
        if plans == wanted {
            println!(
                "{robot}: {plans} plans within {largest_deg:.3} degrees, {slowed} slowed down"
            );
            return f64::from(slowed) / plans as f64;
        }
    }
    panic!("{robot} ran into itself in all but {plans} plans");
}

const RATES: &str = "{physics_hz: 500, control_hz: 100, frame_hz: 20}";

#[test]
fn ur_arms_follow_at_full_limits() {
    assert_eq!((follows("ur5e", RATES), follows("ur5", RATES)), (0.0, 0.0));
}

#[test]
fn a_panda_follows_and_is_slowed_down_where_its_wrist_is_too_weak() {
    let slowed = follows("panda", RATES);
    assert!((0.01..0.5).contains(&slowed), "{slowed}");
}

#[test]
fn an_so101_follows_at_what_its_servos_can_do() {
    assert!(follows("so101", "{physics_hz: 360, control_hz: 180, frame_hz: 30}") > 0.0);
}

#[test]
fn the_end_of_a_range_is_reached_without_lag() {
    let mut alone = Alone::new("panda", RATES);
    let start = alone.home[..7].to_vec();
    let mut goal = start.clone();
    goal[3] = alone.limits[3].range[1];
    let mut pilot = alone.pilot(alone.trajectory(&[start, goal]));
    assert!(pilot.slowed() < 1.0 && pilot.slowed() > 0.2, "{}", pilot.slowed());
    let (errors_deg, outcome) = alone.follow(&mut pilot).unwrap();
    assert_eq!(outcome.reason, "reached");
    assert!(errors_deg.iter().all(|e| *e < 1.0), "{errors_deg:?}");
}

/// Torques against the engine: what it needs at constant speed, and the energy of the motion.
#[test]
fn loads_agree_with_the_engine() {
    for robot in ["ur5e", "ur5", "panda", "so101"] {
        let mut alone = Alone::new(robot, RATES);
        let mut feedforward = alone.feedforward();
        let damping: Vec<_> = alone.scene.link_inertias("robot0").unwrap();
        let places = alone.scene.joint_places("robot0").unwrap();
        let mut rng = Rng::new(5);
        for _ in 0..20 {
            let at = alone.waypoints(1, &mut rng).remove(0);
            let speeds: Vec<f64> = at.iter().map(|_| rng.uniform(-2.0, 2.0)).collect();
            let still = vec![0.0; at.len()];
            let all = alone.home.clone();
            let mut torques = |velocities: &[f64], accelerations: &[f64]| -> Vec<f64> {
                let moment = Moment {
                    time_s: 0.0,
                    positions: at.clone(),
                    velocities: velocities.to_vec(),
                    accelerations: accelerations.to_vec(),
                    jerks: still.clone(),
                };
                feedforward.loads(&moment, &all).map(|load| load.torque_nm).collect()
            };
            let (weight, moving, pushed) =
                (torques(&still, &still), torques(&speeds, &still), torques(&still, &speeds));
            alone.place(&at, &still);
            let potential_j = alone.rig.world_mut().energy(0).unwrap();
            alone.place(&at, &speeds);
            let kinetic_j = alone.rig.world_mut().energy(0).unwrap() - potential_j;
            let bias = alone.rig.world().data(0).unwrap().qfrc_bias();
            let mut ours_j = 0.0;
            for j in 0..at.len() {
                let own = damping[j].damping_nm_s * speeds[j]
                    + damping[j].friction_nm * speeds[j].signum();
                let off = moving[j] - own - bias[places[j]];
                assert!(off.abs() < 1e-9, "{robot}, joint {j}: {off} N m");
                ours_j += 0.5 * speeds[j] * (pushed[j] - weight[j]);
            }
            assert!((ours_j - kinetic_j).abs() < 1e-9, "{robot}: {ours_j} J, {kinetic_j} J");
        }
    }
}

/// A rig of two joints and a gripper, and a motion of a second or two for it.
fn toy() -> (RigSpec, Trajectory) {
    let joint = |name: &str, gripper| JointSpec {
        name: name.into(),
        is_slide: false,
        range: Some([-2.0, 2.0]),
        gripper,
    };
    let joints = vec![joint("a", None), joint("b", None), joint("jaw", Some([0.0, 1.0]))];
    let rates = Rates { physics_hz: 100, control_hz: 100, frame_hz: 10 };
    let spec = RigSpec::new("toy", joints, rates);
    let limit = JointLimit { range: [-2.0, 2.0], velocity: 1.0, acceleration: 5.0, jerk: 50.0 };
    let points = [vec![0.0, 0.0], vec![1.0, 0.0], vec![1.0, 1.0]];
    let settings = TimingSettings::default();
    let motion = Trajectory::along(&points, &[limit; 2], &settings, &mut Open(2)).unwrap();
    (spec, motion)
}

fn toy_pilot() -> PlanPilot {
    let (spec, motion) = toy();
    PlanPilot::new(motion, &spec, None, PilotSettings::default()).unwrap()
}

fn at(joint_pos: &[f64]) -> Observation {
    let joint_vel = vec![0.0; joint_pos.len()];
    Observation { joint_pos: joint_pos.to_vec(), joint_vel, ..Observation::default() }
}

#[test]
fn an_arm_that_does_not_follow_is_stopped_where_it_is() {
    let mut pilot = toy_pilot();
    let (mut command, mut events) = (Command::at(&[0.0, 0.0, 0.7]), vec![]);
    let mut seen = at(&[0.0, 0.0, 0.7]);
    // Something holds the first joint at 0.1.
    let mut farthest = 0.0_f64;
    for tick in 0..1000 {
        seen.joint_pos[..2].copy_from_slice(&[command.pos[0].min(0.1), command.pos[1]]);
        let verdict = pilot.decide(&seen, &mut command, &mut events).unwrap();
        let targets = &command.pos;
        farthest = farthest.max(targets[0]);
        assert_eq!(targets[2], 0.7);
        if let Verdict::Done(outcome) = verdict {
            assert_eq!(outcome, Outcome { success: Some(false), reason: "not_following".into() });
            assert_eq!(targets[..2], [0.1, 0.0]);
            let stop = events.last().map(Event::detail).unwrap();
            assert_eq!((&stop["phase"], &stop["joint"]), (&"stop".into(), &"a".into()));
            assert!(tick < 100 && farthest < 0.4, "tick {tick}, {farthest} rad");
            return;
        }
    }
    panic!("it pushed on");
}

#[test]
fn a_goal_that_is_not_reached_is_no_success() {
    let mut pilot = toy_pilot();
    let (mut command, mut seen) = (Command::at(&[0.0; 3]), at(&[0.0; 3]));
    for _ in 0..1000 {
        // The second joint stays 2 degrees short of its target.
        seen.joint_pos[..2].copy_from_slice(&[command.pos[0], command.pos[1].min(1.0 - 0.035)]);
        match pilot.decide(&seen, &mut command, &mut vec![]).unwrap() {
            Verdict::Go => {}
            Verdict::Done(outcome) => {
                assert_eq!(
                    (outcome.success, outcome.reason.as_str()),
                    (Some(false), "not_reached")
                );
                return;
            }
        }
    }
    panic!("it never ended");
}

#[test]
fn a_motion_begins_only_where_it_starts() {
    let begins = |joints: &[f64]| {
        let seen = at(joints);
        toy_pilot().decide(&seen, &mut Command::at(&vec![0.0; joints.len()]), &mut vec![])
    };
    assert_eq!(begins(&[0.01, 0.0, 0.3]).unwrap(), Verdict::Go);
    let error = begins(&[0.0, 0.2, 0.3]).unwrap_err().to_string();
    assert!(error.contains("not where the plan starts: b is at 0.2"), "{error}");
    let error = begins(&[0.0, f64::NAN, 0.3]).unwrap_err().to_string();
    assert!(error.contains("b is at NaN"), "{error}");
    assert!(begins(&[0.0, 0.0]).unwrap_err().to_string().contains("3 joints"));
    let (mut spec, motion) = toy();
    spec.joints[1].gripper = Some([0.0, 1.0]);
    let error = PlanPilot::new(motion, &spec, None, PilotSettings::default()).unwrap_err();
    assert!(error.to_string().contains("moves 2 joints, the arm has 1"), "{error}");
}

#[test]
fn a_motion_goes_on_from_any_tick_bit_for_bit() {
    // The arm follows by halves, so that what was seen counts; later it is held fast.
    let step = |pilot: &mut PlanPilot, seen: &mut Observation, command: &mut Command| {
        for j in 0..2 {
            let next = 0.5 * (seen.joint_pos[j] + command.pos[j]);
            seen.joint_pos[j] = next.min(0.8);
        }
        pilot.decide(seen, command, &mut vec![]).unwrap()
    };
    let mut pilot = toy_pilot();
    let (mut seen, mut targets) = (at(&[0.0; 3]), Command::at(&[0.0; 3]));
    let mut ticks = 0;
    loop {
        let mut fields = BTreeMap::new();
        pilot.save(&mut fields);
        let mut other = toy_pilot();
        other.load(&fields).unwrap();
        let (mut other_seen, mut other_targets) = (seen.clone(), targets.clone());
        for _ in 0..3 {
            let _ = step(&mut other, &mut other_seen, &mut other_targets);
        }
        let mut ended = false;
        for _ in 0..3 {
            ended |= step(&mut pilot, &mut seen, &mut targets) != Verdict::Go;
        }
        assert_eq!(targets, other_targets, "tick {ticks}");
        ticks += 3;
        if ended {
            break;
        }
    }
    assert!(ticks > 100, "{ticks}");
    let mut wrong = BTreeMap::new();
    assert!(pilot.load(&wrong).unwrap_err().to_string().contains("has none"));
    wrong.insert("pilot/plan".into(), vec![1.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(pilot.load(&wrong).unwrap_err().to_string().contains("of a plan of 1 s"));
    wrong.insert("pilot/plan".into(), vec![pilot.trajectory().duration_s(), 2.0, 0.0, 0.0, 0.0]);
    assert!(pilot.load(&wrong).unwrap_err().to_string().contains("do not fit"));
}
