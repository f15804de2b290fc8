//! Simulated arms follow motions, and pilots stop where an arm does not.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_core::yaml::from_yaml;
use citrange_core::{
    Commanded, DictObjectState, DictRobotState, DictState, Observation, Outcome, Pilot, Rig,
    Verdict,
};
use citrange_plan::{
    Config, Feedforward, JointLimit, Motions, PilotSettings, PlanPilot, TimingSettings, Trajectory,
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
        let limit = |j: &citrange_control::ChainJoint| {
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
        Feedforward::new(&chain, &self.scene.robots["robot0"].servos["default"]).unwrap()
    }

    fn trajectory(&self, points: &[Vec<f64>], scale: f64) -> Trajectory {
        let settings = TimingSettings { scale, ..TimingSettings::default() };
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

    /// Puts the arm to a place, at rest.
    fn place(&mut self, arm: &[f64]) -> Vec<f64> {
        let all = arm.iter().chain(&self.home[arm.len()..]);
        let names = || self.rig.spec().joints.iter().map(|j| j.name.clone());
        let object = DictObjectState {
            dof_pos: Some(names().zip(all.copied()).collect()),
            dof_vel: Some(names().map(|n| (n, 0.0)).collect()),
            ..DictObjectState::default()
        };
        let robot = DictRobotState { object, ..DictRobotState::default() };
        let state = DictState { robots: [("robot0".into(), robot)].into(), ..Default::default() };
        self.rig.world_mut().set_dict_states(&[state], None).unwrap();
        self.rig.begin()
    }

    /// Follows a plan to its end: the largest error of a joint at every tick, and the outcome.
    /// `None` when the arm ran into itself, which is not what is measured here.
    fn follow(&mut self, pilot: &mut PlanPilot) -> Option<(Vec<f64>, Outcome)> {
        let mut targets = self.place(&pilot.trajectory().sample(0.0).positions);
        let (mut seen, mut commanded) = (Observation::default(), Commanded::default());
        let (mut errors, mut events) = (Vec::new(), Vec::new());
        loop {
            self.rig.observe(false, &mut seen).unwrap();
            let wanted = pilot.wanted().positions;
            let off = wanted.iter().zip(&seen.joint_pos).map(|(w, s)| (w - s).abs());
            errors.push(off.fold(0.0, f64::max).to_degrees());
            if let Verdict::Done(outcome) = pilot.decide(&seen, &mut targets, &mut events).unwrap()
            {
                return Some((errors, outcome));
            }
            self.rig.act(&targets, &mut commanded).unwrap();
            if self.rig.world().contact_summary(0).unwrap().0 > 0 {
                return None;
            }
        }
    }
}

const UR_RATES: &str = "{physics_hz: 500, control_hz: 100, frame_hz: 20}";

fn follows(robot: &str, rates: &str, scale: f64) {
    let mut alone = Alone::new(robot, rates);
    let mut all: Vec<f64> = Vec::new();
    let mut plans = 0;
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let points = alone.waypoints(4, &mut rng);
        let mut pilot = alone.pilot(alone.trajectory(&points, scale));
        let slowed = pilot.slowed();
        let Some((errors, outcome)) = alone.follow(&mut pilot) else { continue };
        let worst = errors.iter().copied().fold(0.0, f64::max);
        if std::env::var("MEASURE").is_ok() {
            eprintln!("{robot} seed {seed} worst {worst:.3} slowed {slowed:.2} {:?} {:.2}s", outcome, pilot.trajectory().duration_s());
        } else {
            assert!(worst < 1.0, "{robot}, seed {seed}: {worst} degrees");
            assert_eq!(outcome.reason, "reached");
        }
        all.extend(errors);
        plans += 1;
        if plans == 30 {
            break;
        }
    }
    all.sort_by(f64::total_cmp);
    if std::env::var("MEASURE").is_ok() {
        eprintln!("{robot} scale {scale}: plans {plans} max {:.3} p99 {:.3} p50 {:.3}", all[all.len() - 1], all[all.len() * 99 / 100], all[all.len() / 2]);
    }
    assert_eq!(plans, 30);
}

#[test]
fn a_ur5e_follows() {
    follows("ur5e", UR_RATES, 1.0);
}

#[test]
fn a_ur5_follows() {
    follows("ur5", UR_RATES, 1.0);
}

#[test]
fn a_panda_follows() {
    follows("panda", UR_RATES, 1.0);
}

#[test]
fn an_so101_follows() {
    follows("so101", UR_RATES, 1.0);
}
