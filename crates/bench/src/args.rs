//! `--name value` pairs, and `--name` alone for what is on or off.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

/// The options of a subcommand.
pub(crate) struct Args(BTreeMap<String, String>);

impl Args {
    pub(crate) fn new(words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut options = BTreeMap::new();
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").ok_or_else(|| format!("not an option: {word}"))?;
            let value = words.next_if(|next| !next.starts_with("--")).unwrap_or_default();
            options.insert(name.to_owned(), value);
        }
        Ok(Self(options))
    }

    /// Whether an option without a value was given.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn required_path(&self, name: &str) -> Result<PathBuf, Box<dyn Error>> {
        let given = self.0.get(name).filter(|path| !path.is_empty());
        given.map(PathBuf::from).ok_or_else(|| format!("--{name} is needed").into())
    }

    pub(crate) fn number(&self, name: &str, default: usize) -> Result<usize, Box<dyn Error>> {
        match self.0.get(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|e| format!("--{name} {text}: {e}").into()),
        }
    }

    /// A folder, made when it does not exist.
    pub(crate) fn folder(&self, name: &str) -> Result<Option<PathBuf>, Box<dyn Error>> {
        let Some(path) = self.0.get(name).map(PathBuf::from) else { return Ok(None) };
        std::fs::create_dir_all(&path)?;
        Ok(Some(path))
    }

    pub(crate) fn required_folder(&self, name: &str) -> Result<PathBuf, Box<dyn Error>> {
        self.folder(name)?.ok_or_else(|| format!("--{name} is needed").into())
    }
}
