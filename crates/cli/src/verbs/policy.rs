//! `citrange policy`: what policies are.

use std::path::PathBuf;

use citrange_policy::{ForeignPolicy, Mapping, PolicyFile, to_onnx};
use serde_json::json;

use crate::exit::{Context as _, Result};
use crate::output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Inputs, outputs, layers, where it came from, how good it was.
    Show(ShowArgs),
    /// Take somebody's network in: a Stable-Baselines3 .zip or an ONNX of full layers.
    Import(ImportArgs),
    /// Write a policy as ONNX: one input `observation`, one output `action`.
    Export(ExportArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The file of others; nothing in it is executed.
    file: PathBuf,
    /// Where to put it.
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// YAML that says how its inputs are made and what its outputs mean; it must fit.
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The policy: the folder of its training, or its file.
    policy: PathBuf,
    /// Where to put it.
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
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
        Command::Import(args) => import(args),
        Command::Export(args) => export(args),
    }
}

fn import(args: &ImportArgs) -> Result {
    let policy = ForeignPolicy::load(&args.file)?;
    if let Some(path) = &args.mapping {
        let text = std::fs::read_to_string(path).context(|| path.display().to_string())?;
        Mapping::parse(&text, &path.display().to_string())?.check(&policy)?;
    }
    policy.save(&args.out)?;
    if args.json {
        return output::data(&foreign(&policy).to_string());
    }
    output::lines(&policy.lines())
}

fn export(args: &ExportArgs) -> Result {
    let file = PolicyFile::load(&args.policy)?;
    std::fs::write(&args.out, to_onnx(&file.network)).context(|| args.out.display().to_string())?;
    output::data(&args.out.display().to_string())
}

fn foreign(policy: &ForeignPolicy) -> serde_json::Value {
    let layers = policy.network.layers().iter();
    let layers: Vec<_> = layers.map(|l| json!([l.inputs(), l.outputs()])).collect();
    json!({
        "source": policy.source, "inputs": policy.inputs, "layers": layers,
        "outputs": policy.network.outputs(), "bounds": policy.bounds,
    })
}

fn show(args: &ShowArgs) -> Result {
    if args.policy.is_file()
        && let Ok(policy) = ForeignPolicy::load(&args.policy)
    {
        if args.json {
            return output::data(&foreign(&policy).to_string());
        }
        return output::lines(&policy.lines());
    }
    let file = PolicyFile::load(&args.policy)?;
    if args.json {
        return output::data(&json!(file.about).to_string());
    }
    output::lines(&file.lines())
}
