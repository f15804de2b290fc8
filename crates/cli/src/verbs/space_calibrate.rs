//! `citrange space calibrate`: where a camera stands.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use citrange_calibrate::{
    Certainty, Cube, CubeSettings, DriftSettings, DriftWatch, cube_points, from_cube, from_pairs,
    from_pairs_robust,
};
use citrange_cloud::{Adjust, Axis, CameraPose, Step};
use citrange_core::Pose;
use citrange_space::{CellFrame, Pipeline, SpaceError};
use serde::Deserialize;

use super::space::{CellArgs, read};
use crate::output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// From points known in the camera and in the world.
    Pairs(Pairs),
    /// From a frame with a cube whose place is known.
    Cube(CubeArgs),
    /// By hand, in steps, watching how well the robot's links are met.
    Adjust(AdjustArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Pairs {
    /// JSON: {"camera": [[x, y, z], ...], "world": [[x, y, z], ...]}, at least three of each.
    file: PathBuf,
    /// Leave pairs out that are off by more than this.
    #[arg(long, value_name = "METRES")]
    robust_m: Option<f64>,
    /// Write the pose here, for `pose_file` of a cell's camera.
    #[arg(long, value_name = "YAML")]
    save: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CubeArgs {
    /// The frame.
    cloud: PathBuf,
    /// Edge of the cube.
    #[arg(long)]
    edge_m: f64,
    /// Centre of the cube in the world: "x y z".
    #[arg(long, value_name = "X Y Z", allow_hyphen_values = true)]
    at: String,
    /// Turn of the cube about the vertical.
    #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
    yaw_deg: f64,
    #[command(flatten)]
    cell: CellArgs,
    /// Write the pose here, for `pose_file` of a cell's camera.
    #[arg(long, value_name = "YAML")]
    save: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AdjustArgs {
    /// The frame.
    cloud: PathBuf,
    #[command(flatten)]
    cell: CellArgs,
    /// Where `save` writes the pose, for `pose_file` of a cell's camera.
    #[arg(long, value_name = "YAML")]
    save: PathBuf,
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Pairs(args) => pairs(args),
        Command::Cube(args) => cube(args),
        Command::Adjust(args) => adjust(args),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairsFile {
    camera: Vec<[f64; 3]>,
    world: Vec<[f64; 3]>,
}

fn pairs(args: &Pairs) -> anyhow::Result<()> {
    let name = args.file.display().to_string();
    let text = std::fs::read(&args.file).with_context(|| name.clone())?;
    let given: PairsFile = serde_json::from_slice(&text)
        .map_err(|e| SpaceError::BadInput { what: name, reason: e.to_string() })?;
    let found = match args.robust_m {
        Some(limit) => from_pairs_robust(&given.camera, &given.world, limit)?,
        None => from_pairs(&given.camera, &given.world)?,
    };
    for (index, off) in found.residuals_m.iter().enumerate() {
        let left_out = if found.dropped.contains(&index) { "  left out" } else { "" };
        output::data(&format!("pair {}: {:.2} mm off{left_out}", index + 1, 1e3 * off))?;
    }
    output::data(&format!("rms {:.2} mm", 1e3 * found.rms_m))?;
    tell(&found.world_from_camera, args.save.as_deref())
}

fn cube(args: &CubeArgs) -> anyhow::Result<()> {
    let numbers: Vec<f64> = args.at.split_whitespace().flat_map(str::parse).collect();
    let [x, y, z] = numbers[..] else {
        let reason = format!("\"{}\" is no point, such as \"0.5 0 0.05\"", args.at);
        return Err(SpaceError::BadInput { what: "--at".to_owned(), reason }.into());
    };
    let given = read(&mut args.cell.frames()?, &args.cloud)?;
    let world_from_cube = Pose::from_yaw([x, y, z], args.yaw_deg.to_radians());
    let cube = Cube { edge_m: args.edge_m, world_from_cube };
    // Around where the cube is believed to be, without what it stands on; then closer.
    let mut pose = given.view.world_from_camera;
    let mut found = None;
    for (beside_m, above_m) in [(0.06, 0.35 * args.edge_m), (0.01, 0.012)] {
        let points = cube_points(&given.cloud.xyz_m, &cube, &pose, beside_m, above_m);
        let one = from_cube(&points, &cube, &pose, &CubeSettings::default())?;
        pose = one.world_from_camera;
        found = Some(one);
    }
    let Some(found) = found else { return Ok(()) };
    let used: usize = found.faces.iter().sum();
    let names = ["-x", "+x", "-y", "+y", "-z", "+z"];
    let faces = names.iter().zip(found.faces).filter(|(_, points)| *points > 0);
    let faces: Vec<String> = faces.map(|(name, points)| format!("{name} {points}")).collect();
    output::data(&format!("{used} points on faces {}", faces.join(", ")))?;
    output::data(&format!("rms {:.2} mm", 1e3 * found.rms_m))?;
    tell_certainty(&found.certainty)?;
    tell(&pose, args.save.as_deref())
}

fn adjust(args: &AdjustArgs) -> anyhow::Result<()> {
    let mut frames = args.cell.frames()?;
    let mut given = read(&mut frames, &args.cloud)?;
    let mut pipeline = Pipeline::new(frames.cell.pipeline.clone())?;
    let mut past = vec![CameraPose::from(given.view.world_from_camera)];
    output::talk("x+ 1 mm, x++ 1 cm, yaw- 0.1 degrees, yaw-- 1 degree (x y z roll pitch yaw);");
    output::talk("fit brings the robot's points onto its links; undo, save, quit");
    look(&mut given, past[0], &mut pipeline)?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let now = past.last().copied().unwrap_or_default();
        match line.trim() {
            "" => continue,
            "quit" | "q" => return Ok(()),
            "save" => {
                now.save(&args.save)?;
                output::data(&format!("saved to {}", args.save.display()))?;
                continue;
            }
            "undo" if past.len() > 1 => {
                past.pop();
            }
            "fit" => {
                let mut watch = DriftWatch::new(DriftSettings::default());
                match watch.look(&given.cloud, &given.view, &given.looks).offset {
                    Some(offset) => past.push(CameraPose::from(offset.world_from_camera)),
                    None => output::data("the robot is not seen well enough")?,
                }
            }
            words => match press(words) {
                Some(press) => past.push(now.adjusted(press)),
                None => {
                    output::data(&format!(
                        "not understood: {words}; such as x+, yaw--, fit, save"
                    ))?;
                    continue;
                }
            },
        }
        look(&mut given, past.last().copied().unwrap_or_default(), &mut pipeline)?;
    }
    Ok(())
}

/// `x+`, `yaw--`.
fn press(words: &str) -> Option<Adjust> {
    let name = words.trim_end_matches(['+', '-']);
    let (step, rise) = match &words[name.len()..] {
        "+" => (Step::Fine, true),
        "++" => (Step::Coarse, true),
        "-" => (Step::Fine, false),
        "--" => (Step::Coarse, false),
        _ => return None,
    };
    let axis = match name {
        "x" => Axis::X,
        "y" => Axis::Y,
        "z" => Axis::Z,
        "roll" => Axis::Roll,
        "pitch" => Axis::Pitch,
        "yaw" => Axis::Yaw,
        _ => return None,
    };
    Some(Adjust { axis, step, rise })
}

/// Tells how the frame looks from a pose.
fn look(given: &mut CellFrame, pose: CameraPose, pipeline: &mut Pipeline) -> anyhow::Result<()> {
    given.view.world_from_camera = pose.pose();
    let frame = pipeline.run(&given.cloud, &given.view.world_from_camera, &given.robot())?;
    let mut watch = DriftWatch::new(DriftSettings::default());
    let drift = watch.look(&given.cloud, &given.view, &given.looks);
    let off = match &drift.offset {
        Some(offset) => {
            let shift = offset.shift_m.iter().map(|v| v * v).sum::<f64>().sqrt();
            format!(
                "robot seen {:.1} mm and {:.2} degrees off, rms {:.1} mm",
                1e3 * shift,
                offset.rotation_deg,
                1e3 * drift.rms_before_m
            )
        }
        None => drift.verdict.to_string(),
    };
    output::data(&format!("{}; {} voxels; {off}", shown(&pose), frame.voxels.len()))
}

fn shown(pose: &CameraPose) -> String {
    let [x, y, z] = pose.xyz_m;
    let [roll, pitch, yaw] = pose.rpy_deg;
    format!("xyz {x:.4} {y:.4} {z:.4} m, rpy {roll:.2} {pitch:.2} {yaw:.2} degrees")
}

fn tell_certainty(certainty: &Certainty) -> anyhow::Result<()> {
    let [x, y, z] = certainty.sigma_m.map(|v| 1e3 * v);
    let [roll, pitch, yaw] = certainty.sigma_deg;
    output::data(&format!("sigma {x:.2} {y:.2} {z:.2} mm, {roll:.3} {pitch:.3} {yaw:.3} degrees"))?;
    for free in &certainty.free {
        output::data(&format!("not determined by this view: {free}"))?;
    }
    Ok(())
}

fn tell(pose: &Pose, save: Option<&Path>) -> anyhow::Result<()> {
    let pose = CameraPose::from(*pose);
    output::data(&shown(&pose))?;
    if let Some(path) = save {
        pose.save(path)?;
        output::talk(&format!("pose -> {}", path.display()));
    }
    Ok(())
}
