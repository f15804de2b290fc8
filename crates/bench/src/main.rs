//! Our side of the benchmarks. Each subcommand prints one JSON object with raw samples;
//! `benches/run.py` alternates it with the peers and makes the tables.
#![allow(clippy::print_stdout, reason = "the JSON object on stdout is this program's product")]

mod alone;
mod args;
mod camera;
mod clock;
mod export;
mod served;
mod space;
mod space_queries;
mod stalls;
mod state;
mod step;
mod tape;
mod tape_frames;
mod workload;

use std::error::Error;

use crate::args::Args;

const USAGE: &str =
    "usage: citrange-bench export|step|state|camera|tape-frames|tape|alone|space [--option value]...
  export --dir D [--envs 64] [--steps 360]            what the peers need to do the same work
  step   [--envs 64] [--threads 2] [--steps 360] [--rounds 3]
  state  [--envs 1024] [--threads 2] [--rounds 10] [--dir D]
  camera --dir D [--rounds 3] [--check 1]             check: compare every pixel with mj_ray
  tape-frames --out D [--count 421]                   front.rgb and wrist.rgb of an episode
  tape   --front F --wrist W --out D [--count 421] [--paced] [--json] [--qp Q] [--gop G]
  alone  --set D [--threads 2]                        physics and pictures of a dataset, each alone
  space                                               answers requests, a line of JSON each";

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_default();
    let args = Args::new(words)?;
    let report = match command.as_str() {
        "export" => export::run(&args)?,
        "step" => step::run(&args)?,
        "state" => state::run(&args)?,
        "camera" => camera::run(&args)?,
        "tape-frames" => tape_frames::run(&args)?,
        "tape" => tape::run(&args)?,
        "alone" => alone::run(&args)?,
        "space" => return space::run(),
        _ => return Err(USAGE.into()),
    };
    println!("{report}");
    Ok(())
}
