//! The only places that write to the terminal: data to stdout, talk and progress to stderr.

use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

/// How a verb tells what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// Lines for people.
    Talk,
    /// One JSON object per event.
    Json,
    /// The same, and one per frame: not for a loop that keeps time.
    JsonFrames,
    /// Nothing: something else shows it.
    Quiet,
}

impl Voice {
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::JsonFrames)
    }
}

/// One line of data on stdout.
pub(crate) fn data(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

/// One line of talk on stderr. A closed stderr is nobody listening.
pub(crate) fn talk(line: &str) {
    let _nobody_listens = writeln!(std::io::stderr(), "{line}");
}

/// A progress bar on stderr; invisible when stderr is no terminal.
pub(crate) fn progress(what: &'static str, length: u64) -> ProgressBar {
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar
}
