//! `citrange space simulate`: frames of a simulated scene, as a depth camera would take them.

use std::path::PathBuf;

use citrange_cell::{DepthFrameSettings, DepthFrames, SIMULATED_FRAME_HZ, Stirring};
use citrange_episodes::compiled;
use citrange_sim::DepthSensor;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::exit::Result;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scene name or YAML file.
    scene: String,
    /// Camera of the scene; may be given again: then frames have its name.
    #[arg(long, required = true)]
    camera: Vec<String>,
    /// How many frames of the episode, a thirtieth of a second apart.
    #[arg(long, default_value_t = 1)]
    frames: u64,
    /// So many seconds of frames, in which the arm sways and things are pushed. Where everything
    /// was, and how fast, stands in truth.jsonl.
    #[arg(long, value_name = "S", conflicts_with_all = ["frames", "each_episode"],
        value_parser = parse_seconds)]
    seconds: Option<f64>,
    /// What moves; by default everything with --seconds, nothing without.
    #[arg(long, value_enum, conflicts_with = "each_episode")]
    moving: Option<Moving>,
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

/// What moves, on the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Moving {
    /// Arms and things.
    All,
    /// The arms sway.
    Arms,
    /// Things are pushed.
    Things,
    /// Nothing but what falls.
    Nothing,
}

fn parse_seconds(text: &str) -> std::result::Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|s| *s > 0.0 && *s <= 3600.0);
    seconds.ok_or_else(|| format!("{text} is not a time above 0 s and up to an hour"))
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
    let default = if args.seconds.is_some() { Moving::All } else { Moving::Nothing };
    let moving = args.moving.unwrap_or(default);
    let stirring = Stirring {
        arms: matches!(moving, Moving::All | Moving::Arms),
        things: matches!(moving, Moving::All | Moving::Things),
    };
    let count = args.seconds.map_or(args.frames, |s| (s * SIMULATED_FRAME_HZ).round() as u64);
    let count = count.max(1);
    let settings = DepthFrameSettings {
        cameras: args.camera.clone(),
        frames: count,
        stirring,
        seed: args.seed,
        episode: args.episode,
        each_episode: args.each_episode,
        sensor: args.sensor,
        settle_s: args.settle_s,
    };
    let frames = DepthFrames::new(compiled(&args.scene)?, settings, &args.output)?;
    let bar = output::progress("frames", count * args.camera.len() as u64);
    for path in frames {
        output::data(&path?.display().to_string())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}
