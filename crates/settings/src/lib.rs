//! Files that people write: their schemas, their values merged with defaults and profiles, and who
//! said each of them.
//!
//! ```
//! // Who says how an arm answers to keys, with the built-in profile `seed`?
//! let traced = citrange_settings::controller("seed")?;
//! assert_eq!(traced.origin("/method").to_string(), "profile seed");
//! // What may stand in a cell's file?
//! let cell = citrange_settings::file_kind("cell").ok_or("no such kind")?;
//! assert!(cell.schema()["properties"]["cameras"].is_object());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | which kinds of files there are | `file_kind.rs` |
//! | what a file is merged with | `merged.rs` |
//! | options of a command in a file | `option_file.rs` |
//! | what the words of a command line mean | `command_line.rs` |
//!
//! The types themselves are where they are used; [`citrange_core::origin`] keeps the origins.

mod command_line;
mod error;
mod file_kind;
mod merged;
mod option_file;

pub use command_line::{CommandLine, TracedLine};
pub use error::SettingsError;
pub use file_kind::{FILE_KINDS, FileKind, file_kind};
pub use merged::{add_files, autopilot, cell, controller, ranges, scene};
pub use option_file::{OptionFile, OptionSpec, OptionValue, options_schema};
