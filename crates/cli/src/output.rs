//! The only places that write to the terminal: data to stdout, talk and progress to stderr.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::exit::Code;

/// How a verb tells what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// Lines for people.
    Talk,
    /// One JSON object per event.
    Json,
    /// The same, and one per frame: not for a loop that keeps time.
    JsonFrames,
    /// Nothing: something else shows it.
    Quiet,
}

impl Output {
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::JsonFrames)
    }
}

/// What is asked for on stdout: 0 text, 1 one object, 2 an object per line.
static JSON: AtomicU8 = AtomicU8::new(0);
/// Whether stdout has got its object.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// From here on stdout is for machines: one object, or with `lines` one per line.
pub(crate) fn promise_json(lines: bool) {
    JSON.store(1 + u8::from(lines), Ordering::Relaxed);
}

/// One line of data on stdout.
pub(crate) fn data(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}")?;
    PRINTED.store(true, Ordering::Relaxed);
    Ok(())
}

/// With `--json`: the error as an object on stdout. Where there is one object only, or problems
/// were found, what was printed says it already.
pub(crate) fn error(code: Code, message: &str) {
    let told = json!({"code": code as u8, "kind": code.word(), "message": message});
    let printed = PRINTED.load(Ordering::Relaxed);
    let line = match JSON.load(Ordering::Relaxed) {
        0 => return,
        _ if printed && code == Code::ProblemsFound => return,
        1 if printed => return,
        1 => json!({ "error": told }),
        _ => json!({ "event": "error", "error": told }),
    };
    let _nobody_listens = writeln!(std::io::stdout(), "{line}");
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
