//! `citrange config show VERB …`, `citrange config schema KIND`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Context as _;
use citrange_cloud::CameraPose;
use citrange_core::origin::{Origin, Traced};
use citrange_core::randomise::Randomise;
use citrange_core::schema::schema_of;
use citrange_core::yaml::lines;
use citrange_core::{RobotDescription, Scene};
use citrange_sim::SimError;
use citrange_sim::catalog::{load_scene, traced_scene};
use citrange_space::Cell;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use serde_json::{Value, json};

use super::drive_config;
use crate::exit::usage;
use crate::output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Print all settings that a verb has with these words, and where each value comes from.
    Show(Show),
    /// Print the JSON schema of a file that people write, for editors.
    Schema {
        /// The kind of file.
        kind: Kind,
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

/// Files that people write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// What stands where: scenes/*.yaml.
    Scene,
    /// What a robot is: models/*/robot.yaml.
    Robot,
    /// How an arm answers to keys: drive --profile.
    Control,
    /// Numbers of the autopilot: collect --autopilot.
    Task,
    /// What differs from episode to episode: collect --randomise.
    Randomise,
    /// Cameras and robot of a cell: space --config.
    Cell,
    /// Where a camera stands: `pose_file` of a cell.
    CameraPose,
    /// Settings of a recording: drive --config.
    Drive,
}

impl Kind {
    fn schema(self) -> Value {
        match self {
            Self::Scene => schema_of::<Scene>("A scene"),
            Self::Robot => schema_of::<RobotDescription>("A robot"),
            Self::Control => citrange_control::ControllerSettings::schema(),
            Self::Task => citrange_task::AutopilotSettings::schema(),
            Self::Randomise => schema_of::<Randomise>("What differs from episode to episode"),
            Self::Cell => schema_of::<Cell>("A cell"),
            Self::CameraPose => CameraPose::schema(),
            Self::Drive => drive_config::schema(),
        }
    }
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Show(args) => show(args),
        Command::Schema { kind } => output::data(&format!("{:#}", kind.schema())),
    }
}

fn show(args: &Show) -> anyhow::Result<()> {
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
fn traced(words: &[&String]) -> anyhow::Result<Traced> {
    let given: Vec<OsString> =
        std::iter::once("citrange".into()).chain(words.iter().map(OsString::from)).collect();
    let typed = matches(given.clone())?;
    let added = drive_config::words(&typed)?;
    let all = matches(given.into_iter().chain(added).collect())?;
    let command = crate::Cli::grouped();
    let (mut verb, mut typed, mut all) = (&command, &typed, &all);
    while let (Some((name, below)), Some((_, also))) = (all.subcommand(), typed.subcommand()) {
        verb = verb.find_subcommand(name).context("clap knows the verb")?;
        (all, typed) = (below, also);
    }
    let mut traced = Traced::empty();
    for arg in verb.get_arguments().filter(|arg| is_setting(arg)) {
        let name = arg.get_id().as_str();
        let origin = match (all.value_source(name), typed.value_source(name)) {
            (Some(ValueSource::CommandLine), Some(ValueSource::CommandLine)) => {
                match arg.get_long() {
                    Some(long) => Origin::Option(format!("--{long}")),
                    None => Origin::Option(arg.get_id().as_str().to_uppercase()),
                }
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
fn matches(words: Vec<OsString>) -> anyhow::Result<ArgMatches> {
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
fn in_config(matches: &ArgMatches, name: &str) -> anyhow::Result<Origin> {
    let file = text_of(matches, "config").unwrap_or_default();
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?;
    let lines = lines(&text, &file).map_err(SimError::from)?;
    Ok(Origin::File { line: lines.get(&format!("/{name}")).copied().unwrap_or(1), file })
}

/// An option's value, of a verb that has it.
fn text_of(matches: &ArgMatches, name: &str) -> Option<String> {
    let words = matches.try_contains_id(name).ok().filter(|is_there| *is_there);
    let mut words = words.and_then(|_| matches.get_raw(name))?;
    words.next().map(|word| word.to_string_lossy().into_owned())
}

/// What stands in the profiles and files that the words name.
fn add_files(verb: &str, matches: &ArgMatches, traced: &mut Traced) -> anyhow::Result<()> {
    let has = |name: &str| matches.try_contains_id(name).is_ok();
    if let Some(profile) = text_of(matches, "profile").filter(|_| verb == "drive") {
        traced.put("controller", citrange_control::ControllerSettings::traced(&profile)?);
    }
    if has("autopilot") {
        let scene = text_of(matches, "scene").map(|name| load_scene(&name)).transpose()?;
        let job = scene.and_then(|source| source.scene.job);
        let profile = text_of(matches, "autopilot").or_else(|| job?.profile);
        let profile = profile.unwrap_or_else(|| "default".to_owned());
        let mut part = citrange_task::AutopilotSettings::traced(&profile)?;
        if let Some(retries) = text_of(matches, "retries") {
            let origin = Origin::Option("--retries".to_owned());
            part.set("retries", serde_json::from_str(&retries)?, origin);
        }
        traced.put("pilot", part);
    }
    if let Some(name) = text_of(matches, "randomise") {
        let read = |path: &str| {
            std::fs::read_to_string(path)
                .with_context(|| format!("--randomise: cannot read {path}"))
        };
        let text = if name == "default" { None } else { Some(read(&name)?) };
        let file = text.as_deref().map(|text| (name.as_str(), text));
        traced.put("ranges", Randomise::traced(file).map_err(SimError::from)?);
    }
    if has("width") && has("camera") && has("config") {
        let config = text_of(matches, "config");
        traced.put("cell", Cell::traced(config.as_deref().map(Path::new))?);
    }
    if let Some(name) = text_of(matches, "scene").filter(|_| verb == "show" || verb == "render") {
        traced.put("scene", traced_scene(&name)?);
    }
    Ok(())
}
