//! The software and the OpenGL renderer side by side: agreement and CPU time per frame.
//!
//! `cargo run --release -p citrange-sim --example gl_compare -- [egl|osmesa] [FOLDER FOR PICTURES]`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use citrange_render::{Frame, Image, Settings};
use citrange_sim::{CompiledScene, GlKind, GlRenderer, Threads, World, catalog, load_scene};

const FRAMES: u32 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let kind = match args.next().as_deref() {
        None => GlKind::Auto,
        Some("egl") => GlKind::Egl,
        Some("osmesa") => GlKind::Osmesa,
        Some(other) => return Err(format!("{other}: egl or osmesa").into()),
    };
    let folder = args.next();
    println!(
        "scene/camera                              size     ids      depth m  p99 m    rgb   cpu ms: gl  no shadow  software  no shadow"
    );
    for scene in catalog::scene_names() {
        let compiled = CompiledScene::new(&load_scene(scene)?)?;
        let mut world = World::new(Arc::new(compiled), 1, Threads::Exactly(1))?;
        world.reset(7, &[4])?;
        world.step(40)?;
        let mut gl = GlRenderer::new(world.scene(), kind)?;
        let cameras: Vec<String> = world.scene().camera_names().map(str::to_owned).collect();
        for camera in cameras {
            let mut frame = Frame::new();
            let mut gl_ms = [0.0; 2];
            for (ms, shadows) in gl_ms.iter_mut().zip([false, true]) {
                gl.frame(&world, 0, &camera, shadows, &mut frame)?;
                *ms = cpu_ms(|| gl.frame(&world, 0, &camera, shadows, &mut frame))?;
            }
            let mut soft_ms = [0.0; 2];
            for (ms, shadows) in soft_ms.iter_mut().zip([false, true]) {
                world.set_render_settings(Settings { shadows, ..Settings::default() })?;
                world.frame(0, &camera)?;
                *ms = cpu_ms(|| world.frame(0, &camera).map(|_| ()))?;
            }
            let software = world.frame(0, &camera)?;
            let name = format!("{scene}/{camera}");
            let size = format!("{}x{}", frame.width, frame.height);
            let (same, median, p99, colour) = agreement(&frame, software);
            println!(
                "{name:40} {size:>8} {same:.5} {median:8.1e} {p99:8.1e} {colour:5.1} {:15.1} {:10.1} {:9.1} {:10.1}",
                gl_ms[1], gl_ms[0], soft_ms[1], soft_ms[0]
            );
            if let Some(folder) = &folder {
                fs::create_dir_all(folder)?;
                let file = Path::new(folder).join(format!("{scene}_{camera}.png"));
                save_pair(&file, &frame, software)?;
            }
        }
        println!("  {}", gl.backend());
    }
    Ok(())
}

/// Part of equal ids, median and 99th percentile of depth differences, mean colour difference.
fn agreement(a: &Frame, b: &Frame) -> (f64, f32, f32, f64) {
    let same = a.ids.iter().zip(&b.ids).filter(|(a, b)| a == b).count() as f64;
    let both = a.depth.iter().zip(&b.depth).filter(|(a, b)| a.is_finite() && b.is_finite());
    let mut depth: Vec<f32> = both.map(|(a, b)| (a - b).abs()).collect();
    depth.sort_by(f32::total_cmp);
    let at = |part: usize| depth.get(depth.len() * part / 100).copied().unwrap_or(f32::NAN);
    let colour: f64 = a.rgb.iter().zip(&b.rgb).map(|(a, b)| f64::from(a.abs_diff(*b))).sum();
    (same / a.ids.len() as f64, at(50), at(99), colour / a.rgb.len() as f64)
}

/// OpenGL on the left, software on the right, where ids differ below in white.
fn save_pair(path: &Path, gl: &Frame, software: &Frame) -> Result<(), Box<dyn Error>> {
    let (width, height) = (gl.width, gl.height);
    let mut pixels = Vec::with_capacity(width * height * 12);
    for row in 0..height {
        for frame in [gl, software] {
            pixels.extend_from_slice(&frame.rgb[3 * row * width..3 * (row + 1) * width]);
        }
    }
    for row in 0..height {
        let at = row * width..(row + 1) * width;
        let differs = gl.ids[at.clone()].iter().zip(&software.ids[at.clone()]);
        pixels.extend(differs.flat_map(|(a, b)| [if a == b { 0 } else { 255 }; 3]));
        let rgb = 3 * at.start..3 * at.end;
        let colours = gl.rgb[rgb.clone()].iter().zip(&software.rgb[rgb]);
        pixels.extend(colours.map(|(a, b)| a.abs_diff(*b).saturating_mul(4)));
    }
    Ok(Image { width: 2 * width, height: 2 * height, rgb: pixels }.save(path.as_ref())?)
}

/// CPU milliseconds of the whole process per call: drivers have threads of their own.
fn cpu_ms<E: Error + 'static>(
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<f64, Box<dyn Error>> {
    let before = cpu_ticks()?;
    for _ in 0..FRAMES {
        work()?;
    }
    // The kernel counts in hundredths of a second.
    Ok((cpu_ticks()? - before) as f64 * 10.0 / f64::from(FRAMES))
}

fn cpu_ticks() -> Result<u64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // After the name in parentheses: state is field 3, user and system time are 14 and 15.
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    Ok(fields[11].parse::<u64>()? + fields[12].parse::<u64>()?)
}
