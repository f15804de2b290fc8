//! `citrange plan generate`: planning problems for any robot.

use std::path::{Path, PathBuf};

use citrange_plan::{Bench, Family, GenerateSettings, generate};
use citrange_sim::described_robot;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;

use crate::exit::{Context as _, Result, bad_input};
use crate::output;

/// Joints that turn further are kept within half a turn: winding them up is no way around.
const HALF_TURN: f64 = std::f64::consts::PI;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A robot by name (so101, panda, ur5, ur5e) or by its robot.yaml, MJCF or URDF file. It stands
    /// at the world's origin.
    robot: String,
    /// Where the problems go: a file for `citrange plan bench`.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Problems of each family.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    each: u32,
    /// Decides all of them. Those with the same number are the same, however many are made.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Families, with commas between: table, shelf, cage, box, bars, clutter. All of them if it is
    /// not given.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = families())]
    families: Vec<Family>,
    /// Also write the robot as the problems are solved for it, with its gripper swept: its chain,
    /// spheres and shapes as JSON, for other planners and judges.
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn families() -> impl TypedValueParser<Value = Family> {
    PossibleValuesParser::new(Family::ALL.map(Family::name))
        .map(|name| Family::named(&name).unwrap_or(Family::Table))
}

pub(super) fn run(args: &Args) -> Result {
    let (_, robot) = described_robot(&args.robot, Path::new(""))?;
    let chain = robot.chain();
    let mut ranges = Vec::new();
    for joint in chain.joints.iter().take(chain.arm_joints) {
        let [low, high] = joint.range.unwrap_or([-HALF_TURN, HALF_TURN]);
        let range =
            if joint.is_slide { [low, high] } else { [low.max(-HALF_TURN), high.min(HALF_TURN)] };
        if range[0] >= range[1] {
            let text =
                format!("{}: joint {} has no range within half a turn", args.robot, joint.name);
            return Err(bad_input(text));
        }
        ranges.push(range);
    }
    let arm = Bench::arm_of(robot, &ranges)?;
    let families =
        if args.families.is_empty() { Family::ALL.to_vec() } else { args.families.clone() };
    let settings = GenerateSettings { seed: args.seed, each: args.each as usize, families };
    let bar = output::progress("problems", (settings.each * settings.families.len()) as u64);
    let problems = generate(&arm, &args.robot, &settings, |_| bar.inc(1))?;
    bar.finish_and_clear();
    let text = json!(problems).to_string().replace("},{\"name\"", "},\n{\"name\"") + "\n";
    std::fs::write(&args.output, text)
        .context(|| format!("cannot write {}", args.output.display()))?;
    if let Some(path) = &args.body {
        std::fs::write(path, arm.body().to_json()?)
            .context(|| format!("cannot write {}", path.display()))?;
    }
    let total = problems.problems.len();
    let solved = problems.problems.iter().filter(|p| p.solvable == Some(true)).count();
    if args.json {
        let report = json!({
            "robot": args.robot,
            "problems": args.output,
            "body": args.body,
            "total": total,
            "solvable": solved,
        });
        return output::data(&report.to_string());
    }
    output::data(&format!("{}: {total} problems, {solved} solved", args.output.display()))
}
