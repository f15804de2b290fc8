//! `citrange policy`: what policies are.

use std::path::PathBuf;

use citrange_policy::PolicyFile;
use serde_json::json;

use crate::exit::Result;
use crate::output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Inputs, outputs, layers, where it came from, how good it was.
    Show(ShowArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The policy: the folder of its training, or its file.
    policy: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &Command) -> Result {
    match command {
        Command::Show(args) => show(args),
    }
}

fn show(args: &ShowArgs) -> Result {
    let file = PolicyFile::load(&args.policy)?;
    if args.json {
        return output::data(&json!(file.about).to_string());
    }
    output::lines(&file.lines())
}
