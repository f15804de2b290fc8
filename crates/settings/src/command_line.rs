//! A command line as settings: what its words mean, option by option, and who said each; and the
//! options that one of its verbs may have in a file.

use std::ffi::OsString;
use std::path::PathBuf;

use citrange_core::origin::{Origin, Traced};
use citrange_core::yaml::lines;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use crate::error::SettingsError;
use crate::option_file::{OptionFile, OptionSpec, options_schema};

/// Options that are about the program, not about what is done.
const NO_SETTINGS: [&str; 4] = ["help", "version", "verbose", "json"];

/// A program whose verb has an option that names a file of options.
#[derive(Clone, Debug)]
pub struct CommandLine {
    command: Command,
    verb: &'static str,
    option: &'static str,
}

/// What words mean.
#[derive(Debug)]
pub struct TracedLine {
    /// The verb, the last one where verbs have verbs.
    pub verb: String,
    /// Its options, and who said each.
    pub traced: Traced,
    /// What it needs to run and was not given, in words.
    pub missing: Option<String>,
    matches: ArgMatches,
}

impl CommandLine {
    /// Of a program whose `verb` has a file of options in its `option`.
    #[must_use]
    pub fn new(command: Command, verb: &'static str, option: &'static str) -> Self {
        Self { command, verb, option }
    }

    /// Words that the file of options adds to those on the command line, which win; none without
    /// it.
    ///
    /// # Errors
    /// When the file cannot be read or has a key that is not known.
    pub fn file_words(&self, matches: &ArgMatches) -> Result<Vec<String>, SettingsError> {
        let given = matches.subcommand().filter(|(verb, _)| *verb == self.verb);
        let Some((_, given)) = given else { return Ok(Vec::new()) };
        let Some(path) = given.get_one::<PathBuf>(self.option) else { return Ok(Vec::new()) };
        let is_given = |name: &str| given.value_source(name) == Some(ValueSource::CommandLine);
        Ok(OptionFile::load(path, &self.file_options())?.words(&is_given))
    }

    /// The JSON schema of the file of options.
    #[must_use]
    pub fn file_schema(&self, title: &str) -> Value {
        options_schema(title, &self.file_options())
    }

    /// The options that the file may set.
    fn file_options(&self) -> Vec<OptionSpec> {
        let verb = self.command.find_subcommand(self.verb);
        let all = verb.into_iter().flat_map(Command::get_arguments);
        let all = all.filter(|arg| is_setting(arg) && arg.get_id() != self.option);
        all.map(option).collect()
    }

    /// What these words mean, without the program's name. What a verb needs may be missing.
    ///
    /// # Errors
    /// When they cannot be understood, or the file of options cannot be read.
    pub fn trace(&self, words: &[&str]) -> Result<TracedLine, SettingsError> {
        let program = self.command.get_name().to_owned();
        let given: Vec<OsString> = std::iter::once(program)
            .chain(words.iter().map(ToString::to_string))
            .map(Into::into)
            .collect();
        let (typed, _) = self.matches(given.clone())?;
        let added = self.file_words(&typed)?.into_iter().map(OsString::from);
        let (all, missing) = self.matches(given.into_iter().chain(added).collect())?;
        let (mut verb, mut typed, mut all) = (&self.command, &typed, &all);
        while let (Some((name, below)), Some((_, also))) = (all.subcommand(), typed.subcommand()) {
            // clap has just found it by this name.
            let Some(found) = verb.find_subcommand(name) else { break };
            (verb, all, typed) = (found, below, also);
        }
        let mut traced = Traced::empty();
        for arg in verb.get_arguments().filter(|arg| is_setting(arg)) {
            let name = arg.get_id().as_str();
            let is_said = |by: &ArgMatches| by.value_source(name) == Some(ValueSource::CommandLine);
            let origin = match (is_said(all), is_said(typed)) {
                (true, true) => {
                    let long = arg.get_long().map(|long| format!("--{long}"));
                    Origin::Option(long.unwrap_or_else(|| name.to_uppercase()))
                }
                (true, false) => line_of(all, self.option, name)?,
                (false, _) => Origin::Default,
            };
            traced.set(name, value(arg, all), origin);
        }
        let (verb, matches) = (verb.get_name().to_owned(), all.clone());
        Ok(TracedLine { verb, traced, missing, matches })
    }

    /// Parses; also says what is missing.
    fn matches(&self, words: Vec<OsString>) -> Result<(ArgMatches, Option<String>), SettingsError> {
        let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let wrong = |error: clap::Error| {
            let text = first(&error.to_string());
            SettingsError::Usage(text.trim_start_matches("error: ").to_owned())
        };
        match self.command.clone().try_get_matches_from(words.clone()) {
            Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
                let text = error.to_string();
                let missing = text.lines().skip(1).take_while(|line| !line.is_empty());
                let missing = missing.map(str::trim).collect::<Vec<_>>().join(", ");
                let tolerant = self.command.clone().ignore_errors(true);
                let found = tolerant.try_get_matches_from(words).map_err(wrong)?;
                Ok((found, Some(missing)))
            }
            answer => Ok((answer.map_err(wrong)?, None)),
        }
    }
}

impl TracedLine {
    /// Whether the verb has such an option.
    #[must_use]
    pub fn has(&self, option: &str) -> bool {
        self.matches.try_contains_id(option).is_ok()
    }

    /// An option's value, where the verb has it and it is given or has a default.
    #[must_use]
    pub fn text(&self, option: &str) -> Option<String> {
        text(&self.matches, option)
    }
}

fn text(matches: &ArgMatches, option: &str) -> Option<String> {
    let is_there = matches.try_contains_id(option).is_ok_and(|is_there| is_there);
    let mut words = is_there.then(|| matches.get_raw(option))??;
    words.next().map(|word| word.to_string_lossy().into_owned())
}

fn is_setting(arg: &Arg) -> bool {
    !NO_SETTINGS.contains(&arg.get_id().as_str())
}

/// The value of an option as YAML has it; null where there is none.
fn value(arg: &Arg, matches: &ArgMatches) -> Value {
    let name = arg.get_id().as_str();
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return json!(matches.get_flag(name));
    }
    let words = matches.get_raw(name).into_iter().flatten().map(|word| word.to_string_lossy());
    let number = |word: &str| serde_json::from_str(word).ok().filter(Value::is_number);
    let mut values: Vec<Value> =
        words.map(|word| number(&word).unwrap_or_else(|| json!(word))).collect();
    let is_list = matches!(arg.get_action(), ArgAction::Append) || values.len() > 1;
    match values.len() {
        0 => Value::Null,
        _ if is_list => Value::Array(values),
        _ => values.swap_remove(0),
    }
}

/// The line of the file of options that says an option.
fn line_of(matches: &ArgMatches, file_option: &str, name: &str) -> Result<Origin, SettingsError> {
    let file = text(matches, file_option).unwrap_or_default();
    let read = std::fs::read_to_string(&file).map_err(SettingsError::file(&file))?;
    let line = lines(&read, &file)?.get(&format!("/{name}")).copied().unwrap_or(1);
    Ok(Origin::File { line, file })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A program with `drive SCENE --config FILE --speed N --camera A,B --quick`.
    fn line() -> CommandLine {
        let long = |name: &'static str| Arg::new(name).long(name);
        let path = clap::value_parser!(PathBuf);
        let drive = Command::new("drive")
            .arg(Arg::new("scene").required(true))
            .arg(long("config").value_parser(path))
            .arg(long("speed").default_value("1"))
            .arg(long("camera").value_delimiter(',').action(ArgAction::Append))
            .arg(long("quick").action(ArgAction::SetTrue))
            .arg(long("json").action(ArgAction::SetTrue));
        CommandLine::new(Command::new("program").subcommand(drive), "drive", "config")
    }

    #[test]
    fn words_files_and_defaults_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.yaml");
        std::fs::write(&path, "# own\nspeed: 3\ncamera: [a, b]\n").unwrap();
        let file = path.to_str().unwrap();
        let traced = line().trace(&["drive", "--config", file, "table", "--speed", "2"]).unwrap();
        assert_eq!((traced.verb.as_str(), &traced.missing), ("drive", &None));
        let all = traced.traced.json();
        assert_eq!(all["settings"]["camera"], json!(["a", "b"]));
        assert_eq!(all["settings"]["speed"], 2);
        assert!(all["settings"].get("json").is_none());
        let said = |key: &str| all["from"][format!("/{key}")].as_str().unwrap().to_owned();
        assert_eq!(said("scene"), "option SCENE");
        assert_eq!(said("speed"), "option --speed");
        assert_eq!(said("camera"), format!("file {file}:3"));
        assert_eq!(said("quick"), "default");
    }

    #[test]
    fn what_is_missing_is_named_and_what_is_wrong_is_refused() {
        let traced = line().trace(&["drive"]).unwrap();
        assert_eq!(traced.missing.as_deref(), Some("<scene>"));
        assert_eq!(traced.text("speed").as_deref(), Some("1"));
        assert_eq!((traced.text("scene"), traced.text("nothing")), (None, None));
        assert!(traced.has("scene") && !traced.has("nothing"));
        let said = line().trace(&["drive", "--spede", "1"]).unwrap_err().to_string();
        assert!(said.contains("--spede"), "{said}");
    }
}
