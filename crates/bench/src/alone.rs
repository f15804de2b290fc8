//! What a collection cannot be faster than: the physics of its episodes alone, the pictures of its
//! frames alone, each on as many threads as the collection had workers.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use citrange_sim::{CompiledScene, Threads, World};
use citrange_tape::{Dataset, Episode};
use citrange_video::{Encoder, EncoderSettings};
use serde_json::{Value, json};

use crate::args::Args;

/// What one thread did.
#[derive(Default)]
struct WorkerTimes {
    steps: u64,
    pictures: u64,
    stepping: Duration,
    drawing: Duration,
    coding: Duration,
}

pub(crate) fn run(args: &Args) -> Result<Value, Box<dyn Error>> {
    let root = args.required_path("set")?;
    let threads = args.number("threads", 2)?;
    let count = Dataset::open(&root)?.len();
    let shares = std::thread::scope(|scope| {
        let work = |first: usize| {
            let root = &root;
            scope.spawn(move || {
                times(root, (first..count).step_by(threads)).map_err(|e| e.to_string())
            })
        };
        let started: Vec<_> = (0..threads).map(work).collect();
        let joined =
            started.into_iter().map(|t| t.join().unwrap_or(Err("a thread crashed".into())));
        joined.collect::<Result<Vec<WorkerTimes>, String>>()
    })?;
    // Threads that have less to do would idle: the mean is what a perfect division gives.
    let mean = |time: fn(&WorkerTimes) -> Duration| {
        shares.iter().map(time).sum::<Duration>().as_secs_f64() / threads as f64
    };
    Ok(json!({
        "episodes": count, "threads": threads,
        "physics_secs": mean(|s| s.stepping), "drawing_secs": mean(|s| s.drawing),
        "coding_secs": mean(|s| s.coding),
        "steps": shares.iter().map(|s| s.steps).sum::<u64>(),
        "pictures": shares.iter().map(|s| s.pictures).sum::<u64>(),
    }))
}

fn times(
    root: &Path,
    episodes: impl Iterator<Item = usize>,
) -> Result<WorkerTimes, Box<dyn Error>> {
    let dataset = Dataset::open(root)?;
    let mut times = WorkerTimes::default();
    for number in episodes {
        let (tape, _) = dataset.tape(number)?.ok_or("an episode has no tape")?;
        let header = &tape.header;
        let scene = header.scene.clone().ok_or("a tape has no scene")?;
        let robots = header.robots.clone();
        let scene = CompiledScene::from_mjb(scene, robots, &tape.model, &header.model_hash)?;
        let mut world = World::new(Arc::new(scene), 1, Threads::Exactly(1))?;
        step(&mut world, &tape, &mut times)?;
        draw(&mut world, &tape, &mut times)?;
    }
    Ok(times)
}

fn step(world: &mut World, tape: &Episode, times: &mut WorkerTimes) -> Result<(), Box<dyn Error>> {
    let per_tick = tape.header.rig.rates.steps_per_tick() as usize;
    let commands: Vec<f64> =
        tape.ticks.iter().flat_map(|tick| tick.executed.repeat(per_tick)).collect();
    let steps = tape.ticks.len() * per_tick;
    world.restore(0, &tape.snapshot(0).ok_or("a tape has no states")?)?;
    let begun = Instant::now();
    world.rollout(steps.try_into()?, &commands)?;
    times.stepping += begun.elapsed();
    times.steps += steps as u64;
    Ok(())
}

fn draw(world: &mut World, tape: &Episode, times: &mut WorkerTimes) -> Result<(), Box<dyn Error>> {
    let rates = tape.header.rig.rates;
    let coders = tape.header.rig.cameras.iter().map(|camera| {
        let settings = EncoderSettings { fps: rates.frame_hz, ..EncoderSettings::default() };
        Encoder::new(camera.width_px, camera.height_px, settings)
    });
    let mut coders = coders.collect::<Result<Vec<_>, _>>()?;
    for frame in 0..tape.len() {
        world.restore(0, &tape.snapshot(frame).ok_or("a tape has no states")?)?;
        for (camera, coder) in tape.header.rig.cameras.iter().zip(&mut coders) {
            let begun = Instant::now();
            let picture = world.frame(0, &camera.name)?;
            let drawn = Instant::now();
            coder.encode(&picture.rgb)?;
            times.drawing += drawn - begun;
            times.coding += drawn.elapsed();
            times.pictures += 1;
        }
    }
    Ok(())
}
