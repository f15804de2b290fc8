//! The page of a running arm: served, and said where.

use std::sync::Arc;

use citrange_studio::{ServeOptions, Server, Telemetry, serve};
use citrange_teleop::DriverLock;
use serde_json::json;

use crate::exit::Result;
use crate::output::{self, Output};

/// Serves the page and says where it is.
pub(crate) fn open_page(
    board: &Arc<Telemetry>,
    driver_lock: &Arc<DriverLock>,
    options: &ServeOptions,
    output: Output,
) -> Result<Server> {
    let server = serve(Arc::clone(board), Arc::clone(driver_lock), options)?;
    tell_link(&server, output)?;
    Ok(server)
}

fn tell_link(server: &Server, output: Output) -> Result {
    let (address, links) = (server.address(), server.links());
    match output {
        Output::Json | Output::JsonFrames => {
            let line = json!({
                "event": "serving", "link": server.link(), "links": links,
                "address": address.to_string(),
            });
            output::data(&line.to_string())
        }
        // The screen shows them.
        Output::Quiet => Ok(()),
        Output::Talk => {
            for (at, link) in links.iter().enumerate() {
                output::talk(&format!(
                    "{} {link}",
                    if at == 0 { "open in a browser:" } else { "or" }
                ));
            }
            if address.ip().is_loopback() {
                let port = address.port();
                output::talk(&format!(
                    "from another computer: ssh -L {port}:localhost:{port} <this machine>, then the same link"
                ));
            } else {
                output::talk(
                    "WARNING: anyone on this network who sees the link can drive the arm; it is not encrypted",
                );
            }
            Ok(())
        }
    }
}
