//! Who has episodes made: hears what is told, sees how far it is, may ask to stop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

/// Where a program tells what happens: a terminal, a file of JSON lines, nowhere.
pub trait Reporter: Sync {
    /// A line for people that machines need not know.
    fn say(&self, line: &str);

    /// Something that happened, for machines, or else in words; nothing where both are empty.
    ///
    /// # Errors
    /// When whoever listens is gone.
    fn tell(&self, event: &Value, words: &str) -> io::Result<()>;

    /// Whether somebody wants to be told of every frame: not for a loop that keeps time.
    fn wants_frames(&self) -> bool {
        false
    }

    /// Begins something of which a number of parts is to be done.
    fn progress(&self, what: &'static str, parts: u64) -> Arc<dyn Progress>;
}

/// How far something is.
pub trait Progress: Send + Sync {
    /// So many parts are done.
    fn set(&self, done: u64);
    /// Another part is done.
    fn add_one(&self);
    /// There are so many parts.
    fn set_parts(&self, parts: u64);
    /// What it is called from now on.
    fn rename(&self, what: String);
    /// Whether somebody sees it.
    fn is_seen(&self) -> bool;
    /// A line for people, beside what is seen of the progress.
    fn say(&self, line: &str);
    /// It is over.
    fn finish(&self);
}

/// What everything in this crate is given: who is told, and whether to stop.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// Who is told.
    pub reporter: &'a dyn Reporter,
    /// Becomes true when the user asks to stop.
    pub stop: &'a AtomicBool,
}

impl std::fmt::Debug for RunContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunContext").field("stop", self.stop).finish_non_exhaustive()
    }
}

impl RunContext<'_> {
    /// A line for people.
    pub fn say(&self, line: &str) {
        self.reporter.say(line);
    }

    /// Something that happened.
    ///
    /// # Errors
    /// When whoever listens is gone.
    pub fn tell(&self, event: &Value, words: &str) -> io::Result<()> {
        self.reporter.tell(event, words)
    }

    /// Begins something.
    #[must_use]
    pub fn progress(&self, what: &'static str, parts: u64) -> Arc<dyn Progress> {
        self.reporter.progress(what, parts)
    }

    /// Whether the user asked to stop.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Tells nobody: for programs that only want the result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn say(&self, _line: &str) {}

    fn tell(&self, _event: &Value, _words: &str) -> io::Result<()> {
        Ok(())
    }

    fn progress(&self, _what: &'static str, _parts: u64) -> Arc<dyn Progress> {
        Arc::new(Self)
    }
}

impl Progress for Silent {
    fn set(&self, _done: u64) {}
    fn add_one(&self) {}
    fn set_parts(&self, _parts: u64) {}
    fn rename(&self, _what: String) {}
    fn is_seen(&self) -> bool {
        false
    }
    fn say(&self, _line: &str) {}
    fn finish(&self) {}
}
