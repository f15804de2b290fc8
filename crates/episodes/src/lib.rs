//! Episodes: record, collect, replay, verify, drive, import, export, film; for every Rig.

pub mod collect;
mod context;
pub mod drive;
mod error;
pub mod export;
pub mod film;
pub mod import;
mod objects;
mod pilots;
mod recording;
pub mod replay;
mod session;

pub use context::{Progress, Reporter, RunContext, Silent};
pub use error::{EpisodesError, Result};
pub use objects::{ObjectReport, Worst};
pub use pilots::{PilotOptions, PilotPlan};
pub use recording::{Lost, Origin, RecordOptions, Take, check_new, repaired_json, tell_repaired};
pub use session::{Choice, compiled, rig_of};
