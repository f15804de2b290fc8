//! Where each value of merged settings came from: a default, a profile, a line of a file, an option.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::schema::aliases_of;
use crate::yaml::{YamlError, lines};

/// Who said a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody: it is the built-in value.
    Default,
    /// A built-in profile.
    Profile(String),
    /// A file.
    File {
        /// Its name.
        file: String,
        /// Line, counted from 1.
        line: usize,
    },
    /// The command line.
    Option(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Profile(name) => write!(f, "profile {name}"),
            Self::File { file, line } => write!(f, "file {file}:{line}"),
            Self::Option(name) => write!(f, "option {name}"),
        }
    }
}

/// A text that says values: a profile or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The profile's name; none for a file.
    pub profile: Option<String>,
    /// The file's name.
    pub file: String,
    /// What stands in it.
    pub text: String,
}

/// Settings and who said each value of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    value: Value,
    /// By JSON pointer, also of mappings; values that are not here are defaults.
    origins: BTreeMap<String, Origin>,
}

impl Traced {
    /// Settings that were read as `T` from these layers, the last one on top. Values that no layer
    /// names are defaults.
    ///
    /// # Errors
    /// When a layer is not YAML.
    pub fn new<T: JsonSchema + Serialize>(
        settings: &T,
        layers: &[Layer],
    ) -> Result<Self, YamlError> {
        let value = json!(settings);
        let aliases = aliases_of::<T>();
        let mut origins = BTreeMap::new();
        for layer in layers {
            for (pointer, line) in lines(&layer.text, &layer.file)? {
                let today = |key| aliases.get(key).map_or(key, String::as_str);
                let pointer = pointer.split('/').map(today).collect::<Vec<_>>().join("/");
                let origin = match &layer.profile {
                    Some(name) => Origin::Profile(name.clone()),
                    None => Origin::File { file: layer.file.clone(), line },
                };
                origins.insert(pointer, origin);
            }
        }
        Ok(Self { value, origins })
    }

    /// Nothing yet.
    #[must_use]
    pub fn empty() -> Self {
        Self { value: Value::Object(Map::new()), origins: BTreeMap::new() }
    }

    /// Puts a value under a key.
    pub fn set(&mut self, key: &str, value: Value, origin: Origin) {
        if origin != Origin::Default {
            self.origins.insert(format!("/{}", escaped(key)), origin);
        }
        self.value[key] = value;
    }

    /// Puts other settings under a key.
    pub fn put(&mut self, key: &str, part: Self) {
        let prefix = format!("/{}", escaped(key));
        let moved = part.origins.into_iter().map(|(path, origin)| (prefix.clone() + &path, origin));
        self.origins.extend(moved);
        self.value[key] = part.value;
    }

    /// Says who said a value that is there, by the keys on the way to it.
    pub fn set_origin(&mut self, keys: &[&str], origin: Origin) {
        let pointer = keys.iter().map(|key| format!("/{}", escaped(key))).collect();
        self.origins.insert(pointer, origin);
    }

    /// Who said the value at a JSON pointer.
    #[must_use]
    pub fn origin(&self, pointer: &str) -> &Origin {
        self.origins.get(pointer).unwrap_or(&Origin::Default)
    }

    /// The values, and the origin of every one by its JSON pointer.
    #[must_use]
    pub fn json(&self) -> Value {
        let from = leaves(&self.value).into_iter().map(|(pointer, _)| {
            let origin = self.origin(&pointer).to_string();
            (pointer, Value::String(origin))
        });
        json!({"settings": self.value, "from": from.collect::<Map<_, _>>()})
    }

    /// As YAML with the origin behind every value.
    #[must_use]
    pub fn yaml(&self) -> String {
        let mut text = String::new();
        self.write(&self.value, "", 0, &mut text);
        text
    }

    fn write(&self, value: &Value, pointer: &str, depth: usize, text: &mut String) {
        let Value::Object(map) = value else { return };
        for (key, value) in map {
            let pointer = format!("{pointer}/{}", escaped(key));
            let head = format!("{:width$}{key}:", "", width = 2 * depth);
            if value.as_object().is_some_and(|map| !map.is_empty()) {
                text.push_str(&head);
                text.push('\n');
                self.write(value, &pointer, depth + 1, text);
            } else {
                // JSON is YAML.
                let line = format!("{head} {value}");
                text.push_str(&format!("{line:<44} # {}\n", self.origin(&pointer)));
            }
        }
    }
}

/// The values that are no mappings (or empty ones), by JSON pointer.
fn leaves(value: &Value) -> Vec<(String, &Value)> {
    let Value::Object(map) = value else { return vec![(String::new(), value)] };
    if map.is_empty() {
        return vec![(String::new(), value)];
    }
    let below = |(key, value): (&String, _)| {
        let prefix = format!("/{}", escaped(key));
        leaves(value).into_iter().map(move |(path, leaf)| (prefix.clone() + &path, leaf))
    };
    map.iter().flat_map(|pair| below((pair.0, pair.1)).collect::<Vec<_>>()).collect()
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Settings {
        speed: u32,
        r#box: Corners,
        rest: [u32; 2],
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Corners {
        low: u32,
        high: u32,
        #[serde(alias = "old")]
        #[schemars(extend("x-aliases" = ["old"]))]
        new: u32,
    }

    #[test]
    fn every_value_knows_who_said_it() {
        let layer = |profile: Option<&str>, text: &str| Layer {
            profile: profile.map(str::to_owned),
            file: "own.yaml".to_owned(),
            text: text.to_owned(),
        };
        let layers = [
            layer(Some("fast"), "speed: 2\nbox: {low: 1, high: 3}\n"),
            layer(None, "# own\nbox:\n  high: 4\n  old: 9\n"),
        ];
        let corners = Corners { low: 1, high: 4, new: 9 };
        let settings = Settings { speed: 2, r#box: corners, rest: [1, 2] };
        let mut traced = Traced::empty();
        traced.put("arm", Traced::new(&settings, &layers).unwrap());
        traced.set("seed", json!(7), Origin::Option("--seed".to_owned()));
        let yaml = traced.yaml();
        let wanted = [
            "    high: 4                                  # file own.yaml:3",
            "    low: 1                                   # profile fast",
            // Said under an old name.
            "    new: 9                                   # file own.yaml:4",
            "  rest: [1,2]                                # default",
            "  speed: 2                                   # profile fast",
            "seed: 7                                      # option --seed",
        ];
        for line in wanted {
            assert!(yaml.lines().any(|l| l == line), "{line}\nin\n{yaml}");
        }
        assert_eq!(traced.json()["from"]["/arm/box/high"], "file own.yaml:3");
        assert_eq!(traced.json()["settings"]["arm"]["rest"], json!([1, 2]));
    }
}
