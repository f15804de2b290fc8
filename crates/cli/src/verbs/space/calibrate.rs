//! `citrange space calibrate`: where a camera stands.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use citrange_calibrate::Cube;
use citrange_cell::{HandCalibration, HandOrder, PointPairs, cube_lines, find_cube, pairs_lines};
use citrange_cloud::CameraPose;
use citrange_core::Pose;

use super::CellArgs;
use crate::exit::{Result, bad_input};
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

pub(super) fn run(command: &Command) -> Result {
    match command {
        Command::Pairs(args) => pairs(args),
        Command::Cube(args) => cube(args),
        Command::Adjust(args) => adjust(args),
    }
}

fn pairs(args: &Pairs) -> Result {
    let found = PointPairs::load(&args.file)?.camera_pose(args.robust_m)?;
    output::lines(&pairs_lines(&found))?;
    save(found.world_from_camera, args.save.as_deref())
}

fn cube(args: &CubeArgs) -> Result {
    let numbers: Vec<f64> = args.at.split_whitespace().flat_map(str::parse).collect();
    let [x, y, z] = numbers[..] else {
        let text = format!("--at: \"{}\" is no point, such as \"0.5 0 0.05\"", args.at);
        return Err(bad_input(text));
    };
    let frame = args.cell.open()?.read(&args.cloud)?;
    let world_from_cube = Pose::from_yaw([x, y, z], args.yaw_deg.to_radians());
    let found = find_cube(&frame, &Cube { edge_m: args.edge_m, world_from_cube })?;
    output::lines(&cube_lines(&found))?;
    save(found.world_from_camera, args.save.as_deref())
}

fn adjust(args: &AdjustArgs) -> Result {
    let mut camera = HandCalibration::open(&mut args.cell.open()?, &args.cloud)?;
    output::talk("x+ 1 mm, x++ 1 cm, yaw- 0.1 degrees, yaw-- 1 degree (x y z roll pitch yaw);");
    output::talk("fit brings the robot's points onto its links; undo, save, quit");
    output::data(&camera.look()?.to_string())?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        match line.parse() {
            _ if line.trim().is_empty() => continue,
            Ok(HandOrder::Quit) => return Ok(()),
            Ok(HandOrder::Save) => {
                camera.pose().save(&args.save)?;
                output::data(&format!("saved to {}", args.save.display()))?;
                continue;
            }
            Ok(HandOrder::Adjust(step)) => camera.adjust(step),
            Ok(HandOrder::Fit) if !camera.fit() => {
                output::data("the robot is not seen well enough")?;
            }
            Ok(HandOrder::Fit) => {}
            Ok(HandOrder::Undo) if camera.undo() => {}
            Ok(HandOrder::Undo) | Err(()) => {
                let words = line.trim();
                output::data(&format!("not understood: {words}; such as x+, yaw--, fit, save"))?;
                continue;
            }
        }
        output::data(&camera.look()?.to_string())?;
    }
    Ok(())
}

fn save(pose: Pose, path: Option<&Path>) -> Result {
    let Some(path) = path else { return Ok(()) };
    CameraPose::from(pose).save(path)?;
    output::talk(&format!("pose -> {}", path.display()));
    Ok(())
}
