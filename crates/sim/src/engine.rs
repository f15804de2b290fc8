//! The engine itself: loading it, catching its messages, compiling specifications.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::sync::{Mutex, OnceLock};

use citrange_mujoco::EngineError;
use mujoco_rs::prelude::*;

/// Messages kept; older ones are dropped.
const KEPT_MESSAGES: usize = 100;

static MESSAGES: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// Loads the engine (once per process) and routes its messages to [`engine_messages`], so that
/// it neither prints nor writes a log file into the current folder.
///
/// # Errors
/// When the library is missing or wrong.
pub fn start_engine() -> Result<&'static citrange_mujoco::Engine, EngineError> {
    static STARTED: OnceLock<Result<&'static citrange_mujoco::Engine, EngineError>> =
        OnceLock::new();
    STARTED
        .get_or_init(|| {
            let engine = citrange_mujoco::load()?;
            // SAFETY: every use of the engine in Citrange comes after this function returned,
            // and the OnceLock lets only one thread in here.
            unsafe { set_log_handler(keep_message) };
            Ok(engine)
        })
        .clone()
}

fn keep_message(message: &MjLogMessage) {
    if matches!(message.level(), MjtLogLevel::mjLOG_INFO) {
        return;
    }
    let text = format!("{:?}: {}", message.level(), message.subject());
    // An engine error ends the process when this handler returns: say why.
    #[allow(clippy::print_stderr)]
    if matches!(message.level(), MjtLogLevel::mjLOG_ERROR) {
        eprintln!("citrange: MuJoCo stopped: {text}");
    }
    if let Ok(mut messages) = MESSAGES.lock() {
        if messages.len() == KEPT_MESSAGES {
            messages.pop_front();
        }
        messages.push_back(text);
    }
}

/// Takes the warnings and errors that the engine left since the last call.
#[must_use]
pub fn engine_messages() -> Vec<String> {
    MESSAGES.lock().map(|mut m| m.drain(..).collect()).unwrap_or_default()
}
