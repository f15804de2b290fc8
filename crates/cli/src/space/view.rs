//! `citrange space view`: a picture of what became of a frame.

use std::path::PathBuf;

use citrange_space::{Pipeline, Robot};

use super::given::{CellArgs, Loader};
use super::picture::Shown;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A frame: .npz, .ply or .pcd.
    cloud: PathBuf,
    /// Where the picture goes.
    #[arg(short, long, value_name = "PNG")]
    output: PathBuf,
    #[command(flatten)]
    cell: CellArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut loader = Loader::new(&args.cell)?;
    let given = loader.read(&args.cloud)?;
    let mut pipeline = Pipeline::new(loader.cell.pipeline.clone())?;
    let robot = Robot { solids: &given.solids, end_effector_m: given.hand_m };
    pipeline.run_with_fates(&given.cloud, &given.view.world_from_camera, &robot)?;
    let shown = Shown {
        points: &given.cloud,
        pinhole: given.view.pinhole,
        world_from_camera: &given.view.world_from_camera,
        fates: pipeline.fates(),
        frame: pipeline.frame(),
        robot: &given.solids,
    };
    shown.draw()?.save(&args.output)?;
    output::talk(&format!(
        "{}: {} voxels in {} groups -> {}",
        given.name,
        pipeline.frame().voxels.len(),
        pipeline.frame().clusters,
        args.output.display()
    ));
    Ok(())
}
