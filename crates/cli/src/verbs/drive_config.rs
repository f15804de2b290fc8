//! `citrange drive --config record.yaml`: the settings of a recording in one file. Its keys are the
//! options of `drive`, whichever there are; they become words of the command line, so that both
//! mean the same. What the command line says wins.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use citrange_core::names::suggestion;
use citrange_core::yaml::from_yaml;
use citrange_sim::SimError;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde_json::{Value, json};

/// Words that `--config` of `drive` adds to the command line; none without it.
///
/// # Errors
/// When the file cannot be read or has a key that is not known.
pub(crate) fn words(matches: &ArgMatches) -> anyhow::Result<Vec<OsString>> {
    let Some(("drive", given)) = matches.subcommand() else { return Ok(Vec::new()) };
    let Some(path) = given.get_one::<PathBuf>("config") else { return Ok(Vec::new()) };
    let is_given = |name: &str| given.value_source(name) == Some(ValueSource::CommandLine);
    Ok(read(path)?.words(&is_given))
}

fn read(path: &Path) -> anyhow::Result<Config> {
    let fail = |e| citrange_tape::TapeError::File { what: "read", path: path.into(), reason: e };
    let text = std::fs::read_to_string(path).map_err(fail)?;
    Ok(from_yaml(&text, &path.display().to_string()).map_err(SimError::from)?)
}

/// The JSON schema of the file.
pub(crate) fn schema() -> Value {
    let properties = options().into_iter().map(|arg| {
        let mut property = match arg.get_action() {
            ArgAction::SetTrue => json!({"type": "boolean"}),
            _ => json!({"type": ["string", "number", "array"]}),
        };
        let values: Vec<String> =
            arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        if !values.is_empty() && !matches!(arg.get_action(), ArgAction::SetTrue) {
            property = json!({ "enum": values });
        }
        property["description"] = json!(arg.get_help().map(ToString::to_string));
        (arg.get_id().to_string(), property)
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of citrange drive",
        "type": "object",
        "properties": properties.collect::<serde_json::Map<_, _>>(),
        "additionalProperties": false,
    })
}

/// The options that a file may set.
fn options() -> Vec<Arg> {
    let command: Command = <crate::Cli as clap::CommandFactory>::command();
    let drive = command.find_subcommand("drive");
    let all = drive.into_iter().flat_map(Command::get_arguments);
    let elsewhere = ["config", "json", "help", "version", "verbose"];
    all.filter(|arg| !elsewhere.contains(&arg.get_id().as_str())).cloned().collect()
}

/// Settings in the order of the file.
#[derive(Debug)]
struct Config(Vec<(Arg, Setting)>);

/// A key that is an option.
struct Key(Arg);

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Setting {
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    List(Vec<Setting>),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(is_on) => is_on.fmt(f),
            Self::Whole(number) => number.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::List(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                all.join(",").fmt(f)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Name;
        // Refused while it is being read: then the reader still knows the line.
        impl Visitor<'_> for Name {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an option of citrange drive")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Key, E> {
                let mut options = options();
                let at = options.iter().position(|arg| arg.get_id() == name);
                at.map(|at| Key(options.swap_remove(at))).ok_or_else(|| {
                    let hint = suggestion(name, options.iter().map(|arg| arg.get_id().as_str()));
                    E::custom(format_args!("unknown key \"{name}\", {hint}"))
                })
            }
        }
        from.deserialize_str(Name)
    }
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Config;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("options of citrange drive with their values")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Config, A::Error> {
                let mut all: Vec<(Arg, Setting)> = Vec::new();
                while let Some(Key(arg)) = map.next_key()? {
                    let (name, setting) = (arg.get_id(), map.next_value()?);
                    if all.iter().any(|(known, _)| known.get_id() == name) {
                        let twice = format_args!("the key \"{name}\" is given twice");
                        return Err(de::Error::custom(twice));
                    }
                    let is_flag = matches!(setting, Setting::Flag(_));
                    if is_flag != matches!(arg.get_action(), ArgAction::SetTrue) {
                        let right = if is_flag { "a value, not" } else { "either" };
                        let wrong = format_args!("{name} is {right} true or false");
                        return Err(de::Error::custom(wrong));
                    }
                    all.push((arg, setting));
                }
                Ok(Config(all))
            }
        }
        from.deserialize_map(Pairs)
    }
}

impl Config {
    fn words(self, is_given: &dyn Fn(&str) -> bool) -> Vec<OsString> {
        let (mut words, mut places) = (Vec::new(), Vec::new());
        for (arg, setting) in self.0 {
            if is_given(arg.get_id().as_str()) {
                continue;
            }
            let Some(long) = arg.get_long() else {
                places.extend(["--".to_owned(), setting.to_string()]);
                continue;
            };
            let is_repeated = matches!(arg.get_action(), ArgAction::Append)
                && arg.get_value_delimiter().is_none();
            match setting {
                Setting::Flag(is_on) => words.extend(is_on.then(|| format!("--{long}"))),
                Setting::List(all) if is_repeated => {
                    words.extend(all.iter().map(|one| format!("--{long}={one}")));
                }
                // No camera at all is a word of its own: without one all are taken.
                Setting::List(all) if all.is_empty() => {
                    words.extend((long == "cameras").then(|| format!("--{long}=none")));
                }
                value => words.push(format!("--{long}={value}")),
            }
        }
        words.into_iter().chain(places).map(OsString::from).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_wins_and_nothing_else_is_lost() {
        let text = "scene: orange_plate\nrecord: my set\nseed: 7\ncameras: []\nimages: []\n\
                    features: [pos, vel]\nepisode_time: 12.5\nresume: true\ntui: false\n\
                    host: [a, b]\n";
        let config: Config = from_yaml(text, "record.yaml").unwrap();
        let words = config.words(&|name| name == "seed");
        let right = [
            "--record=my set",
            "--cameras=none",
            "--features=pos,vel",
            "--episode-time=12.5",
            "--resume",
            "--host=a",
            "--host=b",
            "--",
            "orange_plate",
        ];
        assert_eq!(words, right);
    }

    #[test]
    fn wrong_keys_are_named_with_their_line() {
        for (text, parts) in [
            ("scene: a\nepisode_tme: 3\n", ["r.yaml:2", "did you mean \"episode_time\""]),
            ("json: true\n", ["r.yaml:1", "unknown key \"json\""]),
            ("resume: 3\n", ["r.yaml:1", "either true or false"]),
            ("task: true\n", ["r.yaml:1", "a value"]),
        ] {
            let error = from_yaml::<Config>(text, "r.yaml").unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
        }
    }
}
