//! `citrange demo`: an SO-101 looks at each orange and reaches for it; pictures and a film.

use std::path::PathBuf;

use citrange_sim::{CameraQuery, StateQuery, Threads, World};

use super::compiled;
use crate::images::{Image, save_film};
use crate::say;

const SCENE: &str = "orange_plate";
const ROBOT: &str = "robot0";
/// Distance of the arm's turning axis from its base, along its front.
const PAN_AXIS_X_M: f64 = 0.0388;
/// Lift, elbow and wrist bend that hold the open jaws above an orange at middle reach.
const REACH: [f64; 3] = [0.35, 0.05, 1.1];
const JAW_OPEN: f64 = 1.0;
const JAW_CLOSED: f64 = 0.2;
/// Duration of one move.
const MOVE_SECS: f64 = 0.7;
/// Every so many frames are kept for the film.
const FILM_EVERY: u64 = 2;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder for the pictures.
    #[arg(short, long, default_value = "out/demo")]
    output: PathBuf,
    /// Seed of the run.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Episode index.
    #[arg(long, default_value_t = 0)]
    episode: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let scene = compiled(SCENE)?;
    let rates = scene.scene.rates;
    let mut world = World::new(scene, 1, Threads::Exactly(1))?;
    world.reset_env(0, args.seed, args.episode)?;
    let poses = gestures(&mut world)?;
    let ticks_per_move = (MOVE_SECS * f64::from(rates.control_hz)) as u64;
    let total = ticks_per_move * poses.len() as u64;
    let bar = say::progress("the arm is at work", total);
    let mut film = Vec::new();
    let mut stills = Vec::new();
    let mut from = poses[0].clone();
    let mut tick = 0;
    for pose in &poses {
        for step in 1..=ticks_per_move {
            // Minimum-jerk blend: starts and ends at rest.
            let t = step as f64 / ticks_per_move as f64;
            let s = t * t * t * (10.0 - 15.0 * t + 6.0 * t * t);
            let target: Vec<f64> = from.iter().zip(pose).map(|(a, b)| a + s * (b - a)).collect();
            world.set_joint_targets(ROBOT, &target)?;
            world.step(rates.steps_per_tick())?;
            tick += 1;
            if tick % (u64::from(rates.ticks_per_frame()) * FILM_EVERY) == 0 {
                let front = Image::colors(world.frame(0, "front")?).halved();
                let wrist = Image::colors(world.frame(0, "wrist")?).halved();
                film.push(Image::sheet(&[front, wrist], 2));
            }
            bar.set_position(tick);
        }
        stills.push(Image::colors(world.frame(0, "front")?).halved());
        from.clone_from(pose);
    }
    bar.finish_and_clear();
    let front = world.frame(0, "front")?;
    let views = [Image::colors(front), Image::distances(front), Image::ids(front)];
    let files = [("front.png", &views[0]), ("depth.png", &views[1]), ("ids.png", &views[2])];
    for (name, image) in files {
        image.save(&args.output.join(name))?;
    }
    Image::sheet(&stills, 4).save(&args.output.join("sheet.png"))?;
    let film_hz = u64::from(rates.frame_hz) / FILM_EVERY;
    save_film(&film, film_hz as u16, &args.output.join("film.png"))?;
    let moved = world.get_state(None, &StateQuery::default())?;
    let oranges = moved.objects.keys().filter(|name| name.starts_with("orange")).count();
    say::talk(&format!(
        "The SO-101 reached for {oranges} oranges, {:.1} s of simulation, {} film frames.",
        total as f64 / f64::from(rates.control_hz),
        film.len()
    ));
    say::talk("Pictures (film.png moves in a browser):");
    for name in ["film.png", "sheet.png", "front.png", "depth.png", "ids.png"] {
        say::data(&args.output.join(name).display().to_string())?;
    }
    Ok(())
}

/// Joint targets: home, then for every orange: turn to it, reach with open jaws, close, rise.
fn gestures(world: &mut World) -> anyhow::Result<Vec<Vec<f64>>> {
    let state = world.get_state(
        None,
        &StateQuery {
            cameras: [("front".to_owned(), CameraQuery::POSE)].into(),
            ..StateQuery::default()
        },
    )?;
    let home: Vec<f64> = state.robots[ROBOT]
        .joint_pos_target
        .as_ref()
        .map(|targets| targets.iter().copied().collect())
        .unwrap_or_default();
    let mut poses = vec![home.clone()];
    for (name, object) in &state.objects {
        let Some(root) = object.root_state.as_ref().filter(|_| name.starts_with("orange")) else {
            continue;
        };
        // Positive pan turns towards -Y.
        let pan = -root[[0, 1]].atan2(root[[0, 0]] - PAN_AXIS_X_M);
        let turned = with(&home, &[(0, pan), (5, JAW_OPEN)]);
        let [lift, elbow, wrist] = REACH;
        let reached = with(&turned, &[(1, lift), (2, elbow), (3, wrist)]);
        let closed = with(&reached, &[(5, JAW_CLOSED)]);
        poses.extend([turned, reached, closed.clone(), with(&home, &[(0, pan), (5, JAW_CLOSED)])]);
    }
    poses.push(home);
    Ok(poses)
}

fn with(pose: &[f64], changes: &[(usize, f64)]) -> Vec<f64> {
    let mut pose = pose.to_vec();
    for (joint, value) in changes {
        pose[*joint] = *value;
    }
    pose
}
