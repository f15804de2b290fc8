//! The only places that write to the terminal: data to stdout, talk and progress to stderr.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use citrange_core::ErrorKind;
use citrange_episodes::{Answer, Progress, Reporter, RunContext};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::exit::{Result, code};

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
    /// What a verb does with `--json` and without.
    pub(crate) fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Talk }
    }

    /// For the libraries: talks like this, and stops when the user asks to.
    pub(crate) fn context(&self) -> RunContext<'_> {
        RunContext { reporter: self, stop: &crate::stop::STOP }
    }
}

impl Reporter for Output {
    fn say(&self, line: &str) {
        talk(line);
    }

    fn tell(&self, event: &Value, words: &str) -> std::io::Result<()> {
        match self {
            Self::Json | Self::JsonFrames if !event.is_null() => print(&event.to_string()),
            Self::Talk if !words.is_empty() => {
                talk(words);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn wants_frames(&self) -> bool {
        *self == Self::JsonFrames
    }

    fn progress(&self, what: &'static str, parts: u64) -> Arc<dyn Progress> {
        Arc::new(Bar(progress(what, parts)))
    }
}

/// A progress bar.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn set(&self, done: u64) {
        self.0.set_position(done);
    }
    fn add_one(&self) {
        self.0.inc(1);
    }
    fn set_parts(&self, parts: u64) {
        self.0.set_length(parts);
    }
    fn rename(&self, what: String) {
        self.0.set_message(what);
    }
    fn is_seen(&self) -> bool {
        !self.0.is_hidden()
    }
    fn say(&self, line: &str) {
        self.0.suspend(|| talk(line));
    }
    fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// What is asked for on stdout: 0 text, 1 one object, 2 an object per line.
static JSON: AtomicU8 = AtomicU8::new(0);
/// Whether stdout has got its object.
static PRINTED: AtomicBool = AtomicBool::new(false);
/// Whether its reader has closed it.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// From here on stdout is for machines: one object, or with `lines` one per line.
pub(crate) fn promise_json(lines: bool) {
    JSON.store(1 + u8::from(lines), Ordering::Relaxed);
}

/// One line of data on stdout.
pub(crate) fn data(line: &str) -> Result {
    Ok(print(line)?)
}

/// Lines of data on stdout.
pub(crate) fn lines(lines: &[String]) -> Result {
    lines.iter().try_for_each(|line| data(line))
}

fn print(line: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{line}").inspect_err(|error| {
        CLOSED.fetch_or(error.kind() == std::io::ErrorKind::BrokenPipe, Ordering::Relaxed);
    })?;
    PRINTED.store(true, Ordering::Relaxed);
    Ok(())
}

/// Whether whoever read stdout has closed it.
pub(crate) fn is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// An answer: one object, or else its lines and remarks.
pub(crate) fn answer(answer: &Answer, json: bool) -> Result {
    if json {
        return data(&answer.json.to_string());
    }
    answer.remarks.iter().for_each(|remark| talk(remark));
    lines(&answer.lines)
}

/// With `--json`: the error as an object on stdout. Where there is one object only, or problems
/// were found, what was printed says it already.
pub(crate) fn error(kind: ErrorKind, message: &str) {
    let told = json!({"code": code(kind), "kind": kind.word(), "message": message});
    let printed = PRINTED.load(Ordering::Relaxed);
    let line = match JSON.load(Ordering::Relaxed) {
        0 => return,
        _ if printed && kind == ErrorKind::ProblemsFound => return,
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
