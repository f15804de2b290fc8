//! Prints what a step of the controller costs, per robot.
//! `cargo run --release -p citrange-control --example step_cost`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use citrange_control::{CartesianController, ControllerSettings, Velocity};
use citrange_robot::Chain;

const STEPS: u32 = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../robot/tests/chains");
    let up = -std::f64::consts::FRAC_PI_2;
    let arms: [(&str, u32, &[f64]); 4] = [
        ("so101", 180, &[0.2, 0.1, 0.2, -up - 0.3, 0.0, 0.5]),
        ("panda", 20, &[0.0, 0.196, 0.0, -2.618, 0.0, 2.94, 0.785, 0.02, -0.02]),
        ("ur5e", 100, &[up, up, -up, up, up, 0.0]),
        ("ur5", 100, &[up, up, -up, up, up, 0.0]),
    ];
    println!("robot   control  median    99 %   ns per step");
    for (robot, hz, start) in arms {
        let text = std::fs::read_to_string(folder.join(format!("{robot}.json")))?;
        let chain: Chain = serde_json::from_str(&text)?;
        let controller =
            CartesianController::new(chain, &ControllerSettings::load("default")?, hz, Some(-0.5))?;
        let mut memory = controller.begin(start, start);
        let mut scratch = controller.scratch();
        let mut targets = start.to_vec();
        let mut measured = start.to_vec();
        let mut costs = Vec::new();
        for step in 0..STEPS {
            // There and back, so that the arm stays in the middle of its workspace.
            let way = if step / hz % 2 == 0 { 0.02 } else { -0.02 };
            let wanted =
                Velocity { linear_m_s: [way, way, way], roll_rad_s: 10.0 * way, ..Velocity::ZERO };
            let begun = Instant::now();
            controller.step(&mut memory, &mut scratch, &measured, &wanted, false, &mut targets);
            costs.push(begun.elapsed().as_nanos());
            measured.copy_from_slice(memory.desired());
        }
        costs.sort_unstable();
        let at = |fraction: usize| costs[costs.len() * fraction / 100];
        println!("{robot:6} {hz:5} Hz {:7} {:7}", at(50), at(99));
    }
    Ok(())
}
