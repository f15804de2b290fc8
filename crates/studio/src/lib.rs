//! Studio: one page that shows a running arm and lets one person at a time drive it.
//!
//! The control loop writes what there is to see on a [`Telemetry`] and asks a
//! [`DriverLock`](citrange_teleop::DriverLock) what is held. [`serve`] puts a page between the two and people:
//! it reads the board 30 times a second, and fills the driver lock with what the driver's browser sends.
//! The loop never waits for the server.
//!
//! ```
//! use citrange_teleop::DriverLock;
//! use citrange_studio::{Telemetry, ServeOptions, SceneInfo, serve};
//!
//! let board = Telemetry::new(SceneInfo { scene: "desk".into(), ..SceneInfo::default() });
//! let driver_lock = DriverLock::new(DriverLock::LONGEST_SILENCE);
//! let options = ServeOptions { listen: ([127, 0, 0, 1], 0).into(), ..ServeOptions::default() };
//! let server = serve(board.clone(), driver_lock.clone(), &options)?;
//! assert!(server.link().starts_with("http://127.0.0.1:"));
//! board.write(|live| live.time_s = 0.02); // the loop, every tick
//! server.stop();
//! # Ok::<(), citrange_studio::StudioError>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | what is shown | `citrange_teleop::telemetry` |
//! | the terminal that drives | `terminal.rs`, what it says `terminal_text.rs` |
//! | what is said between server and page | `protocol.rs`, `wire.rs` |
//! | who may speak to the server | `guard.rs`; how the token leaves the address bar: `once.rs` |
//! | which links are printed | `addresses.rs`, in which words `invitation.rs` |
//! | what an autopilot may be asked | `request.rs` |
//! | how old a key may be | `age.rs` |
//! | what a connection may do, and for how long | `connection.rs`, `listener.rs`, `outbox.rs` |
//! | how often things are sent | `feed.rs`; pictures: `painter.rs` |
//! | the page | `web/` |

mod addresses;
mod age;
mod assets;
mod connection;
mod error;
mod feed;
mod guard;
mod invitation;
mod listener;
mod once;
mod outbox;
mod painter;
pub mod protocol;
mod request;
mod routes;
mod server;
mod terminal;
mod terminal_text;
pub mod wire;

pub use citrange_teleop::telemetry::{
    AutopilotInfo, AutopilotStatus, CameraInfo, FlightNote, JointInfo, KeyInfo, NextStep, Phase,
    Sample, SavedEpisode, SceneInfo, Session, Summary, Telemetry, Watcher,
};
pub use error::StudioError;
pub use server::{ServeOptions, Server, serve};
pub use terminal::Terminal;
