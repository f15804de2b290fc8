//! `citrange config show VERB …`, `citrange config schema KIND`.

use citrange_episodes::drive::DEFAULT_SCENE;
use citrange_settings::{CommandLine, FILE_KINDS, add_files, file_kind};
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::demo;
use crate::exit::Result;
use crate::output;

/// The file whose keys are the options of `drive`: no type of a library.
const DRIVE: &str = "drive";

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Print all settings that a verb has with these words, and where each value comes from.
    Show(Show),
    /// Print the JSON schema of a file that people write, for editors.
    Schema {
        /// The kind of file.
        #[arg(value_parser = kinds())]
        kind: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// Print JSON: the settings, and the origin of each by its JSON pointer.
    #[arg(long)]
    json: bool,
    /// The verb and what follows it, such as: drive orange_plate --profile own.yaml.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Kinds of files by their names.
fn kinds() -> PossibleValuesParser {
    let drive = PossibleValue::new(DRIVE).help("Settings of a recording: drive --config");
    let kinds = FILE_KINDS.iter().map(|kind| PossibleValue::new(kind.name).help(kind.about));
    PossibleValuesParser::new(kinds.chain([drive]))
}

pub(crate) fn run(command: &Command) -> Result {
    match command {
        Command::Show(args) => show(args),
        Command::Schema { kind } => {
            let drive = || command_line().file_schema("Settings of citrange drive");
            let schema = file_kind(kind).map_or_else(drive, |kind| kind.schema());
            output::data(&format!("{schema:#}"))
        }
    }
}

/// The whole command line; `drive` may have its options in a file.
pub(crate) fn command_line() -> CommandLine {
    CommandLine::new(crate::Cli::grouped(), DRIVE, "config")
}

fn show(args: &Show) -> Result {
    // Wherever it stands, it is meant for what is printed here.
    let (json, words): (Vec<&str>, Vec<&str>) =
        args.words.iter().map(String::as_str).partition(|word| *word == "--json");
    let mut line = command_line().trace(&words)?;
    if let Some(missing) = &line.missing {
        output::talk(&format!("needed to run, not given: {missing}"));
    }
    let usual_scene = match line.verb.as_str() {
        "demo" => Some(demo::SCENE),
        DRIVE => Some(DEFAULT_SCENE),
        _ => None,
    };
    add_files(&mut line, usual_scene)?;
    if args.json || !json.is_empty() {
        return output::data(&line.traced.json().to_string());
    }
    output::data(line.traced.yaml().trim_end())
}
