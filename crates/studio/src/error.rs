//! What can go wrong when the server or the terminal starts. Once they run, they keep running.

use std::io;
use std::net::SocketAddr;

use citrange_core::{Classified, ErrorKind};

/// Why the server or the terminal did not start.
#[derive(Debug, thiserror::Error)]
pub enum StudioError {
    /// Another program has the port.
    #[error(
        "port {} of {} is in use by another program, maybe another citrange; \
         stop that one, choose another port, or port 0 for any free one", .0.port(), .0.ip()
    )]
    PortBusy(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; 127.0.0.1 always works")]
    Listen {
        /// Address asked for.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// A token that is easily guessed or breaks the link.
    #[error(
        "the token has {length} characters; it needs {least} to {most}, \
         all letters, digits, '-' or '_'; leave it out to get a random one"
    )]
    Token {
        /// Characters found.
        length: usize,
        /// Fewest allowed.
        least: usize,
        /// Most allowed.
        most: usize,
    },
    /// A host name that no browser sends.
    #[error("'{0}' is no host name; give it bare, like 'robot.local', without http:// and port")]
    Host(String),
    /// The system gives no random bytes.
    #[error("no random bytes for the token: {0}")]
    Random(String),
    /// A thread or its runtime could not start.
    #[error("cannot start the server's threads: {0}")]
    Threads(io::Error),
    /// Keys and screen of a terminal are needed.
    #[error("--tui needs a terminal for its keys and its screen; without it, use a browser")]
    NoTerminal,
    /// Somebody else drives.
    #[error("cannot take the wheel: {0}")]
    WheelTaken(citrange_teleop::Taken),
    /// The terminal gives whole lines only.
    #[error("cannot read single keys from this terminal: {0}")]
    RawKeys(io::Error),
    /// The screen cannot be drawn on.
    #[error("cannot draw on this terminal: {0}")]
    Screen(#[from] io::Error),
    /// There is no thread for the terminal.
    #[error("no thread for the terminal: {0}")]
    TerminalThread(io::Error),
}

impl Classified for StudioError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Failed
    }
}
