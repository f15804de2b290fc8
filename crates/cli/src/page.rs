//! The page of a running arm: served, and said where.

use std::sync::Arc;

use citrange_episodes::Reporter as _;
use citrange_studio::{ServeOptions, Server, Telemetry, serve};
use citrange_teleop::DriverLock;

use crate::exit::Result;
use crate::output::Output;

/// Serves the page and says where it is.
pub(crate) fn open_page(
    board: &Arc<Telemetry>,
    driver_lock: &Arc<DriverLock>,
    options: &ServeOptions,
    output: Output,
) -> Result<Server> {
    let server = serve(Arc::clone(board), Arc::clone(driver_lock), options)?;
    output.tell(&server.event(), &server.invitation().join("\n"))?;
    Ok(server)
}
