//! `citrange drive --config record.yaml`: the settings of a recording in one file. They become
//! words of the command line, so that both mean the same; what the command line says wins.

use std::ffi::OsString;
use std::path::Path;

use citrange_core::yaml::from_yaml;
use citrange_sim::SimError;
use clap::ArgMatches;
use clap::parser::ValueSource;
use serde::Deserialize;

/// The file: options of `citrange drive` by their names, with _ for -.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    scene: Option<String>,
    record: Option<String>,
    task: Option<String>,
    resume: bool,
    seed: Option<u64>,
    first: Option<u64>,
    cameras: Option<Vec<String>>,
    images: Option<Vec<String>>,
    unit: Option<String>,
    features: Option<Vec<String>>,
    from: Option<String>,
    episodes: Option<u64>,
    episode_time: Option<f64>,
    reset_time: Option<f64>,
    countdown: Option<f64>,
    profile: Option<String>,
    tui: bool,
    listen: Option<String>,
    host: Option<Vec<String>>,
}

/// Words that `--config` of `drive` adds to the command line; none without it.
///
/// # Errors
/// When the file cannot be read or has a key that is not known.
pub(crate) fn words(matches: &ArgMatches) -> anyhow::Result<Vec<OsString>> {
    let Some(("drive", given)) = matches.subcommand() else { return Ok(Vec::new()) };
    let Some(path) = given.get_one::<std::path::PathBuf>("config") else { return Ok(Vec::new()) };
    let is_given = |name: &str| given.value_source(name) == Some(ValueSource::CommandLine);
    Ok(read(path)?.words(&is_given))
}

fn read(path: &Path) -> anyhow::Result<Config> {
    let fail =
        |e| citrange_tape::TapeError::File { what: "read", path: path.to_owned(), reason: e };
    let text = std::fs::read_to_string(path).map_err(fail)?;
    Ok(from_yaml(&text, &path.display().to_string()).map_err(SimError::from)?)
}

impl Config {
    fn words(self, is_given: &dyn Fn(&str) -> bool) -> Vec<OsString> {
        let number = |n: Option<u64>| n.map(|n| n.to_string());
        let seconds = |s: Option<f64>| s.map(|s| s.to_string());
        let list = |l: Option<Vec<String>>| l.map(|l| l.join(","));
        let values = [
            ("record", self.record),
            ("task", self.task),
            ("seed", number(self.seed)),
            ("first", number(self.first)),
            // An empty list of cameras is none, not all.
            ("cameras", list(self.cameras).map(|l| if l.is_empty() { "none".into() } else { l })),
            ("images", list(self.images).filter(|l| !l.is_empty())),
            ("unit", self.unit),
            ("features", list(self.features)),
            ("from", self.from),
            ("episodes", number(self.episodes)),
            ("episode_time", seconds(self.episode_time)),
            ("reset_time", seconds(self.reset_time)),
            ("countdown", seconds(self.countdown)),
            ("profile", self.profile),
            ("listen", self.listen),
        ];
        let option = |name: &str| format!("--{}", name.replace('_', "-"));
        let mut words = Vec::new();
        for (name, value) in values {
            if let Some(value) = value.filter(|_| !is_given(name)) {
                words.push(format!("{}={value}", option(name)));
            }
        }
        for host in self.host.filter(|_| !is_given("host")).unwrap_or_default() {
            words.push(format!("--host={host}"));
        }
        for (name, is_on) in [("resume", self.resume), ("tui", self.tui)] {
            if is_on && !is_given(name) {
                words.push(option(name));
            }
        }
        if let Some(scene) = self.scene.filter(|_| !is_given("scene")) {
            words.extend(["--".to_owned(), scene]);
        }
        words.into_iter().map(OsString::from).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_wins_and_nothing_else_is_lost() {
        let text = "scene: orange_plate\nrecord: my set\nseed: 7\ncameras: []\nfeatures: [pos, vel]\n\
                    episode_time: 12.5\nresume: true\nhost: [a, b]\n";
        let config: Config = from_yaml(text, "record.yaml").unwrap();
        let words = config.words(&|name| name == "seed");
        let right = [
            "--record=my set",
            "--cameras=none",
            "--features=pos,vel",
            "--episode-time=12.5",
            "--host=a",
            "--host=b",
            "--resume",
            "--",
            "orange_plate",
        ];
        assert_eq!(words, right);
        let error = from_yaml::<Config>("scene: a\nepisodes_time: 3\n", "r.yaml").unwrap_err();
        let error = error.to_string();
        assert!(error.contains("r.yaml:2") && error.contains("episode"), "{error}");
    }
}
