//! A rig of your own: something that carries commands out. This one is a motor of one joint that
//! needs time to get where it is sent; a real robot has the same five functions.
//!
//! `cargo run -p citrange-examples --bin own_rig`

use citrange_core::rig::{JointSpec, RigSpec};
use citrange_core::script::Script;
use citrange_core::tape::NoTape;
use citrange_core::{
    BoxError, Command, Commanded, Halt, Observation, Rates, Rig, RunSettings, Want, run,
};

/// The joint must not be sent farther.
const RANGE_RAD: [f64; 2] = [-1.0, 1.0];

struct Motor {
    spec: RigSpec,
    position_rad: f64,
    target_rad: f64,
    ticks: u64,
}

impl Rig for Motor {
    /// What it is: joints, clocks, cameras. Stored with every recorded episode.
    fn spec(&self) -> &RigSpec {
        &self.spec
    }

    /// An episode begins: say which targets are in force.
    fn begin(&mut self, command: &mut Command) -> Result<(), BoxError> {
        self.ticks = 0;
        *command = Command::at(&[self.target_rad]);
        Ok(())
    }

    /// Look: joints every tick, cameras when they are wanted.
    fn observe(&mut self, _want: Want, seen: &mut Observation) -> Result<(), BoxError> {
        seen.tick = self.ticks;
        seen.joint_pos = vec![self.position_rad];
        seen.joint_vel = vec![0.0];
        Ok(())
    }

    /// Send a command, within your limits; say what was really sent.
    fn act(&mut self, command: &Command, commanded: &mut Commanded) -> Result<(), BoxError> {
        self.target_rad = command.pos[0].clamp(RANGE_RAD[0], RANGE_RAD[1]);
        commanded.limited = vec![self.target_rad];
        commanded.executed = vec![self.target_rad];
        Ok(())
    }

    /// Let a tick pass. A real robot leaves this out: its time passes by itself.
    fn advance(&mut self, _commanded: &mut Commanded) -> Result<(), BoxError> {
        self.position_rad += 0.2 * (self.target_rad - self.position_rad);
        self.ticks += 1;
        Ok(())
    }

    /// Come to rest. Called on every way out of an episode, whatever went wrong.
    fn halt(&mut self, how: Halt) {
        self.target_rad = self.position_rad;
        println!("halted: {how:?}");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let joint = JointSpec {
        name: "axis".to_owned(),
        is_slide: false,
        range: Some(RANGE_RAD),
        gripper: None,
    };
    let rates = Rates { physics_hz: 100, control_hz: 100, frame_hz: 20 };
    let spec = RigSpec::new("motor", vec![joint], rates);
    let mut rig = Motor { spec, position_rad: 0.0, target_rad: 0.0, ticks: 0 };
    // Farther than it may go: the rig limits, not the pilot.
    let report = run(Script::to(&[2.0], 100), &mut rig, NoTape, &RunSettings::default())?;
    println!("{} frames, the joint is at {:.2} rad", report.frames, rig.position_rad);
    Ok(())
}
