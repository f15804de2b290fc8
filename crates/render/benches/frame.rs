//! Milliseconds of CPU per 640x480 frame of a robot scene, one thread.
//!
//! `cargo bench -p citrange-render [-- part of a case's name]`

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use citrange_render::{Antialias, Camera, Frame, Material, Renderer, Settings, Shape};

#[path = "../tests/support/robot_scene.rs"]
mod robot_scene;
use robot_scene::{RobotScene, rot_xyz, torus};

const RUNS: usize = 100;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let off = Settings { shadows: false, antialias: Antialias::Off, ..Settings::default() };
    let smooth = Settings { antialias: Antialias::Four, ..off };
    let all = Settings::default();
    let cases = [
        ("plain", 0, 0, off),
        ("antialias 4", 0, 0, smooth),
        ("antialias 8", 0, 0, Settings { antialias: Antialias::Eight, ..off }),
        ("antialias 4, 1 shadow light", 1, 0, all),
        ("antialias 4, 2 shadow lights", 2, 0, all),
        (
            "antialias 4, 2 shadow lights of 512 texels",
            2,
            0,
            Settings { shadow_texels: 512, ..all },
        ),
        ("antialias 4, mesh of 20k triangles", 0, 20_000, smooth),
        ("antialias 4, mesh of 20k, 2 shadow lights", 2, 20_000, all),
    ];
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    for (name, shadow_lights, triangles, settings) in cases {
        if !name.contains(&wanted) {
            continue;
        }
        let mut scene = RobotScene::new(shadow_lights);
        if triangles > 0 {
            let ring = Arc::new(torus(0.15, 0.06, triangles / 100, 50));
            let upright = rot_xyz(1.2, 0.0, 0.4);
            scene.add(Shape::Mesh(ring), Material::default(), [0.5, 0.1, 0.95], upright);
        }
        let camera = Camera::look_at([1.2, -1.1, 1.5], [0.35, 0.0, 0.78], 0.8, 640, 480);
        let mut renderer = Renderer::new();
        let mut frame = Frame::new();
        let mut times = Vec::with_capacity(RUNS);
        let cpu_start = cpu_ms()?;
        for _ in 0..RUNS {
            let start = Instant::now();
            let result =
                renderer.render(&scene.model, &scene.placements, &camera, &settings, &mut frame);
            times.push(start.elapsed().as_secs_f64() * 1e3);
            if let Err(error) = result {
                return writeln!(out, "{name}: {error}");
            }
        }
        let cpu = (cpu_ms()? - cpu_start) / RUNS as f64;
        times.sort_by(f64::total_cmp);
        let instances = scene.model.instances.len();
        let (median, best) = (times[RUNS / 2], times[0]);
        writeln!(
            out,
            "{name:44} {instances} instances  cpu {cpu:6.2} ms  wall median {median:6.2}  best {best:6.2}"
        )?;
    }
    Ok(())
}

/// CPU time of this thread in ms, in steps of the kernel's tick: for means over many frames.
fn cpu_ms() -> std::io::Result<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    nanos.map(|n| n * 1e-6).ok_or_else(|| std::io::Error::other("no CPU time in schedstat"))
}
