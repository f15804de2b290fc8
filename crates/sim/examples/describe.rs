//! Compiles a robot once and writes its description to standard output, for use without an engine:
//! `cargo run -p citrange-sim --example describe -- my_robot/robot.yaml > my_robot.json`.
#![allow(clippy::print_stdout)] // the JSON is the point of it

use std::path::Path;

use citrange_sim::compiled_robot;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = std::env::args().nth(1).ok_or("needs a robot's name or its robot.yaml")?;
    print!("{}", compiled_robot(&model, Path::new(""))?.to_json()?);
    Ok(())
}
