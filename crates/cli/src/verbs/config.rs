//! `citrange config show VERB …`, `citrange config schema KIND`.

use std::ffi::OsString;
use std::path::Path;

use citrange_core::origin::{Origin, Traced};
use citrange_core::yaml::lines;
use citrange_episodes::drive::DEFAULT_SCENE;
use citrange_settings::{FILE_KINDS, SettingsError, autopilot, cell, controller, ranges, scene};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use serde_json::{Value, json};

use super::demo;
use crate::exit::{Context as _, Result, usage};
use crate::option_file;
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
            let known = citrange_settings::file_kind(kind);
            let schema = known.map_or_else(option_file::schema, |kind| kind.schema());
            output::data(&format!("{schema:#}"))
        }
    }
}

fn show(args: &Show) -> Result {
    // Wherever it stands, it is meant for what is printed here.
    let (json, words): (Vec<&String>, Vec<&String>) =
        args.words.iter().partition(|word| *word == "--json");
    let traced = traced(&words)?;
    if args.json || !json.is_empty() {
        return output::data(&traced.json().to_string());
    }
    output::data(traced.yaml().trim_end())
}

/// What these words mean, in all detail.
fn traced(words: &[&String]) -> Result<Traced> {
    let given: Vec<OsString> =
        std::iter::once("citrange".into()).chain(words.iter().map(OsString::from)).collect();
    let typed = matches(given.clone())?;
    let added = option_file::words(&typed)?.into_iter().map(OsString::from);
    let all = matches(given.into_iter().chain(added).collect())?;
    let command = crate::Cli::grouped();
    let (mut verb, mut typed, mut all) = (&command, &typed, &all);
    while let (Some((name, below)), Some((_, also))) = (all.subcommand(), typed.subcommand()) {
        // clap has just found it by this name.
        let Some(found) = verb.find_subcommand(name) else { break };
        (verb, all, typed) = (found, below, also);
    }
    let mut traced = Traced::empty();
    for arg in verb.get_arguments().filter(|arg| is_setting(arg)) {
        let name = arg.get_id().as_str();
        let origin = match (all.value_source(name), typed.value_source(name)) {
            (Some(ValueSource::CommandLine), Some(ValueSource::CommandLine)) => {
                let long = arg.get_long().map(|long| format!("--{long}"));
                Origin::Option(long.unwrap_or_else(|| name.to_uppercase()))
            }
            (Some(ValueSource::CommandLine), _) => in_config(all, name)?,
            _ => Origin::Default,
        };
        traced.set(name, value(arg, all), origin);
    }
    add_files(verb.get_name(), all, &mut traced)?;
    Ok(traced)
}

/// Parses; what a verb needs may be missing.
fn matches(words: Vec<OsString>) -> Result<ArgMatches> {
    let told = |e: clap::Error| {
        let text = e.to_string();
        usage(text.lines().next().unwrap_or_default().trim_start_matches("error: "))
    };
    match crate::Cli::grouped().try_get_matches_from(words.clone()) {
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
            let command = crate::Cli::grouped().ignore_errors(true);
            command.try_get_matches_from(words).map_err(told)
        }
        answer => answer.map_err(told),
    }
}

fn is_setting(arg: &Arg) -> bool {
    !["help", "version", "verbose", "json"].contains(&arg.get_id().as_str())
}

/// The value of an option as YAML has it; null where there is none.
fn value(arg: &Arg, matches: &ArgMatches) -> Value {
    let name = arg.get_id().as_str();
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return json!(matches.get_flag(name));
    }
    let words = matches.get_raw(name).into_iter().flatten();
    let mut values: Vec<Value> = words
        .map(|word| {
            let word = word.to_string_lossy();
            serde_json::from_str(&word).ok().filter(Value::is_number).unwrap_or(json!(word))
        })
        .collect();
    let is_list = matches!(arg.get_action(), ArgAction::Append) || values.len() > 1;
    match values.pop() {
        Some(last) if is_list => json!([values, vec![last]].concat()),
        Some(only) => only,
        None => Value::Null,
    }
}

/// The line of the file of `drive --config` that says an option.
fn in_config(matches: &ArgMatches, name: &str) -> Result<Origin> {
    let file = text_of(matches, "config").unwrap_or_default();
    let text = std::fs::read_to_string(&file).context(|| format!("cannot read {file}"))?;
    let lines = lines(&text, &file).map_err(SettingsError::from)?;
    Ok(Origin::File { line: lines.get(&format!("/{name}")).copied().unwrap_or(1), file })
}

/// An option's value, of a verb that has it.
fn text_of(matches: &ArgMatches, name: &str) -> Option<String> {
    let words = matches.try_contains_id(name).ok().filter(|is_there| *is_there);
    let mut words = words.and_then(|_| matches.get_raw(name))?;
    words.next().map(|word| word.to_string_lossy().into_owned())
}

/// What stands in the profiles and files that the words name.
fn add_files(verb: &str, matches: &ArgMatches, traced: &mut Traced) -> Result {
    let has = |name: &str| matches.try_contains_id(name).is_ok();
    let usual = match verb {
        "demo" => Some(demo::SCENE),
        DRIVE if text_of(matches, "from").is_none() => Some(DEFAULT_SCENE),
        _ => None,
    };
    let scene_name = text_of(matches, "scene").or(usual.map(str::to_owned));
    if let Some(profile) = text_of(matches, "profile").filter(|_| verb == DRIVE) {
        traced.put("controller", controller(&profile)?);
    }
    if has("autopilot") || [DRIVE, "demo"].contains(&verb) {
        let (profile, retries) = (text_of(matches, "autopilot"), text_of(matches, "retries"));
        let retries = retries.and_then(|retries| retries.parse().ok());
        traced.put("pilot", autopilot(scene_name.as_deref(), profile.as_deref(), retries)?);
    }
    if let Some(name) = text_of(matches, "randomise") {
        traced.put("ranges", ranges(&name)?);
    }
    if has("width") && has("camera") && has("config") {
        traced.put("cell", cell(text_of(matches, "config").as_deref().map(Path::new))?);
    }
    if let Some(name) = scene_name {
        // Where the scene is all that there is to show it takes the place of its name.
        let key = if ["show", "render"].contains(&verb) { "scene" } else { "scene_file" };
        traced.put(key, scene(&name)?);
    }
    Ok(())
}
