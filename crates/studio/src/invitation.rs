//! Where the page is, for people and for programs.

use serde_json::{Value, json};

use crate::server::Server;

impl Server {
    /// How people get to the page, a line each.
    #[must_use]
    pub fn invitation(&self) -> Vec<String> {
        let links = self.links().into_iter().enumerate();
        let mut lines: Vec<String> = links
            .map(|(at, link)| {
                format!("{} {link}", if at == 0 { "open in a browser:" } else { "or" })
            })
            .collect();
        let port = self.address().port();
        lines.push(if self.address().ip().is_loopback() {
            format!(
                "from another computer: ssh -L {port}:localhost:{port} <this machine>, then the \
                 same link"
            )
        } else {
            "WARNING: anyone on this network who sees the link can drive the arm; it is not \
             encrypted"
                .to_owned()
        });
        lines
    }

    /// The same for programs.
    #[must_use]
    pub fn event(&self) -> Value {
        json!({
            "event": "serving", "link": self.link(), "links": self.links(),
            "address": self.address().to_string(),
        })
    }
}
