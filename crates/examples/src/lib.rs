//! Short programs for people who use the libraries; they stand in `/examples`:
//!
//! | program | shows |
//! |---|---|
//! | `quick_start.rs` | simulated worlds, stepped, looked at, drawn, restored |
//! | `own_pilot.rs` | something that decides |
//! | `own_rig.rs` | something that carries commands out |
//! | `record_and_replay.rs` | an episode into a dataset, repeated to the bit |
//! | `map_and_plan.rs` | points become a map, an arm plans around what is in it |
//!
//! `cargo run -p citrange-examples --bin quick_start` runs one. Tests run them all and look at what
//! they print; the Rust in README.md and docs/ is compiled and run here, too.

/// What README.md and docs/ show (see `build.rs`).
#[cfg(doctest)]
#[doc = include_str!(concat!(env!("OUT_DIR"), "/documents.md"))]
pub struct Documents;
