//! Writes a robot's body (shapes, covering spheres, pairs of links) as JSON to standard output:
//! `cargo run -p citrange-sim --example body -- ur5 > ur5.json`. Overhang in metres as a second
//! argument.
#![allow(clippy::print_stdout)] // the JSON is the point of it

use citrange_core::yaml::from_yaml;
use citrange_robot::{Robot, RobotSettings};
use citrange_sim::{CompiledScene, SceneSource};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let robot = arguments.next().unwrap_or_else(|| "ur5".into());
    let text = format!(
        "name: t\ntitle: t\nrates: {{physics_hz: 500, control_hz: 500, frame_hz: 50}}\n\
         robots: {{robot0: {{model: {robot}}}}}\n"
    );
    let scene = from_yaml(&text, "a robot alone")?;
    let scene = CompiledScene::new(&SceneSource { scene, folder: ".".into() })?;
    let description = &scene.robots["robot0"];
    let mut settings = RobotSettings {
        home: description.poses.get(&description.home).cloned(),
        allowed_pairs: scene.allowed_pairs("robot0")?,
        ..RobotSettings::default()
    };
    if let Some(overhang) = arguments.next() {
        settings.overhang_m = overhang.parse()?;
    }
    let body = Robot::new(&scene.chain("robot0")?, &scene.link_shapes("robot0")?, &settings)?;
    println!("{}", serde_json::to_string(&body)?);
    Ok(())
}
