//! `citrange drive --config record.yaml`: the options of a verb as keys of a file.

use std::path::PathBuf;

use citrange_settings::{OptionFile, OptionSpec, options_schema};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory as _};
use serde_json::Value;

use crate::exit::Result;

/// Words that `--config` of `drive` adds to the command line; none without it. What the command
/// line says wins.
///
/// # Errors
/// When the file cannot be read or has a key that is not known.
pub(crate) fn words(matches: &ArgMatches) -> Result<Vec<String>> {
    let Some(("drive", given)) = matches.subcommand() else { return Ok(Vec::new()) };
    let Some(path) = given.get_one::<PathBuf>("config") else { return Ok(Vec::new()) };
    let is_given = |name: &str| given.value_source(name) == Some(ValueSource::CommandLine);
    Ok(OptionFile::load(path, &options())?.words(&is_given))
}

/// The JSON schema of the file.
pub(crate) fn schema() -> Value {
    options_schema("Settings of citrange drive", &options())
}

/// The options that a file may set.
fn options() -> Vec<OptionSpec> {
    let command = crate::Cli::command();
    let drive = command.find_subcommand("drive");
    let all = drive.into_iter().flat_map(Command::get_arguments);
    let elsewhere = ["config", "json", "help", "version", "verbose"];
    all.filter(|arg| !elsewhere.contains(&arg.get_id().as_str())).map(option).collect()
}

fn option(arg: &Arg) -> OptionSpec {
    let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
    let values = arg.get_possible_values();
    let values = values.iter().filter(|_| !is_flag).map(|value| value.get_name().to_owned());
    let is_list = matches!(arg.get_action(), ArgAction::Append);
    OptionSpec {
        name: arg.get_id().to_string(),
        long: arg.get_long().map(str::to_owned),
        help: arg.get_help().map(ToString::to_string),
        is_flag,
        is_repeated: is_list && arg.get_value_delimiter().is_none(),
        // No camera at all is a word of its own: without one all are taken.
        empty: (arg.get_id() == "cameras").then(|| "none".to_owned()),
        values: values.collect(),
    }
}
