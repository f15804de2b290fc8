//! Robots and random states for the tests.
#![allow(unreachable_pub)] // shared by the test files

use std::f64::consts::FRAC_PI_2;

use citrange_control::{
    CartesianController, ControllerMemory, ControllerSettings, ControllerStatus, Scratch, Velocity,
};
use citrange_core::rng::Rng;
use citrange_robot::{Chain, Kinematics};
use nalgebra::Vector3;

pub fn chain(robot: &str) -> Chain {
    let text = match robot {
        "so101" => include_str!("../../../robot/tests/chains/so101.json"),
        "panda" => include_str!("../../../robot/tests/chains/panda.json"),
        "ur5e" => include_str!("../../../robot/tests/chains/ur5e.json"),
        "ur5" => include_str!("../../../robot/tests/chains/ur5.json"),
        other => panic!("{other}"),
    };
    serde_json::from_str(text).unwrap()
}

/// Control rate of each robot's scene.
pub fn hz(robot: &str) -> u32 {
    match robot {
        "so101" => 180,
        "panda" => 20,
        _ => 100,
    }
}

/// A start pose with room in every direction.
pub fn ready(robot: &str) -> Vec<f64> {
    match robot {
        "so101" => vec![0.2, 0.1, 0.2, FRAC_PI_2 - 0.3, 0.0, 0.5],
        "panda" => vec![0.0, 0.196, 0.0, -2.618, 0.0, 2.94, 0.785, 0.02, -0.02],
        _ => vec![-FRAC_PI_2, -FRAC_PI_2, FRAC_PI_2, -FRAC_PI_2, -FRAC_PI_2, 0.0],
    }
}

pub struct Drive {
    pub controller: CartesianController,
    pub memory: ControllerMemory,
    pub scratch: Scratch,
    pub targets: Vec<f64>,
}

impl Drive {
    pub fn new(robot: &str, profile: &str, floor: Option<f64>, start: &[f64]) -> Self {
        let settings = ControllerSettings::load(profile).unwrap();
        let controller =
            CartesianController::new(chain(robot), &settings, hz(robot), floor).unwrap();
        Self::of(controller, start)
    }

    pub fn of(controller: CartesianController, start: &[f64]) -> Self {
        let memory = controller.begin(start, start);
        let scratch = controller.scratch();
        Self { memory, scratch, targets: start.to_vec(), controller }
    }

    /// A tick of an arm that is always where the controller wants it.
    pub fn step(&mut self, wanted: &Velocity) -> ControllerStatus {
        let measured = self.memory.desired().to_vec();
        self.step_with(&measured, wanted, false)
    }

    pub fn steps(&mut self, count: u32, wanted: &Velocity) {
        (0..count).for_each(|_| {
            self.step(wanted);
        });
    }

    pub fn step_with(
        &mut self,
        measured: &[f64],
        wanted: &Velocity,
        brake: bool,
    ) -> ControllerStatus {
        let Self { controller, memory, scratch, targets } = self;
        controller.step(memory, scratch, measured, wanted, brake, targets)
    }

    pub fn at(&self, tool: bool) -> Vector3<f64> {
        let chain = self.controller.chain();
        let mut kinematics = Kinematics::new(chain);
        kinematics.update(self.memory.desired());
        kinematics.site(if tool { &chain.tool } else { &chain.wrist }).pos_m
    }

    pub fn lowest(&self) -> f64 {
        let mut kinematics = Kinematics::new(self.controller.chain());
        kinematics.update(self.memory.desired());
        kinematics.lowest_m()
    }
}

pub fn linear(v: Vector3<f64>) -> Velocity {
    Velocity { linear_m_s: v.into(), ..Velocity::ZERO }
}

/// A random direction.
pub fn direction(rng: &mut Rng) -> Vector3<f64> {
    loop {
        let v = Vector3::from_fn(|_, _| rng.uniform(-1.0, 1.0));
        if (0.1..1.0).contains(&v.norm()) {
            return v.normalize();
        }
    }
}

/// Joints of an SO-101 whose tool points straight down, with the wrist where that is possible,
/// `inside_m` from the border; with the wrist's distance from the pan axis and height.
pub fn vertical(rng: &mut Rng, inside_m: f64) -> (Vec<f64>, f64, f64) {
    let chain = chain("so101");
    let mut kinematics = Kinematics::new(&chain);
    loop {
        let mut q: Vec<f64> = chain
            .joints
            .iter()
            .map(|j| j.range.unwrap())
            .map(|[low, high]| rng.uniform(low + 0.1, high - 0.1))
            .collect();
        q[3] = FRAC_PI_2 - q[1] - q[2];
        let [low, high] = chain.joints[3].range.unwrap();
        kinematics.update(&q);
        let wrist = kinematics.site(&chain.wrist).pos_m;
        let pan = kinematics.anchor(0);
        let (r, z) = ((wrist - pan).xy().norm(), wrist.z);
        let table = [(0.15, 0.050, 0.279), (0.20, 0.068, 0.261), (0.25, 0.144, 0.185)];
        let fits = table.windows(2).any(|rows| {
            let [(z0, from0, to0), (z1, from1, to1)] = [rows[0], rows[1]];
            let t = (z - z0) / (z1 - z0);
            let from = from0 + t * (from1 - from0) + inside_m;
            let to = to0 + t * (to1 - to0) - inside_m;
            (0.0..=1.0).contains(&t) && (from..=to).contains(&r)
        });
        if fits && (low + inside_m..high - inside_m).contains(&q[3]) {
            return (q, r, z);
        }
    }
}
