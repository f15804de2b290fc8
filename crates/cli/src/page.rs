//! The page of a running arm: served, and said where.

use std::net::SocketAddr;
use std::sync::Arc;

use citrange_episodes::Reporter as _;
use citrange_studio::{ServeOptions, Server, Telemetry, serve};
use citrange_teleop::DriverLock;

use crate::exit::Result;
use crate::output::Output;

/// Serves the page, at another address if one is given, and says where it is.
pub(crate) fn open_page(
    board: &Arc<Telemetry>,
    driver_lock: &Arc<DriverLock>,
    options: ServeOptions,
    listen: Option<SocketAddr>,
    output: Output,
) -> Result<Server> {
    let options = ServeOptions { listen: listen.unwrap_or(options.listen), ..options };
    let server = serve(Arc::clone(board), Arc::clone(driver_lock), &options)?;
    output.tell(&server.event(), &server.invitation().join("\n"))?;
    Ok(server)
}
