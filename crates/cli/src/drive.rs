//! Driving an arm by hand, with an autopilot to send: the flow of a session, what is shown of it,
//! and the terminal driver.

pub(crate) mod copilot;
pub(crate) mod flight;
pub(crate) mod flow;
pub(crate) mod live;
pub(crate) mod stage;
pub(crate) mod summary;
pub(crate) mod terminal;
pub(crate) mod terminal_keys;
pub(crate) mod terminal_text;
