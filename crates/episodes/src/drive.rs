//! Driving an arm by hand, with an autopilot to send: the flow of a session and what is shown of
//! it. [`Drive`] is the session; whoever serves its board to people is not its business.

mod check;
mod flow;
mod led;
mod report;
pub(crate) mod scene_info;
mod session;
pub(crate) mod summary;
pub(crate) mod telemetry;
mod work;

pub use report::DriveReport;
pub use session::{DEFAULT_SCENE, Drive, DriveOptions, Tally};
pub use summary::lines;
