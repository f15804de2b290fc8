//! `citrange plan SCENE`, `citrange plan bench`.

use crate::plan::{bench, make};

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    make: make::MakeArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Solve the problems of a file; how many, how fast, how long the paths are.
    Bench(bench::Args),
}

impl Args {
    /// Whether its `--json` is one object per line.
    pub(crate) fn tells_lines(&self) -> bool {
        self.command.is_some()
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Some(Command::Bench(args)) => bench::run(args),
        None => make::run(&args.make),
    }
}
