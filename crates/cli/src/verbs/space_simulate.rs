//! `citrange space simulate`: frames of a simulated scene, as a depth camera would take them.

use std::path::PathBuf;

use anyhow::Context as _;
use citrange_sim::{CameraQuery, DepthSensor, DepthShot, StateQuery, Threads, World};
use serde_json::json;

use crate::output;
use crate::verbs::compiled;

/// Frames of one episode are so many a second.
const FRAME_HZ: f64 = 30.0;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scene name or YAML file.
    scene: String,
    /// Camera of the scene.
    #[arg(long)]
    camera: String,
    /// How many frames of the episode, a thirtieth of a second apart.
    #[arg(long, default_value_t = 1)]
    frames: u64,
    /// Seed of the run.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Episode of the run: where the scene's objects are.
    #[arg(long, default_value_t = 0)]
    episode: u64,
    /// Another episode for each frame, so that things are elsewhere: for measurements. One map of
    /// such frames shows things that were never there together.
    #[arg(long)]
    each_episode: bool,
    /// What the sensor does to the truth.
    #[arg(long, value_enum, default_value_t = Kind::D435)]
    sensor: Kind,
    /// Seconds of simulation before the picture is taken, so that things come to rest.
    #[arg(long, default_value_t = 0.5)]
    settle_s: f64,
    /// Folder for frame_000.npz, frame_000.json, ...
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Noise that grows with the distance, flying pixels, dropouts.
    D435,
    /// The truth.
    Ideal,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let scene = compiled(&args.scene)?;
    let sensor = match args.sensor {
        Kind::D435 => DepthSensor::d435(),
        Kind::Ideal => DepthSensor::ideal(),
    };
    let mut world = World::new(scene.clone(), 1, Threads::Auto)?;
    let cameras = [(args.camera.clone(), CameraQuery::ALL)].into();
    let query = StateQuery { cameras, ..StateQuery::default() };
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("cannot create {}", args.output.display()))?;
    let bar = output::progress("frames", args.frames);
    let physics_hz = f64::from(scene.scene.rates.physics_hz);
    // Physics steps of the episode so far.
    let mut done = 0;
    for frame in 0..args.frames {
        let mut time_s = args.settle_s;
        if args.each_episode || frame == 0 {
            let number = if args.each_episode { frame } else { 0 };
            world.reset_env(0, args.seed, args.episode + number)?;
            done = 0;
        } else {
            time_s += frame as f64 / FRAME_HZ;
        }
        let until = (time_s * physics_hz).round() as u32;
        world.step(until - done)?;
        done = until;
        let state = world.get_state(None, &query)?;
        let seen = state.cameras.get(&args.camera).context("the camera gave nothing")?;
        let shot = DepthShot::of(seen)?;
        let stamp_ns = 1_000_000_000 + (frame as f64 * 1e9 / FRAME_HZ) as u64;
        let taken =
            shot.take(&sensor, args.seed ^ (frame << 32), scene.labels_of(seen), stamp_ns)?;
        let path = args.output.join(format!("frame_{frame:03}.npz"));
        taken.write_npz(&path)?;
        let robot = state.robots.iter().find_map(|(name, robot)| {
            let joints = robot.joint_pos.as_ref()?.row(0).to_vec();
            let placed = scene.scene.robots.get(name)?;
            let said = json!({
                "model": placed.model, "pos_m": placed.pos_m, "yaw_deg": placed.yaw_deg,
            });
            Some((said, joints))
        });
        let side = shot.sidecar(robot, stamp_ns);
        std::fs::write(path.with_extension("json"), format!("{side:#}\n"))
            .with_context(|| format!("cannot write beside {}", path.display()))?;
        output::data(&path.display().to_string())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}
