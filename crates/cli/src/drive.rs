//! Driving an arm by hand, with an autopilot to send: the flow of a session, what is shown of it,
//! and the terminal driver.

pub(crate) mod autopilot_status;
pub(crate) mod flow;
pub(crate) mod scene_info;
pub(crate) mod shared_control;
pub(crate) mod summary;
pub(crate) mod telemetry;
pub(crate) mod terminal;
pub(crate) mod terminal_text;
