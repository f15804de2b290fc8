//! Studio: one page that shows a running arm and lets one person at a time drive it.
//!
//! The control loop writes what there is to see on a [`Board`] and asks a
//! [`Seat`](citrange_control::Seat) what is held. [`serve`] puts a page between the two and people:
//! it reads the board 30 times a second, and fills the seat with what the driver's browser sends.
//! The loop never waits for the server.
//!
//! ```
//! use citrange_control::Seat;
//! use citrange_studio::{Board, ServeOptions, Stage, serve};
//!
//! let board = Board::new(Stage { scene: "desk".into(), ..Stage::default() });
//! let seat = Seat::new(Seat::LONGEST_SILENCE);
//! let options = ServeOptions { listen: ([127, 0, 0, 1], 0).into(), ..ServeOptions::default() };
//! let server = serve(board.clone(), seat.clone(), &options)?;
//! assert!(server.link().starts_with("http://127.0.0.1:"));
//! board.write(|live| live.time_s = 0.02); // the loop, every tick
//! server.stop();
//! # Ok::<(), citrange_studio::StudioError>(())
//! ```
//!
//! | to change | look in |
//! |---|---|
//! | what is shown | `board.rs` |
//! | what is said between server and page | `protocol.rs`, `wire.rs` |
//! | who may speak to the server | `guard.rs`; how the token leaves the address bar: `once.rs` |
//! | which links are printed | `addresses.rs` |
//! | what an autopilot may be asked | `errand.rs` |
//! | how old a key may be | `age.rs` |
//! | what a connection may do, and for how long | `connection.rs`, `listener.rs`, `outbox.rs` |
//! | how often things are sent | `feed.rs`; pictures: `painter.rs` |
//! | the page | `web/` |

mod addresses;
mod age;
mod assets;
mod board;
mod connection;
mod errand;
mod error;
mod feed;
mod guard;
mod listener;
mod once;
mod outbox;
mod painter;
pub mod protocol;
mod routes;
mod server;
pub mod wire;

pub use board::{
    Board, Flight, FlightNote, Form, Live, NextStep, Phase, SavedEpisode, Session, Stage,
    StageAutopilot, StageCamera, StageJoint, StageKey, StageShape, Summary, Watcher,
};
pub use error::StudioError;
pub use server::{ServeOptions, Server, serve};
