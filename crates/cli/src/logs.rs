//! What libraries tell while they work (`tracing`), to stderr: `-v`, `-vv`, `CITRANGE_LOG`.
//!
//! ERROR is data lost, WARN is done differently than asked, INFO is a step of a command, DEBUG its
//! parts, TRACE every frame.

use std::str::FromStr as _;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::exit::{Result, failed, usage};

/// Says which parts tell how much, such as `citrange_sim=debug,citrange_tape=trace` or `info`.
const VARIABLE: &str = "CITRANGE_LOG";

/// What -v asks for, by how often it is given.
const LEVELS: [LevelFilter; 4] =
    [LevelFilter::WARN, LevelFilter::INFO, LevelFilter::DEBUG, LevelFilter::TRACE];

/// Begins to listen. What `CITRANGE_LOG` says wins over `-v`.
///
/// # Errors
/// When the variable cannot be understood.
pub(crate) fn begin(verbose: u8) -> Result {
    let targets = match std::env::var(VARIABLE) {
        Ok(text) if !text.is_empty() => Targets::from_str(&text).map_err(|e| {
            let right = "such as info or citrange_sim=debug would be right";
            usage(format!("{VARIABLE}={text:?}: {e}; {right}"))
        })?,
        _ => Targets::new().with_target("citrange", LEVELS[usize::from(verbose.min(3))]),
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE);
    tracing_subscriber::registry()
        .with(lines)
        .with(targets)
        .try_init()
        .map_err(|e| failed(e.to_string()))
}
