//! Renders a robot at a table to a PNG file.
//!
//! `cargo run --release -p citrange-render --example still_life -- out.png [angle_deg] [plain]`

use std::error::Error;
use std::sync::Arc;

use citrange_render::{Antialias, Camera, Frame, Image, Material, Renderer, Settings, Shape};

#[path = "../tests/support/robot_scene.rs"]
mod robot_scene;
use robot_scene::{RobotScene, rot_xyz, torus};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("give the name of the PNG file to write")?;
    let angle = args.next().map_or(Ok(-50.0), |a| a.parse::<f64>())?.to_radians();
    let style = args.next().unwrap_or_default();
    let mut scene = RobotScene::new(2);
    let ring = Arc::new(torus(0.05, 0.02, 48, 24));
    let green = Material { shininess: 0.7, ..Material::rgb(0.2, 0.6, 0.5) };
    scene.add(Shape::Mesh(ring), green, [0.3, 0.2, 0.745], rot_xyz(0.25, 0.0, 0.3));
    let glass = Material { rgba: [0.5, 0.7, 0.9, 0.35], ..Material::default() };
    let tumbler = Shape::Cylinder { radius_m: 0.04, half_height_m: 0.06 };
    scene.add(tumbler, glass, [0.45, -0.3, 0.78], rot_xyz(0.0, 0.0, 0.0));
    let eye = match style.as_str() {
        "close" => [0.3 + 0.5 * angle.cos(), 0.5 * angle.sin(), 1.0],
        _ => [0.3 + 1.4 * angle.cos(), 1.4 * angle.sin(), 1.5],
    };
    let camera = Camera::look_at(eye, [0.35, 0.0, 0.78], 0.8, 960, 720);
    let settings = match style.as_str() {
        "plain" => Settings { shadows: false, antialias: Antialias::Off, ..Settings::default() },
        _ => Settings::default(),
    };
    let mut frame = Frame::new();
    Renderer::new().render(&scene.model, &scene.placements, &camera, &settings, &mut frame)?;
    Ok(Image::colors(&frame).save(path.as_ref())?)
}
