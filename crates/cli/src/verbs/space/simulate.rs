//! `citrange space simulate`: frames of a simulated scene, as a depth camera would take them.

use std::path::PathBuf;

use citrange_cell::{DepthFrameSettings, DepthFrames};
use citrange_episodes::compiled;
use citrange_sim::DepthSensor;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::exit::Result;
use crate::output;

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
    #[arg(long, value_parser = sensors(), default_value = "d435")]
    sensor: DepthSensor,
    /// Seconds of simulation before the picture is taken, so that things come to rest.
    #[arg(long, default_value_t = 0.5)]
    settle_s: f64,
    /// Folder for frame_000.npz, frame_000.json, ...
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
}

/// Sensors by their names.
fn sensors() -> impl TypedValueParser<Value = DepthSensor> {
    let real = PossibleValue::new("d435")
        .help("Noise that grows with the distance, flying pixels, dropouts");
    let ideal = PossibleValue::new("ideal").help("The truth");
    PossibleValuesParser::new([real, ideal]).map(|name| match name.as_str() {
        "ideal" => DepthSensor::ideal(),
        _ => DepthSensor::d435(),
    })
}

pub(super) fn run(args: &Args) -> Result {
    let settings = DepthFrameSettings {
        camera: args.camera.clone(),
        frames: args.frames,
        seed: args.seed,
        episode: args.episode,
        each_episode: args.each_episode,
        sensor: args.sensor,
        settle_s: args.settle_s,
    };
    let frames = DepthFrames::new(compiled(&args.scene)?, settings, &args.output)?;
    let bar = output::progress("frames", args.frames);
    for path in frames {
        output::data(&path?.display().to_string())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}
