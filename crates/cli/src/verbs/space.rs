//! `citrange space run|view|simulate|calibrate`.

use crate::space::{calibrate, run, simulate, view};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make voxels of frames and a map of them; counts, times, files.
    Run(run::Args),
    /// Draw what became of a frame.
    View(view::Args),
    /// Take frames in a simulated scene, with the noise of a real depth camera.
    Simulate(simulate::Args),
    /// Find where a camera stands.
    #[command(subcommand)]
    Calibrate(calibrate::Command),
}

impl Command {
    /// Whether its `--json` is one object per line.
    pub(crate) fn tells_lines(&self) -> bool {
        matches!(self, Self::Run(_))
    }
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run::run(args),
        Command::View(args) => view::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Calibrate(command) => calibrate::run(command),
    }
}
