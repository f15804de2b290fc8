//! Options of a command in a file of their own. Its keys are the options, whichever there are; they
//! become words of the command line, so that both mean the same.

use std::fmt;
use std::path::Path;

use citrange_core::names::suggestion;
use citrange_core::yaml::{YamlError, from_yaml, lines};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, json};

use crate::error::SettingsError;

/// An option of a command, as a file may name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionSpec {
    /// Its key in the file.
    pub name: String,
    /// Its word on the command line, without `--`; none for what has its place instead.
    pub long: Option<String>,
    /// What it does.
    pub help: Option<String>,
    /// Whether it is there or not, and has no value.
    pub is_flag: bool,
    /// Whether it is given once for each value of a list; otherwise commas part them.
    pub is_repeated: bool,
    /// What an empty list says on the command line, where that is not the same as nothing.
    pub empty: Option<String>,
    /// The values that are possible, where they are known.
    pub values: Vec<String>,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// Whether a flag is given.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
    /// Several values.
    List(Vec<OptionValue>),
}

/// Options with their values, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionFile(Vec<(OptionSpec, OptionValue)>);

impl fmt::Display for OptionValue {
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

/// The JSON schema of a file of these options.
#[must_use]
pub fn options_schema(title: &str, options: &[OptionSpec]) -> Value {
    let properties = options.iter().map(|option| {
        let mut property = if option.is_flag {
            json!({"type": "boolean"})
        } else if option.values.is_empty() {
            json!({"type": ["string", "number", "array"]})
        } else {
            json!({ "enum": option.values })
        };
        property["description"] = json!(option.help);
        (option.name.clone(), property)
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

impl OptionFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read or has a key that is no option: with file, line, and what would be
    /// right.
    pub fn load(path: &Path, options: &[OptionSpec]) -> Result<Self, SettingsError> {
        let text = std::fs::read_to_string(path).map_err(SettingsError::file(path))?;
        Ok(Self::parse(&text, &path.display().to_string(), options)?)
    }

    /// The same from text; `file` is for errors.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn parse(text: &str, file: &str, options: &[OptionSpec]) -> Result<Self, YamlError> {
        let Pairs(pairs) = from_yaml(text, file)?;
        let lines = lines(text, file)?;
        let checked = pairs.into_iter().map(|(name, value)| {
            let line = lines.get(&format!("/{name}")).copied();
            let file = file.to_owned();
            let wrong = |message| YamlError { file, line, key: String::new(), message };
            match check(&name, &value, options) {
                Ok(option) => Ok((option.clone(), value)),
                Err(message) => Err(wrong(message)),
            }
        });
        Ok(Self(checked.collect::<Result<_, _>>()?))
    }

    /// As words of the command line; options that are given there already win and are left out.
    #[must_use]
    pub fn words(&self, is_given: &dyn Fn(&str) -> bool) -> Vec<String> {
        let (mut words, mut places) = (Vec::new(), Vec::new());
        for (option, value) in self.0.iter().filter(|(option, _)| !is_given(&option.name)) {
            let Some(long) = &option.long else {
                places.extend(["--".to_owned(), value.to_string()]);
                continue;
            };
            match value {
                OptionValue::Flag(is_on) => words.extend(is_on.then(|| format!("--{long}"))),
                OptionValue::List(all) if option.is_repeated => {
                    words.extend(all.iter().map(|one| format!("--{long}={one}")));
                }
                OptionValue::List(all) if all.is_empty() => {
                    words.extend(option.empty.iter().map(|word| format!("--{long}={word}")));
                }
                value => words.push(format!("--{long}={value}")),
            }
        }
        words.into_iter().chain(places).collect()
    }
}

/// The option of a key, if it can have the value.
fn check<'a>(
    name: &str,
    value: &OptionValue,
    options: &'a [OptionSpec],
) -> Result<&'a OptionSpec, String> {
    let option = options.iter().find(|option| option.name == name).ok_or_else(|| {
        let hint = suggestion(name, options.iter().map(|option| option.name.as_str()));
        format!("unknown key \"{name}\", {hint}")
    })?;
    let is_flag = matches!(value, OptionValue::Flag(_));
    if is_flag != option.is_flag {
        let right = if is_flag { "a value, not" } else { "either" };
        return Err(format!("{name} is {right} true or false"));
    }
    Ok(option)
}

/// Keys and values in the order of a file.
struct Pairs(Vec<(String, OptionValue)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Pairs;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("options with their values")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut all = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    all.push(pair);
                }
                Ok(Pairs(all))
            }
        }
        from.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Vec<OptionSpec> {
        let long = |name: &str| OptionSpec {
            name: name.to_owned(),
            long: Some(name.replace('_', "-")),
            ..OptionSpec::default()
        };
        let flag = |name| OptionSpec { is_flag: true, ..long(name) };
        vec![
            OptionSpec { name: "scene".to_owned(), ..OptionSpec::default() },
            long("record"),
            long("seed"),
            OptionSpec { empty: Some("none".to_owned()), ..long("cameras") },
            long("images"),
            long("features"),
            long("episode_time"),
            flag("resume"),
            flag("tui"),
            long("task"),
            OptionSpec { is_repeated: true, ..long("host") },
        ]
    }

    #[test]
    fn the_command_line_wins_and_nothing_else_is_lost() {
        let text = "scene: orange_plate\nrecord: my set\nseed: 7\ncameras: []\nimages: []\n\
                    features: [pos, vel]\nepisode_time: 12.5\nresume: true\ntui: false\n\
                    host: [a, b]\n";
        let file = OptionFile::parse(text, "record.yaml", &options()).unwrap();
        let words = file.words(&|name| name == "seed");
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
            ("seed: 1\nresume: 3\n", ["r.yaml:2", "either true or false"]),
            ("task: true\n", ["r.yaml:1", "a value"]),
            ("seed: 1\nseed: 2\n", ["r.yaml", "duplicated key"]),
        ] {
            let error = OptionFile::parse(text, "r.yaml", &options()).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
        }
    }

    #[test]
    fn a_schema_has_the_options_and_nothing_else() {
        let mut options = options();
        options[2].values = vec!["one".to_owned()];
        let schema = options_schema("Settings", &options);
        assert_eq!(schema["properties"]["resume"]["type"], "boolean");
        assert_eq!(schema["properties"]["seed"]["enum"], json!(["one"]));
        assert_eq!(schema["properties"].as_object().unwrap().len(), options.len());
        assert_eq!(schema["additionalProperties"], false);
    }
}
