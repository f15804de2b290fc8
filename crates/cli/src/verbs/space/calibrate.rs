//! `citrange space calibrate`: where a camera stands.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use citrange_calibrate::{Certainty, Cube};
use citrange_cell::{HandCalibration, HandOrder, PointPairs, find_cube};
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
    for (index, off) in found.residuals_m.iter().enumerate() {
        let left_out = if found.dropped.contains(&index) { "  left out" } else { "" };
        output::data(&format!("pair {}: {:.2} mm off{left_out}", index + 1, 1e3 * off))?;
    }
    output::data(&format!("rms {:.2} mm", 1e3 * found.rms_m))?;
    tell(&found.world_from_camera, args.save.as_deref())
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
    let used: usize = found.faces.iter().sum();
    let names = ["-x", "+x", "-y", "+y", "-z", "+z"];
    let faces = names.iter().zip(found.faces).filter(|(_, points)| *points > 0);
    let faces: Vec<String> = faces.map(|(name, points)| format!("{name} {points}")).collect();
    output::data(&format!("{used} points on faces {}", faces.join(", ")))?;
    output::data(&format!("rms {:.2} mm", 1e3 * found.rms_m))?;
    tell_certainty(&found.certainty)?;
    tell(&found.world_from_camera, args.save.as_deref())
}

fn adjust(args: &AdjustArgs) -> Result {
    let mut camera = HandCalibration::open(&mut args.cell.open()?, &args.cloud)?;
    output::talk("x+ 1 mm, x++ 1 cm, yaw- 0.1 degrees, yaw-- 1 degree (x y z roll pitch yaw);");
    output::talk("fit brings the robot's points onto its links; undo, save, quit");
    look(&mut camera)?;
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
        look(&mut camera)?;
    }
    Ok(())
}

/// Tells how the frame looks from the pose now.
fn look(camera: &mut HandCalibration) -> Result {
    let view = camera.look()?;
    let off = match view.off() {
        Some((shift_m, rotation_deg, rms_m)) => format!(
            "robot seen {:.1} mm and {rotation_deg:.2} degrees off, rms {:.1} mm",
            1e3 * shift_m,
            1e3 * rms_m
        ),
        None => view.drift.verdict.to_string(),
    };
    output::data(&format!("{}; {} voxels; {off}", shown(&view.pose), view.voxels))
}

fn shown(pose: &CameraPose) -> String {
    let [x, y, z] = pose.xyz_m;
    let [roll, pitch, yaw] = pose.rpy_deg;
    format!("xyz {x:.4} {y:.4} {z:.4} m, rpy {roll:.2} {pitch:.2} {yaw:.2} degrees")
}

fn tell_certainty(certainty: &Certainty) -> Result {
    let [x, y, z] = certainty.sigma_m.map(|v| 1e3 * v);
    let [roll, pitch, yaw] = certainty.sigma_deg;
    output::data(&format!("sigma {x:.2} {y:.2} {z:.2} mm, {roll:.3} {pitch:.3} {yaw:.3} degrees"))?;
    for free in &certainty.free {
        output::data(&format!("not determined by this view: {free}"))?;
    }
    Ok(())
}

fn tell(pose: &Pose, save: Option<&Path>) -> Result {
    let pose = CameraPose::from(*pose);
    output::data(&shown(&pose))?;
    if let Some(path) = save {
        pose.save(path)?;
        output::talk(&format!("pose -> {}", path.display()));
    }
    Ok(())
}
