//! A pilot of your own: something that decides where the joints should go.
//!
//! `cargo run -p citrange-examples --bin own_pilot`

use std::f64::consts::TAU;
use std::sync::Arc;

use citrange_core::tape::NoTape;
use citrange_core::{
    BoxError, Command, Notes, Observation, Outcome, Pilot, RunSettings, Start, Verdict, run,
};
use citrange_sim::{CompiledScene, SimRig, load_scene};

/// Swings the first joint to and fro once, in two seconds.
struct Swing {
    /// Where the joint is when the episode begins.
    middle_rad: f64,
    control_hz: f64,
}

impl Pilot for Swing {
    fn name(&self) -> &str {
        "swing"
    }

    /// An episode begins: learn what is driven, and from where.
    fn begin(&mut self, start: &Start<'_>) -> Result<(), BoxError> {
        self.middle_rad = start.targets[0];
        self.control_hz = f64::from(start.spec.rates.control_hz);
        Ok(())
    }

    /// One control tick: what is seen comes in, `command` holds the last targets and is changed.
    fn decide(
        &mut self,
        seen: &Observation,
        command: &mut Command,
        _notes: &mut Notes,
    ) -> Result<Verdict, BoxError> {
        // Count ticks, not seconds of a clock: then a replay is the same motion.
        let time_s = seen.tick as f64 / self.control_hz;
        if time_s >= 2.0 {
            let outcome = Outcome { success: Some(true), reason: "swung".to_owned() };
            return Ok(Verdict::Done(outcome));
        }
        command.pos[0] = self.middle_rad + 0.3 * (TAU * time_s / 2.0).sin();
        Ok(Verdict::Go)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = Arc::new(CompiledScene::new(&load_scene("block_box")?)?);
    // The rig carries commands out. This one is simulated, without cameras.
    let mut rig = SimRig::new(scene, Some(&[]))?;
    let mut pilot = Swing { middle_rad: 0.0, control_hz: 1.0 };
    // One loop serves all: pilot, rig, and a tape that keeps what happens (here: none).
    let report = run(&mut pilot, &mut rig, NoTape, &RunSettings::default())?;
    println!("{} after {} ticks", report.outcome.reason, report.ticks);
    println!("the first joint is at {:.2} rad", rig.joint_positions()[0]);
    Ok(())
}
